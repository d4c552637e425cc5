"""Who is logged in, in the memory of the server: a restart logs everybody out."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from rag.serving.passwords import digest

LASTS = 7 * 86_400.0  # seconds without a request
_MOST = 10_000  # sessions; the one that was not used for longest goes first


@dataclass(frozen=True, slots=True)
class Session:
    """A login: `proof` is what the user was let in by, so that a new password ends it."""

    user: str
    proof: str
    until: float


class Sessions:
    """Sessions by a random name that only the browser knows; here its hash is kept."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, user: str, proof: str) -> str:
        """The name of a new session, of 256 random bits."""
        name = secrets.token_urlsafe(32)
        with self._lock:
            self._sessions[digest(name)] = Session(user, proof, self._clock() + LASTS)
            while len(self._sessions) > _MOST:
                self._sessions.popitem(last=False)
        return name

    def find(self, name: str) -> Session | None:
        """The session of that name, which lasts on from now; None if it has ended."""
        key, now = digest(name), self._clock()
        with self._lock:
            session = self._sessions.pop(key, None)
            if session is None or session.until < now:
                return None
            self._sessions[key] = Session(session.user, session.proof, now + LASTS)
            return session

    def end(self, name: str) -> None:
        """End a session, if there is one."""
        with self._lock:
            self._sessions.pop(digest(name), None)
