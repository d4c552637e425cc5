"""BM25 in a collection that is too large to score every paper that shares a common word."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import ROOT
from library import Library

from rag.index import lexical
from rag.index.snapshot import Snapshot
from rag.text import terms

WHOLE = 10**9
QUESTIONS = [
    json.loads(line)["question"]
    for line in (ROOT / "evals" / "suites" / "seeds.jsonl").read_text("utf-8").splitlines()
]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    library = Library(tmp_path_factory.mktemp("seeds"))
    library.index(ROOT / "seeds")
    with library.state() as state:
        yield state.snapshot


def by_fts5(snapshot: Snapshot, question: str) -> dict[str, float]:
    """What SQLite itself gives to each paper that shares any term with the question."""
    query = " OR ".join(f'"{term}"' for term in sorted(set(terms(question))))
    rows = snapshot.connection.execute(
        "SELECT p.paper_id, -bm25(postings) FROM postings JOIN papers p ON p.id = postings.rowid"
        " WHERE postings MATCH ?",
        (query,),
    )
    return dict(rows.fetchall())


def test_with_every_posting_read_the_scores_are_those_of_sqlite(snapshot: Snapshot) -> None:
    for question in QUESTIONS:
        expected = by_fts5(snapshot, question)
        assert lexical.search(
            snapshot, lexical.equally(question), 100, WHOLE
        ).scores == pytest.approx(expected)


@pytest.mark.parametrize("postings", [1, 10, 40])
def test_with_few_postings_read_what_is_found_is_scored_as_with_all(
    snapshot: Snapshot, postings: int
) -> None:
    same_first = 0
    for question in QUESTIONS:
        exact = by_fts5(snapshot, question)
        found = lexical.search(snapshot, lexical.equally(question), 25, postings).scores
        assert found == pytest.approx({key: exact[key] for key in found}, rel=0.25, abs=0.1)
        assert list(found.values()) == sorted(found.values(), reverse=True)
        same_first += next(iter(found), "") == max(exact, key=exact.__getitem__, default="")
    assert same_first >= {1: 0.5, 10: 0.75, 40: 0.9}[postings] * len(QUESTIONS)


def test_a_question_of_common_words_alone_still_finds_papers(snapshot: Snapshot) -> None:
    assert (
        len(lexical.search(snapshot, lexical.equally("model learning"), 5, postings=1).scores) == 5
    )


def test_one_rare_term_is_enough_to_be_found_among_many_common_ones(tmp_path: Path) -> None:
    library = Library(tmp_path)
    common = [f"We study apples and clouds in case {n}." for n in range(30)]
    library.write("a.txt", *common, "We study apples, clouds and a marmot.")
    library.index()
    with library.state() as state:
        scores = lexical.search(
            state.snapshot, lexical.equally("apples clouds marmot"), 3, postings=5
        ).scores
        papers = state.snapshot.papers(scores)
        assert [papers[key].text for key in scores] == ["We study apples, clouds and a marmot."]
