"""Encodings: real text of many languages in the encodings people save it in, and what is no text.

What a file must decode to is the text that was encoded.
"""

from __future__ import annotations

import codecs
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from library import Library

from rag.corpus import Content, find_files, read_papers
from rag.corpus.encoding import clean
from rag.errors import InputError
from rag.index import lexical

FRENCH = (
    "Nous proposons une méthode légère d'évaluation des modèles de langue. Les résultats montrent "
    "que l'apprentissage améliore la précision de 3 % même lorsque peu d'exemples sont annotés."
)
GERMAN = (
    "Wir stellen ein Verfahren vor, das große Sprachmodelle für mittelhochdeutsche Texte anpasst. "
    "Die Güte steigt um fünf Punkte, während der Aufwand ungefähr gleich bleibt."
)
RUSSIAN = (
    "Мы предлагаем метод оценки языковых моделей, который требует мало примеров. Результаты "
    "показывают, что точность растёт, а стоимость вычислений не меняется."
)
GREEK = "Προτείνουμε μια μέθοδο αξιολόγησης γλωσσικών μοντέλων που απαιτεί λίγα παραδείγματα."
CHINESE = (
    "我们提出了一种用于大规模文献检索的稀疏模型。实验结果表明，该方法在多个数据集上优于现有方法，"
    "同时显著降低了计算成本。"
)
MIXED_CHINESE = "本文提出RepoScope，一种基于LLM的代码检索方法，在SWE-bench上准确率提高了3.5%。"
TAIWANESE = "我們提出了一種用於大規模文獻檢索的稀疏模型。實驗結果表明，該方法優於現有方法。"
JAPANESE = (
    "本研究では、大規模言語モデルを用いた文献検索手法を提案する。実験の結果、提案手法は従来手法"
    "よりも高い精度を示した。"
)
KOREAN = (
    "본 논문에서는 대규모 언어 모델을 이용한 문헌 검색 방법을 제안한다. 실험 결과 제안한 방법은 "
    "기존 방법보다 높은 정확도를 보였다."
)
ENGLISH = "We parse the letters of a town, Besançon, with a small model that was trained on few."

LEGACY = [
    (FRENCH, "cp1252"),
    (FRENCH, "latin-1"),
    ("Évaluation légère des modèles.", "cp1252"),
    (GERMAN, "cp1252"),
    ("Ein Abstract über Öl, lang genug.", "latin-1"),
    (ENGLISH, "cp1252"),
    ("The model’s accuracy is high — “better than before” — on all tests.", "cp1252"),
    ("Samples were kept at 37 °C for 5 µs ± 1 before we measured them.", "cp1252"),
    (RUSSIAN, "cp1251"),
    ("Обзор методов поиска.", "cp1251"),
    (RUSSIAN, "koi8-r"),
    (GREEK, "cp1253"),
    (CHINESE, "gb18030"),
    ("我们提出一种新的检索方法。", "gbk"),
    (MIXED_CHINESE, "gb2312"),
    (TAIWANESE, "big5"),
    (JAPANESE, "shift-jis"),
    ("検索手法を提案する。", "cp932"),
    ("テストデータでモデルをテストするシステム。", "cp932"),
    (JAPANESE, "euc-jp"),
    (KOREAN, "euc-kr"),
    ("모델 평가 방법을 제안한다.", "cp949"),
]
ALL = [FRENCH, GERMAN, RUSSIAN, GREEK, CHINESE, MIXED_CHINESE, TAIWANESE, JAPANESE, KOREAN, ENGLISH]
LATIN = [FRENCH, GERMAN, ENGLISH]


def content(data: bytes, name: str = "a.txt") -> Content:
    return Content.of(data, name)


@pytest.mark.parametrize(("text", "encoding"), LEGACY)
def test_I06_text_in_an_older_encoding_is_decoded_and_the_guess_is_told(
    text: str, encoding: str
) -> None:
    file = content(text.encode(encoding))
    assert file.text() == text
    (note,) = file.notes
    assert "guess" in note and "UTF-8" in note


@pytest.mark.parametrize(("text", "encoding"), LEGACY)
def test_a_few_such_lines_in_a_long_english_file_are_enough(text: str, encoding: str) -> None:
    whole = "A line in plain ASCII.\n" * 60_000 + f"{text}\n" * 3
    assert content(whole.encode(encoding)).text() == whole


@pytest.mark.parametrize(
    ("text", "encoding", "name"),
    [(FRENCH, "cp1252", "Windows-1252"), (JAPANESE, "cp932", "Shift-JIS")],
)
def test_the_note_names_the_encoding_once_it_is_read(text: str, encoding: str, name: str) -> None:
    file = content(text.encode(encoding))
    assert not file.notes
    assert file.start == text
    assert name in file.notes[0]


@pytest.mark.parametrize(("text", "encoding"), [(CHINESE, "gb18030"), (JAPANESE, "cp932")])
def test_one_line_longer_than_the_sample_is_guessed_too(text: str, encoding: str) -> None:
    for shift in range(4):
        whole = "x" * shift + f"{text}, " * 12_000
        assert content(whole.encode(encoding)).text() == whole


