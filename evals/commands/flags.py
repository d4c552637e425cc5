"""Flags that several commands have, each told once; those of the product are in `rag.flags`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Save = Annotated[Path | None, typer.Option("--save", help="Write all of it as JSON.")]
Plot = Annotated[Path | None, typer.Option("--plot", help="Draw the figures as SVG.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of whatever is drawn at random.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only so many.")]
JudgeName = Annotated[str | None, typer.Option("--judge", help="Whose opinions count.")]
Everything = Annotated[bool, typer.Option("--all", help="Show all of it, not the main part.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]
Cache = Annotated[
    bool, typer.Option("--cache", help="Keep the models' replies, and use those kept.")
]
