"""A run of MuZero: one folder with its settings, weights, steps of the environment and metrics, which can be continued.

`muzero.json` holds the settings, `model.safetensors` the networks to play with, `learner.safetensors` the checkpoint,
`steps.safetensors` what is trained on, and `metrics.jsonl` one line for each iteration. Every file is replaced at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from treetop import checks
from treetop.adapters.gym_copies import Copies
from treetop.compiler.preparing import thinking_clock
from treetop.compiler.rng import mix
from treetop.errors import SaveError
from treetop.evaluators.networks.arrays import refuse_wrong_arrays
from treetop.files import parse_json, read_bytes
from treetop.search.interrupts import Interrupts
from treetop.train.folder import append_line, owning, read_arrays, read_header, refuse_used, write_arrays, write_json
from treetop.train.muzero.learner import ModelLearner, ModelLosses
from treetop.train.muzero.network import Network, Shape
from treetop.train.muzero.options import MuZeroOptions
from treetop.train.muzero.play import Episodes, MuZeroPolicy, Playing, play_episodes
from treetop.train.muzero.replay import Steps
from treetop.train.network import few_threads
from treetop.train.options import refuse_changes

KIND, VERSION = "a run of MuZero", 1
HEADER, MODEL, CHECKPOINT, STEPS, METRICS = (
    "muzero.json", "model.safetensors", "learner.safetensors", "steps.safetensors", "metrics.jsonl",
)  # fmt: skip
_MOMENTS, _ROUNDS = 8, 16  # steps of each copy between two phases of training; such phases in an iteration
_REFRESHED = 2  # phases of training between two refreshes of all values
_SAVED_AFTER = 30.0  # seconds between two checkpoints
_RECENT = 100  # episodes whose mean return is reported
_AT_ONCE = 50  # copies of the environment in an evaluation


@dataclass(frozen=True)
class MuZeroIteration:
    """What an iteration has done: a line of `metrics.jsonl`.

    >>> MuZeroIteration(1, 2.5, 2048, 90, 300, 22.5, 0.5, 0.25, 0.1).steps
    2048
    """

    iteration: int
    seconds: float
    """Seconds of the run so far, all its sessions together."""
    steps: int
    """Steps of the environment so far."""
    episodes: int
    """Episodes that have ended so far."""
    updates: int
    """Steps of the optimiser so far."""
    mean_return: float | None
    """The mean return of the last 100 episodes of this session, whose actions have noise; None before the first."""
    policy_loss: float | None
    """The mean over the updates of this iteration; None if there was none, as in steps of random actions."""
    value_loss: float | None
    reward_loss: float | None


class MuZeroRun:
    """A run of MuZero in a folder. `create` begins one, `open` continues it, `train` trains, `evaluate` measures it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = MuZeroRun.create(f"{folder}/run", "CartPole-v1", MuZeroOptions(steps=64))
    ...     run.is_over, MuZeroRun.open(f"{folder}/run").options == run.options
    (False, True)
    """

    def __init__(self, folder: Path, env: str | Callable[[], Any], options: MuZeroOptions) -> None:
        self.folder, self.env, self.options = folder, env, options
        copies = Copies(env, 1, 0)
        self.shape = Shape(copies.features, copies.actions, options.latent, options.hidden, options.support)
        self.name = copies.name
        """The name of the environment."""
        self._continuous = copies.continuous
        copies.close()
        self.iteration, self.steps, self.episodes, self.seconds = 0, 0, 0, 0.0
        self.events: list[MuZeroIteration] = []

    @classmethod
    def create(cls, folder: str | Path, env: str | Callable[[], Any], options: MuZeroOptions) -> MuZeroRun:
        """Begin a run in a new folder."""
        path = Path(folder)
        refuse_used(path)
        run = cls(path, env, options)
        learner = run._learner()
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SaveError(f"the folder {path} cannot be made: {error.strerror}") from error
        run._write_header()
        run._save_model(learner.network())
        return run

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        env: str | Callable[[], Any] | None = None,
        minutes: float | None = None,
        steps: int | None = None,
    ) -> MuZeroRun:
        """Continue a run. Give the environment if it is your own, and more minutes or steps if it has used up its own.

        The new limit replaces the old one.
        """
        path = Path(folder)
        header = read_header(path / HEADER, KIND, VERSION, {"env": str, "shape": dict, "options": dict})
        given = header["options"]
        if minutes is not None or steps is not None:
            given = given | {"steps": steps} | ({} if minutes is None else {"minutes": minutes})
        if env is None and ":" in header["env"]:
            raise SaveError(
                f"{path} is a run of {header['env']}, which imports a module, and files may not do that: give the "
                "environment again"
            )
        run = cls(path, header["env"] if env is None else env, MuZeroOptions.from_dict(given))
        if asdict(run.shape) != header["shape"]:
            raise SaveError(
                f"the run in {path} is of {header['env']} with other observations or actions than {run.name}: give the "
                "environment that it began with"
            )
        run.name = header["env"]
        run.events = list(read_muzero_events(path))
        if given is not header["options"]:
            run._write_header()
        if (path / CHECKPOINT).exists():
            about = read_arrays(path / CHECKPOINT)[1]
            try:
                run.iteration, run.steps = int(about["iteration"]), int(about["steps"])
                run.episodes, run.seconds = int(about["episodes"]), float(about["seconds"])
            except (KeyError, TypeError, ValueError) as error:
                raise SaveError(f"{path / CHECKPOINT} is not the checkpoint of this run: {error}") from None
        return run

    def _learner(self) -> ModelLearner:
        return ModelLearner(self.shape, self.options, self._continuous)

    # Training.

    @property
    def progress(self) -> float:
        """The share of the run that is over, 0 to 1."""
        most = self.options.steps
        return min(1.0, self.steps / most if most is not None else self.seconds / (60.0 * self.options.minutes))

    @property
    def is_over(self) -> bool:
        """Whether its time, or the number of its steps, is used up."""
        return self.progress >= 1.0

    def train(self, on_event: Callable[[MuZeroIteration], object] | None = None) -> Network:
        """Train until the run's time is used up; return the networks. Ctrl-C ends it and keeps what was learned.

        `on_event` is called after every iteration. Episodes that are not over at the end are cut off there.
        """
        with owning(self.folder):
            return self._train(on_event)

    def _train(self, on_event: Callable[[MuZeroIteration], object] | None) -> Network:
        options, learner = self.options, self._learner()
        replay = Steps(options.copies, self.shape.observation, self.shape.actions, options.window)
        self._restore(learner, replay)
        seed = mix(options.seed * 1_000_003 + self.iteration) >> 1
        copies = Copies(self.env, options.copies, seed)
        playing = Playing(copies, learner.network(), options, seed)
        recent, saved = deque[float](maxlen=_RECENT), self.seconds
        with Interrupts() as interrupts, few_threads(), closing(copies):
            while not self.is_over and not interrupts.seen:
                event = self._iterate(playing, learner, replay, recent, interrupts)
                self.events.append(event)
                self._log(event)
                if self.seconds - saved > _SAVED_AFTER:
                    self._save(learner, replay)
                    saved = self.seconds
                if on_event is not None:
                    on_event(event)
        self._save(learner, replay)
        return self.network()

    def _iterate(
        self, playing: Playing, learner: ModelLearner, replay: Steps, recent: deque[float], interrupts: Interrupts
    ) -> MuZeroIteration:
        clock, losses = thinking_clock(), list[ModelLosses]()  # the clock stops while code is compiled
        for turn in range(_ROUNDS):
            start = clock.now()
            try:
                ended = self._play(playing, learner, replay)
            except KeyboardInterrupt:  # of a second Ctrl-C
                interrupts.seen = True
                break
            recent.extend(ended)
            self.episodes += len(ended)
            due = int(self.options.reuse * (self.steps - self.options.random_steps) / self.options.batch)
            if due > learner.steps and len(replay) > self.options.unroll:
                losses.append(learner.train(replay, due - learner.steps, self.progress))
                network = learner.network()
                playing.use(network)
                if turn % _REFRESHED == 0:
                    replay.refresh(network.values)
            self.seconds += clock.now() - start
            if self.is_over or interrupts.seen:
                break
        self.iteration += 1
        means = [
            float(np.mean([getattr(one, name) for one in losses])) if losses else None
            for name in ("policy", "value", "reward")
        ]
        return MuZeroIteration(
            self.iteration, self.seconds, self.steps, self.episodes, learner.steps,
            float(np.mean(recent)) if recent else None, *means,
        )  # fmt: skip

    def _play(self, playing: Playing, learner: ModelLearner, replay: Steps) -> list[float]:
        """Take some steps in each copy of the environment; return the returns of the episodes that have ended."""
        ended = list[float]()
        for _ in range(_MOMENTS):
            ended += playing.step(replay, at_random=self.steps < self.options.random_steps)
            learner.observe(replay["observations"][-1])
            if learner.steps:
                for _ in range(self.options.reanalyse):
                    playing.reanalyse(replay)
            self.steps += self.options.copies
        return ended

    # Measuring.

    def network(self) -> Network:
        """Return the networks of the last checkpoint."""
        arrays, _ = read_arrays(self.folder / MODEL)
        centre, width = (arrays.pop(name, np.zeros(0)) for name in ("centre", "width"))
        refuse_wrong_arrays(arrays, self.shape.arrays(), str(self.folder / MODEL))
        for array in (centre, width):
            if array.shape != (self.shape.observation,) or array.dtype != np.float32 or not np.isfinite(array).all():
                raise SaveError(f"{self.folder / MODEL} holds means of other observations")
        return Network(self.shape, arrays, self.options.discount, centre, width)

    def evaluate(self, episodes: int = 100, *, simulations: int | None = None, seed: int = 1) -> Episodes:
        """Play new episodes with the networks of the last checkpoint, without noise; return their returns."""
        checks.whole("episodes", episodes, 1, 10**7)
        checks.whole("seed", seed, 0, checks.INT32_MAX)
        network, options = self.network(), self.options
        if simulations is not None:
            options = replace(options, simulations=simulations)
        with closing(Copies(self.env, min(episodes, _AT_ONCE), seed)) as copies:
            return play_episodes(copies, network, options, episodes, seed)

    def policy(self) -> MuZeroPolicy:
        """Return the networks of the last checkpoint as a policy: a function of observations."""
        return MuZeroPolicy(Copies(self.env, 1, 0), self.network(), self.options)

    # Files.

    def _write_header(self) -> None:
        header = {
            "kind": KIND, "version": VERSION, "env": self.name, "shape": asdict(self.shape),
            "options": self.options.to_dict(),
        }  # fmt: skip
        write_json(self.folder / HEADER, header)

    def _save(self, learner: ModelLearner, replay: Steps) -> None:
        """Write the steps, the checkpoint and the networks."""
        about = {
            "iteration": self.iteration, "steps": self.steps, "episodes": self.episodes, "seconds": self.seconds,
            "updates": learner.steps, "rng": learner.rng_state,
        }  # fmt: skip
        write_arrays(self.folder / STEPS, replay.state(), {})
        write_arrays(self.folder / CHECKPOINT, learner.state(), about)
        self._save_model(learner.network())

    def _save_model(self, network: Network) -> None:
        write_arrays(self.folder / MODEL, {**network.weights, "centre": network.centre, "width": network.width}, {})

    def _restore(self, learner: ModelLearner, replay: Steps) -> None:
        """Continue from the checkpoint, if there is one."""
        path = self.folder / CHECKPOINT
        if not path.exists():
            return
        arrays, about = read_arrays(path)
        try:
            learner.restore(arrays, int(about["updates"]), about["rng"], str(path))
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise SaveError(f"{path} is not the checkpoint of this run: {error}") from None
        replay.restore(read_arrays(self.folder / STEPS)[0], str(self.folder / STEPS))

    def _log(self, event: MuZeroIteration) -> None:
        append_line(self.folder / METRICS, asdict(event))


def muzero(
    env: str | Callable[[], Any],
    *,
    out: str | Path,
    on_event: Callable[[MuZeroIteration], object] | None = None,
    resume: bool = False,
    **options: Any,
) -> MuZeroRun:
    """Learn a model of a Gymnasium environment and a policy for it, in a folder `out`; return the run.

    `env` is a name that `gymnasium.make` knows, or a function that makes an environment. `options` are those of
    `MuZeroOptions`. With `resume` the run in the folder is continued, if there is one. Needs
    `pip install -e ".[torch,gym]"`.

    >>> import tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = tt.train.muzero("CartPole-v1", out=f"{folder}/run", steps=512, random_steps=256, reuse=1)
    ...     run.steps, len(run.evaluate(episodes=2).returns)
    (512, 2)
    """
    path = Path(out)
    if resume and (path / HEADER).exists():
        limits = {name: options.pop(name, None) for name in ("minutes", "steps")}
        run = MuZeroRun.open(path, env=env, **limits)
        refuse_changes(run.options, options, path)
    else:
        run = MuZeroRun.create(path, env, MuZeroOptions.from_dict(options))
    run.train(on_event)
    return run


def read_muzero_events(folder: str | Path) -> Iterator[MuZeroIteration]:
    """Yield the lines of a run's metrics. A line that was not written completely is left out.

    >>> list(read_muzero_events("no_such_folder"))
    []
    """
    path = Path(folder) / METRICS
    if not path.exists():
        return
    for line in read_bytes(path).decode("utf-8", "replace").splitlines():
        try:
            yield MuZeroIteration(**parse_json(line))
        except (ValueError, TypeError):
            continue
