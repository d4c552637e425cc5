"""Plain text and Markdown: which of their forms is one paper, which are many."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus import Content, Limits, Record, Rejected, SourceFile, find_files, read_papers
from rag.corpus.files import digest
from rag.errors import InputError
from rag.schema import Metadata, Paper

NORMAL = Limits()
LONG = "We show that stable names make stable links, for ever."
OTHER = "Another abstract follows here. It has two sentences in it."


def pieces(text: str, name: str, limits: Limits = NORMAL) -> list[Paper | Rejected]:
    found = read_papers(Content.of(text.encode(), name, limits))
    return [piece if isinstance(piece, Rejected) else piece[1] for piece in found]


def papers(text: str, name: str) -> list[Paper]:
    found = pieces(text, name)
    assert all(isinstance(piece, Paper) for piece in found), found
    return [piece for piece in found if isinstance(piece, Paper)]


def told(text: str, name: str) -> list[tuple[str | None, str]]:
    """The papers' titles, None where their source gives none, and texts."""
    return [(None if p.title_derived else p.title, p.text) for p in papers(text, name)]


def refused(text: str, name: str, limits: Limits = NORMAL) -> Rejected:
    (piece,) = pieces(text, name, limits)
    assert isinstance(piece, Rejected)
    return piece


# --- Plain text ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Owl Nests\n\nShort.", [("Owl Nests", "Short.")]),
        ("\ufeffOwl Nests\n\nShort.", [("Owl Nests", "Short.")]),
        ("\n \n Owl Nests \n\n\n  Short.\n\n", [("Owl Nests", "Short.")]),
        ("What do owls eat?\n\nMice.", [("What do owls eat?", "Mice.")]),
        ("猫头鹰的巢\n\n短。", [("猫头鹰的巢", "短。")]),
        (f"Owl Nests\n\n{LONG}\nAnd more.", [("Owl Nests", f"{LONG}\nAnd more.")]),
        (f"{LONG}\n\n{OTHER}", [(None, LONG), (None, OTHER)]),
        (f"All Papers\n\n{LONG}\n\n{OTHER}", [(None, LONG), (None, OTHER)]),
        (LONG, [(None, LONG)]),
        (f"# Owl Nests\n\n{LONG}\n\nShort.\n", [("Owl Nests", f"{LONG}\n\nShort.")]),
        ("# Owl Nests\nShort.", [("Owl Nests", "Short.")]),
        ("# Title\n\n## Part\n\nShort.", [("Title", "## Part\n\nShort.")]),
    ],
)
def test_the_forms_of_a_text_file(text: str, expected: list[tuple[str | None, str]]) -> None:
    assert told(text, "a.txt") == expected


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_the_ends_of_lines_change_nothing_that_counts(name: str) -> None:
    unix = "# Title\n\nPara one.\n\nPara two.\n"
    found = [papers(unix.replace("\n", end), name) for end in ("\r\n", "\r", "\n")]
    assert [[p.title for p in file] for file in found] == [["Title"]] * 3
    assert [file[0].text.split() for file in found] == [["Para", "one.", "Para", "two."]] * 3
    assert [len(file[0].sentences) for file in found] == [2, 2, 2]
    assert len({file[0].id for file in found}) == 1
    assert found[0][0].text == "Para one.\r\n\r\nPara two."
    assert [file[0].source_offset for file in found] == [11, 9, 9]


def test_two_files_of_one_name_are_two_papers(tmp_path: Path) -> None:
    for folder, text in [
        ("x", "Owl Nests\n\nOwls nest in trees."),
        ("y", "Heron Nests\n\nHerons nest in reeds."),
    ]:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "abstract.txt").write_text(text)
    found = [paper for file in find_files([tmp_path]) for paper in _papers_of(file)]
    assert [paper.title for paper in found] == ["Owl Nests", "Heron Nests"]
    assert len({paper.id for paper in found}) == 2


def _papers_of(file: SourceFile) -> Iterator[Paper]:
    for piece in read_papers(file.content()):
        assert not isinstance(piece, Rejected)
        yield piece[1]


