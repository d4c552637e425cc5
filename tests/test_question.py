"""A question is understood: quoted phrases, filters, typos, acronyms, spellings, limits."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fakes import TOPICS, HandEmbedder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from library import Library, abstract

from rag.errors import UsageError
from rag.index.browse import Filter, filters_of
from rag.index.embedding import Vectors
from rag.index.lexical import equally
from rag.retrieval.acronyms import definitions
from rag.retrieval.query import Query, Question
from rag.retrieval.search import Found, Searcher
from rag.retrieval.understanding import understand

PAPERS = [
    {
        "title": "Owls in Winter",
        "authors": ["Mira Castellan", "Jonas Ekwall"],
        "year": 2019,
        "venue": "NeurIPS",
        "abstract": "Owls catch mice in the snow. The machine learning of owls is a model.",
    },
    {
        "title": "Recovering Design Decisions",
        "authors": ["Lena Voss"],
        "year": 2024,
        "venue": "Nature",
        "abstract": "We present Seeded Architectural Intent Lift (SAIL), which infers intent.",
    },
    {
        "title": "Lake Crossing",
        "authors": ["Wei Li"],
        "year": 2021,
        "venue": "Journal of Lakes",
        "abstract": "We sail across the lake and set the sail. Learning by a machine is easy.",
    },
    {
        "title": "Lift in Practice",
        "authors": ["Ann Oliver"],
        "year": 2025,
        "venue": "Proceedings of NeurIPS",
        "abstract": "Seeded Architectural Intent Lift was used in 2000 factories by Adam.",
    },
    {
        "title": "Reinforcement",
        "authors": ["Zoé Müller"],
        "year": 2020,
        "abstract": "Reinforcement learning evaluates few-shot roll-out policies of Graph-R1. "
        "A retrieval algorithm generates embeddings.",
    },
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    library = Library(tmp_path_factory.mktemp("library"))
    path = library.papers / "papers.jsonl"
    path.write_text("\n".join(map(json.dumps, PAPERS)), encoding="utf-8")
    library.index()
    return library


def asked(library: Library, question: str, *filters: Filter) -> Query:
    with library.state() as state:
        return understand(Question(question), state.snapshot, filters)


def find(library: Library, question: str, *filters: Filter, limit: int = 10) -> Found:
    from library import WEIGHTS

    with library.reader() as reader:
        searcher = Searcher(reader, WEIGHTS)
        return searcher.search(Question(question), limit, filters=filters)


def titles(found: Found) -> list[str]:
    return [hit.paper.title for hit in found.hits]


def noted(query: Query) -> str:
    return "; ".join(query.notes)


def test_a_plain_question_is_searched_as_it_stands(library: Library) -> None:
    query = asked(library, "How do owls catch mice?")
    assert query.text == "How do owls catch mice?"
    assert query.terms == equally("owls catch mice")
    assert (query.expansions, query.papers, query.filters, query.notes) == ({}, None, (), ())


# --- quoted phrases


@pytest.mark.parametrize(
    "question",
    [
        '"machine learning"',
        "“machine learning” of owls",
        "„Machine Learning“",
        "« machine learning » please",
        "'machine learning' in winter",
        "\u2018machine learning\u2019",
        "「machine learning」",
        'who did "MACHINE-LEARNING"?',
    ],
)
def test_a_quoted_phrase_stands_in_every_paper_found(library: Library, question: str) -> None:
    found = find(library, question)
    assert titles(found) == ["Owls in Winter"]  # another paper has both words apart
    assert "only papers with the phrase" in noted(found.query)


def test_a_phrase_is_found_in_a_title_and_at_the_bounds_of_words(library: Library) -> None:
    assert titles(find(library, '"Lake Crossing"')) == ["Lake Crossing"]
    assert asked(library, '"chine learn"').papers is None


def test_a_phrase_that_no_paper_has_is_told_and_searched_word_by_word(library: Library) -> None:
    found = find(library, '"mice catch" owls')
    assert titles(found)[0] == "Owls in Winter"
    assert "no paper has the phrase “mice catch”" in noted(found.query)
    assert found.query.phrases == ()


def test_a_phrase_of_common_words_only_is_looked_for_as_well(library: Library) -> None:
    assert titles(find(library, '"by a"')) == ["Lake Crossing"]


def test_an_apostrophe_is_no_quotation_mark(library: Library) -> None:
    for question in ("What's the owls' prey in the lakes' snow?", "the model's owls'"):
        query = asked(library, question)
        assert (query.text, query.phrases, query.notes) == (question, (), ())


# --- filters


@pytest.mark.parametrize(
    ("words", "years"),
    [
        ("since 2024", {2024, 2025}),
        ("published after 2024", {2025}),
        ("before 2020", {2019}),
        ("until 2020", {2019, 2020}),
        ("in 2021", {2021}),
        ("from 2021", {2021}),
        ("between 2019 and 2021", {2019, 2020, 2021}),
        ("from 2020 to 2021", {2020, 2021}),
        ("2020-2021", {2020, 2021}),
        ("2024 or later", {2024, 2025}),
        ("from 2024 onwards", {2024, 2025}),
        ("2024年以来", {2024, 2025}),
        ("2020年之前", {2019}),
    ],
)
def test_years_in_a_question_are_a_filter(library: Library, words: str, years: set[int]) -> None:
    found = find(library, f"learning of owls {words}?")
    assert {hit.paper.meta.year for hit in found.hits} == years
    assert found.query.text == "learning of owls?"
    assert found.query.terms == equally("learning owls")
    assert f"({len(years)} papers)" in noted(found.query)


@pytest.mark.parametrize(
    "question",
    [
        "used in 2000 factories",
        "since 2000 factories",
        "12024 owls",
        "learning by Adam",
        "learning by Liver",
        "lift by a lake",
        "learning in Proceedings",
        "sail at the lake",
        "in practice at last",
    ],
)
def test_words_that_name_no_metadata_are_words(library: Library, question: str) -> None:
    query = asked(library, question)
    assert (query.filters, query.text) == ((), question)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("papers by Castellan", ["Owls in Winter"]),
        ("What was written by Mira Castellan et al.?", ["Owls in Winter"]),
        ("works by castellan about owls", ["Owls in Winter"]),
        ("lakes by Li", ["Lake Crossing"]),  # and not by Oliver
        ("learning by Muller", ["Reinforcement"]),
        ("What did Voss propose?", ["Recovering Design Decisions"]),
        ("Is Ekwall's model good?", ["Owls in Winter"]),
        ("intent in Nature", ["Recovering Design Decisions"]),
        ("owls and lift at NeurIPS", ["Lift in Practice", "Owls in Winter"]),
        ("owls and lift at neurips in 2019", ["Owls in Winter"]),
        ("lift at NeurIPS since 2020", ["Lift in Practice"]),
    ],
)
def test_authors_and_venues_in_a_question_are_filters(
    library: Library, question: str, wanted: list[str]
) -> None:
    assert sorted(titles(find(library, question))) == wanted


def test_a_filter_of_the_question_that_leaves_nothing_is_given_up(library: Library) -> None:
    found = find(library, "owls since 2040")
    assert titles(found)[0] == "Owls in Winter"
    assert "no paper left for year 2040 or later" in noted(found.query)
    both = find(library, "owls in 2019 by Voss")
    assert titles(both) == ["Owls in Winter"]
    assert "no paper left for author Voss" in noted(both.query)


@pytest.mark.case("R03")
def test_a_filter_that_was_given_and_leaves_nothing_finds_nothing(library: Library) -> None:
    found = find(library, "owls", *filters_of(since="2040"))
    assert found.hits == ()
    assert found.query.notes == ("no paper passes the filter: year 2040 or later",)


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        (filters_of(year="2019-2020"), {"Owls in Winter", "Reinforcement"}),
        (filters_of(since="2020", until="2021"), {"Reinforcement", "Lake Crossing"}),
        (filters_of(author="li"), {"Lake Crossing"}),
        (filters_of(author="zoe mulle"), {"Reinforcement"}),
        (filters_of(author="castel"), {"Owls in Winter"}),
        (filters_of(venue="neurips"), {"Owls in Winter", "Lift in Practice"}),
        (filters_of(source="papers.jsonl"), {str(paper["title"]) for paper in PAPERS}),
        (filters_of(venue="100%"), set()),
    ],
)
def test_filters_that_are_given(
    library: Library, filters: tuple[Filter, ...], wanted: set[str]
) -> None:
    assert set(titles(find(library, "What is learned?", *filters))) == wanted


def test_a_collection_without_metadata_knows_no_filters(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.write("a.txt", *[abstract(topic, about="the year 2020") for topic in TOPICS[:3]])
    library.index()
    query = asked(library, f"{TOPICS[0]} in 2020 by Castellan at NeurIPS")
    assert (query.filters, query.notes) == ((), ())
    assert "2020" in query.terms


@pytest.mark.case("R05")
def test_the_nearest_papers_that_pass_a_filter_are_found_wherever_they_rank(
    tmp_path: Path,
) -> None:
    """Of 300 papers that are nearest, none passes; the one that does is far off."""
    library = Library(tmp_path)
    near = [
        {"title": f"T{n}", "year": 2000, "abstract": abstract("apples", about=f"case {n}")}
        for n in range(300)
    ]
    far = {"title": "Far", "year": 2024, "abstract": abstract("apples", *TOPICS[5:12])}
    path = library.papers / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, [*near, far])))
    library.index()
    for question in ("apples since 2024", "apples"):
        found = find(library, question, *filters_of(since="2024"))
        assert titles(found) == ["Far"], question


# --- typos


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("owls retreival algorithm", "owls retrieval algorithm"),
        ("owls rertieval algorithm", "owls retrieval algorithm"),
        ("which algoritm for retrieval", "which algorithm for retrieval"),
        ("Algoritm for retrieval", "algorithm for retrieval"),
        ("the lkae and the sail", "the lake and the sail"),
    ],
)
def test_a_typo_is_repaired(library: Library, question: str, searched: str) -> None:
    query = asked(library, question)
    assert query.text == searched
    assert query.terms == equally(searched)
    assert "spelling: " in noted(query)


@pytest.mark.parametrize(
    "question",
    [
        "owls and their later mentions",  # English words that no paper has
        "owls of Retreival",  # a name
        "owls with reTrieval2 algorithm",
        "owls algorithm h2o",
        "owls lak sail",  # too short
        "owls algorithm xqzvbnm",  # nothing is near
        "owls algorithm rétrieval",
        "Quelle retrivale pour les hiboux dans laque neigge",  # another language
    ],
)
def test_what_is_no_typo_stays(library: Library, question: str) -> None:
    query = asked(library, question)
    assert query.text == question
    assert "spelling" not in noted(query)


def test_the_typo_itself_is_still_looked_for(library: Library) -> None:
    assert "retreiv" in asked(library, "owls retreival algorithm").expansions


def test_a_word_of_the_collection_is_never_repaired(library: Library) -> None:
    words = {word for paper in PAPERS for word in str(paper["abstract"]).split()}
    for word in sorted(words):
        assert "spelling" not in noted(asked(library, f"owls lake {word.strip('.,()')}"))


# --- acronyms

SAIL = "Seeded Architectural Intent Lift"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Seeded Architectural Intent Lift (SAIL) is", [("SAIL", SAIL)]),
        ("we use SAIL (Seeded Architectural Intent Lift).", [("SAIL", SAIL)]),
        ("large language models (LLMs)", [("LLM", "large language models")]),
        ("heat shock protein 70 (Hsp70)", [("Hsp70", "heat shock protein 70")]),
        ("the conditional value-at-risk (CVaR) of", [("CVaR", "conditional value-at-risk")]),
        ("group distributionally robust optimization (GDRO; see 2)",
         [("GDRO", "group distributionally robust optimization")]),
        ("an improvement (see below) of (12) and (a)", []),
        ("nothing like it (XYZ)", []),
        ("(SAIL)", []),
        ("d\\textbf{e}ep \\textbf{l}ake (DL)", [("DL", "deep lake")]),
    ],
)  # fmt: skip
def test_definitions_of_acronyms(text: str, found: list[tuple[str, str]]) -> None:
    assert list(definitions(text)) == found


def test_an_acronym_finds_papers_that_only_spell_it_out(library: Library) -> None:
    found = find(library, "What is SAIL?")
    assert titles(found)[0] == "Recovering Design Decisions"
    assert titles(found).index("Lift in Practice") < len(found.hits)
    assert {"seed", "intent", "lift"} <= found.query.expansions.keys()
    assert "SAIL: seeded architectural intent lift" in found.query.notes


def test_what_is_spelt_out_finds_its_acronym(library: Library) -> None:
    query = asked(library, "results of seeded architectural intent lift")
    assert query.expansions["sail"] < 1
    assert "seeded architectural intent lift: SAIL" in query.notes


def test_an_acronym_in_capitals_prefers_the_paper_with_capitals(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.write(
        "a.txt",
        "They sail and sail and sail. To sail is to sail.",
        "The SAIL of the harbour was compared with other methods of work in many places.",
    )
    library.index()
    assert "SAIL" in library.search("SAIL").hits[0].paper.text
    assert "They sail" in library.search("sail").hits[0].paper.text


@pytest.mark.parametrize(
    "question", ["WHAT IS THE BEST OWL OF ALL", "OWLS AND LAKES", "AND OR NOT"]
)
def test_a_question_in_capitals_has_no_acronyms(library: Library, question: str) -> None:
    assert asked(library, question).capitals == ()


# --- spellings


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        (written, typed)
        for family in (
            ("GraphR1", "Graph-R1", "graph r1", "GRAPH R1", "graphr1"),
            ("rollout", "roll-out", "roll out", "Rollouts", "roll-outs"),
            ("fewshot", "few-shot", "few shot"),
            ("EgoExo4D", "Ego-Exo4D", "ego exo 4d", "Ego-Exo-4D"),
        )
        for written in family
        for typed in family
    ],
)
def test_a_name_is_found_in_every_spelling(tmp_path: Path, written: str, typed: str) -> None:
    library = Library(tmp_path)
    library.write("a.txt", abstract("owls", about=written), abstract("apples"), abstract("eagles"))
    library.index()
    parts = library.search(typed).hits[0]
    assert written in parts.paper.text
    assert parts.parts["lexical"] > 0


# --- limits


@pytest.mark.parametrize(
    "question",
    ["*", '"', "owls*", "(owls", "owls)", "owls:lake", "^owls", "-owls", "NEAR(owls lake)",
     "owls AND", "OR owls", "NOT owls", '"owls', "owls\\", "terms:owls",
     "owls'); DROP TABLE papers", "{owls}",
     "owls + lake", "%_", "«»", "''", "\"\"", "“”", "by", "at", "in", "since", "by ",
     "in 2020", "papers by", "at NeurIPS", "what is it?", "The Who", "a", "?!a", "'a b'",
     "猫", "ﾊﾝｶｸ", "ꙮ ꙮ", "அ"],
)  # fmt: skip
@pytest.mark.case("R04")
def test_no_sign_of_a_query_language_does_harm(library: Library, question: str) -> None:
    found = find(library, question)
    assert all(hit.score > 0 for hit in found.hits)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(max_size=80))
def test_any_text_is_understood(library: Library, text: str) -> None:
    query = asked(library, text)
    assert all(0 < weight <= 1 for weight in query.terms.values())
    assert all(0 < weight < 1 for weight in query.expansions.values())


def test_of_a_very_long_question_the_rarest_words_are_searched(tmp_path: Path) -> None:
    library = Library(tmp_path)
    chance = random.Random(1)
    words = ["".join(chance.choices("bkmpzaou", k=7)) for _ in range(400)]
    library.write("a.txt", " ".join(words[:200]), " ".join(words[100:]), " ".join(words[150:250]))
    library.index()
    found = find(library, " ".join(words * 3)[:8000])
    assert len(found.query.terms) == 60
    assert {term in " ".join(words[:100] + words[250:]) for term in found.query.terms} == {True}
    assert len(found.hits) == 3


@pytest.mark.parametrize("limit", [0, -1])
@pytest.mark.case("R02")
def test_fewer_than_one_paper_cannot_be_asked_for(library: Library, limit: int) -> None:
    with pytest.raises(UsageError, match=f"{limit} papers were asked for"):
        find(library, "owls", limit=limit)


@pytest.mark.case("R02")
def test_more_papers_than_there_are_can_be_asked_for(library: Library) -> None:
    assert 1 <= len(find(library, "owls lake", limit=10**9).hits) <= len(PAPERS)


def test_a_paper_that_is_the_contrary_and_shares_no_word_is_no_hit(tmp_path: Path) -> None:
    library = Library(tmp_path, Contrary())
    library.write("a.txt", abstract("apples"), abstract("bridges"), abstract("clouds"))
    library.index()
    assert [hit.paper.text for hit in library.search("apples").hits] == [abstract("apples")]
    assert library.search("xqzvbnm").hits == ()


class Contrary(HandEmbedder):
    """Of the same topics the cosine is 1, of others below 0."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = super().embed(texts)
        turned = vectors - vectors.sum(axis=1, keepdims=True) * 1.5 / self.dimension
        return np.asarray(turned / np.linalg.norm(turned, axis=1, keepdims=True), np.float32)


# --- what is told


def test_each_hit_tells_what_each_list_gave(library: Library) -> None:
    for hit in find(library, "owls of the lake").hits:
        assert hit.score == pytest.approx(sum(hit.parts.values()))
