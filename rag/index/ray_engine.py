"""Reading and embedding on a Ray cluster, with the results of one process.

A worker reads a file itself if it sees the very file that this machine sees; any other file is
read here. Members of archives travel with their bytes. Ray has a batch done again whose worker
died.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from rag.corpus import Limits, Refused
from rag.errors import ConfigError
from rag.index.built import BuiltWith
from rag.index.embedding import Recipe
from rag.index.engine import Embedded
from rag.index.ray_driver import Call
from rag.index.ray_link import Link
from rag.index.ray_worker import Held, Mark, Sent
from rag.index.reading import Job, Part, read
from rag.schema import Paper

_BATCH_FILES = 64
_BATCH_BYTES = 4_000_000
_LARGEST_MEMBER = 32_000_000  # bytes that are sent to a worker; a larger one is read here


class RayEngine:
    """An `Engine` on the cluster at `address`, or on one that it starts on this machine.

    It connects when it is first used and leaves when its block ends. `workers` is the number of
    processes of its own cluster, 0: one for each processor.

    Raises:
        ConfigError: Ray is not installed.
    """

    def __init__(
        self, recipe: Recipe, built_with: BuiltWith, address: str = "", workers: int = 0
    ) -> None:
        if importlib.util.find_spec("ray") is None:
            raise ConfigError(
                "The engine ray is not installed",
                remedy="Run `pip install 'askpapers[ray]'`, or use --engine local.",
            )
        self._recipe = recipe
        self._built_with = built_with
        self._address = address
        self._workers = workers
        self._link: Link | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None

    def read(self, jobs: Iterable[Job], limits: Limits) -> Iterator[tuple[Job, Part]]:
        """See `Engine.read`."""
        calls = (
            ([job for job, _ in batch], Call("read", ([sent for _, sent in batch], limits)))
            for batch in _batches(jobs)
        )
        for batch, answers in self._linked().answers(calls):
            for index, part in answers:
                job = batch[index]
                parts = read(job, limits) if part is None else iter([part])
                yield from ((job, one) for one in parts)

    def embed(self, batches: Iterable[Sequence[Paper]]) -> Iterator[Embedded]:
        """See `Engine.embed`."""
        calls = ((None, Call("embed", (batch,))) for batch in batches)
        for _, embedded in self._linked().answers(calls):
            yield embedded

    def _linked(self) -> Link:
        if self._link is None:
            self._link = Link(self._address, self._workers, self._recipe, self._built_with)
        return self._link


def _batches(jobs: Iterable[Job]) -> Iterator[list[tuple[Job, Sent]]]:
    batch: list[tuple[Job, Sent]] = []
    size = 0
    for job in jobs:
        sent, more = _packed(job)
        batch.append((job, sent))
        size += more
        if len(batch) >= _BATCH_FILES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _packed(job: Job) -> tuple[Sent, int]:
    """A job as it is sent, and the bytes that it is about."""
    source = job.source
    if isinstance(source, Refused):
        return Sent(None), 0
    if source.member is None:
        mark = Mark.of(source.path)
        return (Sent(job, mark), mark.size) if mark else (Sent(None), 0)
    if source.member.size > _LARGEST_MEMBER:
        return Sent(None), 0
    with source.member.open() as stream:
        member = replace(source.member, open=Held(stream.read()))
    return Sent(replace(job, source=replace(source, member=member))), source.member.size
