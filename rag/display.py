"""Text of papers, models and readers as HTML that is ours alone.

Papers, models and readers are untrusted: whatever they wrote is escaped, and every tag in the
result was written here. There is no line break in it, so that no Markdown is read into it. Maths
stands between two pairs of characters that no text keeps, and only what stands there is given to
KaTeX: a dollar sign is money until it was found to be maths.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from rag.schema import Sentence
from rag.text import MATHS, is_money, plain, printable

INLINE_MATHS = ("\ue000", "\ue001")
BLOCK_MATHS = ("\ue002", "\ue003")

_DOLLAR = "\ue004"
_TAGS = {
    "\ue006": "<strong>",
    "\ue007": "</strong>",
    "\ue008": "<em>",
    "\ue009": "</em>",
}
_OURS = re.compile("[\ue000-\ue00f]")
_MAX_MATHS, _MAX_NESTING = 600, 12
_UNSAFE_MATHS = re.compile(
    r"\\(?:href|url|includegraphics|html\w+|class|cssId|[gex]?def|let|futurelet|global|long"
    r"|(?:re)?newcommand|providecommand|rule|m?kern|[hmv]skip|[hv]space|raisebox|smash|mathllap"
    r"|mathrlap|mathclap|llap|rlap|clap|char|verb|tag|Huge|huge|Large|LARGE)(?![A-Za-z])|\\\\\s*\["
)
_STRONG = re.compile(r"(?<![\w*])(\*\*|__)(?=\S)([^*\n]{1,400}?)(?<=\S)\1(?![\w*])")
_EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=\S)([^*_\n]{1,400}?)(?<=\S)\1(?![\w*])")


def inline(text: str) -> str:
    """Running text: maths kept for KaTeX, emphasis as emphasis, LaTeX's commands undone."""
    text = _OURS.sub("", printable(text.replace("\n", " ")))
    pieces: list[str] = []
    end = 0
    for match in MATHS.finditer(text):
        pieces += [_prose(text[end : match.start()]), _maths(match.group())]
        end = match.end()
    return "".join([*pieces, _prose(text[end:])])


def highlighted(text: str, spans: Iterable[Sentence], name: str = "") -> str:
    """`text` with `<mark>` around its parts at the offsets of `spans`.

    With a name each mark has an id, the name and the offset at which its span begins.
    """
    pieces: list[str] = []
    end = 0
    for span in sorted(spans, key=lambda span: span.start):
        start = max(span.start, end)
        if start < span.end <= len(text):
            mark = f'<mark id="{name}-{span.start}">' if name else "<mark>"
            pieces += [inline(text[end:start]), f"{mark}{inline(text[start : span.end])}</mark>"]
            end = span.end
    return "".join([*pieces, inline(text[end:])])


def as_typed(text: str) -> str:
    """Text that nothing is read into, its line breaks kept."""
    lines = _OURS.sub("", text.replace("\r\n", "\n")).split("\n")
    return "<br>".join(_escaped(printable(line)) for line in lines)


def short(text: str, most: int = 80) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rstrip()}…"


def _prose(text: str) -> str:
    """What stands between maths, with the white space at its ends."""
    text = re.sub(r"\s+", " ", text)
    if not text.strip():
        return text
    text = _STRONG.sub("\ue006\\2\ue007", text)
    text = _EMPHASIS.sub("\ue008\\2\ue009", text)
    text = text.replace(r"\$", _DOLLAR).replace("$", _DOLLAR)
    first = text[0] if text[0] == " " else ""
    last = " " if text[-1] == " " else ""
    text = _escaped(plain(text).replace(_DOLLAR, "$"))
    for character, tag in _TAGS.items():
        text = text.replace(character, tag)
    return _balanced(f"{first}{text}{last}")


def _balanced(text: str) -> str:
    """Emphasis that overlaps would close in the wrong order: then there is none."""
    opened: list[str] = []
    for slash, name in re.findall(r"<(/?)(strong|em)>", text):
        if not slash:
            opened.append(name)
        elif not opened or opened.pop() != name:
            return re.sub(r"</?(?:strong|em)>", "", text)
    return text if not opened else re.sub(r"</?(?:strong|em)>", "", text)


def _maths(text: str) -> str:
    """What KaTeX may have; what it had better not is shown as text."""
    size = 2 if text.startswith("$$") or text[0] == "\\" else 1
    body = text[size:-size].strip()
    if not body or is_money(text):
        return _escaped(text)
    if len(body) > _MAX_MATHS or _nesting(body) > _MAX_NESTING or _UNSAFE_MATHS.search(body):
        return _escaped(plain(text))
    left, right = BLOCK_MATHS if text.startswith(("$$", r"\[")) else INLINE_MATHS
    return f"{left}{_escaped(body)}{right}"


def _nesting(text: str) -> int:
    depth = deepest = 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        deepest = max(deepest, depth)
    return deepest


def _escaped(text: str) -> str:
    """Escaped, and without the sign that gradio's own placeholders for maths begin with."""
    return html.escape(text).replace("%", "&#37;")
