"""Pure: lists of authors and keywords, however an export writes them, to tuples of plain text."""

from __future__ import annotations

import ast
import html
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping

from rag.corpus.bibliography.values import is_void, one_line, prose, words

_AND = re.compile(r"\s+(?:and|&)\s+|,\s*and\s+")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_INITIALS = re.compile(r"(?:[^\W\d_a-z]\.?[\s-]*){1,4}")
_SUFFIX = re.compile(r"(?:[JS]r|JR|SR|I{2,3}|IV|V|\d(?:st|nd|rd|th)|Ph\.?D|M\.?D)\.?")
_SUFFIX_ALONE = re.compile(r"(?:[JSjs]r|JR|SR|I{2,3}|IV|Ph\.?D|M\.?D)\.?")  # V may be a first name
_SUFFIX_AT_END = re.compile(r"(?P<given>.+) (?P<suffix>[JS]r\.?|I{2,3}|\d(?:st|nd|rd|th))")
_MEDLINE = re.compile(r"(?P<last>\S.*?) (?P<first>[A-Z]{1,4})(?P<suffix> (?:Jr|Sr|\d[a-z]{2}))?")
_INITIALS_LAST = re.compile(
    r"(?P<last>[^\W\d_][^\s.\d][^\d]*?) "
    r"(?P<first>(?:[A-Z]\.[ -]?){1,4}|(?!I{2,3}$|IV$)[A-Z]{1,3})\.?"
)
_OTHERS = frozenset(["et al", "others", "and others", "...", "…"])
_BETWEEN_KEYWORDS = (";", r"\|", r",(?!\d)", r"[\r\n]+")  # the first that is there
_LONGEST_LITERAL = 100_000
_CATEGORY = re.compile(r"[a-z-]+(?:\.[A-Za-z-]+)?")


def authors_of(value: object) -> tuple[str, ...]:
    """Names written "First Last", in order, from a string, a list, or objects with names in them.

    A string is divided at semicolons, else at "and" and commas; "Last, First" is turned round, and
    so is "Last F" where every name of several ends so, as PubMed and Scopus write them. A comma
    between two parts of which one is a single word stands inside one name.
    """
    value = literal(value)
    if isinstance(value, list):
        names = [_name(one) for one in value]
    elif isinstance(value, dict):
        inner = literal(value.get("value", value.get("author", value)))
        names = list(authors_of(inner)) if isinstance(inner, list) else [_name(value)]
    else:
        names = _initials_first(list(_divided(prose(value))))
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
        return _distinct(map(prose, value))
    text = str(value) if isinstance(value, str) else words(value)
    text = html.unescape(text).strip()
    mark = next((mark for mark in _BETWEEN_KEYWORDS if re.search(mark, text)), "")
    if not mark and "." in text and all(_CATEGORY.fullmatch(part) for part in text.split()):
        return _distinct(text.split())
    return _distinct(map(prose, re.split(mark, text) if mark else [text]))


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


def _distinct(found: Iterable[str]) -> tuple[str, ...]:
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
        return person(prose(value))
    if words(value.get("creatorType")) not in ("", "author"):
        return ""
    inner = value.get("author")
    return _of_parts(value) or person(prose(inner or value))


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


def person(name: str) -> str:
    """A name as "First Last": from "Last, First", and "Jr" in any of the places it is put.

    One with two commas and more, of which none parts a suffix, stays as it stands.
    """
    parts = [part for part in (one_line(part) for part in name.split(",")) if part]
    if len(parts) < 2 or (len(parts) == 2 and _SUFFIX_ALONE.fullmatch(parts[1])):
        return " ".join(parts)
    last, *others = parts
    suffixes = [part for part in others if len(others) > 1 and _SUFFIX.fullmatch(part)]
    given = " ".join(part for part in others if part not in suffixes)
    if len(others) - len(suffixes) > 1:
        return ", ".join(parts)
    if not suffixes and (ending := _SUFFIX_AT_END.fullmatch(given)):
        given, suffixes = ending["given"], [ending["suffix"]]
    return " ".join([given, last, *suffixes])


def person_with_initials(name: str) -> str:
    """A name as "FM Last", from MEDLINE's "Last FM"."""
    match = _MEDLINE.fullmatch(name.strip())
    return f"{match['first']} {match['last']}{match['suffix'] or ''}" if match else person(name)


def _initials_first(names: list[str]) -> list[str]:
    found = [match for name in names if (match := _INITIALS_LAST.fullmatch(name))]
    if len(names) < 2 or len(found) < len(names):
        return names
    return [f"{match['first'].strip()} {match['last']}" for match in found]


# --- Many names in one string --------------------------------------------------------------


def _divided(text: str) -> Iterator[str]:
    for _ in range(3):  # affiliations in brackets, in arXiv's strings up to three deep
        text = _IN_BRACKETS.sub("", text)
    text = " ".join(text.split())
    mark = next((mark for mark in ";|" if mark in text), "")
    if mark:
        yield from map(person, (part.strip() for part in text.split(mark)))
        return
    parts = [part.strip(" ,") for part in _AND.split(text)]
    if len(parts) > 1 and all(part.count(",") == 1 for part in parts):
        yield from map(person, parts)
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
        if joined and _SUFFIX_ALONE.fullmatch(part):
            joined[-1] = f"{joined[-1]} {part}"
        else:
            joined.append(part)
    return joined
