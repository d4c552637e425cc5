"""Sentences, the normal form and search terms. Expectations are read off the texts by hand."""

from __future__ import annotations

import pytest
from command import SEEDS
from hypothesis import example, given
from hypothesis import strategies as st

from rag.text import canonical, content_words, normalise, plain, printable, split_sentences, terms

# Each text is its sentences joined by one space.
SPACED = [
    ["We propose X.", "It works."],
    ["Earlier models, e.g. BERT, fail.", "Ours does not."],
    ["Models (i.e. networks) fail.", "We fix them."],
    ["Vaswani et al. introduced attention.", "It won."],
    ["We follow Vaswani et al.", "The result is better."],
    ["As Fig. 3 shows, it helps.", "See Eq. 4 and Sec. 2 for proofs."],
    ["The error falls to 3.14 from 10.5.", "That is 30% less."],
    ["Let $x. Y$ be given.", "Then $f(x)=1.5$ holds."],
    ["The cost is $O(n^2. M)$ here.", "It is low."],
    ["It costs $5.00 or $6.", "That is cheap."],
    ["Muon (Jordan et al., 2024) and Shampoo (Gupta et al., 2018) win.", "Theory lags."],
    ["We call it *dual learning.*", "It has two parts."],
    ["We call it **GoSkills.**", "Groups are built."],
    ['He asked "Does it work?"', "It does."],
    ["“It works.”", "So they said."],
    ["Does it scale?", "Yes!", "It does."],
    ["J. Smith and A. B. Jones agree.", "So do we."],
    ["Models such as Llama vs. Qwen differ.", "Both are open."],
    ["See https://example.org/a.b?c=d for code.", "It is free."],
    ["The project page is https://x.org/y.", "Data is there too."],
    ["1. First we train.", "Then we test."],
    ["We do two things: (1) train, and (2) test.", "Both help."],
    ["It halves mRNA noise.", "mRNA matters.", "k-means fails."],
    ["Version 2.0.1 is out.", "GPT-4 is not."],
    ["In the U.S. market it sells.", "In the U.S.", "We sell more."],
    ["Dr. Who disagrees.", "Prof. X does not."],
    ["Accuracy is approx. 5 points higher.", "No. 7 wins."],
    ["A gain of 22.2\\% over GRPO.", "Code is released."],
    ["We use batches, steps, etc.", "However, it is slow."],
    ["It is small, cheap, etc. and fast.", "Good."],
    ["A one-sentence text"],
    ["No stop at all, but a comma, and 3 words"],
]


@pytest.mark.parametrize("sentences", SPACED)
def test_sentences_that_a_reader_would_see(sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert [text[a:b] for a, b in split_sentences(text)] == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("我们提出方法。它有效！为什么？", ["我们提出方法。", "它有效！", "为什么？"]),
        ("これは本です。あれは何ですか？", ["これは本です。", "あれは何ですか？"]),
        ("彼は「はい。」と言った。終わり。", ["彼は「はい。」と言った。", "終わり。"]),
        ("方法很好（见图。3）。完。", ["方法很好（见图。3）。", "完。"]),
        ("値は３．５である。次へ。", ["値は３．５である。", "次へ。"]),
        ("One.\n\nTwo without stop\n\nThree.", ["One.", "Two without stop", "Three."]),
        ("Steps:\n- train\n- test", ["Steps:", "- train", "- test"]),
        ("Steps:\n1. Train it.\n2. Test it.", ["Steps:", "1. Train it.", "2. Test it."]),
        ("A line\nbroken in two. Next.", ["A line\nbroken in two.", "Next."]),
        ("It ends…\nThen it goes on.", ["It ends…", "Then it goes on."]),
        ("Wait... what? Yes.", ["Wait... what?", "Yes."]),
        ("Wait... What? Yes.", ["Wait...", "What?", "Yes."]),
        ("  Padded.  \t Twice. \n", ["Padded.", "Twice."]),
        ("A formula \\(a. B\\) ends. So.", ["A formula \\(a. B\\) ends.", "So."]),
        ("A display \\[a. B\\] ends. So.", ["A display \\[a. B\\] ends.", "So."]),
        ("", []),
        (" \n\t ", []),
        ("...", ["..."]),
        ("😀", ["😀"]),
    ],
)
def test_sentences_in_other_scripts_lines_and_oddities(text: str, sentences: list[str]) -> None:
    assert [text[a:b] for a, b in split_sentences(text)] == sentences


ALPHABET = st.one_of(
    st.text(max_size=80),
    st.text(
        alphabet="aB. !?…\n$\\()[]{}*_\"'“”「」『』。！？．0123・,;:-\u00a0\u2028é", max_size=120
    ),
    st.lists(st.sampled_from([w for s in SPACED for w in s]), max_size=6).map(" ".join),
)


