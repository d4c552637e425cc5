"""How likely a model says yes: one token of a reply, read from its probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag.answering.asking import Reading
from rag.answering.exchange import Completion, Generator, Request
from rag.answering.prompting import Labelled, render, show, spoken_as
from rag.errors import AnswerIncomplete, ModelError

_ALTERNATIVES = 20
_LEAST = 0.02  # what yes and no together must have: below, the model says something else


@dataclass(frozen=True, slots=True)
class YesNo:
    """Asks a model before it writes whether the sentences state the answer.

    The prompt begins as that of the answer does, so that a server which keeps what it has read
    reads the sentences once. `prompts` is a folder of prompts in place of the product's.
    """

    generator: Generator
    seconds: float
    most: int
    prompts: Path | None = None

    def probability(
        self, question: str, sentences: Sequence[Labelled], reading: Reading, persona: str = ""
    ) -> float | None:
        """The probability of yes against no; None where the model was late or did not tell.

        It is an aid and no condition: whatever fails here, the answer is written all the same.
        """
        values = {"most": self.most, "evidence": show(sentences), "question": question}
        rendered = render("answerable", values, self.prompts)
        request = Request(
            spoken_as(persona, self.prompts) + rendered.system,
            rendered.user,
            None,
            1,
            stop=reading.stop,
            seconds=self.seconds,
            alternatives=_ALTERNATIVES,
        )
        try:
            for piece in self.generator.stream(request, reading.notify):
                if isinstance(piece, Completion):
                    return yes_share(piece.alternatives)
        except (ModelError, AnswerIncomplete):
            pass
        return None


def yes_share(alternatives: Mapping[str, float]) -> float | None:
    """The probability of yes among yes and no, from the log probabilities of a first token.

    None where the two together are hardly there: then the reply is no answer to the question.
    """
    mass = {"yes": 0.0, "no": 0.0}
    for token, value in alternatives.items():
        word = token.strip().strip("\"'*.").casefold()
        if word in mass:
            mass[word] += math.exp(value)
    both = mass["yes"] + mass["no"]
    return mass["yes"] / both if both >= _LEAST else None
