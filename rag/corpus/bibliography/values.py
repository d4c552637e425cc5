"""Pure: single values of a record, as exports write them, to plain text, years and identifiers."""

from __future__ import annotations

import html
import math
import re
from datetime import UTC, datetime

from rag.corpus.bibliography.latex import decoded
from rag.corpus.bibliography.markup import without_markup

_VOID = frozenset(
    "|-|--|~|none|null|nan|nat|na|n/a|<na>|undefined|unknown"
    "|no abstract available|no abstract available.|[no abstract available]".split("|")
)
_LONGEST_VOID = 100
# What holds the value itself where a format wraps it in an object, likeliest first.
_INNER = (
    "value name display_name fullname fullName full_name title text #text @value content label "
    "term category keyword literal $oid en"
).split()
_NESTING = 4


def is_void(value: object) -> bool:
    """Whether a value says nothing: missing, not a number, empty, or a word for that."""
    if isinstance(value, str):
        return (
            value.strip().casefold() in _VOID if len(value) < _LONGEST_VOID else not value.strip()
        )
    if isinstance(value, float):
        return not math.isfinite(value)
    return value is None or (isinstance(value, list | dict) and not value)


def unwrapped(value: object) -> object:
    """The value inside `{"value": …}`, `{"name": …}` and lists, the first that says something."""
    for _ in range(_NESTING):
        if isinstance(value, dict):
            inner = [value[key] for key in _INNER if key in value]
        elif isinstance(value, list):
            inner = value
        else:
            break
        value = next((one for one in inner if not is_void(one)), None)
    return None if is_void(value) or isinstance(value, dict | list) else value


def words(value: object) -> str:
    """A value as plain text on one line; empty where it is none or no text, as a boolean is."""
    value = unwrapped(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text, _ = without_markup(html.unescape(str(value)))
    return " ".join(text.split())


def one_line(text: str) -> str:
    """`text` with XML and HTML entities decoded and single spaces."""
    return " ".join(html.unescape(text).split())


def prose(value: object) -> str:
    """`words` with the accents and commands of LaTeX decoded; not for addresses and identifiers."""
    return " ".join(decoded(words(value)).split())


# --- Years ---------------------------------------------------------------------------------

_YEAR = re.compile(r"(?<!\d)(\d{4})(?!\d)")
_COMPACT_DATE = re.compile(r"(\d{4})(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_FIRST_YEAR, _LAST_YEAR = 1450, 2100  # printed matter, and no plain number besides
_MILLISECONDS = range(10**11, 10**13)  # since 1970, as OpenReview dates its notes: 1973 to 2286


def year_of(value: object) -> int | None:
    """The year in a number, a date, `{"date-parts": [[2021, 5]]}` or words such as "c. 1999"."""
    if isinstance(value, dict):
        names = ("date-parts", "year", "date-time", "created", "raw", "literal", "value")
        return next((year for key in names if (year := year_of(value.get(key)))), None)
    if isinstance(value, list):
        return year_of(value[0]) if value and not isinstance(value[0], list) else _nested(value)
    text = words(value)
    if text.isdecimal() and text.isascii() and len(text) < 14 and int(text) in _MILLISECONDS:
        return datetime.fromtimestamp(int(text) / 1000, UTC).year
    if compact := _COMPACT_DATE.fullmatch(text):
        text = compact.group(1)
    years = (int(found) for found in _YEAR.findall(text))
    return next((year for year in years if _FIRST_YEAR <= year <= _LAST_YEAR), None)


def _nested(value: list[object]) -> int | None:
    inner = value[0] if value else None
    return year_of(inner[0]) if isinstance(inner, list) and inner else None


# --- Identifiers ---------------------------------------------------------------------------

_DOI = re.compile(r"(?:(?:https?://)?(?:dx\.|www\.)?doi\.org/|doi:)?\s*(10\.\d{4,9}/\S+)", re.I)
_DOI_INSIDE = re.compile(r"(?<![\d.])(10\.\d{4,9}/[^\s\"<>{}|\\^]+)")
_ARCHIVES = (
    "acc-phys adap-org alg-geom ao-sci astro-ph atom-ph bayes-an chao-dyn chem-ph cmp-lg comp-gas "
    "cond-mat cs dg-ga econ eess funct-an gr-qc hep-ex hep-lat hep-ph hep-th math math-ph mtrl-th "
    "nlin nucl-ex nucl-th patt-sol physics plasm-ph q-alg q-bio q-fin quant-ph solv-int stat "
    "supr-con"
).replace(" ", "|")
_NUMBER = (
    rf"(?:(?P<new>\d{{2}}(?:0[1-9]|1[0-2])\.\d{{4,5}})"
    rf"|(?P<archive>{_ARCHIVES})(?:\.[A-Z]{{2}})?/(?P<old>\d{{7}}))(?:v\d+)?"
)
_ARXIV = re.compile(
    r"(?:(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/|arxiv:\s*"
    r"|(?:(?:https?://)?(?:dx\.)?doi\.org/|doi:\s*)?10\.48550/arxiv\.)?"
    rf"{_NUMBER}(?:\.pdf)?(?:\s*\[[^\[\]]*\])?",
    re.IGNORECASE,
)
_ARXIV_NAMED = re.compile(
    rf"arxiv(?:\.org/(?:abs|pdf|html)/|[:.\s/]\s{{0,9}}){_NUMBER}(?!\d)", re.IGNORECASE
)


def doi_of(value: object) -> str:
    """The DOI in a value, bare and in lower case; empty if there is none.

    A value that is nothing but a DOI may hold angle brackets, as old ones do.
    """
    text = words(value)
    found = _DOI.fullmatch(text) or _DOI_INSIDE.search(text)
    if not found:
        return ""
    doi = found.group(1).rstrip(".,;:'")
    while doi.endswith(")") and doi.count(")") > doi.count("("):
        doi = doi[:-1].rstrip(".,;:'")
    return doi.lower()


def arxiv_of(value: object) -> str:
    """The arXiv id without prefix, class and version, from an id, a URL or a DOI of arXiv."""
    found = _ARXIV.fullmatch(words(value))
    return _bare(found) if found else ""


def arxiv_named_in(text: str) -> str:
    """The arXiv id that a text names as one, as in "arXiv preprint arXiv:2401.01234"."""
    found = _ARXIV_NAMED.search(text)
    return _bare(found) if found else ""


def _bare(found: re.Match[str]) -> str:
    return found["new"] or f"{found['archive'].lower()}/{found['old']}"


def web_address(value: object) -> str:
    """A URL of the web; empty for anything else, as a script or a path would be."""
    if isinstance(value, dict):
        value = value.get("href") or value.get("url") or value.get("URL") or value
    text = words(value)
    return text if re.fullmatch(r"https?://[^\s<>\"]+", text, re.IGNORECASE) else ""
