"""Whether the sentences that a claim names do support it: numbers, names, negation, words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.answering.prompting import Labelled
from rag.schema import Evidence, Paper, Verdict
from rag.text import content_words, normalise, plain, terms

_NUMBER = re.compile(r"(?<![\w.])\d++(?:[.,]\d++)*+(?!\w{0,20}-?bit)")
_NAME = re.compile(r"(?<!\w)(?=\w*[A-Za-z])(?:\w*[a-z0-9][A-Z]\w*|[A-Z][A-Z0-9]+|[A-Za-z]+\d\w*)")
_NEGATIONS = frozenset(
    "not no never neither nor cannot without fails fail failed unable lacks lack doesn't isn't "
    "aren't don't didn't won't can't unlike rather".split()
)
_DENIALS = _NEGATIONS - {"unlike", "rather", "failed"}  # a failed run is a run
_WORDS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "hundred": "100", "half": "50", "both": "2"}

SUPPORTED = 0.6
PARTLY = 0.35


Pinned = tuple[Paper, Evidence]
"""A sentence, with its paper, that a claim relies on."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What checking a claim gave; `reason` says why it is not fully supported."""

    verdict: Verdict
    reason: str = ""


def judge(claim: str, support: Sequence[tuple[Paper, Evidence]], question: str = "") -> Judgement:
    """Compare a claim with its sentences.

    A number must stand in one of the sentences. A name must stand in them or elsewhere in the
    abstract that they are from: "It improves …" is about the system that was named before. The
    verdict then rests on the share of the claim's terms that the sentences hold; the question's
    own words count as held, for a claim may repeat them.
    """
    if not support:
        return Judgement("unsupported", "it names no sentence")
    sentences = " ".join(evidence.text for _, evidence in support)
    abstracts = " ".join(f"{paper.title} {paper.text}" for paper, _ in support)
    if missing := sorted(numbers(claim) - numbers(sentences)):
        return Judgement("unsupported", f"{missing[0]} is not in the sentences it names")
    if missing := sorted(names(claim) - names(abstracts) - _folded(abstracts)):
        return Judgement("unsupported", f"{missing[0]} is not in the abstracts it names")
    cover = _cover(claim, sentences, question)
    if denial := _contradiction(claim, sentences, question, cover):
        return Judgement("contradicted", denial)
    if cover >= SUPPORTED:
        return Judgement("supported")
    if cover >= PARTLY:
        return Judgement("partly", f"{cover:.0%} of its words are in the sentences it names")
    return Judgement("unsupported", f"only {cover:.0%} of its words are in the sentences it names")


def _contradiction(claim: str, sentences: str, question: str, cover: float) -> str:
    """How a claim says otherwise than its sentences, or nothing."""
    if wrong := _misread_list(claim, sentences, question):
        return wrong
    if cover < SUPPORTED:  # it is about something else
        return ""
    if negated(claim):
        return "" if negated(sentences) else "it denies what the sentences say"
    return "it says what the sentences deny" if _denied(sentences) & set(terms(claim)) else ""


def repin(
    claim: str, named: Sequence[Labelled], given: Sequence[Labelled], question: str
) -> tuple[list[Pinned], Judgement]:
    """The sentences that a claim is pinned to, and how it was judged by them.

    They are those that the model named. Where these do not support the claim but another one
    that it was given fully does, it named the wrong label, and the claim is pinned to that one.
    A claim that names none is not helped: whoever does not cite has not read.
    """
    support = [(item.paper, item.evidence) for item in named]
    judgement = judge(claim, support, question)
    if judgement.verdict == "supported":
        return _needed(claim, support, question), judgement
    if not named:
        return support, judgement
    for item in sorted(given, key=lambda item: -_cover(claim, item.evidence.text, question)):
        other = [(item.paper, item.evidence)]
        found = judge(claim, other, question)
        if found.verdict == "supported":
            return other, found
    return support, judgement


def _needed(claim: str, support: Sequence[Pinned], question: str) -> list[Pinned]:
    """Those sentences without the ones of a paper that says little of the claim.

    It is left out only where the others support the claim without it: to cite it would send the
    reader to a wrong paper.
    """
    kept = list(support)
    for paper_id in dict.fromkeys(paper.id for paper, _ in support):
        own = " ".join(evidence.text for paper, evidence in kept if paper.id == paper_id)
        rest = [pinned for pinned in kept if pinned[0].id != paper_id]
        says_little = _cover(claim, own, question) < PARTLY
        if says_little and judge(claim, rest, question).verdict == "supported":
            kept = rest
    return kept


