"""What a model that judges wrote, read with certainty or not at all.

A reply is a JSON object or, where a server takes no schema, lines of `key: value`. Whatever stands
around it is passed over; what leaves a doubt (two objects that differ, a key that stands twice, a
number outside its range, a label that is none) is no verdict but the reason why there is none. No
value stands in for one that is missing: a default would be averaged like a judgement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from evals.judging.protocol import LABELS, Label, Verdict
from rag.answering.replies import spoken, with_latex

HIGHEST = 10
"""The score of a criterion that is fully met; 0 is not at all (as in ScholarQABench's rubrics)."""

_MET = 6  # from here on a criterion counts as met: more than half
_ROUNDING = 1e-6  # outside a range by so little is the end of the range
_QUOTED = 40
_OBJECT = re.compile(r"\{\s*(?=[\"}])")  # a brace that begins JSON, not one in prose or LaTeX
_LINE = re.compile(r"^[\s>*_-]*(label|confidence|score|reason)[*_]*\s*[:=][\s*_]*(.*?)\s*$", re.I)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")

_LABELS: Mapping[str, Label] = {
    **dict.fromkeys(("support", "supports", "supported"), "support"),
    **dict.fromkeys(("contradict", "contradicts", "contradicted"), "contradict"),
    "neither": "neither",
}

Fields = Mapping[str, Any]


class Unreadable(ValueError):
    """A reply holds no verdict; the text says why, for a person."""


def verdict(text: str) -> Verdict:
    """The label of a reply, with the probability of support where it tells its confidence.

    That is how sure it is of the label that it gives; models that are asked for the probability of
    support tell this instead. Of a label other than support, support has half of the rest, as no
    more is known.

    Raises:
        Unreadable: there is no label that can be relied on, or it is surer of another one.
    """
    fields = _fields(text, "label")
    label = _label(fields["label"])
    if fields.get("confidence") is None:
        return Verdict(label, None, _reason(fields))
    confidence = _within(fields["confidence"], "confidence", 1.0)
    if confidence < 1 / len(LABELS):
        raise Unreadable(f"it says {label} with a confidence of {confidence:g}")
    probability = confidence if label == "support" else (1 - confidence) / (len(LABELS) - 1)
    return Verdict(label, probability, _reason(fields))


def score(text: str, highest: float = HIGHEST) -> tuple[float, str]:
    """The score of a reply, from 0 to `highest`, and its reason.

    Raises:
        Unreadable: there is no score that can be relied on.
    """
    fields = _fields(text, "score")
    return _within(fields["score"], "score", highest), _reason(fields)


def met(text: str) -> Verdict:
    """Whether a criterion is met: support from a score of 6 of 10 on, else neither.

    The probability is the score as a share of the highest.

    Raises:
        Unreadable: see `score`.
    """
    given, reason = score(text)
    return Verdict("support" if given >= _MET else "neither", given / HIGHEST, reason)


def _fields(text: str, key: str) -> Fields:
    """The one object of a reply that has the key; several that are equal are one."""
    said = spoken(text).strip()
    if not said:
        raise Unreadable("it is empty")
    objects = [one for value in _objects(with_latex(said)) for one in _with_key(value, key)]
    if not objects:
        objects = _from_lines(said, key)
    if not objects:
        raise Unreadable(f"it has no {key}: {_quoted(said)}")
    if any(one != objects[0] for one in objects):
        raise Unreadable(f"it has {len(objects)} verdicts that differ")
    return objects[0]


def _objects(text: str) -> Iterator[Any]:
    """Each outermost JSON object of a text."""
    decoder = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number, strict=False)
    place = 0
    while begin := _OBJECT.search(text, place):
        try:
            value, place = decoder.raw_decode(text, begin.start())
        except Unreadable:
            raise
        except (ValueError, RecursionError) as error:
            cause = str(error).partition(": line ")[0]
            raise Unreadable(f"its JSON is broken: {cause}") from None
        yield value


def _with_key(value: Any, key: str) -> Iterator[Fields]:
    """The object, or those within it, that have the key."""
    if isinstance(value, dict):
        if key in value:
            yield value
            return
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _with_key(inner, key)


def _from_lines(text: str, key: str) -> list[Fields]:
    """Lines of `key: value` as one object, if the key is among them."""
    found = [match.groups() for line in text.splitlines() if (match := _LINE.match(line))]
    pairs = [(name.lower(), _typed(name.lower(), value)) for name, value in found]
    fields = _once(pairs)
    return [fields] if key in fields else []


def _typed(name: str, value: str) -> Any:
    if name in {"confidence", "score"} and _NUMBER.fullmatch(value):
        return float(value)
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; JSON would keep the last value of a key that stands twice."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise Unreadable(f"its {key} stands there twice")
        found[key] = value
    return found


def _no_number(name: str) -> NoReturn:
    raise Unreadable(f"{name} is no number")


def _label(value: Any) -> Label:
    word = value.strip(" \t.,\"'*").lower() if isinstance(value, str) else ""
    if word not in _LABELS:
        raise Unreadable(f"its label {_quoted(value)} is none of support, contradict, neither")
    return _LABELS[word]


def _within(value: Any, name: str, most: float) -> float:
    """A number of a range from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable(f"its {name} {_quoted(value)} is no number")
    if not -_ROUNDING <= value <= most + _ROUNDING:
        raise Unreadable(f"its {name} {_quoted(value)} is not within 0 to {most:g}")
    return min(max(float(value), 0.0), most)


def _reason(fields: Fields) -> str:
    reason = fields.get("reason")
    return reason.strip() if isinstance(reason, str) else ""


def _quoted(value: Any) -> str:
    text = " ".join(str(value).split())
    return repr(text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…")
