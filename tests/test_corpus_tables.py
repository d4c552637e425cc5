"""JSON, JSON Lines, CSV and TSV as exports write them: what becomes a paper, and what is told."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from command import environment
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus import Content, Limits, Record, Rejected, read_papers
from rag.corpus.bibliography.fields import fields_of
from rag.corpus.bibliography.markup import without_markup
from rag.corpus.bibliography.names import authors_of, keywords_of
from rag.corpus.bibliography.values import arxiv_of, doi_of, year_of
from rag.corpus.registry import format_of
from rag.errors import InputError
from rag.schema import Metadata

OWLS = "Owls nest in old trees, and some in barns."
BATS = "Bats sleep in caves; others under roofs."
NORMAL = Limits()


def pieces(data: str | bytes, name: str, limits: Limits = NORMAL) -> list[Record | Rejected]:
    content = Content.of(data if isinstance(data, bytes) else data.encode(), name, limits)
    return list(format_of(content).read(content))


def records(data: str | bytes, name: str = "export.json") -> list[Record]:
    found = pieces(data, name)
    assert [one for one in found if isinstance(one, Rejected)] == []
    return [one for one in found if isinstance(one, Record)]


def told(data: str | bytes, name: str) -> list[str | tuple[int, int, str]]:
    """The texts of the records, and ordinal, line and reason of what is none, in order."""
    return [
        one.text if isinstance(one, Record) else (one.ordinal, one.line, one.reason)
        for one in pieces(data, name)
    ]


def refusal(data: str | bytes, name: str) -> str:
    with pytest.raises(InputError) as caught:
        pieces(data, name)
    return str(caught.value)


def only(record: object) -> Record:
    (found,) = records(json.dumps(record))
    return found


# --- The shapes of known exports -----------------------------------------------------------


def test_arxiv_metadata() -> None:
    found = only(
        {
            "id": "0704.0001",
            "authors": "C. Bal\\'azs, E. L. Berger (1), and P. M. Nadolsky ((1) ANL, (2) MSU)",
            "title": "Calculation of prompt\n  diphoton production",
            "journal-ref": "Phys.Rev.D76:013009,2007",
            "doi": "10.1103/PhysRevD.76.013009",
            "categories": "hep-ph cs.CL",
            "abstract": "  A fully differential calculation\nis presented for $\\sqrt{s}$.\n",
            "versions": [{"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"}],
            "update_date": "2008-11-26",
        }
    )
    assert found.text == "A fully differential calculation\nis presented for $\\sqrt{s}$."
    assert found.title == "Calculation of prompt\n  diphoton production"
    assert found.meta == Metadata(
        authors=("C. Balázs", "E. L. Berger", "P. M. Nadolsky"),
        year=2007,
        venue="Phys.Rev.D76:013009,2007",
        doi="10.1103/physrevd.76.013009",
        arxiv="0704.0001",
        keywords=("hep-ph", "cs.CL"),
        key="0704.0001",
    )
    parsed = {"abstract": OWLS, "authors": "x", "authors_parsed": [["Doe", "Jane", "Jr", "MIT"]]}
    assert only(parsed).meta.authors == ("Jane Doe Jr",)


def test_semantic_scholar() -> None:
    record = {
        "paperId": "649def34f8be52c8b66281af98ae884c09aef38b",
        "externalIds": {"ArXiv": "2004.07180", "DOI": "10.18653/v1/2020.acl-main.207", "ACL": None},
        "title": "SPECTER",
        "abstract": OWLS,
        "tldr": {"model": "tldr@v2.0.0", "text": "A short one."},
        "venue": "",
        "journal": {"name": "ACL", "pages": "2270-2282"},
        "year": 2020,
        "url": "https://www.semanticscholar.org/paper/649def34",
        "fieldsOfStudy": None,
        "s2FieldsOfStudy": [{"category": "Computer Science", "source": "s2"}],
        "authors": [{"authorId": "1", "name": "Arman Cohan"}, {"authorId": "2", "name": "S. Feld"}],
    }
    assert only(record).meta == Metadata(
        authors=("Arman Cohan", "S. Feld"),
        year=2020,
        venue="ACL",
        doi="10.18653/v1/2020.acl-main.207",
        arxiv="2004.07180",
        url="https://www.semanticscholar.org/paper/649def34",
        keywords=("Computer Science",),
        key="649def34f8be52c8b66281af98ae884c09aef38b",
    )
    assert told(json.dumps({**record, "abstract": None}), "s2.json") == [
        (1, 1, 'it has no abstract ("SPECTER")')
    ]


def test_openalex() -> None:
    found = only(
        {
            "id": "https://openalex.org/W1",
            "doi": "https://doi.org/10.1000/ABC",
            "title": None,
            "display_name": "On owls",
            "publication_year": 2021,
            "authorships": [
                {"author": {"id": "https://openalex.org/A1", "display_name": "Jane Doe"}},
                {"author": {"id": "https://openalex.org/A2", "display_name": "Wei Li"}},
            ],
            "primary_location": {
                "landing_page_url": "https://doi.org/10.1000/abc",
                "source": {"id": "https://openalex.org/S1", "display_name": "Ibis"},
            },
            "concepts": [{"display_name": "Owl", "score": 0.9}, {"display_name": "Nest"}],
            "abstract_inverted_index": {"Owls": [0], "nest": [1, 4], "and": [2], "again": [3]},
        }
    )
    assert found.text == "Owls nest and again nest"
    assert found.title == "On owls"
    assert found.meta == Metadata(
        authors=("Jane Doe", "Wei Li"),
        year=2021,
        venue="Ibis",
        doi="10.1000/abc",
        url="https://doi.org/10.1000/abc",
        keywords=("Owl", "Nest"),
        key="https://openalex.org/W1",
    )
    assert "inverted index" in " ".join(found.notes)


def test_crossref() -> None:
    abstract = (
        "<jats:title>Abstract</jats:title><jats:p>Owls of <jats:italic>Strix</jats:italic> &amp; "
        "kin nest.</jats:p>\n<jats:p>H<jats:sub>2</jats:sub>O is drunk if p &lt; 0.05.</jats:p>"
    )
    work = {
        "DOI": "10.1000/XYZ",
        "title": ["Owls &amp; kin"],
        "container-title": ["Ibis", "The Ibis"],
        "author": [
            {"given": "Jane", "family": "Doe", "sequence": "first"},
            {"name": "Owl Consortium", "sequence": "additional"},
        ],
        "issued": {"date-parts": [[2019, 5, 2]]},
        "URL": "http://dx.doi.org/10.1000/xyz",
        "subject": ["Zoology"],
        "abstract": abstract,
        "reference": [{"key": "r1", "article-title": "Another"}],
    }
    listed = {"status": "ok", "message": {"total-results": 1, "items": [work]}}
    single = {"status": "ok", "message-type": "work", "message": work}
    for answer in (listed, single, work, [work]):
        (found,) = records(json.dumps(answer))
        assert found.text == "Owls of Strix & kin nest.\nH2O is drunk if p < 0.05."
        assert found.notes == ("JATS or HTML tags removed",)
        assert found.meta == Metadata(
            authors=("Jane Doe", "Owl Consortium"),
            year=2019,
            venue="Ibis",
            doi="10.1000/xyz",
            url="http://dx.doi.org/10.1000/xyz",
            keywords=("Zoology",),
        )


def test_csl_json() -> None:
    found = only(
        {
            "id": "doe2020",
            "title": "On owls",
            "author": [
                {"family": "Berg", "given": "Jan", "non-dropping-particle": "van den"},
                {"literal": "Owl Consortium"},
            ],
            "issued": {"date-parts": [["2020"]]},
            "container-title": "Ibis",
            "keyword": "owls; nests",
            "abstract": OWLS,
        }
    )
    authors = ("Jan van den Berg", "Owl Consortium")
    expected = Metadata(authors, 2020, "Ibis", keywords=("owls", "nests"), key="doe2020")
    assert found.meta == expected


def test_both_forms_of_openreview_give_plain_words() -> None:
    notes = [
        {
            "id": "v1",
            "content": {"title": "Old Style", "abstract": "Text one.", "authors": ["A B"]},
        },
        {
            "id": "v2",
            "cdate": 1577836800000,  # 2020-01-01T00:00:00Z
            "content": {
                "title": {"value": "New Style"},
                "abstract": {"value": "Text two."},
                "authors": {"value": ["C D", "E F"]},
                "venue": {"value": "ICLR 2020 Poster"},
                "keywords": {"value": ["x", "y"]},
                "pdf": {"value": "/pdf/1.pdf"},
            },
        },
        {"id": "v3", "content": {"title": {"value": "No Abstract"}, "venueid": {"value": "W"}}},
    ]
    one, two, three = pieces(json.dumps({"notes": notes, "count": 3}), "notes.json")
    assert isinstance(one, Record)
    assert (one.title, one.text, one.meta) == (
        "Old Style",
        "Text one.",
        Metadata(("A B",), key="v1"),
    )
    assert isinstance(two, Record)
    assert (two.title, two.text) == ("New Style", "Text two.")
    assert two.meta == Metadata(
        ("C D", "E F"), 2020, "ICLR 2020 Poster", keywords=("x", "y"), key="v2"
    )
    assert isinstance(three, Rejected)
    assert three.reason == 'it has no abstract ("No Abstract")'
    assert "value" not in f"{one}{two}{three}"
    assert records(json.dumps(notes[1]))[0].meta == two.meta


def test_beir_and_scifact() -> None:
    found = only({"_id": "4983", "title": "Owls", "text": OWLS, "metadata": {"url": ""}})
    assert (found.text, found.title, found.meta) == (OWLS, "Owls", Metadata(key="4983"))
    found = only({"doc_id": 4983, "title": "Owls", "abstract": ["One.", "Two."]})
    assert (found.text, found.meta.key) == ("One. Two.", "4983")
    assert found.notes == ("text joined from 2 parts",)


def test_a_labelled_abstract_keeps_its_labels() -> None:
    parts = [{"label": "AIM", "text": "To count."}, {"label": "RESULT", "text": "Nine."}]
    assert only({"title": "T", "abstract": parts}).text == "AIM: To count.\nRESULT: Nine."


# --- Values --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("A. Berg, C. Doe and E. Foo", ["A. Berg", "C. Doe", "E. Foo"]),
        ("A. B, C. D and E. F", ["A. B", "C. D", "E. F"]),
        ("A. Berg, C. Doe, and E. Foo", ["A. Berg", "C. Doe", "E. Foo"]),
        ("Ann Berg; Carl Doe", ["Ann Berg", "Carl Doe"]),
        ("Berg, Ann; Doe, Carl", ["Ann Berg", "Carl Doe"]),
        ("Berg, Ann and Doe, Carl", ["Ann Berg", "Carl Doe"]),
        ("Ann Berg & Carl Doe", ["Ann Berg", "Carl Doe"]),
        ("Berg, Ann", ["Ann Berg"]),
        ("van den Berg, Ann", ["Ann van den Berg"]),
        ("Berg, A., Doe, C. D.", ["A. Berg", "C. D. Doe"]),
        ("Ann Berg, Jr., Carl Doe", ["Ann Berg Jr.", "Carl Doe"]),
        ("Ann Berg et al.", ["Ann Berg et al."]),
        ("Ann Berg, Carl Doe, et al.", ["Ann Berg", "Carl Doe"]),
        ("Ann Berg", ["Ann Berg"]),
        ('Paul Erd\\H{o}s and Zo\\"e M&uuml;ller', ["Paul Erdős", "Zoë Müller"]),
        ("['Ann Berg', \"Carl O'Doe\"]", ["Ann Berg", "Carl O'Doe"]),
        ('["Ann Berg", "Carl Doe"]', ["Ann Berg", "Carl Doe"]),
        ("[{'name': 'Ann Berg'}, {'name': None}]", ["Ann Berg"]),
        (["Berg, Ann", "Carl Doe", None, "nan", ""], ["Ann Berg", "Carl Doe"]),
        ([{"creatorType": "editor", "lastName": "Doe"}, {"lastName": "Berg"}], ["Berg"]),
        ([{"first": "Ann", "middle": ["B."], "last": "Berg", "suffix": ""}], ["Ann B. Berg"]),
        ({"author": [{"fullName": "Berg A"}]}, ["Berg A"]),
        ({"value": ["Ann Berg"]}, ["Ann Berg"]),
        ([["Berg", "Ann", ""], ["Doe", "Carl", "III"]], ["Ann Berg", "Carl Doe III"]),
        ([True, 7.5, {"unknown": {"deeper": 1}}], ["7.5"]),
        (None, []),
        ("None", []),
        ("山田太郎; 鈴木花子", ["山田太郎", "鈴木花子"]),
    ],
)
def test_authors_are_written_first_name_first(value: object, names: list[str]) -> None:
    assert list(authors_of(value)) == names


@pytest.mark.parametrize(
    ("value", "year"),
    [
        (2021, 2021),
        (2021.0, 2021),
        ("2021", 2021),
        ("2021.0", 2021),
        ("2021-05-03T00:00:00Z", 2021),
        ("3 May 2021", 2021),
        ("20210503", 2021),
        ("c. 1999", 1999),
        ("2019/20", 2019),
        ("[1999]", 1999),
        ({"date-parts": [[2021, 5]]}, 2021),
        ({"date-parts": [[None]]}, None),
        ({"value": "2021"}, 2021),
        ([{"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"}], 2007),
        (1577836799000, 2019),  # one second before 2020 in UTC
        (20233, None),
        ("20233", None),
        ("n.d.", None),
        ("forthcoming", None),
        (0, None),
        (21, None),
        ("0021", None),
        (float("nan"), None),
        (float("inf"), None),
        (True, None),
        ([], None),
        ([[]], None),
        ("²⁰²¹", None),
        ("9" * 5000, None),
    ],
)
def test_a_year_is_one_or_none(value: object, year: int | None) -> None:
    assert year_of(value) == year


@pytest.mark.parametrize("year", ["20233", "n.d.", 20233])
def test_a_value_that_is_no_year_is_left_out_and_told(year: object) -> None:
    found = only({"abstract": OWLS, "year": year})
    assert found.meta.year is None
    assert found.notes == (f'"{year}" is not a year and was left out',)
    assert only({"abstract": OWLS, "year": year, "published": "2020-01-02"}).meta.year == 2020


@pytest.mark.parametrize(
    ("doi", "bare"),
    [
        ("10.1000/XYZ", "10.1000/xyz"),
        ("https://doi.org/10.1000/xyz", "10.1000/xyz"),
        ("http://dx.doi.org/10.1000/xyz", "10.1000/xyz"),
        ("doi: 10.1000/x(y)z;2", "10.1000/x(y)z;2"),
        ("DOI:10.1000/xyz.", "10.1000/xyz"),
        ("10.1000", ""),
        ("none", ""),
        (10.1, ""),
        (["10.1000/xyz"], "10.1000/xyz"),
    ],
)
def test_a_doi_is_bare(doi: object, bare: str) -> None:
    assert doi_of(doi) == bare


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("2401.01234", "2401.01234"),
        ("2401.01234v3", "2401.01234"),
        ("arXiv:2401.01234v1 [cs.CL]", "2401.01234"),
        ("http://arxiv.org/abs/2401.01234v2", "2401.01234"),
        ("https://arxiv.org/pdf/2401.01234.pdf", "2401.01234"),
        ("10.48550/arXiv.2401.01234", "2401.01234"),
        ("https://doi.org/10.48550/ARXIV.2401.01234", "2401.01234"),
        ("math.GT/0309136", "math/0309136"),
        ("hep-th/9901001v2", "hep-th/9901001"),
        ("2413.01234", ""),  # there is no 13th month
        ("figures/1234567", ""),
        ("1234.5", ""),
        ("10.1000/xyz", ""),
        (None, ""),
    ],
)
def test_an_arxiv_id_is_without_prefix_and_version(value: object, number: str) -> None:
    assert arxiv_of(value) == number


def test_a_doi_of_arxiv_is_an_arxiv_id() -> None:
    meta = only({"abstract": OWLS, "doi": "10.48550/arXiv.2401.01234"}).meta
    assert meta == Metadata(arxiv="2401.01234")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("owls; barn owls, nests", ["owls", "barn owls, nests"]),
        ("owls, nests, owls", ["owls", "nests"]),
        ("cs.CL cs.AI", ["cs.CL", "cs.AI"]),
        ("machine learning", ["machine learning"]),
        ("['owls', 'nests']", ["owls", "nests"]),
        ([{"display_name": "Owl"}, {"display_name": None}], ["Owl"]),
        (['K\\"onig', "$L_1$ norm"], ["König", "$L_1$ norm"]),
        ("nan", []),
    ],
)
def test_keywords(value: object, words: list[str]) -> None:
    assert list(keywords_of(value)) == words


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("<p>One.</p><p>Two.</p>", "One.\nTwo."),
        ("<i>Strix</i> nests.", "Strix nests."),
        ("&lt;jats:p&gt;One &amp;amp; two.&lt;/jats:p&gt;", "One & two."),
        ("<h4>Aim</h4>To see.<h4>Result</h4>We saw.", "Aim\nTo see.\nResult\nWe saw."),
        ("One.<br/>Two <b>bold</b>.", "One.\nTwo bold."),
        (
            "<jats:p>Let <jats:alternatives><jats:tex-math>$x$</jats:tex-math><mml:math><mml:mi>x"
            "</mml:mi></mml:math></jats:alternatives> be.</jats:p>",
            "Let $x$ be.",
        ),
    ],
)
def test_markup_is_taken_out_of_a_text_that_is_markup(text: str, plain: str) -> None:
    assert without_markup(text) == (plain, ("JATS or HTML tags removed",))


@pytest.mark.parametrize(
    "text",
    [
        "If a < b and c > d &amp; so on.",
        "The tokens <s> and </s>, and <think> to </think>.",
        "We parse <p> tags.",
        "x<p and y>0, p < 0.05",
    ],
)
def test_a_text_that_is_no_markup_stays_as_it_is(text: str) -> None:
    assert without_markup(text) == (text, ())
    assert only({"abstract": text}).text == text


def test_what_is_missing_is_never_shown() -> None:
    nothing = {"title": None, "authors": None, "year": None, "venue": float("nan"), "doi": "null"}
    found = only({"id": "n", **nothing, "abstract": "Owl nests.", "keywords": [None, "None"]})
    assert (found.title, found.meta, found.notes) == (None, Metadata(key="n"), ())
    table = "id,title,authors,year,venue,abstract\nn,nan,None,NaN,<NA>,Owl nests.\n"
    (row,) = records(table, "t.csv")
    assert (row.title, row.meta, row.notes) == (None, Metadata(key="n"), ())


def test_no_abstract_is_told_and_no_title_is_taken() -> None:
    rows = [
        {"paperId": "1", "title": "Has Both", "abstract": "Text."},
        {"paperId": "2", "title": "No Abstract", "abstract": None},
        {"paperId": "3", "title": "", "abstract": "Orphan text."},
    ]
    content = Content.of(json.dumps({"data": rows}).encode(), "api.json")
    one, two, three = read_papers(content)
    assert not isinstance(one, Rejected)
    assert (one[1].title, one[1].text, one[1].title_derived) == ("Has Both", "Text.", False)
    assert isinstance(two, Rejected)
    assert two.reason == 'it has no abstract ("No Abstract")'
    assert two.remedy == "Export it with its abstract, or add one."
    assert not isinstance(three, Rejected)
    assert (three[1].title, three[1].title_derived) == ("Orphan text", True)


@pytest.mark.parametrize("name", ["b.json", "b.jsonl", "b.txt"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
def test_a_mark_before_the_first_field_is_no_part_of_it(name: str, encoding: str) -> None:
    data = '{"title":"Owl Nests","abstract":"Short."}'.encode(encoding)
    (found,) = records(data, name)
    assert (found.title, found.text, found.offset) == ("Owl Nests", "Short.", 33)
    (found,) = records("Title,Abstract\r\nOwl Nests,Short.\r\n".encode(encoding), "b.csv")
    assert (found.title, found.text, found.offset) == ("Owl Nests", "Short.", 26)


@pytest.mark.parametrize("url", ["javascript:alert(1)", "/pdf/1.pdf", "file:///etc/passwd", 7, {}])
def test_only_an_address_of_the_web_is_taken(url: object) -> None:
    assert only({"abstract": OWLS, "url": url}).meta.url == ""
    both = {"abstract": OWLS, "url": url, "pdf_url": "https://e.org/a_b~c.pdf?x=1&amp;y=2"}
    assert only(both).meta.url == "https://e.org/a_b~c.pdf?x=1&y=2"


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        (1984, "1984"),
        (19.5, "19.5"),
        (True, None),
        ({"x": {"y": 1}}, None),
        ([], None),
        ("-", None),
    ],
)
def test_a_title_is_text_or_a_number(title: object, shown: str | None) -> None:
    assert only({"title": title, "abstract": OWLS}).title == shown


@pytest.mark.parametrize("name", ["Abstract", "ABSTRACT", "paper_abstract", "Abstract Note", "AB"])
def test_names_are_compared_without_case_and_signs(name: str) -> None:
    assert fields_of({name: OWLS, "Paper-Title": "Owls"}).text == OWLS
    assert fields_of({name: OWLS, "Paper-Title": "Owls"}).title == "Owls"


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
_names = st.sampled_from(
    "title abstract text authors author year issued venue doi id url keywords content source "
    "externalIds primary_location versions abstract_inverted_index".split()
)


@given(st.dictionaries(_names, _json, max_size=6))
def test_any_object_gives_plain_values(record: dict[str, object]) -> None:
    found = fields_of(record)
    meta = found.meta
    shown = [found.text, found.title or "", meta.venue, meta.key, *meta.authors, *meta.keywords]
    assert all(isinstance(one, str) and one == one.strip() for one in shown)
    assert meta.year is None or 1450 <= meta.year <= 2100


# --- JSON files ----------------------------------------------------------------------------

PAPERS = [{"title": "Owls", "abstract": OWLS}, {"title": "Bats", "abstract": BATS}]


@pytest.mark.parametrize(
    "value",
    [
        PAPERS,
        *({name: PAPERS} for name in ["results", "data", "papers", "notes", "items", "Records"]),
        {"message": {"total": 2, "items": PAPERS}, "status": "ok"},
        {"hits": {"total": 2, "hits": [{"_id": "x", "_source": paper} for paper in PAPERS]}},
        {"resultList": {"result": PAPERS}},
        {"title": "My library", "description": "All of it", "mine": PAPERS},
        {"authors": [{"name": "A"}], "mine": PAPERS},
        {"accepted": PAPERS[:1], "meta": {"n": 2}, "rejected": PAPERS[1:]},
        {"x1": PAPERS[0], "x2": PAPERS[1]},
        {"rows": [{"row_idx": n, "row": paper} for n, paper in enumerate(PAPERS)]},
        [{"data": paper} for paper in PAPERS],
    ],
    ids=str,
)
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.txt"])
def test_records_are_found_where_they_are(value: object, indent: int | None, name: str) -> None:
    data = json.dumps(value, indent=indent)
    found = records(data, name)
    assert [(one.ordinal, one.title, one.text) for one in found] == [
        (1, "Owls", OWLS),
        (2, "Bats", BATS),
    ]
    assert all(data[one.offset :].startswith(one.text) for one in found)
    for one in found:
        assert data.splitlines()[one.line - 1].lstrip(" [").startswith(("{", '"x'))


def test_the_member_of_an_object_names_its_record() -> None:
    found = records(json.dumps({"1909.00694": PAPERS[0], "b": {**PAPERS[1], "id": "own"}}))
    assert [one.meta.key for one in found] == ["1909.00694", "own"]


@pytest.mark.parametrize(
    "paper",
    [
        PAPERS[0],
        {**PAPERS[0], "authors": [{"name": "A"}], "data": [{"text": "no"}]},
        {"id": 1, "content": PAPERS[0]},
        {
            "title": "Owls",
            "abstract": [{"label": "", "text": OWLS}],
            "references": [{"title": "x"}],
        },
        {
            "title": "Owls",
            "abstract_inverted_index": {
                w: [i] for i, w in enumerate(OWLS.split()) if i not in (2, 7)
            }
            | {"in": [2, 7]},
        },
    ],
)
def test_a_file_may_hold_one_record(paper: object) -> None:
    (found,) = records(json.dumps(paper, indent=1))
    assert (found.title, found.text) == ("Owls", OWLS)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("\n".join(map(json.dumps, PAPERS)), "lines.json"),
        ("\n".join(map(json.dumps, PAPERS)), "lines.txt"),
        ("\r\n\r\n".join(map(json.dumps, PAPERS)), "lines.jsonl"),
        (json.dumps(PAPERS), "array.jsonl"),
        (json.dumps(PAPERS, indent=2), "array.ndjson"),
        (json.dumps({"papers": PAPERS}, indent=2), "object.jsonl"),
        (json.dumps({"papers": PAPERS, "n": [{}] * 4000}), "object.jsonl"),
        ("\n".join(json.dumps(paper, indent=2) for paper in PAPERS), "one after another.jsonl"),
        ("\n".join(json.dumps(paper | {"x": "y" * 9000}) for paper in PAPERS), "long.jsonl"),
        ("\n".join(json.dumps(paper | {"x": "y" * 9000}) for paper in PAPERS), "long.json"),
        (json.dumps(PAPERS[:1]) + "\n" + json.dumps(PAPERS[1:]), "pages.json"),
        (json.dumps({"data": PAPERS[:1]}) + json.dumps({"data": PAPERS[1:]}), "pages.json"),
        (json.dumps({"data": PAPERS[:1]}) + "\n" + json.dumps({"data": PAPERS[1:]}), "p.jsonl"),
    ],
)
def test_lines_and_lists_are_told_apart_by_content(data: str, name: str) -> None:
    assert [one.text for one in records(data, name)] == [OWLS, BATS]


GOOD = json.dumps(PAPERS[0])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (f'[{GOOD},\n{{"abstract": }},\n{GOOD}]', (2, 2, "not valid JSON at line 2, column 14")),
        (
            f'[{GOOD},\n{{"abstract":\n "x" "y"}},{GOOD}]',
            (2, 2, "not valid JSON at line 3, column 6"),
        ),
        (f"[{GOOD}, 7, {GOOD}]", (2, 1, "not a JSON object")),
        (f"[{GOOD}, null, {GOOD}]", (2, 1, "not a JSON object")),
        (f'[{GOOD}, ["x"], {GOOD}]', (2, 1, "not a JSON object")),
        (f"[{GOOD}, {{}}, {GOOD}]", (2, 1, "no text in any of abstract, ")),
        (f'[{GOOD}, {{"x": {"[" * 200_000}{"]" * 200_000}}}, {GOOD}]', (2, 1, "nested too deeply")),
        (f"[{GOOD}, {'[' * 200_000}{']' * 200_000}, {GOOD}]", (2, 1, "nested too deeply")),
        (f'[{GOOD}, {{"abstract": "\\x41"}}, {GOOD}]', (2, 1, "not valid JSON at line 1, column")),
    ],
)
def test_I04_I22_a_bad_record_of_a_list_is_told_and_the_next_ones_are_read(
    data: str, expected: tuple[int, int, str]
) -> None:
    first, bad, last = told(data, "a.json")
    assert first == last == OWLS
    assert isinstance(bad, tuple)
    assert bad[:2] == expected[:2]
    assert bad[2].startswith(expected[2])


@pytest.mark.parametrize(
    ("tail", "line", "reason"),
    [
        ('\n{"abstract": "torn', 2, "the file ends inside what begins in line 2, column 1"),
        ("", 1, "the file ends at line 1, column 78, where a value or the end of the list should"),
        ("\n}", 2, "not valid JSON at line 2, column 1: a value or the end of the list should be"),
        ("\nxyz]", 2, "not valid JSON at line 2, column 1: a value should be there"),
        ("\n" + '{"a":' * 200_000, 2, "the file ends inside what begins in line 2, column 1"),
    ],
)
def test_what_was_read_before_the_break_is_kept(tail: str, line: int, reason: str) -> None:
    assert len(f"[{GOOD},") == 77
    first, rest = told(f"[{GOOD},{tail}", "a.json")
    assert first == OWLS
    assert isinstance(rest, tuple)
    assert rest[:2] == (2, line)
    assert rest[2].startswith(reason)
    assert rest[2].endswith("; the rest is not read")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            '[{"abstract": "torn',
            ["a.json is not readable as JSON", "ends inside", "line 1, column 2"],
        ),
        ("{", ["a.json is not readable as JSON", "ends inside", "line 1, column 1"]),
        ("[" * 200_000, ["a.json is not readable as JSON", "ends inside"]),
        ('{"a":' * 200_000, ["a.json", "ends inside"]),
        ("hello there", ["a.json is not readable as JSON", "line 1, column 1"]),
        (
            '{"n": 7, "x": [1, 2]}',
            ["holds no records that are understood", "its names: n, x", "abstract"],
        ),
        (
            '{"title": {"0": "Owls"}, "abstract": {"0": "By column."}}',
            ["by its columns", "records"],
        ),
    ],
)
def test_a_file_without_records_is_refused_in_one_line(data: str, words: list[str]) -> None:
    message = refusal(data, "a.json")
    assert all(word in message for word in words), message
    assert "\n" not in message
    assert len(message) < 400


def test_a_torn_line_loses_itself_only_and_is_told_by_its_own_number() -> None:
    lines = [GOOD, '{"abstract": "torn', '{"abstract": "y"', GOOD]
    assert told("\n".join(lines), "a.jsonl") == [
        OWLS,
        (2, 2, "not valid JSON at line 2, column 14: Unterminated string starting at"),
        (3, 3, "not valid JSON at line 3, column 17: Expecting ',' delimiter"),
        OWLS,
    ]


def test_the_offset_is_that_of_the_value() -> None:
    data = '[{"title": "x", "abstract": "a"}, {"abstract": "one \\n two"}]'
    one, two = records(data)
    assert (one.offset, two.offset) == (29, 0)  # the second is not in the file as it is


def test_an_empty_list_holds_no_papers() -> None:
    with pytest.raises(InputError, match=r"a\.json holds no papers"):
        list(read_papers(Content.of(b"[]", "a.json")))


def test_not_a_number_and_raw_line_ends_are_taken_as_pandas_and_people_write_them() -> None:
    (found,) = records('[{"abstract": "One\ntwo.", "year": NaN, "venue": Infinity},]')
    assert (found.text, found.meta, found.offset) == ("One\ntwo.", Metadata(), 15)


def test_a_record_over_the_limit_is_told_by_it() -> None:
    limits = Limits(record_chars=100)
    large = {"abstract": OWLS, "references": ["x" * 100] * 60}
    one, two, three = pieces(json.dumps([PAPERS[0], large, PAPERS[1]]), "a.json", limits)
    assert isinstance(one, Record)
    assert isinstance(three, Record)
    assert isinstance(two, Rejected)
    assert two.reason == "over 5,000 characters, 50 times max_record_chars"


@given(
    st.lists(st.dictionaries(st.text(), _json, max_size=3), max_size=6),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_each_element_is_read_at_its_line_wherever_it_stands(
    values: list[object], indent: int | None, ascii_only: bool
) -> None:
    data = json.dumps(values, indent=indent, ensure_ascii=ascii_only)
    data = data.encode("utf-8", "replace").decode()
    found = pieces(data, "a.json")
    assert [one.ordinal for one in found] == list(range(1, len(values) + 1))
    lines = data.split("\n")
    assert all(lines[one.line - 1].lstrip().startswith(("[", "{")) for one in found)


def test_a_long_list_on_one_line_is_read_in_constant_memory(tmp_path: Path) -> None:
    """40 MB in one line; holding it as text takes over 40 MB, as objects far more."""
    path = tmp_path / "large.json"
    record = json.dumps({"title": "Owls", "abstract": "Owls nest. " * 100, "x": ['[{\\"'] * 20})
    with path.open("w") as stream:
        stream.write('{"meta": {"n": 1}, "results": [' + record)
        for _ in range(40_000_000 // len(record)):
            stream.write("," + record)
        stream.write("]}")
    code = """if True:
        import re, sys
        from pathlib import Path
        from rag.corpus import find_files
        from rag.corpus.registry import format_of
        def peak():  # of this process; what getrusage tells goes back to the parent's
            return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
        content = find_files([Path(sys.argv[1])])[0].content()
        before = peak()
        number = sum(1 for one in format_of(content).read(content) if one.text)
        print(number, (peak() - before) // 1024)
    """
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    number, megabytes = map(int, done.stdout.split())
    assert number == 40_000_000 // len(record) + 1
    assert megabytes < 20


# --- Tables --------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_table_is_read_whatever_divides_its_cells(delimiter: str, name: str, end: str) -> None:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end)
    writer.writerow(["", "Paper Title", "Abstract", "Author(s)", "Year"])
    writer.writerow(["0", "Owls, bats; and | more", OWLS, "Doe, Jane; Li, Wei", "2020"])
    writer.writerow(
        ["1", 'The "barn"', f"One\tline{end}and another: {BATS}", "Jane Doe", "c. 1999"]
    )
    data = stream.getvalue()
    one, two = records(data, name)
    assert (one.ordinal, one.line, one.title, one.text) == (1, 2, "Owls, bats; and | more", OWLS)
    assert one.meta == Metadata(("Jane Doe", "Wei Li"), 2020)
    assert (two.ordinal, two.line, two.title) == (2, 3, 'The "barn"')
    assert two.text == f"One\tline{end}and another: {BATS}"
    assert two.meta == Metadata(("Jane Doe",), 1999)
    assert data[one.offset :].startswith(OWLS)
    assert data[two.offset :].startswith(two.text)


def test_line_numbers_count_lines_and_ordinals_rows() -> None:
    data = (
        "title,abstract\n"
        '"Owls\nand\nkin",One.\n'  # lines 2 to 4
        "\n"
        "too,many,cells\n"  # line 6
        "too few\n"  # line 7
        ",\n"
        "No text,\n"  # line 9
        "Bats,Two.,\n"  # line 10, with a delimiter at its end
    )
    found = pieces(data, "t.csv")
    assert [(one.ordinal, one.line) for one in found] == [(1, 2), (2, 6), (3, 7), (4, 9), (5, 10)]
    reasons = [one.reason for one in found if isinstance(one, Rejected)]
    assert reasons == [
        "3 cells, but the header has 2",
        "1 cell, but the header has 2",
        'it has no abstract ("No text")',
    ]
    assert [one.text for one in found if isinstance(one, Record)] == ["One.", "Two."]


def test_an_open_quotation_mark_loses_its_own_row_only() -> None:
    rows = [f'"Paper {n}","Abstract {n}."\n' for n in range(50)]
    rows[3] = '"Torn,Abstract 3.\n'
    found = told("title,abstract\n" + "".join(rows), "t.csv")
    assert [one for one in found if isinstance(one, str)] == [
        f"Abstract {n}." for n in range(50) if n != 3
    ]
    assert found[3] == (4, 5, found[3][2])
    at_the_end = told(f'title,abstract\nOwls,"{OWLS}"\nBats,"torn', "t.csv")
    assert at_the_end == [OWLS, (2, 3, "a quotation mark is opened and not closed")]


def test_a_quotation_mark_that_is_not_doubled_is_told_with_its_line() -> None:
    data = f'title,abstract\nOwls,"He said "hoo" twice."\nBats,"{BATS}"\n'
    bad, good = pieces(data, "t.csv")
    assert isinstance(bad, Rejected)
    assert (bad.line, bad.remedy) == (2, "Double the quotation marks inside a cell, or shorten it.")
    assert "quotation mark stands inside a quoted cell" in bad.reason
    assert isinstance(good, Record)
    assert good.text == BATS


def test_quotation_marks_of_a_tsv_without_quoting_are_text() -> None:
    data = f'title\tabstract\nOwls\t"Hoo" is said.\nBats\t{BATS}\n"Torn\tText.\n'
    assert told(data, "t.tsv") == ['"Hoo" is said.', BATS, "Text."]


def test_a_cell_may_be_as_long_as_a_record() -> None:
    text = "word " * 40_000  # 200,000 characters; csv itself stops at 131,072
    (found,) = records(f"title,abstract\nOwls,{text}\n", "t.csv")
    assert found.text == text.strip()


@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
def test_a_table_without_abstracts_is_refused_with_its_columns(name: str) -> None:
    message = refusal("Title,DOI,Cited by\nOwls,10.1/x,7\n", name)
    assert message.startswith(f"{name} has no column for abstracts (its columns: Title, DOI, Cited")
    assert "abstract, summary" in message
    assert "\n" not in message


def test_excels_hint_is_no_row() -> None:
    (found,) = records(f"sep=;\ntitle;abstract\nOwls;{OWLS}\n", "t.csv")
    assert (found.title, found.text, found.line) == ("Owls", OWLS, 3)


@pytest.mark.parametrize(
    "prose",
    [
        "Abstract, we think, is the text.\n\nA second paragraph, with commas, follows here.",
        "Owls, bats and foxes are studied, and the text, abstract as it is, is long enough.",
        "Abstract\n\nOwls, bats and foxes are studied here, at night.",
        "Summary; " + "a part of a sentence that is longer than a name would ever be, " * 2,
        "[Abstract] Owls are studied, with care.",
        "[1] Owls, bats. We study them.",
        "{\\bf Owls} are studied, and bats, with care.",
    ],
)
def test_prose_is_no_table_and_no_json(prose: str) -> None:
    assert format_of(Content.of(prose.encode(), "notes.txt")).name == "plain text"


_cell = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).map(str.strip)


@given(st.lists(st.tuples(_cell, _cell), min_size=1, max_size=5), st.sampled_from(",;\t|"))
def test_what_is_written_by_csv_is_read_to_the_character(
    rows: list[tuple[str, str]], delimiter: str
) -> None:
    rows = [(f"T {title}", f"A {text}".strip()) for title, text in rows]
    rows = [row for row in rows if without_markup(row[0])[1] + without_markup(row[1])[1] == ()]
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter).writerows([("title", "abstract"), *rows])
    found = records(stream.getvalue(), "t.csv")
    assert [(one.title, one.text) for one in found] == [(t.strip(), a) for t, a in rows]
