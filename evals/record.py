"""One line of a run: all that happened to one question, so that everything can be scored again.

A record holds ids, texts and offsets of what was found, shown and cited, the raw texts of every
model that was asked, and what the judges said. No index and no model is needed to score it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Self

Ending = Literal["answered", "abstained", "failed"]
"""How asking ended. A question that was not asked has no record."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model was asked and what it wrote, raw.

    `prompt` names system and user text and the schema by hash; `of` is what it was asked for:
    `subject` or the name of a judge. Tokens are None where the server does not tell. `cached` says
    that it was written in an earlier run, so that `seconds` are of that one. `refusals` counts the
    attempts before it that the server refused because too much was asked of it.
    """

    of: str
    model: str
    prompt: str
    text: str
    finish: str
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    cached: bool = False
    refusals: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A sentence of a paper: `text` is `paper.text[start:end]`."""

    paper_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Source:
    """What a judge may read of a paper."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge said of a claim, given the papers of some of its citations.

    `claim` counts the statements of the answer from 0, `citations` are numbers in it; both are as
    `evals.scoring` numbers them. `label` is support, contradict or neither, and empty where
    `failure` says why there is none. `probability` is that of support, None where a judge gives
    none. `raw` holds what it wrote, attempt by attempt. `votes` are the labels that the members of
    a panel gave, by name; empty for one that gave none. `refused` says why the judge was not asked,
    by rule; then there is no label either, and nothing has failed.
    """

    claim: int
    citations: tuple[int, ...]
    label: str
    probability: float | None = None
    reason: str = ""
    raw: tuple[str, ...] = ()
    failure: str = ""
    votes: Mapping[str, str] = field(default_factory=dict)
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds from the question to the first claim and to the end."""

    total: float
    first_claim: float | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """All that happened to one question.

    `gold` gives the paper id of each gold paper by the name that the suite has for it;
    `gold_evidence` is where its evidence stands. `retrieved` are paper ids, best first; `evidence`
    is what the writer was given. `answer` is the JSON of `rag ask`. `earlier` are the papers that
    earlier turns of the conversation cited. `papers` holds every paper that is cited, was cited
    earlier, or was given as evidence. `opinions` are by judge. `reached` is false where no model
    said a word, so that the question may not be at fault.
    """

    item: str
    repeat: int
    ending: Ending
    question: str
    reason: str = ""
    answer: Mapping[str, Any] = field(default_factory=dict)
    gold: Mapping[str, str] = field(default_factory=dict)
    gold_evidence: tuple[Span, ...] = ()
    retrieved: tuple[str, ...] = ()
    evidence: tuple[Span, ...] = ()
    earlier: tuple[str, ...] = ()
    papers: Mapping[str, Source] = field(default_factory=dict)
    replies: tuple[Reply, ...] = ()
    opinions: Mapping[str, tuple[Opinion, ...]] = field(default_factory=dict)
    times: Times = Times(0.0)
    cost: float = 0.0
    reached: bool = True

    @property
    def key(self) -> tuple[str, int]:
        """What it is the record of."""
        return self.item, self.repeat

    @property
    def confidence(self) -> float | None:
        """The product's own probability that the collection answers it; None without one."""
        told = self.answer.get("confidence")
        return None if told is None else float(told)

    def line(self) -> str:
        """As JSON, in one line."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False)

    @classmethod
    def read(cls, line: str) -> Self:
        """A record from its line.

        Raises:
            ValueError: it is none.
        """
        try:
            value = json.loads(line)
            value["gold_evidence"] = tuple(Span(**one) for one in value["gold_evidence"])
            value["evidence"] = tuple(Span(**one) for one in value["evidence"])
            value["papers"] = {key: Source(**one) for key, one in value["papers"].items()}
            value["replies"] = tuple(Reply(**one) for one in value["replies"])
            value["opinions"] = {
                judge: tuple(_opinion(one) for one in said)
                for judge, said in value["opinions"].items()
            }
            value["retrieved"] = tuple(value["retrieved"])
            value["earlier"] = tuple(value.get("earlier", ()))
            value["times"] = Times(**value["times"])
            return cls(**value)
        except (KeyError, TypeError, AttributeError) as error:
            names = ", ".join(one.name for one in fields(cls))
            raise ValueError(f"it is not a record of {names} ({error})") from None


def _opinion(value: dict[str, Any]) -> Opinion:
    lists = {name: tuple(value[name]) for name in ("citations", "raw")}
    return Opinion(**{**value, **lists})
