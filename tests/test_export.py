"""Exports are read back by other libraries than ours: pybtex, bibtexparser, rispy, html.parser."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import jsonschema
import pytest
import rispy
from bibtexparser.entrypoint import parse_string as parse_bibtex
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from papers_to_export import answer, cited, claim, reference
from pybtex.database import parse_string
from pylatexenc.latex2text import LatexNodes2Text

from rag.errors import InputError
from rag.exporting import (
    FORMATS,
    Reference,
    as_form,
    export_of,
    read_answers,
    rendered,
    selection_of,
)
from rag.text import legible

MUELLER = reference(
    title="The Normalized Preference: a 5% gain in R&D_{x} with $\\alpha_{ij}$",
    authors=("Zoë Müller", "Anna van der Berg", "Sam Reed Jr.", "The Owl Team", "王小明"),
    year=2020,
    venue="Journal of Owls & Trees",
    doi="10.1000/owl_(1)",
    keywords=("owls", "trees"),
    url="https://example.org/a_b?c=1&d=50%25",
)
PREPRINT = reference("11" * 8, "How Owls Hunt", authors=("Li Wei",), year=2024, arxiv="2401.01234")
MEETING = reference("22" * 8, "Nests", authors=("A B",), year=2023, venue="NeurIPS 2023")
BARE = reference("33" * 8, "Owls nest in trees", title_derived=True)
ALL = (MUELLER, PREPRINT, MEETING, BARE)
HOSTILE = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) ![y](http://e.vil/z.png) <!--"


def papers(*references: Reference) -> Any:
    return selection_of(references)


# --- Keys ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paper", "key"),
    [
        (MUELLER, "mueller2020normalized"),
        (PREPRINT, "wei2024owls"),
        (BARE, "paper-" + "33" * 8),
        (reference(authors=("Anna van der Berg",), year=1999), "vanderberg1999owl"),
        (reference(authors=("Müller",), year=1999, title="Über Eulen"), "mueller1999ueber"),
        (reference(authors=("王小明",), year=1999), "paper-00aa11bb22cc33dd"),
        (reference(authors=("A B",)), "paper-00aa11bb22cc33dd"),
        (reference(authors=("A Bee",), year=2001, title="$k$-means ++"), "bee2001means"),
        (reference(authors=("A Bee",), year=2001, title="???"), "bee2001"),
    ],
)
def test_a_key_is_author_year_word_or_the_id(paper: Reference, key: str) -> None:
    assert papers(paper).references[0].key == key


def test_two_papers_of_the_same_key_have_their_ids_behind_it_in_whatever_order() -> None:
    one, two = (reference(name * 8, authors=("A Bee",), year=2001) for name in ("aa", "bb"))
    keys = {r.paper_id: r.key for r in papers(one, two).references}
    assert keys == {"aa" * 8: "bee2001owl-" + "aa" * 8, "bb" * 8: "bee2001owl-" + "bb" * 8}
    assert {r.paper_id: r.key for r in papers(two, one).references} == keys


# --- BibTeX ----------------------------------------------------------------------------------


def test_bibtex_is_read_back_by_pybtex() -> None:
    found = parse_string(rendered(papers(*ALL), "bibtex"), "bibtex").entries
    assert list(found) == [one.key for one in papers(*ALL).references]
    entry = found["mueller2020normalized"]
    assert entry.type == "article"
    people = [(str(p), p.last_names) for p in entry.persons["author"]]
    assert people[0] == ("Müller, Zoë", ["Müller"])
    assert entry.persons["author"][1].prelast_names == ["van", "der"]
    assert entry.persons["author"][2].lineage_names == ["Jr."]
    assert len(people) == 5
    assert found["wei2024owls"].fields["eprint"] == "2401.01234"
    assert found["b2023nests"].fields["booktitle"] == "NeurIPS 2023"
    assert "title derived from the abstract" in found["paper-" + "33" * 8].fields["note"]


def test_bibtex_is_read_back_by_bibtexparser_and_latex() -> None:
    library = parse_bibtex(rendered(papers(*ALL), "bibtex"))
    assert not library.failed_blocks
    assert len(library.entries) == 4
    fields = {name: field.value for name, field in library.entries[0].fields_dict.items()}
    latex = LatexNodes2Text(math_mode="verbatim", strict_latex_spaces=False)
    title = re.sub(r"[{}]", "", latex.latex_to_text(fields["title"]))
    assert title == "The Normalized Preference: a 5% gain in R&D_x with $\\alpha_ij$"
    assert latex.latex_to_text(fields["journal"]) == "Journal of Owls & Trees"
    assert fields["doi"] == "10.1000/owl_(1)"
    assert fields["url"] == "https://example.org/a_b?c=1&d=50%25"
    assert "$\\alpha_{ij}$" in fields["title"]


@settings(deadline=None)
@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=20), max_size=3))
def test_bibtex_of_any_text_is_one_entry(title: str, authors: list[str]) -> None:
    named = tuple(one for one in authors if legible(one))
    text = rendered(papers(reference(title=title, authors=named, venue=title)), "bibtex")
    library = parse_bibtex(text)
    assert not library.failed_blocks
    assert len(library.entries) == 1
    assert len(parse_string(text, "bibtex").entries) == 1


# --- RIS -------------------------------------------------------------------------------------


def test_ris_is_read_back_by_rispy() -> None:
    found = rispy.loads(rendered(papers(*ALL), "ris"))
    assert [one["type_of_reference"] for one in found] == ["JOUR", "GEN", "CONF", "GEN"]
    first = found[0]
    assert first["authors"] == [
        "Müller, Zoë",
        "van der Berg, Anna",
        "Reed, Sam, Jr.",
        "The Owl Team",
        "王小明",
    ]
    assert first["title"] == MUELLER.title
    assert first["year"] == "2020"
    assert first["doi"] == "10.1000/owl_(1)"
    assert first["keywords"] == ["owls", "trees"]
    assert found[1]["accession_number"] == "arXiv:2401.01234"
    assert found[1]["urls"] == ["https://arxiv.org/abs/2401.01234"]
    assert "title derived" in found[3]["notes"][0]


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_text_begins_a_value_of_its_own_in_ris(text: str) -> None:
    hostile = f"{text}\nTY  - JOUR\r\nER  - \x0bAU  - Nobody\u2028{text}"
    written = rendered(papers(reference(title=hostile, abstract=hostile, venue=hostile)), "ris")
    (found,) = rispy.loads(written)
    assert found["title"] == legible(hostile)
    assert "authors" not in found


# --- CSL-JSON --------------------------------------------------------------------------------

# The part of the published schema of CSL 1.0.2 data that holds the names that are used here.
NAME = {"type": "object", "additionalProperties": False, "properties": {
    part: {"type": "string"} for part in ("family", "given", "suffix", "literal")}}  # fmt: skip
STRINGS = "title container-title DOI URL keyword abstract note".split()
CSL = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["type", "id"],
        "additionalProperties": False,
        "properties": {
            "id": {"type": ["string", "number"]},
            "type": {"enum": ["article-journal", "paper-conference", "article", "document"]},
            "author": {"type": "array", "items": NAME},
            "issued": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "date-parts": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": 2,
                        "items": {"type": "array", "items": {"type": "number"}, "minItems": 1},
                    }
                },
            },
            "number": {"type": ["string", "number"]},
            **{name: {"type": "string"} for name in STRINGS},
        },
    },
}


def test_csl_json_is_of_the_published_form() -> None:
    found = json.loads(rendered(papers(*ALL), "csl"))
    jsonschema.validate(found, CSL)
    assert [one["type"] for one in found] == [
        "article-journal",
        "article",
        "paper-conference",
        "document",
    ]
    assert found[0]["author"][1] == {"family": "van der Berg", "given": "Anna"}
    assert found[0]["author"][3] == {"literal": "The Owl Team"}
    assert found[0]["issued"] == {"date-parts": [[2020]]}
    assert found[0]["title"] == MUELLER.title


# --- Markdown --------------------------------------------------------------------------------


def written(form: str, *answers: dict[str, Any], known: tuple[Reference, ...] = ()) -> str:
    forms = [as_form(one) for one in answers]
    return rendered(export_of(forms, {one.paper_id: one for one in known}), form)  # type: ignore[arg-type]


def test_an_answer_in_markdown_has_claims_quotes_and_formatted_references() -> None:
    text = written("markdown", answer(), known=(MUELLER,))
    assert text.startswith("# Where do owls nest?\n\nOwls nest in trees. [1]\n")
    assert (
        "- [1] Müller, Z. et al. (2020) “The Normalized Preference: a 5% gain in R&D_{x} with"
        " $\\alpha_{ij}$”, Journal of Owls & Trees. Available at:"
        " https://doi.org/10.1000/owl_(1)."
    ) in re.sub(r"\\([_{}&])", r"\1", text)
    assert "> Owls nest in trees." in text


@pytest.mark.parametrize("hostile", [HOSTILE, f"${HOSTILE}$", f"$$ {HOSTILE} $$", f"`{HOSTILE}`"])
def test_nothing_that_others_wrote_is_markup_in_markdown(hostile: str) -> None:
    bad = answer(
        hostile,
        text=hostile,
        claims=[claim(f"1. {hostile}", 1)],
        citations=[cited(1, "00aa11bb22cc33dd", hostile, f"# {hostile}")],
        dropped=[{"text": hostile, "reason": hostile}],
        note=hostile,
    )
    text = written("markdown", bad)
    html = MarkdownIt("commonmark").render(text)
    assert {tag.split()[0] for tag in re.findall(r"<([a-z][^>]*)>", html)} <= {
        *("h1", "h2", "p", "ul", "li", "blockquote")
    }


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            r"It gains 5\% at $\alpha_{i}$ and \emph{more}.",
            r"It gains 5% at $\alpha_{i}$ and more.",
        ),
        ("It costs $5 for one and $6 for two.", r"It costs \$5 for one and \$6 for two."),
        (r"Of \(a_b * c_d\) it is.", r"Of \(a_b * c_d\) it is."),
        ("a_b and c_d", r"a\_b and c\_d"),
        ("- no list", r"\- no list"),
        ("3. no list", r"3\. no list"),
    ],
)
def test_maths_stays_and_marks_are_escaped(said: str, shown: str) -> None:
    text = written("markdown", answer(claims=[claim(said, 1)]))
    assert text.split("\n\n")[1] == f"{shown} [1]"


def test_a_table_has_a_cell_for_each_column_though_a_bar_stands_in_it() -> None:
    head = {k: cited(1, "00aa11bb22cc33dd", "Owl | Nests")[k] for k in
            ("paper_id", "source", "ordinal", "title", "title_derived")}  # fmt: skip
    table = {
        "columns": ["method", "metric"],
        "rows": [{**head, "cells": [claim("$p(a|b)$ is used.", 1), None]}],
    }
    html = MarkdownIt("commonmark").enable("table").render(written("markdown", answer(table=table)))
    assert html.count("<td>") == 3
    assert written("html", answer(table=table)).count("<td>") == 2


# --- HTML ------------------------------------------------------------------------------------


class Seen(HTMLParser):
    """The tags of a document with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_a_document_loads_nothing_and_runs_nothing() -> None:
    bad = answer(
        HOSTILE,
        claims=[claim(HOSTILE, 1)],
        citations=[cited(1, "00aa11bb22cc33dd", HOSTILE, HOSTILE)],
        dropped=[{"text": HOSTILE, "reason": HOSTILE}],
    )
    evil = reference(title=HOSTILE, authors=(HOSTILE,), year=2020, url="javascript:alert(1)")
    seen = Seen(written("html", bad, known=(evil,)))
    tags = {tag for tag, _ in seen.tags}
    assert not tags & {"script", "img", "link", "iframe", "object", "svg", "base", "form"}
    assert all(not name.startswith("on") and name != "src" for _, a in seen.tags for name in a)
    links = [attributes["href"] for tag, attributes in seen.tags if tag == "a"]
    assert links == ["#r1-1"]
    assert HOSTILE in "".join(seen.words)


