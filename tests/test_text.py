"""Sentences, the normal form and search terms. Expectations are read off the texts by hand."""

from __future__ import annotations

import pytest
from command import SEEDS
from hypothesis import example, given
from hypothesis import strategies as st

from rag.answering import prompting
from rag.answering.replies import Draft
from rag.answering.support import judge
from rag.answering.writing import QuotingWriter, Task
from rag.corpus import Record
from rag.corpus.papers import to_paper
from rag.index.chunking import chunk
from rag.schema import Evidence, Paper
from rag.text import (
    canonical,
    content_words,
    legible,
    normalise,
    plain,
    printable,
    split_sentences,
    terms,
)

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
    [
        "Following Moreno et al. we fix the rate.",
        "The gain is 3.7 points vs. the baseline, cf. Fig. 3 and Eq. 2.",
        "We use small models, i.e. those below 1 B, e.g. TinyOwl.",
        "No. 4 of the runs diverged.",
        "Dr. Lindqvist confirmed this.",
    ],
    ["Results of Dr. Amari (n = 20).", "Cost is low (35 EUR).", "Next step follows."],
    ["The glyph (cid:12) is left alone.", "So is (cid:3)."],
    ["We align the read " + "ACGT" * 300 + " to the genome.", "It fits."],
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
@example(".” " * 100 + "." * 400 + "x")
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
        ("so\\begin{equation}x=1\\end{equation}holds", "so x=1 holds"),
        ("\\begin{figure}[ht] a \\end{figure*}", "a"),
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
        ("Index\u00adfunds", "indexfunds"),
        ("sparse\u200b retriever", "sparse retriever"),
        ("40\u00a0M and 5\u202fkg and 6\u2009m", "40 m and 5 kg and 6 m"),
        ("infor-\nmation", "information"),
        ("infor-  \r\n  mation", "information"),
        ("infor\u2010\rmation", "information"),
        ("infor\u00ad\nmation", "information"),
        ("Self-\nsupervised", "selfsupervised"),
        ("state-of-\nthe-art", "state-of-the-art"),
        ("state-\nof-the-art", "state-of-the-art"),
        ("GPT-\n4 and RN-\nDPO", "GPT-4 and RN-DPO"),
        ("short-\nand long-term", "short- and long-term"),
        ("naÃ¯ve PoincarÃ©â€™s", "naïve Poincaré’s"),
        ("Résumé", "resume"),
        ("Zoë Müller at Besançon", "zoe muller at besancon"),
        ("Łódź, Søren, Œuvre, Ðe", "lodz, soren, oeuvre, de"),
        ("a &lt; b &amp; c", "a < b & c"),
        ("<p>CO<sub>2</sub> <i>in&nbsp;vivo</i></p>", "co2 in vivo"),
        ("<jats:p>A</jats:p><jats:p>b</jats:p>", "a b"),
    ],
)
def test_texts_that_are_the_same_to_a_reader_have_one_normal_form(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("й", "и"),
        ("ё", "е"),
        ("μέθοδο", "μεθοδο"),
        ("が", "か"),
        ("ペ", "ヘ"),
        ("मॉडल", "मडल"),
        ("평가", "펴가"),
    ],
)
def test_a_mark_that_makes_another_letter_is_kept(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)
    assert normalise(one) == one


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Poincaré’s", "poincare’s"),
        ("CAFÉ”", "cafe”"),
        ("«déjà» là", "«deja» la"),
        ("Ã is a letter", "a is a letter"),
        ("x < y > z & w", "x < y > z & w"),
        ("a <b-tree> node", "a <b-tree> node"),
        ("(cid:12)", "(cid:12)"),
    ],
)
def test_what_only_looks_damaged_is_left_alone(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "Index\u00adfunds and\u200b 40\u00a0M\u202fpara\u00admeters",
            "Indexfunds and 40 M parameters",
        ),
        ("a\nb\r\nc\rd\u2028e", "a b c d e"),
        ("a \u200b b", "a b"),
        ("hidden\U000e0041\u202e order", "hidden order"),
        ("Besançon ﬁne", "Besançon ﬁne"),
        ("\x1b[31mred", "[31mred"),
    ],
)
def test_legible_text_has_normal_spaces_and_nothing_invisible(text: str, shown: str) -> None:
    assert legible(text) == shown
    assert legible(shown) == shown


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
        ("well-\nknown", ["well", "known", "wellknown", "wellknown"]),
        ("मॉडल", ["मॉडल"]),
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
        ("indexfunds", "Index\u00adfunds"),
        ("sparse retriever", "A sparse\u200b retriever"),
        ("40 M parameters", "with 40\u00a0M para\u00admeters"),
        ("information", "infor-\nmation"),
        ("well-known", "well-\nknown"),
        ("known", "well-\nknown"),
        ("state of the art", "state-of-\nthe-art"),
        ("Besancon", "Parsing at Besançon"),
        ("resume", "Résumé parsing"),
        ("Zoe Muller", "Zoë Müller"),
        ("naive", "naÃ¯ve"),
        ("методов поиска", "Обзор методов поиска. Évaluation légère."),
        ("évaluation légère", "Обзор методов поиска. Évaluation légère."),
        ("α-synuclein", "α-synuclein and μm scale. 모델 평가."),
        ("µm", "α-synuclein and μm scale. 모델 평가."),
        ("평가", "모델 평가."),
        ("β-καρβολίνη", "Η β-καρβολίνη"),
        ("मूल्यांकन", "मॉडल मूल्यांकन।"),
        ("efﬁcient", "efficient"),
    ],
)
def test_a_question_meets_a_text_that_writes_it_otherwise(asked: str, written: str) -> None:
    assert set(terms(asked)) <= set(terms(written))


