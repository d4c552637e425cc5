"""Standard input and signals, so that the server ends when it is told to, whatever it waits for."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio

from rag.errors import EXIT_INTERRUPTED, EXIT_TERMINATED

_CODES = {signal.SIGTERM: EXIT_TERMINATED, signal.SIGINT: EXIT_INTERRUPTED}


class Lines:
    """The lines of standard input, read by a thread that is left behind when the program ends.

    A thread that waits for a line cannot be woken, and one that has to be waited for would keep
    the program alive until its client writes again. Whatever else reads standard input meanwhile,
    a child process included, finds it empty.
    """

    def __init__(self) -> None:
        self._descriptor = os.dup(0)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)

    async def __aiter__(self) -> AsyncIterator[str]:
        """Each line, as it comes, until the other side closes."""
        loop, lines = asyncio.get_running_loop(), asyncio.Queue[str | None]()

        def read() -> None:
            with suppress(RuntimeError), os.fdopen(self._descriptor, "rb") as file:  # loop closed
                for line in file:
                    loop.call_soon_threadsafe(lines.put_nowait, line.decode("utf-8", "replace"))
                loop.call_soon_threadsafe(lines.put_nowait, None)

        threading.Thread(target=read, daemon=True).start()
        while (line := await lines.get()) is not None:
            yield line


@dataclass
class Told:
    """How a server came to its end: `code` is 0 unless a signal ended it."""

    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    code: int = 0

    def cancel(self, code: int = 0) -> None:
        """End all that runs in the block."""
        self.code = code
        self.scope.cancel()


@asynccontextmanager
async def until_told_to_end() -> AsyncIterator[Told]:
    """A block that SIGTERM and Ctrl-C cancel."""
    async with anyio.create_task_group() as group:
        told = Told(group.cancel_scope)
        group.start_soon(_listen, told)
        yield told


async def _listen(told: Told) -> None:
    with anyio.open_signal_receiver(*_CODES) as signals:
        async for one in signals:
            told.cancel(_CODES[one])
            return
