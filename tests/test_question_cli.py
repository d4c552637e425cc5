"""`rag search` tells what it understood, and takes filters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import WEIGHTS, rag

from rag import jsonform
from rag.answering.assistant import Assistant
from rag.config import Config

TYPO = "exo 2 ego vdeo genration"


def test_a_search_explains_itself(seeds_config: Config) -> None:
    ran = rag("search", TYPO, "-k", "1", "--explain", data=seeds_config.data_dir)
    assert ran.code == 0 and ran.err == ""
    lines = ran.out.splitlines()
    assert lines[0] == "searched: exo 2 ego video generation"
    assert "video 1" in lines[1] and "exo2ego 0.5" in lines[2]
    assert lines[3] == "note: spelling: vdeo → video, genration → generation"
    assert "Exo2Ego" in lines[4]
    score, _, parts = lines[5].strip().partition(" = ")
    given = dict(part.split() for part in parts.split(" + "))
    assert given.keys() == {"dense", "lexical", "sentence", "aspect"}
    assert float(score) == pytest.approx(sum(map(float, given.values())), abs=0.003)


def test_without_explain_what_was_understood_is_told_beside_the_result(
    seeds_config: Config,
) -> None:
    ran = rag("search", TYPO, "-k", "1", data=seeds_config.data_dir)
    assert "spelling: vdeo → video" in ran.err
    assert "spelling" not in ran.out and "Exo2Ego" in ran.out


def test_json_tells_the_same_as_the_library(assistant: Assistant, seeds_config: Config) -> None:
    ran = rag("search", TYPO, "-k", "3", "--json", data=seeds_config.data_dir)
    found = jsonform.found(assistant.search(TYPO, 3))
    assert ran.json()["understood"] == found["understood"]
    assert [hit["paper_id"] for hit in ran.json()["hits"]] == [h["paper_id"] for h in found["hits"]]
    for hit in found["hits"]:
        assert hit["score"] == pytest.approx(sum(hit["parts"].values()), abs=1e-5)


@pytest.mark.parametrize(
    ("flags", "code", "told"),
    [
        (("--since", "2030"), 0, "no paper passes the filter: year 2030 or later"),
        (("--author", "Nobody", "--venue", "Nowhere"), 0, "venue Nowhere, author Nobody"),
        (("--year", "soon"), 2, "'soon' is not a span of years"),
        (("--since", "x"), 2, "is not a year"),
        (("-k", "0"), 2, "top_k = 0"),
        (("-k", "-3"), 2, "top_k = -3"),
    ],
)
def test_a_filter_or_a_number_that_gives_nothing_is_told_in_one_line(
    seeds_config: Config, flags: tuple[str, ...], code: int, told: str
) -> None:
    ran = rag("search", "agents", *flags, data=seeds_config.data_dir)
    assert ran.code == code
    line = ran.error_line if code else ran.out.strip()
    assert told in line and "\n" not in line


def test_filters_of_the_command_line(tmp_path: Path, seeds_config: Config) -> None:
    records = [
        {"title": f"Owls of {year}", "year": year, "authors": [name], "venue": "Birds",
         "abstract": f"In that year we counted the owls of the valley, {year - 2000} of them."}
        for year, name in ((2019, "Mira Castellan"), (2022, "Jonas Ekwall"), (2024, "Wei Li"))
    ]  # fmt: skip
    papers = tmp_path / "owls.jsonl"
    papers.write_text("\n".join(map(json.dumps, records)))
    env = {WEIGHTS: str(seeds_config.weights_dir)}
    data = tmp_path / "data"
    assert rag("index", papers, data=data, env=env).code == 0
    for flags, years in (
        (("--since", "2020"), {"2022", "2024"}),
        (("--until", "2022", "--since", "2020"), {"2022"}),
        (("--year", "2024-"), {"2024"}),
        (("--author", "castellan"), {"2019"}),
        (("--venue", "bird", "--source", "owls", "--until", "2019"), {"2019"}),
    ):
        ran = rag("search", "owls", *flags, "--json", data=data, env=env)
        assert {hit["title"][-4:] for hit in ran.json()["hits"]} == years, flags
        assert ran.json()["understood"]["filters"]
