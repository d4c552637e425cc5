"""What a bibliography says of a paper, and the key by which it is cited.

A key depends on the paper alone: author, year and the first word of the title that says
something, as in `mueller2020normalized`; of a paper without author or year, its id. So a paper
has the same key in every export, save where two papers of one export have the same: then the id
stands behind it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from rag.exporting.names import name_of
from rag.schema import Metadata, Paper
from rag.text import plain

Sort = Literal["journal", "conference", "preprint", "other"]

_PREPRINTS = re.compile(r"arxiv|(?:bio|med|chem|psy|eart?h)[rx]+iv|preprint|ssrn", re.IGNORECASE)
_CONFERENCES = re.compile(
    r"proceedings|conference|workshop|symposium|congress|advances in neural"
    r"|\b(?:NeurIPS|NIPS|ICML|ICLR|AAAI|IJCAI|[NE]?ACL|EMNLP|COLING|CVPR|[IE]CCV|KDD|SIGIR|CIKM"
    r"|WSDM|ECIR|WWW|ICRA|IROS|CoRL|INTERSPEECH|ICASSP|UAI|AISTATS|COLT|CHI|MICCAI)\b",
    re.IGNORECASE,
)
_JOURNALS = re.compile(
    r"proceedings of the (?:national academy|royal society|ieee$|vldb)", re.IGNORECASE
)
_LETTERS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "ø": "o", "œ": "oe", "ł": "l", "đ": "d"}
)
_SMALL = frozenset(
    "a an the of on in for to and or with from by at as is are do does can how what when why where"
    " towards toward via using into over under der die das ein eine le la les un une el los".split()
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A paper as it is referred to; `key` is empty until `keyed` has given it one."""

    paper_id: str
    source: str
    ordinal: int
    title: str
    title_derived: bool
    meta: Metadata = field(default_factory=Metadata)
    abstract: str = ""
    key: str = ""

    @property
    def has_metadata(self) -> bool:
        """Whether there is enough for a reference as journals print them."""
        return bool(self.meta.authors or self.meta.year or self.meta.venue)

    @property
    def sort(self) -> Sort:
        """What was published, as far as the venue tells."""
        venue = self.meta.venue
        if _PREPRINTS.search(venue) or (not venue and self.meta.arxiv):
            return "preprint"
        if _CONFERENCES.search(venue) and not _JOURNALS.search(venue):
            return "conference"
        return "journal" if venue else "other"

    @property
    def url(self) -> str:
        """Where it can be read; empty where nobody says, or where it is no address of the web."""
        address = f"https://arxiv.org/abs/{self.meta.arxiv}" if self.meta.arxiv else ""
        if re.match(r"https?://[^\s]+$", self.meta.url, re.IGNORECASE):
            return self.meta.url
        return address

    @property
    def remark(self) -> str:
        """Where the abstract stands, and whether its title is ours."""
        place = f"{self.source}:{self.ordinal}"
        return f"{place}; title derived from the abstract" if self.title_derived else place


def reference_of(paper: Paper) -> Reference:
    """A paper of the collection as a reference."""
    return Reference(
        paper.id,
        paper.source,
        paper.ordinal,
        paper.title,
        paper.title_derived,
        paper.meta,
        paper.text,
    )


def keyed(references: Iterable[Reference]) -> tuple[Reference, ...]:
    """The references, each paper once, in order, with keys that differ."""
    distinct = list({one.paper_id: one for one in references}.values())
    counts = Counter(_key(one) for one in distinct)
    return tuple(
        replace(one, key=key if counts[key] == 1 else f"{key}-{_ascii(one.paper_id)}")
        for one, key in ((one, _key(one)) for one in distinct)
    )


def _key(reference: Reference) -> str:
    authors: Sequence[str] = reference.meta.authors
    if authors and reference.meta.year:
        name = name_of(authors[0])
        author = _ascii(name.family or name.literal)
        if author:
            return f"{author}{reference.meta.year}{_word(reference.title)}"
    return f"paper-{_ascii(reference.paper_id)}"


def _word(title: str) -> str:
    """The first word of a title that tells it from others."""
    words = [_ascii(word) for word in re.split(r"[\s/:,-]+", plain(title))]
    telling = (word for word in words if len(word) > 1 and word not in _SMALL)
    return next(telling, "")


def _ascii(text: str) -> str:
    """Small letters and digits, as every tool takes them in a key."""
    folded = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return re.sub(r"[^a-z0-9]", "", folded)
