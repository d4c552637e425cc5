"""In how many papers a term stands, remembered and never stale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from library import Library, abstract

from rag.index.catalog import Catalog
from rag.index.counts import TermCounts
from rag.text import terms


def count_of(catalog: Catalog, word: str) -> int:
    (term,) = terms(word)
    with catalog.reading() as snapshot:
        assert snapshot.holding([term]) == snapshot.holding([term])  # counted, then remembered
        return snapshot.holding([term]).get(term, 0)


def test_a_paper_that_comes_or_goes_is_counted(tmp_path: Path) -> None:
    library, catalog = Library(tmp_path), Catalog(tmp_path / "data" / "catalog.sqlite3")
    library.write("a.txt", abstract("bridges"))
    library.index()
    assert (count_of(catalog, "bridges"), count_of(catalog, "apples")) == (1, 0)
    library.write("b.txt", abstract("bridges", about="a second town"))
    library.index()
    assert count_of(catalog, "bridges") == 2
    library.write("b.txt", abstract("apples", about="a second town"))
    library.index()
    assert (count_of(catalog, "bridges"), count_of(catalog, "apples")) == (1, 1)
    catalog.close()


class Counted:
    """A way to count that notes what it was asked."""

    def __init__(self, found: dict[str, int]) -> None:
        self.found = found
        self.asked: list[list[str]] = []

    def __call__(self, wanted: Sequence[str]) -> dict[str, int]:
        self.asked.append(list(wanted))
        return {term: self.found[term] for term in wanted if term in self.found}


def test_each_term_is_counted_once_in_a_revision() -> None:
    counts, count = TermCounts(), Counted({"apple": 3})
    assert counts.of(1, ["apple", "pear"], count) == {"apple": 3, "pear": 0}
    assert counts.of(1, ["pear", "apple"], count) == {"apple": 3, "pear": 0}
    assert count.asked == [["apple", "pear"]]


def test_an_older_state_that_is_still_read_gets_its_own_counts() -> None:
    counts = TermCounts()
    assert counts.of(2, ["apple"], Counted({"apple": 5})) == {"apple": 5}
    assert counts.of(1, ["apple"], Counted({"apple": 4})) == {"apple": 4}
    assert counts.of(2, ["apple"], Counted({})) == {"apple": 5}
    assert counts.of(3, ["apple"], Counted({"apple": 6})) == {"apple": 6}


def test_no_more_terms_are_kept_than_allowed() -> None:
    counts, count = TermCounts(limit=2), Counted(dict.fromkeys("abcde", 1))
    for wanted in ("ab", "cd", "cde"):
        assert counts.of(1, list(wanted), count) == dict.fromkeys(wanted, 1)
    assert counts.of(1, ["a"], count) == {"a": 1}
    assert count.asked[-1] == ["a"]  # forgotten, to make room


def test_the_number_of_papers_follows_the_state_that_is_read(tmp_path: Path) -> None:
    library, catalog = Library(tmp_path), Catalog(tmp_path / "data" / "catalog.sqlite3")
    library.write("a.txt", abstract("bridges"))
    library.index()
    with catalog.reading() as before:
        assert before.size() == before.size() == 1
        library.write("b.txt", abstract("apples"))
        library.index()
        with catalog.reading() as after:
            assert (before.size(), after.size()) == (1, 2)
        assert before.size() == 1
    catalog.close()
