"""The settings of a training run, with defaults from the game's facts."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from treetop import checks
from treetop.errors import ConfigError
from treetop.evaluators.networks.architecture import SIZES
from treetop.game.definition import Game
from treetop.search.config import SearchConfig
from treetop.search.presets import gumbel


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
    """The size of the network: tiny, small or medium. Default: tiny for boards of fewer than 25 squares."""
    seed: int = 0
    slots: int | None = None
    """Games that are played at the same time."""
    simulations: int | None = None
    """Simulations of each move of self-play."""
    chunk: int | None = None
    """Positions of an iteration, which ends with a file of data and a checkpoint."""
    window: int = 20_000
    """Positions that are trained on at first; the window grows with the root of their number."""
    reuse: float = 6.0
    """How often a position is trained on, on average."""
    openings: float = 0.1
    """The share of games that begin with one to four random moves."""
    outcomes: bool = False
    """Whether the value head gives the probabilities of win, draw and loss."""
    rating_games: int = 20
    """Games against each anchor in a rating; 0: the network is not rated."""
    ratings: int = 6
    """Ratings in a run."""
    deterministic: bool = False
    """Whether self-play and training take turns, so that the data depends on the seed alone."""
    iterations: int | None = None
    """The run ends after so many iterations, whatever the time."""

    def __post_init__(self) -> None:
        checks.number("minutes", self.minutes, above=0)
        if self.size is not None:
            checks.one_of("size", self.size, tuple(SIZES))
        checks.whole("seed", self.seed, 0, checks.INT32_MAX)
        for name, high in (("slots", 65_536), ("simulations", 100_000), ("chunk", 10**7), ("iterations", 10**7)):
            checks.whole(name, getattr(self, name), 1, high, optional=True)
        checks.whole("window", self.window, 1, 10**9)
        checks.number("reuse", self.reuse, above=0)
        checks.share("openings", self.openings)
        checks.whole("rating_games", self.rating_games, 0, 10_000)
        checks.whole("ratings", self.ratings, 0, 10_000)
        checks.flag("outcomes", self.outcomes)
        checks.flag("deterministic", self.deterministic)

    def for_game(self, game: Game) -> TrainOptions:
        """Return the settings with nothing left open."""
        facts = game.facts
        squares = facts.num_actions
        chosen: dict[str, Any] = {
            "size": "tiny" if squares < 25 and facts.max_length < 40 else "small",
            "slots": 128,
            "simulations": 16 if facts.num_actions < 12 and facts.max_length < 20 else 32,
            "chunk": 2048 if facts.max_length < 20 else 4096,
        }
        return replace(self, **{name: value for name, value in chosen.items() if getattr(self, name) is None})

    def search(self) -> SearchConfig:
        """Return the settings of the searches of self-play."""
        return gumbel(max_considered=16)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Any) -> TrainOptions:
        """Return the settings that a file describes; raise ConfigError where one is unknown or wrong."""
        if not isinstance(given, dict):
            raise ConfigError("the settings of a run are a table of names and values")
        names = [field.name for field in fields(cls)]
        for name in given:
            if name not in names:
                raise ConfigError(f"there is no setting {name!r} of a run; {checks.suggest(name, names)}")
        return cls(**given)
