"""No bytes break what reads them. Crashes that were found once stand here."""

from __future__ import annotations

import pytest
from fuzzing import PIECES, TARGETS, seeds
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

KNOWN: list[tuple[str, bytes]] = []
EXAMPLES = {True: 8, False: 40}  # of those that write a file, and of the others


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_of_its_kind_is_read(name: str) -> None:
    for one in seeds(name):
        TARGETS[name](one)
        TARGETS[name](one[: len(one) // 2])


@pytest.mark.parametrize("name", TARGETS)
def test_no_bytes_break_it(name: str) -> None:
    parts = st.sampled_from([*PIECES, *seeds(name)]) | st.binary(max_size=8)

    @settings(
        max_examples=EXAMPLES[name.startswith("file") or name == "recorded"],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(parts, max_size=25).map(b"".join))
    def read(data: bytes) -> None:
        TARGETS[name](data)

    read()


def test_what_was_found_stays_mended() -> None:
    for name, data in KNOWN:
        TARGETS[name](data)
