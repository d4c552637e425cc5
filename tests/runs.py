"""Runs made by hand: a suite in a file, and what came of each question, without asking anyone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evals.record import Ending, Opinion, Record, Source, Span, Times
from evals.reporting import report as reports
from evals.reporting.report import Report
from evals.running.journal import Manifest, writing
from evals.suite import Suite, read_suite


def suite_file(path: Path, *questions: Mapping[str, Any]) -> Path:
    """A suite of these questions; each gets an id if it has none."""
    numbered = [{"id": f"q{place}", **one} for place, one in enumerate(questions, start=1)]
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in numbered)
    path.write_text(text, encoding="utf-8")
    return path


def answered(
    item: str,
    claims: Sequence[tuple[str, str]],
    title: str = "A paper",
    labels: Sequence[str] = (),
    **changes: Any,
) -> Record:
    """An answer of claims, each with the sentence of one paper that it relies on.

    `labels` are what the judge says of each; support where there is none.
    """
    text = " ".join(sentence for _, sentence in claims)
    spans = []
    for _, sentence in claims:
        start = text.index(sentence)
        spans.append(Span("p1", start, start + len(sentence), sentence))
    said = [*labels, *["support"] * len(claims)]
    made = [
        {
            "text": claim,
            "citations": [1],
            "verdict": "supported",
            "support": [{"number": 1, "start": span.start, "end": span.end}],
        }
        for (claim, _), span in zip(claims, spans, strict=True)
    ]
    sentences = [{"text": one.text, "start": one.start, "end": one.end} for one in spans]
    record = Record(
        item,
        0,
        "answered",
        "asked",
        answer={
            "text": " ".join(f"{claim} [1]" for claim, _ in claims),
            "claims": made,
            "citations": [{"number": 1, "paper_id": "p1", "title": title, "sentences": sentences}],
            "dropped": [],
            "note": "",
            "manifest": {},
        },
        retrieved=("p1", "p2"),
        evidence=tuple(spans),
        papers={"p1": Source(title, text)},
        opinions={
            "support": tuple(Opinion(n, (1,), said[n]) for n in range(len(claims))),
        },
        times=Times(2.0, 0.5),
    )
    return replace(record, **changes)


def silent(item: str, ending: Ending = "abstained", reason: str = "") -> Record:
    """An abstention, or a failure with its reason."""
    answer = {"text": "The collection does not say.", "claims": [], "citations": []}
    kept = {**answer, "manifest": {}} if ending == "abstained" else {}
    return Record(item, 0, ending, "asked", reason, kept, times=Times(1.0))


def manifest(suite: Suite, file: Path, **identity: Any) -> Manifest:
    """Of a run of the suite in `file`, judged by the product's own check."""
    made = {
        "suite": suite.name,
        "questions": suite.digest,
        "asked": len(suite.items),
        "repeats": 1,
        "judges": ["support"],
        "writer": "quoting",
        **identity,
    }
    return Manifest(made, {"suite file": str(file), "begun": "2026-01-02T03:04:05+00:00"})


def run_folder(folder: Path, file: Path, records: Sequence[Record], **identity: Any) -> Path:
    """The folder of a run in which this happened."""
    suite = read_suite(file)
    with writing(folder, manifest(suite, file, **identity), resume=False) as journal:
        for record in records:
            journal.add(record)
    return folder


def report_of(folder: Path) -> Report:
    """The report of a run whose suite is a file."""
    return reports.read(folder, folder)
