"""What the answerers of the several kinds of questions have in common: their parts, their case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rag.answering.asking import Asker, Reading
from rag.answering.deciding import Decider, Decision
from rag.answering.finding import Finder
from rag.answering.followed import Followed
from rag.answering.support import Likeness
from rag.answering.work import Work
from rag.answering.writing import Writer
from rag.config import Config
from rag.index.browse import Filter
from rag.index.reader import IndexReader
from rag.retrieval.evidence import Budget
from rag.retrieval.query import Question
from rag.retrieval.search import Found
from rag.schema import Kind


@dataclass(frozen=True, slots=True)
class Bench:
    """The parts that an answerer works with.

    `asker` is None where no model is there; `likeness` compares a claim with sentences by meaning.
    """

    config: Config
    reader: IndexReader
    finder: Finder
    writer: Writer
    budget: Budget
    decider: Decider
    asker: Asker | None = None
    likeness: Likeness | None = None

    def work(
        self,
        case: Case,
        found: Found | None,
        decision: Decision | None = None,
        followed: Followed | None = None,
    ) -> Work:
        """An answer to begin; `found` is what was searched for it, None if nothing was.

        `decision` is that to answer, `followed` how the question was understood.
        """
        state = ("", self.config.embedding_model)
        if found is not None:
            state = (found.index_state, found.embedding_model)
        return Work(
            self.config,
            self.writer,
            case.typed or case.question.text,
            *state,
            found,
            case.notify,
            self.likeness,
            decision,
            followed=followed,
            command=case.command,
            numbers=case.numbers,
        )


@dataclass(frozen=True, slots=True)
class Case:
    """A question to be answered: `filters` were given beside it, `notify` hears of waits.

    `command` is what has it answered, `typed` the question as it was put, where that is not the
    same, `numbers` are those of the papers that the conversation has
    cited before, by id.
    """

    question: Question
    kind: Kind
    filters: tuple[Filter, ...] = ()
    reading: Reading = field(default_factory=Reading)
    notify: Callable[[str], None] | None = None
    numbers: Mapping[str, int] = field(default_factory=dict)
    command: str = "ask"
    typed: str = ""

    def tell(self, wait: str) -> None:
        """Say what takes a while, to whoever listens."""
        if self.notify is not None:
            self.notify(wait)
