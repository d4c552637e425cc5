"""What is said to a model and by it while a question is asked: kept, and given again on demand."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from evals.record import Reply
from rag.answering.exchange import Around, Completion, Generator, Request, silent, unheard
from rag.answering.stop import Stop
from rag.index.disk import write_durably


class Replies:
    """Complete replies of earlier runs, in a folder; None: nothing is kept.

    A reply is found by the model, everything it was asked, and the number of the repeat: the second
    asking of a question is another draw, and is not answered from the first.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._writing = threading.Lock()

    def find(self, key: str) -> Reply | None:
        """The reply that is kept under a key; what cannot be read is as if it were not there."""
        if self._folder is None:
            return None
        try:
            return Reply(**json.loads((self._folder / f"{key}.json").read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def keep(self, key: str, reply: Reply) -> None:
        """Store a reply, whole or not at all."""
        if self._folder is not None:
            kept = replace(reply, cached=True, refusals=0)
            text = json.dumps(asdict(kept), ensure_ascii=False)
            with self._writing:
                self._folder.mkdir(parents=True, exist_ok=True)
                write_durably(self._folder / f"{key}.json", text)


class Heard:
    """The replies of one asking; `repeat` is part of what they are kept under.

    `stop`, where there is one, ends every request of the asking.
    """

    def __init__(self, of: str, repeat: int, stop: Stop | None = None) -> None:
        self.of = of
        self.repeat = repeat
        self.stop = stop
        self.replies: list[Reply] = []


class Transcript:
    """Records what the models that it wraps are asked, for the thread that asks.

    A question is asked and answered within one thread, so that several can be asked at once.
    """

    def __init__(self, kept: Replies, limited: Callable[[float | None], None] = unheard) -> None:
        """`limited` hears of refusals as `Request.limited` does, whatever is asked."""
        self._kept = kept
        self._limited = limited
        self._here = threading.local()

    @contextmanager
    def listening(self, of: str, repeat: int, stop: Stop | None = None) -> Iterator[list[Reply]]:
        """All replies to this thread until the block ends, in their order; `stop` ends them."""
        before: Heard | None = getattr(self._here, "heard", None)
        heard = self._here.heard = Heard(of, repeat, stop)
        try:
            yield heard.replies
        finally:
            self._here.heard = before

    def wrap(self, generator: Generator) -> Generator:
        """The generator, overheard."""
        return _Overheard(generator, self)

    def stream(
        self, inner: Generator, request: Request, notify: Callable[[str], None]
    ) -> Iterator[str | Completion]:
        """What `inner` says, or said to the same request in an earlier run."""
        heard: Heard = getattr(self._here, "heard", None) or Heard("", 0)
        prompt = _hash(request.system, request.user, request.schema)
        key = _hash(inner.name, prompt, request.max_tokens, request.temperature, heard.repeat)
        if known := self._kept.find(key):
            heard.replies.append(known)
            yield known.text
            yield _again(known)
            return
        listener = _Listener(heard, inner.name, prompt, self._limited)
        request = replace(request, limited=listener.limited, stop=heard.stop or request.stop)
        try:
            for piece in inner.stream(request, notify):
                listener.hear(piece)
                yield piece
        finally:
            reply = listener.end()
        if reply.finish == "stop":
            self._kept.keep(key, reply)


class _Listener:
    """Puts one reply together, whether it ends well or not."""

    def __init__(
        self, heard: Heard, model: str, prompt: str, pass_on: Callable[[float | None], None]
    ) -> None:
        self._heard = heard
        self._model = model
        self._prompt = prompt
        self._pass_on = pass_on
        self._refusals = 0
        self._text: list[str] = []
        self._completion: Completion | None = None

    def hear(self, piece: str | Completion) -> None:
        if isinstance(piece, Completion):
            self._completion = piece
        else:
            self._text.append(piece)

    def limited(self, seconds: float | None) -> None:
        self._refusals += 1
        self._pass_on(seconds)

    def end(self) -> Reply:
        done = self._completion or Completion("unknown", None, None, 0.0, self._model)
        reply = Reply(
            self._heard.of,
            done.model or self._model,
            self._prompt,
            "".join(self._text),
            done.finish if self._completion else "broken",
            done.prompt_tokens,
            done.completion_tokens,
            done.seconds,
            refusals=self._refusals,
        )
        self._heard.replies.append(reply)
        return reply


class _Overheard(Around):
    """A generator whose words are recorded."""

    def __init__(self, inner: Generator, transcript: Transcript) -> None:
        super().__init__(inner)
        self._transcript = transcript

    def stream(
        self, request: Request, notify: Callable[[str], None] = silent
    ) -> Iterator[str | Completion]:
        """See `Generator.stream`."""
        return self._transcript.stream(self._inner, request, notify)


def _again(reply: Reply) -> Completion:
    """The end of a reply that was kept: only complete ones are."""
    return Completion(
        "stop", reply.prompt_tokens, reply.completion_tokens, reply.seconds, reply.model
    )


def _hash(*parts: object) -> str:
    whole = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=dict)
    return hashlib.sha256(whole.encode()).hexdigest()[:32]
