"""The command `treetop`: all commands under one name."""

from __future__ import annotations

from typing import Annotated

import typer

from treetop import __version__
from treetop.cli import bench, check, evaluate, games, match, play, prove, search, solve, tournament, warmup
from treetop.cli.common import say, told

app = typer.Typer(
    name="treetop",
    help="Monte Carlo tree search: search a position, play, measure players against each other, prove theorems, check your own rules.",
    epilog="A GAME is a name (othello), a name with parameters ('hex(size=7)'), or your own: module:Name or folder/file.py:Name.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("games")(told(games.games))
app.command("search")(told(search.search))
app.command("play")(told(play.play))
app.command("solve")(told(solve.solve))
app.command("match")(told(match.match))
app.command("tournament")(told(tournament.tournament))
app.command("evaluate")(told(evaluate.evaluate))
app.command("prove")(told(prove.prove))
app.command("check")(told(check.check))
app.command("bench")(told(bench.bench))
app.command("warmup")(told(warmup.warmup))


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"treetop {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Options that stand before a command."""


def main() -> None:
    """The entry point of the installed command."""
    app(prog_name="treetop")
