"""PDF: title, abstract and identifiers from the first pages; what is refused, and how."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from command import ROOT

from rag.corpus import Content, Limits, Record, Rejected
from rag.corpus.readers.pdf import stored_authors
from rag.corpus.readers.pdflayout import joined
from rag.corpus.registry import format_of
from rag.errors import InputError

Placed = tuple[float, float, float, str]
"""Left, height, size, text."""

DEFAULTS = Limits()
STAMP = "arXiv:2401.01234v2  [cs.LG]  3 Jan 2024"
BODY = "Body text of the paper, which is set larger than the abstract."


def pdf(*pages: bytes, info: str = "") -> bytes:
    """A PDF of the given content streams, written by hand after ISO 32000, with font /F."""
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"", b"<<%s>>" % info.encode()]
    objects.append(
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    )
    kids = []
    for page in pages:
        packed = zlib.compress(page)
        head = b"<</Length %d/Filter/FlateDecode>>stream\n" % len(packed)
        objects.append(head + packed + b"\nendstream")
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R"
            b"/Resources<</Font<</F 4 0 R>>>>>>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<</Type/Pages/Kids[%s]/Count %d>>" % (b" ".join(kids), len(kids))
    out, places = b"%PDF-1.5\n", []
    for number, one in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer<</Size %d/Root 1 0 R/Info 3 0 R>>\nstartxref\n%d\n%%%%EOF"
    size = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n" % size
    return out + head + table + trailer % (size, len(out))


def page(*lines: Placed, stamp: str = "") -> bytes:
    escaped = [
        (left, height, size, text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)"))
        for left, height, size, text in lines
    ]
    shown = [f"BT /F {s} Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET" for x, y, s, text in escaped]
    if stamp:  # turned by 90 degrees at the left edge, and larger than the title
        shown.insert(0, f"BT /F 20 Tf 0 1 -1 0 20 200 Tm ({stamp}) Tj ET")
    return "\n".join(shown).encode("cp1252")


def set_in_lines(size: float, top: float, *texts: str) -> list[Placed]:
    return [(100, top - 1.2 * size * n, size, text) for n, text in enumerate(texts)]


PAPER = page(
    (100, 750, 8, "Published at a conference, 2024. https://doi.org/10.1000/ABC.12."),
    *set_in_lines(17, 720, "Learning State-of-the-", "Art Things (Really)"),
    (100, 670, 12, "Ann Lee, Bob Ray"),
    (270, 640, 12, "Abstract"),
    *set_in_lines(
        10,
        620,
        "We show many exam-",
        "ples of self-",
        "supervised learning. It is 3% better, and",
        "self-supervised models are state-of-the-",
        "art on COVID-",
        "19 data.",
    ),
    (100, 540, 14, "1 Introduction"),
    *set_in_lines(11, 520, BODY),
    stamp=STAMP,
)
ABSTRACT = (
    "We show many examples of self-supervised learning. It is 3% better, and self-supervised "
    "models are state-of-the-art on COVID-19 data."
)


def read(data: bytes, limits: Limits = DEFAULTS, name: str = "paper.pdf") -> Record | Rejected:
    content = Content.of(data, name, limits)
    (found,) = format_of(content).read(content)
    return found


def record(data: bytes) -> Record:
    found = read(data)
    assert isinstance(found, Record), found
    return found


def rejected(data: bytes, limits: Limits = DEFAULTS) -> Rejected:
    found = read(data, limits)
    assert isinstance(found, Rejected), found
    assert found.remedy.endswith(".")
    assert "\n" not in found.reason
    return found


def test_a_paper_is_read_from_its_first_page() -> None:
    info = "/Title(main.dvi)/Author(Lee, Ann; Bob Ray)/Keywords(things, learning)"
    found = record(pdf(PAPER, info=info))
    assert found.title == "Learning State-of-the-Art Things (Really)"
    assert found.text == ABSTRACT
    assert found.notes == ()
    assert found.meta.authors == ("Ann Lee", "Bob Ray")
    assert found.meta.keywords == ("things", "learning")
    assert (found.meta.arxiv, found.meta.year) == ("2401.01234", 2024)
    assert found.meta.doi == "10.1000/abc.12"


@pytest.mark.parametrize(
    ("stored", "title"),
    [
        (
            "Learning state-of-the-art things \\(really\\)",
            "Learning state-of-the-art things (really)",
        ),
        ("Microsoft Word - learning_final.docx", "Learning State-of-the-Art Things (Really)"),
        ("Guide for authors of another journal", "Learning State-of-the-Art Things (Really)"),
        ("untitled", "Learning State-of-the-Art Things (Really)"),
    ],
)
def test_the_stored_title_is_taken_if_it_stands_on_the_page(stored: str, title: str) -> None:
    assert record(pdf(PAPER, info=f"/Title({stored})")).title == title


@pytest.mark.parametrize(
    ("heading", "first", "after"),
    [
        ("ABSTRACT", "", "Keywords: things, learning"),
        ("A B S T R A C T", "", "1. Background"),
        ("Summary", "", "INTRODUCTION"),
        ("", "Abstract\u2014", "Index Terms\u2014things"),
        ("", "Abstract. ", "I. INTRODUCTION"),
        ("", "Abstract: ", "CCS Concepts: things"),
        ("0 Abstract", "", "Key words. things"),
    ],
)
def test_the_abstract_stands_between_its_heading_and_the_next(
    heading: str, first: str, after: str
) -> None:
    lines = [heading] if heading else []
    lines += [
        f"{first}We show that all of this can be",
        "read in one go. We are glad.",
        after,
        BODY,
    ]
    placed = [(100, 740, 16, "A Title of Some Length"), *set_in_lines(10, 700, *lines)]
    found = record(pdf(page(*placed)))
    assert found.text == "We show that all of this can be read in one go. We are glad."
    assert found.title == "A Title of Some Length"


def test_a_title_that_begins_with_abstract_is_no_heading() -> None:
    lines = [(100, 740, 16, "Abstract Interpretation of Things"), (100, 720, 10, "Abstract")]
    found = record(pdf(page(*lines, *set_in_lines(10, 700, "We show it, and that is enough."))))
    assert found.title == "Abstract Interpretation of Things"
    assert found.text == "We show it, and that is enough."


def test_without_a_heading_the_first_paragraphs_are_taken_and_that_is_told() -> None:
    first = [f"Line {n} of a paragraph that is long enough to be text." for n in range(6)]
    lines = [
        (100, 740, 16, "A Letter"),
        (100, 720, 10, "Ann Lee"),
        *set_in_lines(10, 690, *first),
        (100, 560, 10, "A short line."),
    ]
    found = record(pdf(page(*lines)))
    assert found.text == " ".join(first)
    assert "no heading" in found.notes[0]


def test_only_the_first_three_pages_are_read() -> None:
    blank = page((100, 700, 10, "1"))
    found = rejected(pdf(blank, blank, blank, PAPER))
    assert "neither an abstract nor a paragraph" in found.reason


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["exam-", "ples here"], "examples here"),
        (["state-of-the-", "art"], "state-of-the-art"),
        (["Bose-", "Einstein"], "Bose-Einstein"),
        (["COVID-", "19"], "COVID-19"),
        (["a self-", "made one; self-made"], "a self-made one; self-made"),
        (["soft\u00ad", "ened"], "softened"),
        (["from 3 -", "4"], "from 3 - 4"),
        (["", "two  spaces", " end "], "two spaces end"),
    ],
)
def test_lines_become_running_text(lines: list[str], text: str) -> None:
    assert joined(lines) == text


@pytest.mark.parametrize(
    ("stored", "names"),
    [
        ("Ann Lee and Bob Ray", ("Ann Lee", "Bob Ray")),
        ("Ann Lee, Bob Ray, Cy Doe", ("Ann Lee", "Bob Ray", "Cy Doe")),
        ("Ann Lee, Bob Ray, and Cy Doe", ("Ann Lee", "Bob Ray", "Cy Doe")),
        ("Lee, Ann; Ray, Bob", ("Ann Lee", "Bob Ray")),
        ("Lee, Ann", ("Ann Lee",)),
        ("alee", ()),
        ("", ()),
    ],
)
def test_the_stored_authors(stored: str, names: tuple[str, ...]) -> None:
    assert stored_authors(stored) == names


def test_control_characters_of_a_font_are_no_text() -> None:
    lines = set_in_lines(10, 700, "We show \x01\x02 that it can be read in one go.")
    found = record(pdf(page((100, 740, 10, "Abstract"), *lines), info="/Author(Ann\x02 Lee)"))
    assert found.text.replace("  ", " ") == "We show that it can be read in one go."
    assert found.meta.authors == ("Ann Lee",)


def test_an_abstract_without_end_is_cut_and_that_is_told() -> None:
    lines = [f"Sentence {n} of a text that is long enough to fill a page." for n in range(60)]
    pages = [page((100, 740, 10, "Abstract"), *set_in_lines(6, 720, *lines))]
    pages += [page(*set_in_lines(6, 740, *lines))] * 2
    found = record(pdf(*pages))
    assert 5_900 < len(found.text) <= 6_200
    assert "end of the abstract was not found" in found.notes[0]


def encrypted(password: str, algorithm: str) -> bytes:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(PAPER))))
    writer.encrypt(password, owner_password="owner", algorithm=algorithm)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_I23_a_password_is_told_and_an_empty_one_is_none(algorithm: str) -> None:
    assert "encrypted" in rejected(encrypted("secret", algorithm)).reason
    assert record(encrypted("", algorithm)).text == ABSTRACT


BROKEN = {
    "truncated": (pdf(PAPER)[:300], "damaged or cut off"),
    "only a head": (b"%PDF-1.7\n", "damaged or cut off"),
    "noise": (b"%PDF-1.7\n" + bytes(range(256)) * 400, "damaged or cut off"),
    "cyclic pages": (
        pdf(PAPER).replace(b"/Kids[6 0 R]", b"/Kids[2 0 R]"),
        "",
    ),
    "no text": (pdf(b"0 0 612 792 re f"), "no text was found"),
    "no pages": (pdf(), "no text was found"),
    "bomb": (pdf(b"\0" * 300_000_000), "unpacks to more than any page needs"),
}


@pytest.mark.parametrize(("data", "words"), BROKEN.values(), ids=BROKEN)
def test_I23_a_pdf_without_readable_text_is_told(data: bytes, words: str) -> None:
    assert words in rejected(data).reason


def test_I23_another_kind_of_file_with_the_name_of_a_pdf_is_told() -> None:
    with pytest.raises(InputError, match=r"paper\.pdf is no PDF \(it begins with <html>"):
        read(b"<html><body>Please log in.</body></html>")


def test_I23_too_many_pages_are_refused_with_the_limit() -> None:
    found = rejected(pdf(*[PAPER] * 12), Limits(pages=11))
    assert "12 pages, max_pages = 11" in found.reason


@pytest.mark.timeout(60)
def test_I23_the_reader_is_ended_at_the_limit() -> None:
    endless = pdf(b"BT /F 9 Tf " + b"(a) Tj 0 -9 Td " * 3_000_000 + b"ET")
    assert len(endless) < 500_000
    start = time.monotonic()
    found = rejected(endless, Limits(seconds=2))
    assert "max_pdf_seconds = 2" in found.reason
    assert time.monotonic() - start < 40


def test_the_reader_is_ours_wherever_it_is_run_from(tmp_path: Path) -> None:
    for name in ("pypdf.py", "json.py", "rag.py"):
        (tmp_path / name).write_text("raise SystemExit('wrong module')")
    (tmp_path / "paper.pdf").write_bytes(pdf(PAPER))
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import json, os\nfrom pathlib import Path\n"
        "from rag.corpus import find_files, read_papers\n"
        "os.chdir(sys.argv[2])\n"
        "(file,) = find_files([Path('paper.pdf')])\n"
        "print(json.dumps([paper.text for _, paper in read_papers(file.content())]))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(ROOT), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [ABSTRACT]
