"""Faults that were met in comparable systems, each tried on this one by its id.

A case is a whole: an input that did harm elsewhere, and what is expected of it here. How each
format and each rule behaves in detail is tested beside this, in `test_corpus_*.py` and others.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from command import rag
from fakes import HandEmbedder, ScriptedGenerator
from library import WEIGHTS, Library

from rag import jsonform, terminal
from rag.answering.assistant import Assistant
from rag.answering.finding import Finder
from rag.answering.writing import ModelWriter, QuotingWriter, Writer
from rag.config import Config
from rag.corpus import Content, Record, Rejected, find_files, read_papers
from rag.corpus.files import digest
from rag.errors import IndexUnusable, InputError
from rag.index import lexical
from rag.index.chunking import chunk
from rag.retrieval.search import Searcher
from rag.schema import Answer, Paper
from rag.text import legible, normalise, split_sentences

LONG = "Owls nest in old trees, and some of them nest in barns."


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def pieces(data: str | bytes, name: str) -> list[tuple[Record, Paper] | Rejected]:
    content = Content.of(data if isinstance(data, bytes) else data.encode(), name)
    return list(read_papers(content))


def papers(data: str | bytes, name: str) -> list[Paper]:
    found = pieces(data, name)
    assert not any(isinstance(one, Rejected) for one in found), found
    return [one[1] for one in found if not isinstance(one, Rejected)]


def records_file(library: Library, *records: object, name: str = "papers.json") -> Path:
    """A JSON file of records among the papers of the library; escapes are kept as they are."""
    path = library.papers / name
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def ask(library: Library, question: str, writer: Writer | None = None) -> Answer:
    config = Config.model_validate({"embedding_model": "by hand", "quotes_beside": 0})
    with library.reader() as reader:
        finder = Finder(Searcher(reader, WEIGHTS))
        return Assistant(config, reader, finder, writer or QuotingWriter()).answer(question)


def by_words(library: Library, query: str) -> dict[str, float]:
    """Scores of the papers that BM25 alone finds."""
    with library.state() as state:
        return lexical.search(state.snapshot, lexical.equally(query), 10).scores


# --- Bibliographies and metadata -----------------------------------------------------------


def test_bib_003_a_repeated_key_or_field_loses_no_entry() -> None:
    found = papers(
        "@article{dup, title={First}, abstract={One.}}\n"
        "@article{dup, title={Second}, abstract={Two.}}\n"
        "@misc{x, note={a}, note={b}, title={Third}, abstract={Three.}}",
        "refs.bib",
    )
    assert [(p.title, p.text) for p in found] == [
        ("First", "One."),
        ("Second", "Two."),
        ("Third", "Three."),
    ]


def test_meta_001_what_is_missing_is_never_shown_as_none(library: Library) -> None:
    text = "A paper without a header about owl nests."
    records_file(
        library, {"id": "n", "title": None, "authors": None, "year": None, "abstract": text}
    )
    assert library.index().added == 1
    answer = ask(library, "What is said about owl nests?")
    assert [c.paper.title for c in answer.citations] == ["A paper without a header about owl nests"]
    shown = json.dumps(jsonform.answer(answer)["citations"]) + answer.text
    assert not re.search(r"\b(None|nan|null)\b", shown)


META_003 = [
    {"paperId": "1", "title": "Has Both", "abstract": "Text."},
    {"paperId": "2", "title": "No Abstract", "abstract": None},
    {"paperId": "3", "title": "", "abstract": "Orphan text."},
]


def test_meta_003_a_record_without_abstract_is_told_and_one_without_title_taken() -> None:
    one, two, three = pieces(json.dumps(META_003), "papers.json")
    assert not isinstance(one, Rejected) and not isinstance(three, Rejected)
    assert (one[1].title, one[1].text, one[1].title_derived) == ("Has Both", "Text.", False)
    assert (three[1].title, three[1].text, three[1].title_derived) == (
        "Orphan text",
        "Orphan text.",
        True,
    )
    assert isinstance(two, Rejected)
    assert two.ordinal == 2
    assert two.reason == 'it has no abstract ("No Abstract")'
    assert two.remedy


def test_meta_006_both_forms_of_openreview_are_plain_text(library: Library) -> None:
    records_file(
        library,
        {"id": "v1", "content": {"title": "Old Style", "abstract": "Text one."}},
        {
            "id": "v2",
            "content": {"title": {"value": "New Style"}, "abstract": {"value": "Text two."}},
        },
        {
            "id": "v3",
            "content": {"title": {"value": "No Abstract"}, "venueid": {"value": "X/Withdrawn"}},
        },
    )
    report = library.index()
    stored = library.stored().values()
    assert sorted((p.title, p.text) for p in stored) == [
        ("New Style", "Text two."),
        ("Old Style", "Text one."),
    ]
    assert not any("value" in f"{p.title} {p.text} {p.meta.key}" for p in stored)
    assert len(report.failures) == 1 and "No Abstract" in str(report.failures[0])
    assert b"'value'" not in (library.data / "catalog.sqlite3").read_bytes()


# --- Files and encodings -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.ris", "\ufeffTY  - JOUR\r\nTI  - Owl Nests\r\nAB  - Short.\r\nER  - \r\n"),
        ("b.json", '\ufeff{"title":"Owl Nests","abstract":"Short."}'),
        ("c.txt", "\ufeffOwl Nests\n\nShort."),
        ("d.csv", "\ufefftitle,abstract\r\nOwl Nests,Short.\r\n"),
        ("e.bib", "\ufeff@misc{a, title={Owl Nests}, abstract={Short.}}"),
        ("f.nbib", "\ufeffPMID- 1\nTI  - Owl Nests\nAB  - Short.\n"),
        ("g.md", "\ufeff---\ntitle: Owl Nests\n---\nShort."),
        ("h.jsonl", '\ufeff{"title":"Owl Nests","abstract":"Short."}\n'),
    ],
)
def test_enc_002_a_mark_before_the_first_field_is_no_part_of_it(name: str, text: str) -> None:
    (paper,) = papers(text, name)
    assert (paper.title, len(paper.title), paper.text) == ("Owl Nests", 9, "Short.")


def test_enc_003_an_unreadable_file_stops_no_other(library: Library) -> None:
    library.write("ok1.txt", LONG)
    library.write("ok2.txt", LONG.replace("Owls", "Bats"))
    broken = library.papers / "broken.txt"
    broken.write_bytes(random.Random(3).randbytes(5_000))
    report = library.index()
    assert report.added == 2
    (failure,) = report.failures
    assert "broken.txt" in str(failure) and "not readable as text" in str(failure)
    assert {p.text for p in library.stored().values()} == {LONG, LONG.replace("Owls", "Bats")}
    assert by_words(library, "owls") and by_words(library, "bats")


def test_enc_005_empty_files_are_no_papers(library: Library) -> None:
    (library.papers / "a.txt").write_text("Owl Nests\n\nShort abstract.")
    (library.papers / "empty.txt").write_text("")
    (library.papers / "spaces.txt").write_text("  \n\n\t")
    for _ in range(2):  # the second run gives the same
        report = library.index()
        assert report.total.papers == 1
        assert [p.text for p in library.stored().values()] == ["Short abstract."]
        assert library.labels() == ["papers/a.txt"]
    for file in find_files([library.papers])[1:]:
        with pytest.raises(InputError, match="is empty"):
            digest(file.content())


def test_lex_006_without_papers_people_are_told_how_to_index(
    library: Library, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="holds no papers"):
        library.index()
    writer = ScriptedGenerator("never asked")
    with pytest.raises(IndexUnusable) as caught:
        ask(library, "What do owls eat?", ModelWriter(writer, 99))
    assert "rag index" in str(caught.value)
    assert writer.history == []
    indexed = rag("index", library.papers, data=tmp_path / "cli")
    assert indexed.code == 2 and "holds no papers" in indexed.error_line
    asked = rag("ask", "What do owls eat?", data=tmp_path / "cli", env={"RAG_LLM": "none"})
    assert asked.code == 3 and "rag index" in asked.error_line


# --- Text ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query", ["методов поиска", "évaluation légère", "α-synuclein", "평가", "β-καρβολίνη"]
)
def test_lex_011_words_of_every_script_are_found(library: Library, query: str) -> None:
    records_file(
        library,
        {
            "id": "gr",
            "title": "Η β-καρβολίνη",
            "abstract": "Обзор методов поиска. Évaluation légère."
            " α-synuclein and μm scale. 모델 평가.",
        },
    )
    library.index()
    (score,) = by_words(library, query).values()
    assert score > 0


SHY = {
    "title": "Index\u00adfunds",
    "abstract": "A sparse\u200b retriever\u00a0with 40\u202fM para\u00admeters.",
}


@pytest.mark.parametrize(
    "query", ["indexfunds", "sparse retriever", "40 M parameters", "retriever with parameters"]
)
def test_norm_004_invisible_characters_hide_no_word(library: Library, query: str) -> None:
    records_file(library, SHY)
    library.index()
    assert len(by_words(library, query)) == 1
    assert [p.text for p in library.stored().values()] == [SHY["abstract"]]


def test_norm_004_invisible_characters_reach_neither_model_nor_answer(library: Library) -> None:
    records_file(library, SHY)
    library.index()
    claim = {"text": "A sparse retriever has 40 M parameters.", "support": ["S1"]}
    writer = ScriptedGenerator(json.dumps({"claims": [claim]}))
    answer = ask(library, "Which retriever is sparse?", ModelWriter(writer, 99))
    for shown in (writer.history[0].user, answer.text, ask(library, "sparse retriever?").text):
        assert not re.search("[\u00ad\u200b\u00a0\u202f]", shown), ascii(shown)
        assert "sparse retriever" in shown


def test_norm_005_half_a_surrogate_pair_stops_nothing(
    library: Library, capsys: pytest.CaptureFixture[str]
) -> None:
    path = library.papers / "glyphs.json"
    path.write_text(
        '[{"title": "Bad Glyphs", "abstract": "The energy is \\udc63\\udc65 and small."}]'
    )
    library.write("other.txt", LONG)
    ((record, paper),) = [
        one for one in pieces(path.read_bytes(), "glyphs.json") if not isinstance(one, Rejected)
    ]
    assert paper.text == "The energy is \ufffd\ufffd and small."
    assert record.notes == ("half characters, replaced by \ufffd: 2",)
    report = library.index()
    assert (report.added, report.failures) == (2, ())
    answer = ask(library, "What is the energy?")
    assert "small" in json.dumps(jsonform.answer(answer), ensure_ascii=False).encode().decode()
    terminal.out.print(legible(answer.text), markup=False)
    assert "The energy is" in capsys.readouterr().out


def test_norm_006_control_characters_are_gone_before_the_store(
    library: Library, capsys: pytest.CaptureFixture[str]
) -> None:
    records_file(
        library,
        {"title": "Control", "abstract": "Gene\x00tic drift \x1b[31mred\x07 text"},
    )
    library.index()
    (paper,) = library.stored().values()
    assert re.fullmatch(r"[^\x00-\x08\x0b\x0c\x0e-\x1f]*", paper.text)
    assert paper.text == "Genetic drift [31mred text"
    assert by_words(library, "genetic drift")
    terminal.show_found(library.search("genetic drift"))
    shown = capsys.readouterr().out
    assert "Genetic drift" in shown and "\x1b" not in shown and "\x07" not in shown


@pytest.mark.parametrize("query", ["Besancon", "resume", "Franche-Comte"])
def test_norm_008_accents_need_not_be_typed(library: Library, query: str) -> None:
    records_file(
        library,
        {
            "id": "acc",
            "title": "Parsing at Besançon",
            "authors": ["Zoë Müller"],
            "abstract": "Résumé parsing for the Franche-Comté.",
        },
    )
    library.index()
    assert len(by_words(library, query)) == 1
    assert normalise("Zoë Müller") == normalise("Zoe Muller")


# --- Sentences and chunks ------------------------------------------------------------------


def test_split_001_abbreviations_end_no_sentence() -> None:
    text = (
        "Following Moreno et al. we fix the rate. The gain is 3.7 points vs. the baseline, cf. "
        "Fig. 3 and Eq. 2. We use small models, i.e. those below 1 B, e.g. TinyOwl. No. 4 of the "
        "runs diverged. Dr. Lindqvist confirmed this."
    )
    sentences = [text[start:end] for start, end in split_sentences(text)]
    assert len(sentences) == 5
    ends = ("al.", "vs.", "cf.", "Fig.", "i.e.", "e.g.", "No.", "Dr.")
    assert not any(sentence.endswith(ends) for sentence in sentences)


@pytest.mark.parametrize("sentences", [1, 2, 3])
def test_split_004_chunks_are_stretches_of_the_text(sentences: int) -> None:
    text = "Results of Dr. Amari (n = 20). Cost is low (35 EUR). Next step follows."
    (paper,) = papers(text, "a.txt")
    chunks = chunk(
        paper, sentences=sentences, word_pieces=12, count_pieces=lambda one: len(one.split())
    )
    assert all(paper.text[one.start : one.end] == one.text == one.text.strip() for one in chunks)
    assert {word for one in chunks for word in one.text.split()} == set(text.split())
    between = re.sub(r"\S", "", text)
    assert between == " " * (len(text.split()) - 1)
    covered = {place for one in chunks for place in range(one.start, one.end)}
    assert all(text[place] == " " for place in set(range(len(text))) - covered)


def test_split_007_a_token_longer_than_a_chunk_is_found(library: Library) -> None:
    text = f"We align the read {'ACGT' * 300} to the genome."
    library.write("read.txt", text)
    report = library.index()
    assert (report.added, report.failures) == (1, ())
    assert len(by_words(library, "align the read")) == 1
    (hit,) = library.search("align the read").hits
    assert hit.paper.text == text
    (paper,) = papers(text, "read.txt")
    (only,) = chunk(paper, sentences=3, word_pieces=128, count_pieces=HandEmbedder().count_pieces)
    assert only.text == text


@pytest.mark.parametrize("suffix", [".txt", ".md"])
def test_split_009_the_ends_of_lines_change_nothing_that_counts(suffix: str) -> None:
    crlf = b"# Title\r\n\r\nPara one.\r\n\r\nPara two.\r\n"
    found = [papers(crlf.replace(b"\r\n", end), f"a{suffix}")[0] for end in (b"\r\n", b"\r", b"\n")]
    assert {paper.title for paper in found} == {"Title"}
    assert len({paper.content for paper in found}) == 1
    assert [[s.text for s in paper.sentences] for paper in found] == [
        ["Para one.", "Para two."]
    ] * 3
