"""Answers, conversations and papers in the formats that other tools read.

Answer ─▶ JSON ─▶ AnswerForm ─┐
                              ├─▶ Export ─▶ BibTeX, RIS, CSL-JSON, Markdown, HTML, JSON
Paper ─▶ Reference ───────────┘
"""

from rag.exporting.formats import FORMATS, Export, Format, export_of, rendered, selection_of
from rag.exporting.forms import AnswerForm, as_form, read_answers
from rag.exporting.references import Reference, reference_of

__all__ = [
    "FORMATS",
    "AnswerForm",
    "Export",
    "Format",
    "Reference",
    "as_form",
    "export_of",
    "read_answers",
    "reference_of",
    "rendered",
    "selection_of",
]
