"""Standing questions asked again, one after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from rag import jsonform
from rag.answering.assistant import Assistant, last_answer
from rag.errors import AskPapersError, IndexUnusable
from rag.index.catalog import Catalog
from rag.index.snapshot import Snapshot
from rag.schema import Answer
from rag.watching.differing import Entry, change, named
from rag.watching.outcome import Outcome
from rag.watching.store import Standing, Watchlist


def run(
    assistant: Assistant,
    watchlist: Watchlist,
    questions: Iterable[Standing],
    *,
    again: bool = False,
    notify: Callable[[str], None] | None = None,
) -> Iterator[Outcome]:
    """Ask each question whose last answer is of another revision of the index, or all if `again`.

    What came out is kept before the next one is asked, so that a run that is killed loses one.

    Raises:
        IndexUnusable: there is no index to ask.
    """
    catalog = Catalog(assistant.config.data_dir / "catalog.sqlite3")
    try:
        for standing in questions:
            yield _ask(assistant, watchlist, catalog, standing, again=again, notify=notify)
    finally:
        catalog.close()


def revision_of(catalog: Catalog) -> int:
    """The revision of the index now.

    Raises:
        IndexUnusable: there is no index.
    """
    with catalog.reading() as snapshot:
        return snapshot.revision


def _ask(
    assistant: Assistant,
    watchlist: Watchlist,
    catalog: Catalog,
    standing: Standing,
    *,
    again: bool,
    notify: Callable[[str], None] | None,
) -> Outcome:
    revision = revision_of(catalog)  # before it is asked: what comes in meanwhile is asked again
    if not (again or standing.waits(revision)):
        return Outcome(standing, "not asked")
    try:
        events = assistant.ask(standing.question, filters=standing.filters(), notify=notify)
        answer = last_answer(events)
    except IndexUnusable:
        raise
    except AskPapersError as error:
        return Outcome(standing, "failed", reason=str(error))
    if not answer.complete:
        return Outcome(standing, "failed", reason=f"The answer is incomplete: {answer.note}.")
    return _kept(watchlist, catalog, standing, answer, revision)


def _kept(
    watchlist: Watchlist, catalog: Catalog, standing: Standing, answer: Answer, revision: int
) -> Outcome:
    former = standing.last.former() if standing.last else None
    with catalog.reading() as snapshot:
        entries = entries_of(snapshot, named(former.answer if former else None, answer))
    otherwise = change(former, answer, entries) if former else None
    form = jsonform.answer(answer)
    if otherwise and otherwise.is_empty:
        kept = watchlist.confirm(standing, revision)
    else:
        contents = {one.paper.id: one.paper.content for one in answer.citations}
        kept = watchlist.keep(standing, form, contents, otherwise, revision)
    if not kept:
        return Outcome(standing, "failed", reason="Another process has asked it meanwhile.")
    if otherwise is None:
        return Outcome(standing, "first", form)
    return Outcome(standing, "same" if otherwise.is_empty else "changed", form, otherwise)


def entries_of(snapshot: Snapshot, paper_ids: Iterable[str]) -> dict[str, Entry]:
    """Those of the named papers that are in the index, by id."""
    rows = snapshot.connection.execute(
        "SELECT p.paper_id, p.created, t.content, t.title FROM papers p"
        " JOIN texts t ON t.id = p.text WHERE p.paper_id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(paper_ids)),),
    )
    return {key: Entry(created, content, title) for key, created, content, title in rows}
