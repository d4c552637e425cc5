"""`rag users`: who may log in where other machines are served."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.flags import AsJson, ConfigFile, DataDir, print_json, settings

if TYPE_CHECKING:
    from rag.serving.users import Users

users = typer.Typer(
    help="Who may log in: add, list and remove users, and make tokens.", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(help="Letters, digits, dots, dashes and underscores.")]


@users.command("add", epilog="Examples: rag users add ada · rag users add ada < password.txt")
def add(name: Name, data_dir: DataDir = None, config_file: ConfigFile = None) -> None:
    """Add a user, or give one another password: asked for, or the first line of standard input."""
    found = _users(data_dir, config_file)
    found.add(name, _password())
    typer.echo(f"{name} may log in.")


@users.command("token", epilog="Example: rag users token alice")
def token(name: Name, data_dir: DataDir = None, config_file: ConfigFile = None) -> None:
    """Make a token by which a program of a user logs in; it is shown once."""
    typer.echo(_users(data_dir, config_file).new_token(name))


@users.command("list", epilog="Example: rag users list --json")
def list_users(
    as_json: AsJson = False, data_dir: DataDir = None, config_file: ConfigFile = None
) -> None:
    """List the users, and how many tokens each has."""
    found = _users(data_dir, config_file).read()
    if as_json:
        listed = [{"name": name, "tokens": len(user.tokens)} for name, user in found.items()]
        print_json({"users": listed})
        return
    for name, user in found.items():
        typer.echo(f"{name}  {len(user.tokens)} tokens")


@users.command("remove", epilog="Example: rag users remove alice")
def remove(name: Name, data_dir: DataDir = None, config_file: ConfigFile = None) -> None:
    """Remove a user with all tokens; whoever is logged in as that user is logged out."""
    _users(data_dir, config_file).remove(name)
    typer.echo(f"{name} is removed.")


def _users(data_dir: Path | None, config_file: Path | None) -> Users:
    config = settings(data_dir=data_dir, file=config_file).config
    from rag.serving.users import Users

    return Users(config.data_dir)


def _password() -> str:
    """Typed twice by a person; a pipe gives one line."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
