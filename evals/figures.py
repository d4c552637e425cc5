"""Figures as SVG, the same bytes for the same figures. The only module that uses matplotlib."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence


def curves(title: str, across: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> bytes:
    """Lines over two logarithmic axes, where a power is a straight line; `across` names the x."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "figure", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7.2, 4.8), layout="constrained")
        axes = figure.subplots()
        for name, points in lines.items():
            axes.plot(*zip(*points, strict=True), marker="o", label=name)
        axes.set(title=title, xlabel=across, xscale="log", yscale="log")
        axes.grid(visible=True, which="major", alpha=0.3)
        figure.legend(loc="outside lower center", ncols=len(lines))
        drawn = io.BytesIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()
