"""`treetop muzero`: learn a model of a Gymnasium environment, and search it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treetop.cli.common import (
    Json,
    add_current_folder,
    hangup_as_interrupt,
    refuse_options_beside,
    say,
    say_json,
)
from treetop.errors import ConfigError

if TYPE_CHECKING:
    from treetop.train.muzero.run import MuZeroIteration, MuZeroRun

Env = Annotated[
    str | None,
    typer.Argument(
        metavar="ENV",
        help="A name that Gymnasium knows: CartPole-v1, or module:Name-v0 for one that a module of yours registers. "
        "With --resume and --play: only for the second kind.",
        show_default=False,
    ),
]
Out = Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="A new folder for everything of the run.")]
Resume = Annotated[Path | None, typer.Option("--resume", metavar="FOLDER", help="Continue the run in this folder.")]
Play = Annotated[Path | None, typer.Option("--play", metavar="FOLDER", help="Play episodes with the run in a folder.")]
Minutes = Annotated[
    float | None, typer.Option("--minutes", metavar="N", help="Minutes of the whole run.  [default: 5]")
]
Steps = Annotated[
    int | None, typer.Option("--steps", metavar="N", help="End after N steps of the environment, whatever the time.")
]
Simulations = Annotated[
    int | None, typer.Option("--simulations", metavar="N", help="Simulations of each search.  [default: 16]")
]
Discount = Annotated[
    float | None, typer.Option("--discount", metavar="X", help="The discount of each step.  [default: 0.99]")
]
Copies = Annotated[int | None, typer.Option("--copies", metavar="N", help="Copies of the environment.  [default: 16]")]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="The seed.  [default: 0; of --play: 1]")]
Count = Annotated[
    int | None,
    typer.Option(
        "--episodes", metavar="N", help="Episodes to play: with --play, or after training.  [default of --play: 100]"
    ),
]


def muzero(
    env: Env = None,
    out: Out = None,
    resume: Resume = None,
    play: Play = None,
    minutes: Minutes = None,
    steps: Steps = None,
    simulations: Simulations = None,
    discount: Discount = None,
    copies: Copies = None,
    seed: Seed = None,
    episodes: Count = None,
    as_json: Json = False,
) -> None:
    """Learn a model of a Gymnasium environment and search it, in the way of MuZero. The rules need not be known.

    Everything of the run lies in one folder. Ctrl-C ends the run and keeps what was learned; --resume continues it.
    --play plays episodes with the result and prints the mean return.
    """
    from treetop.train.muzero.options import MuZeroOptions
    from treetop.train.muzero.run import MuZeroRun

    add_current_folder(env)
    settings = {"simulations": simulations, "discount": discount, "copies": copies, "seed": seed, "steps": steps}
    given = {f"--{name}": value for name, value in settings.items()}
    if play is not None:
        beside = {name: value for name, value in given.items() if name not in ("--simulations", "--seed")}
        refuse_options_beside("--play", {"--out": out, "--resume": resume, "--minutes": minutes, **beside})
        run = MuZeroRun.open(play, env=env)
        _evaluate(run, 100 if episodes is None else episodes, simulations, seed, as_json)
        return
    if resume is not None:
        beside = {name: value for name, value in given.items() if name != "--steps"}
        refuse_options_beside("--resume", {"--out": out, **beside})
        run = MuZeroRun.open(resume, env=env, minutes=minutes, steps=steps)
    else:
        if env is None or out is None:
            raise ConfigError(
                "give an environment and a folder, as in treetop muzero CartPole-v1 --out run, or --resume FOLDER, or "
                "--play FOLDER"
            )
        options = {name: value for name, value in {**settings, "minutes": minutes}.items() if value is not None}
        run = MuZeroRun.create(out, env, MuZeroOptions.from_dict(options))
    with hangup_as_interrupt():
        run.train((lambda _: None) if as_json else (lambda event: say(_line(event))))
    if episodes is not None:
        _evaluate(run, episodes, None, None, as_json)
    elif as_json:
        say_json(_facts(run))
    else:
        say(f"{run.folder}: {run.steps:,} steps, {run.episodes:,} episodes")
        say(f"play with it: treetop muzero --play {shlex.quote(str(run.folder))}")


def _facts(run: MuZeroRun) -> dict[str, object]:
    return {
        "folder": str(run.folder), "env": run.name, "steps": run.steps, "episodes": run.episodes,
        "seconds": round(run.seconds, 1),
    }  # fmt: skip


def _evaluate(run: MuZeroRun, episodes: int, simulations: int | None, seed: int | None, as_json: bool) -> None:
    found = run.evaluate(episodes, simulations=simulations, seed=1 if seed is None else seed)
    if as_json:
        say_json({**_facts(run), "evaluation": found.to_dict()})
    else:
        say(f"{run.name}, {episodes:,} episodes: mean return {found.interval}, lowest {min(found.returns):g}")


def _line(event: MuZeroIteration) -> str:
    seen = "-" if event.mean_return is None else f"{event.mean_return:,.1f}"
    losses = [event.policy_loss, event.value_loss, event.reward_loss]
    shown = " + ".join("-" if loss is None else f"{loss:.3f}" for loss in losses)
    return (
        f"{event.seconds:,.0f} s: {event.steps:,} steps, {event.episodes:,} episodes, mean return {seen}, loss {shown}"
    )
