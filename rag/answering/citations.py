"""Citations: numbered, rendered and read back.

A model never writes a citation number: it names the labels of sentences, and numbers are given
here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rag.schema import Citation, Claim, Evidence, Paper, Section, Sentence, Verdict

# --- Numbering -----------------------------------------------------------------------------


class Numbering:
    """Gives papers the numbers 1, 2, … in order of first use and gathers their sentences.

    A paper that was cited earlier in a conversation keeps its number; new ones go on behind.
    """

    def __init__(self, earlier: Mapping[str, int] | None = None) -> None:
        """`earlier` has the numbers that were given before, by paper id."""
        self._numbers = dict(earlier or {})
        self._papers: dict[str, Paper] = {}
        self._sentences: dict[str, dict[int, Evidence]] = {}

    def cite(self, text: str, support: Sequence[tuple[Paper, Evidence]], verdict: Verdict) -> Claim:
        """The claim with its numbers, ascending."""
        for paper, evidence in support:
            self._papers.setdefault(paper.id, paper)
            self._numbers.setdefault(paper.id, max(self._numbers.values(), default=0) + 1)
            self._sentences.setdefault(paper.id, {})[evidence.index] = evidence
        numbers = sorted({self._numbers[paper.id] for paper, _ in support})
        return Claim(text, tuple(numbers), verdict, tuple(evidence for _, evidence in support))

    def citations(self) -> tuple[Citation, ...]:
        """Every paper that this answer cites so far, with the sentences that claims rely on."""
        return tuple(
            Citation(self._numbers[key], paper, _in_order(self._sentences[key].values()))
            for key, paper in sorted(self._papers.items(), key=lambda one: self._numbers[one[0]])
        )


def _in_order(evidence: Iterable[Evidence]) -> tuple[Sentence, ...]:
    ordered = sorted(evidence, key=lambda e: e.index)
    return tuple(Sentence(e.text, e.start, e.end) for e in ordered)


# --- Rendering -----------------------------------------------------------------------------

_BRACKET = re.compile(r"\[(\d{1,3}(?:(?:, |-)\d{1,3})*)\]")
_CLOSING = re.compile(r"([.!?。！？]+[\"'”’)*_]*)$")


def render(claims: Iterable[Claim]) -> str:
    """The answer as running text, each claim with its numbers: `It is so [1, 2]`, and a stop.

    One that does not end as a sentence does, ends before the next one begins.
    """
    told = list(claims)
    ends = ["" if _CLOSING.search(claim.text) else "." for claim in told[:-1]] + [""]
    return " ".join(f"{render_claim(c)}{end}" for c, end in zip(told, ends, strict=False))


def render_sections(sections: Sequence[Section], claims: Sequence[Claim]) -> str:
    """The answer part by part: each title on a line, below it each claim on one."""
    ends = [section.first for section in sections[1:]] + [len(claims)]
    lines = [render_claim(claim) for claim in claims[: sections[0].first]]
    for section, end in zip(sections, ends, strict=True):
        lines.append(section.title)
        lines += [f"- {render_claim(claim)}" for claim in claims[section.first : end]]
    return "\n".join(lines)


def render_claim(claim: Claim) -> str:
    """One claim with its numbers before its closing mark; quoted brackets are not ours."""
    if not claim.citations:
        return claim.text
    marks = f"[{', '.join(map(str, claim.citations))}]"
    closing = _CLOSING.search(claim.text)
    if not closing:
        return f"{claim.text} {marks}"
    return f"{claim.text[: closing.start()]} {marks}{closing.group()}"


def read_marks(text: str) -> list[tuple[int, ...]]:
    """The numbers of each `[1]`, `[1, 2]` or `[1-3]` in `text`, in order."""
    return [tuple(_numbers(match.group(1))) for match in _BRACKET.finditer(text)]


def _numbers(inside: str) -> Iterator[int]:
    for part in inside.split(", "):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)
