"""XML: arXiv's Atom feeds and PubMed's exports, whole, broken and hostile."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus import Content, Record, Rejected
from rag.corpus.content import Limits
from rag.corpus.registry import format_of
from rag.errors import InputError
from rag.schema import Metadata

ATOM = 'xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom"'
ENTRY = """
  <entry>
    <id>http://arxiv.org/abs/2401.01234v2</id>
    <updated>2024-03-01T00:00:00Z</updated>
    <published>2023-12-31T18:59:59Z</published>
    <title>Learning $k &lt; n$ Things:
  A Study</title>
    <summary>  We learn $k &lt; n$ things &amp; more.
It takes two lines.
</summary>
    <author><name>Jos&#233; Mar&#xED;a  Silva</name>
      <arxiv:affiliation>X</arxiv:affiliation></author>
    <author><name>Ann Lee</name></author>
    <arxiv:doi>10.1000/ABC.1</arxiv:doi>
    <link title="doi" href="http://dx.doi.org/10.1000/ABC.1" rel="related"/>
    <link href="http://arxiv.org/abs/2401.01234v2" rel="alternate" type="text/html"/>
    <arxiv:journal_ref>J. Things 3
      (2024) 1-9</arxiv:journal_ref>
    <arxiv:primary_category term="cs.LG"/>
    <category term="cs.LG"/><category term="stat.ML"/><category term="cs.LG"/>
  </entry>"""
DOCTYPE = (
    '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2019//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_190101.dtd">'
)
ARTICLE = """
<PubmedArticle>
 <MedlineCitation Status="MEDLINE">
  <PMID Version="1">31452104</PMID>
  <Article>
   <Journal>
    <JournalIssue><PubDate><Year>2019</Year><Month>Aug</Month></PubDate></JournalIssue>
    <Title>Journal of Tests</Title><ISOAbbreviation>J Tests</ISOAbbreviation>
   </Journal>
   <ArticleTitle
    >Roles of <i>E. coli</i> at 10<sup>-3</sup> m<sup>2</sup> in H<sub>2</sub>O.</ArticleTitle>
   <Abstract>
    <AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">Was <b>bold</b>.</AbstractText>
    <AbstractText Label="METHODS">We tried x<sup>th</sup> ones.</AbstractText>
    <AbstractText>And more.</AbstractText>
    <CopyrightInformation>All rights reserved.</CopyrightInformation>
   </Abstract>
   <AuthorList>
    <Author ValidYN="Y"><LastName>Müller</LastName><ForeName>Ann B</ForeName>
     <Initials>AB</Initials></Author>
    <Author ValidYN="Y"><LastName>King</LastName><ForeName>Joe</ForeName>
     <Suffix>Jr</Suffix></Author>
    <Author ValidYN="N"><LastName>Kign</LastName><ForeName>Joe</ForeName></Author>
    <Author><CollectiveName>The Test Group</CollectiveName></Author>
   </AuthorList>
  </Article>
  <MeshHeadingList><MeshHeading><DescriptorName UI="D1">Humans</DescriptorName>
   <QualifierName>x</QualifierName></MeshHeading></MeshHeadingList>
  <KeywordList><Keyword>rare  disease</Keyword><Keyword>Humans</Keyword></KeywordList>
 </MedlineCitation>
 <PubmedData>
  <ArticleIdList><ArticleId IdType="pubmed">31452104</ArticleId>
   <ArticleId IdType="doi">10.1016/J.Test.2019.01</ArticleId></ArticleIdList>
  <ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.9/other</ArticleId>
   </ArticleIdList></Reference></ReferenceList>
 </PubmedData>
