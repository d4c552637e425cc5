"""From files to papers: one reader for each format, one registry that chooses among them."""

from rag.corpus.content import Content, Limits
from rag.corpus.files import find_files, find_sources
from rag.corpus.papers import read_papers
from rag.corpus.records import Record, Rejected
from rag.corpus.registry import formats
from rag.corpus.sources import Refused, SourceFile

__all__ = [
    "Content",
    "Limits",
    "Record",
    "Refused",
    "Rejected",
    "SourceFile",
    "find_files",
    "find_sources",
    "formats",
    "read_papers",
]
