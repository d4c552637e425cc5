"""A gate as JUnit XML, the form in which servers that run tests read results."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from evals.comparing import Pair
from evals.gating import Checked, Gate

_SHOWN = 20
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(gate: Gate) -> bytes:
    """One test case for each measure, and one for whether enough questions were answered."""
    cases = [_questions(gate), *(_case(gate, one) for one in gate.checked)]
    cases += [_left_out(gate, name) for name in gate.left_out]
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
        "skipped": sum(case.find("skipped") is not None for case in cases),
    }
    attributes = {name: str(count) for name, count in counts.items()}
    root = ET.Element("testsuites", {"name": "evals gate", **attributes})
    suite = ET.SubElement(
        root, "testsuite", {"name": f"evals gate {_clean(gate.suite)}", **attributes}
    )
    suite.extend(cases)
    ET.indent(root)
    return ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _questions(gate: Gate) -> ET.Element:
    case = _named(gate, "questions")
    if gate.missing or not gate.checked:
        ET.SubElement(case, "error", {"type": "unmeasurable", "message": _clean(gate.why)})
    return case


def _case(gate: Gate, one: Checked) -> ET.Element:
    case = _named(gate, one.measure.name)
    if one.standing == "holds":
        return case
    kind = "failure" if one.standing == "regressed" else "error"
    found = ET.SubElement(case, kind, {"type": one.standing, "message": _clean(one.reason)})
    if one.change:
        found.text = _clean("\n".join(_told(pair) for pair in one.change.losses[:_SHOWN]))
    return case


def _left_out(gate: Gate, name: str) -> ET.Element:
    case = _named(gate, name)
    ET.SubElement(case, "skipped", {"message": "too few questions of the baseline have it"})
    return case


def _named(gate: Gate, name: str) -> ET.Element:
    return ET.Element("testcase", {"classname": f"evals.{_clean(gate.suite)}", "name": name})


def _told(pair: Pair) -> str:
    return f"{pair.item}: {pair.before:.3g} -> {pair.after:.3g}"


def _clean(text: str) -> str:
    """With a sign in place of each character that no XML may hold."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
