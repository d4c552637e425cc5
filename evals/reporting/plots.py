"""What the plots of a report show: figures of a run brought into their form, and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evals.record import Record
from evals.reporting.report import Report
from evals.reporting.svg import Frame, Point, shares, strip, up_to
from evals.scoring.abstention import area_under_risk_coverage, risk_coverage
from evals.scoring.probabilities import Bin, calibration_error, equal_width, reliability
from evals.scoring.scored import Scored
from evals.stats import Mean, percentile

_PERCENTILES = (0.5, 0.9, 0.95, 1.0)
_ROWS = 12  # of a table beside a curve


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing, what its colours stand for, and its figures as a table."""

    drawing: Markup
    legend: tuple[tuple[int, str], ...]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    told: str = ""


def means_strip(name: str, means: Sequence[Mean]) -> Markup:
    """One mean, or this run's above the other's."""
    rows = [(mean.value, mean.low, mean.high) for mean in means]
    told = "; before ".join(f"{m.value:.2f}, interval {m.low:.2f} to {m.high:.2f}" for m in means)
    return strip(rows, f"{name}: {told}")


def latency(report: Report) -> Plot | None:
    """How many answers had begun and were complete after so many seconds."""
    names = {"first claim": "first claim", "seconds": "whole answer"}
    times = {
        told: sorted(one.values[name] for one in report.scored if name in one.values)
        for name, told in names.items()
    }
    times = {told: values for told, values in times.items() if values}
    if not times:
        return None
    frame = Frame(up_to("seconds", max(max(of) for of in times.values())), shares("share of them"))
    lines = [
        frame.steps([(0.0, 0.0), *_cumulative(of), (frame.x.high, 1.0)], series)
        for series, of in enumerate(times.values())
    ]
    rows = tuple(
        (told, *(f"{percentile(of, share):.2f} s" for share in _PERCENTILES), str(len(of)))
        for told, of in times.items()
    )
    return Plot(
        frame.draw("Latency", "Share of the questions answered within so many seconds", *lines),
        tuple(enumerate(times)),
        ("", "median", "90%", "95%", "slowest", "n"),
        rows,
    )


def risk(report: Report) -> Plot | None:
    """The risk–coverage curve; None where no answer carries a confidence."""
    known = confident(report)
    if not known:
        return None
    points = risk_coverage([c for c, _ in known], [right for _, right in known])
    frame = Frame(shares("coverage"), shares("risk"))
    curve = [(point.coverage, point.risk) for point in points]
    dots = frame.dots(
        [
            ((p.coverage, p.risk), f"confidence from {p.threshold:.2f}: {p.risk:.2f} wrong")
            for p in points
        ]
    )
    shown = points[:: max(len(points) // _ROWS, 1)]
    return Plot(
        frame.draw("Risk and coverage", _ABOUT_RISK, frame.line(curve), dots),
        (),
        ("confidence from", "coverage", "risk"),
        tuple((f"{p.threshold:.2f}", f"{p.coverage:.2f}", f"{p.risk:.2f}") for p in shown),
        f"Area under the curve {area_under_risk_coverage(points):.3f}; less is better.",
    )


def calibration(report: Report) -> Plot | None:
    """The reliability diagram; None where no answer carries a confidence."""
    known = confident(report)
    if not known:
        return None
    confidences, right = [c for c, _ in known], [right for _, right in known]
    bins = reliability(confidences, right)
    most = max(one.n for one in bins)
    frame = Frame(shares("confidence"), shares("right"))
    drawn = frame.draw(
        "Calibration",
        "Share of right answers by confidence; the diagonal is where the two are equal",
        frame.bars([(one.low, one.high, 0.2 * one.n / most) for one in bins], 2),
        frame.line([(0.0, 0.0), (1.0, 1.0)], 3),
        frame.dots([((one.probability, one.positive), _told(one)) for one in bins]),
    )
    rows = tuple(
        (
            f"{one.low:.1f} to {one.high:.1f}",
            f"{one.probability:.2f}",
            f"{one.positive:.2f}",
            str(one.n),
        )
        for one in bins
    )
    error = float(calibration_error(confidences, right, equal_width(confidences))[0])
    return Plot(
        drawn,
        ((0, "share right"), (3, "where confidence is right"), (2, "bars: how many answers")),
        ("confidence", "mean", "right", "n"),
        rows,
        f"Expected calibration error {error:.3f}.",
    )


def confident(report: Report) -> list[tuple[float, bool]]:
    """Confidence of each answer, and whether it is right.

    An answer is right if it is correct and its question has an answer; one whose question has none
    is wrong; one that cannot be told right from wrong is left out, as are abstentions.
    """
    found = []
    for one in report.scored:
        if one.outcome != "scored" or one.record is None:
            continue
        confidence, right = _confidence(one.record, report.judge), _right(one)
        if confidence is not None and right is not None:
            found.append((min(max(confidence, 0.0), 1.0), right))
    return found


def _confidence(record: Record, judge: str) -> float | None:
    """The writer's own; else the judge's least probability of support over the claims."""
    if record.confidence is not None:
        return record.confidence
    said = [one.probability for one in record.opinions.get(judge, ())]
    known = [one for one in said if one is not None]
    return min(known) if known and len(known) == len(said) else None


def _right(one: Scored) -> bool | None:
    if not one.item.answerable:
        return False
    names = [name for name in ("correct", "label") if name in one.values]
    return all(one.values[name] == 1.0 for name in names) if names else None


def _cumulative(values: Sequence[float]) -> list[Point]:
    return [(value, (place + 1) / len(values)) for place, value in enumerate(values)]


def _told(one: Bin) -> str:
    return f"{one.n} answers of confidence {one.probability:.2f}: {one.positive:.2f} right"


_ABOUT_RISK = "Share of wrong answers when the least confident ones are withheld"
