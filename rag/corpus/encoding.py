"""Which encoding bytes are in, and text free of what no store, terminal or JSON takes.

The rule, in this order:

1. A byte order mark decides: UTF-8, UTF-16 or UTF-32.
2. A NUL in every other byte of the head is UTF-16 without a mark.
3. Control characters in more than a quarter of the bytes are no text.
4. UTF-8, where the whole content keeps its rules, or where at least two characters beyond ASCII
   keep them for each byte that does not; those bytes become U+FFFD and are counted in a note.
   Real text in another encoding comes nowhere near: in Chinese, Japanese and Korean ones one
   character for three bytes looks like UTF-8 by accident, in Cyrillic and Latin ones hardly any.
5. Otherwise it is a guess, and a note says so: Windows-1252 where bytes beyond ASCII stand alone
   among ASCII letters, as accents do (other code pages of Latin letters are not told apart: Polish
   needs UTF-8); else what charset-normalizer makes of a sample of such lines.
   Control characters in more than 2 % of the bytes, or no guess, are no text.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

_BLOCK = 1 << 20
_SAMPLE = 1 << 20
_HEAD = 8192

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NAMES = {
    "cp1252": "Windows-1252 (Western European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "koi8_r": "KOI8-R (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "gb18030": "GB18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "cp932": "Shift-JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "cp949": "EUC-KR (Korean)",
}

_MOST_CONTROLS = 0.25
_MOST_CONTROLS_OF_A_GUESS = 0.02
_MOST_UNREADABLE = 0.1
_CHARACTERS_PER_BROKEN_BYTE = 2
_RUN_OF_ACCENTS = 1.5  # bytes beyond ASCII that stand together, on average; 3 and more elsewhere

_CONTROL = "\x00-\x08\x0b\x0c\x0e-\x1f"
_CONTROL_BYTES = bytes(code for code in range(32) if chr(code) not in "\t\n\r")
_UNWANTED = re.compile(rf"(?m:^[{_CONTROL}\ufeff]+)|[{_CONTROL}]+")
_HALF = re.compile("[\ud800-\udfff]")
_ENCODED_HALF = re.compile("\udced[\udca0-\udcbf][\udc80-\udcbf]")
_HIGH = re.compile(rb"[\x80-\xff]+")
_WHOLE = re.compile(rb".*[\x00-\x2f]", re.DOTALL)  # no encoding has these inside a character
_SELDOM_WESTERN = tuple(b"\x81\x82\x83\x84\x8d\x8f\x90")  # Japanese kana and Chinese begin so


@dataclass(frozen=True, slots=True)
class Encoding:
    """How bytes are to be decoded, with `errors="replace"`, and what is to be told about it.

    `controls`: the text holds characters that `without_controls` takes out.
    """

    codec: str
    notes: tuple[str, ...] = ()
    controls: bool = False


@dataclass(frozen=True, slots=True)
class _Census:
    """What reading everything in one encoding finds, in characters; `broken` in bytes for UTF-8."""

    size: int = 0
    beyond_ascii: int = 0
    broken: int = 0
    controls: int = 0
    halves: int = 0

    @property
    def is_utf8(self) -> bool:
        proof = self.beyond_ascii + 3 * _CHARACTERS_PER_BROKEN_BYTE * self.halves
        return proof >= _CHARACTERS_PER_BROKEN_BYTE * self.broken

    def has_more_controls_than(self, share: float) -> bool:
        return self.controls > share * self.size


def find_encoding(open_bytes: Callable[[], BinaryIO]) -> Encoding | None:
    """The encoding of the bytes by the rule above, or None where they are no text.

    All bytes are read, in blocks; memory does not grow with their number.
    """
    with open_bytes() as stream:
        codec = declared(stream.read(_HEAD))
    if codec.startswith("utf-8") or not codec:
        census = _take_utf8(open_bytes)
        if census.has_more_controls_than(_MOST_CONTROLS):
            return None
        if not codec and not census.is_utf8:
            return _guess(open_bytes, census)
        return _encoding(codec or "utf-8", census, "bytes that are not UTF-8")
    return _checked(codec, _take(open_bytes, codec), _MOST_CONTROLS)


def declared(head: bytes) -> str:
    """The codec that the first bytes show by a mark or by NULs in every other one, or nothing."""
    for mark, codec in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return codec
    pairs = len(head) // 2
    even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    many, few = max(8, 0.6 * pairs), 0.05 * pairs
    if odd > many and even < few:
        return "utf-16-le"
    return "utf-16-be" if even > many and odd < few else ""


def is_binary(head: bytes, *, utf8: bool) -> bool:
    """Whether the first bytes have more control characters than text in UTF-8 or else may have."""
    controls = len(head) - len(head.translate(None, _CONTROL_BYTES))
    return controls > (_MOST_CONTROLS if utf8 else _MOST_CONTROLS_OF_A_GUESS) * len(head)


def clean(text: str) -> tuple[str, tuple[str, ...]]:
    """`text` without control characters and halves of surrogate pairs, and notes on what was done.

    Control characters of ASCII other than tab and line ends vanish, those that are white space
    (form feed) become a space; so does a byte order mark that begins a line vanish. Half of a
    surrogate pair, which is no character, becomes U+FFFD.
    """
    if text.isprintable():  # most are, and it is told fast
        return text, ()
    cleaned, notes = without_controls(text), []
    if removed := _count_controls(text):
        notes.append(_removed(removed))
    if _HALF.search(cleaned):
        whole = cleaned.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        notes.append(_replaced(whole.count("\ufffd") - cleaned.count("\ufffd"), "half characters"))
        cleaned = whole
    return cleaned, tuple(notes)


def without_controls(text: str) -> str:
    """The part of `clean` that decoded bytes can need."""
    return _UNWANTED.sub(_stand_in, text)


def _stand_in(match: re.Match[str]) -> str:
    return " " if any(character.isspace() for character in match.group()) else ""


def _count_controls(text: str) -> int:
    return sum(map(len, _UNWANTED.findall(text)))


# --- reading everything once


def _blocks(open_bytes: Callable[[], BinaryIO]) -> Iterator[bytes]:
    with open_bytes() as stream:
        while block := stream.read(_BLOCK):
            yield block
    yield b""


def _take_utf8(open_bytes: Callable[[], BinaryIO]) -> _Census:
    """Each broken byte decodes to an escape, which nothing else does, and so can be counted."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
    size = beyond = broken = controls = halves = 0
    for block in _blocks(open_bytes):
        text = decoder.decode(block, final=not block)
        size += len(block)
        if len(block.translate(None, _CONTROL_BYTES)) < len(block) or "\ufeff" in text:
            controls += _count_controls(text)
        if not text.isascii():
            escapes = len(_HALF.findall(text))
            broken += escapes
            beyond += len(text) - len(text.encode("ascii", "ignore")) - escapes
            halves += len(_ENCODED_HALF.findall(text))
    return _Census(size, beyond, broken, controls, halves)


