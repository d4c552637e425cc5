"""The suites that are known by name, and the indexes that they are asked of."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from command import ROOT
from library import abstract

from evals import known
from evals.running.gold import names_of, resolve
from evals.running.places import prepare
from evals.suite import Item, Question, Suite
from rag.config import Config, load
from rag.corpus import Limits, find_files, read_papers
from rag.corpus.records import Rejected
from rag.errors import InputError
from rag.index.catalog import Catalog
from rag.schema import Paper


def papers_of(config: Config) -> list[Paper]:
    catalog = Catalog(config.data_dir / "catalog.sqlite3")
    with catalog.reading() as snapshot:
        found = list(snapshot.all_papers())
    catalog.close()
    return found


def shared() -> Path:
    found = ROOT.parent / "shared" / "data"
    if not found.is_dir():
        pytest.skip("the public data is not there: no folder ../shared/data beside the project")
    return found


def test_the_seeds_are_the_golden_questions_and_the_conversations(tmp_path: Path) -> None:
    suite = known.find("seeds", tmp_path)
    kinds = Counter(item.kind for item in suite.items)
    assert (kinds["named"], kinds["paraphrase"], kinds["unanswerable"]) == (20, 20, 17)
    assert (kinds["opening"], kinds["followup"]) == (5, 10)
    last = next(item for item in suite.items if item.id == "followup-02/3")
    assert last.earlier == ("Which benchmarks is G2PO evaluated on?", "And ARC?")
    assert last.asked.answers == ("9.6",)


def test_each_answerable_question_is_asked_with_and_without_its_papers(tmp_path: Path) -> None:
    suite = known.find("leave_out", tmp_path)
    pairs = Counter(item.id.removesuffix("/left-out") for item in suite.items)
    assert set(pairs.values()) == {2}
    assert all(item.answerable is not item.left_out for item in suite.items)
    assert not any(item.kind in {"unanswerable", "followup"} for item in suite.items)


def test_without_its_papers_an_index_has_none_of_them(tmp_path: Path) -> None:
    texts = [abstract(topic) for topic in ("bridges", "apples", "clouds")]
    file = tmp_path / "papers.jsonl"
    lines = [{"id": f"p{n}", "abstract": text} for n, text in enumerate(texts)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    asked = Question(question="Bridges?", paper_ids=("p0", "p2"), evidence=())
    items = (Item("q", asked), Item("q/left-out", asked, left_out=True))
    config = load({"data_dir": tmp_path / "data", "llm": "none"}).config
    places = prepare(Suite("mine", items, (file,)), config, tmp_path, lambda *_: None)
    assert [[item.id for item in place.items] for place in places] == [["q"], ["q/left-out"]]
    whole, without = ({p.meta.key for p in papers_of(place.config)} for place in places)
    assert (whole, without) == ({"p0", "p1", "p2"}, {"p1"})


def test_a_paper_goes_by_the_names_of_all_its_sources(tmp_path: Path) -> None:
    for name, key in (("a", "one"), ("b", "two")):
        line = {"id": key, "title": "On bridges", "abstract": abstract("bridges")}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    config = load({"data_dir": tmp_path / "data", "llm": "none"}).config
    items = tuple(Item(key, Question(question="?", paper_ids=(key,))) for key in ("one", "two"))
    files = (tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    (place,) = prepare(Suite("mine", items, files), config, tmp_path, lambda *_: None)
    (paper,) = papers_of(place.config)
    catalog = Catalog(place.config.data_dir / "catalog.sqlite3")
    with catalog.reading() as snapshot:
        gold = resolve(Suite("mine", items), snapshot)
    catalog.close()
    assert {key: dict(one.papers) for key, one in gold.items()} == {
        "one": {"one": paper.id},
        "two": {"two": paper.id},
    }


def test_a_name_that_nothing_has_is_told_with_the_names_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No suite is called 'sedes'") as caught:
        known.find("sedes", tmp_path)
    assert "leave_out" in caught.value.remedy


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        known.find(str(tmp_path / "mine.jsonl"), tmp_path)


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("scifact", {"support": 124, "contradict": 64, "": 112}),
        ("scifact-train", {"support": 332, "contradict": 173, "": 304}),
        ("pubmedqa", {"yes": 276, "no": 169, "maybe": 55}),
    ],
)
def test_public_suites_have_all_their_questions(
    tmp_path: Path, name: str, labels: dict[str, int]
) -> None:
    shared()
    suite = known.find(name, tmp_path)
    assert Counter(item.asked.label for item in suite.items) == labels
    assert all(item.answerable == bool(item.asked.label) for item in suite.items)


def test_every_gold_paper_of_the_scholars_is_in_the_collection_that_is_written(
    tmp_path: Path,
) -> None:
    shared()
    suite = known.find("scholarqa", tmp_path)
    (file,) = suite.files
    papers = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    keys = {paper["id"] for paper in papers}
    assert len(keys) == len(papers)
    assert {name for item in suite.items for name in item.asked.paper_ids} <= keys
    assert Counter(item.kind for item in suite.items) == {"expert": 108, "rubric": 110}
    assert Counter(item.kind for item in suite.first(10).items) == {"expert": 5, "rubric": 5}
    rubric = next(item.asked.rubric for item in suite.items if item.kind == "rubric")
    assert sum(one.weight for one in rubric) < 1  # the rest is for length and style
    (source,) = find_files([file])
    read = list(read_papers(source.content(Limits())))
    assert [one for one in read if isinstance(one, Rejected)] == []


def test_seeds_go_by_the_number_of_their_file() -> None:
    paper = Paper("id", "seeds/000_d9e.txt", 4, 0, "", "", True, ())
    assert "000-04" in names_of(paper)
    assert "000_d9e.txt:4" in names_of(paper)
