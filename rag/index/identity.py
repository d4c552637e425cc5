"""When two records are the same paper: equal identifiers, equal title and authors, or equal words.

Pure functions. Words are compared by shingles of three, found by MinHash (Broder, "On the
resemblance and containment of documents", 1997) in bands, so that candidates are looked up and not
compared with everything, and then measured exactly.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rag.schema import Metadata
from rag.text import normalise, tokens

NEAR_IDENTICAL = 0.85  # share of common shingles from which two texts are one paper
SAME_PLACE = 0.5  # share of common words from which an edited text is a version of what it replaced
SHORT_TITLE = 3  # words up to which a title ("Editorial") is given to many papers
_FEWEST_WORDS = 12  # shorter texts are alike by chance
_SHINGLE = 3
_MOST_INITIALS = 3
_BANDS, _ROWS = 12, 6  # found together with probability .997 at a resemblance of .85, .17 at .5
_PRIME = (1 << 31) - 1
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

Node = TypeVar("Node", bound=Hashable)


def identity_keys(title: str | None, meta: Metadata) -> tuple[str, ...]:
    """What names a paper wherever it stands: its DOI, its arXiv id, its title with its authors."""
    keys = []
    if meta.doi:
        keys.append(f"doi:{meta.doi.casefold()}")
    if meta.arxiv:
        keys.append(f"arxiv:{meta.arxiv.casefold()}")
    words = " ".join(tokens(title or ""))
    if words and meta.authors:
        surnames = sorted({_surname(author) for author in meta.authors} - {""})
        keys.append(f"title:{words}|{','.join(surnames)}")
    return tuple(keys)


def _surname(author: str) -> str:
    words = tokens(author.split(",")[0] if "," in author else author)
    return words[-1] if words else ""


def title_words(key: str) -> list[str]:
    """The words of the title in a key of title and authors."""
    return key.removeprefix("title:").rpartition("|")[0].split()


def same_authors(one: Metadata, other: Metadata) -> bool:
    """Whether two lists of authors with the same surnames can be the same people.

    Given names that both write out must be equal, an initial matches whatever begins with it, and
    a name that is not given matches any: each author needs such a namesake on the other side.
    """
    ours, theirs = _people(one), _people(other)
    return all(
        any(surname == namesake and _agree(given, called) for namesake, called in others)
        for people, others in ((ours, theirs), (theirs, ours))
        for surname, given in people
    )


def _people(meta: Metadata) -> list[tuple[str, list[str]]]:
    """Surname and given names of each author, in one spelling."""
    return [(_surname(author), _given(author)) for author in meta.authors if _surname(author)]


def _given(author: str) -> list[str]:
    """The given names; capitals that stand together ("JP", "J.-P.") are initials."""
    before, comma, after = author.partition(",")
    words = (after if comma else before.rpartition(" ")[0]).replace("-", " ").replace(".", " ")
    names: list[str] = []
    for word in words.split():
        together = word.isupper() and len(word) <= _MOST_INITIALS
        names += [name for part in (word if together else [word]) for name in tokens(part)]
    return names


def _agree(given: Sequence[str], other: Sequence[str]) -> bool:
    return all(
        a[0] == b[0] if len(a) == 1 or len(b) == 1 else a == b
        for a, b in zip(given, other, strict=False)
    )


def on_one_subject(text: str, other: str) -> bool:
    """Whether half of the words of the shorter text stand in the other."""
    a, b = _words(text), _words(other)
    return 2 * len(a & b) >= min(len(a), len(b))


def shingles(text: str) -> frozenset[int]:
    """The runs of three words of a text, as 31-bit hashes; empty where it has too few words."""
    words = tokens(text)
    if len(words) < _FEWEST_WORDS:
        return frozenset()
    runs = map(" ".join, zip(*(words[start:] for start in range(_SHINGLE)), strict=False))
    return frozenset([zlib.crc32(run.encode()) % _PRIME for run in runs])


def bands(of: frozenset[int]) -> tuple[int, ...]:
    """The keys under which near-identical texts meet: each hashes some minima of permutations."""
    if not of:
        return ()
    factors, offsets = _permutations()
    values = np.fromiter(of, dtype=np.int64, count=len(of))
    minima = ((factors[:, None] * values[None, :] + offsets[:, None]) % _PRIME).min(axis=1)
    rows = minima.reshape(_BANDS, _ROWS)
    return tuple(zlib.crc32(row.tobytes(), number) for number, row in enumerate(rows))


@cache
def _permutations() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    random = np.random.default_rng(20260501)
    count = _BANDS * _ROWS
    return random.integers(1, _PRIME, count), random.integers(0, _PRIME, count)


def near_identical(text: str, other: str) -> bool:
    """Whether two texts say the same in nearly the same words, and with the same numbers.

    A number that differs is a difference in what is said, however small in letters.
    """
    a, b = shingles(text), shingles(other)
    if not a or not b or len(a & b) < NEAR_IDENTICAL * len(a | b):
        return False
    return sorted(_NUMBER.findall(normalise(text))) == sorted(_NUMBER.findall(normalise(other)))


def groups(
    nodes: Iterable[Node], links: Iterable[tuple[Node, Node]], apart: Collection[frozenset[Node]]
) -> list[list[Node]]:
    """The connected components of `links` over `nodes`, both in their order.

    A link that would bring a pair of `apart` into one component is left out.
    """
    home = {node: [node] for node in nodes}
    for one, other in links:
        a, b = home[one], home[other]
        if a is b or (apart and any(frozenset((x, y)) in apart for x in a for y in b)):
            continue
        if len(a) < len(b):
            a, b = b, a
        a.extend(b)
        for node in b:
            home[node] = a
    order = {node: place for place, node in enumerate(home)}
    found = {id(group): group for group in home.values()}
    return [sorted(group, key=order.__getitem__) for group in found.values()]


def successors(
    old: Mapping[Node, tuple[str, str]], new: Sequence[tuple[str, str]]
) -> dict[int, Node]:
    """Which of the `old` texts of a file each of its `new` ones stands for: index to node.

    Both are (key, text): the source's own name for the record, if it has one, and the words. Equal
    keys decide; else the most alike of those left, if they share half of their words.
    """
    taken: dict[int, Node] = {}
    by_key = {key: node for node, (key, _) in old.items() if key}
    for index, (key, _) in enumerate(new):
        if key in by_key:
            taken[index] = by_key.pop(key)
    free = {node: _words(text) for node, (_, text) in old.items() if node not in taken.values()}
    pairs = [
        (-_overlap(words, _words(text)), index, place, node)
        for index, (_, text) in enumerate(new)
        if index not in taken
        for place, (node, words) in enumerate(free.items())
    ]
    for alike, index, _, node in sorted(pairs, key=lambda pair: pair[:3]):
        if -alike >= SAME_PLACE and index not in taken and node in free:
            taken[index] = node
            del free[node]
    return taken


def _words(text: str) -> frozenset[str]:
    return frozenset(tokens(text))


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a and b else 0.0
