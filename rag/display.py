"""Answers and papers as HTML that is ours alone.

Papers, models and readers are untrusted: whatever they wrote is escaped, and every tag in the
result was written here. There is no line break in it, so that no Markdown is read into it. Maths
stands between two pairs of characters that no text keeps, and only what stands there is given to
KaTeX: a dollar sign is money until it was found to be maths.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from rag.answering.conversation import Conversation, asked_of
from rag.answering.events import CitationAdded, ClaimMade, Done, Event, Heading
from rag.answering.tableform import NOT_STATED
from rag.schema import COUNTING, Answer, Citation, Claim, Paper, Section, Sentence, Table
from rag.text import MATHS, is_money, plain, printable

INLINE_MATHS = ("\ue000", "\ue001")
BLOCK_MATHS = ("\ue002", "\ue003")

_DOLLAR = "\ue004"
_TAGS = {
    "\ue006": "<strong>",
    "\ue007": "</strong>",
    "\ue008": "<em>",
    "\ue009": "</em>",
}
_OURS = re.compile("[\ue000-\ue00f]")
_MAX_MATHS, _MAX_NESTING = 600, 12
_UNSAFE_MATHS = re.compile(
    r"\\(?:href|url|includegraphics|html\w+|class|cssId|[gex]?def|let|futurelet|global|long"
    r"|(?:re)?newcommand|providecommand|rule|m?kern|[hmv]skip|[hv]space|raisebox|smash|mathllap"
    r"|mathrlap|mathclap|llap|rlap|clap|char|verb|tag|Huge|huge|Large|LARGE)(?![A-Za-z])|\\\\\s*\["
)
_STRONG = re.compile(r"(?<![\w*])(\*\*|__)(?=\S)([^*\n]{1,400}?)(?<=\S)\1(?![\w*])")
_EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=\S)([^*_\n]{1,400}?)(?<=\S)\1(?![\w*])")


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and what has come of its answer so far. `number` counts a conversation's turns.

    `answer` is there once the answer is complete, `failure` where there will be none. `spoken` is
    the conversation that the next question goes on about: this turn is in it once it is answered.
    """

    number: int
    question: str
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    answer: Answer | None = None
    failure: str = ""
    stopped: bool = False
    sections: tuple[Section, ...] = ()
    spoken: Conversation = field(default_factory=Conversation)

    def after(self, event: Event) -> Turn:
        """The turn once `event` has happened."""
        if isinstance(event, ClaimMade):
            return replace(self, claims=(*self.claims, event.claim))
        if isinstance(event, Heading):
            section = Section(event.title, len(self.claims))
            return replace(self, sections=(*self.sections, section))
        if isinstance(event, CitationAdded):
            return replace(self, citations=_with(self.citations, event.citation))
        if isinstance(event, Done):
            answer = event.answer
            return replace(
                self,
                claims=answer.claims,
                citations=answer.citations,
                sections=answer.sections,
                answer=answer,
                spoken=self.spoken.after(answer),
            )
        return self


def _with(citations: Sequence[Citation], new: Citation) -> tuple[Citation, ...]:
    """A citation takes the place of the one with its number."""
    numbered = {citation.number: citation for citation in citations} | {new.number: new}
    return tuple(numbered[number] for number in sorted(numbered))


# --- Text ----------------------------------------------------------------------------------


def inline(text: str) -> str:
    """Running text: maths kept for KaTeX, emphasis as emphasis, LaTeX's commands undone."""
    text = _OURS.sub("", printable(text.replace("\n", " ")))
    pieces: list[str] = []
    end = 0
    for match in MATHS.finditer(text):
        pieces += [_prose(text[end : match.start()]), _maths(match.group())]
        end = match.end()
    return "".join([*pieces, _prose(text[end:])])


def highlighted(text: str, spans: Iterable[Sentence]) -> str:
    """`text` with `<mark>` around its parts at the offsets of `spans`."""
    pieces: list[str] = []
    end = 0
    for span in sorted(spans, key=lambda span: span.start):
        start = max(span.start, end)
        if start < span.end <= len(text):
            pieces += [inline(text[end:start]), f"<mark>{inline(text[start : span.end])}</mark>"]
            end = span.end
    return "".join([*pieces, inline(text[end:])])


