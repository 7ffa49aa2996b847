"""`treetop train`: train a network on a game by self-play."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.live import Live
from rich.text import Text

from treetop.cli.common import (
    Json,
    facts,
    find_game,
    refuse_options_beside,
    say,
    say_json,
    screen,
    table,
)
from treetop.errors import ConfigError

if TYPE_CHECKING:
    from rich.table import Table

    from treetop.train.run import Event, Iteration, Run

_ROWS = 12  # iterations that the live table shows

TrainedGame = Annotated[
    str | None,
    typer.Argument(
        metavar="GAME", help="The game. With --resume: only if it is not a bundled one.", show_default=False
    ),
]
Out = Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="A new folder for everything of the run.")]
Resume = Annotated[Path | None, typer.Option("--resume", metavar="FOLDER", help="Continue the run in this folder.")]
Minutes = Annotated[
    float | None, typer.Option("--minutes", metavar="N", help="Minutes of the whole run.  [default: 30]")
]
Size = Annotated[
    str | None, typer.Option("--size", help="The network: tiny, small or medium. Default: depends on the game.")
]
Simulations = Annotated[
    int | None, typer.Option("--simulations", metavar="N", help="Simulations of each move. Default: 16 or 32.")
]
Slots = Annotated[int | None, typer.Option("--slots", metavar="N", help="Games played at a time.  [default: 128]")]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="The seed.  [default: 0]")]
Iterations = Annotated[
    int | None, typer.Option("--iterations", metavar="N", help="End after N iterations instead of some minutes.")
]
Deterministic = Annotated[
    bool, typer.Option("--deterministic", help="Let self-play and training take turns: equal seeds give equal data.")
]
Outcomes = Annotated[bool, typer.Option("--outcomes", help="Let the network give probabilities of win, draw and loss.")]


def train(
    game: TrainedGame = None,
    out: Out = None,
    resume: Resume = None,
    minutes: Minutes = None,
    size: Size = None,
    simulations: Simulations = None,
    slots: Slots = None,
    seed: Seed = None,
    iterations: Iterations = None,
    deterministic: Deterministic = False,
    outcomes: Outcomes = False,
    as_json: Json = False,
) -> None:
    """Train a network on a game by self-play. Everything of the run lies in one folder.

    Ctrl-C ends the run and keeps the games that are finished; --resume continues it. Play with the result: treetop play
    GAME --model FOLDER, or the player net('FOLDER', simulations=200) in every command.
    """
    from treetop.train.options import TrainOptions
    from treetop.train.run import Run

    given = {
        "size": size, "simulations": simulations, "slots": slots, "seed": seed, "iterations": iterations,
        "deterministic": deterministic or None, "outcomes": outcomes or None,
    }  # fmt: skip
    if resume is not None:
        refuse_options_beside("--resume", {"--out": out, **{f"--{name}": value for name, value in given.items()}})
        run = Run.open(resume, game=None if game is None else find_game(game), minutes=minutes)
    else:
        if game is None or out is None:
            raise ConfigError(
                "give a game and a folder, as in treetop train connect_four --out run, or --resume FOLDER"
            )
        options = {name: value for name, value in {**given, "minutes": minutes}.items() if value is not None}
        run = Run.create(out, find_game(game), TrainOptions.from_dict(options))
    with _display(run, as_json) as show:
        run.train(show)
    if as_json:
        say_json({"folder": str(run.folder), "iterations": run.iteration, "games": run.games, "seconds": run.seconds})
    else:
        say(f"{run.folder}: {run.iteration} iterations, {run.games:,} games, {run.replay.total:,} positions")
        say(f"play against it: treetop play {run.game.name} --model {run.folder}")


@contextmanager
def _display(run: Run, as_json: bool) -> Iterator[Callable[[Event], None]]:
    """Show what a run does: a table that grows on a terminal, lines elsewhere, nothing with JSON."""
    seen: list[Event] = list(run.events)
    if as_json:
        yield lambda _: None
    elif not screen().is_terminal:
        yield lambda event: say(_line(event))
    else:
        with Live(_picture(run, seen), console=screen(), auto_refresh=False) as live:

            def show(event: Event) -> None:
                seen.append(event)
                live.update(_picture(run, seen), refresh=True)

            yield show


def _line(event: Event) -> str:
    from treetop.train.run import Rated

    if isinstance(event, Rated):
        scores = ", ".join(f"{score:.0%} against {anchor}" for anchor, score in event.scores.items())
        return f"{event.seconds:,.0f} s: scores {scores}"
    return (
        f"{event.seconds:,.0f} s: iteration {event.iteration}, {event.games:,} games, {event.positions:,} positions, "
        f"{event.rate:,.0f} positions/s, loss {_loss(event.policy_loss)} + {_loss(event.value_loss)}"
    )


def _loss(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _picture(run: Run, seen: list[Event]) -> Group:
    from treetop.train.run import Iteration, Rated

    iterations = [event for event in seen if isinstance(event, Iteration)]
    ratings = [event for event in seen if isinstance(event, Rated)]
    left = max(0.0, 60.0 * run.options.minutes - run.seconds)
    head = facts(
        {
            "game": run.game.name,
            "network": f"{run.options.size}, {run.architecture.parameters:,} weights",
            "run": f"{run.progress:.0%}"
            + (f", {left / 60:.1f} minutes left" if run.options.iterations is None else ""),
        }
    )
    parts: list[Text | Table | Group] = [head, _iterations(iterations[-_ROWS:])]
    if ratings:
        shown = table("time", *ratings[-1].scores)
        for event in ratings:
            scores = [f"{event.scores[anchor]:.0%}" if anchor in event.scores else "" for anchor in ratings[-1].scores]
            shown.add_row(f"{event.seconds:,.0f} s", *scores)
        parts += [Text("scores against"), shown]
    return Group(*parts)


def _iterations(events: list[Iteration]) -> Table:
    shown = table("time", "games", "positions", "positions/s", "policy", "value", "moves", "first player", "entropy")
    for event in events:
        shown.add_row(
            f"{event.seconds:,.0f} s", f"{event.games:,}", f"{event.positions:,}", f"{event.rate:,.0f}",
            _loss(event.policy_loss), _loss(event.value_loss), f"{event.length:.1f}", f"{event.first_player:+.2f}",
            f"{event.entropy:.2f}",
        )  # fmt: skip
    return shown
