"""Pure functions on text: sentences with offsets, a normal form, and terms to search by.

Papers are stored as their source has them; only search and comparison see the normal form.
"""

from rag.text.maths import is_money, split_maths
from rag.text.normal import canonical, legible, normalise, plain, printable
from rag.text.sentences import MATHS, split_sentences
from rag.text.terms import content_words, terms, tokens

__all__ = [
    "MATHS",
    "canonical",
    "content_words",
    "is_money",
    "legible",
    "normalise",
    "plain",
    "printable",
    "split_maths",
    "split_sentences",
    "terms",
    "tokens",
]
