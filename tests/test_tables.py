"""Tables of papers: what stands in a cell, what never does, and how a table is written down."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import rag, rag_apart
from fakes import HandEmbedder, Received, Script, ScriptedGenerator, ScriptedServer, streamed
from hypothesis import given
from hypothesis import strategies as st
from library import WEIGHTS, Library, paper

from rag.answering.asking import Asker, Reading
from rag.answering.assistant import last_answer
from rag.answering.cells import words_of
from rag.answering.columns import column, read_columns
from rag.answering.comparing import read_comparison
from rag.answering.finding import Finder
from rag.answering.helping import asker_of
from rag.answering.parts import generator_of, writing
from rag.answering.rows import ModelRows, Subject
from rag.answering.tableform import as_csv, as_markdown, markdown_document
from rag.answering.tables import Tables
from rag.config import Config
from rag.errors import UsageError
from rag.index.catalog import Catalog
from rag.retrieval.query import Question
from rag.retrieval.search import Searcher
from rag.schema import Answer, Citation, Claim, Row, Table
from rag.text import legible

OWL = {
    "title": "TinyOwl: Sparse Retrieval on a Budget",
    "abstract": "TinyOwl is a 40 M parameter sparse retriever. It is evaluated on 12 tasks and "
    "raises mean recall by 3.7 points over the dense baseline. It does not improve latency on CPU.",
}
HERON = {
    "title": "Heron: Dense Retrieval with Late Pooling",
    "abstract": "Heron is a dense retriever that pools token vectors late. On 9 tasks it reaches "
    "61.2 recall, but it needs 1.3 B parameters and a GPU.",
}
OWL_ON_HARDWARE = "It does not improve latency on CPU"
QUESTION = "Compare TinyOwl and Heron: type, size, tasks, hardware."


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path)
    (library.papers / "birds.json").write_text(json.dumps([OWL, HERON]), encoding="utf-8")
    library.index()
    return library


@contextmanager
def tables(library: Library, server: ScriptedServer | None = None) -> Iterator[Tables]:
    """Tables that a served model reads, or nobody."""
    given: dict[str, object] = {"llm": "none"}
    if server:
        given = {"llm": "openai", "openai_base_url": server.url, "openai_model": "m"}
    config = Config.model_validate(
        {"embedding_model": "by hand", "quotes_beside": 0, "max_retries": 0, **given}
    )
    generator = generator_of(config)
    with library.reader() as reader:
        finder = Finder(Searcher(reader, WEIGHTS))
        asker = asker_of(config, generator)
        yield Tables(config, reader, finder, writing(generator, config), asker)


def compared(library: Library, columns: str, *replies: object) -> Answer:
    """TinyOwl and Heron in a table, with a model that gives these replies, or without one."""
    if not replies:
        with tables(library) as quoting:
            return last_answer(quoting.compare(["TinyOwl", "Heron"], columns))
    scripts = [r if isinstance(r, Script) else streamed([_reply(r)]) for r in replies]
    with ScriptedServer(*scripts) as server, tables(library, server) as reading:
        return last_answer(reading.compare(["TinyOwl", "Heron"], columns))


def _reply(reply: object) -> str:
    return reply if isinstance(reply, str) else json.dumps({"table_row": reply})


def texts(answer: Answer) -> list[list[str | None]]:
    assert answer.table is not None
    return [[cell.text if cell else None for cell in row.cells] for row in answer.table.rows]


# --- What stands in a cell -----------------------------------------------------------------


def test_ques_004_every_attribute_of_both_papers_with_its_own_source(library: Library) -> None:
    with tables(library) as quoting:
        events = quoting.asked(Question(QUESTION))
        assert events is not None
        answer = last_answer(events)
    assert (answer.kind, answer.status) == ("comparison", "answered")
    assert answer.table is not None
    assert answer.table.columns == ("type", "size", "tasks", "hardware")
    assert texts(answer) == [
        ["40 M parameter sparse retriever", "40 M parameter", "12 tasks", OWL_ON_HARDWARE],
        ["dense retriever", "1.3 B parameters", "9 tasks", "it needs 1.3 B parameters and a GPU"],
    ]
    for number, row in enumerate(answer.table.rows, start=1):
        for cell in row.cells:
            assert cell is not None
            assert (cell.citations, cell.verdict, cell.probability) == ((number,), "supported", 1)
            (evidence,) = cell.support
            assert cell.text in row.paper.text[evidence.start : evidence.end]
    assert [c.paper.title for c in answer.citations] == [OWL["title"], HERON["title"]]
    assert len(answer.claims) == 8


def test_what_an_abstract_does_not_say_is_not_stated(library: Library) -> None:
    answer = compared(library, "hardware,code")
    assert [row[1] for row in texts(answer)] == [None, None]
    assert "| not stated |" in answer.text


def test_where_no_abstract_says_anything_the_answer_abstains(library: Library) -> None:
    answer = compared(library, "code")
    assert (answer.status, answer.claims, answer.citations) == ("abstained", (), ())
    assert answer.text == "The collection does not say."
    assert answer.missing


@pytest.mark.parametrize(
    ("sentence", "name", "words"),
    [
        (
            "We propose ARC (Anchored Reasoning), which asks for two steps.",
            "method",
            "ARC (Anchored Reasoning)",
        ),
        (
            "On ALFWorld, WebShop, and WebArena, ARC wins by 6.4, 3.5, and 9.6 points.",
            "dataset",
            "ALFWorld, WebShop, and WebArena",
        ),
        (
            "We test it on the EgoExo4D dataset, where it outperforms all baselines.",
            "result",
            "where it outperforms all baselines",
        ),
        (
            "A and B improve by 2% and 3% respectively, while costs rise.",
            "result",
            "A and B improve by 2% and 3% respectively, while costs rise",
        ),
        (
            r"It reaches $99.8\%$ accuracy; that is all of it.",
            "metric",
            r"It reaches $99.8\%$ accuracy",
        ),
        ("Accuracy (2%, which is small) falls.", "metric", "Accuracy (2%, which is small) falls"),
    ],
)
def test_a_cell_holds_the_fewest_words_that_make_sense(
    sentence: str, name: str, words: str
) -> None:
    assert words_of(sentence, column(name)) == words


@given(
    st.text(alphabet="abcXYZ 019%$(),.;:-{}\\*|", max_size=120),
    st.sampled_from(["method", "dataset", "result", "tasks", "learning rate"]),
)
def test_a_quoted_cell_is_always_part_of_its_sentence(sentence: str, name: str) -> None:
    assert words_of(sentence, column(name)) in legible(sentence)


# --- With a model --------------------------------------------------------------------------

GOOD = {"size": {"support": "S1", "text": "40 M"}, "tasks": {"support": "S2", "text": "12 tasks"}}


def test_a_model_fills_a_row_in_one_request_for_each_paper(library: Library) -> None:
    heron = {"size": {"support": "S2", "text": "1.3 B parameters"}, "tasks": None}
    replies = [streamed([_reply(GOOD)]), streamed([_reply(heron)])]
    with ScriptedServer(*replies) as server, tables(library, server) as reading:
        answer = last_answer(reading.compare(["TinyOwl", "Heron"], "size,tasks"))
        assert len(server.posts) == 2
    assert texts(answer) == [["40 M", "12 tasks"], ["1.3 B parameters", None]]
    assert (answer.status, answer.note, answer.dropped) == ("answered", "", ())
    assert str(answer.manifest["prompt"]).startswith("compare@")


@pytest.mark.parametrize(
    ("text", "reason"),
    [("50 M parameter", "50 is not in"), ("by TinyFalcon42", "tinyfalcon42 is not in")],
)
def test_what_a_model_invents_is_refused_and_recorded(
    library: Library, text: str, reason: str
) -> None:
    answer = compared(library, "size", {"size": {"support": "S1", "text": text}}, {"size": None})
    assert texts(answer) == [[None], [None]]
    (dropped,) = answer.dropped
    assert text in dropped.text
    assert dropped.reason.startswith(reason)


def test_a_cell_under_a_wrong_label_is_pinned_to_the_sentence_that_says_it(
    library: Library,
) -> None:
    row = {"tasks": {"support": "S3", "text": "12 tasks"}}
    answer = compared(library, "tasks", row, {"tasks": None})
    assert answer.claims[0].support[0].index == 1


@pytest.mark.parametrize(
    "reply",
    [
        "I would say both are fine.",
        '{"table_row": "none"}',
        '{"table_row": {"size": {"supp',
        "",
        Script([], status=500),
    ],
)
def test_a_paper_is_quoted_where_a_model_gives_no_row(
    library: Library, reply: str | Script
) -> None:
    answer = compared(library, "size", reply)
    assert texts(answer) == [["40 M parameter"], ["1.3 B parameters"]]
    assert answer.status == "partial"
    assert answer.note.startswith("2 of 2 papers are quoted (")


@pytest.mark.parametrize("silence", ["not stated", "N/A", "None", "  "])
def test_a_model_that_says_so_in_words_leaves_a_cell_empty(library: Library, silence: str) -> None:
    row = {"size": {"support": "S1", "text": silence}}
    answer = compared(library, "size", row)
    assert (texts(answer), answer.dropped) == ([[None], [None]], ())


def test_of_a_small_model_only_cells_count_whose_sentence_speaks_of_the_column() -> None:
    about = paper("Owl", "We propose Owl, a bird.", "It sees in the dark.", "It needs a GPU.")
    columns = read_columns("method,limitation,hardware")
    none_alike = tuple((0.0,) * 3 for _ in columns)
    row = {
        "method": {"support": "S1", "text": "Owl"},
        "limitation": {"support": "S2", "text": "sees in the dark"},
        "hardware": None,
    }
    rows = ModelRows(Asker(ScriptedGenerator(_reply(row)), 60.0), doubted=True)
    read = rows.read(Subject(about, none_alike), columns, Reading())
    assert [cell and cell.text for cell in read.cells] == ["Owl", None, "It needs a GPU"]
    (dropped,) = read.dropped
    assert (dropped.text, dropped.reason) == (
        "Owl, limitation: sees in the dark",
        "it is no limitation",
    )


def test_a_model_reads_the_abstract_and_the_names_of_the_columns(library: Library) -> None:
    seen: list[str] = []

    def reply(received: Received) -> Script:
        seen.append(received.body["messages"][-1]["content"])
        return streamed([_reply({"learning rate": None})])

    with ScriptedServer(reply) as server, tables(library, server) as reading:
        last_answer(reading.compare(["Heron", "TinyOwl"], "learning_rate"))
    assert "learning rate" in seen[0]
    assert "[S2] On 9 tasks it reaches 61.2 recall" in seen[0]
    assert "TinyOwl is a" not in seen[0]


# --- Which papers, which columns -----------------------------------------------------------


def test_extract_reads_the_papers_on_a_topic_and_says_how_many(tmp_path: Path) -> None:
    library = Library(tmp_path, HandEmbedder())
    library.write(
        "a.txt",
        "We propose ApplePress, a press for apples. It needs 2 GPUs for all the apples.",
        "We propose BridgeNet, a net for bridges. It needs a CPU for all the bridges.",
    )
    library.index()
    with tables(library) as quoting:
        one = last_answer(quoting.extract("apples", "method,hardware", limit=1))
        both = last_answer(quoting.extract(None, "method"))
    assert texts(one) == [["ApplePress, a press", "It needs 2 GPUs for all the apples"]]
    assert (one.kind, one.coverage and (one.coverage.checked, one.coverage.total)) == (
        "list",
        (1, 2),
    )
    assert texts(both) == [["ApplePress, a press"], ["BridgeNet, a net"]]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "No column is named"),
        (" , ", "No column is named"),
        (",".join(f"c{n}" for n in range(13)), "13 columns are named"),
        ("size, Size", "A column is named twice"),
        ("x" * 61, "cannot be a column"),
        ("a\x1bb", "cannot be a column"),
    ],
)
def test_columns_that_cannot_be(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_columns(text)


@pytest.mark.parametrize("names", [["TinyOwl"], ["TinyOwl", "birds.json:1"]])
def test_one_paper_is_not_compared(library: Library, names: Sequence[str]) -> None:
    with tables(library) as quoting, pytest.raises(UsageError, match="1 paper is named"):
        last_answer(quoting.compare(names))


@pytest.mark.parametrize(
    ("question", "columns"),
    [
        (QUESTION, ["type", "size", "tasks", "hardware"]),
        ("How do TinyOwl and Heron differ?", None),
        ("TinyOwl vs. Heron", None),
        ("What is the difference between TinyOwl and Heron in size and hardware?", None),
        ("Is TinyOwl better than Heron?", None),
        ("Was TinyOwl evaluated on the same benchmarks as Heron?", ["benchmarks"]),
        ("Compare Heron's size with TinyOwl's.", ["size"]),
        ("Compare birds.json:2 with birds.json:1", None),
        ("Vergleiche TinyOwl mit Heron", None),
        ("比较 TinyOwl 和 Heron", None),
    ],
)
def test_the_papers_of_a_question_that_compares(
    library: Library, question: str, columns: list[str] | None
) -> None:
    catalog = Catalog(library.data / "catalog.sqlite3")
    with catalog.reading() as snapshot:
        found = read_comparison(question, snapshot)
    catalog.close()
    assert found is not None
    assert {one.title for one in found.papers} == {OWL["title"], HERON["title"]}
    if columns:
        assert [one.name for one in found.columns] == columns


def test_ask_answers_a_comparison_in_a_table(seeds_index: Path) -> None:
    question = "How do RN-DPO and RepoScope differ in method and dataset?"
    ran = rag("ask", question, "--llm", "none", "--json", data=seeds_index)
    answer = ran.json()
    assert (answer["kind"], answer["table"]["columns"]) == ("comparison", ["method", "dataset"])
    shown = rag("ask", question, "--llm", "none", data=seeds_index)
    assert [line for line in shown.out.splitlines() if "Region-Normalized DPO (RN-DPO) [1]" in line]


@pytest.mark.parametrize(
    "question", ["How large is TinyOwl?", "Compare Heron with GPT-9", "Compare them", ""]
)
def test_a_question_that_names_fewer_than_two_papers_compares_none(
    library: Library, question: str
) -> None:
    catalog = Catalog(library.data / "catalog.sqlite3")
    with catalog.reading() as snapshot:
        assert read_comparison(question, snapshot) is None
    catalog.close()


# --- How it is written down ----------------------------------------------------------------

HOSTILE = ['=HYPERLINK("http://x")', "+1", "@SUM(A1)", " -2+3", "＝1", 'a,b\n"c"', "| x | <b>"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_spreadsheet_runs_nothing_and_markdown_keeps_its_columns(text: str) -> None:
    about = paper(text, text)
    cell = Claim(text, (1,), "supported")
    table = Table(("method", text), (Row(about, (cell, None)),))
    heads, row = csv.reader(io.StringIO(as_csv(table)))
    assert len(heads) == len(row) == 6
    for one in (*heads, *row):
        assert not one.lstrip(" ").startswith(tuple("=+-@＝"))
    lines = as_markdown(table).splitlines()
    assert len(lines) == 3
    assert {line.replace("\\|", "").count("|") for line in lines} == {4}
    assert "<b>" not in as_markdown(table)
    assert lines[2].endswith("| not stated |")


def test_a_markdown_document_quotes_what_is_cited() -> None:
    about = paper("Owls", "Owls see at night.")
    cell = Claim("see at night", (1,), "partly")
    table = Table(("sight",), (Row(about, (cell,)),))
    written = markdown_document(table, (Citation(1, about, about.sentences),))
    assert "| Owls | see at night [1] (partly supported) |" in written
    assert "[1] Owls (f.txt:1)\n> Owls see at night." in written


# --- The commands --------------------------------------------------------------------------


def test_compare_prints_csv_with_the_evidence_of_every_cell(seeds_index: Path) -> None:
    command = ("compare", "RN-DPO", "RepoScope", "--columns", "method,code", "--llm", "none")
    ran = rag(*command, "--format", "csv", data=seeds_index)
    first, second = csv.DictReader(io.StringIO(ran.out))
    assert (first["paper"], first["method"]) == ("RN-DPO", "Region-Normalized DPO (RN-DPO)")
    assert first["method: evidence"].startswith("We propose Region-Normalized DPO (RN-DPO), which")
    assert (second["code"], second["code: evidence"]) == ("", "")
    assert (ran.code, ran.err) == (0, "")


def test_compare_shows_a_table_with_its_sources(seeds_index: Path) -> None:
    ran = rag("compare", "RN-DPO", "RepoScope", "--llm", "none", data=seeds_index)
    assert ran.code == 0
    (heading,) = [line for line in ran.out.splitlines() if "paper" in line and "method" in line]
    assert heading.split() == ["paper", "method", "dataset", "metric", "result", "limitation"]
    assert "CodeWikiBench [2]" in ran.out
    assert "[2] RepoScope  seeds/000_d9e28358a154ea35.txt:4" in ran.out


def test_a_narrow_terminal_shows_one_paper_below_the_other(seeds_index: Path) -> None:
    command = ("compare", "RN-DPO", "RepoScope", "--columns", "method,code,size", "--llm", "none")
    ran = rag_apart(*command, data=seeds_index, env={"COLUMNS": "50"})
    assert "\n    method: RepoScope, a repository documentation generation" in ran.out
    assert "\n    code: not stated" in ran.out


def test_extract_in_markdown_and_in_json(seeds_index: Path) -> None:
    command = ("extract", "safe imitation learning", "-k", "2", "--llm", "none")
    written = rag(*command, "--format", "markdown", data=seeds_index)
    assert written.out.startswith("| paper | method | dataset | metric |\n| --- |")
    answer = rag(*command, "--json", data=seeds_index).json()
    assert (answer["kind"], answer["coverage"]) == ("list", {"checked": 2, "total": 57})
    assert len(answer["table"]["rows"]) == 2
    assert answer["table"]["rows"][0]["title"] == "DexDICE"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["compare", "RN-DPO"], "1 paper is named to compare"),
        (["compare", "RN-DPO", "Nobody9"], "No paper is called 'Nobody9'"),
        (["compare", "RN-DPO", "RARe", "--columns", ","], "No column is named"),
        (["compare", "RN-DPO", "RARe", "--json", "--format", "csv"], "--format and --json"),
        (["extract"], "rag extract needs a topic"),
        (["extract", "owls", "--all"], "--all takes no topic"),
        (["extract", "--all", "--since", "x"], "is not a year"),
        (["extract", " "], "empty"),
    ],
)
def test_a_wrong_request_ends_in_one_line(
    seeds_index: Path, arguments: list[str], told: str
) -> None:
    ran = rag(*arguments, "--llm", "none", data=seeds_index)
    assert ran.code == 2
    assert told in ran.error_line
