"""A topic map as HTML that is ours alone: an SVG, and beside it a list for keyboard and ear.

The points of a cluster are one path of dots, so that 5,000 papers are a few elements to the
browser. What the script shows of a paper it reads from one attribute, and only ever as text.
"""

from __future__ import annotations

import html
import json
from collections.abc import Collection, Iterable
from pathlib import Path

from rag.mapping.topicmap import Cluster, Point, TopicMap
from rag.text import plain, printable

_SIDE, _MARGIN = 1_000, 40
_TERMS_SHOWN = 2
_LONGEST_TITLE = 160
_FOLDER = Path(__file__).parent


def script() -> str:
    """What makes a drawing answer to pointer and keys, for one whose root is `element`.

    It calls `chosen(action, paper_id)` where the page has defined that.
    """
    return (_FOLDER / "map.js").read_text(encoding="utf-8")


def style() -> str:
    """The style sheet of a drawing."""
    return (_FOLDER / "map.css").read_text(encoding="utf-8")


def drawing(found: TopicMap, marked: Collection[str] = (), *, with_actions: bool = False) -> str:
    """The map with its list.

    Args:
        found: The map.
        marked: Ids of papers that are ringed, as the hits of a question.
        with_actions: Whether a chosen paper can be opened and asked about.
    """
    clusters = range(len(found.clusters))
    dots = "".join(_dots(found.points, c, len(found.clusters)) for c in clusters)
    rings = _path(point for point in found.points if point.paper_id in marked)
    labels = "".join(map(_label, found.clusters))
    told = f"{len(found.points):,} papers in {len(found.clusters)} clusters"
    return (
        f'<div class="topic-map" data-map="{_data(found, marked)}"'
        f' data-actions="{"yes" if with_actions else ""}"><div class="plot">'
        f'<svg viewBox="0 0 {_SIDE} {_SIDE}" role="img" aria-label="Topic map: {told}">'
        f'{labels}{dots}<path class="rings" d="{rings}"/><path class="here" d=""/></svg>'
        '<div class="zoom"><button type="button" data-zoom="in" aria-label="Zoom in">+</button>'
        '<button type="button" data-zoom="out" aria-label="Zoom out">−</button>'
        '<button type="button" data-zoom="all">All</button></div>'
        '<div class="tip" hidden></div></div>'
        f'<div class="beside"><div class="card" role="status"></div>'
        f"{_list(found, marked)}</div></div>"
    )


def webpage(found: TopicMap) -> str:
    """The map as a page of its own, which needs nothing from elsewhere."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Topic map</title><style>{style()}</style></head>"
        f'<body class="map-page"><main><h1>Topic map</h1>{drawing(found)}</main>'
        f"<script>const element = document.body;\n{script()}</script></body></html>\n"
    )


def _data(found: TopicMap, marked: Collection[str]) -> str:
    """What the script needs of each point, as an attribute's value."""
    rows = [
        [*_place(p), p.cluster, p.paper_id, _title(p.title), _source(p), int(p.paper_id in marked)]
        for p in found.points
    ]
    return html.escape(json.dumps(rows, ensure_ascii=False, separators=(",", ":")))


def _dots(points: Iterable[Point], cluster: int, count: int) -> str:
    hue = round(360 * cluster / count + 30) % 360
    path = _path(point for point in points if point.cluster == cluster)
    return f'<path class="dots" data-cluster="{cluster}" style="--hue:{hue}" d="{path}"/>'


def _path(points: Iterable[Point]) -> str:
    """Lines of no length, which round caps make dots."""
    return "".join(f"M{x} {y}h0" for x, y in map(_place, points))


def _place(at: Point | Cluster) -> tuple[int, int]:
    half = _SIDE / 2
    reach = half - _MARGIN
    return round(half + at.x * reach), round(half - at.y * reach)


def _label(cluster: Cluster) -> str:
    x, y = _place(cluster)
    shown = html.escape(printable(", ".join(cluster.terms[:_TERMS_SHOWN])))
    side = "end" if x > _SIDE * 0.8 else "start" if x < _SIDE * 0.2 else "middle"
    return f'<text x="{x}" y="{y}" text-anchor="{side}">{shown}</text>'


def _list(found: TopicMap, marked: Collection[str]) -> str:
    hits = [0] * len(found.clusters)
    for point in found.points:
        hits[point.cluster] += point.paper_id in marked
    rows = "".join(
        f'<details data-cluster="{number}"><summary>'
        f'<i style="--hue:{round(360 * number / len(hits) + 30) % 360}"></i>'
        f"{html.escape(printable(cluster.name))} <span>{_counted(cluster.size, hit)}</span>"
        "</summary><ul></ul></details>"
        for number, (cluster, hit) in enumerate(zip(found.clusters, hits, strict=True))
    )
    return f'<div class="clusters">{rows}</div>'


def _counted(size: int, hits: int) -> str:
    return f"{size:,}, {hits} of the last answer" if hits else f"{size:,}"


def _title(text: str) -> str:
    line = printable(" ".join(plain(text).split()))
    return line if len(line) <= _LONGEST_TITLE else f"{line[: _LONGEST_TITLE - 1]}…"


def _source(point: Point) -> str:
    return printable(f"{point.source}:{point.ordinal}")
