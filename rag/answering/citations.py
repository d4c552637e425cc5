"""Claims and their citations: read from a model's reply, numbered, rendered, read back.

A model never writes a citation number. It names the labels of sentences, as JSON or, where a
server has no JSON schemas, one claim to a line behind its labels; numbers are given here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rag.schema import Citation, Claim, Evidence, Paper, Sentence, Verdict

# --- Reading a reply -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Draft:
    """A claim as the model made it: its text, and the labels of the sentences it relies on."""

    text: str
    labels: tuple[str, ...]


_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)|\A(?:(?!<think>).)*?</think>", re.DOTALL)
_TURN_END = re.compile(r"<\|[^|>\n]{1,40}\|>|</s>|\[/?INST\]")
_CLAIMS = re.compile(r"\{\s*\"claims\"")
_LABELS = r"S\d+(?:\s*(?:,|;|and|&|-|–|to|\]\s*\[)\s*S\d+)*"
_LEADING = re.compile(
    rf"^[\s>*•-]*(?:\d+[.)]\s*)?[\[(]{{0,2}}\s*(?P<labels>{_LABELS})\s*[\])]{{0,2}}\s*[:.–—-]*\s*"
)
_TRAILING = re.compile(rf"\s*[\[(]{{1,2}}\s*(?P<labels>{_LABELS})\s*[\])]{{1,2}}\s*[.!]?\s*$")
_LABEL = re.compile(r"S(\d+)(?:\s*(?:-|–|to)\s*S(\d+))?")
_LONGEST_RANGE = 20
_PROMISE = re.compile(r"^\W*(?:none|no claims?|not (?:stated|found|given))\W*$", re.IGNORECASE)
# Models write \beta and \% in JSON strings without doubling the backslash; JSON would read the
# first as a backspace and refuse the second.
_LATEX_ESCAPE = re.compile(
    r"(?<!\\)\\(?=[^\"\\/bfnrtu]|b(?:eta|ar\b|oxed|egin|inom|f\b|ig)|f(?:rac|orall)"
    r"|n(?:u\b|abla|eq?\b|ot\b|orm)|r(?:ho|ight|m\b|angle)|t(?:imes|heta|au\b|ext|ilde|o\b|op\b)"
    r"|u(?![0-9a-fA-F]{4}))"
)


class ReplyReader:
    """Takes a reply piece by piece and gives each claim as soon as it is complete."""

    def __init__(self) -> None:
        self._text = ""
        self._given = 0

    def feed(self, piece: str) -> list[Draft]:
        """The claims that `piece` completed."""
        self._text += piece
        return self._new(final=False)

    @property
    def text(self) -> str:
        """What has come so far."""
        return self._text

    def finish(self) -> list[Draft]:
        """The claims that only the end of the reply completes."""
        return self._new(final=True)

    def _new(self, *, final: bool) -> list[Draft]:
        drafts = read_reply(self._text, final=final)
        fresh = drafts[self._given :]
        self._given = max(self._given, len(drafts))
        return fresh


def read_reply(text: str, *, final: bool = True) -> list[Draft]:
    """The claims in a reply, in order. Not `final`: only those that more text cannot change."""
    text = _THOUGHT.sub("", text)
    if "<think>" in text or (not final and text.lstrip().startswith("<")):
        return []
    text = _unwrapped(text)
    if text.startswith(("{", "[")) and not _LEADING.match(text):
        return list(_from_json(text))
    lines = text.split("\n")
    complete = lines if final else lines[:-1]
    return [draft for line in complete if (draft := _from_line(line))]


def says_nothing(text: str) -> bool:
    """Whether a whole reply says, in the form that was asked for, that there is no claim."""
    text = _unwrapped(_THOUGHT.sub("", text)).strip()
    if not text or _PROMISE.match(text):
        return True
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("claims") == []


def _unwrapped(text: str) -> str:
    """A reply without what models put around it: a fence, a preface, the marks of a turn."""
    if turn := _TURN_END.search(text.lstrip()):
        text = text.lstrip()[: turn.start()]
    if claims := _CLAIMS.search(text):
        return text[claims.start() :]
    text = text.lstrip()
    if text.startswith("```"):
        text = text.partition("\n")[2]
    stripped = text.rstrip()
    return stripped.removesuffix("```") if stripped.endswith("```") else text


def _labels_in(text: str) -> list[str]:
    """The labels named in `text`, `S1-S3` in full."""
    found: list[str] = []
    for match in _LABEL.finditer(text):
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        found += [f"S{n}" for n in range(first, min(last, first + _LONGEST_RANGE) + 1)]
    return list(dict.fromkeys(found))


def _from_json(text: str) -> Iterator[Draft]:
    """Every complete object with a text that stands inside the outermost one or list."""
    for start, end in _objects(text):
        try:
            value = json.loads(_LATEX_ESCAPE.sub(r"\\\\", text[start:end]))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and isinstance(value.get("text"), str):
            support = value.get("support")
            named = support if isinstance(support, list) else [support]
            labels = _labels_in(" ".join(map(str, named)))
            if value["text"].strip():
                yield Draft(value["text"].strip(), tuple(labels))


def _objects(text: str) -> Iterator[tuple[int, int]]:
    """Offsets of the innermost complete `{…}` of a JSON text, braces within strings left out."""
    opened: int | None = None
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}]', text, re.DOTALL):
        if match.group() == "{":
            opened = match.start()
        elif match.group() == "}" and opened is not None:
            yield opened, match.end()
            opened = None


def _from_line(line: str) -> Draft | None:
    """A claim of the text protocol: `S1, S2: the claim`, or the labels behind it."""
    lead, trail = _LEADING.match(line), _TRAILING.search(line)
    if lead and line[lead.end() :].strip():
        text, named = line[lead.end() :], lead.group("labels")
    elif trail:
        text, named = line[: trail.start()], trail.group("labels")
    else:
        text, named = line, ""
    text = _TRAILING.sub("", text).strip().lstrip("*•- ").strip()
    if not any(c.isalnum() for c in text) or _PROMISE.match(text):
        return None
    return Draft(text, tuple(_labels_in(named)))


# --- Numbering -----------------------------------------------------------------------------


class Numbering:
    """Gives papers the numbers 1, 2, … in order of first use and gathers their sentences."""

    def __init__(self) -> None:
        self._papers: dict[str, Paper] = {}
        self._sentences: dict[str, dict[int, Evidence]] = {}

    def cite(self, text: str, support: Sequence[tuple[Paper, Evidence]], verdict: Verdict) -> Claim:
        """The claim with its numbers, ascending."""
        for paper, evidence in support:
            self._papers.setdefault(paper.id, paper)
            self._sentences.setdefault(paper.id, {})[evidence.index] = evidence
        order = list(self._papers)
        numbers = sorted({order.index(paper.id) + 1 for paper, _ in support})
        return Claim(text, tuple(numbers), verdict, tuple(evidence for _, evidence in support))

    def citations(self) -> tuple[Citation, ...]:
        """Every paper that was cited so far, with the sentences that claims rely on."""
        return tuple(
            Citation(number, paper, _in_order(self._sentences[paper.id].values()))
            for number, paper in enumerate(self._papers.values(), start=1)
        )


def _in_order(evidence: Iterable[Evidence]) -> tuple[Sentence, ...]:
    ordered = sorted(evidence, key=lambda e: e.index)
    return tuple(Sentence(e.text, e.start, e.end) for e in ordered)


# --- Rendering -----------------------------------------------------------------------------

_BRACKET = re.compile(r"\[(\d{1,3}(?:(?:, |-)\d{1,3})*)\]")
_CLOSING = re.compile(r"([.!?。！？]+[\"'”’)*_]*)$")


def render(claims: Iterable[Claim]) -> str:
    """The answer as running text, each claim with its numbers, as in `It is so [1, 2]`."""
    return " ".join(render_claim(claim) for claim in claims)


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
