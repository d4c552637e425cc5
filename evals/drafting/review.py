"""The review file: a line for each draft, what code found of it, and what a person decided.

`{"draft": {…a line of a suite…}, "checks": {…}, "rank": 1, "accept": null}`: `rank` is the place of
the paper when its question is searched for, null where it is not among the first; `accept` is true
or false once decided. The file may be edited by hand as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from evals import suite
from evals.drafting.asking import Draft
from evals.drafting.checks import check, passes, stands
from evals.matching import holds
from evals.trec import lines_of
from rag.errors import InputError, UsageError
from rag.index.disk import write_durably


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A draft under review; `draft` is the line that the suite gets."""

    draft: dict[str, Any]
    checks: dict[str, bool]
    rank: int | None = None
    accept: bool | None = None

    @property
    def question(self) -> str:
        """What is asked."""
        return str(self.draft["question"])

    @property
    def answer(self) -> str:
        """The answer that is looked for."""
        return str(next(iter(self.draft.get("answers", ())), ""))

    @property
    def sentence(self) -> str:
        """The sentence of the paper that answers it."""
        return str(next(iter(self.draft.get("evidence", ())), ""))

    @property
    def failed(self) -> list[str]:
        """The checks that it does not pass."""
        return [name for name, passed in self.checks.items() if not passed]

    def worded(self, question: str, answer: str, others: Iterable[str]) -> Reviewed:
        """The same in other words, checked again."""
        draft = {**self.draft, "question": question, "answers": [answer]}
        return replace(self, draft=draft, checks=check(question, answer, self.sentence, others))

    def line(self) -> str:
        """As JSON, in one line."""
        return json.dumps(asdict(self), ensure_ascii=False)


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    draft: dict[str, Any]
    checks: dict[str, bool]
    rank: int | None = None
    accept: bool | None = None


def reviewable(draft: Draft, number: int, rank: int | None, others: Iterable[str]) -> Reviewed:
    """A draft as a line of the review file; `number` counts those of its paper from 1.

    Where the sentence that the model named does not say the answer and another of the paper does,
    that one is the evidence: small models often name a neighbour.
    """
    sentence = _evidence(draft)
    line = {
        "id": f"{draft.paper.id}-{number}",
        "question": draft.question,
        "paper_ids": [draft.paper.id],
        "answers": [draft.answer],
        "evidence": [sentence] if sentence else [],
        "kind": "drafted",
    }
    return Reviewed(line, check(draft.question, draft.answer, sentence, others), rank)


def read_review(path: Path) -> list[Reviewed]:
    """The drafts of a review file.

    Raises:
        InputError: it cannot be read, or a line is in another form; file and line are named.
    """
    found = [_reviewed(f"{path}:{number}", line) for number, line in lines_of(path)]
    if not found:
        raise InputError(
            f"{path} holds no drafts", remedy="`python -m evals generate` writes some."
        )
    return found


def save(path: Path, drafts: Sequence[Reviewed]) -> None:
    """Write a review file anew, whole or not at all."""
    write_durably(path, "".join(f"{one.line()}\n" for one in drafts))


def with_passing(drafts: Iterable[Reviewed]) -> Iterator[Reviewed]:
    """The drafts, those accepted that pass every check and that nobody has decided on."""
    for one in drafts:
        decided = one.accept is not None
        yield one if decided or not passes(one.checks) else replace(one, accept=True)


def write_suite(path: Path, drafts: Sequence[Reviewed]) -> int:
    """Write the accepted drafts as a suite; how many.

    A suite that these drafts made before is written anew.

    Raises:
        UsageError: none is accepted, or the file holds questions that are none of these drafts.
    """
    accepted = [one.draft for one in drafts if one.accept]
    if not accepted:
        raise UsageError(
            f"None of the {len(drafts)} drafts is accepted",
            remedy="Answer y to some, or use --accept-all-passing.",
        )
    if path.exists() and (strange := _ids(path) - {str(one.draft["id"]) for one in drafts}):
        raise UsageError(
            f"{path} holds questions of its own",
            cause=f"{min(strange)!r} is none of the drafts",
            remedy="Name another file with --out.",
        )
    text = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in accepted)
    write_durably(path, text)
    return len(accepted)


def _evidence(draft: Draft) -> str:
    if draft.sentence and stands(draft.answer, draft.sentence):
        return draft.sentence
    others = (one.text for one in draft.paper.sentences)
    return next((one for one in others if holds(one, draft.answer)), draft.sentence)


def _ids(path: Path) -> set[str]:
    return {item.id for item in suite.read_suite(path).items}


def _reviewed(where: str, line: str) -> Reviewed:
    try:
        form = _Form.model_validate_json(line)
        suite.parse(form.draft)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise _refused(where, f"{place}: {first['msg']}" if place else first["msg"]) from None
    except ValueError as error:
        raise _refused(where, str(error)) from None
    return Reviewed(form.draft, form.checks, form.rank, form.accept)


def _refused(where: str, cause: str) -> InputError:
    return InputError(
        f"{where} is no draft",
        cause=cause,
        remedy='A line is {"draft": {…}, "checks": {…}, "rank": 1, "accept": null}.',
    )
