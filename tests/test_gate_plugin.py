"""The fixture `gate` in the tests of somebody else's project."""

from __future__ import annotations

import pytest
from command import ROOT, evals
from recorded import answered, write_run, write_suite

pytest_plugins = ["pytester"]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with a good run, a bad one, and a baseline made of the good one."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    names = [f"q{place:02d}" for place in range(60)]
    questions = [{"id": name, "question": f"What of {name}?", "answers": ["yes"]} for name in names]
    suite = write_suite(pytester.path / "mine.jsonl", questions)
    good = [answered(name, ("Yes.", [])) for name in names]
    bad = [answered(name, ("Yes." if n >= 20 else "No.", [])) for n, name in enumerate(names)]
    write_run(pytester.path / "good", suite, good)
    write_run(pytester.path / "bad", suite, bad)
    write_run(pytester.path / "short", suite, good[:20])
    made = evals("gate", pytester.path / "good", "--write-baseline", pytester.path / "base.json")
    assert made.code == 0, made.err
    return pytester


def run(project: pytest.Pytester, body: str, *options: str) -> pytest.RunResult:
    project.makepyfile(body)
    return project.runpytest_subprocess("-p", "evals.pytest_plugin", *options)


def test_a_run_that_is_as_good_passes_and_a_worse_one_fails_with_the_questions(
    project: pytest.Pytester,
) -> None:
    result = run(
        project,
        """
        def test_good(gate):
            found = gate.holds("good", baseline="base.json", measures=["correct"])
            assert found.checked[0].change.after == 1.0

        def test_bad(gate):
            gate.holds("bad", baseline="base.json")

        def test_wide(gate):
            gate.holds("bad", baseline="base.json", margin="0.9")

        def test_short(gate):
            gate.holds("short", baseline="base.json")

        def test_no_baseline(gate):
            gate.holds("good", baseline="none.json")
        """,
    )
    result.assert_outcomes(passed=2, failed=3)
    result.stdout.fnmatch_lines(
        [
            "mine: regressed",
            "correct regressed: worse by more than 0.03: 0.333 [[]*[]] (q00, q01, q02, q03, q04)",
            "*67% were not asked*",
            "none.json cannot be read (No such file or directory)*",
        ]
    )


def test_only_the_named_suites_are_asked_and_one_that_cannot_be_says_why(
    project: pytest.Pytester,
) -> None:
    body = """
        def test_mine(gate):
            gate.holds("nowhere.jsonl", baseline="base.json")

        def test_other(gate):
            gate.holds("other", baseline="base.json")
        """
    result = run(project, body, "--evals-suite", "nowhere.jsonl", "-rs")
    result.assert_outcomes(failed=1, skipped=1)
    result.stdout.fnmatch_lines(
        ["nowhere.jsonl could not be asked: error: *", "SKIPPED*--evals-suite does not name other"]
    )
