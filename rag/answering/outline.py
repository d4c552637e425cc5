"""The sentences that say what a paper is about: its aim, what came of it, and its setting; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from rag.answering.prompting import Labelled
from rag.text import content_words

_OWN_WORK = re.compile(r"\b(?:we|our|this (?:paper|work|article)|here)\b", re.IGNORECASE)
_PROPOSES = re.compile(
    r"\b(?:we|our|paper|work|article|here)\b[^.;]*\b(?:propos|introduc|present|develop|design)",
    re.IGNORECASE,
)
_STUDIES = re.compile(
    r"\b(?:we|our|paper|work|article|here)\b[^.;]*\b(?:study|studies|investigat|examin|formali[sz]e"
    r"|analy[sz]e|shows?)\b",
    re.IGNORECASE,
)
_TRIES = re.compile(
    r"\b(?:experiments?|evaluat\w*|results?|benchmarks?|across|empirical\w*|datasets?|on \d+)\b",
    re.IGNORECASE,
)
_FINDS = re.compile(
    r"\b(?:outperform|improv|achiev|reduc|surpass|demonstrat|exceed|match|gain|find that|show"
    r"|attain|reach|reveal|prove|faster|higher|better)",
    re.IGNORECASE,
)


def outline(sentences: Sequence[Labelled], most: int) -> list[Labelled]:
    """What the paper does and what it finds, then what it is about; in the order of the text.

    With more sentences to tell, those that have most of the words that the abstract repeats.
    """
    kept: list[Labelled] = []
    for weigh in (_does, _found(len(sentences)), _opens, *[_central(sentences)] * max(0, most - 3)):
        left = [item for item in sentences if item not in kept]
        if left and len(kept) < most:
            kept.append(max(left, key=weigh))
    return [item for item in sentences if item in kept]


def _does(item: Labelled) -> float:
    """How much a sentence says what its paper does: its first words for that count most."""
    text = item.evidence.text
    own = bool(_OWN_WORK.search(text)) + bool(_STUDIES.search(text))
    return own + 2 * bool(_PROPOSES.search(text)) - item.evidence.index / 100


def _found(count: int) -> Callable[[Labelled], float]:
    """How much a sentence says what came of it: trials, findings, numbers; the later the rather."""

    def weigh(item: Labelled) -> float:
        text = item.evidence.text
        tried = bool(_TRIES.search(text)) + 1.5 * bool(_FINDS.search(text))
        return tried + bool(re.search(r"\d", text)) + 1.5 * item.evidence.index / count

    return weigh


def _opens(item: Labelled) -> float:
    return -item.evidence.index


def _central(sentences: Sequence[Labelled]) -> Callable[[Labelled], float]:
    """How many words of a sentence stand in others too."""
    words = [content_words(item.evidence.text) for item in sentences]
    counted = Counter(word for found in words for word in set(found))
    shared = {word for word, count in counted.items() if count > 1}
    return lambda item: len(shared & set(content_words(item.evidence.text)))