def test_empty_files_are_no_papers(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Owl Nests\n\nShort abstract.")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "spaces.txt").write_text("  \n\n\t")
    a, *others = find_files([tmp_path])
    assert [paper.text for paper in _papers_of(a)] == ["Short abstract."]
    for file in others:
        with pytest.raises(InputError, match="is empty"):
            digest(file.content())
        with pytest.raises(InputError, match="holds no papers"):
            list(read_papers(file.content()))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(end: str) -> None:
    text = f"{LONG}\n\n\nTODO.\n\n{OTHER}\n".replace("\n", end)
    first, rejected, last = pieces(text, "a.txt")
    assert isinstance(first, Paper) and isinstance(last, Paper)
    assert isinstance(rejected, Rejected)
    assert (rejected.ordinal, rejected.line) == (2, 4)
    assert text[last.source_offset :].startswith(last.text)


@pytest.mark.parametrize("text", ["# Title", "# Title\n\n \n", "# \u200b\n\n\u200b\u200b"])
def test_a_title_alone_is_no_paper(text: str) -> None:
    assert refused(text, "a.txt").ordinal == 1


def test_a_paragraph_over_the_limit_is_refused_by_its_size_and_the_rest_taken() -> None:
    text = f"{LONG}\n\n{'word ' * 60}\n{'word ' * 60}\n\n{OTHER}"
    first, large, last = pieces(text, "a.txt", Limits(record_chars=300))
    assert isinstance(first, Paper) and isinstance(last, Paper)
    assert (first.text, last.text, last.ordinal) == (LONG, OTHER, 3)
    assert isinstance(large, Rejected)
    assert large.line == 3
    assert "600 characters, max_record_chars = 300" in large.reason
    titled = refused(f"# Title\n\n{'word ' * 100}", "a.txt", Limits(record_chars=300))
    assert "499 characters" in titled.reason


@pytest.mark.parametrize("head", ["", "# Title\n\n", "Title\n\n"])
@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_a_paragraph_of_many_lines_is_not_held_in_memory(name: str, head: str) -> None:
    lines = 100_000  # 5 MB in all, 10 MB as strings
    content = Content.of(head.encode() + (b"w" * 49 + b"\n") * lines, name)
    tracemalloc.start()
    try:
        (piece,) = read_papers(content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(piece, Rejected)
    assert re.match(r"[45],\d{3},\d{3} characters, max_record_chars = 200,000", piece.reason)
    assert peak < 4_000_000


@given(st.lists(st.text("ab .\t\n\r\u2028\u00a0#", max_size=12), max_size=8))
def test_every_character_that_is_not_white_space_is_told_of_once(parts: list[str]) -> None:
    text = "Head\n\n" + LONG + "\n\n" + "".join(parts)
    found = pieces(text, "a.txt")
    for piece in found:
        if isinstance(piece, Paper):
            assert text[piece.source_offset :].startswith(piece.text)
    assert [piece.ordinal for piece in found] == list(range(1, len(found) + 1))


# --- Markdown ------------------------------------------------------------------------------

FRONT = """---
title: "Owl Nests: a Study"
Authors:
  - Müller, Zoë
  - name: Jan van der Berg
    affiliation: Nowhere
date: 2020-05-01
journal: null
DOI: https://doi.org/10.1000/ABC
arxiv: 2401.01230
tags: [owls, nests, NO]
---

# Owl Nests

Owls nest in trees.

They like them.
"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_front_matter_says_what_the_paper_is(mark: str, end: str) -> None:
    source = FRONT.replace("\n", end)
    (paper,) = papers(mark + source, "a.md")
    assert paper.title == "Owl Nests: a Study"
    assert paper.text == f"Owls nest in trees.{end}{end}They like them."
    assert source[paper.source_offset :].startswith(paper.text)
    assert paper.meta == Metadata(
        authors=("Zoë Müller", "Jan van der Berg"),
        year=2020,
        doi="10.1000/abc",
        arxiv="2401.01230",
        keywords=("owls", "nests", "NO"),
    )


@pytest.mark.parametrize(
    ("value", "authors"),
    [
        (
            "Ada Lovelace, Charles Babbage and Jane Doe",
            ("Ada Lovelace", "Charles Babbage", "Jane Doe"),
        ),
        ("Lovelace, Ada; Babbage, Charles", ("Ada Lovelace", "Charles Babbage")),
        ("Lovelace, Ada and Babbage, Charles", ("Ada Lovelace", "Charles Babbage")),
        ("[{given: Ada, family: Lovelace}, Plato]", ("Ada Lovelace", "Plato")),
        ("~", ()),
        ("", ()),
    ],
)
def test_authors_in_front_matter(value: str, authors: tuple[str, ...]) -> None:
    (paper,) = papers(f"---\nauthor: {value}\n---\n{LONG}", "a.md")
    assert paper.meta.authors == authors


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "---\nabstract: >\n  Folded\n  text.\ntitle: 1984\n---\nBody.",
            [("1984", "Folded text.")],
        ),
        ("---\nyear: 2020\n---\n# T\n\nBody.", [("T", "Body.")]),
        ("---\ntitle: T\n---\nBody.", [("T", "Body.")]),
        (
            "---\ntitle: T\n---\n## A\n\nOne.\n\n## B\n\nTwo.",
            [("T", "## A\n\nOne.\n\n## B\n\nTwo.")],
        ),
        ("---\n---\nBody.", [(None, "Body.")]),
        (
            "# T #\n\nBy us.\n\n## Abstract\n\nShort.\n\nTwo.\n\n## 1 Introduction\n\nMore.",
            [("T", "Short.\n\nTwo.")],
        ),
        ("# T\n\n**Abstract.**\n\nShort.\n\n# 1. Introduction\n\nMore.", [("T", "Short.")]),
        ("# Abstract\n\nShort.\n\n# Introduction\n\nMore.", [(None, "Short.")]),
        (
            "# T\n\n## Abstract\n\n### Aim\n\nShort.\n\n## Results\n\nMore.",
            [("T", "### Aim\n\nShort.")],
        ),
        (
            "# T\n\nShort.\n\n## Results\n\nMore.\n\n## References\n\n1. X",
            [("T", "Short.\n\n## Results\n\nMore.")],
        ),
        ("## T\n\nShort.", [("T", "Short.")]),
        ("# Owls in C#\n\nShort.", [("Owls in C#", "Short.")]),
        (
            "# List\n\nIntro.\n\n## A\n\nOne.\n\n## B\n\nTwo.\n\nMore.\n",
            [("A", "One."), ("B", "Two.\n\nMore.")],
        ),
        (
            "# A\n\n## Abstract\n\nOne.\n\n## Results\n\nR.\n\n# B\n\nTwo.",
            [("A", "One."), ("B", "Two.")],
        ),
        ("## A\n\nOne.\n\n# Part\n\nText.\n\n## B\n\nTwo.", [("A", "One."), ("B", "Two.")]),
        ("# T\n\n```\n# comment\n## other\n```\n", [("T", "```\n# comment\n## other\n```")]),
        (f"{LONG}\n\n{OTHER}", [(None, LONG), (None, OTHER)]),
        ("Owl Nests\n\nShort.", [("Owl Nests", "Short.")]),
        (f"---\n\n{LONG}\n\n{OTHER} ", [(None, LONG), (None, OTHER)]),
    ],
)
def test_the_forms_of_a_markdown_file(text: str, expected: list[tuple[str | None, str]]) -> None:
    assert told(text, "a.md") == expected


def test_the_papers_of_a_list_have_their_places() -> None:
    text = "# List\n\n## A\n\nOne.\n\n## B\n\n## C\n\nThree.\n"
    first, empty, last = pieces(text, "a.md")
    assert isinstance(first, Paper) and isinstance(last, Paper) and isinstance(empty, Rejected)
    assert (empty.ordinal, empty.line) == (2, 7)
    assert "no abstract" in empty.reason
    assert (last.ordinal, last.title) == (3, "C")
    assert text[last.source_offset :].startswith("Three.")


@pytest.mark.parametrize(
    ("front", "words", "line"),
    [
        ("title: [unclosed", "not YAML", 3),
        ("title: a: b", "not YAML", 2),
        ("- a\n- list", "no list of names and values", 1),
        ("just words", "no list of names and values", 1),
        ("a: &a [x, x]\nb: [*a, *a]", "alias", 3),
        ("a: " + "[" * 100_000, "nested too deeply", 2),
        ("title: @home", "not YAML", 2),
    ],
)
def test_front_matter_that_is_none_is_refused_with_its_line(
    front: str, words: str, line: int
) -> None:
    found = refused(f"---\n{front}\n---\n\n{LONG}", "a.md")
    assert words in found.reason
    assert found.line == line
    assert "\n" not in found.reason and len(found.reason) < 120
    assert found.remedy


def test_no_object_is_made_from_front_matter() -> None:
    (paper,) = papers(f"---\ntitle: !!python/name:os.system x\n---\n{LONG}", "a.md")
    assert paper.text == LONG


def test_front_matter_alone_is_no_paper() -> None:
    assert "no abstract" in refused("---\ntitle: T\n---\n", "a.md").reason


def test_a_year_that_is_none_is_named() -> None:
    content = Content.of(f"---\nyear: 20233\n---\n{LONG}".encode(), "a.md")
    ((record, paper),) = [p for p in read_papers(content) if not isinstance(p, Rejected)]
    assert isinstance(record, Record)
    assert paper.meta.year is None
    assert "20233" in " ".join(record.notes)


def test_a_text_file_with_front_matter_is_markdown() -> None:
    assert told("---\ntitle: T\n---\nShort.", "a.txt") == [("T", "Short.")]
