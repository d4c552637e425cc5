"""The process that speaks with a Ray cluster, as its parent sees it."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing import Pipe
from typing import IO, Any, TypeVar

from rag.errors import ModelError
from rag.index.built import BuiltWith
from rag.index.embedding import Recipe
from rag.index.ray_driver import Call, Order, Reply

Tag = TypeVar("Tag")

_PROGRAM = "import sys; from rag.index.ray_driver import main; main(int(sys.argv[1]))"
_PER_WORKER = 2  # calls under way: one that is worked on, one that waits
_CLOSING_SECONDS = 15.0
_SHORT = "/tmp"  # the path of a socket has at most 107 bytes, and TMPDIR may be long
_ALWAYS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


class Link:
    """A running driver process; `close` ends it, and with it a cluster that it started.

    Args:
        address: Of the cluster; empty: one of this machine's processors on loopback.
        workers: How many that one has; 0: one for each processor.
        recipe: The embedding model.
        built_with: How papers are cut.

    Raises:
        ModelError: the cluster cannot be reached or started, or its machines have other software.
    """

    def __init__(self, address: str, workers: int, recipe: Recipe, built_with: BuiltWith) -> None:
        self._folder = tempfile.mkdtemp(prefix="rag-", dir=_SHORT)
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._connection, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, str(theirs.fileno())],
                env=os.environ | _variables(address),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._log,
                start_new_session=True,  # Ctrl-C is for the parent, which ends it
            )
        try:
            self._send(Order(address, workers, self._folder, recipe, built_with))
            self._workers = int(self._receive().value)
        except BaseException:
            self.close()
            raise

    def answers(self, calls: Iterable[tuple[Tag, Call]]) -> Iterator[tuple[Tag, Any]]:
        """What each call yields, call after call, with the call's tag.

        Raises:
            ModelError: the cluster is lost.
            AskPapersError: what a worker raised.
        """
        waiting: deque[Tag] = deque()
        for tag, call in calls:
            self._send(call)
            waiting.append(tag)
            if len(waiting) > _PER_WORKER * self._workers:
                yield from self._results(waiting.popleft())
        while waiting:
            yield from self._results(waiting.popleft())

    def close(self) -> None:
        """End the process, patiently first, and remove what it left."""
        self._connection.close()
        try:
            self._process.wait(_CLOSING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        if self._process.wait():  # it could not end its cluster
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _results(self, tag: Tag) -> Iterator[tuple[Tag, Any]]:
        while not (reply := self._receive()).last:
            yield tag, reply.value

    def _send(self, message: Order | Call) -> None:
        try:
            self._connection.send(message)
        except OSError:
            raise self._lost() from None

    def _receive(self) -> Reply:
        try:
            reply: Reply = self._connection.recv()
        except (EOFError, OSError):
            raise self._lost() from None
        if reply.error is not None:
            raise reply.error
        return reply

    def _lost(self) -> ModelError:
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
        return ModelError(
            "The connection with the Ray cluster is lost",
            cause=lines[-1][-300:] if lines else "its driver process has ended",
            remedy="What was done is kept: run the command again, or use --engine local.",
        )


def _variables(address: str) -> dict[str, str]:
    """Environment of the driver: this program's modules, nothing told to anyone.

    A cluster of its own listens on loopback only, and asks for a key.
    """
    found = {**_ALWAYS, "PYTHONPATH": os.pathsep.join(path or os.curdir for path in sys.path)}
    if address:
        return found
    key = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    return {**found, **key, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
