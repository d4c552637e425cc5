"""Questions and claims in other languages than that of the papers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import Received, Script, streamed
from helped import helped
from library import WEIGHTS, Library, paper

from rag.answering.abstention import REFUSAL
from rag.answering.assistant import Assistant
from rag.answering.crosslingual import repin_across
from rag.answering.finding import Finder
from rag.answering.phrases.languages import LANGUAGES
from rag.answering.prompting import Labelled
from rag.answering.speech import language_of, refusal_to, writes_in
from rag.answering.writing import QuotingWriter
from rag.config import Config
from rag.retrieval.search import Searcher
from rag.schema import Answer, Evidence

RADAR = paper(
    "RADAR",
    "We propose RADAR for text-guided medical image segmentation.",
    "RADAR adds merely 0.74M trainable parameters on three datasets.",
    "It does not need a decoder.",
)
GIVEN = [
    Labelled(f"S{n}", RADAR, Evidence("RADAR", n - 1, s.text, s.start, s.end, 1.0))
    for n, s in enumerate(RADAR.sentences, start=1)
]


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("What does RN-DPO normalize?", "en"),
        ("RN-DPO", "en"),
        ("naïve Bayes on MNIST", "en"),
        ("Pareto front of a GAN", "en"),
        ("no free lunch theorem", "en"),
        ("Was ist RADAR?", "de"),
        ("Wie viele Parameter fügt RADAR hinzu?", "de"),
        ("¿Qué normaliza RN-DPO?", "es"),
        ("Cuál es el error de GDRO en la práctica", "es"),
        ("Quels sont les benchmarks de G2PO ?", "fr"),
        ("Que propose RADAR pour la segmentation ?", "fr"),
        ("Quantos parâmetros são adicionados pelo RADAR e por que não mais?", "pt"),
        ("RN-DPO 归一化什么?", "zh"),
        ("RADARは何を提案していますか", "ja"),
        ("What is 注意力 in the paper on attention networks by Li?", "en"),
    ],
)
def test_the_language_of_a_question_is_known(question: str, code: str) -> None:
    assert language_of(question).code == code


@pytest.mark.parametrize(
    ("question", "language", "refusal"),
    [
        ("Какая скорость обучения у RankE?", "Russian", "В собрании об этом не сказано."),
        ("Яка швидкість навчання в RankE і чому?", "Ukrainian", "Колекція про це не говорить."),
        ("RankE의 학습률은 얼마입니까?", "Korean", "이 컬렉션에는 그에 대한 내용이 없습니다."),
        ("ما معدل التعلم في RankE؟", "Arabic", "لا تذكر المجموعة ذلك."),
        ("RankE की सीखने की दर क्या है?", "Hindi", "संग्रह में यह नहीं बताया गया है।"),
        ("What does β or α mean in RankE?", "", "The collection does not say."),
    ],
)
def test_a_script_without_phrases_of_its_own_is_answered_in(
    question: str, language: str, refusal: str
) -> None:
    assert (writes_in(question), refusal_to(question)) == (language, refusal)


def test_every_language_has_its_own_refusal_and_english_has_the_one_of_old() -> None:
    refusals = [language.refusal for language in LANGUAGES]
    assert len(set(refusals)) == len(refusals)
    assert all(refusals)
    assert refusal_to("What is it?") == REFUSAL
    for language in LANGUAGES:
        told = language.checked.format(checked=57, total=60)
        assert "57" in told
        assert "60" in told


CLAIMS = [
    ("RADAR añade solo 0.74M parámetros entrenables en tres datasets.", "S2", "supported"),
    ("RADAR fügt nur 0,74M trainierbare Parameter hinzu und ist klein.", "S2", "supported"),
    ("RADAR n'ajoute que 0.74M paramètres, et c'est peu.", "S2", "supported"),
    ("RADAR n'ajoute pas 0.74M paramètres sur trois datasets.", "S2", "contradicted"),
    ("RADAR 只增加了 0.74M 个可训练参数。", "S2", "supported"),
    ("RADAR añade 0.84M parámetros entrenables y es el más grande.", "S2", "unsupported"),
    ("GLIMMER añade 0.74M parámetros entrenables en los datos.", "S2", "unsupported"),
    ("该方法适用于医学图像。", "S1", "partly"),
    ("RADAR no necesita un decoder para la segmentación.", "S3", "supported"),
]


@pytest.mark.parametrize(("claim", "label", "verdict"), CLAIMS)
def test_a_claim_in_another_language_is_held_to_numbers_names_and_denial(
    claim: str, label: str, verdict: str
) -> None:
    named = [item for item in GIVEN if item.label == label]
    found = repin_across(claim, named, named)
    assert found is not None
    assert found[1].verdict == verdict
    assert bool(found[1].reason) is (verdict != "supported")


def test_a_claim_is_pinned_to_the_sentence_that_has_its_number() -> None:
    found = repin_across("RADAR añade solo 0.74M parámetros para las imágenes.", GIVEN[:1], GIVEN)
    assert found is not None
    support, judgement = found
    assert judgement.verdict == "supported"
    assert [evidence.index for _, evidence in support] == [1]


@pytest.mark.parametrize("claim", ["RADAR adds 0.74M parameters.", "RADAR", "0.74M"])
def test_an_english_claim_is_left_to_the_ordinary_check(claim: str) -> None:
    assert repin_across(claim, GIVEN, GIVEN) is None


# --- Answers -------------------------------------------------------------------------------


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path)
    library.write(
        "a.txt",
        "We propose RADAR for the segmentation of apples. "
        "RADAR adds merely 0.74M trainable parameters for apples.",
    )
    library.index()
    return library


def ask(library: Library, question: str) -> Answer:
    config = Config.model_validate({"embedding_model": "by hand", "quotes_beside": 0})
    with library.reader() as reader:
        finder = Finder(Searcher(reader, WEIGHTS))
        return Assistant(config, reader, finder, QuotingWriter()).answer(question)


def test_a_quoted_answer_says_in_the_readers_language_that_it_quotes(library: Library) -> None:
    answer = ask(library, "¿Cuántos parámetros añade RADAR para apples?")
    assert answer.claims
    assert answer.note == "Las frases se citan en su idioma original"
    assert not ask(library, "How many trainable parameters does RADAR add for apples?").note


@pytest.mark.parametrize(
    ("question", "refusal"),
    [
        ("Wie ist das Wetter morgen in Paris?", "Die Sammlung sagt dazu nichts."),
        ("¿Cuál es la capital de Mongolia?", "La colección no lo dice."),
        ("Quelle est la capitale de la Mongolie ?", "La collection ne le dit pas."),
        ("蒙古国的首都是哪里？", "本文献库没有提到这一点。"),
    ],
)
def test_an_abstention_is_in_the_language_of_the_question(
    library: Library, question: str, refusal: str
) -> None:
    answer = ask(library, question)
    assert (answer.status, answer.text) == ("abstained", refusal)


def claims_in(text: str, label: str = "S2") -> str:
    return json.dumps({"claims": [{"support": [label], "text": text}]})


def test_a_model_is_told_the_language_only_where_it_is_another(library: Library) -> None:
    def reply(received: Received) -> Script:
        if "[S1]" not in received.body["messages"][1]["content"]:
            return streamed([json.dumps({"english": "How many parameters does RADAR add?"})])
        return streamed([claims_in("RADAR añade 0.74M parámetros en tres datasets.")])

    with helped(library, reply) as asked:
        answer = asked.assistant.answer("¿Cuántos parámetros añade RADAR?")
        asked.assistant.answer("How many parameters does RADAR add?")
        systems = [
            post.body["messages"][0]["content"]
            for post in asked.server.posts
            if "[S1]" in post.body["messages"][1]["content"]
        ]
    assert answer.text == "RADAR añade 0.74M parámetros en tres datasets [1]."
    (cited,) = answer.citations[0].sentences
    assert cited.text == "RADAR adds merely 0.74M trainable parameters for apples."
    assert "in Spanish" in systems[0]
    assert systems[0].startswith(systems[1])
    assert "Spanish" not in systems[1]


def test_a_wrong_number_is_left_out_in_any_language(library: Library) -> None:
    reply = claims_in("RADAR añade 0.94M parámetros en los datos de la prueba.")
    with helped(library, {"answer": reply, "english": {"english": "x"}}) as asked:
        answer = asked.assistant.answer("¿Cuántos parámetros añade RADAR?")
    assert [dropped.reason for dropped in answer.dropped] == [
        "0.94 is not in the sentences it names"
    ]
    assert "0.94M" not in answer.text
