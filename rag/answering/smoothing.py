"""A vote over disturbed copies of a prompt that may hold instructions to the model.

After disrupt-and-rectify smoothing: a copy is first disturbed, so that an order that hangs on its
exact wording loses its hold, and then mended, so that the model reads words that it knows. Here
only the marked lines are disturbed, letter by letter, and a disturbed word is mended to the nearest
one that the other lines hold: the words of the science come back, those of the order do not. A
claim counts where most copies rest one on the same sentences.

A prompt without a marked line is passed on as it is, and costs nothing more.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rag.answering.exchange import Around, Completion, Generator, Request, silent
from rag.answering.replies import Draft, ReplyReader
from rag.guarding.guard import MARK

SHARE = 0.2
"""Of the letters of a marked line that are disturbed in each copy."""

_LIKENESS = 0.75  # of a disturbed word to the one that it is mended to
_WORD = re.compile(r"[^\W\d_]{3,}")
_HEAD = re.compile(r"^(?:\[S\d+\]|Paper:) ")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Smoothing(Around):
    """A generator whose replies to suspicious prompts are put to the vote."""

    def __init__(self, inner: Generator, copies: int) -> None:
        super().__init__(inner)
        self._copies = copies

    def stream(
        self, request: Request, notify: Callable[[str], None] = silent
    ) -> Iterator[str | Completion]:
        """See `Generator.stream`; of a vote the pieces come when all have voted."""
        if request.schema is None or not is_adversarial(request.user):
            return self._inner.stream(request, notify)
        return self._voted(request, notify)

    def _voted(self, request: Request, notify: Callable[[str], None]) -> Iterator[str | Completion]:
        replies: list[list[Draft]] = []
        last: Completion | None = None
        notify(f"the evidence may hold instructions: {self._copies} copies of it are read")
        for place in range(self._copies):
            reader = ReplyReader((request.system, request.user))
            copy = replace(request, user=disturbed(request.user, place))
            for piece in self._inner.stream(copy, notify):
                if isinstance(piece, Completion):
                    last = piece
                else:
                    reader.feed(piece)
            replies.append([one for one in _whole(reader) if one.labels])
        claims = [{"support": list(one.labels), "text": one.text} for one in majority(replies)]
        yield json.dumps({"claims": claims}, ensure_ascii=False)
        if last is not None:
            yield last


def is_adversarial(prompt: str) -> bool:
    """Whether a line of evidence was marked; see `rag.answering.prompting.show`."""
    return f"({MARK})" in prompt


def disturbed(prompt: str, place: int, share: float = SHARE) -> str:
    """Copy number `place` of a prompt: marked lines disturbed and mended, the others as they are.

    The same prompt and place give the same copy.
    """
    seed = hashlib.sha256(f"{place}\n{prompt}".encode("utf-8", "surrogatepass")).digest()
    chance = random.Random(seed)
    lines = prompt.split("\n")
    honest = [line for line in lines if f"({MARK})" not in line]
    known = sorted({word.casefold() for line in honest for word in _WORD.findall(line)})
    return "\n".join(
        _mended(_disrupted(line, share, chance), known) if f"({MARK})" in line else line
        for line in lines
    )


def majority(replies: Sequence[Sequence[Draft]]) -> list[Draft]:
    """The claims that more than half of the replies make, by the sentences that they rest on.

    Each is worded as the first reply has it that makes it.
    """
    votes = Counter(labels for reply in replies for labels in {_rests_on(one) for one in reply})
    chosen: dict[frozenset[str], Draft] = {}
    for reply in replies:
        for one in reply:
            if 2 * votes[_rests_on(one)] > len(replies):
                chosen.setdefault(_rests_on(one), one)
    return list(chosen.values())


def _rests_on(draft: Draft) -> frozenset[str]:
    return frozenset(draft.labels)


def _whole(reader: ReplyReader) -> list[Draft]:
    """All claims of a reply that has ended."""
    return ReplyReader().feed(reader.whole + "\n")


def _disrupted(line: str, share: float, chance: random.Random) -> str:
    """A line with a share of its letters replaced, its label kept."""
    head = _HEAD.match(line)
    start = head.end() if head else 0
    body = line[start:].replace(f"({MARK}) ", "", 1)
    changed = "".join(
        chance.choice(_LETTERS) if letter.isalpha() and chance.random() < share else letter
        for letter in body
    )
    return f"{line[:start]}({MARK}) {changed}"


def _mended(line: str, known: Sequence[str]) -> str:
    """A line whose words are those of the honest lines where they come near to one."""
    start = line.index(f"({MARK})") + len(MARK) + 2

    def nearest(match: re.Match[str]) -> str:
        found = difflib.get_close_matches(match.group().casefold(), known, 1, _LIKENESS)
        return found[0] if found else match.group()

    return line[:start] + _WORD.sub(nearest, line[start:])