def _prose(text: str) -> str:
    """What stands between maths, with the white space at its ends."""
    text = re.sub(r"\s+", " ", text)
    if not text.strip():
        return text
    text = _STRONG.sub("\ue006\\2\ue007", text)
    text = _EMPHASIS.sub("\ue008\\2\ue009", text)
    text = text.replace(r"\$", _DOLLAR).replace("$", _DOLLAR)
    first = text[0] if text[0] == " " else ""
    last = " " if text[-1] == " " else ""
    text = _escaped(plain(text).replace(_DOLLAR, "$"))
    for character, tag in _TAGS.items():
        text = text.replace(character, tag)
    return _balanced(f"{first}{text}{last}")


def _balanced(text: str) -> str:
    """Emphasis that overlaps would close in the wrong order: then there is none."""
    opened: list[str] = []
    for slash, name in re.findall(r"<(/?)(strong|em)>", text):
        if not slash:
            opened.append(name)
        elif not opened or opened.pop() != name:
            return re.sub(r"</?(?:strong|em)>", "", text)
    return text if not opened else re.sub(r"</?(?:strong|em)>", "", text)


def _maths(text: str) -> str:
    """What KaTeX may have; what it had better not is shown as text."""
    size = 2 if text.startswith("$$") or text[0] == "\\" else 1
    body = text[size:-size].strip()
    if not body or is_money(text):
        return _escaped(text)
    if len(body) > _MAX_MATHS or _nesting(body) > _MAX_NESTING or _UNSAFE_MATHS.search(body):
        return _escaped(plain(text))
    left, right = BLOCK_MATHS if text.startswith(("$$", r"\[")) else INLINE_MATHS
    return f"{left}{_escaped(body)}{right}"


def _nesting(text: str) -> int:
    depth = deepest = 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        deepest = max(deepest, depth)
    return deepest


def _escaped(text: str) -> str:
    """Escaped, and without the sign that gradio's own placeholders for maths begin with."""
    return html.escape(text).replace("%", "&#37;")


# --- An answer -----------------------------------------------------------------------------


def conversation(turns: Sequence[Turn]) -> str:
    """Questions and answers, one block of HTML each, with an empty line between them."""
    gone = turns[0].number - 1 if turns else 0
    first = [f'<p class="gone">{gone} earlier questions are no longer shown.</p>'] if gone else []
    return "\n\n".join([*first, *map(_turn, turns)])


def _turn(turn: Turn) -> str:
    table = turn.answer.table if turn.answer and turn.claims else None
    parts = [_table(table, turn.number)] if table else _claims(turn)
    if turn.answer is not None:
        parts += _rest(turn.answer, turn.number)
    if turn.failure:
        parts.append(f'<p class="failure">{as_typed(turn.failure)}</p>')
    if turn.stopped:
        parts.append('<p class="stopped">Stopped.</p>')
    return (
        f'<section class="turn">'
        f'<h2 class="asked">{as_typed(turn.question)}</h2>{_understood(turn)}{"".join(parts)}'
        f"</section>"
    )


def _claims(turn: Turn) -> list[str]:
    """The claims in order, each behind the titles that begin at it."""
    titles: dict[int, list[str]] = {}
    for section in turn.sections:
        title = f'<h3 class="part">{inline(section.title)}</h3>'
        titles.setdefault(section.first, []).append(title)
    parts: list[str] = []
    for place, claim in enumerate(turn.claims):
        said = f'<p class="claim">{_said(claim, turn.number)}</p>'
        parts += [*titles.get(place, []), said]
    return parts


def _understood(turn: Turn) -> str:
    """How a follow-up was understood, so that its reader can correct it."""
    asked = asked_of(turn.answer) if turn.answer else turn.question
    if turn.answer is None or asked == turn.answer.question:
        return ""
    return f'<p class="note">Understood as: {as_typed(asked)}</p>'


def as_typed(text: str) -> str:
    """Text that nothing is read into, its line breaks kept."""
    lines = _OURS.sub("", text.replace("\r\n", "\n")).split("\n")
    return "<br>".join(_escaped(printable(line)) for line in lines)


