"""The assistant: from a question to a checked answer. The one place where parts are composed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Self

from rag.answering.asking import Asker, Reading
from rag.answering.bench import Bench, Case
from rag.answering.conversation import Conversation, names_paper
from rag.answering.deciding import Decider
from rag.answering.direct import answer_directly, evidence_for
from rag.answering.disclosure import disclosure
from rag.answering.dispatch import UNFILTERED, answer_by_kind
from rag.answering.events import Done, Event
from rag.answering.exchange import Generator, silent
from rag.answering.finding import Finder
from rag.answering.followed import Followed
from rag.answering.guarded import Guarded
from rag.answering.helping import asker_of, budget_of, decider_of, finder_of, to_summarise
from rag.answering.kinds import kind_of
from rag.answering.listing import list_papers
from rag.answering.parts import built_with, embedder_of, generator_of, vectors_of, writing
from rag.answering.prompting import label
from rag.answering.resolving import Resolver, in_conversation
from rag.answering.served import as_wanted, with_model
from rag.answering.stop import Stop
from rag.answering.support import Judgement, Pinned, judge
from rag.answering.survey import survey
from rag.answering.tables import Tables
from rag.answering.work import Work
from rag.answering.writing import Task, Writer
from rag.config import Config
from rag.errors import AskPapersError, IndexUnusable, ModelError, PaperNotFound
from rag.index.browse import Filter
from rag.index.catalog import Catalog
from rag.index.embedding import paper_vector
from rag.index.manifest import Damaged, Unavailable
from rag.index.reader import IndexReader
from rag.index.remembering import RememberingEmbedder
from rag.index.snapshot import Counts
from rag.index.sync import Indexer
from rag.retrieval.evidence import Chosen
from rag.retrieval.fusion import Weights
from rag.retrieval.lookup import find_paper
from rag.retrieval.query import Question, read_question
from rag.retrieval.search import Found, Searcher
from rag.schema import Answer, Evidence, Kind, Nearest, Paper

_SUMMARY_CLAIMS = 4
_SUMMARY_SENTENCES = 20
_SUMMARISE = "Summarise this paper."


class Assistant:
    """Searches, answers and summarises over one index. Safe for use by several threads."""

    def __init__(
        self,
        config: Config,
        reader: IndexReader,
        finder: Finder,
        writer: Writer,
        asker: Asker | None = None,
        decider: Decider | None = None,
    ) -> None:
        """`asker` puts short questions to the model that writes; without it none is put.

        Without a `decider` whoever writes decides by being silent.
        """
        self.config = config
        self._reader = reader
        self._finder = finder
        self._writer = writer
        parts = (config, reader, finder, writer, budget_of(config), decider or Decider(None))
        self._bench = Bench(*parts, asker, self._likeness)
        self._guarded = Guarded(reader)
        self._resolver = Resolver(finder, self._called)
        self.tables = Tables(config, reader, finder, writer, asker)

    @classmethod
    def from_config(
        cls,
        config: Config,
        notify: Callable[[str], None] = lambda _: None,
        wrap: Callable[[Generator], Generator] = lambda generator: generator,
    ) -> Self:
        """Compose an assistant. Nothing is loaded or connected before it is needed.

        `notify` hears of repairs that a reader should know of, and of an index that is served with
        another embedding model than the settings say. `wrap` is put around the model that writes,
        to see or change what it is asked and says.

        Raises:
            WeightsError: the settings ask for weights that are not there.
            ConfigError: the settings ask for a server without saying which.
        """
        chosen = as_wanted(config)
        embedder = embedder_of(chosen, notify)
        vectors, built = vectors_of(config), built_with(chosen)
        indexer = Indexer(config.data_dir, embedder, built, lambda *_: None, vectors)

        def repair(fault: Damaged) -> None:
            if isinstance(fault, Unavailable):
                notify(f"{fault} Until then papers are searched exactly.")
                return
            notify(f"{fault} It is built again from the catalog.")
            try:
                indexer.rebuild_vectors()
            except AskPapersError as error:
                notify(f"{error} Until then papers are searched exactly.")

        reader = IndexReader(
            Catalog(config.data_dir / "catalog.sqlite3"),
            vectors,
            RememberingEmbedder(embedder),
            built,
            repair,
            models=lambda name: RememberingEmbedder(embedder_of(with_model(config, name), notify)),
            notify=notify,
        )
        weights = Weights(
            config.weight_dense,
            config.weight_lexical,
            config.weight_sentence,
            config.lexical_coverage,
            config.weight_aspect,
        )
        generator = generator_of(config)
        generator = None if generator is None else wrap(generator)
        searcher = Searcher(reader, weights, ahead=not config.served_embedding)
        finder = finder_of(config, searcher, generator)
        asker, decider = asker_of(config, generator), decider_of(config, generator)
        return cls(config, reader, finder, writing(generator, config), asker, decider)

    def speaking_as(self, persona: str) -> Self:
        """The same assistant with another persona: index and model are shared, and closed once."""
        config = self.config.model_copy(update={"persona": persona})
        bench = self._bench
        kept = (self._reader, self._finder, self._writer, bench.asker, bench.decider)
        return type(self)(config, *kept)

    @property
    def writer_name(self) -> str:
        """Who writes the answers."""
        return self._writer.name

    def counts(self) -> Counts:
        """How much the index holds.

        Raises:
            IndexUnusable: there is no index, or none that fits the settings.
        """
        with self._reader.state() as state:
            return state.snapshot.counts()

    def standing(self) -> tuple[str, str]:
        """The state of the index and its embedding model, as an answer's manifest names them.

        Raises:
            IndexUnusable: as `counts`.
        """
        with self._reader.state() as state:
            return state.name, state.embedding_model

    def search(
        self, question: str, limit: int | None = None, *, filters: Sequence[Filter] = ()
    ) -> Found:
        """The papers nearest to a question, each with its best sentences.

        `filters` say what papers must have beside what the question says. Where a model writes
        the answers, it helps to search where that is needed.

        Raises:
            UsageError: an empty question, one that is too long, or no paper is asked for.
            IndexUnusable: there is no index to search.
        """
        asked = read_question(question, max_chars=self.config.max_question_chars)
        limit = self.config.top_k if limit is None else limit
        return self._finder.find(asked, limit, Reading(), filters=filters)

    def look_up(
        self, question: str, limit: int | None = None, *, filters: Sequence[Filter] = ()
    ) -> Found:
        """As `search`, but no model is asked to help, so that it never waits for one."""
        asked = read_question(question, max_chars=self.config.max_question_chars)
        limit = self.config.top_k if limit is None else limit
        return Finder(self._finder.searcher).find(asked, limit, Reading(), filters=filters)

    def evidence(self, question: str) -> list[Chosen]:
        """The sentences that an answer would be written from, most wanted first.

        Raises:
            UsageError, IndexUnusable: as `search`.
        """
        asked = read_question(question, max_chars=self.config.max_question_chars)
        return evidence_for(self._bench, asked, Reading(), Followed(asked.text))[1]

    def signals(self, question: str) -> dict[str, float]:
        """What it is judged by whether the collection answers; see `rag.answering.signals`.

        Raises:
            UsageError, IndexUnusable: as `search`.
        """
        asked = read_question(question, max_chars=self.config.max_question_chars)
        found, chosen = evidence_for(self._bench, asked, Reading(), Followed(asked.text))
        sentences = label([(hit.paper, evidence) for hit, evidence in chosen])
        return self._bench.decider.seen(found, sentences, Reading())

    def ask(
        self,
        question: str,
        *,
        conversation: Conversation | None = None,
        filters: Sequence[Filter] = (),
        notify: Callable[[str], None] | None = None,
        stop: Stop | None = None,
    ) -> Iterator[Event]:
        """Answer a question, event by event; the last one holds the whole answer.

        A question whether a person answers is answered first of all: that needs no index.
        `conversation` is what was asked and answered before: the question may go on about it,
        and its citation numbers go on. The next one has `conversation.after(answer)`.
        `filters` say what papers must have beside what the question says.

        `notify` hears of waits as they begin, from within `next`; without it a wait becomes an
        event once it is over. `stop` ends the writing from another thread.

        Raises:
            UsageError, IndexUnusable: as `search`.
            ModelError: the model could not be used, and nothing was written.
        """
        yield from self._guarded.watch(
            self._answering(question, conversation, filters, notify, stop)
        )

    def _answering(
        self,
        question: str,
        conversation: Conversation | None,
        filters: Sequence[Filter],
        notify: Callable[[str], None] | None,
        stop: Stop | None,
    ) -> Iterator[Event]:
        """See `ask`."""
        asked = read_question(question, max_chars=self.config.max_question_chars)
        if said := disclosure(asked.text):
            config = self.config
            yield Work(config, self._writer, asked.text, "", config.embedding_model).disclose(said)
            return
        reading = Reading(notify or silent, stop or Stop())
        before = conversation or Conversation()
        followed = self._resolver.resolve(asked.text, before, reading)
        understood, kind = Question(followed.text), kind_of(followed.text)
        wanted, command = (*followed.filters, *filters), _command("ask", filters)
        case = Case(understood, kind, wanted, reading, notify, before.numbers, command)
        # "Another paper about the same": of what, a list over the collection cannot know.
        own_form = not followed.without and not (filters and kind in UNFILTERED)
        if own_form and (events := answer_by_kind(self._bench, case)):
            yield from in_conversation(events, asked.text, followed)
        else:
            directly = replace(case, typed=asked.text)
            yield from answer_directly(self._bench, directly, followed, before)

    def list_papers(
        self,
        condition: str,
        *,
        filters: Sequence[Filter] = (),
        notify: Callable[[str], None] | None = None,
        stop: Stop | None = None,
    ) -> Iterator[Event]:
        """The papers of the whole collection that meet a condition, a question or words for it.

        `filters` say what papers must have beside that; `notify` and `stop` are as for `ask`.

        Raises:
            UsageError, IndexUnusable: as `search`.
        """
        case = self._case(condition, "list", filters, notify, stop)
        yield from self._guarded.watch(list_papers(self._bench, case))

    def survey(
        self,
        topic: str,
        *,
        filters: Sequence[Filter] = (),
        notify: Callable[[str], None] | None = None,
        stop: Stop | None = None,
    ) -> Iterator[Event]:
        """An overview of a topic, theme by theme. The rest is as for `list_papers`."""
        case = self._case(topic, "overview", filters, notify, stop)
        yield from self._guarded.watch(survey(self._bench, case))

    def _case(
        self,
        text: str,
        kind: Kind,
        filters: Sequence[Filter],
        notify: Callable[[str], None] | None,
        stop: Stop | None,
    ) -> Case:
        asked = read_question(text, max_chars=self.config.max_question_chars)
        reading = Reading(notify or silent, stop or Stop())
        command = _command("list" if kind == "list" else "survey", filters)
        return Case(asked, kind, tuple(filters), reading, notify, command=command)

    def answer(self, question: str, *, conversation: Conversation | None = None) -> Answer:
        """Answer a question, whole."""
        return last_answer(self.ask(question, conversation=conversation))

    def summarize(
        self, reference: str, *, notify: Callable[[str], None] | None = None
    ) -> Iterator[Event]:
        """A cited summary of one paper, named by id, `source:ordinal` or name.

        `notify` is as for `ask`.

        Raises:
            PaperNotFound: no paper, or several, answer to the reference.
        """
        with self._reader.state() as state:
            paper = find_paper(state.snapshot, reference)
            described = (state.name, state.embedding_model)
        evidence = [
            Evidence(paper.id, index, s.text, s.start, s.end, 0.0)
            for index, s in enumerate(paper.sentences[:_SUMMARY_SENTENCES])
        ]
        title = f"Summary of {paper.title}"
        work = Work(
            self.config,
            self._writer,
            title,
            *described,
            notify=notify,
            likeness=self._likeness,
            command="summarize",
        )
        said = label([(paper, e) for e in evidence])
        sentences = to_summarise(self.config, said, _SUMMARY_CLAIMS)
        task = Task("summary", _SUMMARISE, sentences, _SUMMARY_CLAIMS)
        yield from self._guarded.watch(work.write(task))

    def papers(self, paper_ids: Iterable[str]) -> dict[str, Paper]:
        """Those of the named papers that there are, by id."""
        with self._reader.state() as state:
            return state.snapshot.papers(paper_ids)

    def similar(self, paper_id: str, limit: int) -> list[Nearest]:
        """The papers that are nearest to a paper, nearest first; none where it has no vector.

        Raises:
            IndexUnusable: as `search`.
        """
        with self._reader.state() as state:
            matrix = state.chunk_matrices([paper_id]).get(paper_id)
            if matrix is None:
                return []
            near = state.nearest(paper_vector(matrix), limit + 1)
            papers = state.snapshot.papers(near)
        others = [key for key in near if key in papers and key != paper_id]
        return [Nearest(papers[key], near[key]) for key in others[:limit]]

    def find(self, reference: str) -> Paper:
        """The paper that a reference names."""
        with self._reader.state() as state:
            return find_paper(state.snapshot, reference)

    def _called(self, name: str) -> Paper | None:
        """The paper that has a name as its own, if there is exactly one."""
        try:
            paper = self.find(name)
        except PaperNotFound:
            return None
        return paper if names_paper(name, paper) else None

    def judge(self, claim: str, support: Sequence[Pinned], question: str = "") -> Judgement:
        """Whether sentences support a claim, by the rules that every answer is checked by."""
        return judge(claim, support, question, self._likeness)

    def _likeness(self, claim: str, sentences: Sequence[str]) -> float | None:
        """See `Likeness`; a model that fails here leaves the check to the words."""
        try:
            with self._reader.state() as state:
                vectors = state.embed([claim, *sentences])
        except (ModelError, IndexUnusable):
            return None
        return float((vectors[1:] @ vectors[0]).max())

    def close(self) -> None:
        """End the model and close the index."""
        self._writer.close()
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _command(name: str, filters: Sequence[Filter]) -> str:
    """What an answer is made by; filters are not recorded, so that it cannot be made again."""
    return f"{name} with filters" if filters else name


def last_answer(events: Iterator[Event]) -> Answer:
    """The answer that a run of events ends with."""
    answer: Answer | None = None
    for event in events:
        if isinstance(event, Done):
            answer = event.answer
    if answer is None:
        raise RuntimeError("the events ended without an answer")
    return answer
