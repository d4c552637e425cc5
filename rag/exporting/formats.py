"""An export as text: answers with the papers that they cite, or a selection of papers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Literal, get_args

from rag.exporting.bibtex import bibtex
from rag.exporting.csl import csl_items
from rag.exporting.formatted import formatted
from rag.exporting.forms import AnswerForm, PaperHead
from rag.exporting.markdown import answer_in_markdown, papers_in_markdown, verbatim
from rag.exporting.references import Reference, keyed
from rag.exporting.ris import ris
from rag.exporting.webpage import answer_in_html, papers_in_html, webpage

Format = Literal["bibtex", "ris", "csl", "markdown", "html", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True, slots=True)
class Export:
    """What is exported. `references` are keyed: exactly the cited papers, in order of first use.

    `others` are papers that answers name without citing them. An export without answers is a
    selection of papers. `title` names a conversation.
    """

    answers: tuple[AnswerForm, ...]
    references: tuple[Reference, ...]
    others: tuple[Reference, ...] = ()
    title: str = ""


def export_of(
    answers: Sequence[AnswerForm], known: Mapping[str, Reference], title: str = ""
) -> Export:
    """Answers as an export; `known` has the papers that are in the collection, by id.

    What was kept with an answer comes first: it is what the answer was made of. Of a paper that is
    in neither there is what its citation says.
    """
    cited = keyed(_known(one, answer, known) for answer in answers for one in answer.citations)
    ids = {one.paper_id for one in cited}
    named = keyed(
        _known(head, answer, known)
        for answer in answers
        for head in answer.nearest
        if head.paper_id not in ids
    )
    return Export(tuple(answers), cited, named, title)


def selection_of(references: Iterable[Reference]) -> Export:
    """Papers as an export."""
    return Export((), keyed(references))


def rendered(export: Export, form: Format) -> str:
    """The export as text, with a line break at its end; half characters are a question mark."""
    return _in(export, form).encode("utf-8", "replace").decode()


def as_json(export: Export) -> dict[str, object]:
    """Answers, each with what is known of the papers that it cites; or references alone."""
    return {
        "title": export.title,
        "answers": [one.model_dump(mode="json", exclude={"references"}) for one in export.answers],
        "references": [asdict(one) for one in export.references],
    }


def _in(export: Export, form: Format) -> str:
    if form == "bibtex":
        return bibtex(export.references)
    if form == "ris":
        return ris(export.references)
    if form == "csl":
        return _json(csl_items(export.references))
    if form == "json":
        return _json(as_json(export))
    return _markdown(export) if form == "markdown" else _html(export)


def _known(head: PaperHead, answer: AnswerForm, known: Mapping[str, Reference]) -> Reference:
    kept = {one.paper_id: one for one in answer.references}
    return kept.get(head.paper_id) or known.get(head.paper_id) or head.reference()


def _markdown(export: Export) -> str:
    lines = _lines(export)
    if not export.answers:
        blocks = papers_in_markdown(export.references, lines)
        return "\n\n".join(blocks) + "\n"
    heads = [f"# {verbatim(export.title)}"] if export.title else []
    level = 1 + len(heads)
    blocks = chain.from_iterable(answer_in_markdown(one, lines, level) for one in export.answers)
    return "\n\n".join([*heads, *blocks]) + "\n"


def _html(export: Export) -> str:
    lines = _lines(export)
    if not export.answers:
        return webpage("Papers", papers_in_html(export.references, lines))
    references = {one.paper_id: one for one in (*export.references, *export.others)}
    blocks = chain.from_iterable(
        answer_in_html(one, references, lines, number)
        for number, one in enumerate(export.answers, start=1)
    )
    return webpage(export.title or export.answers[0].question, blocks)


def _lines(export: Export) -> dict[str, str]:
    """A reference as journals print it, by the id of its paper."""
    lines: dict[str, str] = {}
    for group in (export.others, export.references):
        found = formatted(group)
        lines |= {one.paper_id: found[one.key] for one in group}
    return lines


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