@given(ALPHABET)
@example("$" * 400)
@example("(" * 400 + "." * 400)
@example("\ud800. A\udfff. B")
def test_offsets_are_ordered_disjoint_and_cover_all_that_is_not_white(text: str) -> None:
    spans = split_sentences(text)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(start < end for start, end in spans)
    covered = "".join(text[a:b] for a, b in spans)
    assert [c for c in covered if not c.isspace()] == [c for c in text if not c.isspace()]
    assert all(text[a:b] == text[a:b].strip() for a, b in spans)


@pytest.mark.parametrize("sentences", SPACED)
def test_a_sentence_is_one_sentence(sentences: list[str]) -> None:
    for sentence in sentences:
        assert split_sentences(sentence) == [(0, len(sentence))]


def test_a_sentence_of_the_seeds_begins_like_one() -> None:
    starts = [
        text[a]
        for path in SEEDS.glob("*.txt")
        for text in [path.read_text(encoding="utf-8")]
        for a, _ in split_sentences(text)
    ]
    assert len(starts) > 400
    assert [start for start in starts if start.islower()] == []


@given(ALPHABET)
def test_no_text_makes_a_function_raise(text: str) -> None:
    for function in (plain, printable, normalise, canonical, terms, content_words):
        function(text)


@given(ALPHABET)
def test_canonical_and_printable_change_nothing_the_second_time(text: str) -> None:
    for function in (canonical, printable):
        assert function(function(text)) == function(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We use \\textbf{GridProbe} and \\emph{more}.", "We use GridProbe and more."),
        ("\\textbf{D}ynamically r\\textbf{E}gulating", "Dynamically rEgulating"),
        ("up to 22.2\\% over GRPO", "up to 22.2% over GRPO"),
        ("speed of $2.23\\times$ more", "speed of 2.23× more"),
        ("rate $O(1/\\epsilon^2)$", "rate O(1/ε^2)"),
        ("$\\frac{a}{b}$ is", "a/b is"),
        ("the *dual-expert* **idea**", "the dual-expert idea"),
        ("_Numerical Feature Inflation_", "Numerical Feature Inflation"),
        ("snake_case_name stays", "snake_case_name stays"),
        ("it costs $5 and $6", "it costs 5 and 6"),
        ("a  b\n c\t", "a b c"),
        ("$\\mathcal{NFI}$", "NFI"),
    ],
)
def test_plain_is_what_one_would_read_aloud(text: str, expected: str) -> None:
    assert plain(text) == expected


@pytest.mark.parametrize(
    "hidden",
    [
        "\x1b",
        "\x07",
        "\x9b",
        "\x00",
        "\u200b",
        "\u202e",
        "\u2066",
        "\u2069",
        "\u061c",
        "\ufeff",
        "\U000e0041",
    ],
)
def test_what_a_terminal_would_obey_is_taken_out(hidden: str) -> None:
    assert printable(f"a{hidden}b") == "ab"
    assert plain(f"a{hidden}b").replace(" ", "") == "ab"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("RN\u2011DPO", "rn-dpo"),
        ("ＡＢＣ", "abc"),
        ("ﬁne", "fine"),
        ("Straße", "STRASSE"),
        ("cafe\u0301", "café"),
        ("a\u00a0b", "a b"),
        ("zero\u200bwidth", "zerowidth"),
        ("\\textbf{Bold}  text", "bold text"),
    ],
)
def test_texts_that_are_the_same_to_a_reader_have_one_normal_form(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


def test_canonical_joins_composed_forms_and_spaces_but_keeps_case() -> None:
    assert canonical(" cafe\u0301  X\n") == "café X"
    assert canonical("A") != canonical("a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RN-DPO's 10.08\\%", ["rn", "dpo", "rndpo", "10.08"]),
        ("normalizing networks", ["normal", "network"]),
        ("1,000 papers", ["1000"]),
        ("GPUs and LLMs", ["gpu", "llm"]),
        ("CLIP 33.76", ["clip", "33.76"]),
        ("one's models’s", ["one", "model"]),
        ("人与物体", ["人与", "与物", "物体"]),
        ("图", ["图"]),
        ("机器learning", ["机器", "learn"]),
        ("the of and what is", []),
        ("", []),
        ("DALL·E 3", ["dall", "e", "dalle", "3"]),
        ("G2PO", ["g2po"]),
        ("paper", []),
    ],
)
def test_terms_by_which_a_text_is_found(text: str, expected: list[str]) -> None:
    assert sorted(terms(text)) == sorted(expected)


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("rndpo", "RN-DPO"),
        ("RN DPO", "RN-DPO"),
        ("GPU", "GPUs"),
        ("regularisation", "regularisation"),
        ("optimizers", "optimizer"),
        ("物体", "人与物体交互"),
        ("1000", "1,000"),
        ("café", "cafe\u0301"),
    ],
)
def test_a_question_meets_a_text_that_writes_it_otherwise(asked: str, written: str) -> None:
    assert set(terms(asked)) <= set(terms(written))
