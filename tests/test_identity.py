"""When two records are one paper."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.index.identity import (
    bands,
    groups,
    identity_keys,
    near_identical,
    same_authors,
    shingles,
    successors,
)
from rag.schema import Metadata

OWLS = (
    "Owls hunt at night and find mice by ear alone. We measured 12 owls over two winters in open "
    "fields and found that they turn their heads before they fly, and never after they have left "
    "the branch they sit on, whatever the wind does."
)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (OWLS, True),
        (OWLS.replace("\n", " ").replace(" at night", "\n at  night"), True),
        (OWLS.replace("whatever the wind does", "whatever the winds do"), True),
        (OWLS.upper(), True),
        (OWLS.replace("measured", "mea\u00adsured"), True),
        (OWLS.replace("12", "13"), False),
        (OWLS.replace("two winters", "two winters and 3 springs"), False),
        (" ".join(reversed(OWLS.split())), False),
        (OWLS[: len(OWLS) // 2], False),
        ("", False),
    ],
)
def test_texts_are_near_identical_in_nearly_the_same_words_and_the_same_numbers(
    other: str, same: bool
) -> None:
    assert near_identical(OWLS, other) is same
    assert near_identical(other, OWLS) is same


def test_short_texts_are_never_near_identical() -> None:
    assert not near_identical("Short abstract about owls.", "Short abstract about owls.")


def test_near_identical_texts_meet_in_a_band_and_others_seldom_do() -> None:
    words = OWLS.split()
    for place in range(0, len(words), 3):
        changed = " ".join([*words[:place], "indeed", *words[place:]])
        if near_identical(OWLS, changed):
            assert set(bands(shingles(OWLS))) & set(bands(shingles(changed)))
    other = " ".join(reversed(words))
    assert not set(bands(shingles(OWLS))) & set(bands(shingles(other)))
    assert bands(shingles("too short")) == ()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Metadata(doi="10.1000/XYZ"), Metadata(doi="10.1000/xyz"), True),
        (Metadata(arxiv="2401.01234"), Metadata(arxiv="2401.01234", doi="10.1/a"), True),
        (Metadata(doi="10.1000/xyz"), Metadata(doi="10.1000/xyzz"), False),
        (Metadata(authors=("Zoë Müller",)), Metadata(authors=("Z. Muller",)), True),
        (Metadata(authors=("A. Bell", "C. Day")), Metadata(authors=("Day, C.", "Bell, A.")), True),
        (Metadata(authors=("A. Bell",)), Metadata(authors=("A. Bell", "C. Day")), False),
        (Metadata(), Metadata(), False),
    ],
)
def test_identifiers_or_title_with_authors_name_a_paper(
    one: Metadata, other: Metadata, same: bool
) -> None:
    keys = set(identity_keys("Owl Nests: a study", one))
    assert bool(keys & set(identity_keys("owl nests – a  Study", other))) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (["Smith, John"], ["Smith, Jane"], False),
        (["John Smith"], ["J. Smith"], True),
        (["John Smith"], ["Smith"], True),
        (["Jean-Pierre Serre"], ["Serre, J.-P."], True),
        (["Jean-Pierre Serre"], ["JP Serre"], True),
        (["John A. Smith"], ["John B. Smith"], False),
        (["José Díaz"], ["Diaz, Jose"], True),
        (["Li Zhang", "Wei Zhang"], ["Zhang, W.", "Zhang, L."], True),
        (["Li Zhang", "Wei Zhang"], ["Zhang, W.", "Zhang, Q."], False),
        (["王伟"], ["王伟"], True),
    ],
)
def test_given_names_that_are_written_out_must_be_equal(
    one: list[str], other: list[str], same: bool
) -> None:
    assert same_authors(Metadata(authors=tuple(one)), Metadata(authors=tuple(other))) is same
    assert same_authors(Metadata(authors=tuple(other)), Metadata(authors=tuple(one))) is same


@pytest.mark.parametrize("title", [None, "", "…"])
def test_authors_alone_name_nothing(title: str | None) -> None:
    assert identity_keys(title, Metadata(authors=("A. Bell",))) == ()


PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=15)


@given(links=PAIRS)
def test_groups_are_the_connected_components(links: list[tuple[int, int]]) -> None:
    found = groups(range(10), links, ())
    assert sorted(node for group in found for node in group) == list(range(10))
    home = {node: index for index, group in enumerate(found) for node in group}
    assert all(home[a] == home[b] for a, b in links)
    # fewest links that hold the groups together: one group less for each link that was needed
    reach = {node: {node} for node in range(10)}
    for _ in range(10):
        for a, b in links:
            joined = reach[a] | reach[b]
            for node in joined:
                reach[node] = joined
    assert {frozenset(group) for group in found} == {frozenset(group) for group in reach.values()}


@given(links=PAIRS, apart=PAIRS)
def test_what_was_set_apart_is_never_in_one_group(
    links: list[tuple[int, int]], apart: list[tuple[int, int]]
) -> None:
    pairs = {frozenset(pair) for pair in apart if pair[0] != pair[1]}
    for group in groups(range(10), links, pairs):
        assert not pairs & {frozenset(pair) for pair in combinations(group, 2)}


def test_a_record_goes_on_under_its_own_name_or_in_similar_words() -> None:
    old = {1: ("p-owl", "Owls nest in trees."), 2: ("", OWLS), 3: ("", "Herons wade in reeds.")}
    new = [
        ("", OWLS.replace("12", "15")),
        ("p-owl", "Something else altogether."),
        ("", "A new paper about storks and frogs."),
    ]
    assert successors(old, new) == {0: 2, 1: 1}
    assert successors({}, new) == {}
    assert successors(old, []) == {}
