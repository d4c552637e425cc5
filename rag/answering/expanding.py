"""A model's help with a question: translated, rewritten, imagined answered, taken apart.

Each step is one call for one text that the search takes beside the question or in its place, and
only a question that needs a step pays for it: one in English is not translated, and one whose
words the collection has is found without an imagined answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from rag.answering.abstention import holds_nothing
from rag.answering.asking import MOST_CHARS, Asker, GivenUp, Reading, object_schema
from rag.retrieval.expansion import Expansion, Help, Step
from rag.retrieval.search import Found
from rag.text import normalise, printable, tokens

UNFAMILIAR = 0.25
"""The coverage under which the words of a question are not those of the papers."""

_TOKENS = 160
_LONGEST = 600  # characters of a text that a model gave
_MOST_PARTS = 3
_ENGLISH = frozenset(
    "the of and are what which how does with by that this who whom whose when where why from its "
    "between among into their there these those whats using than it's were have did can should "
    "about many much two three up list give show tell describe explain compare summarise "
    "summarize".split()
)
_LETTERED = 4  # words from which a question without any of those is taken for another language
_A_NAME = r"(?=[\w.,-]*(?:\d|[A-Z][\w-]*[A-Z]))\w+(?:[-.,]\w+)*"  # of RN-DPO's kind, or a number
_NAME = re.compile(rf"(?<!\w){_A_NAME}")
_COMPARES = re.compile(
    rf"\b(?i:compar(?:e[ds]?|ing)|versus|vs|differ(?:s|ences?)?|in common)\b"
    rf"|(?<!\w){_A_NAME},? (?:and|or) {_A_NAME}|\bthan {_A_NAME}"
)


class Expander(Protocol):
    """Finds another text to search by."""

    def expand(
        self, found: Found, expansion: Expansion, reading: Reading
    ) -> tuple[Expansion, Help]:
        """`expansion` with what it adds, and what was done, after a search that had it as it is."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of step: `needed` says for which text, and what was found with it.

    `told` is what a waiting reader hears, `key` what the value in the reply is called, and `take`
    puts the texts of it into an expansion; it is given what was asked, too.
    """

    told: str
    key: str
    form: Mapping[str, object]
    needed: Callable[[str, Found], bool]
    take: Callable[[Expansion, tuple[str, ...], str], Expansion]


class ModelExpander:
    """Has a model carry out one step, where it is needed, on the text that is searched so far."""

    def __init__(self, asker: Asker, step: str) -> None:
        self._asker = asker
        self._step = step
        self._kind = KINDS[step]

    def expand(
        self, found: Found, expansion: Expansion, reading: Reading
    ) -> tuple[Expansion, Help]:
        """See `Expander.expand`."""
        kind = self._kind
        asked = expansion.text or found.question.text
        if not kind.needed(asked, found):
            return expansion, Help()
        reading.notify(kind.told)
        schema = object_schema(kind.key, kind.form)
        try:
            shown = {"question": asked[:MOST_CHARS]}
            reply = self._asker.ask(self._step, shown, schema, _TOKENS, reading)
        except GivenUp as reason:
            return expansion, Help(given_up={kind.told: str(reason)})
        texts = _texts(reply.value.get(kind.key), asked)
        done = Help((Step(self._step, texts, reply.prompt),))
        return (kind.take(expansion, texts, asked) if texts else expansion), done


def speaks_english(text: str) -> bool:
    """Whether a question can be searched as English.

    Words that other languages write as well (a, on, no, was) say nothing. A few words without
    any sign of a language are names, or a query.
    """
    words = tokens(text)
    if any(not word.isascii() and word.isalpha() and _foreign(word) for word in words):
        return False
    return len(words) < _LETTERED or any(word in _ENGLISH for word in words)


def compares(text: str) -> bool:
    """Whether a question may be about several papers, each of which it names or describes."""
    return bool(_COMPARES.search(text))


def _foreign(word: str) -> bool:
    """Whether most of its letters are beyond Latin and Greek, which formulas have."""
    return sum(ord(letter) > 0x03FF for letter in word) * 2 > len(word)


def _is_unfamiliar(_text: str, found: Found) -> bool:
    """Whether papers come near in meaning, but not in words.

    Where nothing comes near at all, an imagined answer would only find what is like itself.
    """
    return found.coverage < UNFAMILIAR and not holds_nothing(found)


def _texts(value: object, asked: str) -> tuple[str, ...]:
    """The texts of a reply, clean and bounded, without those that only repeat the question."""
    items = value if isinstance(value, list) else [value]
    clean = [
        " ".join(printable(item.replace("\n", " ")).split())[:_LONGEST]
        for item in items
        if isinstance(item, str)
    ]
    known = normalise(asked)
    fresh = dict.fromkeys(t for t in clean if any(map(str.isalnum, t)) and normalise(t) != known)
    return tuple(fresh)[:_MOST_PARTS]


def _in_place(expansion: Expansion, texts: tuple[str, ...], asked: str) -> Expansion:
    """The names and numbers of the question are searched even if the model lost them."""
    held = normalise(texts[0])
    lost = [name for name in _NAME.findall(asked) if normalise(name) not in held]
    return replace(expansion, text=" ".join([texts[0], *dict.fromkeys(lost)]))


def _added(expansion: Expansion, texts: tuple[str, ...], asked: str) -> Expansion:
    """A query is searched with the question, whose own words may be the right ones."""
    return replace(expansion, text=f"{asked} {texts[0]}")


def _beside(expansion: Expansion, texts: tuple[str, ...], _asked: str) -> Expansion:
    return replace(expansion, beside=texts[0])


def _apart(expansion: Expansion, texts: tuple[str, ...], _asked: str) -> Expansion:
    return replace(expansion, parts=texts if len(texts) > 1 else ())


_TEXT = {"type": "string", "minLength": 1, "maxLength": _LONGEST}
_SENTENCE = _TEXT | {"maxLength": 300}  # a small model writes on until it is stopped
_QUESTIONS = {"type": "array", "items": _TEXT, "maxItems": _MOST_PARTS}

KINDS: Mapping[str, Kind] = {
    "translate": Kind(
        "translating the question",
        "english",
        _TEXT,
        lambda text, _: not speaks_english(text),
        _in_place,
    ),
    "rewrite": Kind("rewriting the question", "query", _TEXT, _is_unfamiliar, _added),
    "hypothesis": Kind("imagining an answer", "sentence", _SENTENCE, _is_unfamiliar, _beside),
    "decompose": Kind(
        "taking the question apart",
        "questions",
        _QUESTIONS,
        lambda text, _: compares(text),
        _apart,
    ),
}
