"""Questions and answers as HTML: blocks that `gr.Markdown` shows as they are.

What can be done with an answer is a button of the class `do`, with a name and a value, which
`page.js` tells the program. gradio lets no `aria-` attributes through, so the text of a button
says all.
"""

from __future__ import annotations

from collections.abc import Sequence

from rag.answering.conversation import asked_of
from rag.answering.tableform import NOT_STATED
from rag.display import as_typed, inline, short
from rag.exporting import FORMATS, Format
from rag.page.followups import followups
from rag.page.turns import Turn, replaced
from rag.schema import COUNTING, Answer, Citation, Claim, Paper, Table

LONGEST_QUESTION = 4_000  # characters of a question that are shown
FORMAT_NAMES: dict[Format, str] = {
    "markdown": "Markdown",
    "html": "Web page",
    "json": "JSON",
    "bibtex": "BibTeX",
    "ris": "RIS",
    "csl": "CSL-JSON",
}
_SURE, _LIKELY = 0.8, 0.6  # from where on a confidence is called high, and moderate


def conversation(turns: Sequence[Turn], conversation: int = 0) -> str:
    """Questions and answers, one block of HTML each, with an empty line between them.

    `conversation` is the number by which it is kept, 0 where it is not.
    """
    gone = turns[0].number - 1 if turns else 0
    first = [f'<p class="gone">{gone} earlier questions are no longer shown.</p>'] if gone else []
    folded = replaced(turns)
    blocks = [
        _folded(turn) if turn.number in folded else _turn(turn, conversation, turn is turns[-1])
        for turn in turns
    ]
    return "\n\n".join([*first, *blocks])


def _folded(turn: Turn) -> str:
    """A turn that was asked again: its answer can be looked at."""
    return (
        f'<details class="turn replaced" id="turn-{turn.number}"><summary>Earlier answer to '
        f"“{as_typed(short(turn.question))}”</summary>{''.join(_said(turn))}</details>"
    )


def _turn(turn: Turn, conversation: int, last: bool) -> str:
    return (
        f'<section class="turn" id="turn-{turn.number}">'
        f'<h2 class="asked">{as_typed(_shortened(turn.question))}</h2>'
        f"{''.join(_said(turn))}{_bar(turn, conversation, last)}{_followups(turn) if last else ''}"
        "</section>"
    )


def said(turn: Turn) -> str:
    """What an answer says, without what can be done with it."""
    return f'<section class="turn">{"".join(_said(turn))}</section>'


def _shortened(question: str) -> str:
    if len(question) <= LONGEST_QUESTION:
        return question
    return f"{question[:LONGEST_QUESTION]}… ({len(question):,} characters)"


def _said(turn: Turn) -> list[str]:
    table = turn.answer.table if turn.answer and turn.claims else None
    parts = [_understood(turn)]
    parts += [_table(table, turn)] if table else _claims(turn)
    if turn.answer is not None:
        parts += _rest(turn.answer, turn.number)
    if turn.failure:
        parts.append(f'<p class="failure">{as_typed(turn.failure)}</p>')
    if turn.stopped:
        parts.append('<p class="stopped">Stopped.</p>')
    return parts


def _claims(turn: Turn) -> list[str]:
    """The claims in order, each behind the titles that begin at it."""
    titles: dict[int, list[str]] = {}
    for section in turn.sections:
        title = f'<h3 class="part">{inline(section.title)}</h3>'
        titles.setdefault(section.first, []).append(title)
    parts: list[str] = []
    for place, claim in enumerate(turn.claims):
        parts += [*titles.get(place, []), f'<p class="claim">{_claim(claim, turn)}</p>']
    return parts


def _understood(turn: Turn) -> str:
    """How a follow-up was understood, so that its reader can correct it."""
    asked = asked_of(turn.answer) if turn.answer else turn.question
    if turn.answer is None or asked == turn.answer.question:
        return ""
    return f'<p class="note">Understood as: {as_typed(asked)}</p>'