</PubmedArticle>"""


def feed(*entries: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<feed {ATOM}>{"".join(entries)}</feed>'


def entry(summary: str, name: str = "http://arxiv.org/abs/2401.00001v1") -> str:
    return f"<entry><id>{name}</id><title>T</title><summary>{summary}</summary></entry>"


def articles(*all_of_them: str) -> str:
    inner = "".join(all_of_them)
    return f'<?xml version="1.0"?>\n{DOCTYPE}\n<PubmedArticleSet>{inner}</PubmedArticleSet>'


def article(inner: str, pmid: str = "7") -> str:
    return (
        f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article>{inner}</Article>"
        "</MedlineCitation></PubmedArticle>"
    )


def read(text: str | bytes, name: str = "export.xml") -> list[Record | Rejected]:
    data = text.encode() if isinstance(text, str) else text
    content = Content.of(data, name, Limits())
    return list(format_of(content).read(content))


def record(text: str | bytes) -> Record:
    (found,) = read(text)
    assert isinstance(found, Record), found
    return found


def refusal(text: str | bytes, name: str = "export.xml") -> str:
    with pytest.raises(InputError) as caught:
        read(text, name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_arxiv_entry_is_read_whole() -> None:
    found = record(feed(ENTRY))
    assert found.text == "We learn $k < n$ things & more.\nIt takes two lines."
    assert found.title == "Learning $k < n$ Things:\n  A Study"
    assert (found.ordinal, found.line, found.offset) == (1, 3, 0)
    assert found.meta == Metadata(
        authors=("José María Silva", "Ann Lee"),
        year=2023,
        venue="J. Things 3 (2024) 1-9",
        doi="10.1000/abc.1",
        arxiv="2401.01234",
        url="http://arxiv.org/abs/2401.01234v2",
        keywords=("cs.LG", "stat.ML"),
        key="2401.01234",
    )


@pytest.mark.parametrize(
    ("name", "arxiv"),
    [
        ("http://arxiv.org/abs/hep-th/9901001v3", "hep-th/9901001"),
        ("https://arxiv.org/abs/math.GT/0309136", "math/0309136"),
        ("http://arxiv.org/abs/0704.0001v1", "0704.0001"),
        ("urn:uuid:1225c695-cfb8-4ebb-aaaa-80da344efa6a", ""),
    ],
)
def test_an_arxiv_id_has_no_version(name: str, arxiv: str) -> None:
    meta = record(feed(entry("Long enough to be one.", name))).meta
    assert (meta.arxiv, meta.key) == (arxiv, arxiv or name)


def test_an_entry_without_summary_or_with_an_error_is_named() -> None:
    found = read(
        feed(
            entry("", "http://x/1"),
            entry("Kept."),
            entry("incorrect id format for 1.2", "http://arxiv.org/api/errors#incorrect_id"),
        )
    )
    assert [one.ordinal for one in found] == [1, 2, 3]
    assert isinstance(found[0], Rejected)
    assert "http://x/1" in found[0].reason
    assert isinstance(found[2], Rejected)
    assert "incorrect id format" in found[2].reason


def test_a_pubmed_article_is_read_whole() -> None:
    found = record(articles(ARTICLE))
    assert found.text == "BACKGROUND: Was bold.\nMETHODS: We tried xth ones.\nAnd more."
    assert found.title == "Roles of E. coli at 10⁻³ m² in H₂O."
    assert found.line == 4
    assert found.meta == Metadata(
        authors=("Ann B Müller", "Joe King Jr", "The Test Group"),
        year=2019,
        venue="Journal of Tests",
        doi="10.1016/j.test.2019.01",
        url="https://pubmed.ncbi.nlm.nih.gov/31452104/",
        keywords=("Humans", "rare disease"),
        key="31452104",
    )


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ("<PubDate><Year>1998</Year></PubDate>", 1998),
        ("<PubDate><MedlineDate>1998 Dec-1999 Jan</MedlineDate></PubDate>", 1998),
        ("<PubDate><MedlineDate>Winter</MedlineDate></PubDate>", None),
        ("<PubDate><Year>20O1</Year></PubDate>", None),
        ("<PubDate/>", None),
        ("", None),
    ],
)
def test_the_year_of_a_pubmed_article(date: str, year: int | None) -> None:
    text = "<Abstract><AbstractText>Enough.</AbstractText></Abstract>"
    journal = f"<Journal><JournalIssue>{date}</JournalIssue></Journal>"
    assert record(articles(article(journal + text))).meta.year == year


def test_articles_without_abstract_are_rejected_with_their_pmid() -> None:
    blank = "<Abstract><AbstractText Label='AIM'> </AbstractText></Abstract>"
    found = read(articles(article("<ArticleTitle>T</ArticleTitle>", "11"), article(blank, "12")))
    assert [one.reason for one in found if isinstance(one, Rejected)] == [
        "PMID 11 has no abstract",
        "PMID 12 has no abstract",
    ]


def test_a_chapter_of_a_book_is_read() -> None:
    chapter = (
        "<PubmedBookArticle><BookDocument><PMID>20301295</PMID>"
        "<Book><BookTitle>GeneReviews</BookTitle><PubDate><Year>1993</Year></PubDate></Book>"
        "<ArticleTitle>A Disease</ArticleTitle>"
        "<AuthorList Type='authors'><Author><LastName>Lee</LastName><ForeName>Ann</ForeName>"
        "</Author></AuthorList>"
        "<Abstract><AbstractText>A disease is described.</AbstractText></Abstract>"
        "</BookDocument></PubmedBookArticle>"
    )
    found = record(articles(chapter))
    assert (found.title, found.text) == ("A Disease", "A disease is described.")
    assert (found.meta.venue, found.meta.year, found.meta.key) == ("GeneReviews", 1993, "20301295")
    assert found.meta.authors == ("Ann Lee",)


def test_an_abstract_in_another_language_is_taken_at_need_and_told() -> None:
    other = (
        "<PubmedArticle><MedlineCitation><PMID>5</PMID><Article/>"
        '<OtherAbstract Type="Publisher" Language="spa"><AbstractText>Hola.</AbstractText>'
        "</OtherAbstract></MedlineCitation></PubmedArticle>"
    )
    found = record(articles(other))
    assert found.text == "Hola."
    assert "spa" in found.notes[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252"])
def test_xml_is_read_in_the_encoding_that_it_declares(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><feed {ATOM}>{entry("Größe ×2.")}</feed>'
    assert record(text.encode(encoding)).text == "Größe ×2."


def test_letters_that_the_unread_dtd_would_define_are_read() -> None:
    text = "<Abstract><AbstractText>caf&eacute; &alpha;</AbstractText></Abstract>"
    assert record(articles(article(text))).text == "café α"


def test_the_format_shows_without_the_suffix_and_behind_a_long_comment() -> None:
    assert len(read(feed(entry("One."), entry("Two.")), "query.txt")) == 2
    behind = feed(entry("One.")).replace("<feed", f"<!--{'x' * 20_000}--><feed", 1)
    assert len(read(behind)) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<html><body>abstract</body></html>", ["<html>", "<feed>", "<PubmedArticleSet>"]),
        ("no markup at all, only words", ["cannot be read as XML", "line 1, column 1"]),
        ('<?xml version="1.0"?>\n', ["cannot be read as XML", "no element found"]),
        ('<?xml version="1.0" encoding="nonsense-9"?><feed/>', ["nonsense-9"]),
    ],
)
def test_a_file_that_is_not_ours_is_refused_by_name(text: str, words: list[str]) -> None:
    message = refusal(text)
    assert message.startswith("export.xml")
    assert all(word in message for word in words), message


def laughs() -> str:
    inner = "".join(
        f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" if n else "<!ENTITY l0 'ha'>" for n in range(10)
    )
    return f"<!DOCTYPE feed [{inner}]><feed {ATOM}>{entry('&l9;')}</feed>"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (laughs(), ["'l0'", "entities are refused"]),
        (
            f'<!DOCTYPE feed [<!ENTITY x SYSTEM "file:///etc/hostname">]><feed {ATOM}>'
            f"{entry('&x;')}</feed>",
            ["'x'", "external entity", "file or address"],
        ),
        (
            f'<!DOCTYPE feed [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]><feed {ATOM}/>',
            ["'p'", "external entity"],
        ),
    ],
    ids=["billion laughs", "external", "parameter"],
)
def test_I22_entities_are_refused_and_told(text: str, words: list[str]) -> None:
    message = refusal(text)
    assert all(word in message for word in words), message


@pytest.mark.timeout(60)
def test_I22_a_record_nested_too_deeply_is_refused_and_the_next_is_taken() -> None:
    deep = "<a>" * 200_000 + "</a>" * 200_000
    found = read(feed(entry("One."), entry(deep), entry("Three.")))
    assert [type(one) for one in found] == [Record, Rejected, Record]
    assert isinstance(found[1], Rejected)
    assert "nested more than 200 deep" in found[1].reason


@pytest.mark.timeout(60)
def test_I22_endless_nesting_ends_the_reading() -> None:
    found = read(feed(entry("One."), entry("<a>" * 1_100_000)))
    assert [type(one) for one in found] == [Record, Rejected]
    assert refusal("<a>" * 1_100_000)


def test_I22_a_record_larger_than_any_paper_is_refused_and_the_next_is_taken() -> None:
    found = read(feed(entry("x" * 9_000_000), entry("Two.")))
    assert isinstance(found[0], Rejected)
    assert "8,000,000" in found[0].reason
    assert isinstance(found[1], Record)


@pytest.mark.timeout(60)
def test_I22_a_tag_that_does_not_end_is_refused_before_it_fills_the_memory() -> None:
    found = read(feed(entry("One."), f"<entry><a b='{'x' * 30_000_000}'/></entry>"))
    assert isinstance(found[0], Record)
    assert isinstance(found[1], Rejected)
    assert "16,777,216 bytes" in found[1].reason


@pytest.mark.parametrize(
    ("tail", "place"),
    [
        ("\n<entry><summary>Bad & worse</summary></entry></feed>", "line 3, column 22"),
        ("\n<entry><summary>Torn", "line 3, column 21"),
        ("\n<entry></wrong></feed>", "line 3, column 10"),
        ("\n<entry><summary>\x0b</summary></entry></feed>", "line 3, column 17"),
    ],
    ids=["ampersand", "truncated", "mismatched", "control"],
)
def test_what_stands_before_a_fault_in_the_form_is_kept(tail: str, place: str) -> None:
    whole = feed(entry("One."), entry("Two."))
    found = read(whole.removesuffix("</feed>") + tail)
    assert [one.text for one in found if isinstance(one, Record)] == ["One.", "Two."]
    bad = found[-1]
    assert isinstance(bad, Rejected)
    assert bad.ordinal == 3
    assert bad.line == 3
    assert place in bad.reason
    assert bad.remedy


@given(data=st.data())
def test_any_damage_ends_in_records_and_rejections(data: st.DataObject) -> None:
    source = data.draw(st.sampled_from([feed(ENTRY, entry("One.")), articles(ARTICLE)])).encode()
    place = data.draw(st.integers(0, len(source) - 1))
    torn = bytearray(source)
    torn[place : place + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    try:
        found = read(bytes(torn))
    except InputError as error:
        assert "export.xml" in str(error)
        return
    assert [one.ordinal for one in found] == list(range(1, len(found) + 1))


@pytest.mark.parametrize("count", [20_000])
def test_memory_does_not_grow_with_the_records(tmp_path: Path, count: int) -> None:
    path = tmp_path / "large.xml"
    with path.open("w") as file:
        file.write(f"<feed {ATOM}>")
        for number in range(count):
            file.write(entry(f"{number} " + "word " * 200))
        file.write("</feed>")
    content = Content("large.xml", "large.xml", path.stat().st_size, lambda: path.open("rb"))
    assert content.size > 20_000_000
    tracemalloc.start()
    try:
        assert sum(1 for _ in format_of(content).read(content)) == count
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()
