"""What the tab of papers does with the collection; no gradio here."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from rag.config import Config
from rag.errors import PaperNotFound, UsageError
from rag.exporting import Format, reference_of, rendered, selection_of
from rag.index.browse import Filter, Source, browse, sources_of, years_of
from rag.index.catalog import Catalog
from rag.index.curation import Curator, Removed
from rag.index.table import Order, Page, page_of, rows_of
from rag.mapping import TopicMap, map_of
from rag.page.uploading import INCOMING
from rag.schema import Paper

PAGE = 50  # rows
_UNDONE = 20  # removals of one reader that can be undone


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the reader asks the table for, as it was typed."""

    text: str = ""
    year: str = ""
    venue: str = ""
    author: str = ""
    source: str = ""
    order: Order = "file"

    @property
    def filter(self) -> Filter:
        """The filter.

        Raises:
            UsageError: the years are none.
        """
        years = years_of(self.year) if self.year.strip() else None
        return Filter(years, self.venue, self.author, self.source, self.text)


class Collection:
    """Reads and changes the collection for the readers of a page. Safe for several threads.

    What a reader removed is kept in memory until the program ends, so that it can be undone;
    nothing of it stays in the catalog.
    """

    def __init__(self, config: Config) -> None:
        self.room = config.data_dir / INCOMING  # for files that pass through, emptied at the start
        self._catalog = Catalog(config.data_dir / "catalog.sqlite3")
        self._removed: dict[str, deque[Removed]] = defaultdict(lambda: deque(maxlen=_UNDONE))
        self._drawn: TopicMap | None = None
        self._drawing = threading.Lock()

    def page(self, wanted: Wanted, first: int) -> Page:
        """Rows of the table."""
        with self._catalog.reading() as snapshot:
            return page_of(rows_of(snapshot, wanted.filter, wanted.order), first, PAGE)

    def paper(self, paper_id: str) -> tuple[Paper, tuple[Source, ...]]:
        """A paper and where it stands.

        Raises:
            PaperNotFound: it has left the collection.
        """
        with self._catalog.reading() as snapshot:
            found = snapshot.papers([paper_id]).get(paper_id)
            if found is None:
                raise PaperNotFound(
                    "This paper is no longer in the collection",
                    remedy="It was removed, or its file has changed.",
                )
            return found, sources_of(snapshot, paper_id)

    def remove(self, owner: str, paper_ids: Sequence[str]) -> int:
        """Take papers out; how many there were.

        Raises:
            UsageError: none is chosen.
            IndexLocked: another process writes.
        """
        if not paper_ids:
            raise UsageError("No paper is chosen", remedy="Tick the papers first.")
        removed = Curator(self._catalog).take_out(paper_ids)
        if removed.papers:
            self._removed[owner].append(removed)
        return removed.papers

    def undo(self, owner: str) -> int:
        """Bring back what was removed last; how many papers.

        Raises:
            UsageError: there is nothing to undo.
            IndexLocked: another process writes; it can be tried again.
        """
        if not self._removed[owner]:
            raise UsageError("There is no removal to undo")
        back = Curator(self._catalog).put_back(self._removed[owner][-1])
        with suppress(IndexError):
            self._removed[owner].pop()
        return back

    def can_undo(self, owner: str) -> bool:
        """Whether there is something to bring back."""
        return bool(self._removed[owner])

    def export(self, paper_ids: Sequence[str], wanted: Wanted, form: Format) -> str:
        """The named papers in a format; all that pass the filter where none is named."""
        with self._catalog.reading() as snapshot:
            named = snapshot.papers(paper_ids)
            chosen = [named[key] for key in paper_ids if key in named]
            found = selection_of(map(reference_of, chosen or browse(snapshot, wanted.filter)))
        return rendered(found, form)

    def drawn(self) -> TopicMap:
        """The map of the collection as it is now; drawn once for each state of it.

        Raises:
            UsageError, IndexUnusable: as `map_of`.
        """
        with self._drawing, self._catalog.reading() as snapshot:
            if self._drawn is None or self._drawn.revision != snapshot.revision:
                self._drawn = map_of(snapshot)
            return self._drawn

    def close(self) -> None:
        """Close the catalog."""
        self._catalog.close()
