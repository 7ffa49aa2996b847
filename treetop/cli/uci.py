"""`treetop uci`: Treetop as an engine of programs for chess and its relatives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treetop import checks
from treetop.cli.common import RuleName, Seed, Threads, find_game
from treetop.cli.engines import LogFile, ModelFolder, conversation, load_network, logged, make_engine, talk

ChessGame = Annotated[
    str,
    typer.Option("--game", metavar="GAME", help="The game: chess, xiangqi, shogi, breakthrough, or one of your own."),
]
Protocol = Annotated[str, typer.Option("--protocol", metavar="NAME", help="uci, usi (shogi) or ucci (xiangqi).")]
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings as a TOML file: names and values as of setoption."),
]


def uci(
    game: ChessGame = "chess",
    protocol: Protocol = "uci",
    rule: RuleName = None,
    model: ModelFolder = None,
    threads: Threads = 1,
    seed: Seed = 0,
    config: ConfigFile = None,
    log: LogFile = None,
) -> None:
    """Answer commands of UCI on stdin, for programs such as Cute Chess, Arena, En Croissant and xboard.

    The program sends the limits of each move: nodes (simulations), movetime, or its clock.
    """
    serve(game, protocol, rule, model, threads, seed, config, log)


def serve(
    game: str, protocol: str, rule: str | None, model: str | None, threads: int, seed: int, config: Path | None,
    log: Path | None,
) -> None:  # fmt: skip
    """Speak UCI or one of its dialects."""
    from treetop.serve.protocols.uci import UciServer, read_settings

    checks.whole("--threads", threads, 1, 512)
    found = find_game(game)
    engine = make_engine(found, rule, model, seed)
    with (
        conversation() as output,
        logged(log, lambda line: output.write(line + "\n")) as (send, note),
        UciServer(send, found, dialect=protocol, engine=engine, make_model=load_network, threads=threads) as server,
    ):
        for name, value in ({} if config is None else read_settings(config)).items():
            server.set_option(name, value)
        talk(server.receive, note)
        server.wait()
