"""Finding one paper by what a person calls it."""

from __future__ import annotations

import difflib
import re

from rag.errors import PaperNotFound
from rag.index import lexical
from rag.index.snapshot import Snapshot
from rag.schema import Paper
from rag.text import normalise

_SHORTEST_PREFIX = 6
_SUGGESTIONS = 3


def find_paper(snapshot: Snapshot, reference: str) -> Paper:
    """The paper that `reference` names: an id, a place, a DOI, or a name such as RepoScope.

    Raises:
        PaperNotFound: none or several; the nearest names are suggested.
    """
    wanted = reference.strip()
    for candidates in (
        _by_id(snapshot, wanted),
        _by_place(snapshot, wanted),
        snapshot.named(_identifier(wanted)),
        _by_title(snapshot, wanted),
        _by_text(snapshot, wanted),
    ):
        if len(candidates) == 1:
            return snapshot.papers(candidates)[candidates[0]]
        if candidates:
            raise _ambiguous(snapshot, wanted, candidates)
    raise PaperNotFound(f"No paper is called {wanted!r}", remedy=_suggestion(snapshot, wanted))


def _by_id(snapshot: Snapshot, wanted: str) -> list[str]:
    prefix = wanted.casefold()
    if not re.fullmatch(rf"[0-9a-f]{{{_SHORTEST_PREFIX},16}}(-\d+)?", prefix):
        return []
    ids = [paper_id for paper_id, _ in snapshot.titles() if paper_id.startswith(prefix)]
    return [prefix] if prefix in ids else ids


def _identifier(wanted: str) -> str:
    """A DOI or an arXiv id, with or without what stands before it, as the catalog has it."""
    bare = re.sub(r"^(?:https?://\S*?/(?=10\.)|doi:|arxiv:)\s*", "", wanted.casefold())
    if bare.startswith("10."):
        return f"doi:{bare}"
    return f"arxiv:{re.sub(r'v[0-9]+$', '', bare)}"


def _by_place(snapshot: Snapshot, wanted: str) -> list[str]:
    place = re.fullmatch(r"(.+):(\d{1,9})", wanted)
    if not place:
        return []
    source, ordinal = place.group(1).removeprefix("./"), int(place.group(2))
    there = snapshot.at_source(ordinal)
    named = [(label, label.rsplit("/", 1)[-1], key) for label, key in there]
    exact = [key for label, name, key in named if source in (label, name)]
    near = exact or [key for _, name, key in named if name.startswith(source)]
    return list(dict.fromkeys(near))  # a paper may stand at that place of several files


def _by_title(snapshot: Snapshot, wanted: str) -> list[str]:
    name = normalise(wanted)
    titles = [(paper_id, normalise(title)) for paper_id, title in snapshot.titles()]
    exact = [paper_id for paper_id, title in titles if title == name]
    return exact or [
        paper_id for paper_id, title in titles if len(name) >= 4 and title.startswith(name)
    ]


def _by_text(snapshot: Snapshot, wanted: str) -> list[str]:
    """The one paper that has the name in its text; of several, the one that has it most."""
    name = re.compile(rf"(?<!\w){re.escape(normalise(wanted))}(?!\w)")
    near = snapshot.papers(lexical.search(snapshot, lexical.equally(wanted), 20).scores)
    counts = {key: len(name.findall(normalise(paper.text))) for key, paper in near.items()}
    most = max(counts.values(), default=0)
    return [key for key, count in counts.items() if count == most] if most else []


def _ambiguous(snapshot: Snapshot, wanted: str, candidates: list[str]) -> PaperNotFound:
    found = snapshot.papers(candidates)
    papers = [found[paper_id] for paper_id in candidates[:_SUGGESTIONS]]
    shown = ", ".join(f"{p.source.rsplit('/', 1)[-1]}:{p.ordinal} ({p.title})" for p in papers)
    return PaperNotFound(
        f"{len(candidates)} papers answer to {wanted!r}", cause=shown, remedy="Name one of them."
    )


def _suggestion(snapshot: Snapshot, wanted: str) -> str:
    titles = {title.casefold(): title for _, title in snapshot.titles()}
    near = difflib.get_close_matches(wanted.casefold(), titles, n=_SUGGESTIONS, cutoff=0.5)
    if near:
        return f"Did you mean {' or '.join(titles[name] for name in near)}?"
    return "`rag search` finds papers by what they are about."
