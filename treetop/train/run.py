"""A training run: one folder with its settings, data, network, checkpoint and metrics, which can be continued.

`run.json` holds the settings, `data/` the positions, `learner.safetensors` the checkpoint, `model.json` and
`model.safetensors` the network to play with, and `metrics.jsonl` one line for each iteration and rating. Every file is
replaced at once; the data of an iteration is written before its checkpoint.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from treetop.arena.matches import match
from treetop.compiler.preparing import thinking_clock
from treetop.compiler.rng import mix
from treetop.errors import ConfigError, SaveError
from treetop.evaluators.networks.architecture import Architecture
from treetop.evaluators.networks.model import Model, load_model, safetensors
from treetop.files import parse_json, read_bytes, replacing
from treetop.game.definition import Game
from treetop.game.registry import load_bundled, load_game
from treetop.search.interrupts import Interrupts
from treetop.search.pool import SearchPool
from treetop.train.learner import Learner, LearnerOptions, Losses
from treetop.train.network import few_threads
from treetop.train.options import TrainOptions
from treetop.train.samples import Replay, Samples
from treetop.train.self_play import Played, SelfPlay

KIND, VERSION = "a training run", 1
CHECKPOINT, METRICS = "learner.safetensors", "metrics.jsonl"
ANCHORS = ("random", "uct(simulations=100)", "uct(simulations=1000)")
"""The players against which a network is rated."""
_STEPS_AT_ONCE = 4  # of the learner, between two looks at the clock


@dataclass(frozen=True)
class Iteration:
    """What an iteration has done: a line of `metrics.jsonl`.

    >>> Iteration(1, 2.5, 40, 300, 7, 0.5, 0.25, 7.5, 0.1, 1.0, 120.0).games
    40
    """

    iteration: int
    seconds: float
    """Seconds of the run so far, all its sessions together."""
    games: int
    positions: int
    """Positions with targets, so far."""
    steps: int
    """Steps of the optimiser, so far."""
    policy_loss: float | None
    """The mean over the steps of this iteration; None if there was none, as in the first one."""
    value_loss: float | None
    length: float
    """The mean number of moves of the games of this iteration."""
    first_player: float
    """The mean return of the first player."""
    entropy: float
    """The mean entropy of the improved policies, in nats."""
    rate: float
    """Positions of self-play a second."""


@dataclass(frozen=True)
class Rated:
    """The score of the network against the anchors: a line of `metrics.jsonl`.

    >>> Rated(1, 2.5, {"random": 0.9}).scores["random"]
    0.9
    """

    iteration: int
    seconds: float
    scores: dict[str, float]
    """The share of the points against each anchor."""


Event = Iteration | Rated


class Run:
    """A training run in a folder. `Run.create` begins one, `Run.open` continues it, `train` trains.

    >>> import tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = Run.create(f"{folder}/run", "tic_tac_toe", tt.train.TrainOptions(iterations=1))
    ...     run.is_over, Run.open(f"{folder}/run").options == run.options
    (False, True)
    """

    def __init__(self, folder: Path, game: Game, options: TrainOptions) -> None:
        self.folder, self.game, self.options = folder, game, options
        self.architecture = Architecture.of(game, options.size or "small", outcomes=options.outcomes)
        self.learner = Learner(game, self.architecture, LearnerOptions(), options.seed)
        self.replay = Replay(folder / "data", game, self.architecture.values, options.window)
        self.iteration, self.games, self.seconds = 0, 0, 0.0
        self.events: list[Event] = []

    @classmethod
    def create(cls, folder: str | Path, game: str | Game, options: TrainOptions) -> Run:
        """Begin a run in a new folder."""
        path, known = Path(folder), load_game(game)
        if (path / "run.json").exists():
            raise ConfigError(f"{path} holds a training run already: continue it, or choose another folder")
        complete = options.for_game(known)
        SearchPool(known, complete.search(), slots=1)  # it refuses games that self-play cannot search
        run = cls(path, known, complete)
        header = {
            "kind": KIND, "version": VERSION, "game": known.source or known.name, "rules": known.digest,
            "options": complete.to_dict(),
        }  # fmt: skip
        _write_json(path / "run.json", header)
        run.learner.model({"iteration": 0}).save(path)
        return run

    @classmethod
    def open(cls, folder: str | Path, *, game: str | Game | None = None, minutes: float | None = None) -> Run:
        """Continue a run. Give the game if it is not a bundled one, and more minutes if the run has used up its own."""
        path = Path(folder)
        header = read_header(path / "run.json")
        known = load_game(game) if game is not None else load_bundled(header["game"])
        if known.digest != header["rules"]:
            raise SaveError(f"the rules of {known.name} have changed since the run in {path} began: begin a new run")
        given = header["options"] | ({} if minutes is None else {"minutes": minutes})
        run = cls(path, known, TrainOptions.from_dict(given).for_game(known))
        if minutes is not None:
            _write_json(path / "run.json", {**header, "options": run.options.to_dict()})
        run._restore()
        return run

    # Training.

    def train(self, on_event: Callable[[Event], object] | None = None) -> Model:
        """Train until the run's time is used up; return the network. Ctrl-C ends it; finished games are kept.

        `on_event` is called after every iteration and rating.
        """
        play = None if self.options.deterministic else self._self_play()
        with Interrupts() as interrupts, few_threads():
            while not self.is_over and not interrupts.seen:
                for event in self._iterate(play, interrupts):
                    self.events.append(event)
                    if on_event is not None:
                        on_event(event)
        return self.model()

    @property
    def progress(self) -> float:
        """The share of the run that is over, 0 to 1."""
        by_time = self.seconds / (60.0 * self.options.minutes)
        most = self.options.iterations
        return min(1.0, self.iteration / most if most is not None else by_time)

    @property
    def is_over(self) -> bool:
        """Whether its time, or the number of its iterations, is used up."""
        return self.progress >= 1.0

    def model(self) -> Model:
        """Return the network of the last iteration."""
        return load_model(self.folder, game=self.game)

    def _self_play(self) -> SelfPlay:
        """Return games of this iteration's own seed, with the network of the moment."""
        options = self.options
        assert options.slots is not None
        assert options.simulations is not None
        return SelfPlay(
            self.learner.model(), options.search(), slots=options.slots, simulations=options.simulations,
            openings=options.openings, seed=mix(options.seed * 1_000_003 + self.iteration) >> 1,
        )  # fmt: skip

    def _iterate(self, play: SelfPlay | None, interrupts: Interrupts) -> Iterator[Event]:
        clock = thinking_clock()  # it stops while code is compiled
        start = clock.now()
        learning = _Learning(self) if play is not None and len(self.replay) else None
        own = play or self._self_play()
        before = own.positions
        try:
            played = self._play(own, interrupts)
        finally:
            losses = None if learning is None else learning.end()
        if not played or (play is None and interrupts.seen):  # a deterministic run plays this iteration again
            return
        rate = (own.positions - before) / max(clock.now() - start, 1e-9)
        samples = Samples.joined([game.samples for game in played])
        self.replay.add(samples)
        if play is None:
            wanted = max(1, round(self.options.reuse * len(samples) / LearnerOptions().batch))
            losses = self.learner.train(self.replay, wanted, self.progress)
        self.iteration, self.games = self.iteration + 1, self.games + len(played)
        self.seconds += clock.now() - start
        event = Iteration(
            self.iteration, self.seconds, self.games, self.replay.total, self.learner.steps,
            None if losses is None else losses.policy, None if losses is None else losses.value,
            float(np.mean([game.moves for game in played])), float(np.mean([game.returns[0] for game in played])),
            float(np.mean([game.entropy for game in played])), rate,
        )  # fmt: skip
        own.current.model = self._save(event)
        yield event
        if self._rating_due():
            yield from self._rate(interrupts)

    def _play(self, play: SelfPlay, interrupts: Interrupts) -> list[Played]:
        """Play games until they have enough positions for an iteration, or until Ctrl-C; return the ended ones."""
        played, count, wanted = list[Played](), 0, self.options.chunk or 1
        while count < wanted and not interrupts.seen:
            try:
                ended = play.step()
            except KeyboardInterrupt:  # which the pool raises
                interrupts.seen = True
                break
            played += ended
            count += sum(len(game.samples) for game in ended)
        return played

    # Ratings.

    def _rating_due(self) -> bool:
        """Return whether the next part of the run is over: ratings are spread evenly over it."""
        many = self.options.ratings if self.options.rating_games and self.game.facts.players == 2 else 0
        rated = sum(isinstance(event, Rated) for event in self.events)
        return many > 0 and self.progress * many >= rated + 1

    def _rate(self, interrupts: Interrupts) -> Iterator[Rated]:
        clock = thinking_clock()
        start, spec = clock.now(), f"net({str(self.folder)!r}, simulations=32)"
        games, scores = self.options.rating_games + self.options.rating_games % 2, {}
        for anchor in ANCHORS:
            found = match(spec, anchor, self.game, games=games, seed=self.iteration, workers=1)
            if found.interrupted:
                interrupts.seen = True
                return
            scores[anchor] = found.score
        self.seconds += clock.now() - start
        rated = Rated(self.iteration, self.seconds, scores)
        self._log(rated)
        yield rated

    # Files.

    def _save(self, event: Iteration) -> Model:
        """Write the checkpoint and the network, then the line of the metrics; return the network."""
        about = {
            "iteration": self.iteration, "games": self.games, "seconds": self.seconds, "steps": self.learner.steps,
            "total": self.replay.total, "rng": self.learner.rng_state,
        }  # fmt: skip
        content = safetensors().numpy.save(self.learner.state(), {"about": json.dumps(about)})
        with replacing(self.folder / CHECKPOINT) as file:
            file.write(content)
        model = self.learner.model(
            {"iteration": self.iteration, "seconds": round(self.seconds, 1), "options": self.options.to_dict()}
        )
        model.save(self.folder)
        self._log(event)
        return model

    def _log(self, event: Event) -> None:
        line = json.dumps({"event": type(event).__name__.lower(), **asdict(event)}).encode()
        with (self.folder / METRICS).open("ab+") as file:
            if file.tell():  # a crash may have left a line that is not complete
                file.seek(-1, os.SEEK_END)
                line = line if file.read() == b"\n" else b"\n" + line
            file.write(line + b"\n")

    def _restore(self) -> None:
        """Continue from the checkpoint, if there is one.

        Positions that were written after it are kept, except in a deterministic run, which plays them again.
        """
        path = self.folder / CHECKPOINT
        self.events = list(read_events(self.folder))
        total = 0
        if path.exists():
            try:
                with safetensors().safe_open(path, "np") as found:
                    about = parse_json(found.metadata()["about"])
                    arrays = {name: found.get_tensor(name) for name in found.keys()}  # noqa: SIM118 - it is no mapping
                self.learner.restore(arrays, int(about["steps"]), about["rng"])
                self.iteration, self.games = int(about["iteration"]), int(about["games"])
                self.seconds, total = float(about["seconds"]), int(about["total"])
            except Exception as error:  # noqa: BLE001 - of safetensors, of PyTorch, of missing names
                raise SaveError(f"{path} is not the checkpoint of this run: {error}") from None
        if self.options.deterministic:
            self.replay.drop_after(total)