# --- what a long or an odd token does to chunks (the embedder cuts its own input)


@pytest.mark.parametrize(
    "text",
    [
        "Results of Dr. Amari (n = 20). Cost is low (35 EUR). Next step follows.",
        "We align the read " + "ACGT" * 300 + " to the genome.",
        "One. " * 50,
    ],
)
@pytest.mark.parametrize("sentences_of_a_chunk", [1, 3])
def test_chunks_slice_back_and_glue_no_words(text: str, sentences_of_a_chunk: int) -> None:
    paper = to_paper(Record(1, 0, text), "f.txt")
    pieces = chunk(paper, sentences=sentences_of_a_chunk, word_pieces=12, count_pieces=len)
    assert all(text[piece.start : piece.end] == piece.text for piece in pieces)
    assert {word for piece in pieces for word in piece.text.split()} == set(text.split())


# --- what is sent to a model and what is quoted

HIDDEN = "A sparse\u200b retriever has 40\u00a0M para\u00admeters\nin all."
SEEN = "A sparse retriever has 40 M parameters in all."


def hidden_evidence() -> tuple[Paper, Evidence]:
    paper = to_paper(Record(1, 0, HIDDEN, "Index\u00adfunds"), "f.txt")
    return paper, Evidence(paper.id, 0, HIDDEN, 0, len(HIDDEN), 1.0)


def test_a_prompt_holds_normal_spaces_and_nothing_invisible() -> None:
    shown = prompting.show(prompting.label([hidden_evidence()]))
    assert shown == f"Paper: Indexfunds\n[S1] {SEEN}"


def test_a_quotation_is_legible_and_its_sentence_verbatim() -> None:
    given = tuple(prompting.label([hidden_evidence()]))
    (draft, _) = QuotingWriter().write(Task("answer", "How many?", given, 1), print)
    assert isinstance(draft, Draft)
    assert draft.text == SEEN
    assert given[0].evidence.text == HIDDEN
    assert judge(draft.text, [hidden_evidence()]).verdict == "supported"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("show that \\goskills preserves coverage", "show that goskills preserves coverage"),
        ("$O\\left(\\log m\\right)$", "O(logm)"),
        ("$x \\in \\wedge^2 V$", "x ∈∧^2 V"),
    ],
)
def test_macros_keep_their_words_and_brackets_their_signs(written: str, read: str) -> None:
    assert plain(written) == read