def numbers(text: str) -> frozenset[str]:
    """The numbers in `text`, written alike: digits, `1,000` as 1000, `eight` as 8, 2.50 as 2.5."""
    found = {_canonical(number) for number in _NUMBER.findall(plain(text))}
    return frozenset(found | {_WORDS[word] for word in content_words(text) if word in _WORDS}) - {
        "1",  # "one" is more often an article than a count
    }


def names(text: str) -> frozenset[str]:
    """Words that can only be names: RepoScope, RN-DPO in its parts, G2PO, FID; folded."""
    return frozenset(name.casefold().rstrip("s") for name in _NAME.findall(plain(text)))


def _folded(text: str) -> frozenset[str]:
    return frozenset(word.rstrip("s") for word in re.findall(r"\w+", normalise(text)))


def _canonical(number: str) -> str:
    number = re.sub(r",(?=\d{3}\b)", "", number).replace(",", ".")
    return number.rstrip("0").rstrip(".") if "." in number else number.lstrip("0") or "0"


def _cover(claim: str, sentences: str, question: str) -> float:
    wanted = set(terms(claim))
    if not wanted:
        return 0.0
    held = set(terms(sentences))
    asked = set(terms(question)) - held
    counted = wanted - asked
    return len(counted & held) / len(counted) if counted else 0.0


def _denied(text: str) -> set[str]:
    """The terms right behind a denial, such as `need` in "does not need", said nowhere else."""
    both = re.sub(r"\bwith (?:and|or) without\b", "with", normalise(text))
    words = re.findall(r"[\w'-]+", both)
    denied: set[str] = set()
    said: set[str] = set()
    behind = False
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word in _DENIALS:
            behind = after not in {"only", "just", "merely", "simply"}
        elif found := terms(word):
            (denied if behind else said).update(found)
            behind = False
    return denied - said


def negated(text: str) -> bool:
    """Whether `text` has a word of denial."""
    return not _NEGATIONS.isdisjoint(re.findall(r"[a-z']+", normalise(text)))


_LIST_OF_NUMBERS = re.compile(r"\d[\d.,]*%?(?:, \d[\d.,]*%?)*,? and \d[\d.,]*\d?%?")
_ITEM = r"[\w@+./-]+(?: [\w@+./-]+){0,2}?"
_LIST_OF_ITEMS = re.compile(rf"{_ITEM}(?:, {_ITEM})*,? and {_ITEM}(?=[\s,.;:)])")
_SEPARATOR = re.compile(r",? and |, ")


def _misread_list(claim: str, sentences: str, question: str) -> str:
    """Where a sentence says "on A, B and C by 1, 2 and 3 respectively": a number of another item.

    The item is looked for in the claim, and if it names none, in the question.
    """
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", plain(sentences)):
        amounts = _LIST_OF_NUMBERS.search(sentence)
        if not amounts or "respectively" not in sentence:
            continue
        values = _SEPARATOR.split(amounts.group())
        for listed in _LIST_OF_ITEMS.finditer(sentence[: amounts.start()]):
            items = _SEPARATOR.split(listed.group())
            if len(items) == len(values):
                return _wrong_pair(claim, question, dict(zip(items, values, strict=True)))
    return ""


def _wrong_pair(claim: str, question: str, pairs: dict[str, str]) -> str:
    stated = numbers(claim)
    spoken = [item for item in pairs if _names_item(claim, item)]
    spoken = spoken or [item for item in pairs if _names_item(question, item)]
    right = {number for item in spoken for number in numbers(pairs[item])}
    for item, value in pairs.items():
        if spoken and numbers(value) <= stated and not numbers(value) <= right:
            return f"{value} is the number of {item.split()[-1]}"
    return ""


def _names_item(text: str, item: str) -> bool:
    """Whether the last word of a list's item, its name, stands in `text`."""
    return item.split()[-1].casefold() in re.findall(r"[\w@+./-]+", normalise(text))
