"""Tables of papers: of those that are named, of those on a topic, of those a question compares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rag.answering.abstention import holds_nothing
from rag.answering.asking import Asker, Reading
from rag.answering.columns import DEFAULT, read_columns
from rag.answering.comparing import read_comparison
from rag.answering.cues import Column
from rag.answering.events import Event
from rag.answering.finding import Finder
from rag.answering.guarded import Guarded
from rag.answering.parts import choice_of
from rag.answering.rows import ModelRows, QuotingRows, RowReader
from rag.answering.tableform import name_of
from rag.answering.tabling import Tabling, compared, gathered, subjects
from rag.answering.work import Work
from rag.answering.writing import Writer
from rag.config import Config
from rag.index.browse import Filter
from rag.index.reader import IndexReader, IndexState
from rag.retrieval.query import Question, read_question
from rag.retrieval.search import Found
from rag.schema import Answer, Coverage


class Tables:
    """Makes tables over one index; with a model that reads each paper, or by quoting."""

    def __init__(
        self,
        config: Config,
        reader: IndexReader,
        finder: Finder,
        writer: Writer,
        asker: Asker | None = None,
    ) -> None:
        """`asker` is given the time of a whole answer for each paper."""
        self._config = config
        self._reader = reader
        self._finder = finder
        self._writer = writer
        self._rows = _rows(config, asker)
        self._guarded = Guarded(reader)

    def compare(
        self, references: Sequence[str], columns: str = DEFAULT, reading: Reading | None = None
    ) -> Iterator[Event]:
        """A table of 2 to 12 papers, named as for a summary; a cell for each of the columns.

        Raises:
            UsageError: too few or too many papers or columns.
            PaperNotFound: no paper, or several, answer to a reference.
        """
        wanted = read_columns(columns)
        with self._reader.state() as state:
            papers = compared(state, references)
            title = f"Compare {', '.join(name_of(paper) for paper in papers)}: {columns}"
            empty = self._empty(state, title, None, "compare")
            given = subjects(state, papers, wanted)
        events = self._tabling(wanted, reading or Reading()).fill(given, empty, "comparison")
        yield from self._guarded.watch(events)

    def asked(
        self,
        question: Question,
        reading: Reading | None = None,
        numbers: Mapping[str, int] | None = None,
    ) -> Iterator[Event] | None:
        """The table that a question asks for which compares papers; None where it names too few.

        Papers that it does not name are looked for. `numbers` are those that papers bear already.

        Raises:
            IndexUnusable: there is no index to search.
        """
        reading = reading or Reading()
        found = self._finder.find(question, self._config.top_k, reading)
        near = None if holds_nothing(found) else found
        with self._reader.state() as state:
            comparison = read_comparison(question.text, state.snapshot, near)
            if comparison is None:
                return None
            empty = self._empty(state, question.text, found)
            given = subjects(state, comparison.papers, comparison.columns)
        tabling = Tabling(comparison.columns, self._rows, reading, numbers)
        return tabling.fill(given, empty, "comparison")

    def extract(
        self,
        topic: str | None,
        columns: str = DEFAULT,
        *,
        limit: int | None = None,
        filters: Sequence[Filter] = (),
        reading: Reading | None = None,
    ) -> Iterator[Event]:
        """A table of the papers on a topic; without one, of all that pass the filters.

        Raises:
            UsageError: no topic that can be searched, no paper is asked for, too many columns.
            IndexUnusable: there is no index to search.
        """
        wanted = read_columns(columns)
        reading = reading or Reading()
        found = None if topic is None else self._on(topic, limit, filters, reading)
        with self._reader.state() as state:
            papers = gathered(state, found, filters)
            empty = self._empty(state, f"{topic or 'All papers'}: {columns}", found, "extract")
            empty = replace(empty, coverage=Coverage(len(papers), state.snapshot.size()))
            given = subjects(state, papers, wanted)
        events = self._tabling(wanted, reading).fill(given, empty, "list")
        yield from self._guarded.watch(events)

    def _on(
        self, topic: str, limit: int | None, filters: Sequence[Filter], reading: Reading
    ) -> Found:
        asked = read_question(topic, max_chars=self._config.max_question_chars)
        limit = self._config.top_k if limit is None else limit
        return self._finder.find(asked, limit, reading, filters=filters)

    def _tabling(self, columns: Sequence[Column], reading: Reading) -> Tabling:
        return Tabling(columns, self._rows, reading)

    def _empty(
        self, state: IndexState, title: str, found: Found | None, command: str = "ask"
    ) -> Answer:
        """What is said where no abstract says anything of the columns."""
        described = (state.name, state.embedding_model)
        return (
            Work(self._config, self._writer, title, *described, found, command=command)
            .abstain()
            .answer
        )


def _rows(config: Config, asker: Asker | None) -> RowReader:
    """Who reads papers for a table.

    The embedded model takes ten seconds for a paper and finds fewer cells than quoting does
    (docs/tables.md), so that it reads only where it is named, and is doubted.
    """
    embedded = choice_of(config) == "local"
    if asker is None or (embedded and config.llm == "auto"):
        return QuotingRows()
    return ModelRows(replace(asker, seconds=config.answer_timeout), doubted=embedded)
