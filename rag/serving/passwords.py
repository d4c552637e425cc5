"""Passwords and tokens as they may be written down: what was given cannot be read from them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

# scrypt's cost of 2023's OWASP advice for interactive logins: 32 MB and some 60 ms of one core.
_N, _R, _P = 2**15, 8, 1
_MEMORY = 64 * 2**20
_SALT_BYTES = 16
_TOKEN_BYTES = 32


def hashed(password: str) -> str:
    """A password as `scrypt$n$r$p$salt$hash`, with a new salt."""
    salt = secrets.token_bytes(_SALT_BYTES)
    return f"scrypt${_N}${_R}${_P}${_told(salt)}${_told(_scrypt(password, salt, _N, _R, _P))}"


def matches(password: str, stored: str) -> bool:
    """Whether a password is the one that was hashed; False too where `stored` is no such hash."""
    try:
        kind, n, r, p, salt, expected = stored.split("$")
        found = _scrypt(password, _read(salt), int(n), int(r), int(p))
        return kind == "scrypt" and hmac.compare_digest(found, _read(expected))
    except ValueError:
        return False


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def digest(token: str) -> str:
    """What is kept of a token. It is random, so that a quick hash without salt is enough.

    Tokens are looked up by it: how long that takes says nothing of the token itself.
    """
    return hashlib.sha256(token.encode()).hexdigest()


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=n, r=r, p=p, maxmem=_MEMORY)


def _told(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _read(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
