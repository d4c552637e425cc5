"""`rag export`, `rag history` and the suite from feedback, as people run them on the seeds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rispy
from bibtexparser.entrypoint import parse_string as parse_bibtex
from command import SEEDS, Ran, evals, rag
from library import Library
from papers_to_export import answer, cited

from evals.suite import read_suite

QUESTION = "What does RN-DPO normalize?"


@pytest.fixture(scope="module")
def asked(seeds_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An answer about the seeds, as it was printed."""
    ran = rag("ask", "--llm", "none", QUESTION, "--json", data=seeds_index)
    path = tmp_path_factory.mktemp("asked") / "answer.json"
    path.write_text(ran.out, encoding="utf-8")
    return path


@pytest.fixture
def data(seeds_index: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of the index of the seeds, with no conversation in it."""
    yield Path(shutil.copytree(seeds_index, tmp_path / "data"))


def printed(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def piped(text: str, *arguments: str, data: Path) -> Ran:
    """Run `rag` with something on standard input."""
    return rag(*arguments, data=data, typed=text)


# --- rag export ----------------------------------------------------------------------------------


def test_an_answer_is_exported_with_exactly_the_papers_it_cites(
    asked: Path, seeds_index: Path
) -> None:
    ran = rag("export", asked, "--format", "bibtex", data=seeds_index)
    assert ran.code == 0, ran.err
    entries = parse_bibtex(ran.out).entries
    ids = [citation["paper_id"] for citation in printed(asked)["citations"]]
    assert [entry.key for entry in entries] == [f"paper-{one}" for one in ids]


def test_the_whole_collection_is_read_back_by_other_libraries(seeds_index: Path) -> None:
    total = rag("papers", "list", "--limit", "0", "--json", data=seeds_index).json()["total"]
    bib = rag("export", "--all", "--format", "bibtex", data=seeds_index).out
    library = parse_bibtex(bib)
    assert not library.failed_blocks
    assert len(library.entries) == len({entry.key for entry in library.entries}) == total
    ris = rag("export", "--all", "--format", "ris", data=seeds_index).out
    assert len(rispy.loads(ris)) == total


def test_standard_input_and_a_file_whose_suffix_names_the_format(
    asked: Path, seeds_index: Path, tmp_path: Path
) -> None:
    out = tmp_path / "answer.html"
    done = piped(asked.read_text(), "export", "-", "-o", str(out), data=seeds_index)
    assert (done.code, done.out) == (0, "")
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    again = piped(asked.read_text(), "export", "-", "-o", str(out), data=seeds_index)
    assert again.code == 2
    assert again.err.startswith(f"error: {out} is there already")
    forced = ["export", "-", "-o", str(out), "--force", "--format", "ris"]
    assert piped(asked.read_text(), *forced, data=seeds_index).code == 0
    assert out.read_text(encoding="utf-8").startswith("TY  - ")


def test_papers_by_name_and_by_filter(tmp_path: Path) -> None:
    library = Library(tmp_path)
    (library.papers / "owls.bib").write_text(
        "@article{owl, title={Owl {DNA} and 5\\% more},"
        " author={M{\\\"u}ller, Zo{\\'e} and Reed, Sam},"
        " year={2020}, journal={Owls \\& Trees}, abstract={Owls nest in trees.}}\n"
        "@article{bat, title={Bats}, author={Li, Wei}, year={2021}, abstract={Bats sleep.}}\n"
    )
    library.index()
    ran = rag("export", "--year", "2020", "--format", "csl", data=library.data)
    (found,) = ran.json()
    assert found["id"] == "mueller2020owl"
    assert found["title"] == "Owl DNA and 5% more"
    assert found["author"][0] == {"family": "Müller", "given": "Zoé"}
    text = rag("export", "--papers", "Bats", "--papers", "owls.bib:1", data=library.data).out
    assert text.index("## Bats") < text.index("## Owl DNA and 5% more")
    assert "Müller, Z. and Reed, S. (2020)" in text


@pytest.mark.case("R10")
def test_what_is_not_in_the_collection_is_told_and_exported_all_the_same(
    asked: Path, tmp_path: Path
) -> None:
    ran = rag("export", asked, "--format", "ris", data=tmp_path / "none")
    assert ran.code == 0
    assert "not in the collection" in ran.err
    assert len(rispy.loads(ran.out)) == len(printed(asked)["citations"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Nothing is named to export"),
        (["ANSWER", "--all"], "do not go together"),
        (["--papers", "x", "--year", "2020"], "do not go together"),
        (["ANSWER", "--format", "docx"], "There is no format 'docx'"),
        (["absent.json"], "absent.json cannot be read"),
        (["SEED"], "is no answer"),
        (["--papers", "Nobody's Paper 99"], "No paper is called"),
        (["--year", "soon"], "is not a span of years"),
        (["--year", "1066"], "No paper has that"),
        (["ANSWER", "-o", "/nowhere/at/all.bib"], "There is no folder"),
        (["ANSWER", "-o", "."], "is a folder"),
    ],
)
def test_a_wrong_request_is_one_line(
    arguments: list[str], told: str, asked: Path, seeds_index: Path
) -> None:
    seed = str(next(SEEDS.glob("*.txt")))
    named = [{"ANSWER": str(asked), "SEED": seed}.get(one, one) for one in arguments]
    ran = rag("export", *named, data=seeds_index)
    assert ran.code == 2
    assert ran.out == ""
    assert told in ran.error_line


# --- rag history ---------------------------------------------------------------------------------


def test_a_conversation_is_kept_shown_searched_renamed_exported_and_deleted(
    asked: Path, data: Path
) -> None:
    assert rag("history", "list", data=data).out == "No conversation is kept.\n"
    assert rag("history", "add", asked, data=data).out == "Conversation 1, turn 1.\n"
    second = json.dumps(answer("Where do owls nest?", citations=[cited(1, "f" * 16, "Owl Nests")]))
    done = piped(second, "history", "add", "-", "--to", "1", data=data)
    assert done.out == "Conversation 1, turn 2.\n"
    assert QUESTION in rag("history", "list", data=data).out
    shown = rag("history", "show", "1", data=data).out
    assert f"1. {QUESTION}" in shown
    assert "[1] Owl Nests  papers/owls.bib:1" in shown
    kept = rag("history", "show", "1", "--json", data=data).json()
    assert kept["turns"][0]["answer"] == printed(asked)
    assert "1, turn 2" in rag("history", "search", "owls nes", data=data).out
    assert rag("history", "rename", "1", "Reading", data=data).code == 0
    text = rag("history", "export", "1", data=data).out
    assert text.startswith(f"# Reading\n\n## {QUESTION}\n")
    bib = parse_bibtex(rag("history", "export", "1", "--format", "bibtex", data=data).out)
    assert [entry.key for entry in bib.entries][-1] == "paper-" + "f" * 16
    assert rag("history", "delete", "1", data=data).out == "1 deleted.\n"
    assert rag("history", "show", "1", data=data).error_line.startswith(
        "error: There is no conversation 1"
    )


def test_a_conversation_reads_the_same_after_its_papers_have_left(asked: Path, data: Path) -> None:
    rag("history", "add", asked, data=data)
    before = rag("history", "export", "1", "--format", "bibtex", data=data)
    assert rag("papers", "remove", "RN-DPO", data=data).code == 0
    after = rag("history", "export", "1", "--format", "bibtex", data=data)
    assert (after.out, after.err) == (before.out, "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["show", "9"], "There is no conversation 9"),
        (["export", "9"], "There is no conversation 9"),
        (["delete", "9"], "There is no conversation 9"),
        (["rate", "1", "9", "good"], "Conversation 1 has no turn 9"),
        (["rate", "1", "1", "fine"], "'fine' is no opinion"),
        (["rate", "1", "1", "bad", "--papers", "Nobody 99"], "No paper is called"),
        (["rename", "1", " "], "The name is empty"),
        (["search", "?"], "There is no word to look for"),
        (["add", "absent.json"], "absent.json cannot be read"),
        (["export", "1", "--format", "pdf"], "There is no format 'pdf'"),
    ],
)
def test_a_wrong_request_of_the_history_is_one_line(
    arguments: list[str], told: str, asked: Path, data: Path
) -> None:
    rag("history", "add", asked, data=data)
    ran = rag("history", *arguments, data=data)
    assert ran.code == 2
    assert told in ran.error_line


# --- The suite from feedback ---------------------------------------------------------------------


def new(*arguments: str | Path, data: Path) -> Ran:
    return evals("new", *arguments, "--data-dir", data)


def test_rejected_answers_become_a_suite(asked: Path, data: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite.jsonl"
    refused = new(suite, "--from-feedback", data=data)
    assert refused.code == 2
    assert refused.err.startswith("error: No answer was thought bad")
    rag("history", "add", asked, data=data)
    rag("history", "rate", "1", "1", "bad", "--reason", "too long", "--papers", "RN-DPO", data=data)
    for question in ("Where do owls nest?", "And bats?", "Thanks, and mice?"):
        to = ["--to", "2"] if question != "Where do owls nest?" else []
        done = piped(json.dumps(answer(question)), "history", "add", "-", *to, data=data)
        assert done.code == 0, done.err
    rag("history", "rate", "2", "1", "good", data=data)
    rag("history", "rate", "2", "2", "bad", "--unanswerable", data=data)
    done = new(suite, "--from-feedback", data=data)
    assert done.code == 0, done.err
    one, opening, followup = read_suite(suite).items
    paper = printed(asked)["citations"][0]["paper_id"]
    assert (one.asked.question, one.asked.paper_ids) == (QUESTION, (paper,))
    assert (one.asked.tags, one.asked.note) == (("feedback",), "too long")
    assert (opening.asked.tags, opening.answerable) == ((), True)
    assert (followup.earlier, followup.answerable) == (("Where do owls nest?",), False)
    assert followup.asked.tags == ("feedback",)
    again = new(suite, "--from-feedback", data=data)
    assert again.err.startswith(f"error: {suite} is there already")
