"""Collections to measure retrieval on: documents, queries, and which documents are relevant."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from evals.golden import ROOT, SUITE, read_suite
from evals.metrics import relevant
from evals.running.gold import suite_id
from evals.trec import Qrels, lines_of, read_table
from rag.corpus import Limits, find_files, read_papers
from rag.corpus.records import Rejected
from rag.errors import InputError, UsageError

Split = Literal["test", "train"]
_JUDGED = {"test": ("qrels.tsv", "qrels/test.tsv"), "train": ("qrels_train.tsv", "qrels/train.tsv")}

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Document:
    """A paper to be found; `title` is empty where it has none."""

    id: str
    title: str
    text: str

    @property
    def whole(self) -> str:
        """Title and text, as a system that knows only text is given them."""
        return f"{self.title}\n{self.text}".strip()


@dataclass(frozen=True, slots=True)
class Query:
    """A question; `kind` is empty where a collection does not tell kinds apart."""

    id: str
    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents, queries, and the grade of the documents that were judged for each query."""

    name: str
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    judgements: Qrels

    @property
    def scored(self) -> tuple[Query, ...]:
        """The queries that a ranking can be right or wrong for: some document is relevant."""
        return tuple(q for q in self.queries if relevant(self.judgements.get(q.id, {})))

    def first(self, limit: int | None) -> Self:
        """The same with the first `limit` of the queries that can be scored."""
        return self if limit is None else replace(self, queries=self.scored[:limit])


def load(data: str, split: Split) -> Collection:
    """A collection by its name, `seeds` or `scifact`, or by the path of a folder in BEIR's form.

    Raises:
        InputError: it is not there, or a line of it is not what it should be.
        UsageError: none of its queries can be scored.
    """
    if data == "seeds":
        found = _seeds()
    else:
        found = read_beir(_scifact() if data == "scifact" else Path(data), split)
    if not found.scored:
        raise UsageError(f"No query of {data} has a relevant document")
    return found


def read_beir(folder: Path, split: Split) -> Collection:
    """A folder with `corpus.jsonl`, `queries.jsonl` and judgements; only judged queries are kept.

    Judgements are `qrels.tsv` or `qrels/test.tsv`, those to tune on `qrels_train.tsv` or
    `qrels/train.tsv`. Ids may also be named `_id`, as BEIR names them.

    Raises:
        InputError: a file is missing, or a line is not what it should be.
    """
    judgements = read_table(_one_of(folder, _JUDGED[split]))
    documents = dict(_objects(folder / "corpus.jsonl", _document))
    queries = dict(_objects(folder / "queries.jsonl", _query))
    if missing := [query for query in judgements if query not in queries]:
        raise InputError(
            f"{folder} has judgements for {len(missing):,} queries that it does not have",
            cause=f"the first is {missing[0]}",
        )
    judged = tuple(queries[query] for query in judgements)
    return Collection(folder.name, tuple(documents.values()), judged, judgements)


def _seeds() -> Collection:
    """The seeds with the golden questions; those without an answer have no relevant document."""
    documents = [
        Document(
            suite_id(paper.source, paper.ordinal),
            "" if paper.title_derived else paper.title,
            paper.text,
        )
        for source in find_files([ROOT / "seeds"])
        for found in read_papers(source.content(Limits()))
        if not isinstance(found, Rejected)
        for _, paper in [found]
    ]
    items = read_suite(SUITE)
    queries = tuple(Query(item["id"], item["question"], item["kind"]) for item in items)
    judgements = {item["id"]: dict.fromkeys(item["paper_ids"], 1) for item in items}
    return Collection("seeds", tuple(documents), queries, judgements)


def _scifact() -> Path:
    """SciFact in the folder of shared data beside the project, or further up."""
    places = [parent / "shared" / "data" / "scifact" for parent in ROOT.parents]
    for place in places:
        if place.is_dir():
            return place
    raise InputError(
        "The collection scifact is not there",
        cause="no folder ../shared/data/scifact beside the project",
        remedy="Name a folder in BEIR's form with --data, or use --data seeds.",
    )


def _one_of(folder: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise InputError(
        f"{folder} is no collection in BEIR's form", cause=f"it has no {' or '.join(names)}"
    )


def _objects(path: Path, of: Callable[[Mapping[str, Any]], Item]) -> Iterator[tuple[str, Item]]:
    """What each line stands for, by id; ids are such that TREC's forms can hold them."""
    seen: set[str] = set()
    for number, line in lines_of(path):
        try:
            value = json.loads(line)
            if not isinstance(value, dict):
                raise ValueError("no JSON object")
            key = _text(value, "_id" if "id" not in value else "id")
            if key in seen or key.split() != [key]:
                raise ValueError(f"the id {key!r} is there twice, empty, or has a space")
            seen.add(key)
            yield key, of({**value, "id": key})
        except ValueError as error:
            raise InputError(f"{path}:{number} cannot be read", cause=str(error)) from error


def _document(value: Mapping[str, Any]) -> Document:
    return Document(value["id"], _text(value, "title", ""), _text(value, "text"))


def _query(value: Mapping[str, Any]) -> Query:
    return Query(value["id"], _text(value, "text"), _text(value, "kind", ""))


def _text(value: Mapping[str, Any], name: str, default: str | None = None) -> str:
    found = value.get(name, default)
    if not isinstance(found, str):
        raise ValueError(f"no text under {name!r}")
    return found
