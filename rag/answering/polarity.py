"""Whether a claim says a thing and its sentences the contrary: denials, and words of direction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile, zip_longest

from rag.text import normalise, terms

_NEGATIONS = frozenset(
    "not no never neither nor cannot without fails fail failed unable lacks lack doesn't isn't "
    "aren't don't didn't won't can't unlike rather".split()
)
_DENIALS = _NEGATIONS - {"unlike", "rather", "failed"}  # a failed run is a run
_DENYING = re.compile(
    r"\b(?:(?:free|independent) of|zero|none|nothing|nowhere|instead|hardly|barely|rarely|absent|"
    r"absence|avoid\w*|eliminat\w*|remov\w*|prevent\w*|vanish\w*|collaps\w*|[\w-]{3,}-free|"
    r"(?:use|harm|help|meaning|regard)less|non-?\w{3,}|un(?:able|chang|affect|success|likely)\w*|"
    r"in(?:significan|sufficien|correct|effective|capable|ability|variant)\w*|impossib\w*|"
    r"irrelevan\w*|dis(?:agree|card)\w*|little|few)\b"
)
_OPPOSITES = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("increas rais elev grow gain boost enhanc promot augment upregul rise",
         "decreas reduc lower drop declin diminish shrink suppress downregul lessen fall"),
        ("improv better strengthen benefit", "worsen wors degrad harm hurt weaken impair"),
        ("higher greater larger more bigger longer", "lower smaller fewer less shorter"),
        ("faster quicker accelerat", "slower slow decelerat"),
        ("outperform surpass exceed beat", "underperform trail lag"),
        ("activ enabl induc", "inhibit block prevent inactiv"),
        ("positiv", "negativ"),
        ("maximum maxim", "minimum minim"),
        ("sensit suscept", "resist"),
        ("always", "never"),
        ("all everi", "none"),
        ("success succeed", "fail failur"),
        ("easier eas simpl", "harder difficult complex"),
        ("stabl stabil", "unstabl instabl"),
        ("strong stronger", "weak weaker"),
        ("before", "after"),
    )
)  # fmt: skip
_UP = _OPPOSITES[0][0] | _OPPOSITES[1][0]
_DOWN = _OPPOSITES[0][1] | _OPPOSITES[1][1]
_PIECE = re.compile(r"[\w'-]+|[,;.:]")
_ENDS = frozenset("by and but while whereas on in at from to with for when as than".split())
_REACH = 5  # words behind a direction in which its thing is told


def denies(text: str) -> bool:
    """Whether a text denies anything, by whatever word."""
    return _negated(text) or bool(_DENYING.search(plainly(text)))


def denies_what_is_said(claim: str, sentences: str) -> bool:
    """Whether a claim denies something and none of its sentences denies anything."""
    return _negated(claim) and not denies(sentences)


def says_what_is_denied(claim: str, sentences: str) -> bool:
    """Whether a claim says, without a denial, what its sentences only deny."""
    if _negated(claim) or _DENYING.search(plainly(claim)):
        return False
    return bool(_denied(sentences) & set(terms(claim)))


def other_direction(claim: str, sentences: str) -> str:
    """A word of the claim whose contrary alone stands in its sentences, else nothing."""
    said, held = set(terms(claim)), set(terms(sentences))
    said |= _bare(claim)
    held |= _bare(sentences)
    for pair in _OPPOSITES:
        for side, contrary in (pair, pair[::-1]):
            if said & side and not said & contrary and held & contrary and not held & side:
                return f"it says {_first(said & side)}, the sentences {_first(held & contrary)}"
    return ""


def exchanged_direction(claim: str, sentences: str) -> str:
    """A word of direction that a claim gives to what its sentences give another one, else nothing.

    "It raises cost" where it is "raises speed and lowers cost". The word has to stand in the
    sentences for something else: to improve latency may be to reduce it.
    """
    held = list(_directed(sentences))
    for word, rises, things in _directed(claim):
        used = any(word == other for other, _, _ in held)
        same = max((len(things & of) for _, up, of in held if up == rises), default=0)
        others = [(len(things & of), other) for other, up, of in held if up != rises]
        most, other = max(others, default=(0, ""))
        if used and most > same and 2 * most >= len(things):
            return f"it says “{word}…” of what the sentences say “{other}…” of"
    return ""


def _directed(text: str) -> Iterator[tuple[str, bool, frozenset[str]]]:
    """Each word of direction, whether it goes up, and the terms of what it is said of."""
    words = _PIECE.findall(normalise(text))
    for place, word in enumerate(words):
        stem = next(iter(terms(word)), "")
        if stem in _UP or stem in _DOWN:
            behind = takewhile(_goes_on, words[place + 1 : place + 1 + _REACH])
            if things := frozenset(term for one in behind for term in terms(one)):
                yield stem, stem in _UP, things


def _goes_on(word: str) -> bool:
    """Whether a word can still be of what a direction is said of."""
    return word[0].isalpha() and word not in _ENDS and not set(terms(word)) & (_UP | _DOWN)


def plainly(text: str) -> str:
    """Text in normal form, without what is denied and said at once."""
    return re.sub(r"\bwith (?:and|or) without\b", "with", normalise(text))


def _first(words: set[str]) -> str:
    return f"“{min(words)}…”"


def _bare(text: str) -> set[str]:
    """The stop words that tell a direction; `terms` leaves them out."""
    return {"more", "before", "after", "all"} & set(re.findall(r"[a-z]+", normalise(text)))


def _denied(text: str) -> set[str]:
    """The terms right behind a denial, such as `need` in "does not need", said nowhere else."""
    denied: set[str] = set()
    said: set[str] = set()
    for found, behind in _with_denials(re.findall(r"[\w'-]+", plainly(text))):
        (denied if behind else said).update(found)
    return denied - said


def _with_denials(words: list[str]) -> Iterator[tuple[list[str], bool]]:
    behind = False
    for word, after in zip_longest(words, words[1:], fillvalue=""):
        if word in _DENIALS:
            behind = after not in {"only", "just", "merely", "simply"}
        elif found := terms(word):
            yield found, behind
            behind = False


def _negated(text: str) -> bool:
    return not _NEGATIONS.isdisjoint(re.findall(r"[a-z']+", normalise(text)))
