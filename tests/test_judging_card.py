"""The card of a judge: its figures on labelled claims, and the commands that make them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import ROOT, Ran, environment, evals
from fakes import Received, Script, ScriptedServer, streamed

from evals.commands.estimates import estimate_command
from evals.commands.judges import judge_card_command
from evals.judging.card import Card, Judged, card_of, disagreements
from evals.judging.labelled import Labelled, scifact, stratified
from evals.judging.labels import read_labels
from evals.judging.panel import majority
from evals.judging.protocol import Case, Label, Verdict
from evals.judging.sentences import Marked, picked
from evals.record import Opinion, Record, Source, Times
from evals.running.journal import Manifest, writing
from evals.suite import read_suite
from rag.errors import InputError, UsageError

DATA = any((parent / "shared" / "data" / "scifact").is_dir() for parent in ROOT.parents)
needs_data = pytest.mark.skipif(not DATA, reason="SciFact is not there: ../shared/data/scifact")


def evals_of(tree: Path, command: str) -> Ran:
    """Run what stands in another tree."""
    done = subprocess.run(
        [sys.executable, "-m", "evals", command],
        capture_output=True,
        env=environment(PYTHONPATH=str(tree)),
        cwd=tree,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def judged(*rows: tuple[Label, dict[str, Verdict]]) -> list[Judged]:
    return [
        Judged(
            Labelled(str(n), Case(f"claim {n}", ()), gold, f"paper {n}"),
            verdicts,
            {name: 1.0 + n for name in verdicts if "+" not in name},
        )
        for n, (gold, verdicts) in enumerate(rows)
    ]


def card(*rows: tuple[Label, Verdict]) -> Card:
    return card_of(judged(*((gold, {"j": verdict}) for gold, verdict in rows)))


YES, NO = Verdict("support", 0.8), Verdict("neither", 0.3)


def test_a_card_by_hand() -> None:
    found = card(("support", YES), ("support", NO), ("neither", NO), ("contradict", YES))
    (row,) = found.rows
    assert row.confusions == ((1, 0, 1), (1, 0, 0), (0, 0, 1))
    assert row.figures["accuracy"].value == pytest.approx(0.5)
    assert row.figures["balanced accuracy"].value == pytest.approx((0.5 + 0 + 1) / 3)
    assert row.figures["F1 support"].value == pytest.approx(0.5)
    assert row.figures["F1 contradict"].value == 0.0
    # support and not: 2 × 2 pairs of .8 .3 and .3 .8, so one won, one lost, two ties
    assert row.figures["AUROC"].value == pytest.approx(0.5)
    # bins .8 (one of two is support) and .3 (one of two): |.5 - .8|/2 + |.5 - .3|/2
    assert row.figures["ECE"].value == pytest.approx(0.25)
    assert row.figures["Brier"].value == pytest.approx((0.04 + 0.49 + 0.09 + 0.64) / 4)
    assert found.most_frequent == 0.5
    assert found.alpha is None
    assert row.seconds == 2.5
    for figure in row.figures.values():
        assert figure.low <= figure.value <= figure.high
        assert figure.n == 4


def test_failures_are_counted_apart_and_never_averaged() -> None:
    failed = Verdict(None, failure="prose")
    found = card(("support", YES), ("neither", failed), ("contradict", failed), ("neither", NO))
    (row,) = found.rows
    assert (row.labelled, row.failed) == (2, 2)
    assert row.figures["accuracy"].value == 1.0
    assert row.figures["accuracy"].n == 2
    assert not row.valid


@pytest.mark.parametrize(("failures", "valid"), [(0, True), (1, True), (2, False)])
def test_more_than_5_percent_of_failures_make_a_judge_invalid(failures: int, valid: bool) -> None:
    rows: list[tuple[Label, Verdict]] = [("support", YES)] * (20 - failures)
    rows += [("support", Verdict(None, failure="x"))] * failures
    assert card(*rows).rows[0].valid is valid


def test_a_judge_that_always_fails_has_no_figures() -> None:
    (row,) = card(("support", Verdict(None, failure="x"))).rows
    assert (row.labelled, row.figures) == (0, {})


def test_judges_are_compared_with_each_other_without_the_panels() -> None:
    def row(*labels: Label | None) -> dict[str, Verdict]:
        votes = {name: Verdict(label) for name, label in zip("ab", labels, strict=True)}
        return votes | {"a+b": majority(votes)}

    every = judged(
        ("support", row("support", "support")),
        ("neither", row("neither", "neither")),
        ("contradict", row("contradict", "neither")),
        ("support", row("support", None)),
    )
    found = card_of(every)
    assert [r.judge for r in found.rows] == ["a", "b", "a+b"]
    assert found.rows[2].failed == 2
    assert found.rows[2].seconds is None
    assert found.rows[2].valid  # to differ is no failure
    # Pairs: s-s, n-n, c-n: D_o = 2/6; of s s n n n c expected 1 - (2·1 + 3·2 + 0)/(6·5) = 22/30
    assert found.alpha is not None
    assert found.alpha.value == pytest.approx(1 - (1 / 3) / (22 / 30))
    assert [one.labelled.id for one in disagreements(every)] == ["2"]


def test_intervals_are_wider_where_claims_share_a_paper() -> None:
    def figures(papers: int) -> float:
        every = [
            Judged(
                Labelled(str(n), Case("c", ()), "support", str(n % papers)),
                {"j": YES if n % papers % 2 else NO},
                {"j": 0.0},
            )
            for n in range(200)
        ]
        found = card_of(every).rows[0].figures["accuracy"]
        return found.high - found.low

    assert figures(20) > 2 * figures(200)


@pytest.mark.parametrize(
    ("labels", "n", "chosen"),
    [
        ("ssssccnn", 4, [0, 1, 4, 6]),  # 2 : 1 : 1, as all of them
        ("ssssccnn", 8, [0, 1, 2, 3, 4, 5, 6, 7]),
        ("nscsncsssn", 2, [0, 1]),  # shares of 1, .6 and .4: one whole, then the larger rest
        ("sssssssssc", 3, [0, 1, 2]),
    ],
)
def test_a_sample_has_each_label_in_its_share_and_the_first_of_each(
    labels: str, n: int, chosen: list[int]
) -> None:
    names: dict[str, Label] = {"s": "support", "c": "contradict", "n": "neither"}
    every = [
        Labelled(str(place), Case("c", ()), names[one], "p") for place, one in enumerate(labels)
    ]
    assert [int(one.id) for one in stratified(every, n)] == chosen


@needs_data
def test_scifact_is_read_with_the_abstracts_that_were_labelled() -> None:
    dev = scifact("dev")
    labels = [one.label for one in dev]
    assert (labels.count("support"), labels.count("contradict"), labels.count("neither")) == (
        124,
        64,
        112,
    )
    assert all(passage.text for one in dev for passage in one.case.passages)
    assert {one.label for one in dev[:20]} == {"support", "contradict", "neither"}
    assert not {one.id for one in dev} & {one.id for one in scifact("train")}


@needs_data
def test_the_card_of_the_products_own_check_is_printed_and_saved(tmp_path: Path) -> None:
    ran = evals("judge-card", "--limit", "40", "--ppi", "15", "--save", tmp_path / "card.json",
                "--plot", tmp_path / "card.svg")  # fmt: skip
    assert ran.code == 0, ran.err
    assert "40 labelled claims" in ran.out
    assert "judge: contradict" in ran.out
    saved = json.loads((tmp_path / "card.json").read_text("utf-8"))
    own = saved["judges"]["support"]
    assert own["labelled"] == 40
    assert own["failed"] == 0
    right = sum(case["verdicts"]["support"]["label"] == case["label"] for case in saved["cases"])
    assert own["figures"]["accuracy"]["value"] == pytest.approx(right / 40)
    assert saved["ppi"]["support"]["n"] == 15
    assert (tmp_path / "card.svg").read_text("utf-8").startswith("<?xml")


def replying(received: Received) -> Script:
    """Supports every claim with a number in it, and writes prose of every fifth."""
    asked = received.body["messages"][1]["content"]
    claim = next(line for line in asked.splitlines() if line.startswith("claim: "))
    if len(claim) % 5 == 0:
        return streamed(["I think that the passage supports it."])
    label = "support" if any(c.isdigit() for c in claim) else "neither"
    reply = {"reason": "So it says.", "label": label, "confidence": 0.9}
    return streamed([json.dumps(reply)])


@needs_data
def test_judges_of_two_kinds_make_a_panel_and_failures_show_in_the_exit_code(
    tmp_path: Path,
) -> None:
    with ScriptedServer(replying) as server:
        given = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m"}
        ran = evals("judge-card", "--judges", "support,openai", "--limit", "30", "--json",
                    "--save", tmp_path / "card.json", "--data-dir", tmp_path,
                    env=given)  # fmt: skip
    assert ran.code == 1, ran.err
    told = ran.json()
    failed = told["judges"]["openai"]["failed"]
    assert failed > 1
    assert told["judges"]["openai"]["labelled"] + failed == 30
    assert len(server.posts) == 30 + failed  # each once more, and the panel asks nobody again
    assert told["judges"]["support+openai"]["failed"] >= failed
    assert told["alpha"]["n"] == 30
    assert "ECE" in told["judges"]["openai"]["figures"]
    assert "ECE" in told["judges"]["support"]["figures"]
    saved = json.loads((tmp_path / "card.json").read_text("utf-8"))
    prose = [one for one in saved["cases"] if one["verdicts"]["openai"]["failure"]]
    assert prose[0]["verdicts"]["openai"]["raw"] == ["I think that the passage supports it."] * 2
    assert any(one["judges_differ"] for one in saved["cases"])


@needs_data
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"judges": "gpt"}, "No judge is called 'gpt'. Choose from support, llm"),
        ({"judges": "none"}, "No judge is named. Choose from"),
        ({"judges": "support,support"}, "The judge support is named twice."),
        ({"judges": "support+support"}, "The judge support is named twice."),
        ({"limit": 10, "labels": 9}, "--ppi 9 is too many (of 10 labelled claims)."),
        ({"judges": "openai"}, "No model server is configured."),
    ],
)
def test_what_cannot_be_measured_is_told_in_one_line(
    options: dict[str, Any], told: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        judge_card_command(**options, data_dir=tmp_path)
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize("command", ["judge-card", "estimate"])
def test_data_that_is_not_there_is_told_in_one_line(command: str, tmp_path: Path) -> None:
    """The project as someone has it who has nothing beside it."""
    if any((parent / "shared" / "data").is_dir() for parent in tmp_path.parents):
        pytest.skip("there is data above the folder of the tests")
    for name in ("evals", "rag", "prompts"):
        (tmp_path / name).symlink_to(ROOT / name)
    ran = evals_of(tmp_path, command)
    assert ran.code == 2
    assert ran.error_line.startswith("error: The data of scifact is not there (no folder")


def test_the_grid_of_sentences_by_hand() -> None:
    one = Marked(
        "Owls hunt 12 mice",
        "Owls",
        (
            "Birds live here.",
            "Owls hunt 12 mice at night.",
            "Nothing else was seen in 2020 at all.",
        ),
        frozenset({1}),
    )
    grid = picked([one])
    labels = dict(zip(grid.systems, grid.labels[0], strict=True))
    assert labels["most cover"] == labels["most overlap"] == 1.0
    assert labels["first"] == labels["last"] == labels["longest"] == 0.0
    assert labels["last but one"] == 1.0
    scores = dict(zip(grid.judges, grid.scores[0, grid.systems.index("most cover")], strict=True))
    assert scores["support"] == scores["cover"] == scores["numbers"] == 1.0
    assert scores["late"] == 0.5
    assert not np.isnan(grid.scores).any()


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Two runs of 40 questions with two statements each: in the first more are supported."""
    suite = tmp_path / "mine.jsonl"
    lines = [{"id": f"q{n}", "question": f"What is {n}?", "kind": "x"} for n in range(40)]
    suite.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return [
        written(tmp_path / name, suite, share) for name, share in (("good", 0.8), ("poor", 0.3))
    ]


