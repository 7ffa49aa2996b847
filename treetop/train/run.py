"""A training run: one folder with its settings, data, network, checkpoint and metrics, which can be continued.

`run.json` holds the settings, `data/` the positions, `learner.safetensors` the checkpoint, `model.json` and
`model.safetensors` the network to play with, and `metrics.jsonl` one line for each iteration and rating. Finished games
are appended to the data at once; every other file is replaced at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from treetop import checks
from treetop.compiler.preparing import thinking_clock
from treetop.compiler.rng import mix
from treetop.errors import ConfigError, SaveError
from treetop.evaluators.networks.architecture import Architecture
from treetop.evaluators.networks.model import Model, load_model, named_in
from treetop.game.definition import Game
from treetop.game.registry import load_game
from treetop.search.interrupts import Interrupts
from treetop.search.pool import SearchPool
from treetop.train.acceptance import Accepted, contest
from treetop.train.events import METRICS, Event, Iteration, read_events
from treetop.train.folder import append_line, owning, read_arrays, read_header, refuse_used, write_arrays, write_json
from treetop.train.learner import Learner, Losses
from treetop.train.learning import Learning
from treetop.train.network import ModuleFactory, few_threads
from treetop.train.options import TrainOptions, refuse_changes
from treetop.train.ratings import Rated, rate
from treetop.train.remote import RemotePlay
from treetop.train.replay import Replay
from treetop.train.samples import Samples
from treetop.train.self_play import Played, SelfPlay
from treetop.workers.places import in_this_process

KIND, VERSION = "a training run", 2
CHECKPOINT = "learner.safetensors"
_LARGEST = 10**12  # no count and no time of a run is larger
_RATING_SHARE = 0.25  # of the time so far, above which a rating has to wait


class Run:
    """A training run in a folder. `Run.create` begins one, `Run.open` continues it, `train` trains.

    >>> import tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = Run.create(f"{folder}/run", "tic_tac_toe", tt.train.TrainOptions(iterations=1))
    ...     run.is_over, Run.open(f"{folder}/run").options == run.options
    (False, True)
    """

    def __init__(self, folder: Path, game: Game, options: TrainOptions, module: ModuleFactory | None = None) -> None:
        self.folder, self.game, self.options = folder, game, options
        self.architecture = Architecture.of(
            game, options.size or "small", outcomes=options.outcomes, own=module is not None
        )
        self.learner = Learner(game, self.architecture, options.learner, options.seed, module)
        self.replay = Replay(folder / "data", game, self.architecture.values, options.window)
        self.iteration, self.games, self.seconds = 0, 0, 0.0
        self.events: list[Event] = []
        self._played_until: float | None = None
        self._beside: Losses | None = None  # of the steps beside the last rating

    @classmethod
    def create(
        cls, folder: str | Path, game: str | Game, options: TrainOptions, *, module: ModuleFactory | None = None
    ) -> Run:
        """Begin a run in a new folder. `module` makes a network of your own; see `treetop.train`."""
        path, known = Path(folder), load_game(game)
        refuse_used(path)
        try:
            SearchPool(known, options.search(), slots=1)
        except ConfigError as error:
            raise ConfigError(
                f"{known.name} cannot be trained: games with imperfect information, simultaneous moves or continuous "
                f"actions have no self-play ({error})"
            ) from None
        complete = options.for_game(known)
        run = cls(path, known, complete, module)
        header = {
            "kind": KIND, "version": VERSION, "game": known.source or known.name, "rules": known.digest,
            "options": complete.to_dict(), "own_module": module is not None,
        }  # fmt: skip
        run.learner.model({"iteration": 0}).save(path)
        write_json(path / "run.json", header)
        return run

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        game: str | Game | None = None,
        minutes: float | None = None,
        iterations: int | None = None,
        module: ModuleFactory | None = None,
    ) -> Run:
        """Continue a run. Give the game if it is not a bundled one, and more minutes or iterations if the run has used
        up its own: the new limit replaces the old one.

        A run with a module of your own needs it again.
        """
        path = Path(folder)
        header = read_run(path / "run.json")
        known = load_game(game) if game is not None else named_in(path, header["game"])
        if known.digest != header["rules"]:
            if (known.source or known.name) != header["game"]:
                raise SaveError(f"the run in {path} is of {header['game']}, not of {known.name}")
            raise SaveError(f"the rules of {known.name} have changed since the run in {path} began: begin a new run")
        if header.get("own_module") is not (module is not None):
            wanted = "needs its module again (--module)" if module is None else "began without a module of your own"
            raise ConfigError(f"the run in {path} {wanted}")
        given = header["options"]
        if minutes is not None or iterations is not None:
            given = given | {"iterations": iterations} | ({} if minutes is None else {"minutes": minutes})
        options = TrainOptions.from_dict(given).for_game(known)
        with owning(path) if given is not header["options"] or options.deterministic else nullcontext():
            run = cls(path, known, options, module)
            if given is not header["options"]:
                write_json(path / "run.json", {**header, "options": options.to_dict()})
            run._restore()
        return run

    # Training.

    def train(
        self,
        on_event: Callable[[Event], object] | None = None,
        *,
        workers: int | None = None,
        on: str | None = None,
    ) -> Model:
        """Train until the run's time is used up; return the network. Ctrl-C ends it; finished games are kept.

        `on_event` is called after every iteration and rating. With several `workers`, or with `on="ray"` or
        `on="ray://host:port"`, self-play runs in processes of this machine or on a Ray cluster.
        """
        checks.whole("workers", workers, 1, optional=True)
        local = in_this_process(on, 1 if workers is None and on is None else workers)
        if self.options.deterministic and not local:
            raise ConfigError("a deterministic run has no workers: its games are played in this process")
        with owning(self.folder), Interrupts() as interrupts, few_threads(workers=not local), ExitStack() as stack:
            self._refuse_stale()
            play: SelfPlay | RemotePlay | None = None
            if not local:
                play = stack.enter_context(closing(self._remote_play(workers, on, interrupts)))
            elif not self.options.deterministic:
                play = self._self_play()
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
        return SelfPlay(self._playing(), self.options, self._seed(), bootstrap=self._bootstraps())

    def _remote_play(self, workers: int | None, on: str | None, interrupts: Interrupts) -> RemotePlay:
        """Return the same by workers."""
        return RemotePlay(
            self._playing(), self.options, self._seed(), bootstrap=self._bootstraps(), workers=workers, on=on,
            stopped=lambda: interrupts.seen,
        )  # fmt: skip

    def _seed(self) -> int:
        return mix(self.options.seed * 1_000_003 + self.iteration) >> 1

    def _bootstraps(self) -> bool:
        """Return whether the searches use no network yet."""
        return self.progress < (self.options.bootstrap or 0.0)

    def _playing(self) -> Model:
        """Return the network that plays: that of the checkpoint, or the last one that a match has accepted."""
        return self.learner.model() if self.options.accept == "always" else self.model()

    def _iterate(self, play: SelfPlay | RemotePlay | None, interrupts: Interrupts) -> Iterator[Event]:
        if self.options.accept == "sprt":
            yield from self._contest(interrupts)  # if the last session ended before it
            if interrupts.seen:
                return
        clock = thinking_clock()  # it stops while code is compiled
        start = clock.now()
        learning = self._learning() if play is not None and len(self.replay) else None
        own = play or self._self_play()
        before = own.positions
        try:
            played = self._play(own, interrupts, lambda: clock.now() - start)
        finally:
            losses = (None if learning is None else learning.end()) or self._beside
        if not played or (play is None and interrupts.seen):  # a deterministic run plays this iteration again
            return
        self._beside = None
        began = start if self._played_until is None else self._played_until
        self._played_until = clock.now() if isinstance(play, RemotePlay) else None  # workers play on meanwhile
        rate = (own.positions - before) / max(clock.now() - began, 1e-9)
        samples = Samples.joined([game.samples for game in played])
        if play is None:
            self.replay.write(samples)
        self.replay.keep(samples)
        if play is None:
            wanted = max(1, round(self.options.reuse * len(samples) / self.options.learner.batch))
            losses = self.learner.train(self.replay, wanted, self.progress)
        self.iteration, self.games = self.iteration + 1, self.games + len(played)
        self.seconds += clock.now() - start
        event = Iteration(
            self.iteration, self.seconds, self.games, self.replay.total, self.learner.steps,
            None if losses is None else losses.policy, None if losses is None else losses.value,
            float(np.mean([game.moves for game in played])), float(np.mean([game.returns[0] for game in played])),
            float(np.mean([game.entropy for game in played])), rate,
            float(np.mean([game.resigned for game in played])) if self.options.resign else None,
            played[-1].false_rate,
        )  # fmt: skip
        self._save(event)
        yield event
        if self.options.accept == "sprt":
            yield from self._contest(interrupts)
        if play is not None:
            play.use(self._playing(), bootstrap=self._bootstraps())
        if self._rating_due():
            with nullcontext() if play is None or self.is_over else self._learning_beside():
                yield from self._rate(interrupts)

    def _learning(self) -> Learning:
        """Let the learner train in a thread of its own."""
        return Learning(self.learner, self.replay, self.options.reuse, lambda: self.progress)

    @contextmanager
    def _learning_beside(self) -> Iterator[None]:
        """Train while the network is rated: workers play on meanwhile."""
        learning = self._learning()
        try:
            yield
        finally:
            self._beside = learning.end()

    def _play(self, play: SelfPlay | RemotePlay, interrupts: Interrupts, spent: Callable[[], float]) -> list[Played]:
        """Play games until they have enough positions for an iteration, or until Ctrl-C; return the ended ones.

        The time of the run ends it too, as soon as a game has ended. A deterministic run also ends the games that it
        has begun: without them the data would be mostly of short games.
        """
        options, played, count = self.options, list[Played](), 0
        left = np.inf if options.iterations is not None else 60.0 * options.minutes - self.seconds
        while not interrupts.seen:
            enough = count >= (options.chunk or 1) or (played and spent() > left)
            if enough and not (options.deterministic and play.ends()):
                break
            try:
                ended = play.step()
            except KeyboardInterrupt:  # of the pool, or of a second Ctrl-C
                interrupts.seen = True
                break
            if ended and not options.deterministic:
                self.replay.write(Samples.joined([game.samples for game in ended]))
            played += ended
            count += sum(len(game.samples) for game in ended)
        return played

    def _contest(self, interrupts: Interrupts) -> Iterator[Accepted]:
        """Let the network of this iteration play against the last accepted one, if it is time."""
        done = any(isinstance(event, Accepted) and event.iteration == self.iteration for event in self.events)
        if done or interrupts.seen or not self.iteration or self.iteration % self.options.accept_every:
            return
        clock, candidate = thinking_clock(), self.learner.model(self._made())
        start = clock.now()
        found = contest(
            candidate, self.folder, games=self.options.accept_games, seed=self.iteration,
            interrupted=lambda: interrupts.seen,
        )  # fmt: skip
        if found is None:
            interrupts.seen = True
            return
        if found[0]:
            candidate.save(self.folder)
        self.seconds += clock.now() - start
        accepted = Accepted(self.iteration, self.seconds, *found)
        self._log(accepted)
        yield accepted

    # Ratings.

    def _rating_due(self) -> bool:
        """Return whether the next part of the run is over: ratings are spread evenly over it."""
        many = self.options.ratings if self.options.rating_games and self.game.facts.players == 2 else 0
        took = [event.took for event in self.events if isinstance(event, Rated)]
        if self.options.iterations is None and not self.is_over and sum(took) > _RATING_SHARE * self.seconds:
            return False
        return many > 0 and self.progress * many >= len(took) + 1

    def _rate(self, interrupts: Interrupts) -> Iterator[Rated]:
        clock = thinking_clock()
        start, earlier = clock.now(), [event for event in self.events if isinstance(event, Rated)]
        try:
            found = rate(self.folder, self.game, self.options, self.iteration, earlier, lambda: interrupts.seen)
        except KeyboardInterrupt:
            interrupts.seen = True
            return
        self.seconds += clock.now() - start
        rated = replace(found, seconds=self.seconds)
        self._log(rated)
        yield rated

    # Files.

    def _made(self) -> dict[str, Any]:
        """Return how the network of this iteration was made."""
        return {"iteration": self.iteration, "seconds": round(self.seconds, 1), "options": self.options.to_dict()}

    def _save(self, event: Iteration) -> None:
        """Write the checkpoint and, unless a match decides on it, the network; then the line of the metrics."""
        about = {
            "iteration": self.iteration, "games": self.games, "seconds": self.seconds, "steps": self.learner.steps,
            "total": self.replay.total, "rng": self.learner.rng_state,
        }  # fmt: skip
        write_arrays(self.folder / CHECKPOINT, self.learner.state(), about)
        if self.options.accept == "always":
            self.learner.model(self._made()).save(self.folder)
        self._log(event)

    def _log(self, event: Event) -> None:
        append_line(self.folder / METRICS, {"event": type(event).__name__.lower(), **asdict(event)})

    def _refuse_stale(self) -> None:
        """Raise SaveError if the checkpoint is not that of this object: continuing would overwrite it."""
        path = self.folder / CHECKPOINT
        found = int(read_arrays(path)[1].get("iteration", 0)) if path.exists() else 0
        if found != self.iteration:
            raise SaveError(
                f"the run in {self.folder} is at iteration {found} on the disk, and at {self.iteration} here: it was "
                "trained elsewhere meanwhile, or could not be saved; open it again"
            )

    def _restore(self) -> None:
        """Continue from the checkpoint, if there is one.

        Positions that were written after it are kept, except in a deterministic run, which plays them again.
        """
        path = self.folder / CHECKPOINT
        self.events = list(read_events(self.folder))
        total = 0
        if path.exists():
            arrays, about = read_arrays(path)
            try:
                iteration, games, steps, total = (
                    checks.whole(name, about[name], 0, _LARGEST) for name in ("iteration", "games", "steps", "total")
                )
                self.seconds = checks.number("seconds", about["seconds"], 0, _LARGEST)
                self.learner.restore(arrays, steps, about["rng"])
                self.iteration, self.games = iteration, games
            except Exception as error:  # noqa: BLE001 - of PyTorch, of missing names
                raise SaveError(f"{path} is not the checkpoint of this run: {error}") from None
        self.seconds = max([self.seconds, *(event.seconds for event in self.events)])  # those of a rating came later
        if self.options.deterministic:
            self.replay.drop_after(total)


def train(
    game: str | Game,
    *,
    out: str | Path,
    on_event: Callable[[Event], object] | None = None,
    resume: bool = False,
    module: ModuleFactory | None = None,
    tensorboard: bool = False,
    workers: int | None = None,
    on: str | None = None,
    **options: Any,
) -> Run:
    """Train a network on a game by self-play, in a folder `out`; return the run.

    `options` are those of `TrainOptions`. With `resume` the run in the folder is continued, if there is one; `minutes`
    or `iterations` then replace its limit, and no other option may differ from its own. `module`
    makes a network of your own: it is called with the shape of an observation and the numbers of actions and values,
    and returns a `torch.nn.Module` from observations to logits and values from -1 to 1. At the end `report.html` and
    `report.png` are written, if Matplotlib is installed; with `tensorboard` also event files, in `tensorboard/`.
    `workers` and `on` place self-play in processes or on a Ray cluster. Needs `pip install -e ".[torch]"`.

    >>> import tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = tt.train("tic_tac_toe", out=f"{folder}/run", iterations=1, slots=8, chunk=64, rating_games=0)
    ...     run.iteration, run.model().architecture.actions
    (1, 9)
    """
    from treetop.train.report import report  # both read the events that are defined here
    from treetop.train.tensorboard import TensorBoard, need_tensorboard

    path = Path(out)
    if tensorboard:
        need_tensorboard()
    if resume and (path / "run.json").exists():
        limits = {name: options.pop(name, None) for name in ("minutes", "iterations")}
        run = Run.open(path, game=game, module=module, **limits)
        refuse_changes(run.options, options, path)
    else:
        run = Run.create(path, game, TrainOptions.from_dict(options), module=module)
    with TensorBoard(path) if tensorboard else nullcontext() as written:
        hooks = [hook for hook in (on_event, written) if hook is not None]
        run.train(lambda event: [hook(event) for hook in hooks], workers=workers, on=on)
    report(path)
    return run


def read_run(path: Path) -> dict[str, Any]:
    """Return the content of a `run.json`; raise SaveError where it is something else."""
    return read_header(path, KIND, VERSION, {"game": str, "rules": str, "options": dict})
