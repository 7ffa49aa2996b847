"""`treetop serve`: play, analyse and watch searches in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treetop import checks
from treetop.cli.common import MaybeGameName, RuleName, find_game, hangup_as_interrupt, say

if TYPE_CHECKING:
    from treetop.prove.prover import Theorem

Host = Annotated[
    str,
    typer.Option("--host", metavar="ADDRESS", help="The address to listen on; others than 127.0.0.1 need --token."),
]
Port = Annotated[int, typer.Option("--port", metavar="N", help="The port; 0 takes a free one.")]
Token = Annotated[str | None, typer.Option("--token", metavar="TEXT", help="A secret that every request needs.")]
Open = Annotated[bool, typer.Option("--open", help="Open the page in a browser.")]
ModelFolder = Annotated[
    str | None,
    typer.Option("--model", metavar="FOLDER", help="Search with a trained network: the folder of a run, or bundled."),
]
ProveOption = Annotated[
    str | None,
    typer.Option("--prove", metavar="FILE:LEMMA", help="Also prove this lemma on the page: Lists.v:rev_app."),
]
RunsFolder = Annotated[
    Path | None,
    typer.Option("--runs", metavar="FOLDER", help="Show the training runs, matches and tournaments of a folder."),
]
Threads = Annotated[int, typer.Option("--threads", metavar="N", help="Threads that search.")]
Sessions = Annotated[int, typer.Option("--sessions", metavar="N", help="Games in progress, at most.")]
Nodes = Annotated[
    int,
    typer.Option("--nodes", metavar="N", help="Nodes of all trees together, at most; 1,000 for each session at least."),
]


def serve(
    game: MaybeGameName = None,
    model: ModelFolder = None,
    rule: RuleName = None,
    prove: ProveOption = None,
    runs: RunsFolder = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    token: Token = None,
    open_page: Open = False,
    threads: Threads = 2,
    sessions: Sessions = 100,
    nodes: Nodes = 40_000_000,
) -> None:
    """Open a page to play a game, to watch its search, and to review games. Ctrl-C ends it.

    GAME is shown at first; it may be a game of your own. Every bundled game can be chosen on the page. The server
    listens on this machine only; to be reached from others it needs --host and --token.
    """
    from treetop.errors import MissingExtraError

    checks.whole("--port", port, 0, 65_535)
    checks.whole("--threads", threads, 1, 1024)
    checks.whole("--sessions", sessions, 1, 100_000)
    checks.whole("--nodes", nodes, 1000 * sessions)
    found = None if game is None else find_game(game)
    network = None
    if model is not None:
        from treetop.evaluators.networks.model import load_model

        network = load_model(model, game=found)
        found = network.game
    theorem = None if prove is None else find_theorem(prove)
    try:
        from treetop.serve.app import Options
        from treetop.serve.limits import Limits
    except ImportError as error:
        raise MissingExtraError("the server needs FastAPI, uvicorn and websockets", extra="serve") from error
    from treetop.serve.server import Server

    limits = Limits(sessions=sessions, total_nodes=nodes, nodes=min(Limits.nodes, nodes))
    options = Options(game=found, model=network, rule=rule, theorem=theorem, runs=runs, threads=threads, limits=limits)

    def ready(address: str) -> None:
        say(f"Treetop is at {address} (Ctrl-C ends it)")
        if open_page:
            webbrowser.open(address)

    with hangup_as_interrupt():
        Server(options, host=host, port=port, token=token).run(ready)


def find_theorem(text: str) -> Theorem:
    """Return the theorem that `FILE:LEMMA` names, after it was opened once: an error is shown now, not on the page."""
    from treetop.prove.plugins import open_file

    path, _, lemma = text.rpartition(":") if ":" in text else (text, "", "")
    theorem = open_file(path).theorem(lemma or None)
    theorem.open().close()
    return theorem
