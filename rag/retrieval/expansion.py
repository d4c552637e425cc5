"""What a model may add to a question before papers are looked for.

Only the search uses it: an answer is written to the question as it was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Expansion:
    """Other texts to search by; empty ones change nothing.

    `text` is searched in place of the question, such as its translation. `beside` is a sentence
    such as an answer may have (a hypothetical document, Gao et al. 2022), and `parts` are
    questions of which each asks one side of a comparison.
    """

    text: str = ""
    beside: str = ""
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A thing that a model did for a search: what it gave, and the version of the prompt.

    `texts` is empty where the model found nothing to add.
    """

    step: str
    texts: tuple[str, ...]
    prompt: str


@dataclass(frozen=True, slots=True)
class Help:
    """What a model did for one search, in order, and which steps were given up, with the reason."""

    steps: tuple[Step, ...] = ()
    given_up: Mapping[str, str] = field(default_factory=dict)

    def __add__(self, later: Help) -> Help:
        return Help(self.steps + later.steps, {**self.given_up, **later.given_up})

    @property
    def note(self) -> str:
        """What a reader should know; empty where nothing was given up."""
        return "; ".join(f"{name} was given up: {why}" for name, why in self.given_up.items())
