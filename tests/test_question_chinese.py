"""A Chinese question over English papers: words, glosses, and the papers that they find."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from library import Library

from rag.answering.assistant import Assistant
from rag.retrieval.chinese import dictionary, glosses, segment
from rag.retrieval.query import Question
from rag.retrieval.understanding import understand


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("深度神经网络", ["深度", "神经网络"]),
        ("在家庭中", ["在", "家庭", "中"]),  # and not at home + hall
        ("研究生命起源", ["研究", "生命", "起源"]),  # and not graduate student + destiny
        ("神經網絡", ["神經網絡"]),
        ("㐀", ["㐀"]),
    ],
)
def test_a_run_of_characters_is_read_in_words(run: str, words: list[str]) -> None:
    assert segment(run, dictionary()) == words


@pytest.mark.parametrize(
    ("definitions", "found"),
    [
        ("model/mold/matrix/pattern", ["model", "mold", "matrix", "pattern"]),
        ("to break out of prison/to jailbreak (an iOS device etc)",
         ["break out of prison", "jailbreak"]),
        ("to evaluate; to assess", ["evaluate", "assess"]),
        ("variant of 模型[mo2 xing2]/surname Mo/CL:個|个[ge4]", []),
        ("(bound form) figure; (grammar) of; the", ["figure"]),
        ("a long explanation of what that word may mean", []),
        ("", []),
    ],
)  # fmt: skip
def test_glosses_are_short_words_of_content(definitions: str, found: list[str]) -> None:
    assert glosses(definitions) == found


def library_of(tmp_path: Path, *abstracts: str) -> Library:
    library = Library(tmp_path)
    records = [{"title": f"Paper {n}", "abstract": text} for n, text in enumerate(abstracts)]
    (library.papers / "a.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    library.index()
    return library


ENGLISH = (
    "Neural network models can evaluate medical images.",
    "Robots grasp objects and plan how they move.",
)


def test_words_are_translated_and_names_are_kept(tmp_path: Path) -> None:
    library = library_of(tmp_path, *ENGLISH)
    with library.state() as state:
        query = understand(Question("如何用ResNet-50评估医学图像？"), state.snapshot)
    assert query.terms["resnet"] == 1.0 and query.terms["50"] == 1.0
    assert 0 < query.terms["evalu"] < 1 and 0 < query.terms["imag"] < 1
    assert "resnet-50" in query.text and "evaluate" in query.text
    assert not any("\u4e00" <= character <= "\u9fff" for character in query.text)
    assert "评估 evaluate" in "; ".join(query.notes)


def test_a_chinese_question_finds_the_english_paper_with_a_score(tmp_path: Path) -> None:
    library = library_of(tmp_path, *ENGLISH)
    for question, first in (("神经网络模型", 0), ("神經網絡", 0), ("机器人如何抓取物体？", 1)):
        hit = library.search(question).hits[0]
        assert hit.paper.title == f"Paper {first}"
        assert hit.parts["lexical"] > 0


def test_in_a_chinese_collection_nothing_is_translated(tmp_path: Path) -> None:
    library = library_of(tmp_path, "我们用神经网络评估医学图像。", "机器人抓取物体并规划运动。")
    found = library.search("机器人如何抓取物体？")
    assert found.query.text == "机器人如何抓取物体？"
    assert found.query.notes == ()
    assert found.hits[0].paper.text.startswith("机器人")


@pytest.mark.parametrize(
    "question", ["ニューラルネットワークの評価", "신경망 평가", "神経回路の評価"]
)
def test_japanese_and_korean_are_not_read_as_chinese(tmp_path: Path, question: str) -> None:
    library = library_of(tmp_path, *ENGLISH)
    assert library.search(question).query.text == question


def test_characters_that_no_dictionary_has_are_left(tmp_path: Path) -> None:
    library = library_of(tmp_path, *ENGLISH)
    assert library.search("的了是").query.text == "的了是"


QUESTIONS = {
    "如何评估具身智能体在家庭任务中的可靠性？": "000:1",
    "升级人脸识别模型时如何避免重新计算旧的特征向量？": "000:3",
    "怎样在GPU集群发生硬件故障时继续训练大语言模型？": "000:12",
    "医学图像分割中如何利用文本描述？": "000:17",
    "哪种方法可以防御大语言模型的越狱攻击？": "003:1",
    "多智能体辩论中盲目从众的问题如何解决？": "003:7",
    "如何解释图神经网络的不确定性？": "003:19",
    "长视频理解如何选择关键帧？": "003:15",
    "机器人抓取与运动规划失败的原因如何归因？": "003:18",
    "奖励膨胀对强化学习有什么影响？": "002:12",
    "自动驾驶轨迹预测如何处理分布外数据？": "002:1",
    "如何生成仓库级别的代码文档？": "000:4",
    "离线模仿学习如何保证安全？": "000:9",
    "用哪种方法检测大语言模型的幻觉？": "003:13",
    "哪个数据集用人与物体交互的视频来定位三维物体上可以操作的区域？": "003:11",
}


def test_chinese_questions_find_their_english_papers(assistant: Assistant) -> None:
    """Written before any was tried; without the dictionary 4 of 15 are in the first five."""
    missed = [
        question
        for question, reference in QUESTIONS.items()
        if assistant.find(reference).id
        not in {hit.paper.id for hit in assistant.search(question, 5).hits}
    ]
    assert len(missed) <= 2, missed
