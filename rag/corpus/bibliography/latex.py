r"""LaTeX in metadata as plain text: accents, named letters and signs decoded, maths kept.

Written here because neither library holds the table of `tests/test_corpus_bibliography.py`.
latexcodec 3.0 leaves the braces (`{ö}`), does not read `\'{\i}` or `\~{\^e}` and decodes inside
maths. pylatexenc 2.11 takes an unescaped per cent for a comment and loses the rest of the line,
loses `\textless`, `\LaTeX` and `\verb|x|`, fails on `\href{…}{…}` and on deep nesting, and needs
5 µs for a character. What is not known here keeps its name or its argument: nothing is lost.
"""

from __future__ import annotations

import re
import unicodedata

from rag.text import MATHS

_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306",
    ".": "\u0307", '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "d": "\u0323",
    "c": "\u0327", "k": "\u0328", "b": "\u0331", "h": "\u0309", "f": "\u0311", "t": "\u0361",
}  # fmt: skip
_NAMED = {
    "ss": "ß", "SS": "ẞ", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ",
    "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð",
    "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ", "ng": "ŋ", "NG": "Ŋ", "P": "¶", "S": "§",
    "copyright": "©", "pounds": "£", "euro": "€", "texteuro": "€", "dag": "†", "dots": "…",
    "ldots": "…", "textellipsis": "…", "textendash": "–", "textemdash": "—", "textless": "<",
    "textgreater": ">", "textbar": "|", "textbackslash": "\\", "textasciitilde": "~",
    "textasciicircum": "^", "textunderscore": "_", "textbraceleft": "{", "textbraceright": "}",
    "textdollar": "$", "textquoteleft": "‘", "textquoteright": "’", "textquotedblleft": "“",
    "textquotedblright": "”", "textquotesingle": "'", "textquotedbl": '"', "guillemotleft": "«",
    "guillemotright": "»", "textdegree": "°", "degree": "°", "textmu": "µ", "textregistered": "®",
    "texttrademark": "™", "textperiodcentered": "·", "textbullet": "•", "textpm": "±", "pm": "±",
    "texttimes": "×", "times": "×", "cdot": "·", "sim": "∼", "approx": "≈", "leq": "≤", "le": "≤",
    "geq": "≥", "ge": "≥", "neq": "≠", "to": "→", "rightarrow": "→", "infty": "∞", "item": "- ",
    "cprime": "ʹ", "backslash": "\\", "slash": "/", "lbrack": "[", "rbrack": "]", "quad": " ",
    "qquad": " ", "space": " ", "newline": " ", "par": "\n\n",
}  # fmt: skip
_SILENT = frozenset(
    "em it bf sc tt rm sf sl itshape bfseries scshape ttfamily rmfamily sffamily upshape mdseries "
    "normalfont noindent centering tiny small large Large noopsort protect relax limits "
    "displaystyle left right".split()
)
_VARIANTS = {"epsilon": "ε", "varepsilon": "ε", "phi": "φ", "varphi": "φ", "vartheta": "ϑ"}

_MARKUP = re.compile(r"[\\{}~]|--|``|''")
_ACCENT = re.compile(
    rf"(?P<maths>{MATHS.pattern})"
    r"|\\(?P<mark>[`'^~=.\"]|[uvHcdbrkthf](?![A-Za-z]))[ \t]*"
    r"(?:\{\s*(?P<inner>\\[ij]|[^\W\d_][\u0300-\u036f]*)\s*\}"
    r"|(?P<bare>\\[ij](?![A-Za-z])|[^\W\d_][\u0300-\u036f]*))",
    re.DOTALL,
)
_ARGUMENT = r"\{[^{}]*\}"
_TOKEN = re.compile(
    rf"(?P<maths>{MATHS.pattern})"
    r"|\\(?P<escaped>[%$&#_{}])"
    rf"|\\href\s*{_ARGUMENT}"
    rf"|\\(?:begin|end|cite[tp]?|citep?|label|ref|vspace|hspace)\*?\s*{_ARGUMENT}(?:\[[^\]]{{0,200}}\])?"
    r"|\\verb\*?(?P<bar>[|!+])(?P<verbatim>.{0,200}?)(?P=bar)"
    r"|\\(?P<command>[A-Za-z]+)\*?(?:(?P<argument>(?=\s*\{(?!\})))|(?P<end>[ \t]*\{\}|[ \t]*))"
    r"|\\(?P<space>[ ,;:!/\\\n-]|$)"
    r"|(?P<stray>\\)|(?P<braces>[{}])|(?P<tie>~)"
    r"|(?P<dashes>(?<!-)---?(?!-))|(?P<quotes>``|'')",
    re.DOTALL,
)
_ACCENTS_DEEP = 3  # Vietnamese letters carry two


def decoded(text: str) -> str:
    r"""`text` without LaTeX's markup; `$…$`, `\(…\)` and `\[…\]` stay as they are.

    `{\"o}` becomes ö, `{NASA}` NASA, `--` a dash, `~` a space, `\emph{x}` x. A `~` before a
    number, as in "of ~5 %", is the sign and stays.
    """
    if not _MARKUP.search(text):
        return text
    for _ in range(_ACCENTS_DEEP):
        before, text = text, _ACCENT.sub(_accented, text)
        if before == text:
            break
    return _TOKEN.sub(_plain, text)


def has_markup(text: str) -> bool:
    """Whether commands or braces stand outside the maths of `text`."""
    return any(mark in MATHS.sub("", text) for mark in "\\{}")


def _accented(match: re.Match[str]) -> str:
    if match["maths"]:
        return match.group()
    base = (match["inner"] or match["bare"]).removeprefix("\\")
    return unicodedata.normalize("NFC", base[0] + _ACCENTS[match["mark"]] + base[1:])


def _plain(match: re.Match[str]) -> str:
    if match["command"]:
        return _of_command(match["command"], match["end"])
    if match["dashes"]:
        return "–" if len(match["dashes"]) == 2 else "—"
    if match["tie"]:
        return _of_tie(match)
    if match["quotes"]:
        return "“" if match["quotes"] == "``" else "”"
    if match["space"] is not None:
        return "" if match["space"] in ("!", "/", "-") else " "
    return match["maths"] or match["escaped"] or match["verbatim"] or ""


def _of_command(name: str, end: str | None) -> str:
    """What a command stands for; `end` is the space after it, or None before an argument."""
    known = _NAMED.get(name) or _greek(name)
    if known:
        return known
    return "" if end is None or name in _SILENT else name + end.replace("{}", "")


def _greek(name: str) -> str | None:
    if name in _VARIANTS:
        return _VARIANTS[name]
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name.upper()}")
    except KeyError:
        return None


def _of_tie(match: re.Match[str]) -> str:
    before = match.string[max(match.start() - 1, 0) : match.start()]
    after = match.string[match.end() : match.end() + 1]
    return "~" if after.isdigit() and not before.strip("( \t\n") else " "
