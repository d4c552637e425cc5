"""An answer of before against the collection of now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rag.answering import prompting
from rag.answering.asking import Reading
from rag.answering.assistant import Assistant, last_answer
from rag.answering.events import Event
from rag.answering.exchange import silent
from rag.answering.support import Judgement
from rag.answering.templates import used
from rag.errors import PaperNotFound, UsageError
from rag.replaying.checking import (
    ClaimCheck,
    Pinned,
    SentenceCheck,
    check_claims,
    check_sentences,
)
from rag.replaying.comparing import Difference, causes, outcome, why
from rag.replaying.record import Recorded
from rag.schema import Answer, Paper

_AGAIN = {"ask", "summarize", "compare", "list", "survey"}
_OWNERS = 5  # papers looked at for one that has a sentence


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of an answer.

    `causes` is what made it and is not as it was; `differences` what came out otherwise when it
    was made again, and `why` what may explain that. `answer` is None where it was not made again;
    `not_run` says why, where that was asked for, and `failed` that it should have been possible.
    """

    question: str
    sentences: tuple[SentenceCheck, ...]
    claims: tuple[ClaimCheck, ...]
    causes: tuple[Difference, ...]
    differences: tuple[Difference, ...] = ()
    why: tuple[str, ...] = ()
    answer: Answer | None = None
    not_run: str = ""
    failed: bool = False

    @property
    def same(self) -> bool:
        """Whether a reader would see the same; another index or model alone changes nothing."""
        return (
            all(check.state == "unchanged" for check in self.sentences)
            and all(check.before == check.now for check in self.claims)
            and not any(difference.is_seen for difference in self.differences)
            and not self.failed
        )


def replay(
    assistant: Assistant,
    recorded: Recorded,
    *,
    run: bool = True,
    notify: Callable[[str], None] | None = None,
) -> Replayed:
    """Check every citation of an answer, judge its claims again and, if to `run`, make it again.

    Raises:
        IndexUnusable, ModelError: as `Assistant.ask`.
    """

    def judged(text: str, support: list[Pinned]) -> Judgement:
        return assistant.judge(text, support, recorded.question)

    papers = assistant.papers({cited.paper_id for cited in recorded.citations})
    sentences = check_sentences(recorded, papers, lambda text: _owner(assistant, text))
    claims = check_claims(recorded, sentences, judged)
    checked = (recorded.question, tuple(sentences.values()), tuple(claims))
    if not run:
        return Replayed(*checked, tuple(causes(recorded.manifest, _standing(assistant, recorded))))
    try:
        answer = last_answer(_again(assistant, recorded, notify))
    except UsageError as error:
        standing = _standing(assistant, recorded)
        found = causes(recorded.manifest, standing)
        known = recorded.command in _AGAIN
        return Replayed(*checked, tuple(found), not_run=str(error), failed=known)
    found = causes(recorded.manifest, answer.manifest)
    differences = outcome(recorded, answer)
    reasons = why(found, differences, by_model="model" in answer.manifest)
    return Replayed(*checked, tuple(found), tuple(differences), tuple(reasons), answer)


def _again(
    assistant: Assistant, recorded: Recorded, notify: Callable[[str], None] | None
) -> Iterator[Event]:
    question, command = recorded.question, recorded.command
    if command == "compare":
        columns = question.rpartition(": ")[2]
        return assistant.tables.compare(_papers(recorded), columns, Reading(notify or silent))
    if command == "summarize":
        return assistant.summarize(_papers(recorded)[0], notify=notify)
    if command == "list":
        return assistant.list_papers(question, notify=notify)
    if command == "survey":
        return assistant.survey(question, notify=notify)
    if command == "ask":
        return assistant.ask(question, notify=notify)
    raise UsageError(f"An answer of `rag {command}` is checked and not made again")


def _papers(recorded: Recorded) -> list[str]:
    """The ids of the papers that an answer about given papers was made from."""
    evidence: object = recorded.manifest.get("evidence")
    if not isinstance(evidence, list) or not evidence:
        raise PaperNotFound("The answer does not say which papers it is about")
    return list(dict.fromkeys(str(one).rpartition(":")[0] for one in evidence))


def _standing(assistant: Assistant, recorded: Recorded) -> dict[str, str]:
    """What can be said of now without making an answer."""
    index, embedding_model = assistant.standing()
    standing = {"index": index, "embedding_model": embedding_model, "writer": assistant.writer_name}
    versions = prompting.versions(assistant.config.prompts)
    names = used({"prompt": recorded.manifest.get("prompt")})
    if names:
        standing["prompt"] = ", ".join(f"{name}@{versions.get(name, '')}" for name in names)
    return {**standing, "settings": recorded.manifest.get("settings", "")}


def _owner(assistant: Assistant, text: str) -> Paper | None:
    """A paper that has the sentence word for word, if the search for it finds one."""
    try:
        found = assistant.search(text[: assistant.config.max_question_chars], _OWNERS)
    except UsageError:  # a sentence without a word
        return None
    return next((hit.paper for hit in found.hits if text in hit.paper.text), None)
