"""Quoted phrases: what stands between quotation marks must stand in the paper, word for word."""

from __future__ import annotations

import re
from dataclasses import replace

from rag.index.snapshot import Snapshot
from rag.index.vocabulary import having_phrase
from rag.retrieval.query import Query

_QUOTED = re.compile(
    '["\u201c\u201d\u201e\u201f\uff02]([^"\u201c\u201d\u201e\u201f\uff02]+)["\u201c\u201d\u201f\uff02]'
    "|\u00ab([^\u00ab\u00bb]+)\u00bb|\u00bb([^\u00ab\u00bb]+)\u00ab"
    "|\u300c([^\u300c\u300d]+)\u300d|\u300e([^\u300e\u300f]+)\u300f|\u300a([^\u300a\u300b]+)\u300b"
    # One mark may be an apostrophe: it must stand outside of words, and hold two words or more.
    "|(?<!\\w)[\u2018\u201a'](?=\\S)([^'\u2018\u201a]*?\\w[ -]\\w[^'\u2018\u201a]*?)"
    "(?<=\\S)[\u2019\u2018'](?!\\w)"
)


def keep_phrases(query: Query, snapshot: Snapshot) -> Query:
    """Only papers with each quoted phrase; one that no paper has is searched word by word."""
    found = [next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(query.text)]
    phrases = [one for one in dict.fromkeys(found) if any(c.isalnum() for c in one)]
    if not phrases:
        return query
    query = query.reading(_unquoted(query.text))
    for phrase in phrases:
        query = _keep(query, phrase, having_phrase(snapshot, phrase))
    return query


def _keep(query: Query, phrase: str, papers: frozenset[str]) -> Query:
    left = papers if query.papers is None else papers & query.papers
    if not left:
        return query.noting(
            f"no paper has the phrase \u201c{phrase}\u201d: its words were searched"
        )
    query = replace(query, phrases=(*query.phrases, phrase)).only(papers)
    return query.noting(f"only papers with the phrase \u201c{phrase}\u201d ({len(left):,})")


def _unquoted(text: str) -> str:
    bare = _QUOTED.sub(lambda match: f" {next(filter(None, match.groups()))} ", text)
    return re.sub(r"\s+([?.!,;:])", r"\1", " ".join(bare.split()))
