"""`rag mcp`: the collection as tools for programs that speak the Model Context Protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import typer

from rag.errors import AskPapersError, UsageError
from rag.flags import ConfigFile, DataDir, Llm, settings

if TYPE_CHECKING:
    from rag.answering.assistant import Assistant
    from rag.config import Config
    from rag.mcpserver import Toolbox

EPILOG = "Examples: rag mcp · rag mcp --llm none · rag mcp --http --port 7861"
PORT = 7861  # one above that of the page


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP, not standard input and output.")
    ] = False,
    host: Annotated[str | None, typer.Option("--host", help="With --http: the address.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", help=f"With --http: the port, {PORT} if none is named.")
    ] = None,
    llm: Llm = None,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Serve ask, search, summarize and papers as MCP tools, to the program that started this one.

    Standard output is the protocol's; it ends when standard input is closed. With --http it is
    served at http://127.0.0.1:7861/mcp until Ctrl-C.
    """
    if not http and (host is not None or port is not None):
        raise UsageError("--host and --port go with --http only")
    config = settings(data_dir=data_dir, file=config_file, llm=llm, host=host).config
    if http:
        _serve_http(config, PORT if port is None else port)
        return
    from rag.mcpserver import serve_stdio

    with _toolbox(config) as toolbox:
        code = serve_stdio(toolbox, version("askpapers"))
    raise typer.Exit(code)


def _serve_http(config: Config, port: int) -> None:
    from rag import server

    with server.bind(config.host, port) as bound, _toolbox(config) as toolbox:
        from rag.mcpserver import PATH, http_application
        from rag.serving.access import Access
        from rag.serving.gate import Gate

        application = Gate(http_application(toolbox, version("askpapers")), Access(config))
        server.serve(
            server.guarded(application),
            bound,
            lambda url: _tell(f"MCP at {url}{PATH} (Ctrl-C ends it)"),
        )


@contextmanager
def _toolbox(config: Config) -> Iterator[Toolbox]:
    from rag.answering.assistant import Assistant
    from rag.mcpserver import Toolbox

    with Assistant.from_config(config, _tell) as assistant, closing(Toolbox(assistant)) as toolbox:
        _tell_if_empty(assistant)
        yield toolbox


def _tell_if_empty(assistant: Assistant) -> None:
    """A missing index is no reason to leave: each tool says so, and it may come meanwhile."""
    try:
        assistant.counts()
    except AskPapersError as error:
        _tell(f"{error}")


def _tell(text: str) -> None:
    from rag.text import printable

    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()
