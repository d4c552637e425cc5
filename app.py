"""The chat page's program: what the command line names is checked, then the page is served."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from rag.exits import run

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
    """Open the chat page over the indexed papers."""
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
    with server.bind(config.host, config.port) as bound:
        from rag.answering.assistant import Assistant
        from rag.page.desk import Desk
        from rag.page.mounting import application
        from rag.page.setting import Setting

        with Assistant.from_config(config, lambda text: typer.echo(text, err=True)) as assistant:
            assistant.counts()
            desk = Desk(assistant)
            setting = Setting(assistant, config, desk)
            try:
                server.serve(application(setting), bound, _announce)
            finally:
                desk.close()


def _announce(url: str) -> None:
    typer.echo(f"askpapers is at {url} (Ctrl-C ends it)")


if __name__ == "__main__":
    run(command, "python app.py")