@pytest.mark.parametrize("text", ALL)
@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
        ("utf-32-be", codecs.BOM_UTF32_BE),
    ],
)
def test_I06_unicode_with_or_without_a_mark_is_certain(
    text: str, encoding: str, mark: bytes
) -> None:
    file = content(mark + text.encode(encoding))
    assert file.start == text
    assert (file.text(), file.notes) == (text, ())


@pytest.mark.parametrize("text", LATIN)
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_I06_utf_16_without_a_mark_is_seen_by_its_zeros(text: str, encoding: str) -> None:
    file = content(text.encode(encoding))
    assert (file.text(), file.notes) == (text, ())


@pytest.mark.parametrize("block", [1 << 20, (1 << 20) + 1, (1 << 20) + 2])
def test_a_character_across_two_blocks_is_whole(block: int) -> None:
    text = "a" * (block - 2) + "語" * 3 + "\n"
    file = content(text.encode())
    assert (file.text(), file.notes) == (text, ())


# --- damage


@pytest.mark.parametrize("text", [FRENCH, RUSSIAN, CHINESE, JAPANESE, KOREAN])
def test_I06_utf_8_with_a_broken_byte_stays_utf_8(text: str) -> None:
    file = content(text[:20].encode() + b"\xff" + text[20:].encode())
    assert file.text() == f"{text[:20]}\ufffd{text[20:]}"
    (note,) = file.notes
    assert "bytes that are not UTF-8" in note and note.endswith(": 1")


def test_a_character_that_a_broken_download_cut_is_replaced() -> None:
    file = content(CHINESE.encode()[:-1])  # 。 is E3 80 82
    assert file.text() == CHINESE[:-1] + "\ufffd"
    assert file.notes[0].endswith(": 2")
    whole = content(f"\ufeff{FRENCH}".encode("utf-16-le")[:-1])
    assert whole.text() == FRENCH[:-1] + "\ufffd"
    assert "unreadable" in whole.notes[0]


def test_I06_halves_of_surrogate_pairs_in_the_file_are_replaced() -> None:
    encoded = content("The energy is \udc63\udc65 and small.".encode("utf-8", "surrogatepass"))
    assert encoded.text() == "The energy is \ufffd\ufffd\ufffd\ufffd\ufffd\ufffd and small."
    wide = content("\ufeffThe energy is \udc63 and small.".encode("utf-16-le", "surrogatepass"))
    assert wide.text() == "The energy is \ufffd and small."
    assert all(len(file.notes) == 1 for file in (encoded, wide))


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 8,
        bytes(4096),
        bytes(1000) + ENGLISH.encode(),
        b"\x1f\x8b\x08" + random.Random(1).randbytes(5000),
        b"\x89PNG\r\n\x1a\n" + random.Random(2).randbytes(300),
        random.Random(3).randbytes(100),
        random.Random(4).randbytes(3_000_000),
        b"A line of text.\n" * 1000 + random.Random(5).randbytes(16_000),
    ],
    ids=["all bytes", "zeros", "mostly zeros", "gzip", "png", "short", "long", "text first"],
)
def test_I06_what_is_no_text_is_refused_by_name(data: bytes) -> None:
    file = content(data, "broken.txt")
    with pytest.raises(InputError) as caught:
        file.text()
    assert str(caught.value).startswith("broken.txt is not readable as text (binary).")
    with pytest.raises(InputError):
        assert file.encoding
    assert file.notes == ()


@pytest.mark.parametrize("data", [bytes(4096), random.Random(7).randbytes(9000)])
def test_the_start_of_what_is_no_text_is_empty(data: bytes) -> None:
    assert content(data).start == ""


# --- control characters

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def test_control_characters_leave_what_is_stored_and_offsets_count_without_them() -> None:
    raw = "\x00One abstract about Gene\x00tic drift \x1b[31mred\x07 text, long enough.\n\n"
    raw += "Another one which is\x0clong enough, too."
    file = content(raw.encode())
    text = file.text()
    assert text.startswith("One abstract about Genetic drift [31mred text, long enough.\n\nAnother")
    assert "which is long enough" in text  # a form feed parts words
    assert file.notes == ("control characters removed: 5",)
    papers = [piece[1] for piece in read_papers(file) if isinstance(piece, tuple)]
    assert len(papers) == 2
    for paper in papers:
        assert text[paper.source_offset :].startswith(paper.text)
        assert not CONTROL.search(paper.text + paper.title)


