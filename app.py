"""The chat page's program: what the command line names is checked, then the page is served."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag.exits import run

if TYPE_CHECKING:
    from rag.page.setting import Other, Setting

command = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@command.command(epilog="Examples: python app.py · python app.py --port 8000 --llm none")
def main(
    host: Annotated[str | None, typer.Option(help="Address to serve on (RAG_HOST).")] = None,
    port: Annotated[int | None, typer.Option(help="Port to serve on (RAG_PORT).")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Where the index is.")] = None,
    config_file: Annotated[
        Path | None, typer.Option("--config", help="Another configuration file.")
    ] = None,
    llm: Annotated[
        str | None, typer.Option(help="Who writes: auto, openai, local or none (quoting).")
    ] = None,
) -> None:
    """Open the chat page over the indexed papers, with the API beside it."""
    from rag import config as settings
    from rag import server

    given: Mapping[str, object | None] = {
        "host": host,
        "port": port,
        "data_dir": data_dir,
        "llm": llm,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    config = settings.load(chosen, file=config_file).config
    from rag.serving.access import Access

    access = Access(config)
    with server.bind(config.host, config.port, with_login=access.demanded) as bound:
        from rag.answering.assistant import Assistant
        from rag.page.desk import Desk
        from rag.page.metering import Meter
        from rag.page.mounting import application
        from rag.page.setting import Setting
        from rag.serving.application import Service
        from rag.serving.shelf import Shelf

        meter = Meter()
        with (
            Assistant.from_config(config, _notify, meter.around) as assistant,
            Shelf(config.data_dir) as shelf,
        ):
            assistant.counts()
            service = Service.of(assistant, config, shelf, access)
            desk = Desk(service.counter, meter)
            setting = Setting(assistant, config, desk, meter, service.counter.turn)
            app = application(setting, service, _others())
            ending, grace = service.running, config.shutdown_seconds
            try:
                server.serve(app, bound, _announce, ending, grace)
            finally:
                desk.close()


def _others() -> list["Other"]:
    """The tab of evaluations, where the package that measures is there."""
    if find_spec("evals") is None:
        return []

    def evaluate(setting: "Setting", tab: Any) -> None:
        from evals.page import build

        build(setting, tab)

    return [("Evaluate", evaluate)]


def _notify(text: str) -> None:
    typer.echo(text, err=True)


def _announce(url: str) -> None:
    typer.echo(f"askpapers is at {url} (Ctrl-C ends it)")


if __name__ == "__main__":
    run(command, "python app.py")
