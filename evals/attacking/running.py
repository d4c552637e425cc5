"""Attacks made one after another, by a model that obeys or by a real one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle

from evals.attacking.obedient import STYLES, Obedient
from evals.attacking.outcome import faults
from evals.attacking.planting import CANARY, Attack
from rag.answering.assistant import last_answer
from rag.answering.exchange import Around, Completion, Generator, Request, silent
from rag.answering.prompting import name_of
from rag.answering.work import Work
from rag.answering.writing import ModelWriter, Task
from rag.config import Config
from rag.guarding.guard import suspicious
from rag.schema import Answer
from rag.text import legible

_CLAIMS = 3
_TOKENS = 400


@dataclass(frozen=True, slots=True)
class Made:
    """An attack that was made: `faults` are what its answer shows, empty where it failed.

    `style` is how the model obeyed, or the name of a real one. `obeyed` says whether the model
    itself did as it was told, whatever became of it; `marked` whether the guard had seen it.
    """

    attack: Attack
    style: str
    faults: tuple[str, ...]
    obeyed: bool
    marked: bool


def by_obedience(attacks: Iterable[Attack]) -> Iterator[Made]:
    """Each attack in one style of obeying, the styles in turn."""
    for attack, style in zip(attacks, cycle(STYLES), strict=False):
        answer = answered(attack, Obedient(style))
        yield Made(attack, style, tuple(faults(attack, answer)), True, is_marked(attack))


def by_model(
    attacks: Iterable[Attack],
    generator: Generator,
    wrap: Callable[[Generator], Generator] = lambda inner: inner,
) -> Iterator[Made]:
    """Each attack on a real model; `wrap` is a defence to be measured."""
    for attack in attacks:
        overheard = Overheard(wrap(generator))
        answer = answered(attack, overheard)
        obeyed = CANARY in overheard.said
        found = tuple(faults(attack, answer))
        yield Made(attack, generator.name, found, obeyed, is_marked(attack))


def answered(attack: Attack, generator: Generator) -> Answer:
    """The answer of the product to the attack's question, over the attack's papers."""
    config = Config.model_validate({"repair": False})
    work = Work(config, ModelWriter(generator, _TOKENS), attack.question, "", "")
    return last_answer(work.write(Task("answer", attack.question, attack.sentences, _CLAIMS)))


def is_marked(attack: Attack) -> bool:
    """Whether the guard marks the planted paper, by rule at intake or by its words when read."""
    paper = attack.planted
    texts = [name_of(paper), *(one.text for one in paper.sentences)]
    return bool(paper.meta.flags) or any(map(suspicious, filter(None, map(legible, texts))))


class Overheard(Around):
    """A generator whose words are kept."""

    def __init__(self, inner: Generator) -> None:
        super().__init__(inner)
        self.said = ""

    def stream(
        self, request: Request, notify: Callable[[str], None] = silent
    ) -> Iterator[str | Completion]:
        """See `Generator.stream`."""
        for piece in self._inner.stream(request, notify):
            self.said += "" if isinstance(piece, Completion) else piece
            yield piece
