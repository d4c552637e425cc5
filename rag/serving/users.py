"""The people who may log in, in a file that only its owner reads: hashes, no passwords."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rag.config import SHORTEST_PASSWORD, USER_NAME
from rag.errors import ConfigError, ResourceError, UsageError
from rag.serving.passwords import digest, hashed, new_token

FILE = "users.json"
_MOST_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class User:
    """What is kept of one: `password` as a hash, `tokens` as digests."""

    password: str = ""
    tokens: tuple[str, ...] = ()


class Users:
    """The users of a data folder. Every change is on disk, whole, before it is reported."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE

    def read(self) -> Mapping[str, User]:
        """All users by name; none where there is no file.

        Raises:
            ConfigError: the file cannot be read, or holds something else.
        """
        try:
            if not self.path.exists():
                return {}
            if self.path.stat().st_size > _MOST_BYTES:
                raise ValueError("it is too large")
            found = json.loads(self.path.read_text(encoding="utf-8"))
            return {str(name): _user(values) for name, values in found.items()}
        except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
            raise ConfigError(
                f"{self.path} cannot be read",
                cause=getattr(error, "strerror", None) or str(error),
                remedy="Move it away and add the users anew with `rag users add`.",
            ) from error

    def add(self, name: str, password: str) -> None:
        """Add a user, or give one another password; their tokens stay.

        Raises:
            UsageError: a name or password that will not do.
            ConfigError, ResourceError: the file cannot be read or written.
        """
        if not re.fullmatch(USER_NAME, name):
            raise UsageError(
                f"{name!r} is no name for a user",
                remedy="Use letters, digits, dots, dashes and underscores, at most 64.",
            )
        if len(password) < SHORTEST_PASSWORD:
            raise UsageError(
                "The password is too short", remedy=f"Use {SHORTEST_PASSWORD} characters or more."
            )
        users = dict(self.read())
        self._write(users | {name: replace(users.get(name, User()), password=hashed(password))})

    def new_token(self, name: str) -> str:
        """Another token for a user; it is told here and never again.

        Raises:
            UsageError: there is no such user.
        """
        users = dict(self.read())
        token = new_token()
        user = self._known(users, name)
        self._write(users | {name: replace(user, tokens=(*user.tokens, digest(token)))})
        return token

    def remove(self, name: str) -> None:
        """Remove a user and all their tokens; they are logged out at once.

        Raises:
            UsageError: there is no such user.
        """
        users = dict(self.read())
        self._known(users, name)
        self._write({key: user for key, user in users.items() if key != name})

    def _known(self, users: Mapping[str, User], name: str) -> User:
        if name not in users:
            raise UsageError(f"There is no user {name!r}", remedy="`rag users list` shows them.")
        return users[name]

    def _write(self, users: Mapping[str, User]) -> None:
        text = json.dumps({name: asdict(user) for name, user in users.items()}, indent=2)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, made = tempfile.mkstemp(dir=self.path.parent, prefix=f".{FILE}-")  # 0600
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text + "\n")
                    file.flush()
                    os.fsync(file.fileno())
                Path(made).replace(self.path)
            except BaseException:
                Path(made).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise ResourceError(
                f"{self.path} cannot be written", cause=error.strerror or str(error)
            ) from error


def _user(values: Mapping[str, object]) -> User:
    password, tokens = values["password"], values["tokens"]
    if not isinstance(password, str) or not isinstance(tokens, list):
        raise ValueError("it is not a list of users")
    return User(password, tuple(map(str, tokens)))
