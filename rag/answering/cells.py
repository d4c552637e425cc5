"""A cell without a model: the sentence of an abstract that says it, and the words in it that do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.answering.cues import Column
from rag.schema import Evidence, Paper
from rag.text import legible, terms

BOUND = 0.9
"""The score from which a sentence is taken to say what a known column asks for."""

LEAST = 0.3
"""The same where every abstract says it, so that only the best sentence is looked for."""

SIGN = 0.6
"""The score below which a sentence has nothing to do with a column that only a name describes."""

NEAR = 0.55
"""The cosine from which a sentence is taken to say it where only a name describes the column."""

_STRONG, _WEAK, _LIKE, _EARLIER, _MORE = 1.0, 0.3, 0.4, 0.7, 0.15
_APART = 2  # words that may stand between those of a column's name
_SHORTEST = 12  # characters of a clause that can be understood
_LONGEST = 160  # of a value; a longer one is no better than its clause
_EARLIER_WORK = re.compile(
    r"^(?:while|existing|prior|previous|recent|current|conventional|traditional|however, existing|"
    r"a common|despite|recent works?)\b"
    r"|\b(?:existing|prior|previous) (?:\w+ )?(?:work|methods?|approaches|remedies|research)\b"
    r".{0,40}\b(?:fail|ignore|rely|derive|typically|usually|often|lack)",
    re.IGNORECASE,
)
_BOUNDARY = re.compile(
    r"(?:;|:|\s[–—]|\s--)\s+|,\s+(?=(?:which|while|whereas|but|where|with|showing|enabling|"
    r"achieving|leading|resulting|demonstrating|outperforming|suggesting|making|thus|"
    r"and (?:it|we|they|the|this|our|is|are|does|do|improves?|consistently|substantially))\b)"
    r"|\s+(?=(?:while|whereas)\s)"
)
_JOINT = re.compile(r"^(?:and|but|while|whereas|with|thus)\s+", re.IGNORECASE)
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"))


@dataclass(frozen=True, slots=True)
class Quoted:
    """Words of a sentence, as they stand there, for a cell."""

    text: str
    evidence: Evidence


def quoted(paper: Paper, column: Column, similarities: Sequence[float]) -> Quoted | None:
    """The cell of a paper, quoted, or None where no sentence is taken to say it.

    `similarities` holds the cosine of each sentence to the column's description.
    """
    scored = [
        (score(sentence.text, column, likeness, _place(index, len(paper.sentences))), -index)
        for index, (sentence, likeness) in enumerate(
            zip(paper.sentences, similarities, strict=True)
        )
    ]
    best, place = max(scored, default=(0.0, 0))
    if best < (LEAST if column.always else BOUND):
        return None
    sentence = paper.sentences[-place]
    evidence = Evidence(paper.id, -place, sentence.text, sentence.start, sentence.end, best)
    return Quoted(words_of(sentence.text, column), evidence)


def speaks_of(paper: Paper, index: int, column: Column, similarities: Sequence[float]) -> bool:
    """Whether the sentence at `index` has any sign of saying what a column asks for."""
    place = _place(index, len(paper.sentences))
    bound = LEAST if column.known else SIGN
    return score(paper.sentences[index].text, column, similarities[index], place) >= bound


def score(sentence: str, column: Column, likeness: float, place: float) -> float:
    """How surely a sentence says what a column asks for; from BOUND on it is taken to.

    A known column goes by its cue words, by where in the abstract it is said (`place`, 0 to 1) and
    by meaning. Of any other the sentence must have all words together, or come near it in meaning.
    """
    if not column.known:
        return _by_name(sentence, column, likeness)
    strong = len({match.group().casefold() for match in column.strong.finditer(sentence)})
    cues = _STRONG * bool(strong) + _MORE * min(max(strong - 1, 0), 3)
    cues += _WEAK * bool(column.weak.search(sentence))
    earlier = _EARLIER if column.own and _EARLIER_WORK.search(sentence) else 0.0
    return cues + _LIKE * likeness + column.late * (place - 0.5) - earlier


def _by_name(sentence: str, column: Column, likeness: float) -> float:
    wanted, held = set(terms(column.description)), terms(sentence)
    spans = (held[start : start + len(wanted) + _APART] for start in range(len(held)))
    if wanted and any(wanted <= set(span) for span in spans):
        return BOUND + max(likeness, 0.0)
    return BOUND + likeness - NEAR


def _place(index: int, count: int) -> float:
    return index / (count - 1) if count > 1 else 0.5


def words_of(sentence: str, column: Column) -> str:
    """The fewest words of a sentence that say it: a value, else a clause, else all of it."""
    for match in column.value.finditer(sentence):
        value = next((group for group in match.groups() if group), "").strip(" ,")
        if 2 <= len(value) <= _LONGEST and _is_whole(value):
            return legible(value)
    clauses = _clauses(sentence)
    best = max(clauses, key=lambda clause: _cues(clause, column))
    return legible(best if _cues(best, column) else _closed(sentence))


def _clauses(sentence: str) -> list[str]:
    """The clauses of a sentence; all of it where it cannot be cut without losing its sense."""
    if "respectively" in sentence:
        return [_closed(sentence)]
    cut = [_JOINT.sub("", part.strip()) for part in _BOUNDARY.split(sentence)]
    parts = [_closed(part) for part in cut]
    whole = all(len(part) >= _SHORTEST and _is_whole(part) for part in parts)
    return parts if whole else [_closed(sentence)]


def _cues(clause: str, column: Column) -> float:
    if not column.known:
        return float(len(set(terms(column.description)) & set(terms(clause))))
    strong = len(column.strong.findall(clause))
    return strong + 0.5 * bool(column.weak.search(clause))


def _closed(text: str) -> str:
    return text.strip().rstrip(".,;:").rstrip()


def _is_whole(text: str) -> bool:
    """Whether no bracket and no formula is cut in two."""
    balanced = all(text.count(opened) == text.count(closed) for opened, closed in _PAIRS)
    return balanced and text.count("$") % 2 == 0 and text.count("**") % 2 == 0
