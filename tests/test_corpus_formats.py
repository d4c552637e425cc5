"""Which reader takes a file, and what becomes of lines, characters and files that are too much."""

from __future__ import annotations

import itertools
import json
import tracemalloc

import pytest

from rag.corpus import Content, Limits, Record, Rejected, formats, read_papers
from rag.corpus.registry import format_of, suffixes
from rag.errors import InputError
from rag.schema import Metadata, Paper

OWLS = "Owls nest in old trees, and some of them nest in barns."
BATS = "Bats sleep in caves; others sleep under the roofs of houses."
OBJECT = json.dumps({"title": "Owls", "abstract": OWLS})

SAMPLES = {
    "plain text": ("a.txt", f"{OWLS}\n\n{BATS}\n"),
    "Markdown": ("a.md", f"---\ntitle: Owls\n---\n{OWLS}\n"),
    "JSON Lines": ("a.jsonl", f"{OBJECT}\n{OBJECT}\n"),
    "JSON": ("a.json", f"[{OBJECT},\n{OBJECT}]"),
    "table": ("a.csv", f'title,abstract\nOwls,"{OWLS}"\n'),
    "BibTeX": ("a.bib", f"@article{{a, title={{Owls}}, abstract={{{OWLS}}}}}\n"),
    "RIS": ("a.ris", f"TY  - JOUR\nTI  - Owls\nAB  - {OWLS}\nER  - \n"),
    "MEDLINE": ("a.nbib", f"PMID- 1\nTI  - Owls\nAB  - {OWLS}\n"),
    "arXiv Atom feed": (
        "a.atom",
        '<?xml version="1.0"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><entry>'
        f"<title>Owls</title><summary>{OWLS}</summary></entry></feed>",
    ),
    "PubMed export": (
        "a.xml",
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>"
        f"Owls</ArticleTitle><Abstract><AbstractText>{OWLS}</AbstractText></Abstract></Article>"
        "</MedlineCitation></PubmedArticle></PubmedArticleSet>",
    ),
    "PDF": ("a.pdf", "%PDF-1.7\n"),
}


def content(text: str, name: str, limits: Limits | None = None) -> Content:
    return Content.of(text.encode(), name, limits or Limits())


def papers(text: str, name: str, limits: Limits | None = None) -> list[Paper | Rejected]:
    found = read_papers(content(text, name, limits))
    return [one if isinstance(one, Rejected) else one[1] for one in found]


def texts(text: str, name: str) -> list[str]:
    return [one.text for one in papers(text, name) if isinstance(one, Paper)]


# --- Which reader --------------------------------------------------------------------------


def test_every_format_that_is_shown_by_content_has_a_sample() -> None:
    assert {one.name for one in formats()} == {*SAMPLES, "XML"}


@pytest.mark.parametrize("form", SAMPLES)
@pytest.mark.parametrize("name", ["", "wrong.txt", "none", "wrong.csv", "wrong.bib", "wrong.json"])
def test_a_format_is_known_by_its_own_name_by_a_wrong_one_and_without(form: str, name: str) -> None:
    own, text = SAMPLES[form]
    if form == "plain text" and name not in ("", "none", "wrong.txt"):
        return  # nothing in it says what it is
    assert format_of(content(text, name or own)).name == form
    marked = "\ufeff" if form != "PDF" else ""
    assert format_of(content(f"{marked}{text}", name or own)).name == form


@pytest.mark.parametrize("form", [form for form in SAMPLES if form != "PDF"])
def test_the_same_paper_comes_from_every_format(form: str) -> None:
    own, text = SAMPLES[form]
    for name in (own, "wrong.txt", "none"):
        assert texts(text, name)[0] == OWLS


