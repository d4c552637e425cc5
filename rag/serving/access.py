"""Who may come in: by password, by token, or anyone of this machine where nothing is set."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping

from rag.config import Config
from rag.errors import UsageError
from rag.serving.lockout import Lockout
from rag.serving.passwords import digest, hashed, matches
from rag.serving.sessions import Sessions
from rag.serving.users import User, Users

OWNER = "owner"
"""The user whose password is in the settings."""

LOCAL = ""
"""The user of a server that asks nobody to log in."""


class LockedOut(UsageError):
    """Too many failed logins; `seconds` is how long the next one has to wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            "Too many failed logins from here or under this name",
            remedy=f"Try again in {_told(seconds)}.",
        )
        self.seconds = seconds


class Access:
    """Tells who someone is. Safe for use by several threads.

    The file of users is read again whenever it changes, so that `rag users` works beside a
    running server.
    """

    def __init__(self, config: Config, clock: Callable[[], float] = time.monotonic) -> None:
        self._password = config.password
        self._tokens = {digest(t.get_secret_value()): name for name, t in config.tokens.items()}
        self._own = hashed(config.password.get_secret_value()) if config.password else ""
        self._users = Users(config.data_dir)
        self._seen: tuple[int, int] | None = None
        self._known: Mapping[str, User] = {}
        self._lock = threading.Lock()
        self._attempt = threading.Lock()  # one hash at a time: each takes 32 MB
        self._nobody = hashed(secrets.token_hex())
        self._lockout = Lockout(clock)
        self.sessions = Sessions(clock)

    @property
    def demanded(self) -> bool:
        """Whether anyone has to log in."""
        return bool(self._own or self._tokens or self.users())

    @property
    def by_password(self) -> bool:
        """Whether anyone can log in by the form."""
        return bool(self._own or self.users())

    def users(self) -> Mapping[str, User]:
        """The users of the file as it is now.

        Raises:
            ConfigError: it cannot be read.
        """
        try:
            stat = self._users.path.stat()
            seen = (stat.st_mtime_ns, stat.st_ino)
        except OSError:
            seen = (0, 0)
        with self._lock:
            if seen != self._seen:
                self._known, self._seen = self._users.read(), seen
            return self._known

    def by_token(self, token: str) -> str | None:
        """The user of a token; None if nobody has it."""
        key = digest(token)
        if key in self._tokens:
            return self._tokens[key]
        return next((name for name, user in self.users().items() if key in user.tokens), None)

    def by_session(self, name: str) -> str | None:
        """The user of a session; None if it ended, or the user's password is another one now."""
        session = self.sessions.find(name)
        if session is None or session.proof not in self._proofs(session.user):
            return None
        return session.user

    def log_in(self, name: str, password: str, address: str) -> str | None:
        """A new session; None if name or password is wrong.

        The password in the settings is that of `owner`, whose name need not be given. A name
        that nobody has takes as long as a wrong password.

        Raises:
            LockedOut: this address or name failed too often.
        """
        name = name or OWNER
        keys = (f"address {address}", f"name {name}")
        with self._attempt:
            if wait := self._lockout.wait(keys):
                raise LockedOut(wait)
            found = [proof for proof in self._proofs(name) if matches(password, proof)]
            if not found:
                self._proofs(name) or matches(password, self._nobody)
                self._lockout.failed(keys)
                return None
        self._lockout.succeeded(keys)
        return self.sessions.begin(name, found[0])

    def _proofs(self, name: str) -> list[str]:
        return list(self._hashes(name))

    def _hashes(self, name: str) -> Iterator[str]:
        if name == OWNER and self._own:
            yield self._own
        if user := self.users().get(name):
            yield user.password


def _told(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
