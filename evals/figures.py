"""Figures as SVG, the same bytes for the same figures. The only module that uses matplotlib."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Interval = tuple[float, float, float]
"""A value with the ends of its interval."""


def curves(title: str, across: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> bytes:
    """Lines over two logarithmic axes, where a power is a straight line; `across` names the x."""
    from matplotlib.figure import Figure

    with _settings():
        figure = Figure(figsize=(7.2, 4.8), layout="constrained")
        axes = figure.subplots()
        for name, points in lines.items():
            axes.plot(*zip(*points, strict=True), marker="o", label=name)
        axes.set(title=title, xlabel=across, xscale="log", yscale="log")
        axes.grid(visible=True, which="major", alpha=0.3)
        figure.legend(loc="outside lower center", ncols=len(lines))
        return _drawn(figure)


def falling(title: str, across: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> bytes:
    """Lines of shares from 0 to 1 over a share from 0 to 1; `across` names the x."""
    from matplotlib.figure import Figure

    with _settings():
        figure = Figure(figsize=(7.2, 4.8), layout="constrained")
        axes = figure.subplots()
        for name, points in lines.items():
            axes.plot(*zip(*points, strict=True), marker="o", label=name)
        axes.set(title=title, xlabel=across, xlim=(0, 1), ylim=(0, 1.03))
        axes.grid(visible=True, alpha=0.3)
        figure.legend(loc="outside lower center", ncols=4)
        return _drawn(figure)


def shares(title: str, across: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> bytes:
    """Steps over two shares from 0 to 1; `across` names the x, the title what stands above it."""
    from matplotlib.figure import Figure

    with _settings():
        figure = Figure(figsize=(7.2, 4.8), layout="constrained")
        axes = figure.subplots()
        for name, points in lines.items():
            axes.step(*zip((0.0, 0.0), *points, strict=True), where="post", label=name)
        axes.set(title=title, xlabel=across, ylabel="share of all questions", xlim=(0, 1))
        axes.grid(visible=True, alpha=0.3)
        figure.legend(loc="outside lower center", ncols=2)
        return _drawn(figure)


def dots(title: str, panels: Mapping[str, Mapping[str, Interval]]) -> bytes:
    """A panel for each measure, in it a line for each name: its value and its interval."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    with _settings():
        size = (2.2 + 2.0 * len(panels), 1.2 + 0.4 * len(names))
        figure = Figure(figsize=size, layout="constrained")
        figure.suptitle(title)
        across = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (measure, panel) in zip(across, panels.items(), strict=True):
            for name, (value, low, high) in panel.items():
                axes.plot([low, high], [name, name], color="0.6")
                axes.plot([value], [name], marker="o", color="C0")
            axes.set(title=measure)
            axes.grid(visible=True, axis="x", alpha=0.3)
        across[0].invert_yaxis()  # the first on top
        return _drawn(figure)


def _settings() -> AbstractContextManager[None]:
    import matplotlib as mpl

    return mpl.rc_context({"svg.hashsalt": "figure", "svg.fonttype": "none"})


def _drawn(figure: Figure) -> bytes:
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()
