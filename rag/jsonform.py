"""The JSON that commands print: one function for each value, and nothing printed elsewhere.

`docs/json.md` describes the forms; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rag.answering.events import CitationAdded, ClaimMade, Event, Heading, Notice
from rag.errors import AskPapersError
from rag.exporting import Reference
from rag.history import Conversation, Mention, Turn
from rag.index.bridging import Bridging
from rag.index.browse import Merged, Source
from rag.index.reembedding import Reembedded
from rag.index.report import Conflict, Report
from rag.mapping import TopicMap
from rag.retrieval.fusion import LISTS
from rag.retrieval.query import Query
from rag.retrieval.search import Found
from rag.schema import Answer, Citation, Claim, Evidence, Hit, Metadata, Nearest, Paper, Table

if TYPE_CHECKING:
    from rag.replaying.checking import SentenceCheck
    from rag.replaying.replay import Replayed
    from rag.watching.differing import Change, Reworded, Said
    from rag.watching.outcome import Outcome
    from rag.watching.store import Standing

Json = dict[str, Any]


def found(result: Found) -> Json:
    """The result of `rag search`."""
    return {
        "query": result.question.text,
        "understood": _understood(result.query),
        "hits": [_hit(hit) for hit in result.hits],
        "help": [asdict(step) | {"texts": list(step.texts)} for step in result.help.steps],
        "note": result.help.note,
    }


def answer(result: Answer) -> Json:
    """The result of `rag ask` and `rag summarize`."""
    return {
        "question": result.question,
        "kind": result.kind,
        "status": result.status,
        "confidence": _rounded(result.confidence),
        "text": result.text,
        "claims": [_claim(claim, result.citations) for claim in result.claims],
        "citations": [_citation(citation) for citation in result.citations],
        "dropped": [asdict(dropped) for dropped in result.dropped],
        "missing": result.missing,
        "nearest": [_nearest(nearest) for nearest in result.nearest],
        "coverage": result.coverage and asdict(result.coverage),
        "table": result.table and _table(result.table, result.citations),
        "sections": [asdict(section) for section in result.sections],
        "manifest": dict(result.manifest),
        "note": result.note,
        "complete": result.complete,
    }


def event(told: Event, cited: dict[int, Citation]) -> tuple[str, Json]:
    """What happens while an answer is made: its name and its value, as the API sends them.

    `cited` keeps the citations so far, to which claims refer.
    """
    if isinstance(told, CitationAdded):
        cited[told.citation.number] = told.citation
        return "citation", _citation(told.citation)
    if isinstance(told, ClaimMade):
        return "claim", _claim(told.claim, tuple(cited.values()))
    if isinstance(told, Heading):
        return "heading", {"title": told.title}
    if isinstance(told, Notice):
        return "notice", {"text": told.text}
    return "answer", answer(told.answer)


def replayed(result: Replayed) -> Json:
    """The result of `rag replay`."""
    return {
        "question": result.question,
        "same": result.same,
        "sentences": [_sentence_check(check) for check in result.sentences],
        "claims": [asdict(check) for check in result.claims],
        "causes": [asdict(cause) for cause in result.causes],
        "differences": [asdict(difference) for difference in result.differences],
        "why": list(result.why),
        "not_run": result.not_run,
        "answer": result.answer and answer(result.answer),
    }


def report(result: Report) -> Json:
    """The result of `rag index`."""
    return {
        "added": result.added,
        "updated": result.updated,
        "removed": result.removed,
        "unchanged": result.unchanged,
        "duplicates": result.duplicates,
        "embedded": result.embedded,
        "failed": [asdict(failure) for failure in result.failures],
        "conflicts": [_conflict(conflict) for conflict in result.conflicts],
        "mended": [asdict(notice) for notice in result.notices],
        "papers": result.total.papers,
        "files": result.total.files,
        "sentences": result.total.sentences,
        "revision": result.revision,
    }


def reembedded(result: Reembedded) -> Json:
    """The result of `rag reembed`."""
    return {**asdict(result), "switched": result.switched}


def bridging(result: Bridging) -> Json:
    """The result of `rag reembed --bridge`."""
    return {
        "from_model": result.new,
        "to_model": result.old,
        "papers": result.papers,
        "sample": result.sample,
        "depth": result.depth,
        **asdict(result.quality),
        "least": result.least,
        "stored": result.stored,
    }


def standing(question: Standing) -> Json:
    """A standing question, as `rag watch list` prints it."""
    last = question.last
    return {
        "id": question.id,
        "question": question.question,
        "filters": dict(question.flags),
        "created": question.created,
        "status": last and last.answer["status"],
        "made": last and last.made,
        "asked": last and last.asked,
        "revision": last and last.revision,
    }


def kept(question: Standing) -> Json:
    """A standing question with its last answer, as `rag watch show` prints it."""
    last = question.last
    return {
        **standing(question),
        "change": last and last.change and change(last.change),
        "answer": last and dict(last.answer),
    }


def outcome(one: Outcome) -> Json:
    """What came of a standing question, as `rag watch run` prints it."""
    return {
        "id": one.standing.id,
        "question": one.standing.question,
        "state": one.state,
        "reason": one.reason,
        "change": one.change and change(one.change),
        "answer": one.answer and dict(one.answer),
    }


def change(otherwise: Change) -> Json:
    """What of the answer to a standing question is otherwise than at the last time."""
    return {
        "status_before": otherwise.status_before,
        "status_now": otherwise.status_now,
        "added": [_said(one) for one in otherwise.added],
        "gone": [_said(one) for one in otherwise.gone],
        "reworded": [_reworded(one) for one in otherwise.reworded],
        "recited": [_reworded(one) for one in otherwise.recited],
        "papers": [asdict(one) for one in otherwise.papers],
        "causes": list(otherwise.causes),
        "answer_differs": otherwise.answer_differs,
    }


def _said(one: Said) -> Json:
    return {"text": one.text, "paper_ids": list(one.papers)}


def _reworded(one: Reworded) -> Json:
    return {"before": _said(one.before), "now": _said(one.now)}


def topic_map(result: TopicMap) -> Json:
    """The result of `rag map`."""
    return {
        "revision": result.revision,
        "clusters": [
            asdict(cluster) | {"terms": list(cluster.terms), "name": cluster.name}
            for cluster in result.clusters
        ],
        "points": [asdict(point) for point in result.points],
    }


def failure(error: AskPapersError) -> Json:
    """What stands in place of a result that could not be had."""
    return {"error": str(error), "exit_code": error.exit_code}


def paper_head(paper: Paper) -> Json:
    """What names a paper wherever one is mentioned."""
    return {
        "paper_id": paper.id,
        "source": paper.source,
        "ordinal": paper.ordinal,
        "source_offset": paper.source_offset,
        "title": paper.title,
        "title_derived": paper.title_derived,
    }


def listing(papers: Sequence[Paper], total: int) -> Json:
    """The result of `rag papers list`."""
    return {"papers": [_listed(paper) for paper in papers], "total": total}


def paper(found: Paper, sources: Sequence[Source]) -> Json:
    """The result of `rag papers show`."""
    return {**_listed(found), "sources": [_source(one) for one in sources], "text": found.text}


def conversations(found: Sequence[Conversation]) -> Json:
    """The result of `rag history list`."""
    return {"conversations": [asdict(one) for one in found]}


def conversation(found: Conversation, turns: Sequence[Turn]) -> Json:
    """The result of `rag history show`."""
    return {"conversation": asdict(found), "turns": [_turn(turn) for turn in turns]}


def mentions(found: Sequence[Mention]) -> Json:
    """The result of `rag history search`."""
    return {
        "mentions": [
            {"conversation": one.conversation.id, "name": one.conversation.name}
            | {"turn": one.turn, "excerpt": one.excerpt}
            for one in found
        ]
    }


def duplicates(found: Sequence[Merged]) -> Json:
    """The result of `rag papers duplicates`."""
    return {
        "merged": [
            {
                **paper_head(one.paper),
                "reasons": list(one.reasons),
                "sources": [_source(source) for source in one.sources],
            }
            for one in found
        ]
    }


def _turn(turn: Turn) -> Json:
    feedback = turn.feedback
    rated = asdict(feedback) | {"papers": list(feedback.papers)} if feedback else None
    return {
        "number": turn.number,
        "asked": turn.asked,
        "answer": dict(turn.answer),
        "references": [reference(one) for one in turn.references],
        "feedback": rated,
    }


def _sentence_check(check: SentenceCheck) -> Json:
    has, start = check.paper, check.start
    now = (
        None if has is None else {**paper_head(has), "start": start, "end": start + len(check.text)}
    )
    return {
        "number": check.number,
        "title": check.title,
        "text": check.text,
        "state": check.state,
        "now": now,
    }


def _conflict(conflict: Conflict) -> Json:
    records = [asdict(place) for place in conflict.places]
    return {"source": conflict.source, "id": conflict.key, "records": records}


def reference(one: Reference) -> Json:
    """What is known of a paper that an answer names."""
    return asdict(one) | {"meta": _meta(one.meta)}


def _listed(paper: Paper) -> Json:
    return {**paper_head(paper), "version": paper.version, **_meta(paper.meta)}


def _source(source: Source) -> Json:
    return {
        "source": source.label,
        "ordinal": source.ordinal,
        "line": source.line,
        "title": source.title,
        "shown": source.shown,
        **_meta(source.meta),
    }


def _meta(meta: Metadata) -> Json:
    values = asdict(meta)
    lists = {name: list(value) for name, value in values.items() if isinstance(value, tuple)}
    return {**values, **lists}


def _understood(query: Query) -> Json:
    return {
        "text": query.text,
        "terms": _weighted(query.terms),
        "expansions": _weighted(query.expansions),
        "phrases": list(query.phrases),
        "filters": [wanted.told() for wanted in query.filters],
        "notes": list(query.notes),
    }


def _weighted(terms: Mapping[str, float]) -> list[Json]:
    return [{"term": term, "weight": terms[term]} for term in sorted(terms)]


def _hit(hit: Hit) -> Json:
    return {
        **paper_head(hit.paper),
        "score": round(hit.score, 6),
        "parts": {name: round(hit.parts.get(name, 0.0), 6) for name in LISTS},
        "evidence": [_evidence(item) for item in hit.evidence],
    }


def _evidence(item: Evidence) -> Json:
    return {
        "text": item.text,
        "start": item.start,
        "end": item.end,
        "score": round(item.score, 6),
    }


def _claim(claim: Claim, citations: tuple[Citation, ...]) -> Json:
    numbers = {citation.paper.id: citation.number for citation in citations}
    return {
        "text": claim.text,
        "citations": list(claim.citations),
        "verdict": claim.verdict,
        "probability": _rounded(claim.probability),
        "reason": claim.reason,
        "support": [
            {"number": numbers[item.paper_id], "start": item.start, "end": item.end}
            for item in claim.support
        ],
    }


def _table(table: Table, citations: tuple[Citation, ...]) -> Json:
    rows = [
        {**paper_head(row.paper), "cells": [cell and _claim(cell, citations) for cell in row.cells]}
        for row in table.rows
    ]
    return {"columns": list(table.columns), "rows": rows}


def _rounded(probability: float | None) -> float | None:
    return None if probability is None else round(probability, 4)


def _citation(citation: Citation) -> Json:
    sentences = [asdict(sentence) for sentence in citation.sentences]
    return {"number": citation.number, **paper_head(citation.paper), "sentences": sentences}


def _nearest(nearest: Nearest) -> Json:
    return {**paper_head(nearest.paper), "score": round(nearest.score, 6)}
