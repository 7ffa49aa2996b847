"""`treetop train`: train a network on a game by self-play."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treetop.cli.common import (
    Json,
    On,
    add_current_folder,
    find_game,
    hangup_as_interrupt,
    refuse_options_beside,
    say,
    say_json,
)
from treetop.cli.train_display import display
from treetop.errors import ConfigError
from treetop.game.registry import find_marked
from treetop.workers.processes import cores

if TYPE_CHECKING:
    from treetop.train.events import Event
    from treetop.train.network import ModuleFactory
    from treetop.train.run import Run

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

Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE.toml", help="Settings of the run, as a file; options beside it come first."),
]
Module = Annotated[
    str | None,
    typer.Option("--module", metavar="MODULE:NAME", help="A function of yours that makes the network, for PyTorch."),
]
SelfPlayWorkers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", help="Processes of self-play. Default: one for each core; 1: this one."),
]
ForTensorBoard = Annotated[
    bool, typer.Option("--tensorboard", help="Also write event files for TensorBoard, in FOLDER/tensorboard.")
]


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
    config: Config = None,
    module: Module = None,
    tensorboard: ForTensorBoard = False,
    workers: SelfPlayWorkers = None,
    on: On = None,
    as_json: Json = False,
) -> None:
    """Train a network on a game by self-play. Everything of the run lies in one folder.

    Ctrl-C and SIGTERM end the run and keep the games that are finished; --resume continues it. report.html in the
    folder shows what it has reached. Play with the result: treetop play GAME --model FOLDER, or the player
    net('FOLDER', simulations=200) in every command.
    """
    from treetop.train.options import TrainOptions, read_config
    from treetop.train.run import Run

    if tensorboard:
        from treetop.train.tensorboard import need_tensorboard

        need_tensorboard()  # before anything is written
    given = {
        "size": size, "simulations": simulations, "slots": slots, "seed": seed, "iterations": iterations,
        "deterministic": deterministic or None, "outcomes": outcomes or None,
    }  # fmt: skip
    factory = None if module is None else _find_module(module)
    if resume is not None:
        named = {f"--{name}": value for name, value in given.items() if name != "iterations"}
        refuse_options_beside("--resume", {"--out": out, "--config": config, **named})
        known = None if game is None else find_game(game)
        run = Run.open(resume, game=known, minutes=minutes, iterations=iterations, module=factory)
    else:
        settings = {} if config is None else read_config(config)
        game = game or settings.pop("game", None)
        if game is None or out is None:
            raise ConfigError(
                "give a game and a folder, as in treetop train connect_four --out run, or --resume FOLDER"
            )
        chosen = {name: value for name, value in {**given, "minutes": minutes}.items() if value is not None}
        run = Run.create(out, find_game(game), TrainOptions.from_dict({**settings, **chosen}), module=factory)
    if workers is None and on is None and not run.options.deterministic:
        workers = cores()
    with hangup_as_interrupt():
        reported = _train(run, tensorboard=tensorboard, as_json=as_json, workers=workers, on=on)
    if as_json:
        say_json({
            "folder": str(run.folder), "iterations": run.iteration, "games": run.games, "seconds": run.seconds,
            "report": str(reported[0]) if reported else None,
        })  # fmt: skip
        return
    say(f"{run.folder}: {run.iteration} iterations, {run.games:,} games, {run.replay.total:,} positions")
    if reported:
        say(f"report: {reported[0]}")
    game = shlex.quote(run.game.source or run.game.name)
    say(f"play against it: treetop play {game} --model {shlex.quote(str(run.folder))}")


def _find_module(text: str) -> ModuleFactory:
    from types import FunctionType

    if ":" not in text:
        raise ConfigError(f"--module is MODULE:NAME, as in my_module:make, not {text}")
    add_current_folder(text)
    module, _, name = text.rpartition(":")
    found: ModuleFactory = find_marked(module, name, {"a function": FunctionType, "a class": type}, ConfigError)
    return found


def _train(run: Run, *, tensorboard: bool, as_json: bool, workers: int | None, on: str | None) -> list[Path]:
    """Train a run, show its events, and return the files of its report."""
    from treetop.train.report import report

    with ExitStack() as stack:
        hooks = [stack.enter_context(display(run, as_json))]
        if tensorboard:
            from treetop.train.tensorboard import TensorBoard

            hooks.append(stack.enter_context(TensorBoard(run.folder)))

        def take(event: Event) -> None:
            for hook in hooks:
                hook(event)

        run.train(take, workers=workers, on=on)
    return report(run.folder)
