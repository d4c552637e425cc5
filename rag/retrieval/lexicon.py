"""The words of English, to tell a word that a collection happens to lack from a typo."""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection
from functools import lru_cache
from importlib import resources


@lru_cache(maxsize=1)
def english_words() -> Collection[str]:
    """160,000 English words with their inflections, those that `pyspellchecker` comes with.

    Read once in a process, in 0.1 s, and only for a word that no paper has.
    """
    path = resources.files("spellchecker") / "resources" / "en.json.gz"
    words: dict[str, int] = json.loads(gzip.decompress(path.read_bytes()))
    return words.keys()
