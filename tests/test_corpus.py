"""From files to papers: what is taken, what is refused and with which words."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from command import SEEDS
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus import Content, Record, Rejected, SourceFile, find_files, read_papers
from rag.corpus.files import digest
from rag.corpus.readers import plain
from rag.corpus.titles import derive_title
from rag.errors import InputError
from rag.schema import Paper

FIRST = "We show that stable names make stable links, for ever."
SECOND = "Another abstract follows here. It has two sentences in it."


@dataclass(frozen=True)
class LoadedFile:
    papers: tuple[Paper, ...]
    rejected: tuple[Rejected, ...]

    @classmethod
    def of(cls, file: SourceFile) -> LoadedFile:
        content = file.content()
        digest(content)
        pieces = list(read_papers(content))
        return cls(
            tuple(piece[1] for piece in pieces if not isinstance(piece, Rejected)),
            tuple(piece for piece in pieces if isinstance(piece, Rejected)),
        )


def read(path: Path) -> LoadedFile:
    (file,) = find_files([path])
    return LoadedFile.of(file)


def written(folder: Path, content: str | bytes, name: str = "papers.txt") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(path)
    return str(caught.value)


@pytest.fixture(scope="module")
def seeds() -> dict[str, LoadedFile]:
    return {file.label: LoadedFile.of(file) for file in find_files([SEEDS])}


def test_the_seeds_are_57_papers(seeds: dict[str, LoadedFile]) -> None:
    assert list(seeds) == [
        "seeds/000_d9e28358a154ea35.txt",
        "seeds/002_360b963660078947.txt",
        "seeds/003_674b458a0ca815ef.txt",
    ]
    assert [len(loaded.papers) for loaded in seeds.values()] == [19, 19, 19]
    assert all(not loaded.rejected for loaded in seeds.values())
    assert all([p.ordinal for p in s.papers] == list(range(1, 20)) for s in seeds.values())
    assert len({paper.id for loaded in seeds.values() for paper in loaded.papers}) == 57


def test_a_paper_is_its_source_to_the_character(seeds: dict[str, LoadedFile]) -> None:
    for label, loaded in seeds.items():
        whole = (SEEDS.parent / label).read_bytes().decode()
        for paper in loaded.papers:
            place = slice(paper.source_offset, paper.source_offset + len(paper.text))
            assert whole[place] == paper.text
            assert paper.source == label
            assert all(paper.text[s.start : s.end] == s.text for s in paper.sentences)
    chinese = seeds["seeds/002_360b963660078947.txt"].papers[0]
    assert chinese.text.startswith("Real-world autonomous driving data")


@pytest.mark.parametrize(
    ("file", "ordinal", "title"),
    [
        ("000", 4, "RepoScope"),
        ("000", 7, "RN-DPO"),
        ("000", 8, "R2PO"),
        ("000", 9, "DexDICE"),
        ("000", 12, "ReCoVer"),
        ("000", 14, "RSSA"),
        ("000", 18, "PRUDENT-BANKER"),
        ("002", 1, "TRUST"),
        ("002", 2, "RoboAlign-R1"),
        ("002", 7, "RewardFlow"),
        ("002", 16, "RevengeBench"),
        ("002", 19, "LLP-MM"),
        ("003", 1, "Disrupt-and-Rectify Smoothing"),
        ("003", 5, "G2PO"),
        ("003", 6, "GoSkills"),
        ("003", 7, "DEAR"),
        ("003", 12, "Grounded-Exo2Ego"),
        ("003", 15, "GridProbe"),
        ("003", 18, "GTP-FA"),
        ("003", 19, "GraphUAT"),
    ],
)
def test_a_seed_is_titled_with_the_name_its_authors_gave(
    seeds: dict[str, LoadedFile], file: str, ordinal: int, title: str
) -> None:
    (loaded,) = (loaded for label, loaded in seeds.items() if label.startswith(f"seeds/{file}"))
    paper = loaded.papers[ordinal - 1]
    assert paper.title == title
    assert paper.title_derived


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Repositories are large. We propose RepoScope, a documentation tool.", "RepoScope"),
        ("We present Region-Normalized DPO (RN-DPO), which is stable.", "RN-DPO"),
        ("GANs are old. We propose a method called FastGAN for this.", "FastGAN"),
        ("Builds on AlexNet. We propose to train AlexNet longer.", "Builds on AlexNet"),
        ("Short and sweet. No name here.", "Short and sweet"),
        ("We use $\\textbf{bold}$ things.", "We use bold things"),
        (
            "A rather long first sentence that says one thing about the world, and then goes on "
            "to say another thing about it.",
            "A rather long first sentence that says one thing about the world",
        ),
        ("word " * 40 + "end.", "word " * 17 + "word…"),
        ("图" * 200, "图" * 90 + "…"),
    ],
)
def test_a_title_is_the_new_name_or_the_first_clause(text: str, title: str) -> None:
    assert derive_title(text) == title


def test_the_id_comes_from_the_content_alone(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    spaced = "We show  that stable\nnames make stable links, for ever."
    files = {
        "here": written(tmp_path, FIRST),
        "elsewhere": written(tmp_path / "other", f"Heading\n\n{SECOND}\n\n{FIRST}", "b.txt"),
        "spaced": written(tmp_path / "other", spaced, "c.txt"),
        "titled": written(tmp_path, json.dumps({"title": "A title", "abstract": FIRST}), "d.jsonl"),
    }
    ids = {name: read(path).papers[-1].id for name, path in files.items()}
    assert ids["here"] == "f3f204e4fe9a9a47"  # printf '\nWe show …' | sha256sum | cut -c1-16
    assert ids["elsewhere"] == ids["spaced"] == ids["here"]
    assert ids["titled"] == "5dff8cdb09aa6523"


def without_place(paper: Paper) -> Paper:
    return replace(paper, source="", ordinal=0, source_offset=0)


@pytest.mark.parametrize(
    ("content", "offsets"),
    [
        (f"{FIRST}\n\n{SECOND}\n".encode(), [0, 56]),
        (f"Papers\n\n{FIRST}\n\n{SECOND}".encode(), [8, 64]),
        (f"{FIRST}\r\n\r\n{SECOND}\r\n".encode(), [0, 58]),
        (f"{FIRST}\r\r{SECOND}".encode(), [0, 56]),
        (f"  {FIRST}\n\n   {SECOND}  \n".encode(), [2, 61]),
        (f"\ufeff{FIRST}\n \t\n\n{SECOND}".encode(), [0, 59]),
        (f"{FIRST}\n\n{SECOND}".encode("utf-16"), [0, 56]),
        (b"\xfe\xff" + f"{FIRST}\n\n{SECOND}".encode("utf-16-be"), [0, 56]),
        (f"論文列表\n\n{FIRST}\n\n{SECOND}".encode(), [6, 62]),
    ],
    ids=[
        "plain",
        "heading",
        "crlf",
        "cr",
        "padded",
        "bom",
        "utf-16",
        "utf-16-be",
        "chinese heading",
    ],
)
def test_the_same_papers_come_from_every_form_of_the_file(
    tmp_path: Path, content: bytes, offsets: list[int]
) -> None:
    path = written(tmp_path, content)
    papers = read(path).papers
    assert [paper.text for paper in papers] == [FIRST, SECOND]
    assert [paper.source_offset for paper in papers] == offsets
    assert [paper.ordinal for paper in papers] == [1, 2]
    decoded = Content.of(content, "x").text()
    assert all(decoded[p.source_offset :].startswith(p.text) for p in papers)
    clean = read(written(tmp_path, f"{FIRST}\n\n{SECOND}", "clean.txt")).papers
    assert list(map(without_place, papers)) == list(map(without_place, clean))


def test_a_single_abstract_is_a_file(tmp_path: Path) -> None:
    assert [p.text for p in read(written(tmp_path, FIRST)).papers] == [FIRST]
    unended = "One abstract, on one line, that ends without a full stop at all"
    assert [p.text for p in read(written(tmp_path, unended)).papers] == [unended]


def test_a_piece_too_short_for_an_abstract_is_named_and_the_rest_is_taken(tmp_path: Path) -> None:
    loaded = read(written(tmp_path, f"{FIRST}\n\nTODO.\n\n{SECOND}"))
    assert [(p.ordinal, p.text) for p in loaded.papers] == [(1, FIRST), (3, SECOND)]
    assert [(r.ordinal, r.line) for r in loaded.rejected] == [(2, 3)]
    assert "5 characters" in loaded.rejected[0].reason


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["papers.txt is empty"]),
        (b" \n\t\n", ["papers.txt is empty"]),
        (bytes(range(256)) * 8, ["papers.txt", "not readable as text", "binary", "UTF-8"]),
        (bytes(1000) + FIRST.encode(), ["papers.txt", "binary"]),
    ],
    ids=["empty", "white", "binary", "mostly nul"],
)
def test_a_file_without_papers_is_refused_by_name(
    tmp_path: Path, content: bytes, words: list[str]
) -> None:
    message = refusal(written(tmp_path, content))
    assert all(word in message for word in words), message
    assert "\n" not in message


def test_bad_lines_of_json_lines_are_named_and_the_others_taken(tmp_path: Path) -> None:
    lines = [
        json.dumps({"title": " Named ", "abstract": f" {FIRST} "}),
        "",
        '{"abstract": "torn',
        '["a", "list"]',
        '{"title": "no text"}',
        '{"abstract": 7}',
        '{"abstract": "  "}',
        "[" * 100_000,
        '{"abstract": "half a pair \\ud800 in a text that is long enough"}',
        json.dumps({"text": SECOND, "abstract": None}),
        json.dumps({"summary": f"{SECOND} {FIRST}", "title": 3}),
    ]
    loaded = read(written(tmp_path, "\r\n".join(lines), "records.jsonl"))
    assert [(p.ordinal, p.title, p.title_derived) for p in loaded.papers] == [
        (1, "Named", False),
        (8, "half a pair � in a text that is long enough", True),
        (9, "Another abstract follows here", True),
        (10, "3", False),
    ]
    mended = "half a pair � in a text that is long enough"
    assert [p.text for p in loaded.papers] == [FIRST, mended, SECOND, f"{SECOND} {FIRST}"]
    expected = {
        3: "not valid JSON",
        4: "not a JSON object",
        5: "no abstract",
        6: "no text",
        7: "no text",
        8: "nested too deeply",
    }
    assert {r.line: expected[r.line] in r.reason for r in loaded.rejected} == dict.fromkeys(
        expected, True
    )
    assert all("\n" not in r.reason and len(r.reason) < 120 for r in loaded.rejected)


@given(st.text(max_size=300))
def test_any_text_is_read_without_losing_or_inventing_a_character(content: str) -> None:
    file = Content.of(content.encode(), "x.txt")
    controls = sum(character < " " and character not in "\t\r\n" for character in content)
    if controls > len(content.encode()) / 4:
        return  # no text, see test_encoding.py
    decoded = file.text()
    if not controls and "\ufeff" not in content:
        assert decoded == content
    for found in plain.read(file):
        if isinstance(found, Record):
            assert decoded[found.offset : found.offset + len(found.text)] == found.text
            assert found.text == found.text.strip()


def test_a_folder_is_searched_to_the_bottom_in_a_stable_order(tmp_path: Path) -> None:
    for name in ["z.txt", "a/c.JSONL", "a/b/d.txt", ".hidden.txt", ".git/e.txt", "f.png", "g.rst"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(FIRST)
    expected = [f"{tmp_path.name}/{name}" for name in ["z.txt", "a/c.JSONL", "a/b/d.txt"]]
    assert [file.label for file in find_files([tmp_path])] == expected
    named = find_files([tmp_path / "g.rst", tmp_path, tmp_path / "z.txt"])
    assert [file.label for file in named] == ["g.rst", *expected]


@pytest.mark.timeout(60)
def test_I20_links_out_of_the_folder_loops_and_pipes_are_passed_over(tmp_path: Path) -> None:
    outside = written(tmp_path, FIRST, "outside.txt")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link.txt").symlink_to(outside)
    (folder / "passwd.txt").symlink_to("/etc/passwd")
    (folder / "gone.txt").symlink_to(folder / "nowhere.txt")
    (folder / "self.txt").symlink_to(folder / "self.txt")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.txt")
    with pytest.raises(InputError, match="holds no papers"):
        find_files([folder])
    written(folder, FIRST, "own.txt")
    assert [file.path.name for file in find_files([folder])] == ["own.txt"]
    with pytest.raises(InputError, match="neither a file nor a folder"):
        find_files([folder / "pipe.txt"])


@pytest.mark.parametrize("name", ["missing.txt", "missing/deeper", "file.txt/below"])
def test_I03_a_path_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    written(tmp_path, FIRST, "file.txt")
    with pytest.raises(InputError) as caught:
        find_files([tmp_path / name])
    assert str(tmp_path / name) in str(caught.value)


def test_a_file_with_another_suffix_is_read_as_plain_text_when_named(tmp_path: Path) -> None:
    path = written(tmp_path, f"{FIRST}\n\n{SECOND}", "notes.md")
    assert [p.text for p in read(path).papers] == [FIRST, SECOND]
    assert find_files([path]) == [SourceFile(path.resolve(), "notes.md")]
