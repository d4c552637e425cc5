"""What the words of a follow-up refer to: the second one, the last of those, the other paper, it.

English only, by rules; other languages have a few words each in `rag.answering.phrases`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from rag.answering.conversation import Conversation, short_name
from rag.schema import Paper
from rag.text import content_words, normalise, plain

Thing = TypeVar("Thing")

GENERIC = frozenset(
    "abstract accuracy advantage algorithm aim answer approach architecture author baseline "
    "benchmark challenge claim code conclusion contribution cost data dataset detail difference "
    "drawback effect evaluate evaluation evidence example experiment explain figure find finding "
    "framework future gain goal idea implementation improve improvement input issue kind "
    "limitation main major meaning measure method methodology metric model motivation name new "
    "novelty number number objective outcome output paper performance principle problem project "
    "propose purpose question reason report result say score setting setup show size speed "
    "strength study summary system task technique tell test training type use used version way "
    "weakness work compare compared key evaluated tested happen "
    "big large small fast slow good better best important mean need large long many much".split()
)
"""Words that may be asked of any paper, so that a question of nothing else has no topic."""

_NAME = re.compile(
    r"(?<![\w-])(?:[A-Za-z]*[a-z0-9][A-Z]\w*|[A-Z]+[A-Z0-9]\w*|[A-Za-z]+\d\w*|[A-Z]\w*(?=-[A-Z0-9]))"
    r"(?:[-+.]\w+)*",
    re.ASCII,
)
_CAPITALISED = re.compile(r"(?<=[\w,;:] )[A-Z][a-z]\w*(?:[-+]\w+)*", re.ASCII)
_HEAD = (
    r"(?:papers?|stud(?:y|ies)|works?|articles?|abstracts?|methods?|approach(?:es)?|models?"
    r"|frameworks?|systems?|algorithms?|techniques?|ones?|publications?|sources?|references?)"
)
_COUNTED = {
    "first": 0, "1st": 0, "former": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3,
    "4th": 3, "fifth": 4, "5th": 4, "last": -1, "final": -1, "latter": -1,
}  # fmt: skip
_ORDINAL = re.compile(
    rf"\bthe (?P<place>{'|'.join(_COUNTED)})"
    rf"(?: (?P<head>{_HEAD})(?! of (?!those|these|them))(?: of (?:those|these|them))?"
    r"| of (?P<of>those|these|them|the (?:two|three|four|list))|(?=\s*(?:$|[?.,;!])| (?:do"
    r"|does|is|has|was|did)\b))",
    re.IGNORECASE,
)
_OTHER = re.compile(rf"\bthe other(?: {_HEAD}| (?:two|three))?(?=\W|$)", re.IGNORECASE)
_NUMBERED = re.compile(
    r"\[(\d{1,3})\]|\b(?:source|reference|citation|paper|number|no\.) #?(\d{1,2})\b", re.IGNORECASE
)
_BOTH = re.compile(
    rf"\b(?:both(?: of (?:them|these|those)| {_HEAD})?|(?:the|these|those) (?:two|three"
    rf"|four)(?: {_HEAD})?+"
    r"|(?:all|each|either|which(?: ones?)?|any|neither) of "
    rf"(?P<them>(?:them|these|those)(?: {_HEAD})?)"
    rf"|(?:these|those) (?:papers|studies|works|articles|abstracts|methods|approaches|models)"
    r"|they(?= (?:differ|compare)\b)|each other)\b"
    r"(?! (?:to|of|for|on|in|that|which|from|by|with)\b)",
    re.IGNORECASE,
)
_ITEM = r"[A-Z][\w+./-]*(?: [A-Z0-9][\w+./-]*){0,3}"
_ITEMS = re.compile(rf"{_ITEM}(?:, {_ITEM})*,? (?:and|or) {_ITEM}")


@dataclass(frozen=True, slots=True)
class Meant:
    """What a part of a question, `start` to `end`, stands for: papers, or a thing by its name."""

    start: int
    end: int
    papers: tuple[Paper, ...] = ()
    name: str = ""


def pointed(question: str, conversation: Conversation) -> Meant | None:
    """The first part of a question that points at one of several things, and at which."""
    for find in (_by_number, _by_ordinal, _the_other, _both):
        if meant := find(question, conversation):
            return meant
    return None


def own_names(text: str) -> list[str]:
    """The words of `text` that can only be names, and those in capitals inside a sentence."""
    found = {m.start(): m.group() for m in _CAPITALISED.finditer(text)}
    found |= {m.start(): m.group() for m in _NAME.finditer(text)}
    return [found[start].rstrip(".") for start in sorted(found)]


def formed_names(text: str) -> list[str]:
    """Those that their form tells, such as RN-DPO, in languages that write nouns in capitals."""
    return [match.group().rstrip(".") for match in _NAME.finditer(text)]


def squeezed(text: str) -> str:
    """Letters and digits only, so that Janus-Pro, Janus Pro and JanusPro are one name."""
    return "".join(c for c in normalise(plain(text)) if c.isalnum())


def stands_in(name: str, text: str) -> bool:
    """Whether `text` has the word or words, in any case."""
    wanted = re.escape(normalise(name))
    return bool(re.search(rf"(?<!\w){wanted}s?(?!\w)", normalise(plain(text))))


def topical(text: str) -> list[str]:
    """The words of `text` that say what it is about."""
    return [word for word in content_words(text) if not _is_generic(word)]


def items(said: str) -> list[str]:
    """The things that an answer enumerates, as in "WebShop, ALFWorld, and AppWorld"."""
    found = _ITEMS.search(plain(said))
    return re.split(r",? (?:and|or) |, ", found.group().rstrip(".")) if found else []


def _is_generic(word: str) -> bool:
    singular = re.sub(r"(?<=[^s])s$", "", word)
    return word in GENERIC or singular in GENERIC or word.isdigit()


def _by_number(question: str, conversation: Conversation) -> Meant | None:
    match = _NUMBERED.search(question)
    paper = conversation.numbered(int(match[1] or match[2])) if match else None
    return Meant(*match.span(), (paper,)) if match and paper else None


def _by_ordinal(question: str, conversation: Conversation) -> Meant | None:
    match = _ORDINAL.search(question)
    if not match:
        return None
    place = _COUNTED[match["place"].lower()]
    papers = conversation.listed
    things = items(conversation.turns[-1].said)
    of_papers = bool(match["head"]) and normalise(match["head"]) not in {"one", "ones"}
    if things and not of_papers and (match["of"] or len(conversation.turns[-1].listed) < 2):
        return Meant(*match.span(), name=_at(things, place) or things[-1])
    paper = _at(papers, place)
    return Meant(*match.span(), (paper,)) if paper else None


def _the_other(question: str, conversation: Conversation) -> Meant | None:
    match = _OTHER.search(question)
    now = {paper.id for paper in conversation.subject}
    others = [paper for paper in conversation.listed if paper.id not in now]
    if not others:
        spoken = [paper for turn in reversed(conversation.turns) for paper in turn.subject]
        others = [paper for paper in spoken if paper.id not in now]
    if not match or not others:
        return None
    several = re.search(r"(?:two|three|s)$", match.group().lower())
    return Meant(*match.span(), tuple(others) if several else tuple(others[:1]))


def _both(question: str, conversation: Conversation) -> Meant | None:
    match = _BOTH.search(question)
    if not match:
        return None
    subject, listed = conversation.subject, conversation.listed
    if len(subject) < 2:
        spoken = {p.id: p for turn in conversation.turns for p in turn.subject}
        listed = tuple(spoken.values())[-2:] if len(spoken) > 1 else listed
        subject = listed
    start = match.start("them") if match["them"] else match.start()  # "which of" stays
    return Meant(start, match.end(), subject) if len(subject) > 1 else None


def _at(things: Sequence[Thing], place: int) -> Thing | None:
    return things[place] if -len(things) <= place < len(things) else None


def called(papers: Sequence[Paper]) -> str:
    """Papers by their short names, joined; empty where one has none."""
    names = [short_name(paper) for paper in papers]
    return " and ".join(names) if names and all(names) else ""


def unnamed(text: str, papers: Sequence[Paper]) -> str:
    """What is searched among papers that are given: their names would say nothing more."""
    return "" if called(papers) else text
