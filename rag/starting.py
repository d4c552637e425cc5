"""What a process of ours sees to before it loads anything large; never done by importing `rag`."""

from __future__ import annotations

import ctypes
import os
import resource
import sys

_M_ARENA_MAX = -8  # malloc.h


def spare_grammars() -> None:
    """Keep jsonschema, which Chroma loads, from working out the grammar of internationalised URIs.

    Where `jsonschema[format-nongpl]` is installed, as by Jupyter, that takes longer than all else
    at the start of a command (39 parsers, 2.3 s of a processor). Nothing here checks such a format.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def spare_addresses() -> None:
    """Where `ulimit -v` bounds addresses, threads reserve few of them.

    Each would take 128 MB that it hardly uses, and OpenBLAS, which then finds none, ends the
    process with words of its own. It reads its variable when numpy is first imported.
    """
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # of glibc alone
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, 1)
