"""Having a model revise the instructions of a template."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evals.tuning.trial import Trial, aggregate, median, trace
from rag.answering.asking import Asker, GivenUp, Reading

_PARTS = re.compile(r"^---$\n?", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\$\w+")
_LONGEST = 2.0  # times the length of the instructions before
_LEAST_CHARS = 40
_TOLD = 4  # attempts


class Unusable(Exception):
    """What was proposed cannot be tried; the text says why."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A revised template, and why the model thinks it better."""

    template: str
    why: str


@dataclass(frozen=True, slots=True)
class Proposer:
    """Asks a model for another text of the instructions; the part with the question stays."""

    asker: Asker
    max_tokens: int = 900

    def propose(self, best: Trial, tried: Sequence[str]) -> Proposal:
        """A revision of the best template so far; `tried` tells of those that were no better.

        Raises:
            Unusable: the model failed, or what it wrote cannot take the place of the template.
        """
        instructions, _ = _parts(best.template)
        shown = median(best)
        values = {
            "instructions": instructions,
            "placeholders": ", ".join(sorted(placeholders(instructions))) or "there are none",
            "score": f"{best.mean:.2f} of 1",
            "aggregate": aggregate(best),
            "trace": trace(shown, best.values[shown.item.id]),
            "tried": "\n".join(tried[-_TOLD:]) or "nothing",
        }
        try:
            reply = self.asker.ask("revise-prompt", values, _SCHEMA, self.max_tokens, Reading())
        except GivenUp as error:
            raise Unusable(str(error)) from error
        text = reply.value.get("instructions")
        if not isinstance(text, str):
            raise Unusable("the model wrote no instructions that can be read")
        return Proposal(revised(best.template, text), str(reply.value.get("why", "")))


def placeholders(template: str) -> frozenset[str]:
    """The placeholders of a template, as $name."""
    return frozenset(_PLACEHOLDER.findall(template))


def revised(template: str, instructions: str) -> str:
    """The template with other instructions.

    Raises:
        Unusable: a placeholder was lost or is new, they are empty or far too long, they hold the
            line that parts a template, or they are what they were.
    """
    before, rest = _parts(template)
    text = instructions.strip()
    if lost := sorted(placeholders(before) - placeholders(text)):
        raise Unusable(f"{lost[0]} was lost")
    if new := sorted(placeholders(text) - placeholders(before)):
        raise Unusable(f"{new[0]} is no placeholder of it")
    if _PARTS.search(text):
        raise Unusable("it holds a line ---")
    if not _LEAST_CHARS <= len(text) <= _LONGEST * len(before):
        raise Unusable(f"it has {len(text)} characters in place of {len(before)}")
    if text.split() == before.split():
        raise Unusable("it is the same text")
    return f"{text}\n---\n{rest}"


def _parts(template: str) -> tuple[str, str]:
    before, after = _PARTS.split(template)
    return before.strip(), after


_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "why": {"type": "string", "maxLength": 300},
        "instructions": {"type": "string", "minLength": _LEAST_CHARS, "maxLength": 4_000},
    },
    "required": ["why", "instructions"],
    "additionalProperties": False,
}
