"""Making a true claim false in one known way."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from evals.checking.claims import Stated
from rag.answering.facts import names, numbers
from rag.schema import Evidence
from rag.text import plain

_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<![\w-])(?:[A-Z]+[a-z]*[A-Z0-9]\w*|[A-Z]{2,}\w*)(?:-[A-Z0-9]\w*)*")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|could|will|would|should|may|has|have|does|do|did|must)\b(?! not)"
)
_VERB = re.compile(
    r"\b(\w{3,}?)(e?s)\b(?= (?:the|a|an|both|its|their|only|up|that|to|on|over|for|from|in)\b)"
)
_INVENTED = (
    "{name} was also checked by twelve human raters, who preferred it in most of the cases.",
    "The authors of {name} release their code and data under a permissive licence.",
    "{name} needs no more than four graphics cards and a single day of training.",
    "A user study with clinicians found {name} easy to use in daily work.",
    "{name} was inspired by the way in which children learn their first words.",
    "Adding more training data did not help {name} any further.",
    "{name} is now part of a commercial product for online shops.",
    "The largest gains of {name} come from languages with few speakers.",
    "Its authors warn that {name} fails on very long documents.",
    "{name} runs on mobile phones without a connection to a server.",
)

_ADDED = (
    "and reduces the costs of annotation greatly",
    "while clinicians preferred it in their daily work",
    "and runs on mobile phones without network access",
    "which doubles the throughput of hospital staff",
    "because children learn languages gradually",
    "and lowers energy consumption considerably",
    "with strong generalisation towards unseen hospitals",
    "as earlier surveys of practitioners had suggested",
)

Damage = Callable[[Stated, Sequence[Stated], random.Random], Stated | None]
"""A claim made false, given all true ones; None where it cannot be damaged in this way."""


def number_changed(one: Stated, _: Sequence[Stated], chance: random.Random) -> Stated | None:
    """One of its numbers is another that its sentences do not have."""
    places = [match for match in _NUMBER.finditer(one.claim) if numbers(match.group())]
    if not places:
        return None
    place = chance.choice(places)
    held = numbers(" ".join(evidence.text for _, evidence in one.support))
    while True:
        digit = chance.randrange(len(place.group()))
        if not place.group()[digit].isdigit():
            continue
        other = place.group()[:digit] + str(chance.randint(1, 9)) + place.group()[digit + 1 :]
        if not numbers(other) <= held and numbers(other):
            return _with(one, place.start(), place.end(), other)


def name_swapped(one: Stated, every: Sequence[Stated], chance: random.Random) -> Stated | None:
    """One of its names is that of another paper."""
    places = list(_NAME.finditer(one.claim))
    if not places:
        return None
    held = names(f"{one.paper.title} {one.paper.text}")
    others = [
        match.group()
        for other in every
        if other.paper.id != one.paper.id
        for match in _NAME.finditer(plain(other.claim))
        if not names(match.group()) & held and match.group() not in one.paper.text
    ]
    place = chance.choice(places)
    return _with(one, place.start(), place.end(), chance.choice(others))


def citation_swapped(one: Stated, every: Sequence[Stated], chance: random.Random) -> Stated:
    """It is pinned to the sentences of another claim, of another paper."""
    others = [other for other in every if other.paper.id != one.paper.id]
    return replace(one, support=chance.choice(others).support)


def other_sentence(one: Stated, _: Sequence[Stated], chance: random.Random) -> Stated | None:
    """It is pinned to a sentence of its own paper that does not say it."""
    used = {evidence.index for _, evidence in one.support}
    left = [place for place in range(len(one.paper.sentences)) if place not in used]
    if not left:
        return None
    place = chance.choice(left)
    s = one.paper.sentences[place]
    return replace(
        one, support=((one.paper, Evidence(one.paper.id, place, s.text, s.start, s.end, 0.0)),)
    )


def unsupported(one: Stated, _: Sequence[Stated], chance: random.Random) -> Stated:
    """Something plausible that no abstract says, with its citation."""
    name = one.paper.title if len(one.paper.title.split()) <= 3 else "The method"
    return replace(one, claim=chance.choice(_INVENTED).format(name=name))


def clause_added(one: Stated, _: Sequence[Stated], chance: random.Random) -> Stated:
    """It goes on with something that no abstract says."""
    return replace(one, claim=f"{one.claim.rstrip('. ')}, {chance.choice(_ADDED)}.")


def negated(one: Stated, _: Sequence[Stated], chance: random.Random) -> Stated | None:  # noqa: ARG001
    """It is denied; a claim that denies something already is left alone."""
    if re.search(r"\b(?:not?|never|without|neither|nor|cannot|\w+n't|free)\b", one.claim):
        return None
    if found := _AUXILIARY.search(one.claim):
        return _with(one, found.end(), found.end(), " not")
    if found := _VERB.search(one.claim):
        stem = found[1] + ("e" if found[2] == "es" and not found[1].endswith(_SIBILANTS) else "")
        return _with(one, found.start(), found.end(), f"does not {stem}")
    return replace(one, claim=f"It is not true that {one.claim}")


_SIBILANTS = ("s", "x", "z", "sh", "ch", "o")


def _with(one: Stated, start: int, end: int, text: str) -> Stated:
    return replace(one, claim=one.claim[:start] + text + one.claim[end:])


DAMAGES: dict[str, Damage] = {
    "number changed": number_changed,
    "name swapped": name_swapped,
    "citation swapped": citation_swapped,
    "other sentence": other_sentence,
    "unsupported": unsupported,
    "clause added": clause_added,
    "negated": negated,
}
