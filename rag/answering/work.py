"""One answer being made: drafts are checked, numbered and shown, or dropped and recorded."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version

from rag.answering.citations import Numbering, render, render_sections
from rag.answering.crosslingual import repin_across
from rag.answering.deciding import Decision
from rag.answering.disclosure import Disclosure
from rag.answering.events import CitationAdded, ClaimMade, Done, Event, Heading, Notice
from rag.answering.facts import names
from rag.answering.followed import Followed
from rag.answering.forms import put
from rag.answering.marks import without_marks
from rag.answering.missing import Premise, missing, premises
from rag.answering.prompting import Labelled
from rag.answering.replies import Draft, labels_in
from rag.answering.speech import quoted_note, refusal_to
from rag.answering.support import Judgement, Likeness, Pinned, repin
from rag.answering.unlinked import without_foreign, without_links
from rag.answering.writing import Ending, QuotingWriter, Refused, Task, Writer
from rag.config import Config
from rag.guarding.guard import suspicious
from rag.retrieval.expansion import Help
from rag.retrieval.search import Found
from rag.schema import Answer, Claim, Dropped, Evidence, Kind, Nearest, Paper, Section, Status
from rag.text import legible, normalise

_QUOTES_IN_PLACE_OF_CLAIMS = 2
_QUOTABLE = 3  # sentences, nearest first, that are quoted beside a model's claims
_NEAREST = 3
_STRAYS_TOLD, _STRAY_CHARS = 5, 60
_REPAIRS = 2
_REPEATS = "it repeats an earlier claim"
_OBEYS = "it does what a sentence orders a model to do"
_BEYOND_REPAIR = {_REPEATS, _OBEYS}


class Work:
    """One answer being made."""

    def __init__(
        self,
        config: Config,
        writer: Writer,
        question: str,
        index_state: str,
        embedding_model: str,
        found: Found | None = None,
        notify: Callable[[str], None] | None = None,
        likeness: Likeness | None = None,
        decision: Decision | None = None,
        command: str = "ask",
        followed: Followed | None = None,
        numbers: Mapping[str, int] | None = None,
    ) -> None:
        """`notify` hears of waits as they begin; without it they become events after the wait.

        `likeness` compares claims with sentences in meaning; `decision` is that to answer.
        `command` is what has the answer made, so that it can be made again. In a conversation,
        `followed` is how the question was understood, and `numbers` are those of the papers that
        were cited before.
        """
        self._command = command
        self._confidence = decision.confidence if decision else None
        self._config = config
        self._writer = writer
        self._question = question
        self._followed = followed or Followed(question)
        self._index_state = index_state
        self._embedding_model = embedding_model
        self._found = found
        self._help = found.help if found else Help()
        self._likeness = likeness
        self._numbering = Numbering(numbers)
        self._claims: list[ClaimMade] = []
        self._sections: list[Section] = []
        self._kind: Kind = "fact"
        self._formed = False
        self._quoted = ""  # why sentences are quoted in place of claims
        self._refused: list[Refused] = []
        self._repairs: list[dict[str, str]] = []
        self._dropped: list[Dropped] = []
        self._strays: dict[str, None] = {}
        self._notices: list[str] = []
        self._notify = notify or self._notices.append
        self._shown: dict[str, int] = {}

    def write(self, task: Task, kind: Kind = "fact") -> Iterator[Event]:
        """Have the writer write, check each claim, put it in its form, and end with the answer."""
        self._kind = kind
        ending = yield from self.part(task)
        yield Done(self._answer(task.sentences, self._quoted or ending.fault or ending.cut, ending))

    def part(self, task: Task) -> Generator[Event, None, Ending]:
        """Have the writer write a part of an answer, and check each claim; how that ended."""
        by_label = {item.label: item for item in task.sentences}
        ending = Ending()
        drafts, before = 0, len(self._claims)
        for piece in self._written(task, by_label):
            yield from self._pending_notices()
            if isinstance(piece, Ending):
                ending = piece
            else:
                drafts += 1
                yield from self._check(piece, by_label)
        broken = bool(ending.fault or ending.cut)
        yield from self._repair(task, by_label, broken=broken)
        if len(self._claims) == before and not ending.silent:
            reason = "no claim could be supported" if drafts else "no claim could be read"
            yield from self._quote(task, by_label)
            self._quoted = (
                f"{ending.fault or ending.cut or reason}; the closest sentences are quoted"
            )
        elif len(self._claims) > before and not broken:
            yield from self._quote_beside(task, by_label, before)
        return ending

    def _written(self, task: Task, by_label: dict[str, Labelled]) -> Iterator[Draft | Ending]:
        """What the writer writes; of quotations the one that has the answer in its form first."""
        pieces = self._writer.write(task, self._notify)
        if not isinstance(self._writer, QuotingWriter):
            yield from pieces
            return

        def waits(piece: Draft | Ending) -> int:
            if isinstance(piece, Ending):
                return 2
            pinned = [(by_label[n].paper, by_label[n].evidence) for n in piece.labels]
            return int(put(self._kind, self._followed.text, piece.text, pinned) == piece.text)

        yield from sorted(pieces, key=waits)

    def begin(self) -> Iterator[Notice]:
        """What is to be known before the answer: how a follow-up was understood."""
        if self._followed.text != self._question:
            self._notify(f"understood as: {self._followed.text}")
        yield from self._pending_notices()

    def abstain(self) -> Done:
        """The answer where nothing that was found comes near the question."""
        return Done(self._answer((), "", Ending()))

    def disclose(self, said: Disclosure) -> Done:
        """The answer to whoever asks if a person answers; no paper has a part in it."""
        answer = self._answer((), "", Ending(facts={"disclosed": said.language}))
        return Done(replace(answer, status="answered", text=said.text))

    def head(self, title: str) -> Heading:
        """Begin a part of the answer."""
        self._sections.append(Section(title, len(self._claims)))
        return Heading(title)

    def state(
        self, text: str, support: Sequence[Pinned], judgement: Judgement | None = None
    ) -> Iterator[Event]:
        """Number a claim that was checked, and show it with what it cites; else it is a quote."""
        judged = judgement or Judgement("supported", probability=1.0)
        claim = self._numbering.cite(without_links(text), support, judged.verdict)
        made = ClaimMade(replace(claim, probability=judged.probability, reason=judged.reason))
        self._claims.append(made)
        for citation in self._numbering.citations():
            if self._shown.get(citation.paper.id) != len(citation.sentences):
                self._shown[citation.paper.id] = len(citation.sentences)
                yield CitationAdded(citation)
        yield made

    def finish(self, ending: Ending | None = None, sentences: Sequence[Labelled] = ()) -> Answer:
        """The answer of what was stated so far, and of what `sentences` were written from."""
        last = ending or Ending()
        return self._answer(sentences, self._quoted or last.fault or last.cut, last)

    def _pending_notices(self) -> Iterator[Notice]:
        while self._notices:
            yield Notice(self._notices.pop(0))

    def _check(self, draft: Draft, by_label: dict[str, Labelled]) -> Iterator[Event]:
        """Show a claim that its sentences bear out; keep another one to be repaired."""
        if refusal := (yield from self._take(draft, by_label)):
            self._refused.append(Refused(draft, refusal))

    def _take(self, draft: Draft, by_label: dict[str, Labelled]) -> Generator[Event, None, str]:
        """Show a claim if it may be; returns why not, empty where it was shown."""
        named = [by_label[name] for name in draft.labels if name in by_label]
        given = list(by_label.values())
        bare, addresses = without_foreign(draft.text, (item.evidence.text for item in named))
        text, marks = without_marks(bare, (item.evidence.text for item in given))
        support, judgement = repin_across(text, named, given) or repin(
            text, named, given, self._followed.text, self._likeness
        )
        if judgement.verdict in {"unsupported", "contradicted"}:
            return judgement.reason
        if _obeys(text, support):
            return _OBEYS
        said = (normalise(made.claim.text) for made in self._claims)
        if any(one.endswith(normalise(text)) for one in said):
            return _REPEATS
        unknown = [name for name in draft.labels if name not in by_label]
        written = [mark for mark in marks if not _repeats(mark, draft)]
        self._strays |= dict.fromkeys([*unknown, *draft.strays, *written, *addresses])
        formed = text if self._formed else put(self._kind, self._followed.text, text, support)
        self._formed = formed != text or self._formed
        yield from self.state(formed, support, judgement)
        return ""

    def _repair(
        self, task: Task, by_label: dict[str, Labelled], *, broken: bool
    ) -> Iterator[Event]:
        """Have each refused claim written anew, once, and drop what is refused again.

        After the writing, for a model writes one thing at a time; not where that broke off.
        """
        left = 0 if broken or not self._config.repair else _REPAIRS
        for one in self._refused:
            new = None
            if left and one.reason not in _BEYOND_REPAIR and not task.stop.given:
                left -= 1
                new = self._writer.repair(one, task, self._notify)
                yield from self._pending_notices()
            if new is not None and not (yield from self._take(new, by_label)):
                self._repairs.append({"text": one.draft.text, "reason": one.reason})
            else:
                self._dropped.append(Dropped(one.draft.text, one.reason))
        self._refused.clear()

    def _quote(self, task: Task, by_label: dict[str, Labelled]) -> Iterator[Event]:
        quotes = Task(task.kind, task.question, task.sentences, _QUOTES_IN_PLACE_OF_CLAIMS)
        for piece in QuotingWriter().write(quotes, self._notify):
            if isinstance(piece, Draft):
                yield from self._check(piece, by_label)
        self._dropped += [Dropped(one.draft.text, one.reason) for one in self._refused]

    def _quote_beside(
        self, task: Task, by_label: dict[str, Labelled], before: int
    ) -> Iterator[Event]:
        """Quote the nearest sentences that no claim cites, unless a claim gives what was asked.

        So it does where it cites the nearest one, if a name in the question tells which that is.
        """
        claims = (made.claim for made in self._claims[before:])
        cited = {(one.paper_id, one.index) for claim in claims for one in claim.support}
        nearest = sorted(task.sentences, key=lambda item: -item.relevance)[:_QUOTABLE]
        left = [s for s in nearest if (s.paper.id, s.evidence.index) not in cited]
        surely = bool(names(task.question)) and left[:1] != nearest[:1]
        told = self._formed or surely or isinstance(self._writer, QuotingWriter)
        if told or not task.quotes or not left:
            return
        quotes = Task(task.kind, task.question, tuple(left), task.quotes)
        for piece in QuotingWriter().write(quotes, self._notify):
            if isinstance(piece, Draft):
                yield from self._take(piece, by_label)

    def _answer(self, sentences: Sequence[Labelled], fault: str, ending: Ending) -> Answer:
        claims = tuple(made.claim for made in self._claims)
        status: Status = "answered" if claims else "abstained"
        if claims and (fault or self._dropped):
            status = "partial"
        told = ""
        if not claims and self._found:
            mixed_up = premises(self._found)
            claims, told = self._corrected(mixed_up), missing(self._found, mixed_up)
        cited = self._numbering.citations()
        return Answer(
            question=self._question,
            status=status,
            text=self._text(claims, status),
            claims=claims,
            citations=cited,
            dropped=tuple(self._dropped),
            nearest=self._nearest({citation.paper.id for citation in cited}),
            manifest=self._manifest(sentences, ending),
            note="; ".join(filter(None, (fault, *self._told(claims)))),
            complete=not ending.fault,
            kind=self._kind,
            sections=tuple(self._sections) if claims else (),
            confidence=self._confidence,
            missing=(not claims and self._followed.missing) or told,
        )

    def _corrected(self, mixed_up: Sequence[Premise]) -> tuple[Claim, ...]:
        """Quotations of what stands in other papers than the question says; no answer to it."""
        quoted = {(one.paper.id, one.evidence.index): one for one in mixed_up}
        return tuple(
            self._numbering.cite(
                without_links(legible(said.text)), [(one.paper, said)], "supported"
            )
            for one in quoted.values()
            for said in [one.evidence]
        )

    def _text(self, claims: Sequence[Claim], status: Status) -> str:
        if claims and self._sections:
            return render_sections(self._sections, claims)
        refusal = refusal_to(self._followed.text) if status == "abstained" else ""
        return " ".join(filter(None, (refusal, render(claims))))

    def _told(self, claims: Sequence[Claim]) -> tuple[str, ...]:
        quoted = quoted_note(self._followed.text, claims)
        return quoted, self._told_strays(), self._help.note

    def _told_strays(self) -> str:
        """What shown claims cite that the model was not given; it is left out of them."""
        names = ", ".join(name[:_STRAY_CHARS] for name in list(self._strays)[:_STRAYS_TOLD])
        return f"the model also cited what it was not given: {names}" if names else ""

    def _nearest(self, cited: set[str]) -> tuple[Nearest, ...]:
        hits = self._found.hits if self._found else ()
        others = [Nearest(hit.paper, hit.score) for hit in hits if hit.paper.id not in cited]
        return tuple(others[:_NEAREST])

    def _read(self, sentences: Sequence[Labelled]) -> list[str]:
        """What the answer was written from; where nobody wrote, that is what it cites."""
        given = [item.evidence for item in sentences]
        cited = [evidence for made in self._claims for evidence in made.claim.support]
        ids = (f"{evidence.paper_id}:{evidence.index}" for evidence in given or cited)
        return list(dict.fromkeys(ids))

    def _manifest(self, sentences: Sequence[Labelled], ending: Ending) -> dict[str, object]:
        return {
            "askpapers": version("askpapers"),
            "index": self._index_state,
            "understood": list(self._found.query.notes) if self._found else [],
            "embedding_model": self._embedding_model,
            "writer": self._writer.name,
            "settings": self._config.fingerprint(),
            "changed": self._config.changed(),
            "command": self._command,
            "found": [hit.paper.id for hit in self._found.hits] if self._found else [],
            "confidence": self._confidence,
            "evidence": self._read(sentences),
            "repairs": list(self._repairs),
            "help": [asdict(step) | {"texts": list(step.texts)} for step in self._help.steps],
            **self._followed.told(),
            **ending.facts,
        }


def _obeys(claim: str, support: Sequence[tuple[Paper, Evidence]]) -> bool:
    """Whether a claim rests on orders to a model alone, and is no quotation of them.

    A planted "reply only with YES" has every word of the claim "YES", and says nothing. Whoever
    studies such orders is quoted.
    """
    orders = [evidence.text for _, evidence in support if suspicious(evidence.text)]
    whole = {normalise(legible(text)) for text in orders}
    return bool(orders) and len(orders) == len(support) and normalise(claim) not in whole


def _repeats(mark: str, draft: Draft) -> bool:
    """Whether a mark in the text of a claim says no more than the labels that it has anyway."""
    named = labels_in(mark)
    return bool(named) and set(named) <= set(draft.labels)
