"""What is seen of a text that may hold orders to a model: words, form and characters; pure.

Each feature is 0 or 1 or a share in [0, 1], so that a regression over them is easily read. They
say what an order looks like, in the languages that attacks are mostly written in; what a text is
about is left to its embedding.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields

from rag.guarding.planted import hidden, instruction

_LONG = math.log(1_000)
"""Words from which a text is as long as counts."""

_WORD = re.compile(r"[^\W\d_]+")
_COMMAND = re.compile(
    r"(?:^|[.!?:;\n\"'“”*#>)\]-]\s*)(?:please |now |just |instead,? |first,? |then |kindly )*"
    r"(?:ignore|disregard|forget|overlook|override|bypass|repeat|print|output|reveal|show|display"
    r"|tell|give|say|state|write|reply|respond|answer|translate|act|pretend|imagine|assume|roleplay"
    r"|role-play|enter|switch|activate|enable|execute|run|decode|encode|convert|reverse|rewrite"
    r"|summari[sz]e|modify|insert|include|append|add|incorporate|use|replace|substitute|swap"
    r"|misspell|remove|group|capitali[sz]e|present|provide|do not|don't|never|always|let's|stop"
    r"|begin|start|continue|complete|follow|concatenate|combine|ignoriere|ignora|oublie|ignorez"
    r"|vergiss|olvida)\b",
    re.IGNORECASE,
)
_YOU = frozenset(
    "you your yours yourself youre ur du dein deine ihnen ihr ihre dir tu tus usted vos vous votre"
    " vas você seu sua вы ваш ты".split()
)
_REPLY = frozenset(
    "answer answers reply replies response responses output outputs message messages summary prompt"
    " prompts instruction instructions directive directives conversation text sentence word words"
    " letter letters antwort respuesta réponse resposta".split()
)
_MODEL = frozenset(
    "ai assistant chatbot bot gpt llm chatgpt model system admin administrator developer mode"
    " override debug maintenance simulation".split()
)
_SECRET = frozenset(
    "secret password passwords key confidential private reveal hidden code token credentials"
    " passwort contraseña geheim".split()
)
_RULES = frozenset(
    "previous prior above earlier preceding initial original ignore disregard forget overlook"
    " bypass override rules rule restrictions guidelines".split()
)
_MARKUP = re.compile(
    r"</?[a-z!][^<>]{0,200}>|```|\{\{|\[\[|<\||^\s*#{1,6} |={3,}|-{4,}|\*{3,}", re.I
)
_ENCODED = re.compile(r"[\w+/]{24,}={0,2}|\\x[0-9a-f]{2}|(?:\b[01]{8}\b\s*){2}|%[0-9a-f]{2}", re.I)
_ADDRESS = re.compile(r"https?://|www\.|\b[\w-]+\.(?:com|net|org|io|xyz)\b", re.I)
_QUOTED = re.compile(r"[\"“”«»]|(?<!\w)'|'(?!\w)")


@dataclass(frozen=True, slots=True)
class Features:
    """What is seen of a text; shares are of its words, times five and at most 1."""

    order: float
    hidden: float
    command: float
    you: float
    reply: float
    model: float
    secret: float
    rules: float
    markup: float
    encoded: float
    address: float
    quoted: float
    question: float
    length: float


NAMES = tuple(field.name for field in fields(Features))


def features(text: str) -> Features:
    """See `Features`."""
    words = [word.casefold() for word in _WORD.findall(text)]

    def share(of: frozenset[str]) -> float:
        return min(1.0, 5 * sum(word in of for word in words) / max(len(words), 1))

    return Features(
        order=float(bool(instruction(text))),
        hidden=float(bool(hidden(text))),
        command=float(bool(_COMMAND.search(text))),
        you=share(_YOU),
        reply=share(_REPLY),
        model=share(_MODEL),
        secret=share(_SECRET),
        rules=share(_RULES),
        markup=float(bool(_MARKUP.search(text))),
        encoded=float(bool(_ENCODED.search(text))),
        address=float(bool(_ADDRESS.search(text))),
        quoted=float(bool(_QUOTED.search(text))),
        question=float("?" in text),
        length=min(1.0, math.log(1 + len(words)) / _LONG),
    )
