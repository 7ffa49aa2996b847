"""The command `treetop` with all its subcommands. The module of a subcommand is imported when it is used."""

from __future__ import annotations

import importlib
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from treetop import __version__
from treetop.cli.common import errors_as_exit_codes, say

COMMANDS = (
    "games", "search", "play", "serve", "analyze", "uci", "usi", "gtp", "solve", "match", "tournament", "ladder",
    "evaluate", "suite", "convert", "train", "muzero", "runs", "export", "prove", "check", "bench", "warmup",
)  # fmt: skip
"""The subcommands, in the order of the help. Each is the function of that name in the module of that name."""
_SETTINGS: dict[str, Any] = {
    "rich_markup_mode": "rich",
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class Subcommands(TyperGroup):
    """The subcommands, imported on first use."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the names of all subcommands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return a subcommand; None if there is no such one. Then all are imported, to suggest the nearest name."""
        for name in (cmd_name,) if cmd_name in COMMANDS else COMMANDS:
            if name not in self.commands:
                function = getattr(importlib.import_module(f"treetop.cli.{name}"), name)
                single = typer.Typer(**_SETTINGS, add_completion=False)
                single.command(name)(errors_as_exit_codes(function))
                self.commands[name] = typer.main.get_command(single)
        return self.commands.get(cmd_name)


app = typer.Typer(
    name="treetop",
    cls=Subcommands,
    help="Monte Carlo tree search: search a position, play, compare players, prove theorems, check your own games.",
    epilog="A GAME is a name (othello), a name with parameters ('hex(size=7)'), or your own: module:Name or "
    "folder/file.py:Name.",
    no_args_is_help=True,
    **_SETTINGS,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"treetop {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Take the options before a subcommand."""


def main() -> None:
    """Run the command line."""
    app(prog_name="treetop")
