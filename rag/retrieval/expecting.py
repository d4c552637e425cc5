"""What kind of thing would answer a question, by its words, and which sentences give one; pure.

The expected answer type of question answering (Li and Roth 2002), as far as a few words tell it
surely: a name, as in "which framework …?", an amount, or an address of the web. The question of a
reader who does not know a paper's words finds the paper; which of its sentences answers is told
rather by what they give than by what they share.
"""

from __future__ import annotations

import re
from typing import Literal

Expected = Literal["name", "amount", "address"]

_COINED = 0.1  # for each of the two signs of a sentence that gives something its name
_GIVEN = 0.5

_THINGS = (
    r"(?:method|approach|algorithm|framework|scheme|system|model|tool|technique|procedure|recipe"
    r"|benchmark|data ?set|corpus|yardstick|mechanism|module|unit|variant|stack|optimi[sz]er"
    r"|strategy|strategies|safeguard|defen[cs]e|attack|trick|setting|rule|generator|adversary|test"
    r"|metric|measure|network|architecture|paradigm|pipeline|habit|pathology|property|quality"
    r"|phenomenon|effect|bias|drift|failure mode|estimator|planner|agent|library|protocol)s?"
)
_NAME = re.compile(
    rf"\b(?:which|what)(?:'s| is the| are the)?(?: [\w'’-]+){{0,4}}? {_THINGS}\b"
    r"|\b(?:called|named|termed|dubbed|call (?:it|this|that|them)|go(?:es)? by|names?)\b"
    r"|\b(?:welche[rsmn]?|quel(?:le)?s?|qué|cuál|qual|quais)\b(?: [\w-]+){0,3}? "
    r"(?:m[eé]thode?|m[eé]todo|verfahren|ansatz|algorith?me?|algoritmo|approche|enfoque|modell?o?"
    r"|modèle|système|sistema|system|rahmen\w*|framework|benchmark|datensatz|technique|técnica)\w*"
    r"|(?:哪|什么|何).{0,3}(?:方法|框架|算法|模型|系统|基准|数据集|机制)|叫什么|名称",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"\bhow (?:many|much|few|large|small|long|short|often|high|low|fast|big|far|deep|wide)\b"
    r"|\b(?:what|which)\b.{0,40}\b(?:scores?|rates?|accurac\w+|percent\w*|number|values?|share"
    r"|fraction|proportion|span|range|factor|amount|ratio|speed-?up|size|improvement|gain|increase"
    r"|decrease|reduction|drop)\b"
    r"|\b(?:wie ?viele?|combien|cu[aá]nt[oa]s?|quant[oa]s?)\b|多少|几个|几种|比例|いくつ|何個",
    re.IGNORECASE,
)
_GIVES_NAME = re.compile(
    r"\b(?:propos|introduc|present|develop|devis|design|call|term|dub|nam|defin|formali[sz]|identif"
    r"|observ|refer)\w*\b|\bknown as\b",
    re.IGNORECASE,
)
_IS_NAME = re.compile(r"\b(?:[A-Z][a-z]*[A-Z]\w*|[A-Z]{2,}[\w-]*)|[*_]\w|\\(?:text|emph)|[\"“]")
_DIGIT = re.compile(r"\d")
_ADDRESS = re.compile(
    r"\b(?:web ?(?:address|site|page)|url|link to|home ?page|e-?mail address)\b"
    r"|\bwhere\b.*\b(?:code|data(?:set)?|weights|demo|implementation|model|download\w*)\b",
    re.IGNORECASE,
)
_AN_ADDRESS = re.compile(r"https?:|www\.|\\(?:url|href)|\b\w+\.(?:io|com|org|net|edu|ai)\b|@")


def expected(question: str) -> frozenset[Expected]:
    """What would answer a question: a name, an amount, an address, or several of them."""
    found: set[Expected] = set()
    if _NAME.search(question):
        found.add("name")
    if _AMOUNT.search(question):
        found.add("amount")
    if _ADDRESS.search(question):
        found.add("address")
    return frozenset(found)


def gives(sentence: str, wanted: frozenset[Expected]) -> float:
    """How much more a sentence is wanted for giving what is expected; of the size of a cosine."""
    more = 0.0
    if "name" in wanted:
        signs = bool(_GIVES_NAME.search(sentence)) + bool(_IS_NAME.search(sentence))
        more += _COINED * signs
    if "amount" in wanted and _DIGIT.search(sentence):
        more += _GIVEN
    if "address" in wanted and has_address(sentence):
        more += _GIVEN
    return more


def has_address(text: str) -> bool:
    """Whether an address of the web or of mail stands in a text."""
    return bool(_AN_ADDRESS.search(text))
