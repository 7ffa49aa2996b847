"""What the commands for other programs share: lines in, lines out, a log, a search."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from treetop import checks
from treetop.cli.common import LIMITS, hangup_as_interrupt
from treetop.errors import SaveError, SearchError
from treetop.game.definition import Game
from treetop.serve.engines import Engine

ModelFolder = Annotated[
    str | None,
    typer.Option("--model", metavar="FOLDER", help="Evaluate by a trained network: the folder of a run, or bundled."),
]
LogFile = Annotated[
    Path | None, typer.Option("--log", metavar="FILE", help="Append everything that is read and written to a file.")
]
MoveSeconds = Annotated[
    float | None,
    typer.Option("--seconds", metavar="S", help="Think at most S seconds a move.", rich_help_panel=LIMITS),
]
MoveSimulations = Annotated[
    int | None,
    typer.Option("--simulations", metavar="N", help="Run at most N simulations a move.", rich_help_panel=LIMITS),
]


def make_engine(game: Game, rule: str | None, model: str | None, seed: int) -> Engine:
    """Return how positions are searched; raise a TreetopError where the rule or the network does not fit the game."""
    from treetop.game.position import Position

    checks.whole("--seed", seed, 0, checks.INT32_MAX)
    evaluator = None if model is None else load_network(model, game)
    engine = Engine(rule or (None if model is None else "puct(c=1.5, batch_size=8)"), evaluator, seed)
    engine.search(Position.start(game))
    return engine


def load_network(folder: str, game: Game) -> Any:
    """Return the network of a folder, or the bundled one."""
    from treetop.evaluators.networks.model import load_model

    return load_model(folder, game=game)


@contextmanager
def logged(
    path: Path | None, send: Callable[[str], object]
) -> Iterator[tuple[Callable[[str], object], Callable[[str], object]]]:
    """Yield a function that writes a text and one that notes a text that was read; both append to the log, if any."""
    if path is None:
        yield send, lambda _: None
        return
    try:
        file = path.open("a", encoding="utf-8", buffering=1)
    except OSError as error:
        raise SaveError(f"{path} cannot be written: {error.strerror or error}") from error

    def write(text: str) -> None:
        file.write("".join(f"< {line}\n" for line in text.splitlines()))
        send(text)

    with file:
        yield write, lambda line: file.write(f"> {line}\n")


class Output:
    """Writes texts to the program on the other side, at once. Where it is gone, the main thread is interrupted."""

    def __init__(self) -> None:
        self.lost: OSError | None = None
        """Why nothing can be written any more."""

    def write(self, text: str) -> None:
        """Write a text; do nothing once the output is lost."""
        if self.lost is not None:
            return
        try:
            sys.stdout.buffer.write(text.encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
        except OSError as error:
            self.lost = error
            _interrupt_main()

    def refuse_lost(self) -> None:
        """End the command if answers could not be written: without a message where nobody reads them any more."""
        if self.lost is None:
            return
        # What is left in the buffer of stdout would raise the error again at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(self.lost, BrokenPipeError):
            raise typer.Exit(1)
        raise SearchError(f"the answers cannot be written: {self.lost.strerror or self.lost}") from None


@contextmanager
def conversation() -> Iterator[Output]:
    """Yield the output of a command that talks to a program. A signal, or a lost output, ends it with exit code 1."""
    output = Output()
    with hangup_as_interrupt():
        try:
            yield output
        except KeyboardInterrupt:
            if output.lost is None:
                raise typer.Exit(1) from None
    output.refuse_lost()


def _interrupt_main() -> None:
    """Interrupt the main thread, which may wait for input."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGTERM)  # rather than SIGINT, which jobs of a shell may ignore
    else:
        _thread.interrupt_main()


def talk(receive: Callable[[str], bool], note: Callable[[str], object]) -> None:
    """Read lines until one ends the conversation, or the input ends."""
    from treetop.serve.analysis import lines_of

    for raw in lines_of(sys.stdin.buffer):
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        note(line)
        if not receive(line):
            return
