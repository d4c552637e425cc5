"""What people see in a terminal. Everything shown passes `plain` or `printable` first."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table

from rag.answering.citations import render_claim
from rag.answering.events import ClaimMade, Done, Event, Heading, Notice
from rag.history import Conversation, Mention
from rag.history import Turn as Kept
from rag.index.bridging import Bridging
from rag.index.browse import Merged, Source
from rag.index.reembedding import Reembedded
from rag.index.report import Conflict, Failure, Report
from rag.index.report import Notice as Mended
from rag.retrieval.fusion import LISTS
from rag.retrieval.search import Found
from rag.schema import COUNTING, Answer, Citation, Hit, Paper
from rag.terminal_table import show_table
from rag.text import plain

_SHOWN = 20

out = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
err = Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


def show_found(found: Found) -> None:
    """Papers with their best sentences, best first; on standard error what was understood."""
    for note in found.query.notes if found.hits else ():
        err.print(f"[dim]{_text(note)}[/]")
    _show_hits(found, explained=lambda _: "")


def show_explained(found: Found) -> None:
    """What the question was understood as, and papers with what each list gave to their scores."""
    query = found.query
    out.print(f"[dim]searched:[/] {_text(query.text)}")
    for name, terms in (("terms", query.terms), ("expansions", query.expansions)):
        if terms:
            told = ", ".join(f"{term} {terms[term]:g}" for term in sorted(terms))
            out.print(f"[dim]{name}:[/] {_text(told)}")
    for note in query.notes if found.hits else ():
        out.print(f"[dim]note:[/] {_text(note)}")
    for step in found.help.steps:
        out.print(f"[dim]{step.step}:[/] {_text('; '.join(step.texts))}")
    _show_hits(found, explained=_parts)


def _show_hits(found: Found, explained: Callable[[Hit], str]) -> None:
    if found.help.note:
        err.print(f"[yellow]Note: {_text(found.help.note)}.[/]")
    if not found.hits:
        out.print(f"Nothing was found{''.join(f'; {_text(n)}' for n in found.query.notes)}.")
    for rank, hit in enumerate(found.hits, start=1):
        out.print(f"[bold]{rank:2}. {_title(hit.paper)}[/]  [dim]{_place(hit.paper)}[/]")
        if told := explained(hit):
            out.print(f"    [dim]{told}[/]")
        for evidence in sorted(hit.evidence, key=lambda e: e.index):
            out.print(_indented(_text(evidence.text)))


def _parts(hit: Hit) -> str:
    told = " + ".join(f"{name} {hit.parts.get(name, 0.0):.3f}" for name in LISTS)
    return f"{hit.score:.3f} = {told}"


def show_events(events: Iterator[Event]) -> Answer:
    """Show claims as they come, or a table once it is whole, then sources; the answer."""
    answer: Answer | None = None
    for event in events:
        if isinstance(event, Notice):
            err.print(f"[dim]{_text(event.text)}[/]")
        elif isinstance(event, Heading):
            out.print(f"[bold]{_text(event.title)}[/]")
        elif isinstance(event, ClaimMade):
            mark = "" if event.claim.verdict == "supported" else "  [yellow](partly supported)[/]"
            out.print(f"{_text(render_claim(event.claim))}{mark}")
        elif isinstance(event, Done):
            answer = event.answer
    if answer is None:
        raise RuntimeError("the events ended without an answer")
    if answer.table and answer.claims:
        show_table(out, answer.table)
    _show_rest(answer)
    return answer


def _show_rest(answer: Answer) -> None:
    _show_abstention(answer)
    if answer.note:
        out.print(f"[yellow]Note: {_text(answer.note)}.[/]")
    if answer.citations:
        out.print("\n[bold]Sources[/]")
    for citation in answer.citations:
        _show_citation(citation)
    for dropped in answer.dropped:
        out.print(f"[dim]Left out: {_text(dropped.text)} ({_text(dropped.reason)})[/]")
    if answer.status == "abstained" and answer.nearest:
        out.print("\n[bold]Nearest papers[/]")
        for nearest in answer.nearest:
            out.print(f"  {_title(nearest.paper)}  [dim]{_place(nearest.paper)}[/]")


def _show_abstention(answer: Answer) -> None:
    """What is said where nothing was: the refusal, and what is missing."""
    if not answer.claims or answer.status == "abstained":
        out.print(_text(answer.text))
    if answer.missing and answer.kind not in COUNTING:  # these say it themselves
        out.print(_text(answer.missing))


def _show_citation(citation: Citation) -> None:
    paper = citation.paper
    out.print(f"[bold]\\[{citation.number}] {_title(paper)}[/]  [dim]{_place(paper)}[/]")
    for sentence in citation.sentences:
        out.print(_indented(f"“{_text(sentence.text)}”"))


def show_report(report: Report) -> None:
    """The summary of a run of `rag index`."""
    papers, files = _count(report.total.papers, "paper"), _count(report.total.files, "file")
    out.print(f"{papers} from {files}: {', '.join(_changes(report))}.")
    _show_some("not taken:", report.failures)
    _show_some("conflict:", report.conflicts)
    _show_some("note:", report.notices)


def show_reembedded(result: Reembedded) -> None:
    """The summary of a run of `rag reembed`."""
    papers = _count(result.papers, "paper")
    if not result.switched:
        out.print(f"{papers}: {result.embedding_model} served them already.")
        return
    out.print(
        f"{papers}, {_count(result.embedded, 'text')} embedded: {result.embedding_model}"
        f" serves now, in place of {result.former}."
    )


def show_bridging(result: Bridging) -> None:
    """How well a bridge serves, beside what it stands for and what it stands in for."""
    quality = result.quality
    questions = _count(quality.questions, "held-out sentence")
    table = Table(box=None, pad_edge=False, header_style="")
    out.print(f"{questions} looked for their paper among {result.sample:,}.")
    for heading in ("asked by", f"recall@{result.depth}", "finds the same"):
        table.add_column(heading, no_wrap=True)
    table.add_row(f"{result.new}, all re-embedded", f"{quality.recall_full:.2f}", "1.00")
    table.add_row(
        f"{result.new} over the bridge",
        f"{quality.recall_bridged:.2f}",
        escape(str(quality.overlap_bridged)),
    )
    table.add_row(
        f"{result.old}, as now", f"{quality.recall_present:.2f}", f"{quality.overlap_present:.2f}"
    )
    out.print(table)
    first = "first" if result.depth == 1 else f"first {result.depth}"
    out.print(
        f"The bridge recovers {escape(str(quality.recovered))} of recall@10: the {first} of"
        f" {result.sample:,} papers stand for the first 10 of {result.papers:,}."
    )
    if result.stored:
        out.print(
            f"It serves whoever sets embedding_model = {result.new}, until `rag reembed --model"
            f" {result.new}` has embedded all papers."
        )


def _changes(report: Report) -> list[str]:
    """What a run did; what it seldom does is told only if it did."""
    seldom = {
        "duplicates": report.duplicates,
        "failed": len(report.failures),
        "conflicts": len(report.conflicts),
    }
    return [
        f"{report.added:,} added",
        *([f"{report.updated:,} updated"] if report.updated else []),
        f"{report.removed:,} removed",
        f"{report.unchanged:,} unchanged",
        *(f"{count:,} {name}" for name, count in seldom.items() if count),
    ]


def _show_some(what: str, items: Sequence[Failure | Conflict | Mended]) -> None:
    for item in items[:_SHOWN]:
        err.print(f"[yellow]{what}[/] {_text(str(item))}")
    if (more := len(items) - _SHOWN) > 0:
        err.print(f"… and {more:,} more; --json lists them all.")


def show_listing(papers: Sequence[Paper], total: int) -> None:
    """Papers in a few words each."""
    if not papers:
        out.print("No paper has that." if not total else "")
    for paper in papers:
        about = ", ".join(part for part in (paper.meta.venue, str(paper.meta.year or "")) if part)
        out.print(f"[bold]{_title(paper)}[/]  [dim]{_place(paper)}[/]  {_text(about)}".rstrip())
    if total > len(papers):
        err.print(f"… and {total - len(papers):,} more; --limit 0 shows them all.")


def show_paper(paper: Paper, sources: Sequence[Source]) -> None:
    """One paper with all that is known of it."""
    meta = paper.meta
    derived = "  [dim](title derived from the abstract)[/]" if paper.title_derived else ""
    out.print(f"[bold]{_title(paper)}[/]{derived}")
    facts = {
        "authors": ", ".join(meta.authors),
        "venue": meta.venue,
        "year": str(meta.year or ""),
        "DOI": meta.doi,
        "arXiv": meta.arxiv,
        "URL": meta.url,
        "keywords": ", ".join(meta.keywords),
        "id": f"{paper.id}, version {paper.version}",
        "looks planted:": "; ".join(meta.flags),
    }
    for name, value in facts.items():
        if value:
            out.print(f"[dim]{name}[/] {_text(value)}")
    for source in sources:
        out.print(f"[dim]source[/] {_text(f'{source.label}:{source.ordinal}')}")
    out.print(f"\n{_text(paper.text)}")


def show_duplicates(found: Sequence[Merged]) -> None:
    """Papers with several sources, and why they are one."""
    if not found:
        out.print("Every paper has one source.")
    for one in found:
        out.print(f"[bold]{_title(one.paper)}[/]  [dim]{_text('; '.join(one.reasons))}[/]")
        for source in one.sources:
            mark = "  (shown)" if source.shown else ""
            out.print(
                f"    {_text(f'{source.label}:{source.ordinal}')}  {_text(source.title)}{mark}"
            )


def show_conversations(found: Sequence[Conversation]) -> None:
    """Kept conversations, a line each."""
    if not found:
        out.print("No conversation is kept.")
    for one in found:
        turns = _count(one.turns, "turn")
        out.print(f"{one.id:4}  [bold]{_text(one.name)}[/]  [dim]{turns}, {_day(one.updated)}[/]")


def show_conversation(found: Conversation, turns: Sequence[Kept]) -> None:
    """A kept conversation with the sources of each answer."""
    out.print(f"[bold]{_text(found.name)}[/]  [dim]{_day(found.created)}[/]")
    for turn in turns:
        form = turn.form()
        out.print(f"\n[bold]{turn.number}. {_text(turn.question)}[/]\n{_text(form.text)}")
        for citation in form.citations:
            place = f"{citation.source}:{citation.ordinal}"
            out.print(f"\\[{citation.number}] {_text(citation.title)}  [dim]{_text(place)}[/]")
        if turn.feedback:
            told = "good" if turn.feedback.good else "bad"
            out.print(f"[dim]thought {told} {_text(turn.feedback.reason)}[/]".rstrip())


def show_mentions(found: Sequence[Mention]) -> None:
    """Where words were said."""
    if not found:
        out.print("No turn has that.")
    for one in found:
        where = f"{one.conversation.id}, turn {one.turn}"
        out.print(f"[dim]{where}[/]  [bold]{_text(one.conversation.name)}[/]")
        out.print(_indented(_text(one.excerpt)))


def _day(time: str) -> str:
    return time[:16].replace("T", " ")


class Counted(Protocol):
    """Told how far a work has come; `aside` is a remark behind the bar."""

    def __call__(self, what: str, done: int, total: int, aside: str = "") -> None:
        """`done` of `total` of what is being done."""


@contextmanager
def counting(unit: str) -> Iterator[Counted]:
    """A progress bar on standard error for `progress(what, done, total)` of things named `unit`."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(f"{unit}, {{task.fields[rate]}}/s,"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[aside]}"),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        tasks: dict[str, TaskID] = {}

        def progress(what: str, done: int, total: int, aside: str = "") -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total or None, rate="…", aside="")
            task = bar.tasks[bar.task_ids.index(tasks[what])]
            rate = f"{task.speed:.0f}" if task.speed else "…"
            told: dict[str, Any] = {"rate": rate, "aside": aside}
            bar.update(tasks[what], completed=done, total=total or None, **told)

        yield progress


@contextmanager
def downloading() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on standard error for `progress(name, bytes done, bytes in all)`."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, disable=not err.is_terminal) as bar:
        tasks: dict[str, TaskID] = {}

        def progress(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)

        yield progress


def _indented(text: str) -> Padding | str:
    """Indented on every line in a terminal; on one line in a file or a pipe."""
    return Padding(text, (0, 0, 0, 4)) if out.is_terminal else f"    {text}"


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def _title(paper: Paper) -> str:
    return _text(paper.title)


def _place(paper: Paper) -> str:
    return _text(f"{paper.source}:{paper.ordinal}")


def _text(text: str) -> str:
    return escape(plain(text))
