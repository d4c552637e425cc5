"""What takes minutes: calls that the kernel refuses, readers by the dozen. For `make torture`."""

from __future__ import annotations

import os
import random
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest
from library import Library
from playwright.sync_api import Browser
from test_index_disk import ALL, OLD, check_completed, indexed, run
from test_page import QUESTION, Program, browser, index, program, visiting
from test_reliability_ingest import can_inject

__all__ = ["browser", "index", "indexed", "program"]

pytestmark = [pytest.mark.torture, pytest.mark.timeout(3_600)]
SEED = int(os.environ.get("TORTURE_SEED") or random.SystemRandom().randrange(2**31))
POINTS = int(os.environ.get("TORTURE_POINTS", "12"))  # of each call and error
REFUSED = {
    "openat": ("EMFILE", "EIO", "ENOSPC"),
    "write,pwrite64": ("ENOSPC", "EIO", "EINTR"),
    "fsync,fdatasync": ("EIO", "ENOSPC"),
    "rename,renameat,renameat2": ("EIO", "ENOSPC"),
    "mkdir,mkdirat": ("ENOSPC",),
    "ftruncate": ("EIO",),
    "mmap": ("ENOMEM",),
    "flock": ("EIO",),
}
CASES = [(call, error) for call, errors in REFUSED.items() for error in errors]
MOST = {"openat": 900, "write,pwrite64": 600, "mmap": 700}  # calls of a run; of others, 40
BEGINNING = {"openat": 250, "mmap": 500}  # calls by which Python has begun


@pytest.mark.case("I16", "I17", "I18")
@pytest.mark.parametrize(("call", "error"), CASES)
def test_an_index_run_whose_call_the_kernel_refuses_leaves_old_or_new(
    indexed: Library, tmp_path: Path, call: str, error: str
) -> None:
    """With a generation and the process that builds it; `when` counts in each thread."""
    if not can_inject(tmp_path):
        pytest.skip("there is no strace here that may make calls of the system fail")
    chance = random.Random(f"{SEED} {call} {error}")
    for _ in range(POINTS):
        number = chance.randint(BEGINNING.get(call, 1), MOST.get(call, 40))
        library = indexed.copy(tmp_path / "data")
        inject = ["-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={number}"]
        tracer = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null"]
        ran = run(library, prefix=[*tracer, *inject])
        told = f"seed {SEED}: {call} {number} refused with {error}: {ran.code} {ran.err}"
        assert ran.code in {0, 1, 2, 3, 4, 5}, told
        assert "Traceback" not in ran.err or error in {"EMFILE", "ENOMEM"}, told
        assert library.texts() in (OLD, ALL), told
        check_completed(library)
        shutil.rmtree(library.data)


@pytest.mark.case("U06")
def test_twenty_readers_do_not_see_each_other(browser: Browser, program: Program) -> None:
    questions = [QUESTION, "How can offline imitation learning be made safe?"]
    foreign = ["imitation", "RN-DPO"]
    with ExitStack() as stack:
        readers = [stack.enter_context(visiting(browser, program.url)) for _ in range(20)]
        for turn in range(1, 4):
            for number, reader in enumerate(readers):
                reader.ask(questions[number % 2])
            for number, reader in enumerate(readers):
                reader.wait_until_answered()
                assert reader.page.locator("#chat .turn").count() == turn
                assert foreign[number % 2] not in reader.page.locator("#chat").inner_text()
