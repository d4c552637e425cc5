"""How a command ends: one line on standard error, and the exit code of its outcome."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

import typer
from typer.exceptions import TyperException

from rag.errors import EXIT_INTERRUPTED, EXIT_TERMINATED, AskPapersError, ResourceError
from rag.starting import spare_addresses, spare_grammars


def run(command: typer.Typer, name: str) -> NoReturn:
    """Run `command`, which people call as `name`, and leave with the code of the outcome."""
    signal.signal(signal.SIGTERM, _terminate)
    spare_addresses()
    spare_grammars()
    try:
        _prepare_streams()
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
    except (BrokenPipeError, SystemExit) as error:  # typer and rich turn the one into the other
        code = _reader_left(error)
    except Exception as error:
        code = _show_error(_lacking(error))
    sys.exit(code or 0)


def _prepare_streams() -> None:
    """In a terminal that is not UTF-8 a character it has not is shown as `?`.

    Raises:
        ResourceError: there is nowhere to print results to.
    """
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    if sys.stdout is None:
        raise ResourceError("Standard output is closed", remedy="Leave it open.")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _reader_left(error: BaseException) -> int:
    """Nobody reads on, as behind `| head`: no fault, and nothing more is written."""
    if not isinstance(error, BrokenPipeError) and not isinstance(
        error.__context__, BrokenPipeError
    ):
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _lacking(error: Exception) -> ResourceError:
    """What the machine lacks where anything but our own errors is raised.

    Of libraries that have no memory or file handles left only the words tell. Whatever comes of
    something else is a fault of ours, and raised again.
    """
    from rag.index.disk import is_for_want

    if isinstance(error, MemoryError):
        return ResourceError("There is not enough memory")
    if isinstance(error, OSError):
        place = f": {error.filename}" if error.filename else ""
        return ResourceError(f"{error.strerror or error}{place}")
    if not is_for_want(error):
        raise error
    lines = [line for line in str(error).splitlines() if line.strip()]
    what = "There is not enough memory, or there are too few file handles"
    cause = lines[-1] if lines else ""
    return ResourceError(what, cause=cause, remedy="Close programs or raise `ulimit`.")


def _terminate(*_: object) -> None:
    sys.exit(EXIT_TERMINATED)


def _show_usage_error(error: TyperException, name: str) -> int:
    if error.format_message().startswith("Usage:"):  # no command was named
        sys.stderr.write(error.format_message() + "\n")
        return error.exit_code
    message = " ".join(error.format_message().split())
    if not message:
        return error.exit_code
    stop = "" if message.endswith((".", "?", "!")) else "."
    sys.stderr.write(f"error: {message}{stop} `{name} --help` shows how it is used.\n")
    return error.exit_code


def _show_error(error: AskPapersError) -> int:
    from rag.text import printable

    sys.stderr.write(printable(f"error: {error}") + "\n")
    return error.exit_code
