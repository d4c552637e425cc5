"""Signs that a text was planted: written to be retrieved, or to instruct whatever model reads it.

Whoever can add an abstract to a collection can try to steer its answers (PoisonedRAG,
arXiv:2402.07867; indirect prompt injection, arXiv:2302.12173). An abstract reports; it does not
repeat itself, does not speak to its reader of "your answer", and holds no characters that nobody
sees. Signs only: a text that has one is taken like any other, and told of. An attack that reads
like an abstract shows none of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby, product

from rag.schema import Paper

_REPEATED = 3  # times that one sentence may not stand in a text; in SciFact none does
_SENTENCE_WORDS = 4  # fewer make a heading, which may come again
_STUFFED_SHARE = 0.25  # of all words that are one word; in SciFact it is .11 at most
_STUFFED_WORDS = 40  # words from which a share says something
_SHORTEST = 3  # letters of a word that counts as one
_RUN = 6  # times that one word stands after itself; in SciFact 4 at most

_QUOTED = 80  # characters of what is found that are told

_WORD = re.compile(r"\w+")
_HIDDEN = re.compile("[\u202d\u202e\U000e0000-\U000e007f]")
_ENCODED = re.compile(r"(?<![\w/.])[\w+/]{64,}")
_OF_BASE64 = tuple(map(re.compile, (r"\d", r"[A-Z]", r"[a-z]")))  # each of them stands there

_PRIOR = r"(?:previous|prior|preceding|above|earlier|other|initial|original|your|these|those|all)"
_ORDERS = (
    r"(?:instruction|direction|directive|prompt|command|guideline|rule|programming|training)s?"
)
_TOLD = r"(?:you(?:'ve|'re)? (?:have |are |were )?(?:been )?(?:told|given|instructed|asked|said))"
_MODEL = r"(?:AI|assistant|(?:large )?language model|LLM|chat ?bot|bot)"
_REPLY = r"(?:answers?|repl(?:y|ies)|responses?|outputs?|summary|messages?|reviews?|password)"


_Rule = tuple[tuple[str, ...], re.Pattern[str]]


def _rule(keys: Iterable[str], pattern: str) -> _Rule:
    """A pattern in which a space is any white space, and words of which a match holds one."""
    compiled = re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE | re.MULTILINE)
    return tuple(keys), compiled


_IGNORE = ("ignore", "disregard", "overlook", "forget", "override", "bypass")
_ROLES = ("system", "assistant", "instruction", "instructions", "user")


@cache
def _rules() -> tuple[_Rule, ...]:
    """Made when a text is read first: it takes as long as reading a hundred of them."""
    return (
        _rule(
            _IGNORE,
            rf"\b(?:{'|'.join(_IGNORE)})\b[^.!?]{{0,40}}?"
            rf"\b(?:{_PRIOR} [^.!?]{{0,24}}?{_ORDERS}|{_TOLD})\b",
        ),
        _rule(
            _IGNORE,
            rf"\b(?:{'|'.join(_IGNORE)}) (?:all |any )?(?:of )?(?:the |these )?other "
            r"(?:papers|abstracts|sources|documents|passages|sentences)\b(?! on| that| of)",
        ),
        _rule(["your"], rf"\byour (?:\w+ ){{0,2}}(?:{_REPLY}|{_ORDERS})\b"),
        _rule(
            ["system prompt", "system_prompt", "systemprompt", "system message"],
            r"\b(?:you|your|show|repeat|reveal|output|print|display)\b[^.!?]{0,60}"
            r"\bsystem(?: |_)?(?:prompt|message)",
        ),
        _rule(
            ["you are", "you're", "act as", "pretend to be"],
            r"\b(?:you are|you're|act as|pretend to be) (?:now )?(?:an? |the |my )?"
            rf"(?:\w+ ){{0,3}}{_MODEL}\b",
        ),
        _rule(
            ["if asked", "when asked", "user asks"],
            r"\b(?:when|if) (?:asked|(?:the|a) user asks)\b[^.!?]{0,80}"
            r"\b(?:answer|reply|respond|say|state)\b",
        ),
        _rule(
            map(" ".join, product(["answer", "reply", "respond"], ["only", "always", "exactly"])),
            r"\b(?:answer|reply|respond) (?:only|always|exactly)\b",
        ),
        _rule(
            map(
                " ".join, product(["always", "only", "not", "don't", "never"], ["cite", "mention"])
            ),
            r"\b(?:always|only|do not|don't|never) (?:cite|mention)"
            r" (?:this|only|any|other|the following|these)\b",
        ),
        _rule(["positive review"], r"\b(?:give|write|output) (?:\w+ ){0,2}positive reviews?\b"),
        _rule(["as an ai"], r"\bas an AI\b"),
        _rule(["end of"], r"\bend of (?:context|documents?|(?:system )?prompt)\b"),
        _rule(["<|", "inst]", "sys>>"], r"<\|\w{2,20}\|>|\[/?INST\]|<</?SYS>>"),
        _rule(
            [*(f"{role}:" for role in _ROLES), *(f"{role}>" for role in _ROLES), "mode>"],
            rf"^\s*(?:#{{1,4}} ?)?(?:{'|'.join(_ROLES)}):|<\s*/?(?:system|assistant|user)>"
            r"|<(?:\w+ )?mode>",
        ),
    )


def signs(paper: Paper) -> tuple[str, ...]:
    """What about a paper is of that kind, in words for a reader; mostly nothing."""
    return tuple(_signs(paper))


def _signs(paper: Paper) -> Iterator[str]:
    meta = paper.meta
    title = "" if paper.title_derived else paper.title
    whole = "\n".join(filter(None, [title, *meta.authors, meta.venue, *meta.keywords, paper.text]))
    if unseen := hidden(whole):
        yield f"{unseen} characters that nobody sees"
    if order := instruction(whole):
        yield f"an instruction: “{order}”"
    if any(all(kind.search(run) for kind in _OF_BASE64) for run in _ENCODED.findall(whole)):
        yield "a long run of encoded characters"
    if times := _most_repeated(paper):
        yield f"the same sentence {times} times"
    if word := _stuffed_with(paper.text):
        yield f"the word “{word}” over and over"


def instruction(text: str) -> str:
    """The first words that are no report but an order to whoever reads them; mostly none."""
    lower = " ".join(text.casefold().split())
    for keys, pattern in _rules():
        if any(key in lower for key in keys) and (found := pattern.search(text)):
            return " ".join(str(found.group()).split())[:_QUOTED]
    return ""


def hidden(text: str) -> int:
    """How many characters of a text hold a message that nobody sees, or turn what is seen round."""
    return len(_HIDDEN.findall(text))


def _most_repeated(paper: Paper) -> int:
    """How often the sentence stands in a text that comes most; 0 where that is not too often."""
    said = [" ".join(_WORD.findall(one.text.casefold())) for one in paper.sentences]
    if len(said) - len(set(said)) < _REPEATED - 1:
        return 0
    times = [n for one, n in Counter(said).items() if one.count(" ") + 1 >= _SENTENCE_WORDS]
    return max((n for n in times if n >= _REPEATED), default=0)


def _stuffed_with(text: str) -> str:
    """The word that makes up too much of a text, or stands too often after itself; mostly none."""
    words: list[str] = _WORD.findall(text.casefold())
    long = Counter(word for word in words if len(word) >= _SHORTEST)
    word, times = max(long.items(), key=lambda one: one[1], default=("", 0))
    if len(words) >= _STUFFED_WORDS and times > _STUFFED_SHARE * len(words):
        return word[:_QUOTED]
    if times < _RUN:
        return ""
    runs = ((word, sum(1 for _ in run)) for word, run in groupby(words))
    return next((word[:_QUOTED] for word, times in runs if times >= _RUN and word in long), "")
