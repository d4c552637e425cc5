"""Collections to measure on, and the files of runs: what is read, kept and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.collection import Document, Query, load, read_beir
from evals.systems.product import write_papers
from evals.trec import read_qrels, read_run, write_qrels, write_run
from rag.errors import InputError, UsageError

CORPUS = '{"id": "d1", "title": "Cats", "text": "They purr."}\n{"id": "d2", "text": "Dogs bark."}\n'
QUERIES = '{"id": "q1", "text": "who purrs"}\n\n{"id": "q2", "text": "who barks", "kind": "loud"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq2\td2\t1\n"

NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), min_size=1, max_size=6)
SCORES = st.floats(allow_nan=False, allow_infinity=False)


def folder(path: Path, corpus: str = CORPUS, queries: str = QUERIES, qrels: str = QRELS) -> Path:
    path.mkdir(exist_ok=True)
    for name, text in (("corpus", corpus), ("queries", queries)):
        (path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (path / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return path


def test_a_folder_in_beirs_form_is_documents_judged_queries_and_grades(tmp_path: Path) -> None:
    found = load(str(folder(tmp_path / "pets")), "test")
    assert found.name == "pets"
    assert found.documents == (
        Document("d1", "Cats", "They purr."),
        Document("d2", "", "Dogs bark."),
    )
    assert [one.whole for one in found.documents] == ["Cats\nThey purr.", "Dogs bark."]
    assert found.queries == (Query("q2", "who barks", "loud"),)
    assert found.judgements == {"q2": {"d2": 1}}


def test_beirs_own_names_are_read_too(tmp_path: Path) -> None:
    path = folder(
        tmp_path / "pets", CORPUS.replace('"id"', '"_id"'), QUERIES.replace('"id"', '"_id"')
    )
    (path / "qrels").mkdir()
    (path / "qrels.tsv").rename(path / "qrels" / "test.tsv")
    (path / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\n")
    assert read_beir(path, "test").judgements == {"q2": {"d2": 1}}
    assert read_beir(path, "train").judgements == {"q1": {"d1": 2}}


@pytest.mark.parametrize(
    ("corpus", "queries", "qrels", "said"),
    [
        ('{"id": "d1", "text": "x"}\nnonsense\n', QUERIES, QRELS, "corpus.jsonl:2 cannot be read"),
        ('["d1"]\n', QUERIES, QRELS, "corpus.jsonl:1 cannot be read (no JSON object)"),
        ('{"id": "d1"}\n', QUERIES, QRELS, "corpus.jsonl:1 cannot be read (no text under 'text')"),
        ('{"id": 7, "text": "x"}\n', QUERIES, QRELS, "no text under 'id'"),
        ('{"id": "d 1", "text": "x"}\n', QUERIES, QRELS, "there twice, empty, or has a space"),
        (CORPUS + CORPUS, QUERIES, QRELS, "corpus.jsonl:3 cannot be read (the id 'd1' is there"),
        (CORPUS, '{"id": "q2", "text": null}\n', QRELS, "queries.jsonl:1 cannot be read"),
        (
            CORPUS,
            QUERIES,
            "query-id\tcorpus-id\tscore\nq2\td2\n",
            "qrels.tsv:2 cannot be read (2 col",
        ),
        (CORPUS, QUERIES, "q\td\ts\nq2\td2\thigh\n", "qrels.tsv:2 cannot be read"),
        (CORPUS, QUERIES, "q\td\ts\nq2\td2\t1\nq2\td2\t0\n", "qrels.tsv:3 cannot be read"),
        (
            CORPUS,
            QUERIES,
            "q\td\ts\nq9\td2\t1\n",
            "1 queries that it does not have (the first is q9)",
        ),
    ],
)
def test_a_bad_line_is_named_with_its_file_and_number(
    corpus: str, queries: str, qrels: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        load(str(folder(tmp_path / "bad", corpus, queries, qrels)), "test")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"it has no qrels.tsv or qrels/test.tsv"):
        load(str(tmp_path / "nowhere"), "test")
    path = folder(tmp_path / "pets")
    with pytest.raises(InputError, match=r"it has no qrels_train.tsv or qrels/train.tsv"):
        load(str(path), "train")
    (path / "corpus.jsonl").write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(InputError, match=r"corpus.jsonl cannot be read"):
        load(str(path), "test")
    nothing = folder(tmp_path / "none", qrels="q\td\ts\nq2\td2\t0\n")
    with pytest.raises(UsageError, match=r"No query of .* has a relevant document"):
        load(str(nothing), "test")


def test_the_seeds_are_a_collection_with_the_golden_questions_and_their_kinds() -> None:
    found = load("seeds", "test")
    assert (len(found.documents), len(found.queries), len(found.scored)) == (57, 91, 74)
    texts = {one.id: one.text for one in found.documents}
    assert "RN-DPO" in texts["000-07"]
    (named,) = (one for one in found.queries if one.id == "named-07")
    assert (named.kind, found.judgements["named-07"]) == ("named", {"000-07": 1})
    assert {one.kind for one in found.queries} - {one.kind for one in found.scored} == {
        "unanswerable"
    }
    assert [one.id for one in found.first(3).queries] == [one.id for one in found.scored[:3]]
    assert found.first(None) == found


def test_scifact_is_whole_where_it_is() -> None:
    try:
        found = load("scifact", "test")
    except InputError as absent:
        pytest.skip(f"the shared data are absent: {absent}")
    assert (len(found.documents), len(found.scored)) == (5183, 300)
    assert sum(len(of) for of in found.judgements.values()) == 339
    assert len(load("scifact", "train").scored) == 809


@given(st.dictionaries(NAMES, st.dictionaries(NAMES, SCORES, min_size=1), max_size=4))
def test_a_run_file_keeps_every_score(
    tmp_path_factory: pytest.TempPathFactory, run: dict[str, dict[str, float]]
) -> None:
    path = tmp_path_factory.mktemp("runs") / "a.run"
    write_run(path, run, "a")
    assert read_run(path) == run


def test_run_and_judgement_files_have_trecs_columns(tmp_path: Path) -> None:
    write_run(tmp_path / "a.run", {"q1": {"d2": 0.5, "d1": 0.25}, "q2": {}}, "bm25")
    assert (tmp_path / "a.run").read_text() == "q1 Q0 d2 1 0.5 bm25\nq1 Q0 d1 2 0.25 bm25\n"
    write_qrels(tmp_path / "qrels.txt", {"q1": {"d1": 1, "d2": 0}})
    assert (tmp_path / "qrels.txt").read_text() == "q1 0 d1 1\nq1 0 d2 0\n"
    assert read_qrels(tmp_path / "qrels.txt") == {"q1": {"d1": 1, "d2": 0}}


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("q1 Q0 d1 1 nan x", "nan is no score"),
        ("q1 Q0 d1 1 many x", "could not convert"),
        ("q1 Q0 d1 1 0.5", "5 columns in place of 6"),
        ("q1 Q0 d0 2 0.5 x", "document d0 is there twice for the query"),
    ],
)
def test_a_run_file_with_a_bad_line_is_refused(line: str, cause: str, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text(f"q1 Q0 d0 1 0.75 x\n{line}\n")
    with pytest.raises(InputError, match=rf"a.run:2 cannot be read \(.*{cause}"):
        read_run(path)


def test_documents_are_written_as_the_product_reads_them(tmp_path: Path) -> None:
    write_papers(tmp_path / "p.jsonl", [Document("d1", "", "Été."), Document("d2", "T", "x")])
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text("utf-8").splitlines()]
    assert lines == [{"id": "d1", "abstract": "Été."}, {"id": "d2", "title": "T", "abstract": "x"}]
