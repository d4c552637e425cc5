"""What kind of answer a question is taken to want: a table by hand, in five languages."""

from __future__ import annotations

import json

import pytest
from command import ROOT

from rag.answering.conditions import condition_of
from rag.answering.kinds import kind_of
from rag.answering.talk import talk

LABELLED = {
    "count": """
        How many papers are there?
        How many papers are in the collection?
        How many papers about owl nests are in the collection?
        How many of the papers mention WebShop?
        how many abstracts use ALFWorld
        What is the number of papers on federated learning?
        Could you tell me how many studies deal with robots?
        ¿Cuántos artículos hablan de robots?
        Wie viele Arbeiten gibt es über Roboter?
        Combien d'articles parlent de robots ?
        有多少篇论文研究强化学习？""",
    "list": """
        Which papers mention reward hacking?
        Which abstracts give an anonymous.4open.science link?
        What papers are about medical segmentation?
        List all papers on reinforcement learning.
        Please list the papers that use LoRA.
        Hi, can you list the papers about robots?
        Show me all abstracts on jailbreaks
        Do any papers use ALFWorld?
        Are there any papers about hallucination?
        Is there a paper about owls?
        Do you have papers on face recognition?
        Which of these papers are training-free?
        Which federated learning papers are there?
        Name the two techniques that their abstracts describe as training-free.
        papers about bilevel optimization
        ¿Qué artículos tratan de robots?
        Welche Arbeiten behandeln Roboter?
        Gibt es Arbeiten über Roboter?
        Quels articles parlent de segmentation ?
        哪些论文研究强化学习？""",
    "agreement": """
        Do the papers agree on the value of KL penalties?
        Do the abstracts disagree about chain of thought?
        Is there evidence for and against reward models?
        Is there evidence that scaling helps?
        Is there a consensus on reward shaping?
        Do any studies contradict each other about noise?
        Do authors agree that verifiers help?
        这些论文的结论一致吗？""",
    "overview": """
        Give me an overview of reinforcement learning.
        A survey of LLM agents, please
        What do the papers say about robots?
        What is known about reward hacking?
        What is the state of the art in video generation?
        Summarize the literature on federated learning
        Gib mir einen Überblick über bestärkendes Lernen
        强化学习的综述""",
    "comparison": """
        Compare TinyOwl and Heron: type, size, tasks, hardware.
        What is the difference between RankE and RISE?
        How do R2PO and DEAR differ?
        G2PO vs ARC on WebShop
        What distinguishes RARe from RCRL?
        Vergleiche RankE und RISE
        ¿Cuáles son las diferencias entre RankE y RISE?
        比较 G2PO 和 ARC""",
    "summary": """
        Summarise RepoScope.
        Give a two-sentence summary of ReCoVer.
        Sum up PRUDENT-BANKER in two sentences.
        In two sentences, what does the RN-DPO paper find and propose?
        What is the RepoScope paper about?
        Can you summarize GraphUAT?""",
    "definition": """
        What is RepoScope?
        What is a hypergradient?
        What does the short form RSSA stand for?
        What does SAIL abbreviate in the RepoScope paper?
        Give the full name behind ARC, the approach for long-horizon LLM agents.
        Define reward hacking
        Was ist RepoScope?
        什么是奖励黑客？""",
    "quantity": """
        How many tasks is TinyOwl evaluated on, and by how many points does it raise recall?
        By how many points does ARC beat the strongest baseline on WebArena?
        What share of later turns stay inconsistent?
        How large is RewardFlow's success-rate gain on AppWorld?
        How many independently trained face-recognition models were examined?
        Combien de tâches MetaWorld ?""",
    "yes_no": """
        Does ARC score higher than G2PO on ALFWorld?
        Is there life on Mars?
        Does TinyOwl improve latency on CPU?
        And does it also handle hypergraphs?
        Can RankE be used with other decoders?
        ¿Es RankE mejor que RISE?
        RankE 有效吗？""",
    "talk": """
        hello
        Hi there!
        What can you do?
        Hello, how can you help me?
        thanks!
        Thank you very much
        hola
        Guten Tag
        Merci beaucoup !
        你好
        谢谢""",
    "fact": """
        Which benchmarks do G2PO and ARC have in common?
        Which paper introduces RN-DPO?
        Over which part of the image does RN-DPO normalize the likelihood ratio?
        What can you do with RankE?
        What is the capital of Norway?
        Who funded the TinyOwl work?
        Is it RankE or RISE that lowers FID?
        What FID and CLIP values does RankE obtain on LlamaGen-XL?
        Which two methods are aimed at road vehicles?
        Is quick learning peculiar to the penalty? If not, what explains it?
        What does "which papers mention it" mean for RankE users?
        Which method do papers use for segmentation?
        Why does BM25 fall far behind every agent memory system on GroupMemBench?
        Which of the twelve frontier LLMs came first on RevengeBench?
        And ARC?""",
}
CASES = [(kind, line.strip()) for kind, text in LABELLED.items() for line in text.splitlines()]
CASES = [(kind, line) for kind, line in CASES if line]


