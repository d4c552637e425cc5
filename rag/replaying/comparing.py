"""What is otherwise in an answer that was made again, and what may be the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag.replaying.record import Recorded
from rag.schema import Answer

_SEARCHED_WITH = ("index", "embedding_model", "help")
_CAUSES = ("askpapers", "index", "embedding_model", "writer", "model", "prompt")
_LISTS = ("found", "evidence")
_NOTHING = "nothing that was recorded differs"
_OTHER_PAPERS = f"{_NOTHING}: the index is called the same and holds other papers"
_BY_ITSELF = f"{_NOTHING}: the model itself wrote otherwise"


@dataclass(frozen=True, slots=True)
class Difference:
    """A thing that is not as it was; empty where it is not there."""

    what: str
    before: str
    now: str

    @property
    def is_seen(self) -> bool:
        """Whether a reader of the answer sees it; what was found for it only explains."""
        return self.what not in _LISTS

    @property
    def told(self) -> str:
        """In one line; of a list, how many left and came."""
        if self.what not in _LISTS:
            return f"{self.what}: {self.before or 'none'} → {self.now or 'none'}"
        former, present = self.before.split(", "), self.now.split(", ")
        left, came = len(set(former) - set(present)), len(set(present) - set(former))
        return (
            f"{self.what}: {left} left, {came} came" if left or came else f"{self.what}: reordered"
        )


def causes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Difference]:
    """What made the two answers and differs: release, index, models, prompts, settings.

    What only one of the manifests tells is not compared.
    """
    shared = [name for name in _CAUSES if name in before and name in now]
    found = [Difference(name, _told(before[name]), _told(now[name])) for name in shared]
    found += _prompts_of_help(before, now)
    found += _settings(before, now)
    return [one for one in found if one.before != one.now]


def _prompts_of_help(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    if "help" in before and "help" in now:
        yield Difference("help", _steps(before["help"]), _steps(now["help"]))


def _steps(steps: object) -> str:
    """The prompts of the steps by which a model helped to search."""
    listed = steps if isinstance(steps, list) else []
    return ", ".join(_told(step.get("prompt")) for step in listed if isinstance(step, dict))


def _settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    """Each setting that differs by name; by the fingerprint where none of those recorded does."""
    if before.get("settings") == now.get("settings"):
        return
    former, present = before.get("changed"), now.get("changed")
    named = []
    if isinstance(former, dict) and isinstance(present, dict):
        named = [
            Difference(f"setting {name}", _setting(former, name), _setting(present, name))
            for name in sorted(former.keys() | present.keys())
            if former.get(name) != present.get(name)
        ]
    if named:
        yield from named
        return
    known = isinstance(former, dict) and isinstance(present, dict)
    what = "settings (a server's address)" if known else "settings"
    yield Difference(what, _told(before.get("settings")), _told(now.get("settings")))


def _setting(settings: Mapping[str, Any], name: str) -> str:
    return _told(settings[name]) if name in settings else "the default"


def outcome(recorded: Recorded, answer: Answer) -> list[Difference]:
    """What a reader sees, and what was found for it, that is not as it was."""
    before, now = recorded.manifest, answer.manifest
    pairs = [
        Difference("status", recorded.status, answer.status),
        Difference("text", recorded.text, answer.text),
        Difference(
            "cited papers",
            _told([cited.paper_id for cited in recorded.citations]),
            _told([citation.paper.id for citation in answer.citations]),
        ),
    ]
    pairs += [Difference(n, _told(before.get(n)), _told(now.get(n))) for n in _LISTS]
    return [one for one in pairs if one.before != one.now]


def why(
    reasons: Sequence[Difference], differences: Sequence[Difference], *, by_model: bool
) -> list[str]:
    """What may explain the differences.

    A search explains nothing where the writer was given the same sentences.
    """
    if not differences:
        return []
    searched = any(one.what == "evidence" for one in differences)
    told = [one.told for one in reasons if searched or one.what not in _SEARCHED_WITH]
    if told:
        return told
    return [_OTHER_PAPERS if searched else _BY_ITSELF if by_model else _NOTHING]


def _told(value: object) -> str:
    """A value of a manifest as text."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