def _table(table: Table, turn: Turn) -> str:
    heads = "".join(f"<th>{as_typed(name)}</th>" for name in ("paper", *table.columns))
    rows = "".join(
        f"<tr><th>{_title(row.paper)}</th>"
        + "".join(f"<td>{_claim(cell, turn) if cell else NOT_STATED}</td>" for cell in row.cells)
        + "</tr>"
        for row in table.rows
    )
    return f'<div class="table" tabindex="0"><table><tr>{heads}</tr>{rows}</table></div>'


def _claim(claim: Claim, turn: Turn) -> str:
    """The words of a claim, its citations, and what is to be said against it."""
    papers = {citation.number: citation.paper.id for citation in turn.citations}
    links = "".join(
        f'<a href="#source-{turn.number}-{n}"{_spans(claim, papers.get(n, ""))}>[{n}]</a>'
        for n in claim.citations
    )
    cites = f'<sup class="cites">{links}</sup>' if links else ""
    return f"{inline(claim.text)}{cites}{_partly(claim)}"


def _spans(claim: Claim, paper_id: str) -> str:
    """Which sentences of a paper carry the claim, as classes: `at-` and their offset."""
    starts = (item.start for item in claim.support if item.paper_id == paper_id)
    names = " ".join(f"at-{start}" for start in dict.fromkeys(starts))
    return f' class="{names}"' if names else ""


def _partly(claim: Claim) -> str:
    if claim.verdict != "partly":
        return ""
    why = claim.reason or "the cited sentence supports a part of this"
    return f' <span class="partly" title="{as_typed(why)}">partly supported</span>'


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
        parts.append(_dropped(result))
    if result.status == "abstained" and result.nearest:
        items = "".join(
            f'<li><a href="#nearest-{turn}-{rank}">{_title(nearest.paper)}</a> '
            f'<span class="place">{as_typed(_place(nearest.paper))}</span></li>'
            for rank, nearest in enumerate(result.nearest, start=1)
        )
        parts.append(f'<div class="nearest"><p>Nearest papers</p><ul>{items}</ul></div>')
    return parts


def _dropped(result: Answer) -> str:
    """What a model wrote and no sentence carries; it can be looked at."""
    items = "".join(
        f"<li>{inline(dropped.text)} <span>({as_typed(dropped.reason)})</span></li>"
        for dropped in result.dropped
    )
    count = f"{len(result.dropped)} claim{'s' if len(result.dropped) > 1 else ''}"
    return f'<details class="dropped"><summary>{count} left out</summary><ul>{items}</ul></details>'


# --- What can be done with an answer ---------------------------------------------------------


def button(name: str, value: object, text: str, kind: str = "", title: str = "") -> str:
    """A button that `page.js` tells the program about."""
    hint = f' title="{as_typed(title)}"' if title else ""
    return (
        f'<button type="button" class="do {kind}" name="{name}" value="{as_typed(str(value))}"'
        f"{hint}>{as_typed(text)}</button>"
    )


def downloads(conversation: int, turn: int = 0) -> str:
    """Links to a conversation, or to one turn of it, in every format."""
    which = f"&amp;turn={turn}" if turn else ""
    return "".join(
        f'<a download href="conversations/{conversation}/export?format={form}{which}">'
        f"{FORMAT_NAMES[form]}</a>"
        for form in FORMATS
    )


def _bar(turn: Turn, conversation: int, last: bool) -> str:
    """What the answer rests on, and what can be done with it."""
    if not (turn.answer or turn.failure or turn.stopped):
        return ""
    acts = [_copy(turn)] if turn.answer and turn.claims else []
    if turn.kept and conversation:
        acts += [_link(conversation, turn.kept), _export(conversation, turn.kept)]
    if last:
        acts.append(button("again", turn.number, "Ask again"))
        acts.append(button("edit", turn.number, "Edit"))
    if turn.kept and conversation:
        acts.append(_opinion(turn))
    lost = f'<p class="unkept">{as_typed(turn.unkept)}</p>' if turn.unkept else ""
    return f'{lost}{_facts(turn)}<div class="acts">{"".join(acts)}</div>'


