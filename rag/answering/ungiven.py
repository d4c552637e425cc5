"""What kind of thing a question asks for that the abstract of its paper gives nowhere; pure.

A sentence with the words of "What score does RepoScope obtain on CodeWikiBench?" and no number is
no answer to it, however near it comes. The reader is told what is not given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.answering.facts import names, numbers
from rag.answering.signals import short_name
from rag.retrieval.expecting import expected, has_address
from rag.schema import Paper
from rag.text import plain, terms

_CREDIT = re.compile(
    r"^(?:and |so )?(?:who|whose group|which (?:author|person|researcher|scientist)s?)\b"
    r"(?: (?:first|originally))? (?:proposed|introduced|invented|developed|created|designed"
    r"|devised|coined|discovered|came up with) (?:the |an? )?(?P<thing>.+?)"
    r"(?:,? (?:and )?(?:in|when)\b.*)?[?.! ]*$",
    re.IGNORECASE,
)
_CREDITED = re.compile(r"\b[A-Z][\w-]+(?: et al\.?| (?:and|&) [A-Z][\w-]+)?,? ?\(?(?:19|20)\d\d")
_PROPER = re.compile(r"\b[A-Z][\w-]*")
_FIGURE = re.compile(
    r"\b(?:score|accurac|success rate|error rate|f1|bleu|auc|speed-?up|fps|latency|percent)\w*",
    re.IGNORECASE,
)


_MORE_THAN = re.compile(
    r"\b(?:higher|lower|better|worse|faster|slower|more|less|larger|smaller|stronger|weaker|cheaper"
    r"|greater|fewer)\b.*\bthan\b|\b(?:outperform|beat|surpass|exceed)\w*\b",
    re.IGNORECASE,
)
_EXTENDED = r"(?:-(?=[A-Z0-9])|\+|v(?=\d)|(?=\d))[\w.+-]*"  # RISE-2, RISE-Audio, RISE++, RISEv2


def credits(question: str) -> str:
    """The thing whose makers a question asks for; empty where it asks for something else."""
    match = _CREDIT.match(question.strip())
    return str(match["thing"]) if match else ""


def ungiven(question: str, papers: Sequence[Paper]) -> str:
    """What a question asks for and its paper does not give, told in a sentence; else nothing.

    `papers` are those that were found. Only one that the question names is judged, for of others
    nobody knows whether the question is about them; who made something is judged of all of them.
    """
    if thing := credits(question):
        return "" if any(_credits(thing, paper) for paper in papers) else _unsaid(thing)
    named = [one for one in papers if _is_named(question, one)]
    if not named:
        return ""
    if len(named) > 1:
        return _uncompared(question, named)
    paper, name = named[0], short_name(named[0])
    if other := _another_version(question, paper):
        return f"The abstract of {name} does not mention “{other}”."
    if "address" in expected(question) and not has_address(paper.text):
        return f"The abstract of {name} gives no web address."
    place = _place_without_figure(question, paper)
    return f"The abstract of {name} gives no figure for {place}." if place else ""


def gives_address(question: str, papers: Sequence[Paper]) -> bool:
    """Whether an address is asked for, and the paper that the question names has one."""
    named = (one for one in papers if _is_named(question, one))
    return "address" in expected(question) and any(has_address(one.text) for one in named)


def _is_named(question: str, paper: Paper) -> bool:
    name = set(terms(short_name(paper)))
    return bool(name) and name <= set(terms(question))


def _uncompared(question: str, named: Sequence[Paper]) -> str:
    """Two papers of which neither speaks of the other, where the better one is asked for.

    What each says that it gains is over baselines of its own.
    """
    asked = question if _MORE_THAN.search(question) else ""
    both = [(a, b) for a in named for b in named if a is not b and asked]
    if not both or any(_speaks_of(a, b) for a, b in both):
        return ""
    first, second = (short_name(one) for one in named[:2])
    return f"No abstract compares {first} with {second}."


def _speaks_of(paper: Paper, other: Paper) -> bool:
    return set(terms(short_name(other))) <= set(terms(paper.text))


def _another_version(question: str, paper: Paper) -> str:
    """RISE-2 where the paper that was found is RISE, and does not speak of another one."""
    name = re.escape(short_name(paper))
    match = re.search(rf"(?<![\w-]){name}{_EXTENDED}", question)
    version = match.group().rstrip(".-") if match else ""
    return "" if version in {short_name(paper), *paper.text.split()} else version


def _unsaid(thing: str) -> str:
    return f"No abstract says who made “{thing}”."


def _credits(thing: str, paper: Paper) -> bool:
    """Whether a sentence with that thing's name has somebody's name and a year beside it."""
    wanted = names(thing) | frozenset(terms(" ".join(_PROPER.findall(thing))))
    wanted = wanted or frozenset(terms(thing)[-1:])
    near = (said.text for said in paper.sentences if _CREDITED.search(plain(said.text)))
    return any(wanted & (names(text) | set(terms(text))) for text in near)


def _place_without_figure(question: str, paper: Paper) -> str:
    """The benchmark, say, for which a figure is asked, where its sentences have no number.

    One that follows such a sentence may give it. Numbers that are part of a name are none.
    """
    if "amount" not in expected(question) or not _FIGURE.search(question):
        return ""
    own = names(short_name(paper)) | {short_name(paper).casefold()}
    texts = [plain(said.text) for said in paper.sentences]
    words: list[str] = re.findall(r"[\w-]+", question)
    for word in words:
        if not names(word) or names(word) <= own:
            continue
        places = [at for at, text in enumerate(texts) if names(word) <= names(text)]
        if places and not any(_has_figure(texts, at) for at in places):
            return word
    return ""


def _has_figure(texts: Sequence[str], at: int) -> bool:
    return any(numbers(_without_names(text)) for text in texts[at : at + 2])


def _without_names(text: str) -> str:
    return " ".join(word for word in text.split() if not names(word))
