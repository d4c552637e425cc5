"""The form in which a claim is put, so that what was asked comes first; pure.

"Yes", a number with its unit, or what letters stand for is set before a claim only where the
sentences that it cites say so in the question's own words. Nothing else is added, so a claim in
its form is supported by what supported it before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.answering.facts import names, numbers
from rag.answering.support import Pinned
from rag.retrieval.acronyms import definitions
from rag.schema import Kind
from rag.text import legible, plain, terms

_FEW = 3  # words of a question without a name from which a sentence can be taken for its answer
_REACH = 4  # words from a number to its unit
_BEFORE = 4  # words before an "and" that may hold another number of the same
_AUXILIARY = re.compile(
    r"^(?:and |so |but |then )?(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would"
    r"|should|must|may|might)\b",
    re.IGNORECASE,
)
_COMPARING = re.compile(r"\b(?:than|better|worse|only|all|every|always|first|most)\b", re.I)
DENIAL = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|without|fails? to|unable to|lacks?|\w+n't)\b", re.I
)
_OTHERWISE = re.compile(
    r"\b(?:rather|instead|unlike|non-?\w+|\w+-free|although|though|while|whereas|despite|avoid\w*"
    r"|exist\w*|current\w*|previous\w*|prior|tradition\w*|convention\w*|typical\w*|earlier|most"
    r"|many|recent\w*|remains?|often|usually|standard|common\w*|would|could|may|might)\b",
    re.I,
)
_OWN = re.compile(r"\b(?:we|our|it|this (?:paper|work|method|approach)|here)\b", re.I)
_SAID = re.compile(r"^(?:yes|no)\b", re.IGNORECASE)
_HOW_MANY = re.compile(
    r"\bhow (?:many|much) ((?:[\w%-]+ ){0,4}?[\w%-]+)(?=\s+(?:is|are|was|were|do|does|did|has|have"
    r"|can|could|in|of|on|to|at|from|that|which|by|with|per|for|there)\b|\s*[,?.]|\s*$)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[$\\~≈]*\d[\d.,]*\d?(?:\\?%)?[kKM]?\$?|[^\s,;:()]+")
_NUMBER = re.compile(
    r"^(?:[$\\~≈]*\d|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty)$)", re.I
)
_PERCENT = re.compile(r"\$?\d[\d.,]*\s?(?:\\?%|percent)\$?")


def put(kind: Kind, question: str, claim: str, support: Sequence[Pinned]) -> str:
    """The claim in the form of its kind; as it is where nothing can be said first."""
    first = _FORMS[kind](question, claim, support) if kind in _FORMS else ""
    return f"{first}: {claim}" if first else claim


def _yes_or_no(question: str, claim: str, support: Sequence[Pinned]) -> str:
    """Yes or No where one sentence holds the whole question, affirmed or denied; else nothing.

    It has to speak of what the question names, or of its own paper's work: what is said of others
    stands in the same abstract. A comparison is left alone: the same words say which of two is
    better and which is worse.
    """
    asked = set(terms(_AUXILIARY.sub("", question)))
    if _SAID.match(claim) or _COMPARING.search(question) or DENIAL.search(question) or not asked:
        return ""
    for paper, evidence in support:
        abstract = f"{paper.title} {paper.text}"
        known = names(question) <= names(abstract) and numbers(question) <= numbers(evidence.text)
        named = {term for word in question.split() if names(word) for term in terms(word)}
        wanted = asked - named
        enough = len(wanted) >= (1 if named else _FEW)
        if known and enough and wanted <= set(terms(evidence.text)):
            return _polarity(evidence.text, wanted, _speaks_of(evidence.text, question))
    return ""


def _speaks_of(sentence: str, question: str) -> bool:
    """Whether a sentence is about what a question names, and not about the work of others."""
    asked = names(question)
    about = asked <= names(sentence) if asked else True
    return (about or bool(_OWN.search(sentence))) and not _OTHERWISE.search(sentence)


def _polarity(sentence: str, wanted: set[str], is_about: bool) -> str:
    """No where something asked is denied, nothing where the denial is of something else."""
    if not DENIAL.search(sentence):
        return "Yes" if is_about else ""
    return "No" if denies(sentence, wanted) else ""


def denies(sentence: str, wanted: set[str]) -> bool:
    """Whether a denial stands right before one of the terms `wanted`."""
    behind = (sentence[match.end() :].split()[:2] for match in DENIAL.finditer(sentence))
    return any(wanted & set(terms(" ".join(words))) for words in behind)


def _number(question: str, claim: str, support: Sequence[Pinned]) -> str:
    """Each number that is asked for, with its unit, as a quoted sentence has them."""
    if not _is_quote(claim, support):
        return ""
    paper, evidence = support[0]
    if not names(question) <= names(f"{paper.title} {paper.text}"):
        return ""
    found = [_amount(match[1], evidence.text) for match in _HOW_MANY.finditer(question)]
    return ", ".join(found) if found and all(found) else ""


def _amount(unit: str, sentence: str) -> str:
    """The one number of a sentence before that unit, with what stands between; else nothing."""
    wanted = terms(unit)[-1:]
    if wanted in (["percent"], ["%"]):
        return _only([match.group() for match in _PERCENT.finditer(plain(sentence))])
    if "respectively" in sentence:
        return ""  # each of its numbers belongs to something else
    words = list(_WORD.finditer(plain(sentence)))
    found = []
    for place, word in enumerate(words):
        for end in words[place + 1 : place + 1 + _REACH] if _stands_alone(words, place) else ():
            if _NUMBER.match(end.group()):
                break
            if wanted and terms(end.group())[-1:] == wanted and not _goes_on(words, end):
                found.append(plain(sentence)[word.start() : end.end()].rstrip("."))
                break
    return _only(found)


def _stands_alone(words: Sequence[re.Match[str]], place: int) -> bool:
    """Whether a word is a number, and not the end of a list or a span of numbers."""
    before = [word.group() for word in words[max(0, place - _BEFORE) : place]]
    joined = before[-1:] in (["and"], ["or"], ["to"], ["–"])
    listed = bool(before) and any(map(_NUMBER.match, before if joined else before[-1:]))
    return bool(_NUMBER.match(words[place].group())) and not listed


def _goes_on(words: Sequence[re.Match[str]], unit: re.Match[str]) -> bool:
    """Whether a unit only begins what is counted, as in "75 LLM generated policies"."""
    behind = words[words.index(unit) + 1 :][:1]
    return bool(behind) and bool(re.fullmatch(r"\w+(?:ed|based|like)", behind[0].group()))


def _only(found: Sequence[str]) -> str:
    return found[0] if len(set(found)) == 1 else ""


def _meaning(question: str, claim: str, support: Sequence[Pinned]) -> str:
    """What letters in the question stand for, where a cited sentence spells them out."""
    asked = set(re.findall(r"[\w-]+", question))
    found = [pair for _, item in support for pair in definitions(item.text) if pair[0] in asked]
    if not found or (found[0][1] in claim and not _is_quote(claim, support)):
        return ""  # a writer has said it already
    return f"{found[0][0]} stands for {found[0][1]}"


def _is_quote(claim: str, support: Sequence[Pinned]) -> bool:
    return len(support) == 1 and legible(support[0][1].text) == claim


_FORMS = {"yes_no": _yes_or_no, "quantity": _number, "definition": _meaning}
