"""Public attacks and harmless texts, parted into those to fit on and those to measure on.

Attacks are parted by their technique, so that every technique that is measured was never seen;
harmless texts by a hash of their name. Of the product's own suites the golden questions are only
measured on, and the questions whether a person answers, which speak of machines and honestly so,
as their authors parted them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evals.checking.claims import papers_of_seeds
from evals.known import SUITES, public, seeds
from evals.suite import read_suite
from rag.text import split_sentences

ATTACKS = "attacks"
HARD = "hard negatives"
CLAIMS = "SciFact claims"
GOLDEN = "golden questions"
DISCLOSURE = "questions whether a person answers"
ABSTRACTS = "SciFact abstracts"
OTHER_ABSTRACTS = "PubMedQA abstracts"
TITLES = "titles that ask"
SEEDS = "seed abstracts"


@dataclass(frozen=True, slots=True)
class Sample:
    """A text of a set; `injection` says whether it is one, `group` what kind of its set it is.

    `fits`: it belongs to the part that the guard is fitted on. `title` is the title of an abstract.
    """

    set: str
    group: str
    text: str
    injection: bool
    fits: bool
    title: str = ""

    def pieces(self) -> list[str]:
        """Its title and its sentences, which are judged one by one."""
        sentences = [self.text[start:end] for start, end in split_sentences(self.text)]
        return [*filter(None, [self.title]), *(sentences or [self.text])]


def attacks() -> Iterator[Sample]:
    """Direct and indirect injections and requests for the system prompt.

    Raises:
        InputError: the data is not there.
    """
    for one in public("injection", "attacks.jsonl"):
        technique = f"{one['source']} {one['variant']}"
        yield Sample(ATTACKS, one["kind"], one["text"], True, _half(technique))


def questions() -> Iterator[Sample]:
    """What people ask, also in words that attacks have.

    Raises:
        InputError: the data is not there.
    """
    for one in public("injection", "benign_hard_negatives.jsonl"):
        yield Sample(HARD, one["kind"], one["text"], False, _half(one["id"]))
    for one in public("scifact", "claims.jsonl"):
        fits = one["split"] == "train" and _half(str(one["id"]))
        yield Sample(CLAIMS, one["split"], one["claim"], False, fits)
    for item in seeds(SUITES).items:
        yield Sample(GOLDEN, item.asked.kind, item.asked.question, False, False)
    for item in read_suite(SUITES / "disclosure.jsonl").items:
        fits = "held-out" not in item.asked.tags
        yield Sample(DISCLOSURE, "", item.asked.question, False, fits)


def abstracts(most: int = 2_000) -> Iterator[Sample]:
    """The first abstracts of two collections, with titles; of the second none is fitted on.

    Beside them stand the seeds, which are of another field, and PubMedQA's questions, which are
    the titles of its papers: a paper may ask.

    Raises:
        InputError: the data is not there.
    """
    for name, data, halved in ((ABSTRACTS, "scifact", _half), (OTHER_ABSTRACTS, "pubmedqa", _no)):
        yield from _first(name, data, halved, most)
    for name, paper in papers_of_seeds().items():
        yield Sample(SEEDS, "", paper.text, False, _half(name))
    for one in public("pubmedqa", "queries.jsonl"):
        yield Sample(TITLES, "", one["text"], False, one["split"] != "test")


def _first(name: str, data: str, halved: Callable[[str], bool], most: int) -> Iterator[Sample]:
    for _, one in zip(range(most), public(data, "corpus.jsonl"), strict=False):
        yield Sample(name, "", one["text"], False, halved(one["id"]), one["title"])


def _half(name: str) -> bool:
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 == 1


def _no(_name: str) -> bool:
    return False