PROSE = [
    '{JSON} objects begin with a brace, as in {"a": 1}, and end with one.',
    '[1, 2] are the places where JSON such as {"abstract": "x"} is told by lines.',
    "[[Owls]] nest in trees, as the linked page says in many more words.",
    "Title, abstract, and keywords are what a paper is found by in most places.",
    "Owls, bats, and herons, we show, sleep by day; title, abstract and text say so.",
    "Entries such as @article{a, title={A}} are how BibTeX tells of a paper.",
    "@article is how BibTeX begins an entry, as we tell here with many words.",
    "A line that begins with TY  - JOUR opens a record of RIS, as is known.",
    "The tag PMID- 123 opens a record of MEDLINE, and AB  - its abstract.",
    "<b>Owls</b> nest in <i>old</i> trees, and a < b holds for most of them.",
    "--- and then: a rule that opens nothing stands here before the words.",
    "%PDF begins a file of another kind, which this line of words is not.",
]


@pytest.mark.parametrize("text", PROSE)
@pytest.mark.parametrize("heading", ["", "Summary, Content and Text\n\n", "Notes: a list\n\n"])
def test_prose_that_tells_of_formats_is_plain_text(text: str, heading: str) -> None:
    whole = f"{heading}{text}\n\n{BATS}\n"
    for name in ("a.txt", "a"):
        assert format_of(content(whole, name)).name == "plain text"
        assert texts(whole, name) == [text, BATS]


@pytest.mark.parametrize("lines", list(itertools.permutations(PROSE[:4], 3)))
def test_lines_of_prose_one_below_the_other_are_one_paper(lines: tuple[str, ...]) -> None:
    whole = "\n".join(lines)
    assert texts(whole, "a.txt") == [whole]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.csv", "has no column for abstracts"),
        ("a.tsv", "has no column for abstracts"),
        ("a.bib", "no entry such as @article{key"),
        ("a.ris", "no record from TY to ER"),
        ("a.nbib", "no record that begins with PMID-"),
        ("a.json", "is not readable as JSON"),
        ("a.jsonl", "none of its first 2 lines begins with {"),
        ("a.xml", "cannot be read as XML"),
        ("a.atom", "cannot be read as XML"),
        ("a.pdf", "is no PDF"),
    ],
)
def test_a_file_that_is_not_what_it_is_called_is_refused_with_what_was_expected(
    name: str, words: str
) -> None:
    with pytest.raises(InputError) as caught:
        papers(f"{OWLS}\n{BATS}\n", name)
    message = str(caught.value)
    assert message.startswith(name) and words in message and "\n" not in message


def test_each_suffix_belongs_to_one_format() -> None:
    assert sum(len(one.suffixes) for one in formats()) == len(suffixes())


# --- Lines without end ---------------------------------------------------------------------

ENDLESS = "word " * 2_000_000  # 10 MB without a line end


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.txt", f"{OWLS}\n\n", f"\n\n{BATS}\n"),
        ("a.jsonl", f"{OBJECT}\n" + '{"abstract": "', '"}\n' + json.dumps({"abstract": BATS})),
        (
            "a.json",
            f"[{OBJECT}, " + '{"abstract": "',
            '"}, ' + json.dumps({"abstract": BATS}) + "]",
        ),
        ("a.csv", f'title,abstract\nOwls,"{OWLS}"\nx,', f'\nBats,"{BATS}"\n'),
        ("b.csv", f'title,abstract\nOwls,"{OWLS}"\nx,"', f'"\nBats,"{BATS}"\n'),
        ("a.tsv", f"title\tabstract\nOwls\t{OWLS}\nx\t", f"\nBats\t{BATS}\n"),
        (
            "a.bib",
            f"@misc{{a, abstract={{{OWLS}}}}}\n@misc{{b, abstract={{",
            f"}}}}\n@misc{{c, abstract={{{BATS}}}}}\n",
        ),
        (
            "a.ris",
            f"TY  - JOUR\nAB  - {OWLS}\nER  - \nTY  - JOUR\nAB  - ",
            f"\nER  - \nTY  - JOUR\nAB  - {BATS}\nER  - \n",
        ),
        ("a.nbib", f"PMID- 1\nAB  - {OWLS}\nPMID- 2\nAB  - ", f"\nPMID- 3\nAB  - {BATS}\n"),
        ("a.md", f"# Owls\n\n{OWLS}\n\n# Words\n\n", f"\n\n# Bats\n\n{BATS}\n"),
    ],
)
def test_a_line_without_end_is_refused_with_size_or_limit_and_never_held(
    name: str, before: str, after: str
) -> None:
    source = content(before + ENDLESS.rstrip() + after, name, Limits(record_chars=5_000))
    tracemalloc.start()
    try:
        found = list(read_papers(source))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    first, refused, last = found
    assert not isinstance(first, Rejected) and not isinstance(last, Rejected)
    assert (first[1].text, last[1].text) == (OWLS, BATS)
    assert isinstance(refused, Rejected)
    assert "max_record_chars" in refused.reason
    assert refused.remedy
    assert peak < 5_000_000, f"{peak:,}"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [(1 << 18) + extra for extra in (-2, -1, 0, 1)])