def _table(table: Table, turn: int) -> str:
    heads = "".join(f"<th>{as_typed(name)}</th>" for name in ("paper", *table.columns))
    rows = "".join(
        f"<tr><th>{_title(row.paper)}</th>"
        + "".join(f"<td>{_said(cell, turn) if cell else NOT_STATED}</td>" for cell in row.cells)
        + "</tr>"
        for row in table.rows
    )
    return f'<div class="table"><table><tr>{heads}</tr>{rows}</table></div>'


def _said(claim: Claim, turn: int) -> str:
    """The words of a claim and behind them its citations."""
    links = "".join(
        f'<a href="#source-{turn}-{number}">[{number}]</a>' for number in claim.citations
    )
    cites = f'<sup class="cites">{links}</sup>' if links else ""
    partly = (
        ' <span class="partly" title="The cited sentence supports a part of this claim">'
        "partly supported</span>"
        if claim.verdict == "partly"
        else ""
    )
    return f"{inline(claim.text)}{cites}{partly}"


def _rest(result: Answer, turn: int) -> list[str]:
    parts: list[str] = []
    if not result.claims or result.status == "abstained":
        kind = "refusal" if result.status == "abstained" else "claim"
        parts.append(f'<p class="{kind}">{inline(result.text)}</p>')
    if result.missing and result.kind not in COUNTING:
        parts.append(f'<p class="missing">{inline(result.missing)}</p>')
    if result.note:
        parts.append(f'<p class="note">Note: {as_typed(result.note.rstrip("."))}.</p>')
    if result.dropped:
        items = "".join(
            f"<li>{inline(dropped.text)} <span>({as_typed(dropped.reason)})</span></li>"
            for dropped in result.dropped
        )
        count = f"{len(result.dropped)} claim{'s' if len(result.dropped) > 1 else ''}"
        parts.append(
            f'<details class="dropped"><summary>{count} left out</summary>'
            f"<ul>{items}</ul></details>"
        )
    if result.status == "abstained" and result.nearest:
        items = "".join(
            f'<li><a href="#nearest-{turn}-{rank}">{_title(nearest.paper)}</a> '
            f"{_place(nearest.paper)}</li>"
            for rank, nearest in enumerate(result.nearest, start=1)
        )
        parts.append(f'<div class="nearest"><p>Nearest papers</p><ul>{items}</ul></div>')
    return parts


# --- Sources -------------------------------------------------------------------------------


def sources(turns: Sequence[Turn]) -> str:
    """The papers behind the last answer and, folded, those behind the answers before it."""
    if not turns:
        return '<p class="empty">The abstracts that an answer relies on will stand here.</p>'
    cards = _cards(turns[-1]) or '<p class="empty">Nothing is cited yet.</p>'
    folded = "".join(
        f'<details class="earlier"><summary>{as_typed(_short(turn.question))}</summary>'
        f"{earlier}</details>"
        for turn in reversed(turns[:-1])
        if (earlier := _cards(turn))
    )
    return f'<div class="sources">{cards}{folded}</div>'


def _cards(turn: Turn) -> str:
    cards = [
        _card(f"source-{turn.number}-{c.number}", str(c.number), c.paper, c.sentences)
        for c in turn.citations
    ]
    if turn.answer is not None and turn.answer.status == "abstained":
        cards += [
            _card(f"nearest-{turn.number}-{rank}", "", nearest.paper, ())
            for rank, nearest in enumerate(turn.answer.nearest, start=1)
        ]
    return "".join(cards)


def _card(anchor: str, number: str, paper: Paper, cited: Sequence[Sentence]) -> str:
    label = f'<span class="number">{number}</span>' if number else ""
    derived = (
        ' <span class="derived" title="The source gives no title">'
        "title derived from the abstract</span>"
        if paper.title_derived
        else ""
    )
    return (
        f'<article class="source" id="{anchor}"><h3>{label}{_title(paper)}</h3>'
        f'<p class="about">{_place(paper)}{derived}</p>'
        f'<p class="abstract">{highlighted(paper.text, cited)}</p></article>'
    )


def _title(paper: Paper) -> str:
    return inline(paper.title)


def _place(paper: Paper) -> str:
    return f'<span class="place">{as_typed(f"{paper.source}:{paper.ordinal}")}</span>'


def _short(text: str, most: int = 80) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rstrip()}…"