def test_each_number_leads_to_its_source_and_maths_is_text() -> None:
    two = answer("And <b>?", claims=[claim(r"It is $a<b$ and 5\%.", 1)])
    seen = Seen(written("html", answer(), two, known=(MUELLER,)))
    ids = [attributes.get("id") for _, attributes in seen.tags if attributes.get("id")]
    links = [a["href"] for tag, a in seen.tags if tag == "a" and str(a["href"])[0] == "#"]
    assert links == ["#r1-1", "#r2-1"]
    assert {str(link)[1:] for link in links} <= set(ids)
    assert "It is $a<b$ and 5%." in "".join(seen.words)


# --- What is exported --------------------------------------------------------------------------


def test_exactly_the_cited_papers_are_exported_once_each() -> None:
    near = {k: cited(9, "99" * 8, "Bats")[k] for k in ("paper_id", "source", "ordinal", "title")}
    one = answer(nearest=[near])
    two = answer(citations=[cited(1, "11" * 8, "B"), cited(2, "00aa11bb22cc33dd", "A")])
    found = parse_string(written("bibtex", one, two, known=ALL), "bibtex").entries
    assert list(found) == ["mueller2020normalized", "wei2024owls"]


def test_what_was_kept_with_an_answer_comes_before_what_the_collection_says_now() -> None:
    kept = json.loads(json.dumps(answer()))
    kept["references"] = [
        {
            "paper_id": "00aa11bb22cc33dd",
            "source": "old.bib",
            "ordinal": 1,
            "title": "Bats",
            "title_derived": False,
            "meta": {"authors": ["A Bee"], "year": 2001},
        }
    ]
    assert "@misc{bee2001bats," in written("bibtex", kept, known=(MUELLER,))