def _take(open_bytes: Callable[[], BinaryIO], codec: str) -> _Census:
    decoder = codecs.getincrementaldecoder(codec)("replace")
    size = broken = controls = 0
    for block in _blocks(open_bytes):
        text = decoder.decode(block, final=not block)
        size += len(text)
        broken += text.count("\ufffd")
        controls += _count_controls(text)
    return _Census(size, 0, broken, controls)


# --- guessing


def _guess(open_bytes: Callable[[], BinaryIO], census: _Census) -> Encoding | None:
    if census.has_more_controls_than(_MOST_CONTROLS_OF_A_GUESS):
        return None
    codec = _guess_codec(_sample(open_bytes))
    if not codec:
        return None
    note = f"taken for {_NAMES[codec]}, which is a guess: save it as UTF-8 if letters are wrong"
    found = _checked(codec, _take(open_bytes, codec), _MOST_CONTROLS_OF_A_GUESS)
    return found and replace(found, notes=(note, *found.notes))


def _sample(open_bytes: Callable[[], BinaryIO]) -> bytes:
    """The first lines that hold more than ASCII, ending with a whole character."""
    sample = bytearray()
    with open_bytes() as stream:
        while len(sample) < _SAMPLE and (line := stream.readline(_SAMPLE)):
            if not line.isascii():
                sample += line
    whole = _WHOLE.match(sample) if len(sample) >= _SAMPLE else None
    return whole.group() if whole else bytes(sample)


def _guess_codec(sample: bytes) -> str:
    runs = _HIGH.findall(sample)
    high = sum(map(len, runs))
    seldom = sum(map(sample.count, _SELDOM_WESTERN))
    if high < _RUN_OF_ACCENTS * len(runs) and seldom < 0.3 * high:
        return "cp1252"
    import charset_normalizer

    best = charset_normalizer.from_bytes(sample, cp_isolation=list(_NAMES)).best()
    return best.encoding if best and best.encoding in _NAMES else ""


def _checked(codec: str, census: _Census, most_controls: float) -> Encoding | None:
    if census.has_more_controls_than(most_controls):
        return None
    if census.broken > _MOST_UNREADABLE * census.size:
        return None
    return _encoding(codec, census, "unreadable characters")


def _encoding(codec: str, census: _Census, broken: str) -> Encoding:
    notes = []
    if census.broken:
        notes.append(_replaced(census.broken, broken))
    if census.controls:
        notes.append(_removed(census.controls))
    return Encoding(codec, tuple(notes), census.controls > 0)


def _removed(count: int) -> str:
    return f"control characters removed: {count:,}"


def _replaced(count: int, what: str) -> str:
    return f"{what}, replaced by \N{REPLACEMENT CHARACTER}: {count:,}"