def written(folder: Path, suite: Path, share: float) -> Path:
    read = read_suite(suite)
    identity: dict[str, Any] = {
        "suite": "mine",
        "questions": read.digest,
        "asked": 40,
        "repeats": 1,
        "judges": ["strict", "kind"],
    }
    generator = np.random.default_rng(3)
    with writing(folder, Manifest(identity, {"suite file": str(suite)}), resume=False) as journal:
        for item in read.items:
            held = [bool(generator.random() < share) for _ in range(2)]
            journal.add(answered(item.id, held))
    return folder


def answered(item: str, held: list[bool]) -> Record:
    claims = [{"text": f"Claim {n}.", "citations": [1], "support": []} for n in range(2)]
    labels = ["support" if one else "neither" for one in held]
    return Record(
        item,
        0,
        "answered",
        "What?",
        answer={
            "text": f"An answer to {item}. [1]",
            "claims": claims,
            "citations": [{"number": 1, "paper_id": "p", "sentences": []}],
            "manifest": {},
        },
        papers={"p": Source("T", "Text.")},
        opinions={
            "strict": tuple(Opinion(n, (1,), label) for n, label in enumerate(labels)),
            "kind": tuple(Opinion(n, (1,), "support") for n in range(2)),
        },
        times=Times(1.0),
    )


