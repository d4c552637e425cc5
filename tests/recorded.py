"""Questions, records, sheets and folders of runs that are made by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evals.record import Opinion, Record, Source
from evals.running.journal import MANIFEST, SAMPLES
from evals.scoring.scored import OUTCOMES, Outcome
from evals.sheet import Row, Sheet
from evals.suite import Item, Question, read_suite

Claim = tuple[str, Sequence[int]]


def item(name: str, **known: Any) -> Item:
    return Item(name, Question(**{"question": f"What of {name}?", **known}))


def answered(
    name: str,
    *claims: Claim,
    papers: Mapping[str, str] | None = None,
    repeat: int = 0,
    judged: Mapping[tuple[int, tuple[int, ...]], str] | None = None,
    **fields: Any,
) -> Record:
    """An answer of these claims; `papers` are texts by id, cited as 1, 2, … in their order."""
    papers = papers or {}
    text = " ".join(said for said, _ in claims)
    answer = {
        "status": "answered",
        "text": text,
        "claims": [{"text": said, "citations": list(numbers)} for said, numbers in claims],
        "citations": [
            {
                "number": number,
                "paper_id": key,
                "sentences": [{"text": body, "start": 0, "end": len(body)}],
            }
            for number, (key, body) in enumerate(papers.items(), start=1)
        ],
        "manifest": {},
    }
    opinions = tuple(
        Opinion(claim, cited, label) for (claim, cited), label in (judged or {}).items()
    )
    whole = {
        "answer": answer,
        "papers": {key: Source(key, body) for key, body in papers.items()},
        "opinions": {"support": opinions},
        **fields,
    }
    return Record(name, repeat, "answered", f"What of {name}?", **whole)


def abstained(name: str, repeat: int = 0, **fields: Any) -> Record:
    answer = {"status": "abstained", "text": "Nothing.", "claims": [], "citations": []}
    whole = {"answer": {**answer, "manifest": {}}, **fields}
    return Record(name, repeat, "abstained", f"What of {name}?", **whole)


def failed(name: str, repeat: int = 0, reason: str = "the server was gone") -> Record:
    return Record(name, repeat, "failed", f"What of {name}?", reason)


def sheet(
    values: Mapping[str, Mapping[str, float] | Outcome],
    clusters: Mapping[str, str] | None = None,
    suite: str = "suite",
    judge: str = "support",
    asked: Mapping[str, str] | None = None,
) -> Sheet:
    """A sheet of each question's values, or of the outcome that left it without."""
    rows = {}
    for name, of in values.items():
        outcome: Outcome = of if isinstance(of, str) else "scored"
        known = {} if isinstance(of, str) else dict(of)
        digest = (asked or {}).get(name, f"asked {name}")
        rows[name] = Row(digest, (clusters or {}).get(name, name), outcome, known)
    outcomes = {one: sum(row.outcome == one for row in rows.values()) for one in OUTCOMES}
    return Sheet(suite, f"digest of {suite}", judge, {"suite": suite}, outcomes, rows)


def of_one(measure: str, values: Iterable[float], **more: Any) -> Sheet:
    """A sheet of one measure, the questions named q0, q1, …"""
    return sheet({f"q{place}": {measure: value} for place, value in enumerate(values)}, **more)


def write_suite(path: Path, questions: Iterable[Mapping[str, Any]]) -> Path:
    lines = (json.dumps(one, ensure_ascii=False) for one in questions)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_run(
    folder: Path, suite: Path, records: Iterable[Record], repeats: int = 1, **identity: Any
) -> Path:
    """The folder of a run of the suite in this file."""
    folder.mkdir(parents=True)
    read = read_suite(suite)
    known = {
        "suite": read.name,
        "questions": read.digest,
        "asked": len(read.items),
        "repeats": repeats,
        "judges": ["support"],
        **identity,
    }
    manifest = {"identity": known, "facts": {"suite file": str(suite)}}
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    lines = "".join(f"{record.line()}\n" for record in records)
    (folder / SAMPLES).write_text(lines, encoding="utf-8")
    return folder