def test_a_line_end_at_the_bound_of_a_piece_is_one(end: str, size: int) -> None:
    line = "x" * size
    source = content(f"{line}{end}{OWLS}{end}{end}{BATS}", "a.txt")
    assert "".join(source.lines()) == "".join(source.blocks()) == source.text()
    found = [one for one in papers(source.text(), "a.txt", Limits(record_chars=1 << 20)) if one]
    assert [one.text for one in found if isinstance(one, Paper)] == [f"{line}{end}{OWLS}", BATS]
    numbers = [record.line for record in format_of(source).read(source)]
    assert numbers == [1, 4]


def test_lines_and_blocks_mend_broken_bytes_alike() -> None:
    text = b'[{"abstract": "Na\xc3\xafve owls \xff nest\x00 here, \xc3\xa9 and \xc3\xa9."}]'
    broken = Content.of(text, "a")
    assert "".join(broken.lines()) == "".join(broken.blocks())
    assert "\ufffd nest here" in broken.text()
    (record,) = format_of(broken).read(broken)
    assert isinstance(record, Record)
    assert record.text == "Naïve owls \ufffd nest here, é and é."


# --- What no store takes -------------------------------------------------------------------

HALF = r"\udc63"


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_I06_half_characters_and_controls_are_cleaned_everywhere_and_told(name: str) -> None:
    said = {
        "title": "Bad\x00 Glyphs",
        "abstract": f"The energy is {HALF}{HALF} and \x1b[31msmall.",
        "authors": ["A\x07da Lovelace"],
        "journal": f"Owls {HALF}",
        "keywords": ["a\x08b"],
        "id": "k\x01",
    }
    source = content(json.dumps(said).replace("\\\\", "\\"), name)
    ((record, paper),) = [one for one in read_papers(source) if not isinstance(one, Rejected)]
    assert paper.text == record.text == "The energy is \ufffd\ufffd and [31msmall."
    assert paper.title == "Bad Glyphs"
    assert paper.meta == Metadata(("Ada Lovelace",), venue="Owls \ufffd", keywords=("ab",), key="k")
    told = " ".join(record.notes)
    assert "control characters removed: 1" in told and "half characters" in told


def test_a_text_of_nothing_but_controls_is_none() -> None:
    (only,) = papers(json.dumps({"abstract": "\x00\x07 \u200b"}), "a.json")
    assert isinstance(only, Rejected)


def test_a_reason_holds_nothing_that_cannot_be_shown() -> None:
    (only,) = papers('{"title": "Bad \\udc63 \\u001b[31m \\u202e Glyphs"}', "a.json")
    assert isinstance(only, Rejected)
    assert only.reason == 'it has no abstract ("Bad \ufffd [31m Glyphs")'


# --- Tags in abstracts ---------------------------------------------------------------------

