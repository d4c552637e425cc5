"""`rag reembed`: another embedding model, while the index goes on serving."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from rag.errors import AskPapersError, UsageError
from rag.flags import AsJson, ConfigFile, DataDir, print_json, settings

if TYPE_CHECKING:
    from rag.index.reembedding import Reembedder

EPILOG = (
    "Examples: rag reembed --model paraphrase-minilm-l3-v2 · "
    "rag reembed --model paraphrase-minilm-l3-v2 --bridge"
)
_LEAST = 0.9
_SAMPLE = 400


def reembed(
    model: Annotated[str, typer.Option("--model", help="As the setting embedding_model.")],
    bridge: Annotated[
        bool, typer.Option("--bridge", help="Only fit and try a bridge to the present vectors.")
    ] = False,
    least: Annotated[
        float | None,
        typer.Option(min=0, max=1, help=f"With --bridge: recall@10 to recover ({_LEAST})."),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=30, max=10_000, help=f"With --bridge: papers to try it on ({_SAMPLE})."),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="If another process writes, wait until it is done.")
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Take the index over to another embedding model; it serves all the while.

    Every text is embedded by the new model beside the vectors that serve. When all are there the
    index switches. A run that ends early has lost nothing: the next one goes on.

    With --bridge: fit a map by which questions of the new model find papers among the present
    vectors, and say how well. Good enough, it serves those whose settings name the new model.
    """
    if not bridge and (least is not None or sample is not None):
        raise UsageError("--least and --sample go with --bridge only")
    config = settings(data_dir=data_dir, file=config_file).config
    from rag import terminal
    from rag.answering.served import reembedding

    def notify(text: str) -> None:
        typer.echo(text, err=True)

    with (
        terminal.counting("papers") as progress,
        reembedding(config, model, progress, notify) as worker,
    ):
        if bridge:
            share = _LEAST if least is None else least
            show = _bridge(worker, sample or _SAMPLE, share, as_json=as_json)
        else:
            show = _move(worker, wait=wait, as_json=as_json)
    show()


def _move(worker: Reembedder, *, wait: bool, as_json: bool) -> Callable[[], None]:
    from rag import jsonform, terminal

    done = worker.run(wait=wait)

    def show() -> None:
        if as_json:
            print_json(jsonform.reembedded(done))
        else:
            terminal.show_reembedded(done)

    return show


def _bridge(worker: Reembedder, sample: int, least: float, *, as_json: bool) -> Callable[[], None]:
    from rag import jsonform, terminal
    from rag.index.bridging import build_bridge

    tried = build_bridge(worker, sample=sample, least=least)

    def show() -> None:
        if as_json:
            print_json(jsonform.bridging(tried))
        else:
            terminal.show_bridging(tried)
        if not tried.stored:
            raise AskPapersError(
                f"The bridge is not kept: it recovers {tried.quality.recovered} of recall@10",
                cause=f"at least {tried.least:g} is asked for",
                remedy=f"`rag reembed --model {tried.new}` embeds all papers.",
            )

    return show
