"""What a condition on papers demands beyond its words: an amount, a denial, an act; pure.

"More than 10,000 samples" is met by a sentence with such a number of samples, "do not need
training" by one that denies it, "release code" by one that says where code is. A sentence decides
for its paper, and silence is no denial: what no abstract says is left open, and told so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import ge, gt, le, lt

from rag.text import plain, terms, tokens

_DENIED = re.compile(
    r"\b(?:(?:do|does|did|is|are|was|were|has|have|can|could|will)(?: not|n't)|cannot|never|without"
    r"|lacks?|fails? to|no|not)\b(?! only\b)\s*(?P<what>.+)",
    re.IGNORECASE,
)
_SCALES = {"thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "billion": 1e9, "b": 1e9}
_SCALE = r"(?:thousand|million|billion|[kKmMbB])"
_NUMBER = rf"(?P<number>\d[\d,]*(?:\.\d+)?)\s?(?P<scale>{_SCALE}\b)?\s?(?P<percent>%)?"
_BOUNDS = (
    (r"(?:more|greater|larger|higher|longer|better) than|over|above|exceeding|beyond", gt),
    (r"(?:fewer|less|smaller|lower|shorter) than|under|below", lt),
    (r"at least|no (?:fewer|less) than|a minimum of", ge),
    (r"at most|no more than|up to|a maximum of", le),
)
_AMOUNT = re.compile(
    "(?:" + "|".join(f"(?P<b{n}>\\b(?:{words}))" for n, (words, _) in enumerate(_BOUNDS)) + ")"
    rf"\s+{_NUMBER}(?P<unit>[^,;?]*)",
    re.IGNORECASE,
)
_STATED = re.compile(rf"(?<![\w.]){_NUMBER}")
_REACH = 5  # words from a number to its unit
_NEAR = 5  # words from a denial to what it denies
_DENIAL = frozenset(
    "not no never without neither nor cannot lacks lack avoid avoids avoiding eliminating "
    "eliminates removing".split()
)
_NOT_DENYING = frozenset(
    "only just merely sacrificing sacrifice compromising losing degrading hurting limited".split()
)
_USES = frozenset(
    terms("do use uses using need needs require requires rely relies depend on apply employ have")
)
_OWN = r"\b(?:we|our|this (?:paper|work)|here)\b[^.;]{0,90}?\b"
_MADE = r"(?:introduc|present|propos|releas|construct|build|built|creat|curat|develop|collect)\w*"
# A project page, a data set or weights that are released are no released code.
_CODE_OUT = re.compile(
    r"\b(?:code|software|implementation)s?\b.{0,60}"
    r"\b(?:available|released?|open|public(?:ly)?|accessible|accessed|provided)\b"
    r"|\b(?:provid|shar|publish|releas|open-?sourc)(?:e|es|ed|ing)? (?:[\w-]+,? ){0,5}"
    r"(?:code|software|implementation)s?\b"
    r"|\b(?:we|will) (?:\w+ )?open-?source\b(?!.{0,40}\b(?:data|data ?sets?|weights|benchmarks?)\b)"
    r"|\bcode\b(?: \w+){0,3}:? (?:https?:|here\b)|\b(?:github|gitlab|codeberg|bitbucket)\b",
    re.IGNORECASE,
)
_ACTS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        re.compile(
            r"\b(?:releas|open-?sourc|publish|provid|shar|mak|ma[dk]e|with|has|have|offer)\w*\b"
            r".{0,30}\b(?:code|software|implementation)s?\b|^(?:source )?code\b.{0,20}$"
            r"|\bcode\b.{0,30}\b(?:available|public|released|open|provided|accessible)\b",
            re.IGNORECASE,
        ),
        _CODE_OUT,
    ),
    (
        re.compile(rf"\b{_MADE}\b.{{0,30}}\b(?:benchmark|data ?set|corpus|corpora)s?\b", re.I),
        re.compile(
            rf"{_OWN}{_MADE}\b[^.;]{{0,80}}?\b(?:[\w-]*bench(?:mark)?|data ?set|corpus)\b", re.I
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a sentence must say; `told` is how a person is told of it where none says it.

    `rest` is the question without it, whose own condition is to be met, too.
    """

    told: str
    rest: str
    bound: int = -1
    value: float = 0.0
    percent: bool = False
    terms: frozenset[str] = frozenset()
    act: re.Pattern[str] | None = None

    @property
    def is_denial(self) -> bool:
        """Whether something is to be denied, of which silence says nothing."""
        return self.act is None and self.bound < 0

    def met_by(self, sentence: str) -> bool:
        """Whether a sentence says it."""
        if self.act is not None:
            return bool(self.act.search(sentence))
        return self._has_amount(sentence) if self.bound >= 0 else self._denies(sentence)

    def _has_amount(self, sentence: str) -> bool:
        text, holds = plain(sentence), _BOUNDS[self.bound][1]
        for match in _STATED.finditer(text):
            behind = set(terms(" ".join(text[match.end() :].split()[:_REACH])))
            same = bool(match["percent"] or behind & {"percent"}) == self.percent
            if same and self.terms <= behind and holds(_value(match), self.value):
                return True
        return False

    def _denies(self, sentence: str) -> bool:
        """Whether all that is denied stands close behind a denial, or "-free" behind it."""
        words = tokens(plain(sentence))
        for place, word in enumerate(words):
            parts = word.split("-")
            freed = parts[-1] == "free" and self.terms <= set(
                terms(" ".join([*words[max(0, place - 2) : place], *parts[:-1]]))
            )
            after = words[place + 1 : place + 1 + _NEAR]
            denied = word in _DENIAL and _NOT_DENYING.isdisjoint(after[:1])
            if freed or (denied and self.terms <= set(terms(" ".join(after)))):
                return True
        return False


def demand_of(question: str) -> Demand | None:
    """What a question for papers demands that its words alone do not tell, if anything."""
    return _act(question) or _amount(question) or _denial(question)


def _act(question: str) -> Demand | None:
    for asked, said in _ACTS:
        if (match := asked.search(question)) and not _DENIED.search(question):
            told = " ".join(match.group().split()).rstrip("?.! ")
            return Demand(f"“{told}”", _without(question, match), act=said)
    return None


def _amount(question: str) -> Demand | None:
    match = _AMOUNT.search(question)
    unit = terms(match["unit"]) if match else []
    if not match or not (unit or match["percent"]):
        return None
    bound = next(n for n in range(len(_BOUNDS)) if match[f"b{n}"])
    told = f"a number that is {' '.join(match.group().split()).rstrip('?.! ')}"
    wanted, percent = frozenset(unit[-1:]), bool(match["percent"])
    return Demand(told, _without(question, match), bound, _value(match), percent, wanted)


def _denial(question: str) -> Demand | None:
    match = _DENIED.search(question)
    wanted = frozenset(terms(match["what"])) - _USES if match else frozenset()
    if not match or not wanted:
        return None
    told = f"that it is without “{_bare(match['what'])}”"
    return Demand(told, _without(question, match), terms=wanted)


def _without(question: str, match: re.Match[str]) -> str:
    return f"{question[: match.start()]} {question[match.end() :]}"


def _bare(what: str) -> str:
    words = what.rstrip(" ?.!").split()
    while len(words) > 1 and set(terms(words[0])) <= _USES:
        words = words[1:]
    return " ".join(words)


def _value(match: re.Match[str]) -> float:
    number = float(match["number"].rstrip(",").replace(",", ""))
    return number * _SCALES.get((match["scale"] or "").casefold(), 1.0)
