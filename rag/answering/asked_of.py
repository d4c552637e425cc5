"""What a question asks of a paper by name, and whether its abstract speaks of that; pure.

"What are the limitations of RankE?" is not answered by what else RankE's abstract says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.answering.columns import column
from rag.answering.cues import SYNONYMS
from rag.answering.prompting import Labelled
from rag.answering.referring import GENERIC
from rag.answering.signals import short_name
from rag.schema import Paper
from rag.text import content_words, normalise, terms

_ASKED = re.compile(
    r"^(?:and |so )?what(?: is| are| was| were|'s) (?:the |its |some |any |main |known )*"
    r"(?P<one>[a-z][\w -]*?) (?:of|in|for|used (?:in|by|for)|with|by) (?:the )?(?P<of>\S.*)$"
    r"|^(?:and |so )?(?:what|which) (?P<two>[a-z][\w -]*?) "
    r"(?:is|are|was|were|does|do|did|has|have)\b ?(?P<who>.*)$"
    r"|^what (?:is|are|was|were) (?P<owner>\S+?)['’]s (?:main |known )*(?P<four>[a-z][\w -]*?)$"
    r"|^what about (?:the |its )?(?P<three>[a-z][\w -]*?) (?:of|in) (?P<whose>\S.*)$",
    re.IGNORECASE,
)
_ALONE = re.compile(r"^what(?: is| are| was| were) the (?P<thing>[a-z]+(?: [a-z]+)?)(?: used)?\W*$")
_TOLD_BY_CUES = frozenset({"limitation", "code", "hardware"})
_MOST_WORDS = 3


def untold(question: str, paper: Paper) -> str:
    """What a question asks of this very paper that its abstract does not speak of, else nothing."""
    match = _ASKED.match(question.strip(" ?.!"))
    if not match or not _names(_whose(match), paper):
        return ""
    thing = _thing(match)
    kind = _kind(thing)
    if kind:
        return "" if column(kind).strong.search(paper.text) else thing
    head = terms(thing)[-1:]
    generic = not head or _is_generic(thing.split()[-1]) or len(thing.split()) > _MOST_WORDS
    return "" if generic or head[0] in set(terms(f"{paper.title} {paper.text}")) else thing


def _thing(match: re.Match[str]) -> str:
    return str(match["one"] or match["two"] or match["three"] or match["four"])


def _whose(match: re.Match[str]) -> str:
    return str(match["of"] or match["who"] or match["whose"] or match["owner"] or "")


def speaking(question: str, sentences: Sequence[Labelled]) -> Sequence[Labelled]:
    """The sentences that speak of the one thing that a question asks for; else all of them.

    Of a paper that the question names, its own.
    """
    match = _ASKED.match(question.strip(" ?.!"))
    kind = _kind(_thing(match)) if match else ""
    if kind:
        cue = column(kind).strong
        kept = [item for item in sentences if cue.search(item.evidence.text)]
    elif alone := _ALONE.match(normalise(question)):
        wanted = set(terms(alone["thing"]))
        kept = [item for item in sentences if wanted <= set(terms(item.evidence.text))]
    else:
        return sentences
    return [item for item in kept if _names(question, item.paper)] or kept or sentences


def _kind(thing: str) -> str:
    """The known column that cue words tell surely."""
    words = content_words(thing)
    name = words[-1] if len(words) == 1 else ""
    kind = SYNONYMS.get(name) or SYNONYMS.get(name.removesuffix("s"), "")
    return kind if kind in _TOLD_BY_CUES else ""


def _is_generic(word: str) -> bool:
    return bool({word.casefold(), word.casefold().removesuffix("s")} & (GENERIC | SYNONYMS.keys()))


def _names(text: str, paper: Paper) -> bool:
    name = set(terms(short_name(paper)))
    return bool(name) and name <= set(terms(text))
