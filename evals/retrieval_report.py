"""A benchmark of retrieval as tables, JSON and the panels of a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from rich.table import Table

from evals.comparison import Difference, compare, means, score
from evals.figures import Interval
from evals.golden import ALL
from evals.metrics import MEASURES
from evals.retrieval import Benchmark, Cost
from evals.stats import Mean, percentile
from evals.systems import PRODUCT


@dataclass(frozen=True, slots=True)
class Report:
    """What a benchmark shows: for each system and kind of query the means, and the comparisons."""

    benchmark: Benchmark
    quality: Mapping[str, Mapping[str, Mapping[str, Mean]]]
    differences: tuple[Difference, ...]


def report(benchmark: Benchmark) -> Report:
    """Score every run, and compare the product with each of the others."""
    facts = benchmark.facts
    scores = {name: score(run, benchmark.qrels) for name, run in benchmark.runs.items()}
    quality = {name: means(of, facts.kinds, facts.seed) for name, of in scores.items()}
    return Report(benchmark, quality, tuple(compare(PRODUCT, scores, facts.seed)))


def as_json(of: Report) -> dict[str, Any]:
    """What was worked out; speeds in milliseconds and documents a second."""
    costs = of.benchmark.facts.costs
    return {
        "quality": {
            name: {
                kind: {measure: asdict(value) for measure, value in row.items()}
                for kind, row in kinds.items()
            }
            for name, kinds in of.quality.items()
        },
        "differences": [asdict(one) for one in of.differences],
        "speed": {name: _speed(cost) for name, cost in costs.items()},
    }


def headline(of: Report) -> str:
    """What was measured, in one line."""
    facts = of.benchmark.facts
    left = f", {facts.unscored} without a relevant document not counted" if facts.unscored else ""
    split = "" if facts.kinds else f" {facts.split}"
    return (
        f"{facts.collection}{split}: {facts.documents:,} documents, {facts.queries:,} queries"
        f"{left}; means with 95% bootstrap intervals; seed {facts.seed}"
    )


def tables(of: Report) -> Iterator[Table]:
    """Systems, kinds of query where there are some, and paired differences."""
    yield _systems(of)
    if of.benchmark.facts.kinds:
        yield _kinds(of)
    if of.differences:
        yield _differences(of)


def panels(of: Report) -> dict[str, dict[str, Interval]]:
    """Each measure's mean and interval by system, over all queries."""
    found: dict[str, dict[str, Interval]] = {}
    for measure in MEASURES:
        values = {name: kinds[ALL][measure] for name, kinds in of.quality.items()}
        found[measure] = {name: (v.value, v.low, v.high) for name, v in values.items()}
    return found


def _systems(of: Report) -> Table:
    table = Table("system", *MEASURES, "index s", "docs/s", "search ms", "p95 ms")
    for name, kinds in of.quality.items():
        cost = of.benchmark.facts.costs.get(name)
        table.add_row(name, *map(shown, kinds[ALL].values()), *(_cells(cost) if cost else ()))
    return table


def _kinds(of: Report) -> Table:
    table = Table("kind", "n", "system", *MEASURES)
    kinds = [kind for kind in next(iter(of.quality.values())) if kind != ALL]
    for kind in kinds:
        for name, rows in of.quality.items():
            row = rows[kind]
            n = str(next(iter(row.values())).n)
            table.add_row(kind, n, name, *map(shown, row.values()))
    return table


def _differences(of: Report) -> Table:
    head = f"p (Holm over {len(of.differences)})"
    table = Table(f"{PRODUCT} minus", "measure", "difference", head, "detectable")
    for one in of.differences:
        p = f"{one.corrected:.4f}" if one.corrected >= 0.0001 else "< 0.0001"
        cells = (shown(one.mean, signed=True), p, f"{one.detectable:.3f}")
        table.add_row(one.peer, one.measure, *cells)
    return table


def shown(value: Mean, *, signed: bool = False) -> str:
    """A mean with its interval, three decimals each."""
    form = "+.3f" if signed else ".3f"
    return f"{value.value:{form}} [{value.low:{form}}, {value.high:{form}}]"


def _speed(cost: Cost) -> dict[str, float]:
    milliseconds = [1e3 * one for one in cost.search_seconds]
    return {
        "index_seconds": cost.index_seconds,
        "documents_per_second": cost.documents / cost.index_seconds,
        "search_median_ms": median(milliseconds),
        "search_p95_ms": percentile(milliseconds, 0.95),
        "searches": len(milliseconds),
    }


def _cells(cost: Cost) -> tuple[str, ...]:
    speed = _speed(cost)
    return (
        f"{speed['index_seconds']:.1f}",
        f"{speed['documents_per_second']:,.0f}",
        f"{speed['search_median_ms']:.1f}",
        f"{speed['search_p95_ms']:.1f}",
    )
