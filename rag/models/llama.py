"""A language model on this machine: llama.cpp's OpenAI-compatible server in a child process.

Why a child: llama.cpp aborts the whole process on a fault, a damaged file among them. The child
can be replaced while the product, and everyone else's session, lives on.

The two talk over the child's standard streams, so that nothing secret is in an argument list:

    stdin    one JSON line with the settings and the API key; its end means the parent is gone
    stdout   one JSON line with the address, once the model is loaded
    stderr   llama.cpp's log, of which the parent keeps the last lines

The only module that uses xllamacpp; the parent never imports it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from rag.errors import AskPapersError, ModelError, ResourceError, WeightsError

SLOTS = 2  # answers that are written at the same time; more wait their turn
PROMPT_STEP = 256  # tokens of one prompt read between two tokens of another answer
PROMPT_CACHE_MIB = 128  # llama.cpp would take 8192
RESTART_WINDOW = 600.0  # seconds within which a second death is not answered by a restart
CLOSE_TIMEOUT = 2.0  # seconds
LOG_LINES = 200
ERRORS_ONLY = 1  # llama.cpp's verbosity
PACKAGE_ROOT = Path(__file__).resolve().parents[2]


class LlamaServer:
    """A model behind an OpenAI-compatible server on the loopback interface.

    Safe to use from several threads. The child ends with this object's `close`, and also when
    this process ends in any way.

    Args:
        model_path: A GGUF file.
        context: Tokens of prompt and answer together, for each of two answers at a time.
        threads: Threads that compute; 0 takes as many as this process may run on.
        start_timeout: Seconds that loading may take.
    """

    def __init__(
        self, model_path: Path, context: int, threads: int = 0, *, start_timeout: float = 120.0
    ) -> None:
        self._path = model_path.absolute()
        self._context = context
        self._threads = threads or len(os.sched_getaffinity(0))
        self._start_timeout = start_timeout
        self._key = secrets.token_urlsafe(32)
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._restarted: float | None = None

    @property
    def api_key(self) -> str:
        """The key that the server asks for: random, the same after a restart."""
        return self._key

    @property
    def base_url(self) -> str:
        """Where the server listens, with `/v1`; another port after a restart.

        Raises:
            ModelError: it was not started, or closed.
        """
        child = self._child
        if child is None:
            raise ModelError("The local model is not running")
        return f"{child.address}/v1"

    @property
    def pid(self) -> int | None:
        """The child's process id; None if it was not started, or closed."""
        child = self._child
        return child.pid if child else None

    def start(self) -> None:
        """Load the model and listen; returns at once if that was done.

        Raises:
            WeightsError: the file is missing, not GGUF, truncated or damaged.
            ResourceError: not enough memory.
            ModelError: it did not start in time, or for another reason.
        """
        with self._lock:
            if self._child is None:
                self._child = self._started()

    def ensure_running(self) -> bool:
        """Start the server if it is not running; replace a child that has died.

        Returns:
            Whether a dead child was replaced, so that the user can be told.

        Raises:
            ModelError: it died again within ten minutes; or as `start`.
        """
        with self._lock:
            if self._child is None:
                self._child = self._started()
                return False
            if self._child.is_alive():
                return False
            self._note_death(self._child)
            self._child.close()
            self._child = None
            self._child = self._started()
            return True

    def close(self) -> None:
        """End the child. It can be started again."""
        with self._lock:
            if self._child is not None:
                self._child.close()
                self._child = None

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def _note_death(self, child: _Child) -> None:
        now = time.monotonic()
        if self._restarted is not None and now - self._restarted < RESTART_WINDOW:
            raise ModelError(
                "The local model stopped again after a restart",
                cause=child.last_words(),
                remedy="Choose another with RAG_LOCAL_MODEL, or a server with OPENAI_BASE_URL.",
            )
        self._restarted = now

    def _started(self) -> _Child:
        _require_gguf(self._path)
        child = _Child()
        try:
            child.load(
                {
                    "model": str(self._path),
                    "context": self._context,
                    "threads": self._threads,
                    "key": self._key,
                },
                self._start_timeout,
            )
        except TimeoutError as error:
            child.close()
            raise ModelError(
                f"{self._path.name} was not loaded within {self._start_timeout:g} s",
                remedy="Close other programs, or choose a smaller one with RAG_LOCAL_MODEL.",
            ) from error
        except EOFError as error:
            child.close()
            raise _start_fault(self._path, child) from error
        except BaseException:
            child.close()
            raise
        return child


