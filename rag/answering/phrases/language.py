r"""How people ask whether they speak with a person, language by language; data, no logic.

A phrase is a regular expression over a sentence in its normal form (see `rag.text.normalise`:
small letters, no accents on Latin ones, straight apostrophes) without what stands in quotation
marks. `<name>` stands for one of the language's words, `<end>` for the end of a part of the
sentence. `asks` are put to whoever answers; `hints` may also be said of a paper, and count only
in a sentence with none of the words of `papers`. `supposes` tell whoever answers what it is, and
count only in a question: "You are an AI expert." is not one. What people ask besides the plain
question (do you sleep, who wrote this) follows the findings of a study of how people really ask:
most do not ask directly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """One language: its code, what the assistant says, the words and the phrases.

    `papers` is what shows that a sentence is about papers, `introduces` what may stand before a
    question without being part of it. `letters` is what every text of the language has.

    The rest is for answers in it. `name` is its English name, `common` are words by which a text
    is known to be in it, `denials` its words of denial. `refusal` is the sentence of an abstention,
    `checked` tells how many papers were looked at, and `quoted` that sentences are quotations. Of
    follow-ups, `yes` is how an offer is taken up and `refers` what points back; `and_about` has the
    group `thing`, of which the last question is asked again.
    """

    code: str
    says: str
    words: Mapping[str, str]
    asks: tuple[str, ...]
    supposes: tuple[str, ...]
    hints: tuple[str, ...]
    papers: str
    introduces: str
    letters: str = "[A-Za-z]"
    name: str = "English"
    common: frozenset[str] = frozenset()
    denials: frozenset[str] = frozenset()
    refusal: str = ""
    checked: str = ""
    quoted: str = ""
    yes: str = ""
    refers: str = ""
    and_about: str = ""
