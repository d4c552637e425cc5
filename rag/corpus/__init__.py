"""From files to papers: one reader for each format, one registry that chooses among them."""

from rag.corpus.content import Content, Limits
from rag.corpus.files import SourceFile, find_files
from rag.corpus.papers import read_papers
from rag.corpus.records import Record, Rejected
from rag.corpus.registry import FORMATS

__all__ = [
    "FORMATS",
    "Content",
    "Limits",
    "Record",
    "Rejected",
    "SourceFile",
    "find_files",
    "read_papers",
]
