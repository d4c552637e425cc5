"""Figures as SVG, without a script in them. The only module that uses pygal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree


def curves(title: str, across: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> bytes:
    """Lines over two logarithmic axes, where a power is a straight line; `across` names the x."""
    import pygal
    from pygal.style import CleanStyle

    chart = pygal.XY(
        logarithmic=True,
        title=title,
        x_title=across,
        x_labels=sorted({x for points in lines.values() for x, _ in points}),
        x_value_formatter=lambda x: f"{x:,.0f}",
        style=CleanStyle,
        width=720,
        height=480,
        legend_at_bottom=True,
        js=(),
    )
    for name, points in lines.items():
        chart.add(name, list(points))
    chart.uuid = "figure"  # else another one each time
    drawn = chart.render_tree()
    for parent in list(drawn.iter()):
        for script in parent.findall("script"):
            parent.remove(script)
    return bytes(ElementTree.tostring(drawn, encoding="utf-8", xml_declaration=True))
