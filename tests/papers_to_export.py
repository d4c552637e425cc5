"""References and answers as the tests of exports need them."""

from __future__ import annotations

from typing import Any

from rag.exporting import Reference
from rag.schema import Metadata


def reference(name: str = "00aa11bb22cc33dd", title: str = "Owl Nests", **facts: Any) -> Reference:
    """A paper with a title of its own, and what else is said of it."""
    abstract = facts.pop("abstract", "Owls nest in trees.")
    derived = facts.pop("title_derived", False)
    return Reference(name, "papers/owls.bib", 3, title, derived, Metadata(**facts), abstract)


def cited(number: int, paper_id: str, title: str, *sentences: str) -> dict[str, Any]:
    """A citation as `rag ask --json` prints it."""
    quoted = [{"text": text, "start": 0, "end": len(text)} for text in sentences]
    return {
        "number": number,
        "paper_id": paper_id,
        "source": "papers/owls.bib",
        "ordinal": number,
        "source_offset": 0,
        "title": title,
        "title_derived": False,
        "sentences": quoted,
    }


def claim(text: str, *numbers: int, verdict: str = "supported") -> dict[str, Any]:
    """A claim as `rag ask --json` prints it."""
    support = [{"number": number, "start": 0, "end": 5} for number in numbers]
    return {
        "text": text,
        "citations": list(numbers),
        "verdict": verdict,
        "probability": 0.9,
        "reason": "",
        "support": support,
    }


def answer(question: str = "Where do owls nest?", **changed: Any) -> dict[str, Any]:
    """An answer of one claim with one citation, as `rag ask --json` prints it."""
    whole = {
        "question": question,
        "kind": "fact",
        "status": "answered",
        "confidence": None,
        "text": "Owls nest in trees [1].",
        "claims": [claim("Owls nest in trees.", 1)],
        "citations": [cited(1, "00aa11bb22cc33dd", "Owl Nests", "Owls nest in trees.")],
        "dropped": [],
        "missing": "",
        "nearest": [],
        "coverage": None,
        "table": None,
        "manifest": {"writer": "quoting"},
        "note": "",
        "complete": True,
    }
    return {**whole, **changed}
