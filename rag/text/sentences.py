"""Sentences of a text, as stretches of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Possessive, and tried only where a run of marks begins: else a line of dots costs its square.
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_}]*+(?=\s|$)|[。！？]+[」』”’）】]*|．(?!\d)")
_MARKS = re.compile(r"[.!?…]+|[。！？]+|．")  # where `_END` may begin, found faster than by it
_NEW_ITEM = re.compile(r"\n(?=\s*(?:[-*•–]|\(?\d{1,2}[.)])\s)|\n\s*\n")
MATHS = re.compile(
    r"\$\$.{1,1000}?\$\$|\\\(.{1,400}?\\\)|\\\[.{1,1000}?\\\]"
    r"|(?<!\\)\$(?=\S)(?:\\.|[^$\\\n]){0,400}?(?<=\S)(?<!\\)\$(?!\d)",
    re.DOTALL,
)
_BRACKETS = re.compile(
    r"\([^()\n]{1,400}\)|\[[^\[\]\n]{1,400}\]|（[^（）\n]{1,400}）|「[^「」]*」|『[^『』]*』"
)
_CJK = re.compile(
    "[\u3001-\u3098\u309b-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff01-\uff65]"
)
_COMMA = re.compile("[，、；：]")
_MOST_CJK = 240  # of the 254 word pieces that an embedding model reads
_MARK, _NEAR = 16, 80  # how far around a mark it is read, in characters
_IS_QUOTED = re.compile(r"[」』”][とっ、，]")  # the quotation goes on: 「はい。」と言った。
_WORD_BEFORE = re.compile(r"(\S+)$")
_OPENERS = "\"'“‘«([*_{$"

_NEVER_END = frozenset(
    "e.g i.e cf vs viz approx resp fig figs eq eqs sec secs ch tab tabs ref refs thm def prop lem "
    "cor app alg no nos vol vols pp p ca c.f incl dr prof mr mrs ms st dept univ".split()
)
_SELDOM_END = frozenset(
    "al etc u.s u.k ph.d i.i.d w.r.t a.k.a s.t inc ltd co corp jr sr a.m p.m b.sc m.sc".split()
)
_STARTERS = frozenset(
    "a an the this these those that we our it its they their he she you i in on at by for from to "
    "with as while when where since because although though if unlike despite given using based "
    "here there then thus hence therefore moreover furthermore additionally also besides finally "
    "first second third next however yet but and or so still instead conversely results "
    "experiments extensive empirically theoretically specifically notably existing recent prior "
    "previous current compared across under over after before during through both each all many "
    "most some such one two three several to what how why which can does is are".split()
)


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Offsets of the sentences of `text`, in order, without the white space between them.

    Everything that is not white space belongs to exactly one sentence. A full stop ends none
    inside `$…$` or brackets, after an abbreviation or an initial, in a decimal, or before a word
    in lower case. A run of CJK characters longer than an embedding model reads is cut at a comma,
    or where it must be.
    """
    masked = _masked(text)
    items = {match.start() for match in _NEW_ITEM.finditer(text) if not masked[match.start()]}
    cuts = []
    begin = 0
    for end in sorted([*items, *_ends(text)]):
        if end in items or (not masked[end - 1] and _ends_sentence(text, begin, end)):
            cuts.append(end)
            begin = end
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(text)], strict=True):
        if end - start > _MOST_CJK:
            cuts.extend(_cuts_of_a_long_run(text, start, end))
    return list(_spans(text, sorted(set(cuts))))


def _cuts_of_a_long_run(text: str, start: int, end: int) -> Iterator[int]:
    """Where to cut so that no stretch has more than 240 CJK characters, each a word piece."""
    places = [match.start() for match in _CJK.finditer(text, start, end)]
    while len(places) > _MOST_CJK:
        limit = places[_MOST_CJK]
        commas = [mark.end() for mark in _COMMA.finditer(text, places[_MOST_CJK // 2], limit)]
        cut = commas[-1] if commas else limit
        yield cut
        places = [place for place in places if place >= cut]


def _ends(text: str) -> Iterator[int]:
    for marks in _MARKS.finditer(text):
        if found := _END.match(text, marks.start()):
            yield found.end()


def _masked(text: str) -> bytearray:
    """1 for each character inside maths or brackets, save their closing character."""
    mask = bytearray(len(text) + 1)
    maths = (MATHS,) if "$" in text or "\\" in text else ()
    for pattern in (*maths, _BRACKETS):
        for match in pattern.finditer(text):
            start, end = match.span()
            mask[start : end - 1] = b"\x01" * (end - 1 - start)
    return mask


def _spans(text: str, cuts: list[int]) -> Iterator[tuple[int, int]]:
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        piece = text[start:end]
        if stripped := piece.strip():
            first = start + piece.index(stripped[0])
            yield first, first + len(stripped)


def _ends_sentence(text: str, begin: int, end: int) -> bool:
    """Whether the mark that ends at `end` closes the sentence that began at `begin`."""
    mark = text[max(begin, end - _MARK) : end].rstrip("\"'”’»)]*_}」』）】")[-1:]
    if mark in "。！？．":
        return not _IS_QUOTED.match(text, end - 1)
    following = text[end : end + _NEAR].lstrip().lstrip(_OPENERS)
    if not following:
        return True
    word = _WORD_BEFORE.search(text, max(begin, end - _NEAR), end)
    stem = word.group(1).strip(_OPENERS + ")]”’»*_}.!?…") if word else ""
    if mark == "." and _is_list_number(text, begin, end, stem):
        return False
    if mark == "." and (doubt := _doubt(stem)):
        return doubt == "seldom" and _starts_sentence(following)
    return _may_begin(following)


def _is_list_number(text: str, begin: int, end: int, stem: str) -> bool:
    short = end - begin < _NEAR and text[begin:end].strip(" \n()*_.") == stem
    return short and bool(re.fullmatch(r"\d{1,2}|[ivxIVX]+", stem))


def _doubt(stem: str) -> str:
    """How a full stop after `stem` is to be read: "never" an end, "seldom" one, or ""."""
    low = stem.lower().rsplit("(", 1)[-1]
    if low in _NEVER_END:
        return "never"
    if low in _SELDOM_END or (len(stem) == 1 and stem.isalpha() and stem.isupper()):
        return "seldom"
    return ""


def _starts_sentence(following: str) -> bool:
    word = re.match(r"[^\W\d_]+", following)
    return bool(word and word.group()[0].isupper() and word.group().lower() in _STARTERS)


def _may_begin(following: str) -> bool:
    """A capital, a digit, a command or a script without case; or a name like mRNA or k-means."""
    if not following[0].islower():
        return following[0] not in ",;:"
    word = re.match(r"[\w-]+", following)
    return bool(word and re.search(r"[A-Z0-9]|^\w-", word.group()))