def test_json_is_read_back_as_the_same_export() -> None:
    first = written("json", answer(), known=(MUELLER,))
    again = rendered(export_of(read_answers(first, "x"), {}), "json")
    assert json.loads(again) == json.loads(first)
    assert json.loads(first)["answers"][0]["claims"][0]["support"]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "it is not a JSON object"),
        ("[1]", "it is not a JSON object"),
        ("{}", "question: Field required"),
        (json.dumps(answer(status="maybe")), "status: Input should be"),
        (json.dumps(answer(claims=[claim("x", 7)])), "a claim cites [7]"),
        (json.dumps(answer(citations=[cited(1, "a", "b"), cited(1, "c", "d")])), "same number"),
        ("[" * 100_000, "it is not a JSON object"),
        (json.dumps(answer()) + "\n{", "x:2 is no answer"),
    ],
)
def test_what_is_no_answer_is_refused_in_one_line(text: str, cause: str) -> None:
    with pytest.raises(InputError) as raised:
        read_answers(text, "x")
    assert cause in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_lines_of_a_batch_are_answers_and_those_that_failed_are_passed_over() -> None:
    lines = [{"id": 1, **answer()}, {"id": 2, "error": "no", "exit_code": 4}]
    (found,) = read_answers("\n".join(map(json.dumps, lines)), "x")
    assert found.question == "Where do owls nest?"


