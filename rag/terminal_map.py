"""A topic map in a terminal: its clusters, with the papers nearest to the middle of each."""

from __future__ import annotations

import math

from rich.markup import escape

from rag.mapping import TopicMap
from rag.terminal import out
from rag.text import plain


def show_map(found: TopicMap, papers: int) -> None:
    """Each cluster with its size, how far its papers are from each other, and some of them."""
    for number, cluster in enumerate(found.clusters):
        size = f"{cluster.size:,} paper{'' if cluster.size == 1 else 's'}"
        told = f"{size}, distortion {cluster.distortion:.2f}"
        out.print(f"[bold]{escape(plain(cluster.name))}[/]  [dim]{told}[/]")
        mine = [point for point in found.points if point.cluster == number]
        mine.sort(key=lambda point: math.hypot(point.x - cluster.x, point.y - cluster.y))
        for point in mine[:papers]:
            place = escape(plain(f"{point.source}:{point.ordinal}"))
            out.print(f"    {escape(plain(point.title))}  [dim]{place}[/]")
