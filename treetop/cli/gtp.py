"""`treetop gtp`: Treetop as an engine of programs for Go and other boards."""

from __future__ import annotations

from typing import Annotated

import typer

from treetop import checks
from treetop.cli.common import RuleName, Seed, Threads, find_game
from treetop.cli.engines import (
    LogFile,
    ModelFolder,
    MoveSeconds,
    MoveSimulations,
    conversation,
    logged,
    make_engine,
    talk,
)

BoardGame = Annotated[
    str, typer.Option("--game", metavar="GAME", help="The game: go, 'go(size=19)', hex, othello, or one of your own.")
]


def gtp(
    game: BoardGame = "go",
    rule: RuleName = None,
    model: ModelFolder = None,
    simulations: MoveSimulations = None,
    seconds: MoveSeconds = None,
    resign: Annotated[
        float | None,
        typer.Option("--resign", metavar="SHARE", help="Resign below this rate of wins, such as 0.05. Default: never."),
    ] = None,
    threads: Threads = 1,
    seed: Seed = 0,
    log: LogFile = None,
) -> None:
    """Answer commands of the Go Text Protocol on stdin, for Sabaki, Lizzie, GoGui and other programs.

    A move takes the share of the clock that the program sends, else 5 seconds; --simulations and --seconds are upper
    limits. lz-analyze and kata-analyze show the search while it runs.
    """
    from treetop.serve.protocols.gtp import GtpServer
    from treetop.serve.protocols.thinker import Thinker

    checks.whole("--threads", threads, 1, 512)
    checks.whole("--simulations", simulations, 1, checks.INT32_MAX, optional=True)
    if seconds is not None:
        checks.number("--seconds", seconds, above=0)
    found = find_game(game)
    thinker = Thinker(make_engine(found, rule, model, seed), threads=threads)
    with (
        conversation() as output,
        logged(log, output.write) as (send, note),
        GtpServer(send, found, thinker, simulations=simulations, seconds=seconds, resign=resign) as server,
    ):
        talk(server.receive, note)
        server.end_analysis()