@pytest.mark.parametrize("form", FORMATS)
def test_half_a_character_is_no_fault(form: str) -> None:
    half = "owls \ud800"
    bad = answer(half, claims=[claim(half, 1)], citations=[cited(1, "a" * 16, half, half)])
    assert "owls ?" in written(form, bad)
    assert written(form, bad).encode()


@pytest.mark.parametrize("form", FORMATS)
def test_an_abstention_is_exported_without_references(form: str) -> None:
    near = cited(1, "99" * 8, "Bats")
    silent = answer(
        status="abstained",
        text="The collection does not say.",
        claims=[],
        citations=[],
        nearest=[near],
        missing="where owls sleep",
        coverage={"checked": 57, "total": 57},
    )
    text = written(form, silent)
    if form in ("markdown", "html"):
        for told in ("does not say", "where owls sleep", "57 of 57", "Nearest papers", "Bats"):
            assert told in text
    else:
        assert "Bats" not in text or form == "json"


def test_sections_stand_over_their_claims() -> None:
    parts = answer(
        claims=[claim("All hunt.", 1), claim("Owls nest.", 1), claim("Bats sleep.", 1)],
        sections=[{"title": "Birds", "first": 1}, {"title": "Mammals", "first": 2}],
    )
    text = written("markdown", parts)
    assert "All hunt. [1]\n\n## Birds\n\nOwls nest. [1]\n\n## Mammals\n\nBats sleep. [1]\n" in text
    assert "<h2>Birds</h2><p>Owls nest." in written("html", parts)
