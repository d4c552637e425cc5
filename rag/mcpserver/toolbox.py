"""The tools, whoever calls them: what each is called, takes and gives, and how it is done.

Nothing here knows of the protocol. All of it is safe for several threads.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rag import jsonform
from rag.answering.assistant import Assistant
from rag.answering.citations import render_claim
from rag.answering.conversation import Conversation
from rag.answering.events import ClaimMade, Done, Event, Heading, Notice
from rag.answering.stop import Stop
from rag.errors import UsageError
from rag.index.browse import browse, sources_of
from rag.index.catalog import Catalog
from rag.mcpserver import arguments, schemas
from rag.mcpserver.texts import answer_text, found_text, listing_text
from rag.retrieval.lookup import find_paper
from rag.schema import Answer
from rag.text import legible

PAPER_PAGE = 100  # papers in a page of the list of resources
_CONVERSATIONS = 100  # that are remembered: the last ones used

Hear = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool gives: for reading, and the value of the command's `--json`."""

    text: str
    structured: jsonform.Json


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is offered; `takes` and `gives` are JSON schemas."""

    name: str
    title: str
    description: str
    takes: Mapping[str, Any]
    gives: Mapping[str, Any]


TOOLS = (
    Tool(
        "ask",
        "Ask the papers",
        "Answer a question from the paper abstracts of this collection. Every sentence of the "
        "answer has the numbers of the papers that it relies on, and was checked against the "
        "sentences of these, which are given. Where the collection does not say, the answer says "
        "so (status abstained) and names the nearest papers. It may take half a minute.",
        arguments.Ask.schema_of(),
        schemas.ANSWER,
    ),
    Tool(
        "search",
        "Search the papers",
        "Find papers of this collection by what they are about, best first, each with the "
        "sentences of its abstract that match best. No model writes; it takes a second.",
        arguments.Search.schema_of(),
        schemas.FOUND,
    ),
    Tool(
        "summarize",
        "Summarize a paper",
        "Summarize one paper of this collection in two to four sentences, each with the sentence "
        "of the abstract that it relies on.",
        arguments.Summarize.schema_of(),
        schemas.ANSWER,
    ),
    Tool(
        "papers",
        "List papers",
        "List the papers of this collection, or those of a year, venue, author, file or with "
        "certain words, in the order of their files; and say how many there are.",
        arguments.Papers.schema_of(),
        schemas.LISTING,
    ),
)


class Toolbox:
    """The tools over one assistant, with the conversations that are going on."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._catalog = Catalog(assistant.config.data_dir / "catalog.sqlite3")
        self._talks: OrderedDict[str, Conversation] = OrderedDict()
        self._lock = threading.Lock()
        self._run: Mapping[str, Callable[[Mapping[str, Any], Hear, Stop], Result]] = {
            "ask": self._ask,
            "search": self._search,
            "summarize": self._summarize,
            "papers": self._papers,
        }

    def call(self, name: str, given: Mapping[str, Any], hear: Hear, stop: Stop) -> Result:
        """Do what a tool is for. `hear` is told how far it is; `stop` ends the writing.

        Raises:
            AskPapersError: as the command of that name; an unknown tool is a UsageError.
        """
        if name not in self._run:
            raise UsageError(
                f"There is no tool {legible(name)!r}", remedy=f"There are {', '.join(self._run)}."
            )
        return self._run[name](given, hear, stop)

    def titles(self, offset: int) -> list[tuple[str, str]]:
        """Id and title of the papers from a place on, a page of them."""
        with self._catalog.reading() as snapshot:
            return snapshot.titles()[offset : offset + PAPER_PAGE]

    def paper(self, paper_id: str) -> jsonform.Json:
        """One paper, as `rag papers show --json` prints it.

        Raises:
            PaperNotFound: there is none of that id.
        """
        with self._catalog.reading() as snapshot:
            found = find_paper(snapshot, paper_id)
            return jsonform.paper(found, sources_of(snapshot, found.id))

    def close(self) -> None:
        """Close the catalog; the assistant is its owner's to close."""
        self._catalog.close()

    def _ask(self, given: Mapping[str, Any], hear: Hear, stop: Stop) -> Result:
        wanted = arguments.Ask.read(given)
        before = self._talk(wanted.conversation)
        events = self._assistant.ask(
            wanted.question,
            conversation=before,
            filters=wanted.filters(),
            notify=hear,
            stop=stop,
        )
        answer = _heard(events, hear)
        if wanted.conversation:
            self._remember(wanted.conversation, before.after(answer))
        return Result(answer_text(answer), jsonform.answer(answer))

    def _search(self, given: Mapping[str, Any], _hear: Hear, _stop: Stop) -> Result:
        wanted = arguments.Search.read(given)
        found = self._assistant.search(wanted.query, wanted.limit, filters=wanted.filters())
        return Result(found_text(found), jsonform.found(found))

    def _summarize(self, given: Mapping[str, Any], hear: Hear, _stop: Stop) -> Result:
        wanted = arguments.Summarize.read(given)
        answer = _heard(self._assistant.summarize(wanted.paper, notify=hear), hear)
        return Result(answer_text(answer), jsonform.answer(answer))

    def _papers(self, given: Mapping[str, Any], _hear: Hear, _stop: Stop) -> Result:
        wanted = arguments.Papers.read(given)
        with self._catalog.reading() as snapshot:
            passed = browse(snapshot, wanted.filter())
            before = sum(1 for _ in islice(passed, wanted.offset))
            shown = list(islice(passed, wanted.limit))
            total = before + len(shown) + sum(1 for _ in passed)
        text = listing_text(shown, total, wanted.offset)
        return Result(text, jsonform.listing(shown, total))

    def _talk(self, name: str) -> Conversation:
        with self._lock:
            return self._talks.get(name, Conversation()) if name else Conversation()

    def _remember(self, name: str, talk: Conversation) -> None:
        with self._lock:
            self._talks[name] = talk
            self._talks.move_to_end(name)
            while len(self._talks) > _CONVERSATIONS:
                self._talks.popitem(last=False)


def _heard(events: Iterator[Event], hear: Hear) -> Answer:
    """The answer, whoever waits being told each claim as it comes."""
    answer: Answer | None = None
    for event in events:
        if isinstance(event, Notice):
            hear(event.text)
        elif isinstance(event, Heading):
            hear(event.title)
        elif isinstance(event, ClaimMade):
            hear(legible(render_claim(event.claim)))
        elif isinstance(event, Done):
            answer = event.answer
    if answer is None:
        raise RuntimeError("the events ended without an answer")
    return answer
