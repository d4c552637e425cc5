"""Every failure that a reader can cause or meet, as one tree.

AskPapersError                 one line: WHAT (CAUSE). REMEDY
├── UsageError            2    the request itself: change what was asked
│   ├── ConfigError       2    a setting: change the file, the variable or the flag
│   ├── InputError        2    the named input holds no papers: name another
│   └── PaperNotFound     2    no such paper: pick one of the suggestions
├── IndexUnusable         3    missing, damaged or built with other settings: run the named command
│   └── IndexLocked       3    another process writes: wait for it
├── HistoryUnusable       3    kept conversations: damaged or newer; upgrade, or move the file away
├── ModelError            4    a model, its server or its weights: see the cause
│   ├── WeightsError      4    weights missing, truncated or altered: fetch them again
│   ├── ServerError       4    the server answered with a fault, or not at all
│   └── AnswerIncomplete  4    the stream ended early: the part that came is kept
└── ResourceError         5    this machine: permission, space, memory

A class says who has to act; `exit_code` is what the command line returns for it.
"""

from __future__ import annotations

from typing import ClassVar

EXIT_PARTLY_FAILED = 1
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143


class AskPapersError(Exception):
    """A failure told in one line: what went wrong, why, and what to do about it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, cause: str = "", remedy: str = "") -> None:
        self.what = _one_line(what).rstrip(".")
        self.cause = _one_line(cause).rstrip(".")
        self.remedy = _one_line(remedy)
        super().__init__(str(self))

    def __str__(self) -> str:
        sentence = f"{self.what} ({self.cause})." if self.cause else f"{self.what}."
        return f"{sentence} {self.remedy}".strip()


class UsageError(AskPapersError):
    """The request cannot be carried out as it was made."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting is unknown, of the wrong type or out of its range."""


class InputError(UsageError):
    """A path that was named holds nothing that can be read as papers."""


class PaperNotFound(UsageError):
    """No paper, or more than one, answers to the given reference."""


class IndexUnusable(AskPapersError):
    """There is no index, or it cannot be trusted with the present settings."""

    exit_code = 3


class IndexLocked(IndexUnusable):
    """Another process holds the write lock."""


class HistoryUnusable(AskPapersError):
    """The kept conversations are of a newer release, or damaged."""

    exit_code = 3


class ModelError(AskPapersError):
    """A model cannot be used: its weights, its server or what it returned."""

    exit_code = 4


class WeightsError(ModelError):
    """Weights are missing, incomplete or not the ones that were pinned."""


class ServerError(ModelError):
    """A model server refused, failed or sent something that is not an answer."""


class AnswerIncomplete(ModelError):
    """A stream ended before its end was announced; `partial` holds what had come."""

    def __init__(self, what: str, *, partial: str, cause: str = "", remedy: str = "") -> None:
        super().__init__(what, cause=cause, remedy=remedy)
        self.partial = partial


class ResourceError(AskPapersError):
    """This machine lacks something: a permission, disk space, memory, a port."""

    exit_code = 5


def _one_line(text: str) -> str:
    return " ".join(text.split())
