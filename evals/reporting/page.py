"""A report as one HTML page that needs nothing from anywhere.

Documents, models and questions are untrusted: the template escapes everything that is not made
here. A policy in the page allows its own style sheet and script, known by their hashes, and
nothing else, so that even a fault in the escaping could neither run nor fetch anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evals.reporting import forms, plots
from evals.reporting.beside import Beside
from evals.reporting.report import Report
from evals.reporting.samples import samples
from evals.scoring.measures import BY_NAME
from evals.scoring.scored import OUTCOMES
from evals.stats import Mean

_TEMPLATES = Path(__file__).with_name("templates")
_SHADES = 5  # of the cells of a table


def page(report: Report, since: Beside | None = None) -> str:
    """The whole page; with `since` each figure and answer beside that of the other run."""
    style, script = _file("page.css"), _file("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(forms=forms, by_name=BY_NAME, shade=_shade, strip=_strip)
    return environment.get_template("page.html").render(
        policy=policy,
        style=Markup(style),  # our own files
        script=Markup(script),
        report=report,
        summary=report.summary,
        since=since,
        samples=list(samples(report.scored, since)),
        outcomes=OUTCOMES,
        share_names=[name for name, of in BY_NAME.items() if of.unit == "share"],
        plots={
            "Latency": plots.latency(report),
            "Risk and coverage": plots.risk(report),
            "Calibration": plots.calibration(report),
        },
        facts=_facts(report),
    )


def _facts(report: Report) -> list[tuple[str, str]]:
    """What made the figures, then what a reader may want to know of it."""
    manifest = report.manifest
    return [
        *_flat(manifest.identity),
        *_flat({name: value for name, value in manifest.facts.items() if name != "config"}),
        *_flat(manifest.facts.get("config") or {}),
    ]


def _flat(values: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{before}{name} · ")
        elif isinstance(value, list):
            found.append((f"{before}{name}", ", ".join(map(str, value))))
        elif value not in (None, ""):
            found.append((f"{before}{name}", str(value)))
    return found


def _strip(name: str, mean: Mean, since: Beside | None) -> Markup:
    """The drawing of a share, with that of the other run below it."""
    if BY_NAME[name].unit != "share":
        return Markup()
    other = since.other.summary.means.get(name) if since else None
    return plots.means_strip(name, [mean, other] if other else [mean])


def _shade(name: str, value: float) -> str:
    """The class that tints a cell by how good its value is."""
    good = value if BY_NAME[name].better == "higher" else 1 - value
    return f"shade-{min(max(int(good * _SHADES), 0), _SHADES - 1)}"


def _file(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
