"""One paper from several sources, its versions, and what a person decides about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path

import pytest
from library import Library, abstract

from rag.errors import PaperNotFound, UsageError
from rag.index.browse import Filter, browse, merged, sources_of, years_of
from rag.index.catalog import Catalog
from rag.index.curation import Curator
from rag.index.sync import Options
from rag.retrieval.lookup import find_paper
from rag.schema import Paper

LONG = (
    "Owls hunt at night and find mice by ear alone. We measured 12 owls over two winters in open "
    "fields and found that they turn their heads before they fly, and never after they have left "
    "the branch they sit on, whatever the wind does."
)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def lines(library: Library, name: str, *records: Mapping[str, object]) -> Path:
    path = library.papers / name
    path.write_text("\n".join(json.dumps(record) for record in records))
    return path


def record(text: str, **fields: object) -> dict[str, object]:
    return {"abstract": text, **fields}


def places(library: Library) -> list[list[str]]:
    """The sources of each paper, papers and sources in order."""
    with library.state() as state:
        papers = [paper.id for paper in state.snapshot.all_papers()]
        found = [sources_of(state.snapshot, paper) for paper in papers]
    return [[f"{one.label.rsplit('/', 1)[-1]}:{one.ordinal}" for one in them] for them in found]


def versions(library: Library) -> dict[str, int]:
    return {paper.text: paper.version for paper in real(library)}


def real(library: Library) -> list[Paper]:
    with library.state() as state:
        return list(state.snapshot.all_papers())


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (
            record(abstract("apples"), title="Apples", doi="10.1000/A"),
            record(abstract("bridges"), title="On apples", doi="https://doi.org/10.1000/a"),
            "DOI 10.1000/a",
        ),
        (
            record(abstract("apples"), arxiv_id="2401.01234v2"),
            record(abstract("bridges"), arxiv_id="arXiv:2401.01234"),
            "arXiv 2401.01234",
        ),
        (
            record(
                abstract("apples"), title="Owl Nests and Towns", authors=["Zoë Müller", "A. Bell"]
            ),
            record(
                abstract("bridges"), title="Owl nests and towns", authors="Bell, A.; Muller, Z."
            ),
            "same title and authors",
        ),
        (
            record(LONG),
            record(LONG.replace("whatever the wind", "whatever wind")),
            "near-identical",
        ),
        (record(LONG), record(LONG), "same text"),
    ],
    ids=["doi", "arxiv", "title and authors", "near-identical", "same"],
)
def test_the_same_paper_from_two_files_is_one_with_two_sources(
    library: Library, one: dict[str, object], other: dict[str, object], reason: str
) -> None:
    lines(library, "a.jsonl", one, record(abstract("clouds")))
    lines(library, "b.jsonl", other)
    report = library.index()
    assert (report.added, report.duplicates, report.total.records) == (2, 1, 3)
    assert places(library) == [["a.jsonl:1", "b.jsonl:1"], ["a.jsonl:2"]] or places(library) == [
        ["a.jsonl:2"],
        ["a.jsonl:1", "b.jsonl:1"],
    ]
    with library.state() as state:
        (found,) = merged(state.snapshot)
    assert any(reason in told for told in found.reasons)
    (library.papers / "a.jsonl").unlink()
    report = library.index()
    assert (report.removed, report.total.papers) == (1, 1)
    assert places(library) == [["b.jsonl:1"]]
    assert library.texts() == {other["abstract"]}


def test_given_names_tell_people_of_one_surname_apart(library: Library) -> None:
    title = "How owls choose where to nest"
    names = ("Smith, John", "Smith, Jane", "John A. Smith", "J. Smith")
    for place, (name, topic) in enumerate(
        zip(names, ("apples", "bridges", "clouds", "deserts"), strict=True)
    ):
        lines(library, f"{place}.jsonl", record(abstract(topic), title=title, authors=[name]))
    library.index()
    assert sorted(places(library)) == [["0.jsonl:1", "2.jsonl:1", "3.jsonl:1"], ["1.jsonl:1"]]


def test_a_title_that_many_papers_bear_makes_one_paper_of_like_abstracts_only(
    library: Library,
) -> None:
    about = "The editor looks back on a year of {} and thanks {} for it."
    for place, (one, other) in enumerate(
        [("owls", "all reviewers"), ("bridges and towers", "the town"), ("owls", "reviewers all")]
    ):
        text = about.format(one, other) if place != 1 else abstract(one)
        lines(library, f"{place}.jsonl", record(text, title="Editorial", authors=["A. Bell"]))
    library.index()
    assert sorted(places(library)) == [["0.jsonl:1", "2.jsonl:1"], ["1.jsonl:1"]]


@pytest.mark.parametrize(
    "order", list(permutations(["a.jsonl", "b.jsonl", "c.jsonl"])), ids="-".join
)
def test_three_files_give_one_paper_in_whatever_order_they_come(
    library: Library, order: tuple[str, ...]
) -> None:
    held = {
        "a.jsonl": record(abstract("apples"), doi="10.1000/x"),
        "b.jsonl": record(abstract("bridges"), arxiv_id="2401.00001"),
        "c.jsonl": record(
            abstract("clouds"), title="All", doi="10.1000/x", arxiv_id="2401.00001", year=2021
        ),
    }
    for name in order:
        library.index(lines(library, name, held[name]))
    assert places(library) == [["a.jsonl:1", "b.jsonl:1", "c.jsonl:1"]]
    (paper,) = real(library)
    assert (paper.title, paper.meta.year, paper.text) == ("All", 2021, abstract("clouds"))
    (library.papers / "c.jsonl").unlink()
    library.index()
    assert sorted(places(library)) == [["a.jsonl:1"], ["b.jsonl:1"]]


def test_a_changed_abstract_is_a_new_version_and_the_old_text_is_nowhere(
    library: Library,
) -> None:
    lines(library, "a.jsonl", record("TinyOwl is evaluated on 12 tasks.", id="p", title="TinyOwl"))
    library.index()
    (before,) = real(library)
    lines(library, "a.jsonl", record("TinyOwl is evaluated on 15 tasks.", id="p", title="TinyOwl"))
    report = library.index()
    assert (report.added, report.updated, report.removed) == (0, 1, 0)
    (after,) = real(library)
    assert (after.id, after.version) == (before.id, 2)
    assert [hit.paper.text for hit in library.search("12 tasks").hits] == [
        "TinyOwl is evaluated on 15 tasks."
    ]
    stored = b"".join(p.read_bytes() for p in library.data.rglob("*") if p.is_file())
    assert b"15 tasks" in stored
    assert b"12 tasks" not in stored


def test_a_record_that_moves_in_its_file_or_to_another_stays_the_same_paper(
    library: Library,
) -> None:
    lines(library, "a.jsonl", record(abstract("apples")), record(abstract("bridges")))
    library.index()
    ids = {paper.text: paper.id for paper in real(library)}
    lines(library, "a.jsonl", record(abstract("bridges")), record(abstract("apples")))
    (library.papers / "a.jsonl").rename(library.papers / "z.jsonl")
    report = library.index()
    assert (report.added, report.updated, report.removed, report.embedded) == (0, 0, 0, 0)
    assert {paper.text: paper.id for paper in real(library)} == ids
    assert places(library) == [["z.jsonl:1"], ["z.jsonl:2"]]


def test_equal_texts_under_two_ids_survive_the_removal_of_one(library: Library) -> None:
    lines(library, "a.jsonl", record(LONG, id="one"), record(LONG, id="two"))
    library.index()
    lines(library, "a.jsonl", record(LONG, id="two"))
    assert library.index().removed == 0
    assert library.texts() == {LONG}


def test_texts_that_differ_in_a_number_are_two_papers(library: Library) -> None:
    lines(library, "a.jsonl", record(LONG), record(LONG.replace("12 owls", "13 owls")))
    assert library.index().total.papers == 2


def curator(library: Library) -> Curator:
    return Curator(Catalog(library.data / "catalog.sqlite3"))


def test_a_merge_can_be_undone_and_stays_undone(library: Library) -> None:
    lines(library, "a.jsonl", record(abstract("apples"), doi="10.1000/x"))
    lines(library, "b.jsonl", record(abstract("bridges"), doi="10.1000/x"))
    library.index()
    (paper,) = real(library)
    assert curator(library).separate(paper.id) == 2
    assert sorted(places(library)) == [["a.jsonl:1"], ["b.jsonl:1"]]
    assert library.nearest("apples", 1)[0][1] == 1.0
    assert library.nearest("bridges", 1)[0][1] == 1.0
    lines(library, "b.jsonl", record(abstract("bridges"), doi="10.1000/x", year=2020))
    library.index()
    assert sorted(places(library)) == [["a.jsonl:1"], ["b.jsonl:1"]]
    with pytest.raises(UsageError, match="one text"):
        curator(library).separate(paper.id)


def test_what_was_undone_is_one_paper_again_when_that_is_taken_back(library: Library) -> None:
    topics = ("apples", "bridges", "clouds")
    for name, topic in zip("abc", topics, strict=True):
        lines(library, f"{name}.jsonl", record(abstract(topic), doi="10.1000/x"))
    library.index()
    (merged,) = real(library)
    assert curator(library).separate(merged.id) == 3
    newest = real(library)[-1]
    assert newest.id != merged.id
    assert curator(library).rejoin(newest.id) == [merged.id]
    assert places(library) == [["a.jsonl:1", "b.jsonl:1", "c.jsonl:1"]]
    assert {paper.id: paper.text for paper in real(library)} == {merged.id: merged.text}
    assert library.index().total.papers == 1
    with pytest.raises(UsageError, match=r"No merge of .* was undone"):
        curator(library).rejoin(merged.id)
    assert curator(library).separate(merged.id) == 3


def test_a_removed_paper_is_gone_until_its_file_is_indexed_again(library: Library) -> None:
    lines(library, "a.jsonl", record(abstract("apples")), record(abstract("bridges")))
    library.index()
    (first, _) = real(library)
    assert curator(library).remove([first.id]) == 1
    assert library.texts() == {abstract("bridges")}
    assert library.index().added == 1
    assert library.texts() == {abstract("apples"), abstract("bridges")}


def test_papers_are_found_by_identifier(library: Library) -> None:
    lines(
        library,
        "a.jsonl",
        record(abstract("apples"), doi="10.1000/ABC"),
        record(abstract("bridges"), arxiv_id="2401.01234"),
    )
    library.index()
    with library.state() as state:
        for name in ("10.1000/abc", "doi:10.1000/ABC", "https://doi.org/10.1000/abc"):
            assert find_paper(state.snapshot, name).text == abstract("apples")
        for name in ("2401.01234", "arXiv:2401.01234v3"):
            assert find_paper(state.snapshot, name).text == abstract("bridges")
        with pytest.raises(PaperNotFound):
            find_paper(state.snapshot, "10.1000/abcd")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Filter(), "abc"),
        (Filter(years=years_of("2020")), "a"),
        (Filter(years=years_of("2020-2022")), "ab"),
        (Filter(years=years_of("2021-")), "b"),
        (Filter(years=years_of("-2020")), "a"),
        (Filter(venue="neurips"), "b"),
        (Filter(author="zoe muller"), "a"),
        (Filter(author="Muller, Zoë"), "a"),
        (Filter(author="Z. Mull"), "a"),
        (Filter(author="zoe bell"), ""),
        (Filter(author="uller"), ""),
        (Filter(author="Li"), "c"),
        (Filter(author="Bel"), ""),
        (Filter(author="bell"), "b"),
        (Filter(author="O"), "c"),
        (Filter(author="王"), "b"),
        (Filter(author="明"), "b"),
        (Filter(author="Kim"), ""),
        (Filter(source="A.JSONL"), "abc"),
        (Filter(source="b.jsonl"), ""),
        (Filter(text="clouds measured"), "c"),
        (Filter(text="measured OR"), "abc"),
        (Filter(text='"'), ""),
        (Filter(years=years_of("2020"), venue="NeurIPS"), ""),
    ],
)
def test_papers_are_filtered(library: Library, wanted: Filter, found: str) -> None:
    lines(
        library,
        "a.jsonl",
        record(abstract("apples"), title="a", year=2020, authors=["Zoë Müller"], venue="ACL"),
        record(
            abstract("bridges"),
            title="b",
            year=2022,
            authors=["A. Bell", "王小明"],
            venue="NeurIPS",
        ),
        record(abstract("clouds"), title="c", authors=["Oliver Kimball", "Wei Li"]),
    )
    library.index()
    with library.state() as state:
        assert "".join(paper.title for paper in browse(state.snapshot, wanted)) == found


@pytest.mark.parametrize("years", ["", "20", "2020-21", "soon", "2020 2021", "-", "20202021"])
def test_what_is_no_span_of_years_is_refused(years: str) -> None:
    with pytest.raises(UsageError, match="span of years"):
        years_of(years)


def test_a_strict_run_changes_nothing_where_anything_is_unreadable(library: Library) -> None:
    (library.papers / "a.jsonl").write_text(json.dumps(record(abstract("apples"))) + "\n{broken")
    indexer = library.indexer()
    with pytest.raises(UsageError, match=r"a\.jsonl, record 2, line 2"):
        indexer.sync([library.papers], Options(strict=True))
    indexer.catalog.close()
    assert library.index().added == 1


def test_a_dry_run_tells_what_would_change_and_changes_nothing(library: Library) -> None:
    lines(library, "a.jsonl", record(abstract("apples")))
    library.index()
    lines(library, "a.jsonl", record(abstract("apples")), record(abstract("bridges")))
    indexer = library.indexer()
    report = indexer.sync([library.papers], Options(dry_run=True))
    indexer.catalog.close()
    assert (report.added, report.unchanged, report.embedded) == (1, 1, 0)
    assert library.texts() == {abstract("apples")}
    assert library.index().added == 1


def test_losing_more_than_half_of_twenty_papers_is_asked_back_about(library: Library) -> None:
    for number in range(20):
        lines(library, f"{number}.jsonl", record(f"Text number {number} about owls and mice."))
    library.index()
    for number in range(11):
        (library.papers / f"{number}.jsonl").unlink()
    with pytest.raises(UsageError, match=r"11 of 20 papers.*--allow-shrink"):
        library.index()
    assert len(library.texts()) == 20
    indexer = library.indexer()
    assert indexer.sync([library.papers], Options(allow_shrink=True)).removed == 11
    indexer.catalog.close()
