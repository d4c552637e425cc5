"""What a model adds to a question: where it is asked, what its texts do, and what if it fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import rag
from fakes import Received, Script, ScriptedGenerator, ScriptedServer, refusal, streamed
from helped import by_step, helped
from library import BY_MEANING, Library, abstract

from rag.answering.asking import Asker, Reading
from rag.answering.assistant import last_answer
from rag.answering.expanding import ModelExpander, compares, speaks_english
from rag.answering.stop import Stop
from rag.config import Config, load
from rag.errors import ConfigError, ServerError
from rag.retrieval.expansion import Expansion
from rag.retrieval.joining import join
from rag.retrieval.query import Question
from rag.retrieval.search import Found, Searcher

UNFAMILIAR = "Which apples of the trees in a yard are kept cold?"  # found by one word of many
ELSEWHERE = "Which fruit of a tree is kept cold?"
FAMILIAR = "Which apples are measured?"
GERMAN = "Wie viel wiegen die Früchte des Baumes?"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """One paper for each of four topics."""
    library = Library(tmp_path_factory.mktemp("rewriting"))
    library.write("a.txt", *map(abstract, ("apples", "bridges", "clouds", "deserts")))
    library.index()
    return library


def topics(found: Found) -> list[str]:
    """What each hit is about, in order."""
    return [hit.paper.text.split()[2] for hit in found.hits]


# --- what a question needs


@pytest.mark.parametrize(
    ("question", "english"),
    [
        ("What does RN-DPO normalize?", True),
        ("whats the loss among succesful episodes ???", True),
        ("exo 2 ego vdeo genration evaluted on wich dataset", False),
        ("RepoScope", True),
        ("federated multitask learning", True),
        (r"which setting gets $O(m\log(m)/\epsilon^2)$ for α-β", True),
        ("How is Poincaré's method used by Müller?", True),
        ("哪个数据集用人与物体交互的视频？", False),
        ("BERT模型", False),
        ("Какая модель?", False),
        ("ما هو النموذج؟", False),
        ("Sur quel modèle de 1B de paramètres RankE confirme-t-il ses gains ?", False),
        ("Wie viele Aufgaben hat das MetaWorld?", False),
        ("¿Qué no mide un modelo a largo plazo?", False),
        ("Sum up PRUDENT-BANKER in two sentences.", True),
        ("7", True),
    ],
)
def test_which_questions_are_taken_for_english(question: str, english: bool) -> None:
    assert speaks_english(question) is english


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("Compare TinyOwl and Heron.", True),
        ("Which benchmarks do G2PO and ARC have in common?", True),
        ("TinyOwl vs. Heron", True),
        ("How does TinyOwl differ from Heron?", True),
        ("R2PO and DEAR each split the work. Into what?", True),
        ("Does ARC score higher than G2PO on ALFWorld?", True),
        ("Which method learns from pairwise comparisons?", False),
        ("Is it faster than others and better?", False),
        ("What does RepoScope model?", False),
        ("How many tasks is it evaluated on?", False),
    ],
)
def test_which_questions_may_be_about_several_papers(question: str, several: bool) -> None:
    assert compares(question) is several


# --- what the texts do


def test_a_question_whose_words_the_papers_have_is_searched_without_a_model(
    library: Library,
) -> None:
    with helped(library, {}) as its:
        found = its.assistant.search(FAMILIAR)
    assert topics(found)[0] == "apples"
    assert its.asked == []
    assert (found.help.steps, found.help.note) == ((), "")


def test_where_nothing_comes_near_no_answer_is_imagined(library: Library) -> None:
    with helped(library, {"sentence": {"sentence": "Apples."}}) as its:
        answer = its.assistant.answer(ELSEWHERE)
    assert its.asked == []
    assert (answer.status, answer.note) == ("abstained", "")


def test_a_sentence_such_as_an_answer_may_have_finds_papers_of_its_meaning(
    library: Library,
) -> None:
    replies = {"sentence": {"sentence": "Apples of the deserts."}}
    with helped(library, replies, rerank="off") as its:
        found = its.assistant.search(UNFAMILIAR)
    assert its.asked == ["sentence"]
    assert set(topics(found)[:2]) == {"apples", "deserts"}
    assert found.question.text == UNFAMILIAR
    (step,) = found.help.steps
    assert (step.step, step.texts) == ("hypothesis", ("Apples of the deserts.",))
    assert step.prompt.startswith("hypothesis@")


def test_half_of_what_is_searched_by_meaning_is_the_question_itself(library: Library) -> None:
    """(apples + bridges) / √2 is as near to one as to the other."""
    with library.reader() as reader:
        searcher = Searcher(reader, BY_MEANING)
        found = searcher.search(Question("apples"), 4, beside="bridges")
    assert set(topics(found)[:2]) == {"apples", "bridges"}
    assert found.hits[0].score == pytest.approx(found.hits[1].score)
    assert found.hits[2].score < 0.01


def test_a_question_in_another_language_is_searched_in_english(library: Library) -> None:
    replies = {"english": {"english": FAMILIAR}}
    with helped(library, replies, rerank="off") as its:
        found = its.assistant.search(GERMAN)
    assert its.asked == ["english"]  # in English its words are known: nothing else is needed
    assert topics(found)[0] == "apples"
    assert found.question.text == GERMAN


def test_names_and_numbers_that_a_translation_loses_are_searched_all_the_same(
    library: Library,
) -> None:
    library_of_names = Library(library.papers.parent / "names")
    library_of_names.write("a.txt", abstract("apples"), "RankE studies owls. RankE has 1B weights.")
    library_of_names.index()
    replies = {"english": {"english": "Which of the models confirms the gains?"}}
    with helped(library_of_names, replies, expand="translate") as its:
        found = its.assistant.search("Sur quel modèle RankE confirme-t-il ses gains ?")
    assert found.hits[0].paper.text.startswith("RankE")


def test_a_query_in_the_terms_of_the_field_is_searched_with_the_question(
    library: Library,
) -> None:
    replies = {"query": {"query": "clouds"}}
    with helped(library, replies, expand="rewrite", rerank="off") as its:
        found = its.assistant.search("Which bridges have grey things in the sky above them?")
    assert its.asked == ["query"]
    assert set(topics(found)[:2]) == {"bridges", "clouds"}


def test_each_side_of_a_comparison_finds_its_paper(library: Library) -> None:
    replies = {"questions": {"questions": ["How are clouds measured?", "What of the deserts?"]}}
    with helped(library, replies, expand="decompose", rerank="off") as its:
        found = its.assistant.search("How do grey and dry things compare with apples?", 3)
    assert its.asked == ["questions"]
    assert set(topics(found)) == {"apples", "clouds", "deserts"}
    assert len(found.hits) == 3
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert found.vectors.keys() == {hit.paper.id for hit in found.hits}


def test_a_filter_holds_for_what_a_model_adds(library: Library) -> None:
    other = Library(library.papers.parent / "years")
    papers = [
        {"title": f"On {topic}", "abstract": abstract(topic), "year": year}
        for topic, year in (("apples", 2020), ("bridges", 2024), ("clouds", 2024))
    ]
    other.write("a.jsonl", "\n".join(map(json.dumps, papers)))
    other.index()
    replies = {"questions": {"questions": ["What of the apples?", "What of the clouds?"]}}
    with helped(other, replies, expand="decompose", rerank="off") as its:
        found = its.assistant.search("How do apples and clouds compare since 2023?")
    assert its.asked == ["questions"]
    assert {hit.paper.meta.year for hit in found.hits} == {2024}


def test_a_question_that_has_no_parts_is_left_whole(library: Library) -> None:
    for questions in ([], ["What of the deserts?"]):
        with helped(
            library, {"questions": {"questions": questions}}, expand="decompose", rerank="off"
        ) as its:
            found = its.assistant.search("Compare the apples.")
        assert topics(found)[0] == "apples"


def test_joined_searches_keep_the_best_of_each_paper_and_sentence(library: Library) -> None:
    whole, part = library.search("apples bridges"), library.search("bridges")
    joined = join(whole, [part], 10)
    best = {
        hit.paper.id: max(
            one.score for found in (whole, part) for one in found.hits if one.paper == hit.paper
        )
        for hit in joined.hits
    }
    assert {hit.paper.id: hit.score for hit in joined.hits} == best
    assert len(join(whole, [part], 1).hits) == 1
    assert join(whole, [], 10) == whole


# --- which steps are taken


@pytest.mark.parametrize(
    ("expand", "steps"),
    [
        ("auto", ["english"]),
        ("off", []),
        ("hypothesis", ["sentence"]),
        ("rewrite, hypothesis", ["query", "sentence"]),
        ("hypothesis,translate", ["english", "sentence"]),
    ],
)
def test_the_settings_say_which_steps_are_taken(
    library: Library, expand: str, steps: list[str]
) -> None:
    replies = {
        "english": {"english": UNFAMILIAR},
        "query": {"query": "fruit trees"},
        "sentence": {"sentence": "Fruit is kept."},
    }
    with helped(library, replies, expand=expand, rerank="off") as its:
        its.assistant.search(f"{GERMAN} Apples?")
    assert its.asked == steps


@pytest.mark.parametrize("expand", ["", "hyde", "auto,off", "translate,", "off,rewrite"])
def test_a_step_that_is_not_known_is_refused(expand: str) -> None:
    with pytest.raises(ConfigError, match="must be auto, off, or some of decompose, hypothesis"):
        load({"expand": expand}, environ={})


def test_without_a_model_nothing_is_asked(library: Library) -> None:
    with helped(library, {}, llm="none") as its:
        answer = its.assistant.answer(UNFAMILIAR)
    assert its.asked == []
    assert answer.manifest["help"] == []


def test_a_later_step_works_on_what_an_earlier_one_gave(library: Library) -> None:
    replies = {
        "english": {"english": UNFAMILIAR},
        "sentence": {"sentence": "Apples."},
    }
    with helped(library, replies, rerank="off") as its:
        its.assistant.search(GERMAN)
    asked = [received.body["messages"][1]["content"] for received in its.server.posts]
    assert asked == [f"Question: {GERMAN}", f"Question: {UNFAMILIAR}"]


# --- replies that are of no use


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot help with that.",
        "{}",
        '{"sentence": ""}',
        '{"sentence": "  \\n ?!"}',
        '{"sentence": 7}',
        '{"sentence": null}',
        '{"sentence": "Apples',
        json.dumps({"sentence": UNFAMILIAR.upper()}),
        "[" * 2000,
    ],
)
def test_a_reply_that_adds_nothing_changes_nothing(library: Library, reply: str) -> None:
    with helped(library, {"sentence": reply}, rerank="off") as its:
        found = its.assistant.search(UNFAMILIAR)
    assert found.hits == library.search(UNFAMILIAR).hits
    assert [step.texts for step in found.help.steps] == [()]
    assert found.help.note == ""


@pytest.mark.parametrize(
    "reply",
    [
        '```json\n{"sentence": "Apples are kept."}\n```',
        'Sure! {"sentence": "Apples are kept."} I hope this helps.',
        '<think>{"sentence": "Bridges"}</think>{"sentence": "Apples are kept."}',
        '{"sentence": "Apples\\u200b are\\n\\u001b kept."}',
    ],
)
def test_a_reply_is_read_through_what_stands_around_it(library: Library, reply: str) -> None:
    with helped(library, {"sentence": reply}, rerank="off") as its:
        found = its.assistant.search(UNFAMILIAR)
    assert [step.texts for step in found.help.steps] == [("Apples are kept.",)]


def test_a_text_without_end_is_cut(library: Library) -> None:
    with helped(library, {"sentence": {"sentence": "apples " * 2_000}}, rerank="off") as its:
        (step,) = its.assistant.search(UNFAMILIAR).help.steps
    assert 0 < len(step.texts[0]) <= 600


def test_of_a_very_long_question_a_model_reads_the_beginning(library: Library) -> None:
    question = f"{UNFAMILIAR} " + "and so on " * 500
    replies = {"sentence": {"sentence": "Bridges."}, "order": {"order": []}}
    with helped(library, replies) as its:
        its.assistant.search(question)
    assert its.asked == ["sentence", "order"]
    for received in its.server.posts:
        assert len(received.body["messages"][1]["content"]) < 2_000


def test_a_server_without_schemas_is_asked_once_more_without_one(library: Library) -> None:
    def reply(received: Received) -> Script:
        if "response_format" in received.body:
            return refusal(400, "response_format is not supported", param="response_format")
        return streamed(['{"sentence": "Apples are kept."}'])

    with helped(library, reply, rerank="off") as its:
        found = its.assistant.search(UNFAMILIAR)
    assert its.asked == ["sentence", "sentence"]
    assert topics(found)[0] == "apples"


# --- a model that is late or fails


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (Script(ending="hang"), "no complete answer within 0.3 s"),
        (streamed(['{"sentence": "App'], finish=None, done=False, ending="hang"), "within 0.3 s"),
        (refusal(500, "out of order"), "out of order"),
        (Script(answers=False, ending="reset"), "reset"),
    ],
)
def test_a_step_that_fails_is_given_up_and_told(
    library: Library, script: Script, reason: str
) -> None:
    with helped(library, {"sentence": script}, help_seconds=0.3, rerank="off") as its:
        found = its.assistant.search(UNFAMILIAR)
    assert found.hits == library.search(UNFAMILIAR).hits
    assert found.help.note.startswith("imagining an answer was given up: ")
    assert reason in found.help.note
    assert found.help.steps == ()


def test_an_answer_tells_what_helped_and_what_was_given_up(library: Library) -> None:
    claims = {"claims": [{"support": ["S1"], "text": "We study apples in one case with care."}]}
    replies = {
        "english": {"english": UNFAMILIAR},
        "sentence": refusal(500, "out of order"),
        "answer": claims,
    }
    heard: list[str] = []
    with helped(library, replies, rerank="off") as its:
        answer = last_answer(its.assistant.ask(GERMAN, notify=heard.append))
    assert its.asked == ["english", "sentence", "answer"]
    assert "Question: " + GERMAN in its.server.posts[-1].body["messages"][1]["content"]
    steps: Any = answer.manifest["help"]
    (step,) = steps
    assert step["step"] == "translate"
    assert step["texts"] == [UNFAMILIAR]
    assert "imagining an answer was given up: 500: out of order" in answer.note
    assert heard[:2] == ["translating the question", "imagining an answer"]


def test_a_reader_who_leaves_ends_a_step(library: Library) -> None:
    stop = Stop()

    def reply(_: Received) -> Script:
        stop.give()
        return Script(ending="hang")

    with helped(library, reply, rerank="off") as its, pytest.raises(ServerError):
        list(its.assistant.ask(UNFAMILIAR, stop=stop))


def test_tokens_of_help_count_against_the_budget(library: Library) -> None:
    with helped(library, {}, token_budget=10, rerank="off") as its:
        found = its.assistant.search(UNFAMILIAR)
    assert its.asked == []
    assert "0 of 10 used" in found.help.note


def test_an_expander_gives_texts_only(library: Library) -> None:
    generator = ScriptedGenerator('{"sentence": "Apples."}')
    expander = ModelExpander(Asker(generator, 1.0), "hypothesis")
    expansion, _ = expander.expand(library.search(UNFAMILIAR), Expansion(), Reading())
    assert expansion == Expansion(beside="Apples.")
    assert generator.history[0].seconds == 1.0


# --- the command line


def test_a_search_asks_a_model_only_where_one_is_named(seeds_config: Config) -> None:
    question = "Welches System plant mit Repositorien?"
    replies = by_step({"english": {"english": "Which system plans with repositories?"}})
    with ScriptedServer(replies, models=["m"]) as server:
        env = {"OPENAI_BASE_URL": server.url, "RAG_WEIGHTS_DIR": str(seeds_config.weights_dir)}
        env["RAG_RERANK"] = "off"
        data = Path(seeds_config.data_dir)
        plain = rag("search", question, "--json", env=env, data=data).json()
        assert (server.posts, plain["help"]) == ([], [])
        asked = rag("search", question, "--llm", "openai", "--json", env=env, data=data).json()
    assert asked["query"] == question
    assert asked["help"][0]["texts"] == ["Which system plans with repositories?"]
