"""What the page tells of itself, as HTML that is ours alone; no gradio here."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from rag.answering.connection import is_loopback
from rag.config import Config
from rag.display import as_typed
from rag.doctor import Check
from rag.index.holdings import Holdings
from rag.page.metering import Taken

_WIDTH, _HEIGHT, _BAR = 600, 120, 11
_ASKED = 80  # characters of a question in the table
_STEPS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
NOTHING_LEAVES = "Nothing leaves this machine."


def flows(writer: str, config: Config) -> list[str]:
    """What goes to which host, a sentence each; none where nothing does.

    `writer` is who writes answers, as `Assistant.writer_name` has it.
    """
    told = []
    _, at, host = writer.rpartition(" at ")
    if at:
        told.append(
            f"Questions, and the evidence for their answers, are sent to {_host(f'//{host}')}."
        )
    if config.served_embedding:
        host = _host(config.embedding_base_url or config.openai_base_url or "")
        told.append(f"Questions, and every text that is indexed, are sent to {host}.")
    if config.vectors.startswith("http"):
        told.append(f"Vectors of papers and questions are sent to {_host(config.vectors)}.")
    elif config.vectors != "local":
        told.append(f"Vectors of papers and questions are given to {config.vectors}.")
    return told


def standing(writer: str, config: Config, held: Holdings) -> str:
    """Who answers, what the index holds, what is sent where."""
    sent = flows(writer, config) or [NOTHING_LEAVES]
    who = "Quoting: no model writes" if writer == "quoting" else writer
    facts = [
        ("Answers", who),
        ("What is sent", " ".join(sent)),
        ("Papers", f"{held.papers:,} from {held.files:,} files"),
        ("Sentences", f"{held.sentences:,}"),
        ("Embedded", f"{held.chunks:,} chunks and titles"),
        ("Embedding model", held.embedding_model),
        ("Revision", f"{held.revision:,}"),
        ("On disk", size(held.bytes)),
    ]
    rows = "".join(f"<dt>{name}</dt><dd>{as_typed(value)}</dd>" for name, value in facts)
    return f'<dl class="facts">{rows}</dl>{_sources(held)}'


def health(checks: Sequence[Check]) -> str:
    """The outcome of each check, and what is to be done."""
    items = "".join(
        f'<li class="{"sound" if one.ok else "unsound"}"><strong>'
        f"{'✓' if one.ok else '✗'} {as_typed(one.name)}</strong> {as_typed(one.detail)}</li>"
        for one in checks
    )
    faults = sum(not one.ok for one in checks)
    told = f"{faults} of {len(checks)} checks failed." if faults else "All is sound."
    return f'<p role="status">{told}</p><ul class="checks">{items}</ul>'


def costs(taken: Sequence[Taken], config: Config) -> str:
    """What the answers of this session took, the last one first, and a plot of their times."""
    if not taken:
        return '<p class="note">No question was answered in this session yet.</p>'
    heads = ("question", "outcome", "first claim", "whole answer", "tokens read", "written", "cost")
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    rows = "".join(_row(one, config) for one in reversed(taken))
    return (
        f"{plot(taken)}<p class='note'>{as_typed(_summed(taken, config))}</p>"
        f'<div class="wide" tabindex="0" title="What each answer took"><table><thead>'
        f"<tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def plot(taken: Sequence[Taken]) -> str:
    """A bar for each answer's seconds, oldest to the left."""
    shown = list(taken)[-(_WIDTH // (_BAR + 1)) :]
    most = max((one.seconds for one in shown), default=0.0) or 1.0
    bars = "".join(
        f'<rect x="{place * (_BAR + 1)}" y="{_HEIGHT - high:.1f}" width="{_BAR}" '
        f'height="{high:.1f}"><title>{as_typed(_short(one.question))}: {one.seconds:.2f} s</title>'
        f"</rect>"
        for place, one in enumerate(shown)
        for high in [max(one.seconds / most * _HEIGHT, 1.0)]
    )
    last = "the last answer" if len(shown) == 1 else f"the last {len(shown)} answers"
    told = f"Seconds of {last}, at most {most:.2f}"
    return (
        f'<figure class="times"><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{told}" preserveAspectRatio="none">{bars}</svg>'
        f"<figcaption>{told}</figcaption></figure>"
    )


def size(count: int) -> str:
    """Bytes as people read them, in powers of a thousand."""
    for step, unit in _STEPS:
        if count >= step:
            return f"{count / step:.1f} {unit}"
    return f"{count} bytes"


def money(dollars: float | None) -> str:
    """A cost, or that no price is known; what runs on this machine is free."""
    if dollars is None:
        return "no price known"
    return "free" if dollars == 0 else f"${dollars:.4g}"


def _row(one: Taken, config: Config) -> str:
    first = "" if one.first is None else f"{one.first:.2f} s"
    counts = ("–", "–") if not one.requests else (_tokens(one.read, one), _tokens(one.written, one))
    cells = (one.status, first, f"{one.seconds:.2f} s", *counts, money(one.cost(config)))
    shown = "".join(f"<td>{as_typed(cell)}</td>" for cell in cells)
    return f'<tr><th scope="row">{as_typed(_short(one.question))}</th>{shown}</tr>'


def _summed(taken: Sequence[Taken], config: Config) -> str:
    costs = [one.cost(config) for one in taken]
    known = [one for one in costs if one is not None]
    total = sum(known) if len(known) == len(costs) else None
    read, written = sum(one.read for one in taken), sum(one.written for one in taken)
    count = f"{len(taken)} answer{'s' if len(taken) > 1 else ''}"
    return f"{count}: {read:,} tokens read, {written:,} written, {money(total)}."


def _tokens(count: int, one: Taken) -> str:
    return f"{count:,} or more" if one.untold else f"{count:,}"


def _sources(held: Holdings) -> str:
    items = "".join(
        f"<li>{as_typed(one.label)} <span class='place'>{one.papers:,}</span></li>"
        for one in held.sources
    )
    more = held.files - len(held.sources)
    told = f"<li>and {more:,} more</li>" if more > 0 else ""
    return f"<details><summary>Files and their papers</summary><ul>{items}{told}</ul></details>"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _ASKED else f"{line[:_ASKED].rstrip()}…"


def _host(url: str) -> str:
    """The host of an address; one that is this machine is called so."""
    host = urlsplit(url).hostname or "api.openai.com"
    return f"a server on this machine ({host})" if is_loopback(host) else host
