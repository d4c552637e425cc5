"""`python -m evals`: what is found and answered, and what it costs."""

from __future__ import annotations

import typer

from evals.commands import bench
from evals.commands.abstention import abstention_command
from evals.commands.attacking import attacks_command, poison_command
from evals.commands.comparisons import compare_command, gate_command
from evals.commands.costs import commands_command, scale_command
from evals.commands.drafts import generate_command, new_command, review_command
from evals.commands.estimates import estimate_command
from evals.commands.guarding import guard_command
from evals.commands.judges import judge_card_command
from evals.commands.questions import golden_command
from evals.commands.resilience import resilience_command
from evals.commands.runs import report_command, run_command
from evals.commands.selftesting import selftest_command
from evals.commands.soaking import soak_command
from evals.commands.support import support_command
from evals.commands.tune import tune_command
from rag.exits import run

app = typer.Typer(
    help="Measure the product: quality on the golden questions, cost of its commands.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(bench.app, name="bench")
app.command("run")(run_command)
app.command("report")(report_command)
app.command("compare")(compare_command)
app.command("gate")(gate_command)
app.command("selftest")(selftest_command)
app.command("judge-card")(judge_card_command)
app.command("abstention")(abstention_command)
app.command("support")(support_command)
app.command("guard")(guard_command)
app.command("attacks")(attacks_command)
app.command("poison")(poison_command)
app.command("estimate")(estimate_command)
app.command("new")(new_command)
app.command("generate")(generate_command)
app.command("review")(review_command)
app.command("tune")(tune_command)
app.command("golden")(golden_command)
app.command("commands")(commands_command)
app.command("scale")(scale_command)
app.command("soak")(soak_command)
app.command("resilience")(resilience_command)


def main() -> None:
    """Run the command and leave with the exit code of the outcome."""
    run(app, "python -m evals")


if __name__ == "__main__":
    main()
