"""The suites that the project knows by name, and the public data that some of them are made of.

Public data is read where it stands, beside the project, and never copied into it. What has to be
indexed for a suite is a file; where the data has none in a form that `rag index` reads, one is
written into the folder of the suite.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from evals.golden import ROOT
from evals.suite import Item, Question, RubricItem, Suite, read_suite
from evals.trec import lines_of
from rag.errors import InputError
from rag.index.disk import write_durably

SUITES = ROOT / "evals" / "suites"
_SEEDS = (ROOT / "seeds",)

Value = Mapping[str, Any]


def find(name: str, folder: Path) -> Suite:
    """A suite by its name or by the path of its file; `folder` is where files are written.

    Raises:
        InputError: there is none, its data is not there, or a line of it is not in the form.
    """
    if name in NAMED:
        try:
            return NAMED[name](folder)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"The data of the suite {name} is not in its form", cause=repr(error)[:200]
            ) from error
    path = Path(name)
    if path.exists() or path.suffix:
        return read_suite(path)
    raise InputError(
        f"No suite is called {name!r}",
        remedy=f"Name a file of JSON lines, or one of {', '.join(NAMED)}.",
    )


def seeds(_: Path) -> Suite:
    """The golden questions over the seeds, then the conversations."""
    golden = read_suite(SUITES / "seeds.jsonl")
    followups = read_suite(SUITES / "followups.jsonl")
    return Suite("seeds", (*golden.items, *followups.items), _SEEDS)


def leave_out(folder: Path) -> Suite:
    """The golden questions that have an answer, as they are and with their papers taken away."""
    items = [item for item in seeds(folder).items if item.answerable and not item.earlier]
    without = [replace(item, id=f"{item.id}/left-out", left_out=True) for item in items]
    return Suite("leave_out", (*items, *without), _SEEDS)


def disclosure(_: Path) -> Suite:
    """Whether one speaks with a person, asked in several languages and many ways."""
    return read_suite(SUITES / "disclosure.jsonl", files=_SEEDS)


def scifact(split: str) -> Callable[[Path], Suite]:
    """SciFact's claims of a split as questions; those of too little evidence have no answer."""

    def made(_: Path) -> Suite:
        lines = public("scifact", "claims.jsonl")
        items = tuple(_claim(one) for one in lines if one["split"] == split)
        name = "scifact" if split == "dev" else f"scifact-{split}"
        return Suite(name, items, (_data("scifact") / "corpus.jsonl",))

    return made


def pubmedqa(split: str) -> Callable[[Path], Suite]:
    """PubMedQA's questions of yes, no and maybe, each about its own abstract."""

    def made(_: Path) -> Suite:
        lines = public("pubmedqa", "queries.jsonl")
        items = tuple(_yes_or_no(one) for one in lines if one["split"] == split)
        name = "pubmedqa" if split == "test" else f"pubmedqa-{split}"
        return Suite(name, items, (_data("pubmedqa") / "corpus.jsonl",))

    return made


def scholarqa(folder: Path) -> Suite:
    """Questions with whole answers by experts, and questions with rubrics.

    Those are over the passages that the experts used, these over the excerpts that the authors of
    the rubrics gave for each item. They come in turn, so that the first few hold both.
    """
    experts = list(public("scholarqabench", "multi_expert_answers.jsonl"))
    rubrics = list(public("scholarqabench", "cs_rubrics.jsonl"))
    papers: dict[str, dict[str, str]] = {}
    pairs = zip_longest(
        [_expert(one, papers) for one in experts], [_with_rubric(one, papers) for one in rubrics]
    )
    items = [one for one in chain.from_iterable(pairs) if one is not None]
    path = folder / "scholarqa" / "collection.jsonl"
    text = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in papers.values())
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_durably(path, text)
    return Suite("scholarqa", tuple(items), (path,))


NAMED: Mapping[str, Callable[[Path], Suite]] = {
    "seeds": seeds,
    "leave_out": leave_out,
    "disclosure": disclosure,
    "scifact": scifact("dev"),
    "scifact-train": scifact("train"),
    "pubmedqa": pubmedqa("test"),
    "pubmedqa-dev": pubmedqa("dev"),
    "scholarqa": scholarqa,
}


def _data(name: str) -> Path:
    for parent in ROOT.parents:
        if (parent / "shared" / "data" / name).is_dir():
            return parent / "shared" / "data" / name
    raise InputError(
        f"The data of {name} is not there",
        cause=f"no folder ../shared/data/{name} beside the project",
        remedy="The suites seeds, leave_out and disclosure need none.",
    )


def public(data: str, file: str) -> Iterator[Value]:
    """The lines of a file of public data.

    Raises:
        InputError: it is not there, or a line of it is not JSON.
    """
    path = _data(data) / file
    for number, line in lines_of(path):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}:{number} cannot be read", cause=str(error)) from None


def _claim(one: Value) -> Item:
    label = str(one["label"])
    asked = Question(
        question=one["claim"],
        answerable=label != "NOT_ENOUGH_INFO",
        paper_ids=tuple(one["evidence"]),
        label="" if label == "NOT_ENOUGH_INFO" else label.lower(),
        near_paper_ids=tuple(one["cited_doc_ids"]),
        kind="claim",
        tags=(label.lower(),),
    )
    return Item(str(one["id"]), asked)


def _yes_or_no(one: Value) -> Item:
    asked = Question(
        question=one["text"],
        paper_ids=(one["id"],),
        label=one["answer"],
        reference=one["long_answer"],
        kind="yes-no",
        tags=(one["answer"],),
    )
    return Item(str(one["id"]), asked)


def _expert(one: Value, papers: dict[str, dict[str, str]]) -> Item:
    """One question; passages of one paper are put together, as they share its title.

    Of some the data has no text, and says so with "nan": nobody can find those.
    """
    keys = []
    for passage in one["ctxs"]:
        if passage["text"].strip() in {"", "nan"}:
            continue
        key = passage["url"].rsplit("/", 1)[-1] or _hash(passage["title"] or passage["text"])
        paper = papers.setdefault(key, {"id": key, "title": passage["title"], "abstract": ""})
        if passage["text"] not in paper["abstract"]:
            paper["abstract"] = f"{paper['abstract']} {passage['text']}".strip()
        keys.append(key)
    asked = Question(
        question=one["question"],
        paper_ids=tuple(dict.fromkeys(keys)),
        reference=one["answer"],
        kind="expert",
        tags=(one["subject"],),
    )
    return Item(one["id"], asked)


def _with_rubric(one: Value, papers: dict[str, dict[str, str]]) -> Item:
    properties: list[Value] = one["rubric"]["other_properties"]
    keys = []
    for place, wanted in enumerate(properties):
        excerpts = " ".join(_stripped(wanted.get("evidence") or ()))
        if excerpts:
            key = f"{one['id'][:12]}-{place}"
            papers[key] = {"id": key, "title": "", "abstract": excerpts}
            keys.append(key)
    rubric = tuple(
        RubricItem(name=p["name"], criterion=p["criterion"], weight=p["weight"]) for p in properties
    )
    asked = Question(question=one["question"], paper_ids=tuple(keys), rubric=rubric, kind="rubric")
    return Item(one["id"], asked)


def _stripped(texts: Iterable[str]) -> Iterator[str]:
    return (stripped for text in texts if (stripped := " ".join(text.split())))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
