"""Pure functions on text: sentences with offsets, a normal form, and terms to search by.

Papers are stored as their source has them; only search and comparison see the normal form.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import Stemmer

# --- Sentences -----------------------------------------------------------------------------

_END = re.compile(r"[.!?…]+[\"'”’»)\]*_}]*(?=\s|$)|[。！？]+[」』”’）】]*|．(?!\d)")
_NEW_ITEM = re.compile(r"\n(?=\s*(?:[-*•–]|\(?\d{1,2}[.)])\s)|\n\s*\n")
MATHS = re.compile(
    r"\$\$.{1,1000}?\$\$|\\\(.{1,400}?\\\)|\\\[.{1,1000}?\\\]"
    r"|(?<!\\)\$(?=\S)(?:\\.|[^$\\\n]){0,400}?(?<=\S)(?<!\\)\$(?!\d)",
    re.DOTALL,
)
_BRACKETS = re.compile(
    r"\([^()\n]{1,400}\)|\[[^\[\]\n]{1,400}\]|（[^（）\n]{1,400}）|「[^「」]*」|『[^『』]*』"
)
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
    in lower case.
    """
    masked = _masked(text)
    cuts = [match.start() for match in _NEW_ITEM.finditer(text) if not masked[match.start()]]
    begin = 0
    for end in sorted(cuts + [m.end() for m in _END.finditer(text)]):
        if end in cuts or (not masked[end - 1] and _ends_sentence(text, begin, end)):
            cuts.append(end)
            begin = end
    return list(_spans(text, sorted(set(cuts))))


def _masked(text: str) -> bytearray:
    """1 for each character inside maths or brackets, save their closing character."""
    mask = bytearray(len(text) + 1)
    for pattern in (MATHS, _BRACKETS):
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


# --- Normal form ---------------------------------------------------------------------------

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
    "log": "log", "max": "max", "min": "min", "dagger": "†", "textendash": "–", "textemdash": "—",
}  # fmt: skip
_SYMBOL = re.compile(r"\\([A-Za-z]+)\s?")
_ESCAPED = re.compile(r"\\([%$&#_{}~ ,;!])")
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_DASH = re.compile("[\u2010-\u2015\u2212]")
_EMPHASIS = re.compile(r"(?<!\w)[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}(?!\w)")


def plain(text: str) -> str:
    """`text` as a person would read it aloud: LaTeX commands, maths signs and emphasis undone.

    For terminals, titles and comparison; never for what is stored or quoted as evidence.
    """
    for _ in range(3):  # commands nest, seldom deeper
        text = _FRACTION.sub(r"\1/\2", _COMMAND_WITH_TEXT.sub(r"\1", text))
    text = _ESCAPED.sub(r"\1", text)
    text = _SYMBOL.sub(lambda m: _SYMBOLS.get(m.group(1), m.group(1)), text)
    text = re.sub(r"\\[()\[\]]|(?<!\w)\$(?=\S)|(?<=\S)\$(?!\d)|[{}]", "", text)
    return printable(re.sub(r"\s+", " ", _EMPHASIS.sub("", text)).strip())


def printable(text: str) -> str:
    """`text` without control, zero-width, direction and tag characters: safe for a terminal."""
    return _CONTROL.sub("", _INVISIBLE.sub("", text))


def normalise(text: str) -> str:
    """The form in which texts are compared: plain, compatibility-composed, folded, one space."""
    return " ".join(_DASH.sub("-", unicodedata.normalize("NFKC", plain(text))).casefold().split())


def canonical(text: str) -> str:
    """The form that gives a paper its identity: composed characters and single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


# --- Terms ---------------------------------------------------------------------------------

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]+|\d+(?:[.,]\d+)+|[^\W_{_CJK}]+(?:[-'’·][^\W_{_CJK}]+)*", re.UNICODE)
_PLURAL_ACRONYM = re.compile(r"\b([A-Z][A-Z0-9]+)s\b")  # the stemmer keeps the s of GPUs
_STOP = frozenset(
    "a about above after again all also am an and any are as at be because been before being "
    "below between both but by can could did do does doing down during each few for from further "
    "had has have having he her here hers him his how i if in into is it its itself just me more "
    "most my no nor not of off on once only or other our ours out over own same she should so "
    "some such than that the their theirs them then there these they this those through to too "
    "under until up very was we were what when where which while who whom whose why will with "
    "would you your yours s t whats paper papers abstract abstracts".split()
)


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


def terms(text: str) -> list[str]:
    r"""What `text` is found by, in order: stems, numbers, names whole and in parts, CJK bigrams.

    "RN-DPO's 10.08\%" gives rn, dpo, rndpo, 10.08. Words that every text has are left out.
    """
    singular = _PLURAL_ACRONYM.sub(r"\1", text)
    return [term for token in tokens(singular) for term in _terms_of(token)]


def tokens(text: str) -> list[str]:
    """The words, numbers and CJK runs of `text` in normal form, unstemmed, in order."""
    return _TOKEN.findall(normalise(text))


def content_words(text: str) -> list[str]:
    """The tokens of `text` that are not stop words."""
    return [token for token in tokens(text) if token not in _STOP]


def _terms_of(token: str) -> list[str]:
    if re.match(f"[{_CJK}]", token):
        return [token] if len(token) == 1 else [token[i : i + 2] for i in range(len(token) - 1)]
    if token[0].isdigit() and re.fullmatch(r"\d+(?:[.,]\d+)+", token):
        return [token.replace(",", "")]
    parts = [part for part in re.split(r"[-'’·]", re.sub(r"['’]s$", "", token)) if part]
    stems = [_stem(part) for part in parts if part not in _STOP]
    if len(parts) > 1:
        stems.append("".join(parts))
    return stems


def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word)) if word.isascii() and word.isalpha() else word