def label_file(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_labels_are_asked_for_by_a_template_and_correct_the_judges(
    runs: list[Path], tmp_path: Path
) -> None:
    wanted = tmp_path / "labels.jsonl"
    ran = evals("estimate", *runs, "--template", wanted, "--answers", "30", "--data-dir", tmp_path)
    assert ran.code == 0, ran.err
    rows = [json.loads(line) for line in wanted.read_text("utf-8").splitlines()]
    assert len(rows) == 30
    assert {row["label"] for row in rows} == {None}
    assert {row["run"] for row in rows} == {"good", "poor"}
    assert rows[0]["answer"].startswith("An answer to q")
    for row in rows:  # people find the answers of the good run right, and half of the others
        row["label"] = 1.0 if row["run"] == "good" or int(row["id"][1:]) % 2 else 0.0
    label_file(wanted, rows)
    ran = evals("estimate", *runs, "--labels", wanted, "--json", "--data-dir", tmp_path)
    assert ran.code == 0, ran.err
    told = ran.json()
    assert told["judges"] == ["strict", "kind"]
    good, poor = told["runs"]["good"], told["runs"]["poor"]
    assert good["answers"] == poor["answers"] == 40
    assert good["corrected"]["value"] == pytest.approx(1.0)
    assert poor["corrected"]["low"] < 0.5 < poor["corrected"]["high"]
    assert len(told["answers"]) == 80
    assert all(0 <= one["estimate"] <= 1 for one in told["answers"])
    assert set(told["errors"]) >= {"labels by system", "judges", "factorisation", "both"}
    shown = evals("estimate", *runs, "--labels", wanted, "--data-dir", tmp_path)
    assert "corrected (PPI++)" in shown.out


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"run": "good", "id": "q1", "label": 2}], "is no label (label: Input should be less"),
        ([{"run": "good", "id": "q1", "mark": 1}], "is no label (mark: Extra inputs"),
        ([{"run": "good", "id": "q1", "label": 1}] * 2, ":2 labels q1 of good again."),
        ([{"run": "other", "id": "q1", "label": 1}], "a label of q1 of the run other, which"),
        ([{"run": "good", "id": "q99", "label": 1}], "a label of q99 of the run good, which"),
        ([{"run": "good", "id": "q1", "label": 1}], "There are too few labels (1 labels where"),
    ],
)
def test_labels_that_cannot_be_used_are_told_in_one_line(
    rows: list[dict[str, Any]], told: str, runs: list[Path], tmp_path: Path
) -> None:
    path = label_file(tmp_path / "labels.jsonl", rows)
    with pytest.raises(InputError) as caught:
        estimate_command(runs, labels=path, data_dir=tmp_path)
    assert told in str(caught.value)


