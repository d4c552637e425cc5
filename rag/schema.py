"""One frozen value for each arrow of the flow.

    Paper ─▶ Chunk ─▶ Hit, Evidence ─▶ Claim, Citation ─▶ Answer

All offsets count characters of `Paper.text`, half-open: `paper.text[start:end]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Status = Literal["answered", "partial", "abstained"]
Verdict = Literal["supported", "partly", "unsupported", "contradicted"]
Kind = Literal[
    "fact", "yes_no", "definition", "quantity", "comparison", "list", "count", "agreement",
    "summary", "overview", "talk",
]  # fmt: skip
COUNTING = frozenset({"list", "count", "overview"})
"""Kinds whose answers say what was looked for, also where nothing was found."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a source says of a paper besides title and abstract; empty where it is silent.

    Values are plain text: LaTeX accents and entities decoded, maths kept. Authors are written
    "First Last". `doi` is bare and in lower case, as 10.1000/xyz; `arxiv` without prefix and
    version, as 2401.01234. `key` is the source's own name for the record. `flags` is ours:
    what about the record looks planted (see `rag.guarding.planted`), mostly nothing.
    """

    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    doi: str = ""
    arxiv: str = ""
    url: str = ""
    keywords: tuple[str, ...] = ()
    key: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a paper and where it stands in the paper's text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Paper:
    """One abstract, stored exactly as its source has it.

    `ordinal` is its 1-based place among the papers of `source`; `source_offset` is the
    character of the source file where `text` begins. `title_derived` says that the title is
    ours, made from the abstract, because the source gives none. `content` names title and text:
    it changes with them, while `id` stays through the versions of a paper, counted from 1.
    """

    id: str
    source: str
    ordinal: int
    source_offset: int
    text: str
    title: str
    title_derived: bool
    sentences: tuple[Sentence, ...]
    meta: Metadata = Metadata()
    content: str = ""
    version: int = 1


@dataclass(frozen=True, slots=True)
class Chunk:
    """A window of whole sentences of one paper: the unit that is embedded."""

    id: str
    paper_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence that may answer a question. `index` counts the paper's sentences from 0."""

    paper_id: str
    index: int
    text: str
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A paper found for a question; `parts` is what each list gave to its score."""

    paper: Paper
    score: float
    evidence: tuple[Evidence, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer, the numbers of its citations and what checking it gave.

    `support` holds the very sentences that it relies on, `probability` how likely they say it,
    and `reason` what they lack where the verdict is not `supported`.
    """

    text: str
    citations: tuple[int, ...]
    verdict: Verdict
    support: tuple[Evidence, ...] = ()
    probability: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A claim that the model made and that was not shown, with the reason."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered reference: the paper and those of its sentences that are relied on."""

    number: int
    paper: Paper
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Nearest:
    """A paper close to the question, shown beside an answer or instead of one."""

    paper: Paper
    score: float


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: a paper, and for each column a claim or None where it does not say."""

    paper: Paper
    cells: tuple[Claim | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """What several papers say of the same things."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of an answer under a title; `first` is the place of its first claim, from 0.

    It ends where the next one begins.
    """

    title: str
    first: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many papers of the collection were looked at, one by one, for an answer."""

    checked: int
    total: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What is shown for a question. Citation numbers run 1..n in order of first use.

    `manifest` names what made the answer (index state, models, prompts, settings, evidence),
    so that it can be replayed and compared. `note` tells the reader what went otherwise than
    asked; it is empty when all went well. `complete` is false where the writing broke off, and
    then the claims are those that had come.

    `kind` is what the question was taken for. `confidence` is the probability that the collection
    answers it, None where that was not estimated. `missing` says what an abstention did not find.
    `coverage` goes with answers about the whole collection, `table` with comparisons; the cells of
    a table are among the claims. `sections` parts the claims of a list, an overview or a statement
    of who says what; it is empty where they are running text.
    """

    question: str
    status: Status
    text: str
    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]
    dropped: tuple[Dropped, ...]
    nearest: tuple[Nearest, ...]
    manifest: Mapping[str, object]
    note: str = ""
    complete: bool = True
    kind: Kind = "fact"
    confidence: float | None = None
    missing: str = ""
    coverage: Coverage | None = None
    table: Table | None = None
    sections: tuple[Section, ...] = ()