class _Child:
    """The child process, its address and the last lines of its log."""

    def __init__(self) -> None:
        self.address = ""
        self.log: deque[str] = deque(maxlen=LOG_LINES)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rag.models.llama"],
            cwd=PACKAGE_ROOT,  # found wherever it is run from, and no other `rag` in its place
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C in the terminal is the parent's to handle
        )
        self._reader = threading.Thread(target=self._keep_log, daemon=True)
        self._reader.start()

    def load(self, settings: Mapping[str, object], timeout: float) -> None:
        """Send the settings and wait for the address.

        Raises:
            EOFError: the child ended instead.
            TimeoutError: it did not answer in time.
        """
        stdin, stdout = self._pipe(self._process.stdin), self._pipe(self._process.stdout)
        with contextlib.suppress(BrokenPipeError):  # then it has ended, and stdout says so
            stdin.write(json.dumps(settings) + "\n")
            stdin.flush()
        if not _readable(stdout, timeout):
            raise TimeoutError
        line = stdout.readline()
        if not line:
            raise EOFError
        self.address = str(json.loads(line)["address"])

    def is_alive(self) -> bool:
        """Whether the process runs.

        After the address nothing more comes on stdout but its end, which is there a moment before
        the death of a process with many threads can be asked for.
        """
        if _readable(self._pipe(self._process.stdout), 0):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(CLOSE_TIMEOUT)
            return False
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """As `subprocess` gives it: the negative signal number if a signal ended it."""
        return self._process.poll()

    def last_words(self) -> str:
        """Why it ended, in one line: the signal or exit code, and what the log says."""
        code = self.exit_code or 0
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return ": ".join([how, *list(self.log)[-1:]])

    def close(self) -> None:
        """End it: by closing its stdin, else by force."""
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):
                self._pipe(pipe).close()
        try:
            self._process.wait(CLOSE_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(CLOSE_TIMEOUT)

    def _keep_log(self) -> None:
        with self._pipe(self._process.stderr) as stderr:
            self.log.extend(line.rstrip() for line in stderr if line.strip())

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        if pipe is None:
            raise AssertionError("every stream of the child is a pipe")
        return pipe


def _readable(pipe: IO[str], timeout: float) -> bool:
    """Whether there is something to read, or the end, within so many seconds."""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        return bool(selector.select(timeout))


def _require_gguf(path: Path) -> None:
    """Tell the two commonest faults at once, without starting anything."""
    remedy = "Run `rag models pull`, or name a .gguf file with RAG_LOCAL_MODEL."
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
    except OSError as error:
        cause = error.strerror or str(error)
        raise WeightsError(f"{path} cannot be read", cause=cause, remedy=remedy) from error
    if magic != b"GGUF":
        raise WeightsError(f"{path} is not a GGUF file", remedy=remedy)


def _start_fault(path: Path, child: _Child) -> AskPapersError:
    log = "\n".join(child.log)
    cause = _telling_line(child.log)
    killed = child.exit_code == -signal.SIGKILL
    if killed or re.search(r"bad_alloc|out of memory|allocate", log, re.IGNORECASE):
        return ResourceError(
            f"There is not enough memory for {path.name}",
            cause="the system ended it" if killed else cause,
            remedy="Choose a smaller one with RAG_LOCAL_MODEL, or lower RAG_LOCAL_CONTEXT.",
        )
    if "failed to load model" in log:
        return WeightsError(
            f"{path} cannot be loaded",
            cause=cause,
            remedy="Run `rag models verify`, or name another file with RAG_LOCAL_MODEL.",
        )
    return ModelError("The local model did not start", cause=child.last_words())


def _telling_line(log: deque[str]) -> str:
    """The first error of llama.cpp's, which the later ones only repeat; else the last line."""
    matches = [re.match(r"[\d.]+ E (?:\w+: )?(.*)", line) for line in log]
    errors = [match.group(1) for match in matches if match]
    return (errors or list(log)[-1:] or ["it gave no reason"])[0]


def main() -> None:
    """The child: load, tell the address, serve until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings = json.loads(sys.stdin.readline())
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what native code prints belongs to the log
    # Threads that wait for each other spin for a moment and then sleep. Spinning longer, as is
    # the default, starves them when anything else runs (2 cores, 2 busy programs: 4 tokens/s in
    # place of 11); sleeping at once costs a quarter of the speed on an idle machine.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    import xllamacpp

    server = xllamacpp.Server(_configured(xllamacpp.CommonParams(), settings))
    answers.write(json.dumps({"address": server.listening_address}) + "\n")
    answers.flush()
    threading.Event().wait()


def _exit_with_parent() -> None:
    """End this process, whatever it does, when the other end of stdin is closed."""
    while os.read(0, 4096):
        pass
    os._exit(0)


def _configured(parameters: Any, settings: Mapping[str, Any]) -> Any:
    """llama.cpp's parameters: loopback only, nothing fetched, nothing beyond the API offered."""
    parameters.model.path = settings["model"]
    parameters.model_alias = {Path(settings["model"]).stem}
    parameters.n_parallel = SLOTS
    parameters.n_ctx = settings["context"] * SLOTS  # shared out evenly among the slots
    parameters.n_batch = PROMPT_STEP
    parameters.n_ubatch = PROMPT_STEP
    parameters.cpuparams.n_threads = settings["threads"]
    parameters.cpuparams_batch.n_threads = settings["threads"]
    parameters.cache_ram_mib = PROMPT_CACHE_MIB
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [settings["key"]]
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.offline = True
    parameters.warmup = False
    parameters.fit_params = False  # a trial load, of use only with a graphics card
    parameters.verbosity = ERRORS_ONLY
    return parameters


if __name__ == "__main__":
    main()