def test_the_table_is_large() -> None:
    assert len(CASES) >= 100


@pytest.mark.parametrize(("kind", "question"), CASES)
def test_kind(kind: str, question: str) -> None:
    assert kind_of(question) == kind


def test_no_question_for_one_fact_is_taken_for_a_list_or_for_talk() -> None:
    path = ROOT / "evals" / "suites" / "seeds.jsonl"
    plain = {"fact", "quantity", "definition", "yes_no"}
    for line in path.read_text("utf-8").splitlines():
        item = json.loads(line)
        if item["kind"] in {"named", "numeric", "acronym", "paraphrase", "noisy", "unanswerable"}:
            assert kind_of(item["question"]) in plain, item["question"]


def test_a_pasted_text_is_no_kind_of_question() -> None:
    assert kind_of("which papers " + "mention reward hacking and " * 40) == "fact"


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("Which abstracts explicitly mention reward hacking?", "reward hacking"),
        ("How many papers about owl nests are in the collection?", "owl nests"),
        ("How many papers are there about owl nests?", "owl nests"),
        ("How many papers are there?", ""),
        ("List all papers on text-to-image generation.", "text-to-image generation"),
        ("Which federated learning papers are there?", "federated learning"),
        ("Do any papers use graph neural networks?", "graph neural networks"),
        ("Hi, could you list the papers that use LoRA?", "LoRA"),
        ("face recognition", "face recognition"),
        ("¿Qué artículos tratan de robots?", "robots"),
        ("Welche Arbeiten behandeln Überanpassung?", "Überanpassung"),
        ("Quels articles parlent de segmentation médicale ?", "segmentation médicale"),
        ("哪些论文研究强化学习？", "强化学习"),
    ],
)
def test_condition(question: str, condition: str) -> None:
    assert condition_of(question).text == condition


@pytest.mark.parametrize(
    ("message", "language", "word"),
    [
        ("hello", "en", "abstracts"),
        ("Was kannst du?", "de", "Sammlung"),
        ("¿Qué puedes hacer?", "es", "colección"),
        ("Bonjour, que peux-tu faire ?", "fr", "collection"),
        ("你能做什么？", "zh", "论文"),
        ("thanks", "en", "welcome"),
    ],
)
def test_talk_is_answered_in_its_language(message: str, language: str, word: str) -> None:
    said = talk(message)
    assert said is not None
    assert said.language == language
    assert word in said.text


@pytest.mark.parametrize(
    "message",
    ["", "hello world models", "thanks to which loss does RankE improve?", "help with robots", "?"],
)
def test_what_may_be_a_question_is_no_talk(message: str) -> None:
    assert talk(message) is None
