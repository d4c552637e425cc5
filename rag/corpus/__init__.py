"""From files to papers: one reader for each format, one registry that chooses among them."""

from rag.corpus.files import READERS, SourceFile, find_files, load
from rag.corpus.papers import LoadedFile, read_papers
from rag.corpus.records import Record, Rejected

__all__ = [
    "READERS",
    "LoadedFile",
    "Record",
    "Rejected",
    "SourceFile",
    "find_files",
    "load",
    "read_papers",
]
