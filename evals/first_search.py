"""`python -m evals.first_search DATA_DIR QUESTION`: the first search of a process, in seconds."""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module

_VENDORS = ("numpy", "tokenizers", "openvino", "chromadb", "Stemmer")


def main() -> None:
    """Import all that a search imports, then search; both times as JSON."""
    folder, question = sys.argv[1:]
    started = time.perf_counter()
    for name in (*_VENDORS, "rag.answering.assistant", "rag.config"):
        import_module(name)
    from rag import Assistant, load

    imported = time.perf_counter()
    with Assistant.from_config(load({"data_dir": folder, "llm": "none"}).config) as assistant:
        assistant.search(question)
        found = time.perf_counter()
    print(json.dumps({"import": imported - started, "search": found - imported}))


if __name__ == "__main__":
    main()
