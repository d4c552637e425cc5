"""Whether a claim in another language says what its English sentences say, without translating.

The embedding model is an English one, and words of two languages cannot be compared by letters, so
a claim is held to what stays the same in both: every number and every name in it must stand in its
sentences, and it must not deny where they do not. Beyond that its words are looked for as they are,
or by their common beginning, as in "normaliza" and "normalizes". What shares next to nothing with
its sentences is shown as partly supported, with that reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from rag.answering.facts import missing_numbers, names, numbers
from rag.answering.hanzi import numbers_in_hanzi
from rag.answering.phrases.english import ENGLISH
from rag.answering.phrases.language import Language
from rag.answering.polarity import denies
from rag.answering.prompting import Labelled
from rag.answering.speech import is_english, language_of
from rag.answering.support import Judgement, Pinned
from rag.text import content_words, normalise, plain, terms

_COMMON = 5  # letters with which words of a common origin begin alike
_ENOUGH = 2  # of what claim and sentences share
_TRANSLATED = frozenset({"ki", "ia"})  # what AI is called elsewhere
_REASON = "it is in another language than its sentences: only its numbers and names were compared"


def repin_across(
    claim: str, named: Sequence[Labelled], given: Sequence[Labelled]
) -> tuple[list[Pinned], Judgement] | None:
    """As `support.repin`, for a claim in another language; None where it is in that of the papers.

    Where its numbers and names stand in another of the sentences only, it is pinned to that one.
    """
    language = language_of(claim)
    if language is ENGLISH or not all(is_english(item.evidence.text) for item in named):
        return None
    support = [(item.paper, item.evidence) for item in named]
    judgement = judge_across(claim, support, language)
    if judgement.verdict in {"supported", "partly"} or not named:
        return support, judgement
    for item in sorted(given, key=lambda item: -len(_shared(claim, item.evidence.text))):
        other = [(item.paper, item.evidence)]
        found = judge_across(claim, other, language)
        if found.verdict == "supported":
            return other, found
    return support, judgement


def judge_across(claim: str, support: Sequence[Pinned], language: Language) -> Judgement:
    """Compare a claim in `language` with its English sentences."""
    if not support:
        return Judgement("unsupported", "it names no sentence")
    sentences = " ".join(evidence.text for _, evidence in support)
    abstracts = " ".join(f"{paper.title} {paper.text}" for paper, _ in support)
    in_characters = sorted(numbers_in_hanzi(claim) - numbers(sentences))
    if missing := missing_numbers(claim, sentences) or in_characters:
        return Judgement("unsupported", f"{missing[0]} is not in the sentences it names")
    held = names(abstracts) | {word.rstrip("s") for word in normalise(plain(abstracts)).split()}
    if missing := sorted(names(claim) - held - _TRANSLATED - set(terms(abstracts))):
        return Judgement("unsupported", f"{missing[0]} is not in the abstracts it names")
    if _denies(claim, language) and not denies(sentences):
        return Judgement("contradicted", "it denies what the sentences say")
    if len(_shared(claim, sentences) | (names(claim) & names(abstracts))) >= _ENOUGH:
        return Judgement("supported", probability=None)
    return Judgement("partly", _REASON, None)


def _shared(claim: str, sentences: str) -> set[str]:
    """What stands in both: terms, numbers, and the beginnings of words of one origin."""
    alike = set(terms(claim)) & set(terms(sentences))
    begun = {word[:_COMMON] for word in content_words(sentences) if len(word) >= _COMMON}
    origin = {word[:_COMMON] for word in content_words(claim) if len(word) > _COMMON}
    same = {term[:_COMMON] for term in alike}
    return alike | (numbers(claim) & numbers(sentences)) | ((origin & begun) - same)


def _denies(claim: str, language: Language) -> bool:
    if language.letters != ENGLISH.letters:
        return any(word in claim for word in language.denials)
    words = claim.lower().replace("’", "'").split()
    return any(word.strip('.,;:!?()«»"') in language.denials for word in words)
