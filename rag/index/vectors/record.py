"""Which generation of a catalog is current at a place that other programs can reach too.

The catalog itself says so, in its table of settings and so in one transaction. A generation that
is being built is not in it, and one that is in it was verified.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from rag.index.catalog import Catalog
from rag.index.manifest import Damaged
from rag.index.vectors.seam import Facts

_IDENTITY = "identity"


@dataclass(frozen=True, slots=True)
class Record:
    """The generation in force and the name of the one before, empty where there was none.

    `token` was drawn when it was built: what stands under its name without that is another's.
    """

    name: str
    token: str
    former: str
    facts: Facts


class Records:
    """The records of a catalog, one for each place that it was ever set to use.

    The copy of a catalog goes on with the generation of the original, and builds under a name of
    its own, so that neither removes what the other uses.
    """

    def __init__(self, catalog: Catalog, place: str) -> None:
        self.catalog = catalog
        self._key = f"vectors {place}"

    def get(self) -> Record | None:
        """What is current, or None.

        Raises:
            Damaged: the record cannot be read.
        """
        with self.catalog.reading() as snapshot:
            text = snapshot.setting(self._key)
        if text is None:
            return None
        try:
            data = json.loads(text)
            return Record(**{**data, "facts": Facts(**data["facts"])})
        except (ValueError, TypeError, KeyError) as error:
            raise Damaged("The record of the vectors cannot be read", cause=str(error)) from error

    def put(self, record: Record) -> None:
        """Make a generation the current one."""
        with self.catalog.writing() as writer:
            writer.set(self._key, json.dumps(asdict(record)))

    def forget(self) -> None:
        """Have none be current."""
        with self.catalog.writing() as writer:
            writer.unset(self._key)

    def last(self) -> Record | None:
        """What is current, or None also where that cannot be read."""
        try:
            return self.get()
        except Damaged:
            return None

    def prefix(self) -> str:
        """What the names of this catalog's generations begin with, whoever else is there."""
        with self.catalog.writing() as writer:
            identity = writer.setting(_IDENTITY)
            if identity is None:
                identity = secrets.token_hex(16)
                writer.set(_IDENTITY, identity)
        here = f"{identity}\n{self.catalog.path.resolve()}"
        return f"askpapers-{hashlib.sha256(here.encode()).hexdigest()[:8]}-gen-"


def next_name(prefix: str, taken: Iterable[str]) -> str:
    """The name of the next generation, given those that there are or were."""
    numbered = re.compile(rf"{re.escape(prefix)}(\d{{6,}})")
    numbers = [int(match[1]) for name in taken if (match := numbered.fullmatch(name))]
    return f"{prefix}{max(numbers, default=0) + 1:06d}"


def new_token() -> str:
    """What a generation is told by, whatever its name."""
    return secrets.token_hex(8)
