"""A suite of one's own: the template, drafts that code checks, and their review by a person."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import SEEDS, evals
from fakes import ScriptedGenerator, ScriptedServer, refusal, streamed
from hypothesis import given
from hypothesis import strategies as st
from library import Library, paper

from evals.drafting.asking import Draft, drafts, drawn
from evals.drafting.checks import check, passes
from evals.drafting.deciding import decide
from evals.drafting.review import Reviewed, read_review, reviewable, save, with_passing, write_suite
from evals.running.gold import resolve
from evals.suite import read_suite
from rag.answering.asking import Asker, GivenUp
from rag.errors import InputError, ServerError, UsageError
from rag.schema import Paper

OWLS = paper(
    "owls",
    "TinyOwl is a sparse retriever of 40 million parameters.",
    "It was trained on the Heron corpus for 12 hours.",
    "TinyOwl reaches an nDCG@10 of 0.71 on Heron.",
)
HERON = OWLS.sentences[1].text
SCORE = OWLS.sentences[2].text


@pytest.mark.parametrize(
    ("question", "answer", "sentence", "others", "failed"),
    [
        ("On which corpus was TinyOwl trained?", "the Heron corpus", HERON, [], []),
        ("How long was TinyOwl trained?", "12 hours", HERON, [], []),
        ("What nDCG@10 does TinyOwl reach on Heron?", "0.71", SCORE, [], []),
        ("On which corpus was TinyOwl trained?", "Heron", "", [], ["evidence", "answer"]),
        ("How long was TinyOwl trained?", "13 hours", HERON, [], ["answer"]),
        ("On which corpus was TinyOwl trained?", "the Osprey corpus", HERON, [], ["answer"]),
        ("What nDCG@10 does TinyOwl reach on Heron?", "0.72", SCORE, [], ["answer"]),
        ("Was TinyOwl trained on Heron?", "Yes", HERON, [], ["answer"]),
        ("Was TinyOwl trained on the Heron corpus?", "the Heron corpus", HERON, [], ["hidden"]),
        ("Was TinyOwl trained for 12 hours?", "12 hours", HERON, [], ["hidden"]),
        ("On which corpus was the model of this paper trained?", "Heron", HERON, [], ["alone"]),
        ("What do the authors train TinyOwl on?", "Heron", HERON, [], ["alone"]),
        ("What is the proposed method trained on?", "Heron", HERON, [], ["alone"]),
        ("What corpus did we use for TinyOwl?", "Heron", HERON, [], ["alone"]),
        ("How long were runs in the benchmark?", "12 hours", HERON, [], ["alone"]),
        ("What is the problem being studied?", "Heron", HERON, [], ["alone"]),
        ("What is TinyOwl trained on according to S2?", "Heron", HERON, [], ["alone"]),
        ("Name the corpus of TinyOwl.", "Heron", HERON, [], ["form"]),
        ("Which corpus?", "Heron", HERON, [], ["form"]),
        (
            "On which corpus was TinyOwl trained?",
            "Heron",
            HERON,
            ["On which corpus was the TinyOwl trained"],
            ["new"],
        ),
        (
            "On which corpus was TinyOwl trained?",
            "Heron",
            HERON,
            ["How many parameters does TinyOwl have?"],
            [],
        ),
    ],
)
def test_what_code_finds_of_a_draft(
    question: str, answer: str, sentence: str, others: list[str], failed: list[str]
) -> None:
    checks = check(question, answer, sentence, others)
    assert [name for name, passed in checks.items() if not passed] == failed
    assert passes(checks) is not bool(failed)


def asker(*replies: str | ServerError) -> tuple[Asker, ScriptedGenerator]:
    generator = ScriptedGenerator(*replies)
    return Asker(generator, 5.0), generator


def reply(*rows: tuple[str, str, str]) -> str:
    return json.dumps({"drafts": [{"sentence": s, "answer": a, "question": q} for s, a, q in rows]})


def test_a_model_is_shown_labelled_sentences_and_names_one() -> None:
    drafter, generator = asker(
        reply(("S2", "Heron", "On  which corpus\nwas it trained?"), ("S9", "x", "What is x?"))
    )
    first, second = drafts(drafter, OWLS, 2)
    assert first == Draft(OWLS, "On which corpus was it trained?", "Heron", HERON)
    assert second.sentence == ""
    (request,) = generator.history
    assert f"[S2] {HERON}" in request.user
    assert "Write 2 questions" in request.system
    assert '"S3"' in json.dumps(request.schema)


def test_no_more_drafts_are_taken_than_were_asked_for() -> None:
    rows = [("S1", "40", f"What is {n}?") for n in range(5)]
    assert len(drafts(asker(reply(*rows))[0], OWLS, 2)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot.",
        "{}",
        '{"drafts": []}',
        '{"drafts": [1, {"question": 3}]}',
        '{"drafts": "S1"}',
    ],
)
def test_a_reply_that_cannot_be_read_is_given_up(text: str) -> None:
    with pytest.raises(GivenUp, match="no question that can be read"):
        drafts(asker(text)[0], OWLS, 2)


def test_a_fault_of_the_server_is_told() -> None:
    with pytest.raises(GivenUp, match="overloaded"):
        drafts(asker(ServerError("It failed", cause="overloaded"))[0], OWLS, 1)


def numbered(count: int) -> list[Paper]:
    return [paper(f"p{n}", "One sentence.", "Another one.") for n in range(count)]


@given(st.integers(0, 40), st.integers(1, 20), st.integers(0, 5))
def test_a_draw_is_of_different_papers_in_order_and_repeatable(n: int, k: int, seed: int) -> None:
    papers = numbered(n)
    chosen = drawn(papers, k, seed)
    ids = [int(one.id[1:]) for one in chosen]
    assert len(ids) == min(n, k)
    assert ids == sorted(set(ids))
    assert chosen == drawn(papers, k, seed)


def test_every_paper_is_as_likely_to_be_drawn() -> None:
    times = dict.fromkeys((one.id for one in numbered(10)), 0)
    for seed in range(2_000):
        for one in drawn(numbered(10), 3, seed):
            times[one.id] += 1
    # 600 expected; four standard deviations of the binomial (2,000 at .3) are 82
    assert all(abs(count - 600) < 82 for count in times.values())


def test_a_paper_of_one_sentence_is_not_drawn() -> None:
    assert drawn([paper("short", "One sentence.")], 3, 0) == []


def three() -> list[Reviewed]:
    rows = [
        Draft(OWLS, "On which corpus was TinyOwl trained?", "Heron", HERON),
        Draft(OWLS, "How long did TinyOwl take?", "13 hours", HERON),
        Draft(OWLS, "What nDCG@10 does TinyOwl reach?", "0.71", SCORE),
    ]
    return [reviewable(row, n, 1, []) for n, row in enumerate(rows, start=1)]


@pytest.mark.parametrize(
    ("answer", "named", "evidence"),
    [
        ("12 hours", HERON, [HERON]),
        ("12 hours", SCORE, [HERON]),  # the model named a neighbour
        ("12 hours", "", [HERON]),
        ("13 hours", SCORE, [SCORE]),
        ("13 hours", "", []),
    ],
)
def test_the_evidence_is_the_sentence_that_says_it(
    answer: str, named: str, evidence: list[str]
) -> None:
    draft = Draft(OWLS, "How long was TinyOwl trained?", answer, named)
    assert reviewable(draft, 1, None, []).draft["evidence"] == evidence


def test_a_review_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "drafts.jsonl"
    save(path, three())
    assert read_review(path) == three()
    first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert first == {
        "draft": {
            "id": "owls-1",
            "question": "On which corpus was TinyOwl trained?",
            "paper_ids": ["owls"],
            "answers": ["Heron"],
            "evidence": [HERON],
            "kind": "drafted",
        },
        "checks": dict.fromkeys(["evidence", "answer", "hidden", "alone", "form", "new"], True),
        "rank": 1,
        "accept": None,
    }


def test_what_passes_is_accepted_and_what_was_decided_stays(tmp_path: Path) -> None:
    found = three()
    found[2] = Reviewed(found[2].draft, found[2].checks, 1, accept=False)
    accepted = list(with_passing(found))
    assert [one.accept for one in accepted] == [True, None, False]
    assert write_suite(tmp_path / "mine.jsonl", accepted) == 1
    (item,) = read_suite(tmp_path / "mine.jsonl").items
    assert (item.id, item.asked.answers) == ("owls-1", ("Heron",))
    assert write_suite(tmp_path / "mine.jsonl", accepted) == 1  # made before: written anew


def test_a_suite_with_questions_of_its_own_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": "my-own", "question": "What?"}\n', encoding="utf-8")
    with pytest.raises(UsageError, match="'my-own' is none of the drafts"):
        write_suite(path, list(with_passing(three())))
    assert "my-own" in path.read_text(encoding="utf-8")


def decided(lines: Sequence[str], found: list[Reviewed]) -> tuple[list[Reviewed], list[str], int]:
    script, shown, kept = iter(lines), list[str](), list[int]()

    def ask(_: str) -> str:
        line = next(script, None)
        if line is None:
            raise EOFError
        return line

    result = decide(found, ask, shown.append, lambda drafts: kept.append(len(drafts)))
    return result, shown, len(kept)


@pytest.mark.parametrize(
    ("lines", "accepts", "kept"),
    [
        (["y", "n", "y"], [True, False, True], 3),
        (["yes", "NO"], [True, False, None], 2),
        (["q"], [None, None, None], 0),
        (["?", "", "y", "q"], [True, None, None], 1),
        ([], [None, None, None], 0),
    ],
)
def test_a_person_decides_one_by_one(
    lines: list[str], accepts: list[bool | None], kept: int
) -> None:
    result, _, times = decided(lines, three())
    assert [one.accept for one in result] == accepts
    assert times == kept


def test_a_review_goes_on_where_it_ended() -> None:
    half, _, _ = decided(["y"], three())
    rest, shown, _ = decided(["n", "n"], half)
    assert [one.accept for one in rest] == [True, False, False]
    assert shown[0].startswith("1/2  How long did TinyOwl take?")
    assert "fails: answer" in shown[0]


def test_a_draft_that_is_reworded_is_checked_again() -> None:
    edit = ["n", "e", "How long was TinyOwl trained?", "12 hours", "y", "q"]
    result, shown, _ = decided(edit, three())
    assert result[1].accept is True
    assert result[1].draft["answers"] == ["12 hours"]
    assert result[1].failed == []
    assert "fails" not in shown[2]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("{", "is no draft"),
        ('{"draft": {"id": "a", "question": "Q?"}}', "checks: Field required"),
        ('{"draft": {"id": "a"}, "checks": {}}', "'question' is missing"),
        ('{"draft": {"id": "a", "question": "Q?"}, "checks": {}, "accept": "y"}', "accept:"),
        ('{"draft": {"id": "a", "question": "Q?", "anwser": 1}, "checks": {}}', "'anwser'"),
        ('{"id": "a", "question": "Q?"}', "is no draft"),
        ("", "holds no drafts"),
    ],
)
def test_a_review_file_in_another_form_is_refused_by_line(
    tmp_path: Path, line: str, cause: str
) -> None:
    path = tmp_path / "drafts.jsonl"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_review(path)
    assert cause in str(refused.value)
    assert str(path) in str(refused.value)


def test_the_template_is_a_suite_over_the_seeds(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    assert evals("new", path).code == 0
    suite = read_suite(path)
    assert [item.id for item in suite.items] == [
        "example-1",
        "example-2",
        "example-3/1",
        "example-3/2",
    ]
    library = Library(tmp_path / "library")
    library.index(SEEDS)
    with library.state() as state:
        gold = resolve(suite, state.snapshot)
    assert [len(gold[item.id].papers) for item in suite.items] == [1, 0, 1, 1]
    assert len(gold["example-1"].evidence) == 1
    path.write_text("mine", encoding="utf-8")
    refused = evals("new", path)
    assert refused.code == 2
    assert "is there already" in refused.error_line
    assert path.read_text(encoding="utf-8") == "mine"
    assert evals("new", path, "--force").code == 0
    assert len(read_suite(path).items) == 4


def test_a_review_from_the_command_line(tmp_path: Path) -> None:
    path, out = tmp_path / "drafts.jsonl", tmp_path / "mine.jsonl"
    save(path, three())
    ran = evals("review", path, "--out", out, typed="q\n")
    assert ran.code == 0
    assert "Nothing is accepted yet; 3 are undecided" in ran.out
    ran = evals("review", path, "--out", out, typed="n\ny\n")
    assert ran.code == 0
    assert "1 questions are in" in ran.out
    ran = evals("review", path, "--out", out, "--accept-all-passing")
    assert [one.accept for one in read_review(path)] == [False, True, True]
    assert len(read_suite(out).items) == 2


def test_none_accepted_is_told(tmp_path: Path) -> None:
    path = tmp_path / "drafts.jsonl"
    save(path, three()[1:2])
    ran = evals("review", path, "--out", tmp_path / "mine.jsonl", "--accept-all-passing")
    assert ran.code == 2
    assert "None of the 1 drafts is accepted" in ran.error_line


@contextmanager
def server(*, fails: int) -> Iterator[ScriptedServer]:
    """One that drafts a question, and refuses the request counted `fails` from 1."""
    rows = reply(("S1", "nothing", "What is the name of the method?"))
    seen = iter(range(1, 100))
    with ScriptedServer(
        lambda _: refusal(400, "no") if next(seen) == fails else streamed([rows])
    ) as running:
        yield running


@pytest.mark.parametrize(("fails", "code", "count"), [(0, 0, 3), (2, 1, 2)])
def test_drafts_of_an_index_a_paper_that_fails_is_told(
    seeds_index: Path, tmp_path: Path, fails: int, code: int, count: int
) -> None:
    out = tmp_path / "drafts.jsonl"
    with server(fails=fails) as running:
        ran = evals(
            *("generate", "--out", out, "--llm", "openai", "--papers", "3", "--per-paper", "1"),
            *("--data-dir", seeds_index),
            env={"OPENAI_BASE_URL": running.url, "OPENAI_MODEL": "m"},
        )
    assert ran.code == code, ran.err
    found = read_review(out)
    assert len(found) == count
    assert ("no draft of" in ran.err) is bool(fails)
    assert len({one.draft["paper_ids"][0] for one in found}) == count
    assert [one.checks["new"] for one in found] == [True, *[False] * (count - 1)]


def test_a_model_that_never_answers_and_none_at_all(seeds_index: Path, tmp_path: Path) -> None:
    out = tmp_path / "drafts.jsonl"
    data = ("--papers", "1", "--data-dir", seeds_index)
    with ScriptedServer(lambda _: refusal(400, "no")) as running:
        ran = evals(
            *("generate", "--out", out, "--llm", "openai", *data),
            env={"OPENAI_BASE_URL": running.url, "OPENAI_MODEL": "m"},
        )
    assert ran.code == 4
    assert "No question was drafted" in ran.err
    ran = evals("generate", "--out", out, "--llm", "none", *data)
    assert ran.code == 2
    assert "No model is there" in ran.error_line
    assert not out.exists()