TAGGED = (
    "<jats:title>Abstract</jats:title><jats:p>Owls &lt; bats.</jats:p> <jats:p>Both fly.</jats:p>"
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", json.dumps({"title": "<i>Strix</i> owls", "abstract": TAGGED})),
        ("a.csv", f'title,abstract\n<i>Strix</i> owls,"{TAGGED}"\n'),
        ("a.bib", f"@misc{{a, title={{<i>Strix</i> owls}}, abstract={{{TAGGED}}}}}"),
        ("a.ris", f"TY  - JOUR\nTI  - <i>Strix</i> owls\nAB  - {TAGGED}\nER  - \n"),
        ("a.nbib", f"PMID- 1\nTI  - <i>Strix</i> owls\nAB  - {TAGGED}\n"),
    ],
)
def test_tags_are_taken_out_in_every_format_and_it_is_said(name: str, text: str) -> None:
    ((record, paper),) = [
        one for one in read_papers(content(text, name)) if not isinstance(one, Rejected)
    ]
    assert (paper.title, paper.text) == ("Strix owls", "Owls < bats.\nBoth fly.")
    assert paper.source_offset == 0
    assert "JATS or HTML tags removed" in record.notes


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "<p>" * 60_000,
        "<p>a</p>" + " " * 150_000 + "b",
        "<p>a</p><jats:tex-math>x</jats:tex-math>" + "<mml:math>" * 15_000,
        "<p " * 60_000,
        "&lt;/p&gt;" + "<br" + " " * 150_000,
        "10.1000/" * 20_000,
        "arxiv:" * 30_000,
        ", Jr" * 40_000,
    ],
)
def test_no_value_makes_a_reader_slow(text: str) -> None:
    record = dict.fromkeys(("abstract", "title", "authors", "year", "doi", "keywords"), text)
    for name in ("a.json", "a.jsonl"):
        found = papers(json.dumps(record), name, Limits(record_chars=1_000_000))
        assert len(found) == 1


@pytest.mark.parametrize(
    ("stored", "names"),
    [
        ("Smith J., Doe A.-B.", ("J. Smith", "A.-B. Doe")),
        ("O'Neil J, van der Berg AB.", ("J O'Neil", "AB van der Berg")),
        ("John Smith III, Bob Jones II", ("John Smith III", "Bob Jones II")),
        ("Smith J., Ada Lovelace", ("Smith J.", "Ada Lovelace")),
        ("Malcolm X", ("Malcolm X",)),
    ],
)
def test_names_that_all_end_in_initials_are_turned_round(
    stored: str, names: tuple[str, ...]
) -> None:
    (paper,) = papers(f'authors,abstract\n"{stored}",{OWLS[:20]}\n', "a.csv")
    assert isinstance(paper, Paper) and paper.meta.authors == names


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", f"{OWLS}\n\nshort\n"),
        ("a.txt", "# Title\n"),
        ("a.jsonl", '{"a": 1}\n{"title": "x"}\n{\n'),
        ("a.json", '[1, {"a": 1}, {"title": "x"}, {"abstract": "\\u0000"}]'),
        ("a.csv", 'title,abstract\nx\nx,\n,\nx,y,z\nx,"y'),
        ("a.bib", "@misc{a, title={A}}\n@misc{b, title={B"),
        ("a.ris", "TY  - JOUR\nTI  - x\n"),
        ("a.nbib", "PMID- 1\n"),
        ("a.md", "---\na: [\n---\nText."),
        ("a.xml", "<PubmedArticleSet><PubmedArticle><PMID>1</PMID></PubmedArticle><a"),
        ("a.atom", "<feed xmlns='http://www.w3.org/2005/Atom'><entry/></feed>"),
    ],
)
def test_whatever_is_refused_has_a_reason_and_a_remedy_on_one_line_each(
    name: str, text: str
) -> None:
    refused = [one for one in papers(text, name) if isinstance(one, Rejected)]
    assert refused
    for one in refused:
        assert one.reason and one.remedy.endswith(".")
        assert (one.reason + one.remedy).isprintable()


# --- One meaning in every format -----------------------------------------------------------

