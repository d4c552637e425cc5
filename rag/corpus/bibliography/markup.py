"""The tags of JATS and HTML that exports leave in titles and abstracts."""

from __future__ import annotations

import html
import re

_INLINE = "i|b|em|strong|sub|sup|u|tt|code|span|a|font|small|italic|bold|sc|inf|scp"
_BLOCK = "p|div|sec|section|title|abstract|h[1-6]|li|ul|ol|list|list-item"
_NAMED = re.compile(
    rf"<(?P<end>/?)(?P<name>jats:[a-z][\w-]*|{_BLOCK}|{_INLINE})(?:\s[^<>]*)?>", re.IGNORECASE
)
_MATHML = re.compile(r"<mml:math\b[^<>]*>(?:[^<]|<(?!/?mml:math\b))*</mml:math\s*>")
_BOUND = re.compile(rf"</?(?:jats:)?(?:{_BLOCK})(?:\s[^<>]*)?>|<br\s{{0,9}}/?>", re.IGNORECASE)
_TAG = re.compile(
    rf"</?(?:jats:[a-z][\w-]*|mml:\w+|{_BLOCK}|{_INLINE}|br)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
_HEADING = re.compile(r"\A(?:abstract|summary)\n+(?=\S)", re.IGNORECASE)


def without_markup(text: str) -> tuple[str, tuple[str, ...]]:
    """`text` without the tags of JATS or HTML, where it clearly is markup; else as it stands.

    It is where a tag of these languages is opened and closed; `a < b > c` and `<s>` are not.
    The bounds of paragraphs become line ends, and a heading that only says "Abstract" goes.
    """
    marked = html.unescape(text) if "&lt;jats:" in text or "&lt;/p&gt;" in text else text
    if "<" not in marked or not _has_pair(marked):
        return text, ()
    if "<jats:tex-math" in marked:
        marked = _MATHML.sub("", marked)
    stretches = (stretch.strip() for stretch in _BOUND.split(marked))
    marked = "\n".join(stretch for stretch in stretches if stretch)
    plain = html.unescape(_TAG.sub("", marked)).strip()
    return _HEADING.sub("", plain), ("JATS or HTML tags removed",)


def _has_pair(text: str) -> bool:
    """Whether a tag is closed that was opened before."""
    opened: set[str] = set()
    for tag in _NAMED.finditer(text):
        name = tag["name"].lower()
        if tag["end"] and name in opened:
            return True
        if not tag["end"]:
            opened.add(name)
    return False
