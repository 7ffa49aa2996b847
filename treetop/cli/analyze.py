"""`treetop analyze`: the analysis protocol on stdin and stdout."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from typing import Annotated, Any, NoReturn

import typer

from treetop import checks
from treetop.cli.common import MaybeGameName, RuleName, find_game, hangup_as_interrupt
from treetop.errors import ConfigError, SearchError

Threads = Annotated[int, typer.Option("--threads", metavar="N", help="Queries that are searched at the same time.")]
ModelFolder = Annotated[
    str | None,
    typer.Option("--model", metavar="FOLDER", help="Evaluate by a trained network: the folder of a run, or bundled."),
]


def analyze(game: MaybeGameName = None, rule: RuleName = None, model: ModelFolder = None, threads: Threads = 1) -> None:
    """Answer queries about positions: a line of JSON each on stdin, answers as lines of JSON on stdout.

    A query is {"id": "a", "game": "connect_four", "moves": ["4", "4"], "maxVisits": 1000}; docs/analysis.md has all
    fields. GAME is the game of queries that name none. The command ends with its input, when all queries are answered.
    """
    from treetop.serve.analysis import Analyzer, as_line, lines_of

    checks.whole("--threads", threads, 1, 1024)
    if sys.stdin is None or sys.stdout is None:
        raise ConfigError("treetop analyze reads stdin and writes to stdout: one of them is closed")
    found = None if game is None else find_game(game)
    evaluator: Any = None
    if model is not None:
        from treetop.evaluators.networks.model import load_model

        evaluator = load_model(model, game=found)
        found, rule = evaluator.game, rule or "puct(c=1.5, batch_size=8)"

    lost: list[OSError] = []

    def send(answer: dict[str, Any]) -> None:
        if lost:
            return
        try:
            sys.stdout.write(as_line(answer) + "\n")
            sys.stdout.flush()
        except OSError as error:
            lost.append(error)
            interrupt_main()

    with hangup_as_interrupt(), Analyzer(send, game=found, rule=rule, evaluator=evaluator, threads=threads) as analyzer:
        try:
            for line in lines_of(sys.stdin.buffer):
                if line.strip():
                    analyzer.receive(line)
            analyzer.wait()
        except KeyboardInterrupt:
            if not lost:
                raise typer.Exit(1) from None
    if lost:
        raise_lost(lost[0])


def interrupt_main() -> None:
    """Interrupt the main thread, which may wait for input."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


def raise_lost(error: OSError) -> NoReturn:
    """End the command because its answers cannot be written: without a message if nobody reads them any more."""
    # What is left in the buffer of stdout would raise the error again at the end of the process.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        raise typer.Exit(1)
    raise SearchError(f"the answers cannot be written: {error.strerror or error}") from None