def test_answers_that_are_not_labelled_yet_are_passed_over(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"run": "r", "id": "a", "label": None},
        {"run": "r", "id": "b", "label": 0.5},
    ]
    assert read_labels(label_file(tmp_path / "l.jsonl", rows)) == {("r", "b"): 0.5}
    with pytest.raises(InputError, match="cannot be read"):
        read_labels(tmp_path / "absent.jsonl")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "There are no labels. Give --labels, or --template first."),
        ({"measure": "taste", "labels": True}, "No measure is called 'taste'. Choose from"),
        ({"measure": "numeric", "labels": True}, "No answer of these runs has the measure numeric"),
        ({"runs": None, "given": "x"}, "--given x is no list of numbers."),
        ({"runs": None, "given": "1"}, "--given asks for too few labels or too many"),
        ({"twice": True, "labels": True}, "Two of these folders have the same name."),
    ],
)
def test_a_request_that_makes_no_sense_is_told_in_one_line(
    options: dict[str, Any], told: str, runs: list[Path], tmp_path: Path
) -> None:
    if "given" in options and not DATA:
        pytest.skip("SciFact is not there: ../shared/data/scifact")
    given = {"runs": runs, **options}
    if given.pop("twice", False):
        given["runs"] = [runs[0], runs[0]]
    if given.get("labels"):
        labels = [{"run": "good", "id": "q1", "label": 1}]
        given["labels"] = label_file(tmp_path / "l.jsonl", labels)
    with pytest.raises(UsageError) as caught:
        estimate_command(**given, data_dir=tmp_path)
    assert str(caught.value).startswith(told)


def test_runs_of_other_questions_cannot_be_put_together(runs: list[Path], tmp_path: Path) -> None:
    suite = tmp_path / "other.jsonl"
    lines = [{"id": f"q{n}", "question": f"Why is {n}?"} for n in range(40)]
    suite.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    runs.append(written(tmp_path / "other", suite, 0.5))
    labels = label_file(tmp_path / "l.jsonl", [{"run": "good", "id": "q1", "label": 1}])
    with pytest.raises(UsageError, match="not of the same questions"):
        estimate_command(runs, labels=labels, data_dir=tmp_path)
