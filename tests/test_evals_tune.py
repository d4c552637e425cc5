"""A prompt is searched for: what is proposed, what is tried, what held-back questions decide."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from command import ROOT, evals
from fakes import Received, Script, ScriptedGenerator, ScriptedServer, streamed
from hypothesis import given
from hypothesis import strategies as st

from evals.known import SUITES
from evals.scoring.scored import Outcome, Scored
from evals.suite import Item, Question
from evals.tuning.proposing import Proposal, Proposer, Unusable, revised
from evals.tuning.search import Paired, Spent, Tuned, is_better, paired, search
from evals.tuning.splitting import Split, least, split
from evals.tuning.trial import Trial, aggregate, checked, median, trial
from evals.tuning.trying import Meter
from rag.answering.asking import Asker
from rag.answering.prompting import render, template, versions
from rag.errors import ConfigError, ModelError, UsageError

TEMPLATE = (
    "Answer in at most $most claims, and only from what is shown.\n---\n$evidence\n$question\n"
)


def item(name: str, paper: str = "", **fields: object) -> Item:
    papers = {"paper_ids": (paper,)} if paper else {}
    return Item(name, Question.model_validate({"question": f"What of {name}?", **papers, **fields}))


def scored(
    name: str, value: float | None, outcome: Outcome = "scored", kind: str = "named"
) -> Scored:
    values = {} if value is None else {"correct": value}
    return Scored(item(name, kind=kind), 0, outcome, values)


def tried(text: str, values: Mapping[str, float]) -> Trial:
    return trial(text, [scored(name, value) for name, value in values.items()], "right")


HALVES = Split(tuple(item(f"t{n}") for n in range(10)), tuple(item(f"h{n}") for n in range(10)))


def script(effects: Mapping[str, tuple[float, float]]) -> Callable[..., Trial]:
    """Tries a template: the share of train and of held-back questions that it answers."""

    def try_out(text: str, items: Sequence[Item], label: str) -> Trial:
        share = effects[text.split(maxsplit=1)[0]]["held" in label]
        right = round(share * len(items))
        return tried(text, {one.id: float(n < right) for n, one in enumerate(items)})

    return try_out


def proposals(*texts: str | Exception) -> tuple[Callable[..., Proposal], list[list[str]]]:
    queue, seen = list(texts), list[list[str]]()

    def propose(best: Trial, told: Sequence[str]) -> Proposal:
        seen.append(list(told))
        following = queue.pop(0)
        if isinstance(following, Exception):
            raise following
        return Proposal(f"{following} after {best.template}", "because")

    return propose, seen


def test_a_bad_revision_is_dropped_and_a_good_one_kept() -> None:
    propose, seen = proposals("bad", "good")
    effects = {"old": (0.5, 0.2), "bad": (0.3, 1.0), "good": (0.9, 1.0)}
    tuned = search("old", HALVES, 2, script(effects), propose)
    bad, good = tuned.attempts
    assert (bad.kept, bad.outcome) == (False, "not kept: no better on the train questions")
    assert bad.held_back is None  # and so not asked
    assert good.kept
    # eight of ten rose by one: the two assignments as far out of 2^8 are p = 2/256
    assert good.held_back is not None
    assert good.held_back.difference == pytest.approx(0.8)
    assert good.held_back.n == 10
    assert good.held_back.p == pytest.approx(2 / 256)
    assert tuned.template == good.template == "good after old"
    assert seen[1] == [
        "1. not kept: no better on the train questions, -0.20 on train questions (because)"
    ]


def test_what_is_better_only_where_it_was_learnt_is_not_kept() -> None:
    propose, seen = proposals("lucky", "lucky")
    effects = {"old": (0.5, 0.5), "lucky": (1.0, 0.6)}
    tuned = search("old", HALVES, 2, script(effects), propose)
    assert not tuned.kept
    assert tuned.template == "old"
    assert "+0.10, p = 1.000 on the held-back questions" in tuned.attempts[0].outcome
    assert "held-back" not in seen[1][0]  # whoever proposes learns nothing of them


def test_the_next_revision_is_of_the_one_that_was_kept() -> None:
    propose, _ = proposals("good", "better")
    effects = {"old": (0.1, 0.0), "good": (0.5, 1.0), "better": (0.9, 1.0)}
    tuned = search("old", HALVES, 2, script(effects), propose)
    assert [one.kept for one in tuned.attempts] == [True, False]
    assert tuned.template == "good after old"
    assert tuned.attempts[1].template == "better after good after old"


def test_a_proposal_that_cannot_be_tried_costs_a_round_and_no_question() -> None:
    propose, seen = proposals(Unusable("$most was lost"), "good")
    tuned = search("old", HALVES, 2, script({"old": (0.1, 0.0), "good": (1.0, 1.0)}), propose)
    assert tuned.attempts[0].outcome == "cannot be tried: $most was lost"
    assert seen[1] == ["1. cannot be tried: $most was lost"]
    assert tuned.kept


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_budget_that_is_used_up_ends_the_search_and_keeps_what_was_found(after: int) -> None:
    propose, _ = proposals("good", "good")
    effects = {"old": (0.1, 0.0), "good": (1.0, 1.0)}
    calls: list[str] = []

    def try_out(text: str, items: Sequence[Item], label: str) -> Trial:
        if len(calls) == after:
            raise Spent("9 tokens were used of 9")
        calls.append(label)
        return script(effects)(text, items, label)

    if after == 0:
        with pytest.raises(ModelError, match="9 tokens were used"):
            search("old", HALVES, 2, try_out, propose)
        return
    tuned = search("old", HALVES, 2, try_out, propose)
    assert tuned == Tuned("old", tuned.original, (), "9 tokens were used of 9")


def test_questions_that_fail_are_no_gain() -> None:
    failing = [scored(f"t{n}", 1.0) for n in range(9)] + [scored("t9", None, "failed")]

    def try_out(text: str, items: Sequence[Item], label: str) -> Trial:
        if text.startswith("old"):
            return tried(text, {one.id: 0.0 for one in items})
        return trial(text, failing, "right")

    propose, _ = proposals("new")
    tuned = search("old", HALVES, 1, try_out, propose)
    assert tuned.attempts[0].outcome == "not kept: 1 of 10 questions failed"


@pytest.mark.parametrize(
    ("found", "looks", "better"),
    [
        (Paired(0.2, 0.04, 20), 1, True),
        (Paired(0.2, 0.04, 20), 2, False),
        (Paired(0.2, 0.024, 20), 2, True),
        (Paired(-0.2, 0.001, 20), 1, False),
        (Paired(0.0, 1.0, 20), 1, False),
    ],
)
def test_each_look_at_the_held_back_questions_has_its_share(
    found: Paired, looks: int, better: bool
) -> None:
    assert is_better(found, looks) is better


def test_only_questions_with_a_value_in_both_are_paired() -> None:
    one, two = tried("a", {"x": 0.0, "y": 1.0}), tried("b", {"y": 0.0, "x": 1.0, "z": 1.0})
    assert paired(one, two) == Paired(0.0, 1.0, 2)


@given(st.integers(14, 80), st.integers(1, 9))
def test_no_paper_has_questions_on_both_sides(count: int, papers: int) -> None:
    items = [item(f"q{n}", f"p{n % papers}") for n in range(count)]
    try:
        halves = split(items)
    except UsageError:
        return
    about = [{one.asked.paper_ids[0] for one in side} for side in (halves.train, halves.held_back)]
    assert not about[0] & about[1]
    assert {one.id for one in (*halves.train, *halves.held_back)} == {one.id for one in items}


def test_a_question_stays_on_its_side_and_follow_ups_are_left_out() -> None:
    items = [item(f"q{n}") for n in range(60)]
    small, large = split(items[:40]), split(items)
    assert all(one in large.train for one in small.train)
    assert all(one in large.held_back for one in small.held_back)
    talk = Item("talk/2", Question(question="And ARC?"), ("Which?",))
    assert talk not in (*split([*items, talk]).train, *split([*items, talk]).held_back)
    few = split(items, 30)
    assert len(few.train) + len(few.held_back) == 30


@pytest.mark.parametrize(("looks", "papers"), [(1, 6), (2, 7), (3, 7), (4, 8)])
def test_so_many_papers_can_decide(looks: int, papers: int) -> None:
    # all of n differences of one sign have p = 2 / 2^n: .031 for 6, .016 for 7, .0078 for 8
    assert least(looks) == papers
    assert is_better(Paired(1.0, 2 / 2**papers, papers), looks)
    assert not is_better(Paired(1.0, 2 / 2 ** (papers - 1), papers - 1), looks)


def test_too_few_questions_are_refused() -> None:
    with pytest.raises(UsageError, match="are too few"):
        split([item("a"), item("b")])


def test_the_question_in_the_middle_is_shown_not_the_worst() -> None:
    values = {"a": 0.0, "b": 0.5, "c": 0.5, "d": 1.0, "e": 1.0}
    assert median(tried("x", values)).item.id == "c"
    assert median(tried("x", {"a": 0.0, "z": 1.0})).item.id == "a"


def test_the_aggregate_tells_kinds_and_silence() -> None:
    rows = [
        scored("a", 1.0),
        scored("b", 0.0, "abstained"),
        scored("c", 0.0, kind="numeric"),
        scored("d", None, "failed"),
    ]
    told = aggregate(trial("x", rows, "right"))
    assert told.splitlines() == [
        "3 questions; mean score 0.33",
        "- named: 0.50 over 2",
        "- numeric: 0.00 over 1",
        "- no answer given: 1 times wrongly, 0 rightly",
    ]


def test_the_model_sees_score_aggregate_and_typical_question() -> None:
    new = "Answer briefly, in at most $most claims, and only from the sentences."
    generator = ScriptedGenerator(json.dumps({"why": "shorter", "instructions": new}))
    best = tried(TEMPLATE, {"a": 0.0, "b": 1.0, "c": 1.0})
    found = Proposer(Asker(generator, 5.0)).propose(best, ["1. not kept"])
    assert found == Proposal(f"{new}\n---\n$evidence\n$question\n", "shorter")
    (request,) = generator.history
    assert "exactly as it is spelt: $most." in request.system
    for part in ("Score: 0.67 of 1", "Question: What of b?", "Score: 1.00", "1. not kept"):
        assert part in request.user
    assert "What of a?" not in request.user


@pytest.mark.parametrize(
    ("instructions", "reason"),
    [
        ("Answer briefly and only from the sentences that are shown.", r"\$most was lost"),
        ("Answer $question in at most $most claims from what is shown.", r"\$question is no"),
        ("Answer in at most $most claims from\n---\nwhat is shown.", "holds a line ---"),
        ("At most $most.", "it has 14 characters"),
        ("At most $most claims. " * 9, "characters in place of"),
        ("  Answer in at most $most claims,  and only from what is shown. ", "the same text"),
    ],
)
def test_a_revision_must_be_able_to_take_the_place(instructions: str, reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        revised(TEMPLATE, instructions)


@pytest.mark.parametrize("reply", ["", "I would rather not.", '{"instructions": 3}'])
def test_a_reply_without_instructions_is_told(reply: str) -> None:
    with pytest.raises(Unusable, match="no instructions that can be read"):
        Proposer(Asker(ScriptedGenerator(reply), 5.0)).propose(tried(TEMPLATE, {"a": 1.0}), [])


@pytest.mark.parametrize("name", ["right", "correct", "nDCG@10"])
def test_what_may_be_tuned_for(name: str) -> None:
    assert checked(name) == name


@pytest.mark.parametrize("name", ["seconds", "contradicted", "nonsense"])
def test_what_may_not(name: str) -> None:
    with pytest.raises(UsageError, match=f"tuned for '{name}'"):
        checked(name)


def test_a_meter_stops_when_its_tokens_are_used() -> None:
    meter = Meter(10)
    meter.check()
    meter.tokens = 10
    with pytest.raises(Spent, match="10 tokens were used of 10"):
        meter.check()


def test_a_folder_of_prompts_takes_the_place_of_those_it_has(tmp_path: Path) -> None:
    (tmp_path / "rewrite.md").write_text("Mine.\n---\n$question\n", encoding="utf-8")
    assert render("rewrite", {"question": "Q"}, tmp_path).system == "Mine."
    assert render("rewrite", {"question": "Q"}).system != "Mine."
    assert template("translate", tmp_path) == template("translate")
    changed = {name for name, at in versions(tmp_path).items() if at != versions()[name]}
    assert changed == {"rewrite"}
    with pytest.raises(ConfigError, match="nowhere"):
        template("nowhere", tmp_path)


GOLD = [
    json.loads(line)
    for line in (SUITES / "seeds.jsonl").read_text(encoding="utf-8").splitlines()
    if '"kind": "named"' in line
]
GOOD = "Name the sentence that says it. Make at most $most claims and be of GOOD cheer."
BAD = "Make at most $most claims, and never say anything that might be wrong. BAD."


def model(received: Received) -> Script:
    """Revises badly, then well; quotes the sentence that was asked for only when told so."""
    system, user = (one["content"] for one in received.body["messages"])
    if "You improve the instructions" in system:
        text = GOOD if "no better on the train questions" in user else BAD
        return streamed([json.dumps({"why": "it may help", "instructions": text})])
    labelled = re.findall(r"^\[(S\d+)\] (.*)$", user, re.MULTILINE)
    gold = next(one for one in GOLD if one["question"] in user)
    claims = [
        {"support": [name], "text": text}
        for name, text in labelled
        if "GOOD" in system and all(answer in text for answer in gold["answers"])
    ]
    return streamed([json.dumps({"claims": claims[:1]})])


def test_tune_from_the_command_line(seeds_index: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.jsonl"
    mine.write_text("".join(f"{json.dumps(one)}\n" for one in GOLD), encoding="utf-8")
    own = tmp_path / "prompts"
    own.mkdir()
    out = tmp_path / "out"
    before = (ROOT / "prompts" / "answer.md").read_text(encoding="utf-8")
    with ScriptedServer(model) as running:
        ran = evals(
            *("tune", "answer", "--llm", "openai", "--suite", mine, "--rounds", "2"),
            *("--out", out, "--apply", "--data-dir", seeds_index),
            env={
                "OPENAI_BASE_URL": running.url,
                "OPENAI_MODEL": "m",
                "RAG_PROMPTS": str(own),
                "RAG_EXPAND": "off",
                "RAG_RERANK": "off",
            },
        )
    assert ran.code == 0, ran.err
    assert "original: 0.00 on train questions" in ran.out
    assert "2. kept" in ran.out
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert [one["kept"] for one in result["attempts"]] == [False, True]
    assert result["tokens"] > 0
    kept = (out / "kept.md").read_text(encoding="utf-8")
    assert kept.startswith(GOOD)
    assert kept == (out / "2.md").read_text(encoding="utf-8")
    assert (own / "answer.md").read_text(encoding="utf-8") == kept
    assert (ROOT / "prompts" / "answer.md").read_text(encoding="utf-8") == before
    assert {path.parent.name for path in out.glob("*/samples.jsonl")} == {
        *("0-train", "1-train", "2-train", "0-held", "2-held"),
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["summary"], "No suite measures the prompt 'summary'"),
        (["nonsense"], "No suite measures the prompt 'nonsense'"),
        (["answer", "--objective", "seconds"], "Nothing can be tuned for 'seconds'"),
        (["answer", "--questions", "3"], "are too few"),
        (["answer", "--suite", "nonsense"], "No suite is called 'nonsense'"),
        (["answer", "--llm", "none"], "No model is there to be asked"),
    ],
)
def test_what_cannot_be_tuned_is_told_in_one_line(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    ran = evals("tune", *arguments, "--data-dir", tmp_path)
    assert ran.code == 2
    assert words in ran.err


def test_a_dry_run_tells_the_plan_and_asks_nobody(tmp_path: Path) -> None:
    ran = evals("tune", "answer", "--dry-run", "--rounds", "2", "--data-dir", tmp_path)
    assert ran.code == 0
    found = re.search(r"(\d+) questions to learn from, (\d+) to decide by", ran.out)
    assert found is not None
    assert int(found[1]) + int(found[2]) == 96  # 91 and the openings of five talks
    assert "2 rounds, 288 questions asked at most" in ran.out
    assert list(tmp_path.iterdir()) == []
