"""Names of authors in their parts, as bibliographies want them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SUFFIX = re.compile(r"[JS]r\.?|I{2,3}|IV|\d(?:st|nd|rd|th)")
_BODY = re.compile(
    r"\b(?:Collaboration|Consortium|Team|Group|Project|Initiative|Network|Committee|Institute"
    r"|University|Association|Society|Organization|Organisation|Foundation|Inc|Ltd|GmbH)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Name:
    """A person's name in parts, particles with the family; or a `literal` that has none."""

    family: str = ""
    given: str = ""
    suffix: str = ""
    literal: str = ""

    @property
    def sorted(self) -> str:
        """As in "van der Berg, Anna, Jr", or the literal."""
        parts = [self.family, self.given, self.suffix]
        return self.literal or ", ".join(part for part in parts if part)


def name_of(written: str) -> Name:
    """The parts of a name that is written "First Last".

    The last word is the family name, with the words in small letters before it. One word, a name
    with a comma or a digit in it, and what is no person stay whole.
    """
    words = written.split()
    suffix = words.pop() if len(words) > 2 and _SUFFIX.fullmatch(words[-1]) else ""
    if len(words) < 2 or re.search(r"[,;\d]", written) or _BODY.search(written):
        return Name(literal=" ".join(written.split()))
    small = (n for n, word in enumerate(words[1:-1], start=1) if word[0].islower())
    first = next(small, len(words) - 1)
    return Name(" ".join(words[first:]), " ".join(words[:first]), suffix)
