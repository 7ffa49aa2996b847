"""The command `treetop` with all its subcommands."""

from __future__ import annotations

from typing import Annotated

import typer

from treetop import __version__
from treetop.cli import bench, check, evaluate, games, match, play, prove, search, solve, tournament, warmup
from treetop.cli.common import errors_as_exit_codes, say

app = typer.Typer(
    name="treetop",
    help="Monte Carlo tree search: search a position, play, compare players, prove theorems, check your own games.",
    epilog="A GAME is a name (othello), a name with parameters ('hex(size=7)'), or your own: module:Name or "
    "folder/file.py:Name.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("games")(errors_as_exit_codes(games.games))
app.command("search")(errors_as_exit_codes(search.search))
app.command("play")(errors_as_exit_codes(play.play))
app.command("solve")(errors_as_exit_codes(solve.solve))
app.command("match")(errors_as_exit_codes(match.match))
app.command("tournament")(errors_as_exit_codes(tournament.tournament))
app.command("evaluate")(errors_as_exit_codes(evaluate.evaluate))
app.command("prove")(errors_as_exit_codes(prove.prove))
app.command("check")(errors_as_exit_codes(check.check))
app.command("bench")(errors_as_exit_codes(bench.bench))
app.command("warmup")(errors_as_exit_codes(warmup.warmup))


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