class _Learning:
    """The learner in a thread beside self-play: it takes steps as long as positions were not used often enough."""

    def __init__(self, run: Run) -> None:
        self._run, self._stop = run, threading.Event()
        self._losses: list[Losses] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._learn, name="treetop-learner", daemon=True)
        self._thread.start()

    def _learn(self) -> None:
        run = self._run
        most = run.options.reuse * run.replay.total / LearnerOptions().batch
        try:
            while not self._stop.is_set() and run.learner.steps < most:
                self._losses.append(run.learner.train(run.replay, _STEPS_AT_ONCE, run.progress))
        except BaseException as error:  # noqa: BLE001 - it is raised by the thread that waits
            self._error = error

    def end(self) -> Losses | None:
        """Wait for the current steps; return the mean losses, or None if there was no step."""
        self._stop.set()
        self._thread.join()
        if self._error is not None:
            raise self._error
        if not self._losses:
            return None
        return Losses(*(float(np.mean([getattr(one, name) for one in self._losses])) for name in ("policy", "value")))


def train(
    game: str | Game,
    *,
    out: str | Path,
    on_event: Callable[[Event], object] | None = None,
    resume: bool = False,
    **options: Any,
) -> Run:
    """Train a network on a game by self-play, in a folder `out`; return the run.

    `options` are those of `TrainOptions`. With `resume` the run in the folder is continued, if there is one. Needs
    `pip install -e ".[torch]"`.

    >>> import tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = tt.train("tic_tac_toe", out=f"{folder}/run", iterations=1, slots=8, chunk=64, rating_games=0)
    ...     run.iteration, run.model().architecture.actions
    (1, 9)
    """
    path = Path(out)
    if resume and (path / "run.json").exists():
        run = Run.open(path, game=game, minutes=options.get("minutes"))
    else:
        run = Run.create(path, game, TrainOptions.from_dict(options))
    run.train(on_event)
    return run


