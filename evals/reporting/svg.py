"""Plots as SVG for a page: they take its colours, so that they are legible in light and dark.

Everything is drawn in a frame of 360 × 230 units with letters of 12, so that they can be read
where a plot is as wide as a phone. A plot names itself to screen readers with `<title>` and
`<desc>`; whoever shows one has its figures in a table beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

Point = tuple[float, float]
Interval = tuple[float, float, float]
"""A value, and the ends of its interval."""

WIDTH, HEIGHT = 360, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 350, 10, 188
_CROWDED = 20  # dots, beyond which they are small
_STRIP, _STRIP_HEIGHT, _ROW = 160, 14, 10


def element(name: str, *children: str, **attributes: object) -> Markup:
    """An element; text is escaped, and `stroke_width` becomes the attribute stroke-width."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
        for key, value in attributes.items()
    )
    inside = "".join(str(escape(child)) for child in children)
    return Markup(f"<{name}{given}>{inside}</{name}>")


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values, its marks, and what it is of."""

    label: str
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Where a value lies from 0 to 1; what is beyond an end is drawn at it."""
        return min(max(value / self.high, 0.0), 1.0)


def shares(label: str) -> Axis:
    """From 0 to 1."""
    return Axis(label, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))


def up_to(label: str, largest: float) -> Axis:
    """From 0 to a round number that is at least `largest`, in 3 to 6 steps of 1, 2 or 5 · 10ⁿ."""
    if not (largest > 0 and math.isfinite(largest)):
        return Axis(label, 1.0, (0.0, 1.0))
    power = 10.0 ** math.floor(math.log10(largest))
    step = next(s for s in (power / 5, power / 2, power, 2 * power) if largest / s <= 6)
    steps = math.ceil(largest / step - 1e-9)
    return Axis(label, steps * step, tuple(step * n for n in range(steps + 1)))


@dataclass(frozen=True, slots=True)
class Frame:
    """Two axes and what is drawn between them. `series` counts colours from 0."""

    x: Axis
    y: Axis

    def draw(self, title: str, description: str, *marks: Markup) -> Markup:
        """The plot."""
        return element(
            "svg",
            element("title", title),
            element("desc", description),
            *self._grid(),
            *marks,
            viewBox=f"0 0 {WIDTH} {HEIGHT}",
            role="img",
            class_="plot",
        )

    def steps(self, points: Sequence[Point], series: int = 0) -> Markup:
        """A line that keeps its height until the next point."""
        corners: list[Point] = []
        for x, y in points:
            if corners:
                corners.append((x, corners[-1][1]))
            corners.append((x, y))
        return self.line(corners, series)

    def line(self, points: Sequence[Point], series: int = 0) -> Markup:
        """A line through points."""
        path = " ".join(f"{_short(x)},{_short(y)}" for x, y in map(self._place, points))
        return element("polyline", points=path, class_=f"line series-{series}")

    def dots(self, points: Sequence[tuple[Point, str]], series: int = 0) -> Markup:
        """Dots, each with what it says when it is pointed at."""
        drawn = []
        size = {"r": 4 if len(points) <= _CROWDED else 2, "class_": f"fill-{series}"}
        for point, told in points:
            x, y = self._place(point)
            drawn.append(element("circle", element("title", told), cx=x, cy=y, **size))
        return Markup("").join(drawn)

    def bars(self, heights: Sequence[tuple[float, float, float]], series: int = 0) -> Markup:
        """A histogram: for each bar where it begins, where it ends, and its height."""
        drawn = []
        for low, high, height in heights:
            (left, top), (right, bottom) = self._place((low, height)), self._place((high, 0.0))
            box = {"x": left + 0.5, "y": top, "width": max(right - left - 1, 0.5)}
            drawn.append(element("rect", **box, height=bottom - top, class_=f"fill-{series}"))
        return Markup("").join(drawn)

    def _place(self, point: Point) -> Point:
        x, y = self.x.at(point[0]), self.y.at(point[1])
        return _LEFT + x * (_RIGHT - _LEFT), _BOTTOM - y * (_BOTTOM - _TOP)

    def _grid(self) -> list[Markup]:
        drawn = []
        for tick in self.y.ticks:
            _, y = self._place((0.0, tick))
            drawn.append(element("line", x1=_LEFT, x2=_RIGHT, y1=y, y2=y, class_="grid"))
            drawn.append(_text(f"{tick:g}", _LEFT - 6, y + 4, "end"))
        for tick in self.x.ticks:
            x, _ = self._place((tick, 0.0))
            drawn.append(element("line", x1=x, x2=x, y1=_BOTTOM, y2=_BOTTOM + 4, class_="axis"))
            drawn.append(_text(f"{tick:g}", x, _BOTTOM + 17, "middle"))
        middle = (_LEFT + _RIGHT) / 2
        drawn.append(_text(self.x.label, middle, HEIGHT - 6, "middle"))
        height = (_TOP + _BOTTOM) / 2
        turned = f"rotate(-90 10 {_short(height)})"
        drawn.append(_text(self.y.label, 10, height, "middle", transform=turned))
        return drawn


def strip(rows: Sequence[Interval], told: str) -> Markup:
    """Dots with their intervals on a line from 0 to 1, one under the other, for a cell."""
    height = _STRIP_HEIGHT + _ROW * (len(rows) - 1)
    marks = [
        element("line", x1=_at(tick), x2=_at(tick), y1=0, y2=height, class_="grid")
        for tick in (0.0, 0.5, 1.0)
    ]
    for row, (value, low, high) in enumerate(rows):
        y = _STRIP_HEIGHT / 2 + _ROW * row
        marks.append(
            element("line", x1=_at(low), x2=_at(high), y1=y, y2=y, class_=f"line series-{row}")
        )
        marks.append(element("circle", cx=_at(value), cy=y, r=3.5, class_=f"fill-{row}"))
    box = f"0 0 {_STRIP} {height}"
    return element(
        "svg",
        element("title", told),
        *marks,
        viewBox=box,
        role="img",
        class_=f"strip of-{len(rows)}",
    )


def _at(value: float) -> float:
    return 5 + min(max(value, 0.0), 1.0) * (_STRIP - 10)


def _text(text: str, x: float, y: float, anchor: str, **attributes: str) -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor, **attributes)


def _short(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