def test_I06_one_zero_byte_does_not_make_a_file_binary() -> None:
    assert content(b"text with a \0 in it, and it is long enough").text() == (
        "text with a  in it, and it is long enough"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_marks_of_files_that_were_joined_vanish(end: str) -> None:
    file = content(f"\ufeff\ufeffOne{end}\ufeffTwo\ufeff{end}".encode())
    assert list(file.lines()) == [f"One{end}", f"Two\ufeff{end}"]


@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_cleaned_text_can_be_stored_and_is_clean(text: str) -> None:
    cleaned, notes = clean(text)
    cleaned.encode()
    assert not CONTROL.search(cleaned)
    assert clean(cleaned) == (cleaned, ())
    if not notes:
        assert cleaned == text


@given(st.text(max_size=60))
def test_text_without_control_characters_is_decoded_to_the_character(text: str) -> None:
    text = "An abstract: " + CONTROL.sub("", text.replace("\ufeff", ""))
    file = content(text.encode())
    assert (file.text(), file.notes) == (text, ())


def test_clean_tells_what_it_did() -> None:
    cleaned, notes = clean("Gene\x00tic \x1b[31mred\x07, \ud83d\ude00 and \udc63\udc65")
    assert cleaned == "Genetic [31mred, 😀 and \ufffd\ufffd"
    assert [note.rsplit(": ", 1)[1] for note in notes] == ["3", "2"]


# --- through the product


def titles(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file in find_files([path]):
        try:
            pieces = list(read_papers(file.content()))
        except InputError:
            pieces = []
        found[file.path.name] = [p[1].text for p in pieces if isinstance(p, tuple)]
    return found


def test_a_broken_file_loses_no_other(tmp_path: Path) -> None:  # enc-003, enc-005
    (tmp_path / "ok1.txt").write_bytes(FRENCH.encode("cp1252"))
    (tmp_path / "broken.txt").write_bytes(random.Random(6).randbytes(2000))
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "spaces.txt").write_bytes(b"  \n\n\t")
    (tmp_path / "ok2.txt").write_bytes(JAPANESE.encode("cp932"))
    assert titles(tmp_path) == {
        "broken.txt": [],
        "empty.txt": [],
        "ok1.txt": [FRENCH],
        "ok2.txt": [JAPANESE],
        "spaces.txt": [],
    }


def test_json_lines_behind_a_mark_are_recognised() -> None:  # enc-002
    file = content(b'\xef\xbb\xbf{"title": "Owl Nests", "abstract": "Short."}', "a.jsonl")
    (found,) = read_papers(file)
    assert isinstance(found, tuple)
    record, paper = found
    assert (record.title, paper.text) == ("Owl Nests", "Short.")


def test_the_head_of_a_large_file_is_known_without_reading_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    with path.open("wb") as stream:
        stream.write(b'{"title": "first"}\n' * 1000)
        stream.truncate(1 << 40)  # sparse: reading it would take hours
    start = Content("large.jsonl", "large.jsonl", 1 << 40, lambda: path.open("rb")).start
    assert start.startswith('{"title": "first"}')


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("X", False),
        (" \n\t \n", False),
        ("<p>We <i>show</i> that x &lt; y holds for all.</p>", True),
        ("\\begin{abstract}We show $x_{i}^{2}$ \\cite{a}, 3\\% better.\\end{abstract}", True),
        ("A sentence of an abstract that is very long. " * 4_400, True),  # 198,000 characters
        ("A sentence of an abstract that is very long. " * 4_500, False),  # 202,500
    ],
    ids=["one letter", "white", "HTML", "LaTeX", "198 KB", "202 KB"],
)
def test_I25_an_odd_abstract_is_taken_to_the_character_or_named(text: str, taken: bool) -> None:
    pieces = []
    try:
        pieces = list(read_papers(content(text.encode())))
    except InputError as error:
        assert "holds no papers" in str(error)
    papers = [piece[1] for piece in pieces if isinstance(piece, tuple)]
    assert [paper.text for paper in papers] == ([text.strip()] if taken else [])
    assert all(paper.title and paper.sentences for paper in papers)


def test_a_question_in_plain_letters_finds_every_way_of_writing(tmp_path: Path) -> None:
    """lex-011, norm-004, norm-006, norm-008, by words alone."""
    library = Library(tmp_path)
    papers = {
        "greek": "Η β-καρβολίνη. Обзор методов поиска. Évaluation légère. α-synuclein at μm. 평가.",
        "soft": "Index\u00adfunds: a sparse\u200b retriever with 40\u00a0M para\u00admeters.",
        "control": "Gene\x00tic drift is shown in \x1b[31mred\x07 text here.",
        "accents": "Zoë Müller: résumé parsing at Besançon for the Franche-Comté.",
        "double": "The naÃ¯ve classifier is better than we thought it was.",
        "cut": "We want infor-\nmation from state-of-\nthe-art machines only.",
        "other": "Nothing of that kind stands in this abstract, not one thing.",
    }
    for name, text in papers.items():
        library.write(f"{name}.txt", text)
    library.index()
    queries = {
        "greek": ["методов поиска", "evaluation legere", "α-synuclein", "평가", "β-καρβολίνη"],
        "soft": ["indexfunds", "sparse retriever", "40 M parameters"],
        "control": ["genetic drift"],
        "accents": ["Besancon", "resume", "Zoe Muller", "franche-comté"],
        "double": ["naïve", "naive"],
        "cut": ["information", "state of the art"],
    }
    with library.state() as state:
        for name, asked in queries.items():
            for query in asked:
                hits = lexical.search(state.snapshot, lexical.equally(query), 3)
                best = state.snapshot.papers(list(hits.scores)[:1]).values()
                assert [paper.source for paper in best] == [f"papers/{name}.txt"], query
                assert hits.coverage == pytest.approx(1.0), query
