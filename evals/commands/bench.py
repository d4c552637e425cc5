"""The benchmarks: how costs grow, and how well and how fast the product finds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from evals import (
    clustering,
    evidence,
    golden,
    ingest,
    latency,
    reembedding,
    retrieval,
    retrieval_report,
    serving,
)
from evals.collection import load as load_collection
from evals.commands import console, show
from evals.commands.files import store, store_json
from evals.commands.flags import Limit, Plot, Save, Seed
from evals.stats import SEED
from evals.systems import NAMES
from rag.config import load
from rag.errors import UsageError
from rag.terminal import counting

app = typer.Typer(help="Measure how costs grow, and what is found.", no_args_is_help=True)

Split = Annotated[
    Literal["test", "train"], typer.Option("--split", help="Whose queries are asked.")
]
Data = Annotated[
    str, typer.Option("--data", help="scifact, seeds, or a folder in the form of BEIR.")
]


@app.command("ingest")
def ingest_command(
    sizes: Annotated[str, typer.Option("--sizes", help="Papers, by commas.")] = "1000,5000,20000",
    data: Annotated[Path | None, typer.Option("--data", help="Real papers; the seeds.")] = None,
    seed: Seed = 0,
    save: Save = None,
    plot: Plot = None,
) -> None:
    """Index collections of growing size, made of the sentences of real papers."""
    source = ingest.Sentences.of(data or golden.ROOT / "seeds")
    wanted = _sizes(sizes)
    rows: list[ingest.Row] = []
    with counting("collections") as progress:
        for row in ingest.run(source, wanted, seed):
            rows.append(row)
            progress("indexing", len(rows), len(wanted))
    if save:
        store_json(save, ingest.as_json(rows))
    if plot:
        from evals.figures import curves

        store(plot, curves("Cost of indexing", "papers", ingest.lines(rows)))
    console.print(ingest.table(rows))
    for name, found in ingest.exponents(rows).items():
        console.print(f"{name} grows with the number of papers to the power of {found}")


@app.command("retrieval")
def retrieval_command(
    systems: Annotated[str, typer.Option("--systems", help="Names by commas.")] = ",".join(NAMES),
    data: Data = "scifact",
    split: Split = "test",
    limit: Limit = None,
    seed: Seed = SEED,
    save: Annotated[Path | None, typer.Option("--save", help="Folder for runs and report.")] = None,
    plot: Plot = None,
    again: Annotated[
        Path | None, typer.Option("--from", help="Run nothing; report what was saved there.")
    ] = None,
) -> None:
    """Compare the product with what people would search with instead, on judged queries."""
    if again:
        benchmark = retrieval.saved(again)
    else:
        names = list(dict.fromkeys(name.strip() for name in systems.split(",") if name.strip()))
        if not names:
            raise UsageError("No system is named", remedy=f"Choose from {', '.join(NAMES)}.")
        collection = load_collection(data, split).first(limit)
        with counting("queries") as progress:
            benchmark = retrieval.run(collection, names, load().config, seed, split, progress)
    report = retrieval_report.report(benchmark)
    if save:
        retrieval.save(benchmark, save, retrieval_report.as_json(report))
    if plot:
        from evals.figures import dots

        title = retrieval_report.headline(report).partition(";")[0]
        store(plot, dots(title, retrieval_report.panels(report)))
    console.print(retrieval_report.headline(report), soft_wrap=True)
    for table in retrieval_report.tables(report):
        console.print(table)


@app.command("reembed")
def reembed_command(
    data: Data = "scifact",
    split: Split = "test",
    model: Annotated[
        str, typer.Option("--model", help="The new embedding model.")
    ] = "paraphrase-minilm-l3-v2",
    sample: Annotated[int, typer.Option("--sample", min=30, help="Papers of the bridge.")] = 400,
    save: Save = None,
) -> None:
    """Change the embedding model under judged queries: old model, bridge, new model."""
    collection = load_collection(data, split)
    with counting("papers") as progress:
        outcome = reembedding.run(collection, load().config, model, sample, progress)
    if save:
        store_json(save, reembedding.as_json(outcome))
    console.print(reembedding.table(outcome.rows), soft_wrap=True)
    for sentence in reembedding.told(outcome):
        console.print(sentence, soft_wrap=True)


@app.command("search")
def search_command(
    sizes: Annotated[
        str, typer.Option("--sizes", help="Papers, by commas.")
    ] = "1000,5183,20000,200000",
    data: Data = "scifact",
    split: Split = "train",
    queries: Annotated[int, typer.Option("--queries", min=2, help="How many, at most.")] = 400,
    readers: Annotated[int, typer.Option("--readers", min=1, help="Threads at once.")] = 4,
    starts: Annotated[
        int, typer.Option("--starts", min=1, help="Processes whose first search is timed.")
    ] = 5,
    seed: Seed = 0,
    save: Save = None,
    plot: Plot = None,
) -> None:
    """Time searches in collections of growing size, alone, by stage, and several at once."""
    wanted = _sizes(sizes)
    collection = load_collection(data, split)
    questions = tuple(dict.fromkeys(query.text for query in collection.queries))[:queries]
    if len(questions) < 2:
        raise UsageError(f"{data} has fewer than two questions")
    plan = latency.Plan(questions, readers, starts, seed)
    rows: list[latency.Row] = []
    with counting("papers") as progress:
        for row in latency.run(collection, wanted, load().config, plan, progress):
            rows.append(row)
    if save:
        facts = {"collection": collection.name, "seed": seed}
        store_json(save, latency.as_json(rows, facts))
    if plot:
        from evals.figures import curves

        store(plot, curves("Time of a search", "papers", latency.lines(rows)))
    for table in latency.tables(rows):
        console.print(table)


@app.command("evidence")
def evidence_command(
    kinds: Annotated[
        str, typer.Option("--kinds", help="Only these, separated by commas.")
    ] = ",".join(evidence.KINDS),
    papers: Annotated[
        int | None, typer.Option("--papers", help="evidence_papers; the setting.")
    ] = None,
    sentences: Annotated[
        int | None, typer.Option("--sentences", help="evidence_sentences; the setting.")
    ] = None,
    chars: Annotated[
        int | None, typer.Option("--chars", help="evidence_chars; the setting.")
    ] = None,
    save: Save = None,
) -> None:
    """How often a sentence that answers a golden question is among those an answer is made of."""
    items = golden.read_suite(golden.SUITE, [kind for kind in kinds.split(",") if kind])
    given = {
        "evidence_papers": papers,
        "evidence_sentences": sentences,
        "evidence_chars": chars,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    samples: list[golden.Sample] = []
    with (
        golden.over_seeds({"llm": "none", **chosen}) as assistant,
        counting("questions") as progress,
    ):
        for sample in evidence.run(assistant, items):
            samples.append(sample)
            progress("choosing", len(samples), len(items))
    if not samples:
        raise UsageError(f"No golden question of the kinds {kinds!r} has an answer")
    if save:
        store_json(save, {"settings": chosen, "samples": samples})
    show(evidence.table(samples))


@app.command("serving")
def serving_command(
    users: Annotated[int, typer.Option("--users", min=1, help="People at once.")] = 20,
    each: Annotated[int, typer.Option("--each", min=1, help="Questions of each.")] = 5,
    seconds: Annotated[float, typer.Option("--seconds", help="Of a reply of the model.")] = 0.5,
    save: Save = None,
) -> None:
    """Serve many people at once, quoting and by a slow model, and look that nobody is mixed up."""
    questions = [str(item["question"]) for item in golden.read_suite(golden.SUITE)]
    rows: list[serving.Row] = []
    with counting("questions") as progress:
        for taken in (None, seconds):
            rows.append(serving.run(serving.Plan(questions, users, each, taken), progress))
    if save:
        store_json(save, serving.as_json(rows))
    console.print(serving.table(rows))


@app.command("clustering")
def clustering_command(
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="An index; the one of the settings.")
    ] = None,
    clusters: Annotated[str, typer.Option("--clusters", help="How many, by commas.")] = "5,10,20",
    save: Save = None,
) -> None:
    """Compare clusters of even quality with k-means: worst and mean distortion of a cluster."""
    rows = clustering.run(data_dir or load().config.data_dir, _sizes(clusters))
    if save:
        store_json(save, {"rows": clustering.as_json(rows)})
    console.print(clustering.table(rows))


def _sizes(text: str) -> list[int]:
    try:
        sizes = sorted({int(size) for size in text.split(",")})
    except ValueError:
        sizes = [0]
    if sizes[0] < 1:
        raise UsageError(
            f"{text!r} is no list of sizes", remedy="Write whole numbers by commas, as 1000,5000."
        )
    return sizes
