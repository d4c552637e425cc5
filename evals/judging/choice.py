"""The judges that a run can have, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evals.judging.protocol import Judge
from evals.judging.scorer import SupportJudge
from evals.running.transcript import Transcript
from rag.config import Config
from rag.errors import UsageError

Make = Callable[[Config, Transcript], Judge]


def make(names: Sequence[str], config: Config, transcript: Transcript) -> list[Judge]:
    """The judges of these names, in their order; "none" stands for no judge.

    Raises:
        UsageError: there is no such judge, or one is named twice.
        ConfigError, WeightsError: its model is not there.
    """
    wanted = [name for name in names if name != "none"]
    for name in wanted:
        if name not in JUDGES:
            choices = ", ".join([*JUDGES, "none"])
            raise UsageError(f"No judge is called {name!r}", remedy=f"Choose from {choices}.")
        if wanted.count(name) > 1:
            raise UsageError(f"The judge {name} is named twice", remedy="Name it once.")
    return [JUDGES[name](config, transcript) for name in wanted]


JUDGES: Mapping[str, Make] = {"support": lambda *_: SupportJudge()}
