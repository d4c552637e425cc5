"""Claims without links: what a text points to is shown as words, and no client makes a link of it.

A claim may be shown by any client of the server, and many turn Markdown, HTML and bare addresses
into links and images, which are fetched without a click: a way out for whatever a planted abstract
wants told (EchoLeak, CVE-2025-32711). Papers are linked from their stored addresses only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]{0,400})\]\(\s*<?([^()\s<>]{1,2000})>?[^()]{0,400}\)")
_REFERENCE = re.compile(r"!\[([^\[\]]{0,400})\](?:\s?\[[^\[\]]{0,200}\])?")
_TAG = re.compile(
    r"</?(?:a|img|image|video|audio|source|iframe|object|embed|link|form|svg|style|script|base|meta"
    r"|picture|input|button)\b[^<>]{0,2000}>?",
    re.IGNORECASE,
)
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto|data|javascript):[^<>\s]{1,2000})>", re.IGNORECASE)
_SCHEME = re.compile(
    r"(?:https?|ftp|file)\s{0,3}:\s{0,3}//(?=\S)|\bdata:(?=\w{1,30}/)"
    r"|\b(?:javascript|mailto):(?=\S)|\bwww\.(?=\w)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:\b(?:https?|ftp)://|\bwww\.)[^\s<>()\[\]\"']{1,2000}", re.IGNORECASE)


def without_links(text: str) -> str:
    """`text` with the words and addresses of its links, and nothing that makes them links."""
    if not any(sign in text for sign in (":", "[", "<", "www.")):
        return text
    text = _IMAGE_OR_LINK.sub(lambda m: f"{m[1]} ({m[2]})".strip(), text)
    text = _REFERENCE.sub(r"\1", text)
    text = _TAG.sub("", _AUTOLINK.sub(r"\1", text))
    while (bare := _SCHEME.sub("", text)) != text:
        text = bare
    return text


def without_foreign(text: str, sentences: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """A claim without the links and addresses that none of its sentences has, and these.

    An address that a model adds is no source: it would send the reader, or the reader's client,
    to wherever a planted text wants. Tags go whole, since the address stands inside them.
    """
    if not any(sign in text for sign in ("://", "www.", "](", "<")):
        return text, ()
    held = " ".join(sentences)
    foreign: dict[str, None] = {}

    def judged(match: re.Match[str]) -> str:
        whole = match.group()
        if whole in held:
            return whole
        addresses = _ADDRESS.findall(whole) or [match.group(match.lastindex or 0)]
        foreign.update(dict.fromkeys(without_links(one.strip()) for one in addresses))
        return ""

    for pattern in (_IMAGE_OR_LINK, _AUTOLINK, _TAG, _ADDRESS):
        text = pattern.sub(judged, text)
    return " ".join(text.split()), tuple(filter(None, foreign))
