"""What a run of the indexer has to say: progress while it works, a report at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rag.corpus import Rejected
from rag.errors import AskPapersError, InputError
from rag.index.snapshot import Counts

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is (0: unknown)."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A file or a record that could not be taken: where it is, why, and what to do."""

    source: str
    reason: str
    remedy: str = ""
    ordinal: int | None = None
    line: int | None = None

    @classmethod
    def of_record(cls, source: str, rejected: Rejected) -> Failure:
        """A record that a reader rejected."""
        return cls(source, rejected.reason, rejected.remedy, rejected.ordinal, rejected.line)

    @classmethod
    def of_file(cls, source: str, error: AskPapersError) -> Failure:
        """A file that could not be read as a whole."""
        reason = f"{error.what} ({error.cause})" if error.cause else error.what
        return cls(source, reason, error.remedy)

    @property
    def told(self) -> str:
        """Where and why, without what to do."""
        place = f", line {self.line}" if self.line else ""
        record = f"{self.source}, record {self.ordinal}{place}: " if self.ordinal else ""
        return f"{record}{self.reason}"

    def __str__(self) -> str:
        return f"{self.told}. {self.remedy}".strip()

    def error(self) -> InputError:
        """The failure as the end of a run that had nothing else to take."""
        return InputError(self.reason, remedy=self.remedy)


@dataclass(frozen=True, slots=True)
class Notice:
    """What was mended in a file or a record so that it could be taken."""

    source: str
    text: str
    ordinal: int | None = None

    def __str__(self) -> str:
        record = f", record {self.ordinal}" if self.ordinal else ""
        return f"{self.source}{record}: {self.text}"


@dataclass(frozen=True, slots=True)
class Place:
    """A record of a file, and the paper that it is of."""

    ordinal: int
    line: int
    paper_id: str

    def __str__(self) -> str:
        return f"record {self.ordinal}, line {self.line}" if self.line else f"record {self.ordinal}"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Records of one file that go by one name there and are different papers; each is kept."""

    source: str
    key: str
    places: tuple[Place, ...]

    def __str__(self) -> str:
        places = "; ".join(map(str, self.places))
        what = f"{self.source}: the id {self.key} stands for different papers ({places})"
        return f"{what}. Each is kept; give it an id of its own."


@dataclass(frozen=True, slots=True)
class Report:
    """What a run changed, in papers; `duplicates` are records that repeat another one's paper.

    `failures` and `conflicts` are all that stand in the files of the run, changed or not.
    """

    added: int
    updated: int
    removed: int
    unchanged: int
    duplicates: int
    embedded: int
    failures: tuple[Failure, ...]
    notices: tuple[Notice, ...]
    total: Counts
    revision: int
    conflicts: tuple[Conflict, ...] = ()

    @property
    def is_flawless(self) -> bool:
        """Whether everything was taken, each record under a name of its own."""
        return not (self.failures or self.conflicts)
