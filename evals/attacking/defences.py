"""Defences taken away again, so that what they are worth can be measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from rag.answering.exchange import Around, Completion, Request, silent
from rag.guarding.guard import MARK

_FENCE = re.compile(r"^--- (?:quoted|end of what is quoted) [0-9a-f]{8}.*\n?", re.MULTILINE)


class Unfenced(Around):
    """A generator whose prompts have neither fence nor marks."""

    def stream(
        self, request: Request, notify: Callable[[str], None] = silent
    ) -> Iterator[str | Completion]:
        """See `Generator.stream`."""
        bare = _FENCE.sub("", request.user).replace(f"({MARK}) ", "")
        return self._inner.stream(replace(request, user=bare), notify)
