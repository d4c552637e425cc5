"""Citation recall and precision of ALCE: the paper's by hand, and the script's with its quirks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from command import evals
from recorded import abstained, answered, item, write_run, write_suite

from evals.record import Opinion
from evals.scoring.alce import AlceScore, alce, alce_mean, bare
from evals.scoring.citations import Cited, Entails, Unjudged, cited, entailment, overall
from evals.scoring.measures import Asked, citation_precision, citation_recall
from evals.scoring.statements import Statement, parse, passages_of, statements_of

KNOWN = {1, 2, 3}


def enough(*sets: Sequence[int]) -> Entails:
    """Citations entail a statement, whichever, if one of these sets is among them."""
    return lambda _, numbers: any(set(one) <= set(numbers) for one in sets)


@pytest.mark.parametrize(
    ("text", "entails", "recalls", "precisions"),
    [
        # no statement, none cited, one that entails, one that does not
        ("", enough([1]), [], []),
        ("It is so.", enough([1]), [0], []),
        ("It is so [1].", enough([1]), [1], [1]),
        ("It is so [2].", enough([1]), [0], [0]),
        # two needed together: alone neither entails, and without either the rest does not
        ("It is so [1][2].", enough([1, 2]), [1], [1, 1]),
        # each alone entails: both are relevant, though one would do
        ("It is so [1, 2].", enough([1], [2]), [1], [1, 1]),
        # 2 does not entail alone and without it 1 does: irrelevant
        ("It is so [1][2].", enough([1]), [1], [1, 0]),
        # one needed with another, and a third that is not
        ("It is so [1-3].", enough([1, 2]), [1], [1, 1, 0]),
        # the whole does not entail: no citation has precision, also one that would be relevant
        ("It is so [2, 3].", enough([1]), [0], [0, 0]),
        # an unknown number is wrong, and takes nothing from the others
        ("It is so [1, 9].", enough([1]), [1], [1, 0]),
        ("It is so [9].", enough([1]), [0], [0]),
        ("It is so [0].", enough([1]), [0], [0]),
        # the same number twice in a sentence is one citation
        ("It is so [1], it is [1].", enough([1]), [1], [1]),
        # marks behind the stop belong to the sentence before them
        ("It is so. [1] That is another [2].", enough([1], [2]), [1, 1], [1, 1]),
        ("[1]", enough([1]), [], []),
    ],
)
def test_recall_of_statements_and_precision_of_citations(
    text: str, entails: Entails, recalls: list[float], precisions: list[float]
) -> None:
    found = cited(parse(text, KNOWN), entails)
    assert (list(found.recalls), list(found.precisions)) == (recalls, precisions)


def test_an_answer_without_parts_counts_nothing_and_not_as_missing() -> None:
    nothing = cited([], enough([1]))
    assert (nothing.recall, nothing.precision) == (0.0, 0.0)
    uncited = cited(parse("It is so.", KNOWN), enough([1]))
    assert (uncited.recall, uncited.precision) == (0.0, 0.0)


def test_an_abstention_has_neither() -> None:
    asked = Asked(item("a", answerable=False), abstained("a"), "support")
    assert citation_recall(asked) is None
    assert citation_precision(asked) is None


def test_an_answer_without_a_text_scores_nothing() -> None:
    asked = Asked(item("a"), answered("a"), "support")
    assert (citation_recall(asked), citation_precision(asked)) == (0.0, 0.0)


def test_macro_is_over_answers_and_micro_over_their_parts() -> None:
    one = Cited((1.0, 1.0, 1.0, 0.0), (1.0, 1.0), 0)
    other = Cited((0.0,), (0.0, 1.0, 0.0, 0.0), 2)
    found = overall([one, other])
    assert (found.macro_recall, found.macro_precision) == (0.75 / 2, 1.25 / 2)
    assert (found.micro_recall, found.micro_precision) == (3 / 5, 3 / 6)
    assert (found.unknown, found.answers) == (2, 2)
    empty = overall([])
    assert (empty.macro_recall, empty.micro_precision, empty.answers) == (0.0, 0.0, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A [1].", [(1,)]),
        ("A [1, 2].", [(1, 2)]),
        ("A [1;2].", [(1, 2)]),
        ("A [1-3].", [(1, 2, 3)]),
        ("A [1–2, 5].", [(1, 2, 5)]),
        ("A [1][2].", [(1, 2)]),
        ("A [2] b [1].", [(1, 2)]),
        ("A [3-1].", [()]),  # backwards: names nothing
        ("A [x] (1).", [()]),
        ("A [1]. B [2].", [(1,), (2,)]),
        ("It is. [1][2]\nIt was.", [(1, 2), ()]),
    ],
)
def test_marks_are_read(text: str, expected: list[tuple[int, ...]]) -> None:
    assert [statement.citations for statement in parse(text, KNOWN)] == expected


def test_a_range_that_is_a_mistake_does_not_name_a_million_sources() -> None:
    (statement,) = parse("A [1-9999].", KNOWN)
    assert len(statement.citations) <= 101
    assert statement.known == (1, 2, 3)


def test_claims_that_are_handed_over_are_the_statements() -> None:
    record = answered("a", ("One. Two.", [1]), ("Three.", [2, 2, 7]), papers={"p": "P.", "q": "Q."})
    assert statements_of(record) == [
        Statement("One. Two.", (1,)),
        Statement("Three.", (2, 7), (7,)),
    ]
    assert [passage.paper_id for passage in passages_of(record, 1, (2, 7))] == ["q"]


@pytest.mark.case("E02")
def test_a_judge_that_failed_or_was_not_asked_leaves_a_question_unjudged() -> None:
    entails = entailment([Opinion(0, (1,), "support"), Opinion(1, (1,), "", failure="prose")])
    assert entails(0, (1,))
    with pytest.raises(Unjudged, match="prose"):
        entails(1, (1,))
    with pytest.raises(Unjudged, match="no opinion on claim 3"):
        entails(2, (1,))


def documents(*sets: Sequence[int]) -> object:
    """As `enough`, for documents counted from 1, with 0 for the last."""

    def entails(places: Sequence[int], claim: str) -> bool:
        assert "[" not in claim
        return any({n - 1 for n in one} <= set(places) for one in sets)

    return entails


@pytest.mark.parametrize(
    ("text", "given", "sufficient", "expected"),
    [
        ("It is so [1].", 3, [[1]], (1, 1)),
        ("It is so [1][2].", 3, [[1]], (1, 1 / 2)),
        ("It is so [1][2].", 3, [[1, 2]], (1, 1)),
        ("It is so.", 3, [[1]], (0, 0)),
        # the first line only
        ("It is so [1].\nNever so [2].", 3, [[1]], (1, 1)),
        ("\n\n It is so [1].", 3, [[1]], (1, 1)),
        # three citations at most: the fourth, which is needed, is not looked at
        ("It is so [1][2][3][4].", 4, [[4]], (0, 0)),
        ("It is so [1][2][3][4].", 4, [[1]], (1, 1 / 3)),
        # [1, 2] is 1 alone, and so is [1-3]
        ("It is so [1, 2].", 3, [[1]], (1, 1)),
        ("It is so [1, 2].", 3, [[2]], (0, 0)),
        ("It is so [1-3].", 3, [[3]], (0, 0)),
        # [0] reads the last document
        ("It is so [0].", 3, [[0]], (1, 1)),
        # beyond the documents: no recall, and the citations are not counted
        ("It is so [1][9]. It is [1].", 3, [[1]], (1 / 2, 1)),
        ("It is so [9].", 3, [[1]], (0, 0)),
        # the same citation twice counts twice, and each entails alone
        ("It is so [1][1].", 3, [[1]], (1, 1)),
        ("It is so [1][2][2].", 3, [[1]], (1, 1 / 3)),
        ("It is so [1]. It is not.", 3, [[1]], (1 / 2, 1)),
        ("It is so [1].<|im_end|>", 3, [[1]], (1, 1)),
        ("It is so [1].", 0, [[1]], (0, 0)),
    ],
)
def test_the_script_of_alce_is_reproduced(
    text: str, given: int, sufficient: list[list[int]], expected: tuple[float, float]
) -> None:
    found = alce(text, given, documents(*sufficient))  # type: ignore[arg-type]
    assert found is not None
    assert (found.recall, found.precision) == pytest.approx(expected)


def test_the_script_leaves_out_an_answer_without_a_sentence() -> None:
    assert alce("  \n", 3, documents([1])) is None  # type: ignore[arg-type]
    mean = alce_mean([AlceScore(1.0, 0.5), None, AlceScore(0.0, 0.0)])
    assert mean == AlceScore(0.5, 0.25, 2)
    assert alce_mean([None]) is None


def test_the_script_takes_marks_away_by_its_own_rule() -> None:
    assert bare("It is so [1, 2] | here [3].") == "It is so, 2 here."


def test_the_report_tells_both_counts_side_by_side(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "mine.jsonl", [{"id": "a", "question": "What of a?"}])
    papers = {"p": "Cats chase mice at night.", "q": "Owls sleep by day."}
    record = answered(
        "a",
        ("Cats chase mice at night.", [1]),
        ("Owls sleep by day.", [2]),
        papers=papers,
        judged={(0, (1,)): "support", (1, (2,)): "support"},
    )
    text = "Cats chase mice at night [1].\nOwls sleep by day [2]."
    record = replace(record, answer={**record.answer, "text": text})
    run = write_run(tmp_path / "run", suite, [record])
    shown = evals("report", run, "--alce-compat")
    assert shown.code == 0, shown.err
    expected = "citations as the script of ALCE counts: recall 1.00, precision 1.00, n=1"
    assert expected in shown.out
    assert evals("report", run, "--alce-compat", "--json").json()["alce"]["answers"] == 1
    assert "alce" not in evals("report", run, "--json").json()
    other = write_run(tmp_path / "other", suite, [record], judges=[])
    refused = evals("report", other, "--alce-compat")
    assert refused.code == 2
    assert "no judge cannot do so without a model" in refused.error_line
