"""The judges that a run can have, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evals.judging.llm import LlmJudge
from evals.judging.panel import Panel
from evals.judging.protocol import Judge
from evals.judging.scorer import SupportJudge
from evals.running.transcript import Transcript
from rag.answering.parts import generator_of
from rag.config import Config
from rag.errors import ConfigError, UsageError

NAMES = ("support", "llm", "local", "openai", "openai:MODEL", "a panel such as support+local")

Make = Callable[[str, Config, Transcript], Judge]


def make(names: Sequence[str], config: Config, transcript: Transcript) -> list[Judge]:
    """The judges of these names, in their order; "none" stands for no judge.

    `support` is the product's own check, `llm` the model of the settings, wherever it runs,
    `local` and `openai` that of this machine and of the server; `openai:MODEL` is another model of
    the same server. Names with a plus between them are a panel. Nothing is loaded or connected.

    Raises:
        UsageError: there is no such judge, or one is named twice.
        ConfigError, WeightsError: its model is not there.
    """
    wanted = [name for name in names if name != "none"]
    check(wanted)
    return [_made(name, config, transcript) for name in wanted]


def members(name: str) -> Sequence[str]:
    """The judges of a panel, or the one judge itself."""
    return name.split("+")


def check(names: Sequence[str]) -> None:
    """See that no judge is named twice, in the list or in a panel.

    Raises:
        UsageError: one is.
    """
    for group in (names, *map(members, names)):
        for name in group:
            if group.count(name) > 1:
                raise UsageError(f"The judge {name} is named twice", remedy="Name it once.")


def _made(name: str, config: Config, transcript: Transcript) -> Judge:
    judges = [_single(member, config, transcript) for member in members(name)]
    return judges[0] if len(judges) == 1 else Panel(judges)


def _single(name: str, config: Config, transcript: Transcript) -> Judge:
    kind, _, model = name.partition(":")
    if kind not in _JUDGES or (model and kind != "openai") or name.endswith(":"):
        choices = ", ".join([*NAMES, "none"])
        raise UsageError(f"No judge is called {name!r}", remedy=f"Choose from {choices}.")
    return _JUDGES[kind](name, config, transcript)


def _support(*_: object) -> Judge:
    return SupportJudge()


def _llm(name: str, config: Config, transcript: Transcript) -> Judge:
    """A model of the settings, with what the name says otherwise."""
    kind, _, model = name.partition(":")
    changes = {} if kind == "llm" else {"llm": kind}
    changes |= {"openai_model": model} if model else {}
    generator = generator_of(config.model_copy(update=changes))
    if generator is None:
        raise ConfigError(
            "The judge llm has no model",
            cause="neither a server is configured nor are local weights there",
            remedy="Set OPENAI_API_KEY or OPENAI_BASE_URL, or run `rag models fetch`.",
        )
    return LlmJudge(transcript.wrap(generator), name)


_JUDGES: Mapping[str, Make] = {"support": _support, "llm": _llm, "local": _llm, "openai": _llm}
