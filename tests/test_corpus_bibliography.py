"""BibTeX, RIS and MEDLINE: what reference managers export becomes papers, nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus import Content, Limits, Record, Rejected
from rag.corpus.bibliography.latex import decoded
from rag.corpus.bibliography.names import keywords_of, person
from rag.corpus.bibliography.values import arxiv_of, doi_of, year_of
from rag.corpus.readers.bibtex import FORMAT as BIBTEX
from rag.corpus.readers.bibtex import names_of
from rag.corpus.readers.medline import FORMAT as MEDLINE
from rag.corpus.readers.ris import FORMAT as RIS
from rag.corpus.registry import format_of
from rag.schema import Metadata

NORMAL = Limits()
Reader = Callable[[Content], Iterator[Record | Rejected]]


def pieces(reader: Reader, text: str, limits: Limits = NORMAL) -> list[Record | Rejected]:
    return list(reader(Content.of(text.encode(), "x", limits)))


def records(reader: Reader, text: str) -> list[Record]:
    found = pieces(reader, text)
    assert all(isinstance(piece, Record) for piece in found), found
    return [piece for piece in found if isinstance(piece, Record)]


def one(reader: Reader, text: str) -> Record:
    (record,) = records(reader, text)
    return record


# --- LaTeX ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"{\"o}", "ö"),
        (r"\"{o}", "ö"),
        (r"H\"older", "Hölder"),
        (r"{\'{e}}", "é"),
        (r"\v{S}", "Š"),
        (r"\v Cech", "Čech"),
        (r"Wei\ss{}e Stra{\ss}e", "Weiße Straße"),
        (r"S{\o}ren \O re", "Søren Øre"),
        (r"{\L}ukasz", "Łukasz"),
        (r"\AA ngstr\"om", "Ångström"),
        (r"\'{\i}, \'\i, {\'{\i}}", "í, í, í"),
        (r"Nguy{\~{\^e}}n", "Nguyễn"),
        (r"Erd{\H o}s and Ho{\v{r}}ava", "Erdős and Hořava"),
        (r"Gar{\c c}on, \k{a}, \u{g}, \.{z}, \=a, \r{a}, \d{h}", "Garçon, ą, ğ, ż, ā, å, ḥ"),
        (r"A \& B, 50\%, \#1, a\_b, \$5 and \$6", "A & B, 50%, #1, a_b, $5 and $6"),
        (r"98{\%} of 10% of", "98% of 10% of"),
        (r"1--2 a---b ``q''", "1–2 a—b “q”"),
        (r"Fig.~2 of ~5 (~7)", "Fig. 2 of ~5 (~7)"),
        ("{NASA} {M}ission {{Nested {X}}}", "NASA Mission Nested X"),
        (r"\emph{Big} \textbf{\textit{cats}} {\em run}", "Big cats run"),
        (r"\url{http://a.b/c_d} \href{http://a.b}{here}", "http://a.b/c_d here"),
        (r"{\textless}i{\textgreater}x", "<i>x"),
        (r"the \LaTeX{} of \unknown{x}", "the LaTeX of x"),
        (r"\alpha-divergence \& \Omega", "α-divergence & Ω"),
        (r"100\,km \textendash\ 5 {\textdegree}C", "100 km – 5 °C"),
        (r"$L^{p}$ of {\'E}. $\mathcal{O}(n^{2})$", r"$L^{p}$ of É. $\mathcal{O}(n^{2})$"),
        (r"\(x_{1}\) and {x}", r"\(x_{1}\) and x"),
        (r"$\{x\}$ \{x\}", r"$\{x\}$ {x}"),
        (r"$\hat{a} \'{e}$", r"$\hat{a} \'{e}$"),
        (r"costs $5 in {X}", "costs $5 in X"),
        (r"C:\verb|a{b}|", "C:a{b}"),
        ("no markup, 'quoted' O'Neil", "no markup, 'quoted' O'Neil"),
        ("", ""),
        ("{" * 30_000 + "x" + "}" * 30_000, "x"),
    ],
)
def test_latex_is_read_as_text_and_maths_kept(latex: str, text: str) -> None:
    assert decoded(latex) == text


@given(st.text("ab é{}\\\"'~$^%&-_1", max_size=60))
def test_no_letter_of_a_field_is_lost_in_decoding_but_those_of_commands(latex: str) -> None:
    found = decoded(latex)
    assert sum(map(str.isdigit, found)) == sum(map(str.isdigit, latex))


# --- Values --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Lovelace, Ada", "Ada Lovelace"),
        ("Ada Lovelace", "Ada Lovelace"),
        ("van der Berg, Jan", "Jan van der Berg"),
        ("King, Jr., Martin Luther", "Martin Luther King Jr."),
        ("King, Martin Luther, Jr.", "Martin Luther King Jr."),
        ("King, Martin Luther Jr", "Martin Luther King Jr"),
        ("King, Jr.", "King Jr."),
        ("Wang, Xi", "Xi Wang"),
        ("Bell, V", "V Bell"),
        ("Plato,", "Plato"),
        ("M&uuml;ller, Zo&#235;", "Zoë Müller"),
        ("", ""),
    ],
)
def test_a_name_is_written_first_name_first(name: str, text: str) -> None:
    assert person(name) == text


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("2020", 2020),
        ("2020/05/01/", 2020),
        ("2020 Jan-Feb", 2020),
        ("c. 1999", 1999),
        ("20233", None),
        ("n.d.", None),
        ("0000", None),
        ("", None),
    ],
)
def test_a_year_is_four_digits_of_our_time(text: str, year: int | None) -> None:
    assert year_of(text) == year


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.1000/XYZ", "10.1000/xyz"),
        ("https://doi.org/10.1000/xyz", "10.1000/xyz"),
        ("http://dx.doi.org/10.1000/xyz.", "10.1000/xyz"),
        ("doi: 10.1016/S0140-6736(20)30183-5", "10.1016/s0140-6736(20)30183-5"),
        ("(10.1000/xyz)", "10.1000/xyz"),
        ("11.1000/xyz", ""),
        ("", ""),
    ],
)
def test_a_doi_is_bare_and_in_lower_case(text: str, doi: str) -> None:
    assert doi_of(text) == doi


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2401.01234", "2401.01234"),
        ("arXiv:2401.01234v3", "2401.01234"),
        ("https://arxiv.org/abs/2401.01234v1", "2401.01234"),
        ("http://arxiv.org/pdf/hep-th/9901001", "hep-th/9901001"),
        ("math.GT/0309136", "math/0309136"),
        ("10.48550/arXiv.2401.01234", "2401.01234"),
        ("PMC1234567", ""),
        ("1234", ""),
    ],
)
def test_an_arxiv_number_has_neither_prefix_nor_version(text: str, number: str) -> None:
    assert arxiv_of(text) == number


def test_keywords_are_separated_by_semicolons_or_else_by_commas() -> None:
    assert keywords_of("owls; nests, trees; owls;") == ("owls", "nests, trees")
    assert keywords_of("owls, 1,2-nests, R&amp;D") == ("owls", "1,2-nests", "R&D")
    assert keywords_of("owls of\nthe north, nests") == ("owls of the north", "nests")
    assert keywords_of("owls\nnests") == ("owls", "nests")


# --- BibTeX --------------------------------------------------------------------------------


def test_repeated_keys_and_fields_lose_no_entry() -> None:
    found = records(
        BIBTEX.read,
        "@article{dup, title={First}, abstract={One.}}\n"
        "@article{dup, title={Second}, abstract={Two.}}\n"
        "@misc{x, note={a}, note={b}, title={Third}, abstract={Three.}}",
    )
    assert [(r.title, r.text, r.meta.key, r.ordinal, r.line) for r in found] == [
        ("First", "One.", "dup", 1, 1),
        ("Second", "Two.", "dup", 2, 2),
        ("Third", "Three.", "x", 3, 3),
    ]


def test_of_a_field_that_is_given_twice_the_first_is_taken_and_it_is_said() -> None:
    found = one(BIBTEX.read, "@misc{x, title={A}, title={B}, abstract={Text.}}")
    assert found.title == "A"
    assert "title is given again" in " ".join(found.notes)


FULL = r"""% Encoding: UTF-8
@string{jmlr = "J. Mach. " # {Learn. Res.}}
@comment{jabref-meta: databaseType:bibtex;}
@Article{smith:2020,
  Author    = {M{\"u}ller, Zo{\"e} and van der Berg, Jan and {NASA Collaboration} and others},
  TITLE     = "On the {$L^{p}$} Norms of {NASA}'s " # {Owls \& Nests},
  journal   = JMLR,
  year      = 2020, month = jan # "~1",
  doi       = {https://doi.org/10.1000/ABC},
  eprint    = {2001.00001v2}, archivePrefix = {arXiv},
  url       = {https://example.org/a_b},
  keywords  = {owls, nests},
  abstract  = {We study $\{x\}$ owls
               in two lines, 10% of all.},
}
"""


def test_a_bibtex_entry_gives_all_that_it_says() -> None:
    found = one(BIBTEX.read, FULL)
    assert found.title == "On the $L^{p}$ Norms of NASA's Owls & Nests"
    assert found.meta == Metadata(
        authors=("Zoë Müller", "Jan van der Berg", "NASA Collaboration"),
        year=2020,
        venue="J. Mach. Learn. Res.",
        doi="10.1000/abc",
        arxiv="2001.00001",
        url="https://example.org/a_b",
        keywords=("owls", "nests"),
        key="smith:2020",
    )
    assert found.line == 4
    assert found.notes == ()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_abstract_without_markup_is_the_stretch_of_the_file(end: str) -> None:
    source = FULL.replace("\n", end)
    found = one(BIBTEX.read, source)
    assert source[found.offset :].startswith(found.text)
    assert found.text.startswith(r"We study $\{x\}$ owls" + end)
    assert found.text.endswith("10% of all.")


def test_an_abstract_with_markup_carries_no_braces_and_says_so() -> None:
    found = one(BIBTEX.read, r"@misc{a, abstract={{The {NASA} costs 50{\%} of $x^{2}$.}}}")
    assert found.text == "The NASA costs 50% of $x^{2}$."
    assert "LaTeX" in " ".join(found.notes)
    assert found.title is None


@pytest.mark.parametrize(
    ("field", "names"),
    [
        ("Ada Lovelace and Babbage, Charles", ("Ada Lovelace", "Charles Babbage")),
        ("{Barnes and Noble, Inc.} and Doe, Jane", ("Barnes and Noble, Inc.", "Jane Doe")),
        ("{{IPCC}}", ("IPCC",)),
        ("Doe, Jane\n   AND  Roe, R. and others", ("Jane Doe", "R. Roe")),
        (r"Fern{\'a}ndez, Mar{\'\i}a", ("María Fernández",)),
        ("{van der} Berg, {J}an", ("Jan van der Berg",)),
        ("de la Vall{\\'e}e Poussin, Jr, C.", ("C. de la Vallée Poussin Jr",)),
        ("Rand Corporation", ("Rand Corporation",)),
        ("", ()),
    ],
)
def test_author_names(field: str, names: tuple[str, ...]) -> None:
    assert names_of(field) == names


GOOD = "@article{%s, title={%s}, abstract={Text of %s.}}\n"


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("@article{b, title={B, abstract={Two}\n}\n", "braces are not closed"),
        ("@article{b, title={B} abstract={Two}}\n", "line 2"),
        ("@article{b,\n title={B},\n abstract=={Two}}\n", "line 4"),
        ('@article{b, title="A "quoted" B", abstract={Two}}\n', "line 2"),
        ("@article{b, title={B}}\n", 'no abstract ("b")'),
        ("@article{b, title={B}, abstract={ }}\n", 'no abstract ("b")'),
        ("@article{b}\n", "line 2"),
        ("@article{b, abstract={" + "{" * 150 + "}" * 150 + "}}\n", "nested"),
    ],
)
def test_a_broken_entry_is_named_by_its_line_and_its_neighbours_live(
    broken: str, words: str
) -> None:
    text = GOOD % ("a", "A", "a") + broken + GOOD % ("c", "C", "c")
    first, rejected, last = pieces(BIBTEX.read, text)
    assert isinstance(first, Record) and isinstance(last, Record)
    assert (first.text, last.text) == ("Text of a.", "Text of c.")
    assert (last.ordinal, last.title) == (3, "C")
    assert isinstance(rejected, Rejected)
    assert (rejected.ordinal, rejected.line) == (2, 2)
    assert words in rejected.reason
    assert rejected.remedy


def test_an_entry_that_the_end_of_the_file_cuts_is_named() -> None:
    first, rejected = pieces(BIBTEX.read, GOOD % ("a", "A", "a") + "@article{b, abstract={Two")
    assert isinstance(first, Record)
    assert isinstance(rejected, Rejected) and rejected.line == 2


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ("@article{Smith et al. 2020, abstract={Text.}}", "Smith et al. 2020"),
        ("@article{, abstract={Text.}}", ""),
        ("@article{abstract={Text.}}", ""),
        ('@article(p:1, title="(a) b", abstract={Text.})', "p:1"),
        ("@article\n{müller_2020,\nabstract={Text.}}", "müller_2020"),
        ('@ARTICLE{a,ABSTRACT = "Text.",}', "a"),
        ("@string{t = {Text}}\n@misc{a, abstract= t # {.}}", "a"),
        ("see @article or mail@home.org\n@misc{a, abstract={Text.}} trailing words", "a"),
        ("%@misc{old,\n% abstract={Old.},\n%}\n@misc{a, abstract={Text.}}", "a"),
        ("@comment{@misc{old, abstract={Old.}}}\n@misc{a, abstract={Text.}}", "a"),
        ("@comment{\n@misc{old,\n abstract={Old.}}\n}\n@misc{a, abstract={Text.}}", "a"),
        ('@preamble{"\\newcommand{\\x}{y}"}@misc{a, abstract={Text.}}', "a"),
    ],
)
def test_forms_of_an_entry(entry: str, key: str) -> None:
    found = one(BIBTEX.read, entry)
    assert (found.text, found.meta.key) == ("Text.", key)


def test_an_at_sign_in_an_abstract_ends_nothing() -> None:
    text = "@misc{a, abstract={Write to me @home, or\n@foo{here} and a@b.c.}}\n" + GOOD % tuple(
        "bBb"
    )
    assert [r.meta.key for r in records(BIBTEX.read, text)] == ["a", "b"]


def test_what_an_entry_leaves_out_comes_from_the_one_it_refers_to() -> None:
    child = one(
        BIBTEX.read,
        "@inproceedings{a, title={A}, abstract={Text.}, crossref={P}}\n"
        "@proceedings{p, title={Proceedings of Owls}, year=2001}\n",
    )
    assert (child.meta.venue, child.meta.year, child.title) == ("Proceedings of Owls", 2001, "A")


@pytest.mark.parametrize(
    "entry",
    [
        "@proceedings{b, title={Proceedings of Owls}, year=2001}",
        "@book{b, title={A Book}, year=2001}\n@incollection{d, title={D}, crossref = {B}, "
        "abstract={Chapter.}}",
        "@misc{b, note={neither title nor abstract}}",
        "@misc{b, title={ }, abstract={}}",
    ],
)
def test_an_entry_that_is_no_paper_of_its_own_is_no_failure(entry: str) -> None:
    text = GOOD % ("a", "A", "a") + entry + "\n" + GOOD % ("c", "C", "c")
    found = records(BIBTEX.read, text)
    assert [r.text for r in found if r.text != "Chapter."] == ["Text of a.", "Text of c."]
    assert found[-1].ordinal == 2 + entry.count("@")


def test_a_book_that_others_refer_to_is_a_paper_where_it_has_an_abstract() -> None:
    text = "@book{b, title={B}, abstract={Own.}}\n@misc{a, title={A}, crossref=b, abstract={A.}}"
    assert [r.text for r in records(BIBTEX.read, text)] == ["Own.", "A."]


@pytest.mark.parametrize(
    ("fields", "arxiv", "doi"),
    [
        ("eprint={hep-th/9901001}", "hep-th/9901001", ""),
        ("eprint={2401.01234}, eprinttype={arxiv}", "2401.01234", ""),
        ("eprint={12345678}, eprinttype={pubmed}", "", ""),
        ("journal={arXiv preprint arXiv:2401.01234}", "2401.01234", ""),
        ("url={http://arxiv.org/abs/2401.01234v2}", "2401.01234", ""),
        ("doi={10.48550/arXiv.2401.01234}", "2401.01234", ""),
        ("url={https://doi.org/10.1000/a}", "", "10.1000/a"),
        (r"doi={10.1000/a\_b}", "", "10.1000/a_b"),
    ],
)
def test_identifiers(fields: str, arxiv: str, doi: str) -> None:
    meta = one(BIBTEX.read, f"@misc{{a, abstract={{Text.}}, {fields}}}").meta
    assert (meta.arxiv, meta.doi) == (arxiv, doi)


def test_a_year_and_a_doi_that_are_none_are_left_out_and_named() -> None:
    found = one(BIBTEX.read, "@misc{a, abstract={T.}, year={20233}, doi={later}, journal = undefd}")
    assert (found.meta.year, found.meta.doi, found.meta.venue) == (None, "", "undefd")
    told = " ".join(found.notes)
    assert '"20233"' in told and '"later"' in told and "undefd" in told


def test_an_entry_over_the_limit_is_refused_and_the_next_taken() -> None:
    text = "@misc{a, abstract={" + "long " * 100 + "}}\n" + GOOD % ("b", "B", "b")
    refused, taken = pieces(BIBTEX.read, text, Limits(record_chars=200))
    assert isinstance(refused, Rejected) and "max_record_chars = 200" in refused.reason
    assert isinstance(taken, Record) and taken.text == "Text of b."


WORDS = st.text('abc é$\\{}"@,#%=\n', max_size=40)


@given(st.lists(WORDS, max_size=4))
def test_no_junk_before_a_line_that_opens_an_entry_hides_it(junk: list[str]) -> None:
    safe = "\n".join(piece.replace("@", "") for piece in junk)
    found = pieces(BIBTEX.read, safe + "\n" + GOOD % ("a", "A", "a"))
    assert [piece.text for piece in found if isinstance(piece, Record)] == ["Text of a."]


# --- RIS -----------------------------------------------------------------------------------

REFERENCE = """TY  - JOUR
ID  - smith2020
AU  - Müller, Zoë
A1  - King, Martin Luther, Jr.
TI  - Owl Nests
  in Trees
T2  - Journal of Owls
PY  - 2020/05/01/
AB  - Owls nest in trees.
They like them.

ZZ  - unknown
KW  - owls
KW  - nests; trees
DO  - https://doi.org/10.1000/ABC
UR  - https://example.org/owls
ER  - 
"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_ris_record_gives_all_that_it_says(mark: str, end: str) -> None:
    source = REFERENCE.replace("\n", end)
    found = one(RIS.read, mark + source)
    assert found.title == "Owl Nests in Trees"
    assert found.text == f"Owls nest in trees.{end}They like them."
    assert source[found.offset :].startswith(found.text)
    assert found.meta == Metadata(
        authors=("Zoë Müller", "Martin Luther King Jr."),
        year=2020,
        venue="Journal of Owls",
        doi="10.1000/abc",
        url="https://example.org/owls",
        keywords=("owls", "nests", "trees"),
        key="smith2020",
    )
    assert (found.line, found.notes) == (1, ())


def test_ris_records_without_end_or_abstract() -> None:
    first, second, third, fourth = pieces(
        RIS.read,
        "Provider: somebody\n\nTY  - JOUR\nT1  - One\nN2  - Text one.\n"
        "TY  - CHAP\nTI  - Two\nER  -\n\n"
        "TY  - JOUR\nAB  - Text three.\nAB  - More of it.\nER  - \nTY  - JOUR\nAB  - Four",
    )
    assert isinstance(first, Record) and (first.title, first.text) == ("One", "Text one.")
    assert "ER" in " ".join(first.notes)
    assert isinstance(second, Rejected)
    assert (second.ordinal, second.line) == (2, 6)
    assert 'no abstract ("Two")' in second.reason
    assert isinstance(third, Record) and third.text == "Text three.\nMore of it."
    assert (third.title, third.offset, third.notes) == (None, 0, ())
    assert isinstance(fourth, Record) and (fourth.ordinal, fourth.text) == (4, "Four")


def test_a_ris_record_over_the_limit_is_refused_and_the_next_taken() -> None:
    text = "TY  - JOUR\nAB  - " + "word\n" * 100 + "ER  - \nTY  - JOUR\nAB  - Text.\nER  - \n"
    refused, taken = pieces(RIS.read, text, Limits(record_chars=200))
    assert isinstance(refused, Rejected) and "max_record_chars = 200" in refused.reason
    assert isinstance(taken, Record) and (taken.text, taken.line) == ("Text.", 103)


# --- MEDLINE -------------------------------------------------------------------------------

CITATION = """
PMID- 12345678
OWN - NLM
DP  - 2019 Nov-Dec
TI  - Owl nests: a study of their
      many forms.
LID - S0140-6736(20)30183-5 [pii]
LID - 10.1016/S0140-6736(20)30183-5 [doi]
AB  - BACKGROUND: Owls nest - often in
      trees. METHODS: We looked.
FAU - Müller, Zoë
AU  - Müller Z
CN  - Owl Study Group
FAU - King, Martin Luther Jr
AU  - King ML Jr
JT  - The Journal of Owls
TA  - J Owls
MH  - *Strigiformes/physiology
MH  - Models, Biological
OT  - nests
"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_medline_record_gives_all_that_it_says(end: str) -> None:
    found = one(MEDLINE.read, CITATION.replace("\n", end))
    assert found.title == "Owl nests: a study of their many forms."
    assert found.text == "BACKGROUND: Owls nest - often in trees. METHODS: We looked."
    assert found.meta == Metadata(
        authors=("Zoë Müller", "Owl Study Group", "Martin Luther King Jr"),
        year=2019,
        venue="The Journal of Owls",
        doi="10.1016/s0140-6736(20)30183-5",
        url="https://pubmed.ncbi.nlm.nih.gov/12345678/",
        keywords=("nests", "Strigiformes/physiology", "Models, Biological"),
        key="12345678",
    )
    assert (found.line, found.offset) == (2, 0)


def test_medline_records_one_after_another() -> None:
    first, second, third = pieces(
        MEDLINE.read,
        "PMID- 1\nTI  - One\nAB  - On one line.\nAU  - Doe JA\n\nPMID- 2\nTI  - Two\n\n"
        "PMID- 3\nTI  - Three\nAB  - Text three.\nAID - 10.1000/x [doi]\n",
    )
    assert isinstance(first, Record) and first.meta.authors == ("JA Doe",)
    assert (first.text, first.offset) == ("On one line.", 24)
    assert isinstance(second, Rejected)
    assert (second.ordinal, second.line) == (2, 6)
    assert "PMID 2" in second.reason
    assert isinstance(third, Record) and (third.ordinal, third.meta.doi) == (3, "10.1000/x")


# --- All of them ---------------------------------------------------------------------------

FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *'@article{ @misc( @string{a= @comment{ } ) { , = # " \\ % $'.split(),
            *("title=", "abstract={", " and ", "é"),
            *("\n", "\r", "\r\n", "\n\n", " ", "\nTY  - JOUR", "\nAB  - word", "\nER  - "),
            *("\nPMID- 1", "\nTI  - word", "\n      word"),
        ]
    ),
    max_size=40,
).map("".join)


@pytest.mark.parametrize("reader", [BIBTEX.read, RIS.read, MEDLINE.read])
@given(text=FRAGMENTS)
def test_whatever_a_file_holds_its_records_are_counted_and_are_stretches_of_it(
    reader: Reader, text: str
) -> None:
    found = pieces(reader, text)
    ordinals = [piece.ordinal for piece in found]
    assert ordinals == sorted(set(ordinals)) and all(ordinal > 0 for ordinal in ordinals)
    for piece in found:
        assert 1 <= piece.line <= len(text.splitlines()) + 1
        if isinstance(piece, Record) and piece.offset:
            assert text[piece.offset :].startswith(piece.text)


SPACES = " " * 150_000


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.bib", "@a{" + SPACES),
        ("a.bib", "@a{" + SPACES + "}"),
        ("a.bib", "@a{k, author={A" + SPACES + "}, abstract={Text.}}"),
        ("a.bib", "@a{k, abstract={{T}" + "\\verb|" * 25_000 + "}}"),
        ("a.bib", "@a{k, abstract={{T}" + "\\cite{a}[" * 20_000 + "}}"),
        ("a.bib", "@a{k, abstract={{T}" + "\\a" * 80_000 + "}}"),
        ("a.bib", "@a{k, abstract={{T}" + "$ " * 80_000 + "}}"),
        ("a.bib", "@a{k, author={" + "A and " * 30_000 + "B}, abstract={Text.}}"),
        ("a.bib", "@" * 150_000),
        ("a.txt", "% " * 4_000),
        ("a.nbib", "PMID- 1\nAB  - a" + SPACES + "b\n"),
        ("a.ris", "TY  - JOUR\nTI  - a" + SPACES + "b\nAB  - T.\n"),
        ("a.md", "# a" + SPACES + "b\n\nText."),
        ("a.md", '---\nauthor: "A' + SPACES + 'B"\n---\nText.'),
    ],
)
def test_no_text_makes_a_reader_slow(name: str, text: str) -> None:
    content = Content.of(text.encode(), name)
    assert len(list(format_of(content).read(content))) <= 1


# --- Which reader --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "format_name"),
    [
        ("export.txt", FULL, "BibTeX"),
        ("export.txt", "@inproceedings{a,\n title={A}}", "BibTeX"),
        ("export.txt", REFERENCE, "RIS"),
        ("export.txt", CITATION, "MEDLINE"),
        ("export", "\ufeff" + REFERENCE, "RIS"),
        ("refs.bib", "No entries here", "BibTeX"),
        ("refs.bib", REFERENCE, "RIS"),
        ("refs.ris", "Provider: x\nTY  - JOUR", "RIS"),
        ("notes.txt", "@home we write {things} and more, as prose.", "plain text"),
        ("notes.txt", "Some prose.\n\n@article{a, abstract={Quoted.}}", "plain text"),
        ("readme.md", "# Us\n\n```\n@article{a, title={A}}\n```\n", "Markdown"),
    ],
)
def test_a_file_is_read_by_what_it_holds(name: str, text: str, format_name: str) -> None:
    assert format_of(Content.of(text.encode(), name)).name == format_name
