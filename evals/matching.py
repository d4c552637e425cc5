"""Whether a response holds the answers that a question requires, however they are written.

Abstracts mix LaTeX, Markdown and typographic signs, and a response may use either form, so both
sides are brought to one before they are compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

_SIGNS = {"\\textasciitilde": "~", "\\sim": "~", "\\times": "×"}
_COMMAND = re.compile(r"\\(?:text(?:bf|it)?|emph|math(?:rm|cal|bf)|tilde)\s*\{([^{}]*)\}")
_PERCENT = re.compile(r"(\d)\s*(?:percent|per cent|prozent|por ciento|pour cent)\b")
_HYPHEN = re.compile("[‐‑‒–—―−-]")


def normalised(text: str) -> str:
    """`text` in the form in which answers are compared."""
    for sign, character in _SIGNS.items():
        text = text.replace(sign, character)
    for _ in range(3):
        text = _COMMAND.sub(r"\1", text)
    text = unicodedata.normalize("NFKC", text).replace("Õ", "O").replace("õ", "o")
    text = re.sub(r"[\\$*_`]", "", text.replace("×", "x").lower())
    text = _HYPHEN.sub(" ", _PERCENT.sub(r"\1%", text)).replace("’", "'").replace("‘", "'")
    text = re.sub(r"(\d)\s+(%|x\b)", r"\1\2", text)
    return " ".join(text.split())


def holds(response: str, answer: str) -> bool:
    """Whether `answer` stands in `response` as a whole word or number, plural allowed."""
    wanted = normalised(answer)
    if not wanted:
        return False
    before = r"(?<![a-z0-9])(?<!\d[.,])" if wanted[0].isalnum() else ""
    after = r"(?:s|es)?(?![a-z0-9]|[.,]\d)" if wanted[-1].isalnum() else ""
    return re.search(before + re.escape(wanted) + after, normalised(response)) is not None


def is_right(item: Mapping[str, Any], response: str) -> bool:
    """Whether a response holds the answers of a suite's item: all of them, or any, as it says."""
    aliases = item.get("aliases") or {}
    found = [
        any(holds(response, form) for form in [answer, *aliases.get(answer, [])])
        for answer in item["answers"]
    ]
    return all(found) if item["must_all"] else any(found)
