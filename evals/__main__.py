"""`python -m evals`: what is found and answered, and what it costs."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from evals.commands import bench
from evals.commands.costs import commands_command, scale_command
from evals.commands.questions import golden_command
from rag import AskPapersError

app = typer.Typer(
    help="Measure the product: quality on the golden questions, cost of its commands.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(bench.app, name="bench")
app.command("golden")(golden_command)
app.command("commands")(commands_command)
app.command("scale")(scale_command)


def main() -> None:
    """Run the command; a failure of the product is told in one line."""
    try:
        app()
    except AskPapersError as error:
        Console(stderr=True, soft_wrap=True).print(f"error: {error}", markup=False)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
