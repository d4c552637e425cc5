"""The process that speaks with a Ray cluster: it hands work out and gives results back in order.

Why a process of its own: a Ray program prints to standard output whatever befalls its cluster, and
ends without a word, the index half written, when the cluster's head has been silent for a minute.
Here that is a closed connection. Its parent sends an `Order` and then `Call`s; it answers with the
number of workers and then, for each call in order, `Reply`s of which the last one says so.

The only module that uses ray; the parent never imports it.
"""

from __future__ import annotations

import hashlib
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from rag.errors import AskPapersError, ModelError
from rag.index.built import BuiltWith
from rag.index.embedding import Recipe
from rag.index.ray_worker import Weight, Worker, release_hash

_RETRIES = 3  # of a call whose worker died, before it is taken for the call's fault
_PAUSE_SECONDS = 1.0  # more before each further time: a worker moves to another machine
_AHEAD = 4  # parts of a file that a worker keeps ready
_STORE_BYTES = 200_000_000  # shared memory for what is under way
_QUIET = 50  # above every level of Ray's log


@dataclass(frozen=True, slots=True)
class Order:
    """What is needed to begin. `address` is empty for a cluster of this machine's processors.

    `workers` is how many that cluster has, 0: one for each processor. `folder` is for its files.
    """

    address: str
    workers: int
    folder: str
    recipe: Recipe
    built_with: BuiltWith


@dataclass(frozen=True, slots=True)
class Call:
    """A method of `Worker` with its arguments."""

    method: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """Something that a call gave, or the `error` that it ended with."""

    value: Any = None
    error: Exception | None = None
    last: bool = False


class _Hand:
    """A worker of the cluster and what it has to do."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor
        self._running: list[Any] = []

    def load(self) -> int:
        """How many calls it is not done with."""
        import ray

        if self._running:
            _, self._running = ray.wait(
                self._running, num_returns=len(self._running), timeout=0, fetch_local=False
            )
        return len(self._running)

    def begin(self, call: Call) -> Any:
        """Begin a call; an iterator over references to what it yields."""
        method = getattr(self._actor, call.method).options(
            num_returns="streaming", _generator_backpressure_num_objects=_AHEAD
        )
        results = method.remote(*call.arguments)
        self._running.append(results.completed())
        return results


class _Team:
    """All workers; a call goes to the one that has least to do."""

    def __init__(self, hands: Sequence[_Hand]) -> None:
        self._hands = hands
        self._giving = Lock()

    @property
    def size(self) -> int:
        """How many workers there are."""
        return len(self._hands)

    def begin(self, call: Call) -> Any:
        """See `_Hand.begin`."""
        with self._giving:
            return min(self._hands, key=_Hand.load).begin(call)

    def values(self, call: Call, results: Any) -> Iterator[Any]:
        """What a call yields, whose `results` are on their way.

        Where a machine is lost with what it had done, the call is made again elsewhere: a call
        yields the same values each time.

        Raises:
            Exception: what the worker raised.
            ModelError: the cluster failed the call again and again.
        """
        import ray

        given, failed = 0, 0
        while True:
            try:
                for reference in islice(results, given, None):
                    yield ray.get(reference)
                    given += 1
                return
            except ray.exceptions.RayTaskError as error:
                raise getattr(error, "cause", None) or _lost(error) from None
            except ray.exceptions.RayError as error:
                failed += 1
                if failed > _RETRIES:
                    raise _lost(error) from None
            time.sleep(_PAUSE_SECONDS * failed)
            results = self.begin(call)


def _connect(order: Order) -> None:
    import ray

    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": _QUIET}
    if order.address:
        ray.init(address=order.address, **quiet)
        return
    ray.init(
        address="local",
        num_cpus=order.workers or None,
        include_dashboard=False,
        object_store_memory=_STORE_BYTES,
        _temp_dir=order.folder,
        **quiet,
    )


def _hire(order: Order) -> _Team:
    """A worker for each processor of the cluster, ready to work.

    They reserve nothing: one whose machine is lost moves to another at once, where a reservation
    would wait for ever for a processor that nobody has.
    """
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    weights = [_weight(path) for path in order.recipe.files]
    worker = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=_RETRIES)(Worker)
    actors = []
    for node in ray.nodes():
        place = NodeAffinitySchedulingStrategy(node["NodeID"], soft=True)
        for _ in range(int(node["Resources"].get("CPU", 0)) if node["Alive"] else 0):
            hired = worker.options(scheduling_strategy=place)
            actors.append(hired.remote(order.recipe, order.built_with, weights, release_hash()))
    if not actors:
        raise ModelError("The Ray cluster has no processors")
    ray.get([actor.check.remote() for actor in actors])
    return _Team([_Hand(actor) for actor in actors])


def _weight(path: Path) -> Weight:
    import ray

    data = path.read_bytes()
    fetch: Callable[[], bytes] = partial(ray.get, ray.put(data))
    return Weight(path, hashlib.sha256(data).hexdigest(), fetch)


def _lost(error: Exception) -> ModelError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    in_worker = "creation task" in lines[0] if lines else False  # then the last line has the cause
    return ModelError(
        "The Ray cluster could not do the work",
        cause=lines[-1 if in_worker else 0] if lines else type(error).__name__,
        remedy="What was done is kept: run the command again, or use --engine local.",
    )


def _answer(parent: Connection, team: _Team, begun: SimpleQueue[tuple[Call, Any]]) -> None:
    """Send what the calls give, in the order in which they were begun, until nobody listens."""
    try:
        while True:
            call, results = begun.get()
            try:
                for value in team.values(call, results):
                    parent.send(Reply(value))
                parent.send(Reply(last=True))
            except OSError:
                raise
            except Exception as error:  # whatever the worker raised is for the parent to raise
                parent.send(Reply(error=error, last=True))
    except OSError:  # the parent has gone, and the main thread sees it too
        return


def _serve(parent: Connection) -> None:
    order: Order = parent.recv()
    try:
        _connect(order)
        team = _hire(order)
    except AskPapersError as error:
        parent.send(Reply(error=error, last=True))
        return
    except Exception as error:  # Ray raises of every kind when it cannot begin
        cause = getattr(error, "cause", None)
        known = cause if isinstance(cause, AskPapersError) else _lost(error)
        parent.send(Reply(error=known, last=True))
        return
    parent.send(Reply(team.size, last=True))
    begun: SimpleQueue[tuple[Call, Any]] = SimpleQueue()
    Thread(target=_answer, args=(parent, team, begun), daemon=True).start()
    while True:
        call: Call = parent.recv()
        begun.put((call, team.begin(call)))


def main(descriptor: int) -> None:
    """Serve the parent at the other end of `descriptor` until it closes it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Connection(descriptor) as parent:
        try:
            _serve(parent)
        except (EOFError, OSError):
            pass
        finally:
            import ray

            ray.shutdown()
