"""`treetop usi`: Treetop as an engine of programs for shogi."""

from __future__ import annotations

from treetop.cli.common import RuleName, Seed, Threads
from treetop.cli.engines import LogFile, ModelFolder
from treetop.cli.uci import ChessGame, ConfigFile, serve


def usi(
    game: ChessGame = "shogi",
    rule: RuleName = None,
    model: ModelFolder = None,
    threads: Threads = 1,
    seed: Seed = 0,
    config: ConfigFile = None,
    log: LogFile = None,
) -> None:
    """Answer commands of USI on stdin, for programs such as ShogiGUI and ShogiHome.

    The program sends the limits of each move: nodes (simulations), byoyomi, or its clock.
    """
    serve(game, "usi", rule, model, threads, seed, config, log)