def read_events(folder: str | Path) -> Iterator[Event]:
    """Yield the events of a run's metrics. A last line that was not written completely is left out.

    >>> list(read_events("no_such_folder"))
    []
    """
    path = Path(folder) / METRICS
    if not path.exists():
        return
    for line in read_bytes(path).decode("utf-8", "replace").splitlines():
        try:
            found = parse_json(line)
            kind = {"iteration": Iteration, "rated": Rated}[found.pop("event")]
            yield kind(**found)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue


def read_header(path: Path) -> dict[str, Any]:
    """Return the content of a `run.json`; raise SaveError where it is something else."""
    try:
        header = parse_json(read_bytes(path))
    except SaveError:
        raise
    except ValueError as error:
        raise SaveError(f"{path} is not a training run: {error}") from None
    if not isinstance(header, dict) or header.get("kind") != KIND or header.get("version") != VERSION:
        raise SaveError(f"{path} is not a training run of this version of Treetop")
    for name, kind in (("game", str), ("rules", str), ("options", dict)):
        if not isinstance(header.get(name), kind):
            raise SaveError(f"{path} has no {name!r}, or a wrong one")
    return header


def _write_json(path: Path, content: Any) -> None:
    with replacing(path) as file:
        file.write(json.dumps(content, indent=1).encode())