def _facts(turn: Turn) -> str:
    """How sure the answer is, what it rests on, and how long it took."""
    answer = turn.answer
    if answer is None:
        return ""
    count = len(answer.citations)
    rests = f"{count} paper{'s' if count > 1 else ''}" if count else ""
    facts = [_confidence(answer), rests, f"{turn.seconds:.1f} s" if turn.seconds else ""]
    shown = " · ".join(fact for fact in facts if fact)
    return f'<p class="facts">{shown}</p>' if shown else ""


def _confidence(answer: Answer) -> str:
    """The probability that the collection answers the question, in words."""
    if answer.confidence is None or answer.status == "abstained":
        return ""
    sure = answer.confidence
    word = "High" if sure >= _SURE else "Moderate" if sure >= _LIKELY else "Low"
    title = f"Of 100 such questions the papers answer about {100 * sure:.0f}"
    return f'<span title="{title}">{word} confidence</span>'


def _link(conversation: int, turn: int) -> str:
    value = f"?conversation={conversation}#turn-{turn}"
    return button("link", value, "Copy link", title="The address of this answer")


def _copy(turn: Turn) -> str:
    return button("copy", turn.number, "Copy", title="The answer with its references") + (
        f'<span class="copied" hidden id="copy-{turn.number}" title="{_attribute(as_text(turn))}">'
        "</span>"
    )


def _export(conversation: int, turn: int) -> str:
    links = downloads(conversation, turn)
    return f'<details class="menu"><summary>Export</summary><div>{links}</div></details>'


def _opinion(turn: Turn) -> str:
    good = "chosen" if turn.helpful else ""
    bad = "chosen" if turn.helpful is False else ""
    return (
        f"{button('good', turn.number, 'Helpful', f'up {good}', 'This answer helps')}"
        f"{button('bad', turn.number, 'Not helpful', f'down {bad}', 'Say what is wrong with it')}"
    )


def _followups(turn: Turn) -> str:
    asked = followups(turn.answer) if turn.answer else ()
    if not asked:
        return ""
    chips = "".join(button("ask", question, question, "chip") for question in asked)
    return f'<div class="followups"><p>Ask next</p>{chips}</div>'


# --- An answer as text -----------------------------------------------------------------------


def as_text(turn: Turn) -> str:
    """An answer with its numbered references, to be pasted into a text."""
    references = [f"[{one.number}] {_reference(one)}" for one in turn.citations]
    return "\n".join([*_lines(turn), "", "References", *references])


def _lines(turn: Turn) -> list[str]:
    titles = {section.first: section.title for section in turn.sections}
    lines: list[str] = []
    for place, claim in enumerate(turn.claims):
        if place in titles:
            lines.append(titles[place])
        marks = "".join(f"[{n}]" for n in claim.citations)
        partly = " (partly supported)" if claim.verdict == "partly" else ""
        lines.append(f"{claim.text} {marks}{partly}".rstrip())
    return lines


def _reference(citation: Citation) -> str:
    paper, meta = citation.paper, citation.paper.meta
    year = f"({meta.year})" if meta.year else ""
    doi = f"https://doi.org/{meta.doi}" if meta.doi else meta.url
    place = doi or _place(paper)
    parts = [", ".join(meta.authors), year, paper.title.rstrip("."), meta.venue, place]
    return ". ".join(part for part in parts if part)


def _attribute(text: str) -> str:
    """Text with its line breaks as the value of an attribute on one line."""
    return "&#10;".join(as_typed(line) for line in text.split("\n"))


def _title(paper: Paper) -> str:
    return inline(paper.title)


def _place(paper: Paper) -> str:
    return f"{paper.source}:{paper.ordinal}"
