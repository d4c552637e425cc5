"""How a command ends: one line on standard error, and the exit code of its outcome."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

import typer
from typer.exceptions import TyperException

from rag.errors import EXIT_INTERRUPTED, EXIT_TERMINATED, AskPapersError, ResourceError


def run(command: typer.Typer, name: str) -> NoReturn:
    """Run `command`, which people call as `name`, and leave with the code of the outcome."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        code = command(standalone_mode=False)
        if code == EXIT_INTERRUPTED:  # typer's word for Ctrl-C, which says nothing
            raise KeyboardInterrupt
    except TyperException as error:
        code = _show_usage_error(error, name)
    except AskPapersError as error:
        code = _show_error(error)
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted\n")
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except MemoryError:
        code = _show_error(ResourceError("There is not enough memory"))
    except OSError as error:
        place = f": {error.filename}" if error.filename else ""
        code = _show_error(ResourceError(f"{error.strerror or error}{place}"))
    sys.exit(code or 0)


def _terminate(*_: object) -> None:
    sys.exit(EXIT_TERMINATED)


def _show_usage_error(error: TyperException, name: str) -> int:
    message = " ".join(error.format_message().split())
    if not message:
        return error.exit_code
    stop = "" if message.endswith((".", "?", "!")) else "."
    sys.stderr.write(f"error: {message}{stop} `{name} --help` shows how it is used.\n")
    return error.exit_code


def _show_error(error: AskPapersError) -> int:
    from rag.text import printable

    line = printable(f"error: {error}")
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(line.encode(encoding, "replace").decode(encoding) + "\n")
    return error.exit_code
