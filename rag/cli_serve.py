"""`rag serve`: the collection for other programs, over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from rag.flags import ConfigFile, DataDir, Llm, settings

EPILOG = "Examples: rag serve · rag serve --port 8000 --llm none · RAG_PASSWORD=… rag serve \
--host 0.0.0.0"

Host = Annotated[str | None, typer.Option("--host", help="Address to serve on (RAG_HOST).")]
Port = Annotated[int | None, typer.Option("--port", help="Port to serve on (RAG_PORT).")]


def serve(
    host: Host = None,
    port: Port = None,
    llm: Llm = None,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Serve the API: OpenAI's chat completions, and ask, search and papers of our own.

    Ctrl-C ends it; answers that are being written get shutdown_seconds to end. Who is not on this
    machine has to log in: see `rag users`.
    """
    flags = {"host": host, "port": port, "llm": llm}
    config = settings(data_dir=data_dir, file=config_file, **flags).config
    from rag import server
    from rag.serving.access import Access

    access = Access(config)
    with server.bind(config.host, config.port, with_login=access.demanded) as bound:
        from rag.answering.assistant import Assistant
        from rag.serving.application import Service
        from rag.serving.shelf import Shelf

        with Assistant.from_config(config, _tell) as assistant, Shelf(config.data_dir) as shelf:
            assistant.counts()  # without an index there is nothing to serve
            service = Service.of(assistant, config, shelf, access).without_page()
            ending, grace = service.running, config.shutdown_seconds
            server.serve(service.guarded(), bound, _announce, ending, grace)


def _announce(url: str) -> None:
    typer.echo(f"The API is at {url}/v1 and {url}/api, Ctrl-C ends it.")


def _tell(text: str) -> None:
    typer.echo(text, err=True)
