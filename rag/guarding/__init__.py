"""Texts that speak to a machine: found by rules and by a fitted guard, marked, never taken away.

`planted` has the rules for whole papers, `features` what is seen of a text, `guard` how likely it
is an injection. Nothing here sees a file, an index or a model.
"""

from rag.guarding.guard import MARK, Detector, detector, suspicious
from rag.guarding.planted import instruction, signs

__all__ = ["MARK", "Detector", "detector", "instruction", "signs", "suspicious"]
