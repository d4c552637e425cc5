"""Text as a person reads it, and the normal form in which texts are compared and searched.

What is done to the normal form, and never to what is stored: double encoding undone, words that a
line end cuts joined, entities and tags of HTML undone, LaTeX commands undone, invisible characters
(soft hyphens, zero-width spaces) dropped, all white space one space, compatibility characters
(ligatures, full-width letters) replaced, case folded, and accents dropped from Latin letters only:
in Greek, Cyrillic, Korean, Devanagari and Japanese the marks are part of the letter.
"""

from __future__ import annotations

import html
import re
import unicodedata

from rag.text.mojibake import undo_double_encoding

_COMMAND_WITH_TEXT = re.compile(
    r"\\(?:text(?:bf|it|tt|sc|rm|sf)?|emph|math(?:rm|bf|it|cal|bb|sf|tt)|operatorname|mbox|boxed|href"
    r"|underline|tilde|hat|bar|url)\*?\s*\{([^{}]*)\}"
)
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_SYMBOLS = {
    "times": "×", "sim": "~", "textasciitilde": "~", "approx": "≈", "pm": "±", "leq": "≤",
    "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "cdot": "·", "to": "→", "rightarrow": "→",
    "infty": "∞", "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "Delta": "Δ",
    "epsilon": "ε", "varepsilon": "ε", "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ",
    "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ",
    "psi": "ψ", "omega": "ω", "Omega": "Ω", "ell": "ℓ", "sqrt": "√", "ldots": "…", "dots": "…",
    "left": "", "right": "", "big": "", "Big": "", "bigl": "", "bigr": "", "wedge": "∧", "sum": "Σ",
    "prod": "∏", "in": "∈", "cup": "∪", "cap": "∩", "nabla": "∇", "partial": "∂", "quad": " ",
    "log": "log", "max": "max", "min": "min", "dagger": "†", "textendash": "–", "textemdash": "—",
}  # fmt: skip
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[^{}]{0,40}\}(?:\[[^\[\]]{0,40}\])?")
_SYMBOL = re.compile(r"\\([A-Za-z]+)\s?")
_ESCAPED = re.compile(r"\\([%$&#_{}~ ,;!])")
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_DASH = re.compile("[\u2010-\u2015\u2212]")
_ACCENTED = re.compile("([a-zæøœıłđ])[\u0300-\u036f]+")
_WHOLE_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i"}
)
_CHANGED = re.compile(r"[\\$<&{}*_`\x00-\x08\x0e-\x1b\x7f]")  # in ASCII, beside case and space
_LINE_END = r"[^\S\r\n]*(?:\r\n|\r|\n)[^\S\r\n]*"
_CUT = re.compile(rf"[-\u2010\u00ad]{_LINE_END}")  # in each of the next three, and found faster
_SOFT_CUT = re.compile(rf"(?<=\w)\u00ad{_LINE_END}(?=\w)")
_CUT_BY_HYPHEN = re.compile(
    rf"(?<![\w-])([^\W\d_]*[a-zß-öø-ÿ])[-\u2010]{_LINE_END}"
    r"(?!(?:and|or|to|und|oder|et|ou)\b)([a-zß-öø-ÿ][^\W\d_]*)(?![\w-])"
)
_CUT_AT_HYPHEN = re.compile(rf"(?<=\w)[-\u2010]{_LINE_END}(?!(?:and|or|to|und|oder|et|ou)\b)(?=\w)")
_INLINE_TAG = re.compile(
    r"</?(?:jats:)?(?:i|b|u|em|strong|sub|sup|sc|span|a|font|italic|bold)(?:\s[^<>]{0,300})?/?>",
    re.I,
)
_BLOCK_TAG = re.compile(
    r"</?(?:jats:)?(?:p|br|div|h[1-6]|ul|ol|li|table|tr|td|th|title|sec|abstract)(?:\s[^<>]{0,300})?/?>",
    re.I,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_MATHS_SIGN = re.compile(r"\\[()\[\]]|(?<!\w)\$(?=\S)|(?<=\S)\$(?!\d)|[{}]")
_EMPHASIS = re.compile(r"(?<!\w)[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}(?!\w)")


def plain(text: str) -> str:
    """`text` as a person would read it aloud: LaTeX commands, maths signs and emphasis undone.

    For terminals, titles and comparison; never for what is stored or quoted as evidence.
    """
    if "\\" in text:
        text = _without_commands(text)
    if "$" in text or "\\" in text or "{" in text or "}" in text:
        text = _MATHS_SIGN.sub("", text)
    if "*" in text or "_" in text or "`" in text:
        text = _EMPHASIS.sub("", text)
    return printable(" ".join(text.split()))


def _without_commands(text: str) -> str:
    text = _ENVIRONMENT.sub(" ", text)
    for _ in range(3):  # commands nest, seldom deeper
        text = _FRACTION.sub(r"\1/\2", _COMMAND_WITH_TEXT.sub(r"\1", text))
    text = _ESCAPED.sub(r"\1", text)
    return _SYMBOL.sub(_written, text)


def _written(command: re.Match[str]) -> str:
    """A symbol; of a macro that is not known its name, with the space that LaTeX would take."""
    known = _SYMBOLS.get(command.group(1))
    return command.group()[1:] if known is None else known


def printable(text: str) -> str:
    """`text` without control, zero-width, direction and tag characters: safe for a terminal."""
    if text.isprintable():  # what is taken out never is
        return text
    return _CONTROL.sub("", _INVISIBLE.sub("", text))


def legible(text: str) -> str:
    """`text` on one line as it is sent to a model or quoted: normal spaces, nothing invisible."""
    return " ".join(printable(" ".join(text.split())).split())


def normalise(text: str) -> str:
    """The form in which texts are compared; see the module."""
    if text.isascii() and not (_CHANGED.search(text) or _CUT.search(text)):  # nearly every sentence
        return " ".join(text.lower().split())
    text = plain(_without_markup(join_lines(undo_double_encoding(text))))
    if not text.isascii():
        text = _DASH.sub("-", unicodedata.normalize("NFKC", text))
    text = text.casefold()
    return " ".join((text if text.isascii() else _fold_latin(text)).split())


def join_lines(text: str, joined: str = r"\1\2") -> str:
    """`text` with the words whole that a hyphen at a line end cuts in two.

    The hyphen goes from infor-⏎mation and stays in state-of-⏎the-art, GPT-⏎4 and RN-⏎DPO. Whether
    it belongs to well-⏎known cannot be seen; `joined` says what becomes of such words.
    """
    if not _CUT.search(text):
        return text
    text = _CUT_BY_HYPHEN.sub(joined, _SOFT_CUT.sub("", text))
    return _CUT_AT_HYPHEN.sub("-", text)


def _without_markup(text: str) -> str:
    if "<" in text:
        text = _BLOCK_TAG.sub(" ", _INLINE_TAG.sub("", text))
    return html.unescape(text) if _ENTITY.search(text) else text


def _fold_latin(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", _ACCENTED.sub(r"\1", decomposed)).translate(_WHOLE_LETTERS)


def canonical(text: str) -> str:
    """The form that gives a paper its identity: composed characters and single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())
