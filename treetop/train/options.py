"""The settings of a training run, with defaults from the game's facts."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from treetop import checks
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError
from treetop.evaluators.networks.architecture import SIZES
from treetop.files import read_bytes
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.search.config import SearchConfig
from treetop.search.presets import gumbel, puct
from treetop.train.endgames import has_exact_values

_RANDOM_GAMES, _LONGEST = 32, 200  # random games, and their longest, by which openings are measured
_ENDGAME = 5_000  # positions: about half a millisecond
_LONG = 40.0  # minutes of a run from which on a larger network pays
_LONG_GAME = 100  # moves of a random game: a new network, which plays at random, would learn little from such games
_FEW_MOVES = 20  # of a random opening in these games: more would leave no position that good players see
_BOOTSTRAP, _BOOTSTRAP_FACTOR = 0.15, 4
_Options = TypeVar("_Options")


@dataclass(frozen=True)
class LearnerOptions:
    """How the weights of a network are trained.

    >>> LearnerOptions(batch=128).batch
    128
    """

    batch: int = 256
    rate: float = 2e-3
    """The learning rate at its peak."""
    warmup: int = 100
    """Steps in which the rate rises to it."""
    final_rate: float = 0.05
    """The share of the rate that is left at the end of a run."""
    weight_decay: float = 1e-4
    clip: float = 1.0
    """The greatest norm of a gradient."""
    average: float = 0.998
    """How much of the averaged weights a step keeps."""

    def __post_init__(self) -> None:
        checks.whole("batch", self.batch, 1, 2**20)
        checks.number("rate", self.rate, above=0)
        checks.whole("warmup", self.warmup, 1, 10**7)
        checks.number("weight_decay", self.weight_decay, low=0)
        checks.number("clip", self.clip, above=0)
        for name in ("final_rate", "average"):
            checks.share(name, getattr(self, name))


@dataclass(frozen=True)
class TrainOptions:
    """How a network is trained. What is None is chosen by the game's facts.

    >>> import treetop as tt
    >>> TrainOptions(minutes=5).for_game(tt.load_game("tic_tac_toe")).simulations
    16
    """

    minutes: float = 30.0
    """Minutes of the run, all its sessions together."""
    size: str | None = None
    """The size of the network: tiny, small or medium. Default: tiny for games of fewer than 25 actions and 40 moves;
    else small, in runs of 40 minutes and more medium: larger networks learn more from fewer games, and are slower."""
    seed: int = 0
    slots: int | None = None
    """Games that are played at the same time."""
    rule: str = "gumbel"
    """The search of self-play: gumbel, a root by sequential halving; or puct, with noise, temperature and forced
    playouts."""
    simulations: int | None = None
    """Simulations of each move of self-play."""
    fast_share: float = 0.0
    """The share of the moves that are searched by `fast_simulations` only and not trained on (playout caps)."""
    fast_simulations: int | None = None
    """Simulations of a fast move. Default: a quarter of `simulations`."""
    noise: float = 0.25
    """With puct: the share of Dirichlet noise in the priors of the root."""
    temperature: float = 1.0
    """With puct: the temperature of the first move; it falls by `temperature_decay` with each move."""
    temperature_decay: float = 0.95
    forced_playouts: float = 2.0
    """With puct: the factor of forced playouts of the root; they are removed from the targets."""
    openings: float = 0.5
    """The share of games that begin with random moves."""
    opening_moves: int | None = None
    """The most moves of a random opening. Default: the mean length of random games; 20 where that is 100 or more."""
    bootstrap: float | None = None
    """The share of the run, at its beginning, in which a search without the network plays, by the heuristic of the game
    or, without one, by its rollouts. The network learns from these games before it plays itself. Default: 0.15 in games
    whose random games have 100 moves or more, else 0."""
    bootstrap_simulations: int | None = None
    """Simulations of each move in these games. Default: four times `simulations`."""
    resign: float = 0.0
    """The greatest share of resigned games that would not have been lost; 0: nobody resigns. A tenth of the games are
    played to the end to measure it."""
    trace: float = 0.9
    """Lambda of the targets of values, TD(lambda) over the values of the searches: 1 is the outcome of the game alone,
    0 the value of the position's own search."""
    endgame: int | None = None
    """Positions that an exact search of the end of each game may visit: the last positions then have exact targets.
    Default: 5,000 in games that can be solved; 0 is none."""
    surprise: float = 0.0
    """The share of a position's weight that follows the policy surprise: how far the search has moved the policy."""
    priority: float = 0.0
    """Prioritised sampling: the exponent of the difference between outcome and search value in a position's weight."""
    chunk: int | None = None
    """Positions of an iteration, which ends with a checkpoint."""
    window: int = 20_000
    """Positions that are trained on at first; the window grows with the root of their number."""
    reuse: float = 4.0
    """How often a position is trained on, on average."""
    outcomes: bool = False
    """Whether the value head gives the probabilities of win, draw and loss."""
    accept: str = "always"
    """Whether a new network is used at once (always), or after a match against the last one (sprt)."""
    accept_every: int = 10
    """Iterations between two such matches."""
    accept_games: int = 200
    """The most games of such a match."""
    rating_games: int = 20
    """Games against each anchor in a rating; 0: the network is not rated."""
    ratings: int = 6
    """Ratings in a run."""
    deterministic: bool = False
    """Whether self-play and training take turns, so that the data depends on the seed alone."""
    iterations: int | None = None
    """The run ends after so many iterations, whatever the time."""
    learner: LearnerOptions = field(default_factory=LearnerOptions)
    """How the weights are trained."""

    def __post_init__(self) -> None:
        checks.number("minutes", self.minutes, above=0)
        if self.size is not None:
            checks.one_of("size", self.size, tuple(SIZES))
        checks.whole("seed", self.seed, 0, checks.INT32_MAX)
        checks.one_of("rule", self.rule, ("gumbel", "puct"))
        checks.one_of("accept", self.accept, ("always", "sprt"))
        bounds = {
            "slots": 65_536, "simulations": 100_000, "fast_simulations": 100_000, "opening_moves": 10_000,
            "chunk": 10**7, "iterations": 10**7, "bootstrap_simulations": 1_000_000,
        }  # fmt: skip
        for name, high in bounds.items():
            checks.whole(name, getattr(self, name), 1, high, optional=True)
        checks.whole("window", self.window, 1, 10**9)
        checks.whole("endgame", self.endgame, 0, 10**9, optional=True)
        checks.number("reuse", self.reuse, above=0)
        for name in ("noise", "openings", "resign", "trace", "surprise", "fast_share", "temperature_decay"):
            checks.share(name, getattr(self, name))
        if self.bootstrap is not None:
            checks.share("bootstrap", self.bootstrap)
        if self.fast_share == 1:
            raise ConfigError("fast_share must be less than 1: fast moves are not trained on")
        for name in ("temperature", "forced_playouts", "priority"):
            checks.number(name, getattr(self, name), low=0)
        checks.whole("accept_every", self.accept_every, 1, 10**7)
        checks.whole("accept_games", self.accept_games, 2, 100_000)
        checks.whole("rating_games", self.rating_games, 0, 10_000)
        checks.whole("ratings", self.ratings, 0, 10_000)
        checks.flag("outcomes", self.outcomes)
        checks.flag("deterministic", self.deterministic)
        self._refuse_idle()
        if self.deterministic and self.iterations is None:
            raise ConfigError(
                "deterministic needs iterations: the learning rate follows the share of the run that is over, and "
                "minutes differ between machines"
            )
        if self.resign and self.deterministic:
            raise ConfigError("resign does not go with deterministic: its threshold is measured across iterations")
        if not isinstance(self.learner, LearnerOptions):
            raise ConfigError(f"learner must be LearnerOptions, not {checks.shorten(self.learner)}")

    def _refuse_idle(self) -> None:
        """Raise ConfigError where an option has no effect beside the others."""
        defaults = {known.name: known.default for known in fields(self)}
        for names, useful, needed in (
            (("noise", "temperature", "temperature_decay", "forced_playouts"), self.rule == "puct", "rule='puct'"),
            (("fast_simulations",), self.fast_share > 0, "fast_share"),
            (("bootstrap_simulations",), self.bootstrap != 0, "bootstrap"),
            (("accept_every", "accept_games"), self.accept == "sprt", "accept='sprt'"),
        ):
            for name in names:
                if not useful and getattr(self, name) != defaults[name]:
                    raise ConfigError(f"{name} has no effect without {needed}")

    def for_game(self, game: Game) -> TrainOptions:
        """Return the settings with nothing left open; raise ConfigError where one does not fit the game."""
        facts = game.facts
        if self.resign and (not facts.zero_sum or game.has("step_rewards") or tuple(facts.rewards) != (-1, 1)):
            raise ConfigError("resign is for games of two players with one result at the end: -1, 0 or 1")
        if self.accept == "sprt" and facts.players != 2:
            raise ConfigError("accept='sprt' is for games of two players: it is decided by a match")
        solvable = self.endgame != 0 and has_exact_values(game)
        if self.endgame and not solvable:
            raise ConfigError(f"endgame is for games that can be solved exactly; {game.name} cannot")
        chosen: dict[str, Any] = {
            "size": "tiny" if facts.num_actions < 25 and facts.max_length < 40 else _usual_size(self.minutes),
            "slots": 128,
            "simulations": 16 if facts.num_actions < 12 and facts.max_length < 20 else 32,
            "chunk": 2048 if facts.max_length < 20 else 4096,
            "endgame": _ENDGAME if solvable else 0,
        }
        if self.opening_moves is None or self.bootstrap is None:
            length = _random_length(game)
            is_long = length >= _LONG_GAME
            chosen["opening_moves"] = _FEW_MOVES if is_long else length
            chosen["bootstrap"] = _BOOTSTRAP if is_long else 0.0
        complete = replace(self, **{name: value for name, value in chosen.items() if getattr(self, name) is None})
        if complete.bootstrap and self.bootstrap_simulations is None:
            assert complete.simulations is not None
            complete = replace(complete, bootstrap_simulations=_BOOTSTRAP_FACTOR * complete.simulations)
        return complete

    def search(self) -> SearchConfig:
        """Return the settings of the searches of self-play."""
        if self.rule == "gumbel":
            return gumbel(max_considered=16)
        return puct(
            fpu="scaled", noise=self.noise, forced_playouts=self.forced_playouts, final="temperature",
            temperature=self.temperature, temperature_decay=self.temperature_decay,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Any) -> TrainOptions:
        """Return the settings that a file describes; raise ConfigError where one is unknown or wrong."""
        learner = given.get("learner") if isinstance(given, dict) else None
        if learner is not None and not isinstance(learner, LearnerOptions):
            given = {**given, "learner": made(LearnerOptions, learner, "of the learner")}
        return made(cls, given, "of a run")