SAME = {
    "a.json": json.dumps(
        {
            "title": "Owls",
            "abstract": OWLS,
            "authors": ["Müller, Zoë", "King, Martin Luther, Jr."],
            "year": "2020-05-01",
            "journal": "Owls &amp; Bats",
            "doi": "https://doi.org/10.1000/ABC",
            "keywords": "nests; old trees",
            "url": "https://arxiv.org/abs/2401.01234v2",
            "id": "k",
        }
    ),
    "a.csv": (
        "Title,Abstract,Authors,Publication Year,Journal,DOI,Keywords,URL,Key\n"
        f'Owls,"{OWLS}","Müller, Zoë; King, Martin Luther, Jr.",2020.0,Owls &amp; Bats,'
        "doi:10.1000/ABC,nests; old trees,https://arxiv.org/abs/2401.01234v2,k\n"
    ),
    "a.bib": (
        "@article{k, title={Owls}, abstract={" + OWLS + "}, year={2020},\n"
        'author={M{\\"u}ller, Zo{\\"e} and King, Jr., Martin Luther}, journal={Owls \\& Bats},\n'
        "doi={10.1000/ABC}, keywords={nests; old trees},\n"
        "url={https://arxiv.org/abs/2401.01234v2}}\n"
    ),
    "a.ris": (
        "TY  - JOUR\nID  - k\nTI  - Owls\nAU  - Müller, Zoë\nAU  - King, Martin Luther, Jr.\n"
        f"PY  - 2020/05/01/\nJO  - Owls &amp; Bats\nDO  - 10.1000/ABC.\nAB  - {OWLS}\n"
        "KW  - nests\nKW  - old trees\nUR  - https://arxiv.org/abs/2401.01234v2\nER  - \n"
    ),
    "a.md": (
        "---\ntitle: Owls\nkey: k\nauthors: [Zoë Müller, 'King, Martin Luther, Jr.']\n"
        "date: 2020-05-01\njournal: Owls & Bats\ndoi: 10.1000/ABC\ntags: [nests, old trees]\n"
        f"url: https://arxiv.org/abs/2401.01234v2\n---\n{OWLS}\n"
    ),
    "a.atom": (
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:a="http://arxiv.org/schemas/atom"><entry>'
        f"<id>https://arxiv.org/abs/2401.01234v2</id><title>Owls</title><summary>{OWLS}</summary>"
        "<author><name>Zoë Müller</name></author>"
        "<author><name>Martin Luther King Jr.</name></author>"
        "<published>2020-05-01T00:00:00Z</published><category term='nests'/>"
        "<category term='old trees'/><a:doi>10.1000/ABC</a:doi>"
        "<a:journal_ref>Owls &amp; Bats</a:journal_ref></entry></feed>"
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_what_a_source_says_means_the_same_in_every_format(name: str) -> None:
    (paper,) = papers(SAME[name], name)
    assert isinstance(paper, Paper)
    assert (paper.title, paper.text) == ("Owls", OWLS)
    assert paper.meta == Metadata(
        authors=("Zoë Müller", "Martin Luther King Jr."),
        year=2020,
        venue="Owls & Bats",
        doi="10.1000/abc",
        arxiv="2401.01234",
        url="https://arxiv.org/abs/2401.01234v2",
        keywords=("nests", "old trees"),
        key="2401.01234" if name == "a.atom" else "k",
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", json.dumps({"abstract": OWLS, "doi": "10.48550/arXiv.2401.01234"})),
        ("a.csv", f'abstract,doi\n"{OWLS}",https://doi.org/10.48550/arXiv.2401.01234v1\n'),
        ("a.bib", f"@misc{{a, abstract={{{OWLS}}}, doi={{10.48550/arXiv.2401.01234}}}}"),
        ("a.ris", f"TY  - JOUR\nAB  - {OWLS}\nDO  - 10.48550/ARXIV.2401.01234\nER  - \n"),
        ("a.ris", f"TY  - JOUR\nAB  - {OWLS}\nUR  - https://doi.org/10.48550/arXiv.2401.01234\n"),
        ("a.nbib", f"PMID- 1\nAB  - {OWLS}\nAID - 10.48550/arXiv.2401.01234 [doi]\n"),
        ("a.md", f"---\ndoi: 10.48550/arXiv.2401.01234\n---\n{OWLS}\n"),
    ],
)
def test_the_doi_of_an_arxiv_paper_is_told_as_its_arxiv_id(name: str, text: str) -> None:
    ((record, paper),) = [
        one for one in read_papers(content(text, name)) if not isinstance(one, Rejected)
    ]
    assert (paper.meta.arxiv, paper.meta.doi) == ("2401.01234", "")
    assert not any("DOI" in note for note in record.notes)
