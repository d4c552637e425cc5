"""Pure: lists of authors and keywords, however an export writes them, to tuples of plain text."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping

from rag.corpus.bibliography.values import is_void, prose, words

_AND = re.compile(r"\s+(?:and|&)\s+|,\s*and\s+")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_INITIALS = re.compile(r"(?:[^\W\d_a-z]\.?[\s-]*){1,4}")
_SUFFIXES = frozenset(["jr", "sr", "ii", "iii", "iv", "phd", "md"])
_OTHERS = frozenset(["et al", "others", "and others", "...", "…"])
_LONGEST_LITERAL = 100_000
_CATEGORY = re.compile(r"[a-z-]+(?:\.[A-Za-z-]+)?")


def authors_of(value: object) -> tuple[str, ...]:
    """Names written "First Last", in order, from a string, a list, or objects with names in them.

    A string is divided at semicolons, else at "and" and commas; "Last, First" is turned round. A
    comma between two parts of which one is a single word stands inside one name.
    """
    value = literal(value)
    if isinstance(value, list):
        names = [_name(one) for one in value]
    elif isinstance(value, dict):
        inner = literal(value.get("value", value.get("author", value)))
        names = list(authors_of(inner)) if isinstance(inner, list) else [_name(value)]
    else:
        names = list(_divided(prose(value)))
    kept = (name.strip(" ,") for name in names)
    return _distinct(name for name in kept if name and name.casefold().rstrip(".") not in _OTHERS)


def keywords_of(value: object) -> tuple[str, ...]:
    """Keywords in order, each once, from a list, or a string divided at semicolons or commas.

    The categories of arXiv ("cs.CL cs.AI") are divided at spaces.
    """
    value = literal(value)
    if isinstance(value, dict) and isinstance(value.get("value"), list):
        value = value["value"]
    if isinstance(value, list):
        return _distinct(prose(one) for one in value)
    text = prose(value)
    mark = next((mark for mark in ";|," if mark in text), "")
    if not mark and "." in text and all(_CATEGORY.fullmatch(part) for part in text.split()):
        return _distinct(text.split())
    return _distinct(part.strip() for part in (text.split(mark) if mark else [text]))


def literal(value: object) -> object:
    """A list or an object where a cell of a table holds one as JSON or as Python writes it."""
    if not isinstance(value, str) or len(value) > _LONGEST_LITERAL:
        return value
    text = value.strip()
    if text[:1] + text[-1:] not in ("[]", "{}"):
        return value
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _python_literal(text, value)


def _python_literal(text: str, value: str) -> object:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes inside the strings
            found = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return value
    return found if isinstance(found, list | dict) else value


def _distinct(found: Iterator[str] | list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for one in found if not is_void(one)))


# --- One name ------------------------------------------------------------------------------

_GIVEN = ("given", "first", "firstName", "first_name", "forename", "foreName", "fore_name")
_MIDDLE = ("middle", "middleName", "middle_name")
_FAMILY = ("family", "last", "lastName", "last_name", "surname")


def _name(value: object) -> str:
    if isinstance(value, list):  # arXiv: ["Last", "First", "suffix", …]
        last, first, suffix = [*map(prose, value[:3]), "", "", ""][:3]
        return " ".join(part for part in (first, last, suffix) if part)
    if not isinstance(value, dict):
        return _turned(prose(value))
    if words(value.get("creatorType")) not in ("", "author"):
        return ""
    inner = value.get("author")
    return _of_parts(value) or _turned(prose(inner or value))


def _of_parts(value: Mapping[str, object]) -> str:
    """The name of an object that holds family and given name apart; empty where it does not."""
    family = next((prose(value[key]) for key in _FAMILY if key in value), "")
    if not family:
        return ""
    particle = words(value.get("non-dropping-particle") or value.get("dropping-particle"))
    given = next((prose(value[key]) for key in _GIVEN if key in value), "")
    middles = next((value[key] for key in _MIDDLE if key in value), "")
    middle = map(prose, middles) if isinstance(middles, list) else [prose(middles)]
    parts = [given, *middle, particle, family, words(value.get("suffix"))]
    return " ".join(part for part in parts if part)


def _turned(name: str) -> str:
    """The name as "First Last"; one without a comma, or with two and more, as it stands."""
    last, comma, first = name.partition(",")
    first = first.strip()
    if not comma or "," in first or not first:
        return name
    if first.casefold().rstrip(".") in _SUFFIXES:
        return f"{last} {first}"
    return f"{first} {last.strip()}"


# --- Many names in one string --------------------------------------------------------------


def _divided(text: str) -> Iterator[str]:
    for _ in range(3):  # affiliations in brackets, in arXiv's strings up to three deep
        text = _IN_BRACKETS.sub("", text)
    text = " ".join(text.split())
    mark = next((mark for mark in ";|" if mark in text), "")
    if mark:
        yield from map(_turned, (part.strip() for part in text.split(mark)))
        return
    parts = [part.strip(" ,") for part in _AND.split(text)]
    if len(parts) > 1 and all(part.count(",") == 1 for part in parts):
        yield from map(_turned, parts)
        return
    for part in parts:
        yield from _at_commas(part)


def _at_commas(text: str) -> Iterator[str]:
    parts = _with_suffixes([part.strip() for part in text.split(",") if part.strip()])
    pairs = list(zip(parts[::2], parts[1::2], strict=False))
    initials = all(_INITIALS.fullmatch(given) and family[1:2] != "." for family, given in pairs)
    one_name = len(parts) == 2 and any(" " not in part for part in parts)
    if len(parts) % 2 == 0 and parts and (one_name or initials):
        yield from (f"{given} {family}" for family, given in pairs)
    else:
        yield from parts


def _with_suffixes(parts: list[str]) -> list[str]:
    """A part such as "Jr." belongs to the name before it."""
    joined: list[str] = []
    for part in parts:
        if joined and part.casefold().rstrip(".") in _SUFFIXES:
            joined[-1] = f"{joined[-1]} {part}"
        else:
            joined.append(part)
    return joined