def _usual_size(minutes: float) -> str:
    return "small" if minutes < _LONG else "medium"


def read_config(path: str | Path) -> dict[str, Any]:
    """Return the settings in a TOML file; raise ConfigError where it is not TOML."""
    try:
        return tomllib.loads(read_bytes(Path(path)).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} is not a TOML file: {error}") from None


def made(kind: type[_Options], given: Any, whose: str) -> _Options:
    """Return the settings that a table describes; raise ConfigError where one is unknown."""
    if not isinstance(given, dict):
        raise ConfigError(f"the settings {whose} are a table of names and values")
    names = [known.name for known in fields(kind)]  # type: ignore[arg-type]
    for name in given:
        if name not in names:
            raise ConfigError(f"there is no setting {name!r} {whose}; {checks.suggest(str(name), names)}")
    return kind(**given)


def refuse_changes(options: Any, given: Mapping[str, Any], path: Path) -> None:
    """Raise ConfigError where given settings differ from those of a run that is continued."""
    changed = type(options).from_dict({**options.to_dict(), **given})
    for name in given:
        if getattr(changed, name) != getattr(options, name):
            raise ConfigError(
                f"the run in {path} has {name}={getattr(options, name)!r}, which cannot change: leave it out, or begin "
                "another run"
            )


def _random_length(game: Game) -> int:
    """Return the mean length of random games, outcomes of chance included."""
    rng, total = Rng(1), 0
    for _ in range(_RANDOM_GAMES):
        position = Position.start(game, rng)
        while not position.is_terminal and len(position.actions) < _LONGEST:
            position = position.apply(position.sample_action(rng))
        total += len(position.actions)
    return max(1, total // _RANDOM_GAMES)
