"""Models on this machine: their weights, and the process that runs a language model.

    catalogue   what is known by name, and how each file is recognised
    store       weights fetched, checked and found again
    llama       a language model behind an OpenAI-compatible server, in a child process

`rag.models.llama` is imported by its own name: its child process runs it as a program.
"""

from rag.models.catalogue import MODELS, Model, Part, WeightFile, find_model
from rag.models.store import Progress, WeightStore, needed_models

__all__ = [
    "MODELS",
    "Model",
    "Part",
    "Progress",
    "WeightFile",
    "WeightStore",
    "find_model",
    "needed_models",
]
