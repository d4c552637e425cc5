"""A model's yes or no on papers that their words leave open: does each meet a condition?"""

from __future__ import annotations

from collections.abc import Sequence

from rag.answering.asking import MOST_CHARS, Asker, GivenUp, Reading, object_schema
from rag.answering.census import Checked
from rag.text import legible

PROMPT = "screen"
_TOGETHER = 4  # a small model mixes up more
_CHARS = 500  # of a paper
_TOKENS = 60


def screen(
    condition: str, open_ones: Sequence[Checked], asker: Asker, reading: Reading, most: int
) -> tuple[list[Checked], str]:
    """Those of the first `most` papers of which the model says that they meet the condition.

    Also why the others were not asked about, empty where all were. A model that fails is not asked
    on: its papers stay out of the list.
    """
    taken: list[Checked] = []
    for start in range(0, min(most, len(open_ones)), _TOGETHER):
        batch = open_ones[start : min(start + _TOGETHER, most)]
        try:
            taken += _ask(condition, batch, asker, reading)
        except GivenUp as reason:
            return taken, f"the model could not check every paper ({reason})"
    left = len(open_ones) - most
    return taken, f"{left} papers were left open" if left > 0 else ""


def _ask(condition: str, batch: Sequence[Checked], asker: Asker, reading: Reading) -> list[Checked]:
    labels = [f"P{number}" for number in range(1, len(batch) + 1)]
    form = {
        "type": "array",
        "items": {"type": "string", "enum": labels},
        "maxItems": len(labels),
    }
    values = {
        "condition": condition[:MOST_CHARS],
        "papers": "\n".join(
            f"[{label}] {_shown(one)}" for label, one in zip(labels, batch, strict=True)
        ),
    }
    reply = asker.ask(PROMPT, values, object_schema("meets", form), _TOKENS, reading)
    named = reply.value.get("meets")
    said = {str(item).strip(" []().").upper() for item in named} if isinstance(named, list) else {}
    return [one for label, one in zip(labels, batch, strict=True) if label in said]


def _shown(one: Checked) -> str:
    """The title, the sentence that speaks most for the paper, and how the abstract begins."""
    paper = one.hit.paper
    title = "" if paper.title_derived else f"{legible(paper.title)}: "
    first = paper.sentences[0].text if one.evidence.index else ""
    return f"{title}{legible(f'{first} {one.evidence.text}'.strip())}"[:_CHARS]
