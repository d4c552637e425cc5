"""The list of kept conversations, as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from rag.display import as_typed
from rag.history import Conversation, Mention
from rag.page.answers import button, downloads

SHOWN = 200


def listed(found: Sequence[Conversation], current: int) -> str:
    """The conversations, newest first; the open one is told apart."""
    if not found:
        return '<p class="empty">Conversations are kept here.</p>'
    items = "".join(_item(one, one.id == current) for one in found[:SHOWN])
    more = f'<p class="empty">{len(found) - SHOWN} older ones: search for them.</p>'
    return f"<ul>{items}</ul>{more if len(found) > SHOWN else ''}"


def mentioned(found: Sequence[Mention], current: int) -> str:
    """The turns in which searched words stand, with the words around them."""
    if not found:
        return '<p class="empty">Nothing found.</p>'
    return f"<ul>{''.join(_mention(one, current) for one in found)}</ul>"


def _item(one: Conversation, current: bool) -> str:
    name = as_typed(one.name or "Without a name")
    day = f'<span class="day">{as_typed(one.updated[:10])} · {one.turns}</span>'
    mark = ' aria-current="true"' if current else ""
    return (
        f'<li class="talk"{mark}>'
        f'<button type="button" class="do name" name="open" value="{one.id}">{name}{day}</button>'
        f'<details class="menu"><summary aria-label="More about {name}">⋯</summary><div>'
        f"{button('rename', one.id, 'Rename', 'rename')}"
        f'<p class="head">Export</p>{downloads(one.id)}'
        f"<details><summary>Delete…</summary>"
        f"{button('delete', one.id, 'Delete for good', 'danger')}</details>"
        "</div></details></li>"
    )


def _mention(one: Mention, current: int) -> str:
    mark = ' aria-current="true"' if one.conversation.id == current else ""
    return (
        f'<li class="talk"{mark}><button type="button" class="do name" name="open"'
        f' value="{one.conversation.id}#turn-{one.turn}">{as_typed(one.conversation.name)}'
        f'<span class="day">{as_typed(one.excerpt)}</span></button></li>'
    )
