"""Parts of a search that have no alternatives: sets of options that are always there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treetop import checks
from treetop.kernels.parts import (
    DETERMINIZATIONS,
    TREES,
    Composition,
    Part,
    anything,
    choice,
    flag,
    number,
    share,
    whole,
)

if TYPE_CHECKING:
    from treetop.game.definition import Game

TABLE_SIZE = 2**20


@dataclass(frozen=True, kw_only=True)
class Noise(Part):
    """Dirichlet noise in the priors of the root, renewed at every move.

    >>> import treetop as tt
    >>> config = tt.SearchConfig(rule=tt.rules.Puct(), noise=tt.rules.Noise(fraction=0.25))
    >>> priors = tt.search("tic_tac_toe", config, simulations=100, seed=1).priors
    >>> bool(priors.min() < 1 / 9 < priors.max())
    True
    """

    slot = "noise"
    name = "noise"

    fraction: float = share(0.0, "The share of Dirichlet noise in the root's priors.", flat="noise", kernel=False)
    alpha: float | None = number(
        None,
        "The parameter of the distribution. Default: 10 / legal moves.",
        flat="noise_alpha",
        kernel=False,
        above=0.0,
    )
    final: float | None = share(
        None, "The share that the noise falls to over `noise_moves` moves.", flat="noise_final", kernel=False
    )
    moves: int = whole(
        30, "Moves over which the noise falls to `noise_final`.", low=1, flat="noise_moves", kernel=False
    )

    def at(self, moves: int) -> float:
        """Return the share of noise after so many moves."""
        if self.final is None:
            return self.fraction
        return self.fraction + (self.final - self.fraction) * min(1.0, moves / self.moves)

    def refusals(self, config: Composition) -> Iterator[str]:
        """Give each reason why the noise does not go with the other parts."""
        if self.final is not None and not self.fraction:
            yield "noise_final is where the noise ends: give noise too"


@dataclass(frozen=True, kw_only=True)
class Widening(Part):
    """Progressive widening of the moves, and of the outcomes of chance: with both, double progressive widening.

    >>> import treetop as tt
    >>> config = tt.SearchConfig(widening=tt.rules.Widening(actions=1.0))
    >>> result = tt.search("connect_four", config, simulations=16, seed=1)
    >>> sum(visits > 0 for visits in result.visits.values())
    4
    """

    slot = "widening"

    actions: float | None = number(
        None,
        "With N visits the ceil(widening * N ** widening_power) likeliest moves are open; continuous actions are "
        "sampled by it. Default: all moves; for continuous actions 2.",
        flat="widening",
        above=0.0,
    )
    outcomes: float | None = number(
        None,
        "After N visits at most ceil(chance_widening * N ** widening_power) different outcomes of chance are followed. "
        "Default: all.",
        flat="chance_widening",
        above=0.0,
    )
    power: float = share(0.5, "The exponent of the visits.", flat="widening_power")

    @property
    def name(self) -> str:  # type: ignore[override]
        """Whether moves are widened: none or progressive."""
        return "none" if self.actions is None else "progressive"

    def builds(self) -> frozenset[str]:
        """Return what a build must have."""
        return frozenset() if self.actions is None else frozenset({"full"})

    def refusals(self, config: Composition) -> Iterator[str]:
        """Give each reason why widening does not go with the other parts."""
        if self.outcomes is not None and config.chance.name == "open_loop":
            yield "chance='open_loop' keeps no outcomes, so there are none to widen: leave chance_widening out"


@dataclass(frozen=True, kw_only=True)
class InFlight(Part):
    """What evaluations in flight count as, for searches with batches.

    They are always visits in the exploration term.

    >>> import treetop as tt
    >>> str(tt.SearchConfig(rule=tt.rules.Puct(), in_flight=tt.rules.InFlight(virtual_loss="always")))
    "puct(c=1.25, virtual_loss='always')"
    """

    slot = "in_flight"
    label = "virtual_loss"

    virtual_loss: str = choice(
        "none",
        "Whether they count as lost: never, always, or while a move has few visits.",
        ("none", "always", "first"),
    )
    virtual_loss_until: int = whole(100, "For virtual_loss='first': the visits of a move that end it.", low=0)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The kind of virtual loss."""
        return self.virtual_loss

    def builds(self) -> frozenset[str]:
        """Return what a build must have."""
        return frozenset() if self.virtual_loss == "none" else frozenset({"full"})


@dataclass(frozen=True, kw_only=True)
class Graph(Part):
    """Transpositions: one node for a position that is reached in several ways.

    >>> import treetop as tt
    >>> config = tt.SearchConfig(graph=tt.rules.Graph(transpositions=True))
    >>> tt.search("tic_tac_toe", config, simulations=500, seed=1).tree.is_graph
    True
    """

    slot = "graph"
    label = "transpositions"
    works_with = {
        "rule": ("ucb1", "puct"),
        "backup": ("mean",),
        "root": ("rule",),
        "widening": ("none",),
        "in_flight": ("none",),
        "final": ("visits", "value", "temperature", "mixed"),
    }

    transpositions: bool | int = anything(
        False, "Whether transpositions share a node. A number bounds the table that finds them, at least 1,024."
    )
    repetition: float | None = number(
        None, "The value of a repetition, in zero-sum games for player 0. Default: the middle of the reward range."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.transpositions, bool):
            checks.whole("transpositions", self.transpositions, 1024, checks.INT32_MAX)

    @property
    def name(self) -> str:  # type: ignore[override]
        """Whether the search is one of a graph: on or off."""
        return "on" if self.transpositions else "off"

    def works_in(self, kind: str) -> bool:
        """Return whether it can be part of a kind of search: transpositions need positions."""
        return kind in (TREES, DETERMINIZATIONS) or not self.transpositions

    def builds(self) -> frozenset[str]:
        """Return what a build must have."""
        return frozenset({"graph", "solver"} if self.transpositions else ())

    def columns(self) -> frozenset[str]:
        """Return the columns of the tree that this part needs."""
        names = ("keys", "own_sums", "own_visits", "path_visits", "path_sums")
        return frozenset(names if self.transpositions else ())

    @property
    def table_size(self) -> int:
        """The most entries of the table: a power of two, so that a key's lowest bits are a place."""
        if not self.transpositions:
            return 1
        wanted = TABLE_SIZE if self.transpositions is True else int(self.transpositions)
        return 1 << (wanted.bit_length() - 1)

    def refusals(self, config: Composition) -> Iterator[str]:
        """Give each reason why transpositions do not go with the other parts."""
        if not self.transpositions:
            return
        for reason in super().refusals(config):
            yield reason.replace("graph='on' works", "transpositions work")
        if "full" in config.rule.builds():
            yield f"transpositions work with plain UCB1 and PUCT, not with {config.rule.flat()}"
        if config.values.discount != 1.0 or config.values.normalise:
            yield "transpositions do not work with discount or normalise"

    def refusals_by_game(self, game: Game) -> Iterator[str]:
        """Give each reason why this part does not go with a game."""
        low, high = game.facts.rewards
        if self.repetition is not None and not low <= self.repetition <= high:
            yield (
                f"repetition must lie in the utility range of {game.name}, {low:g} to {high:g}; not {self.repetition!r}"
            )
        if self.transpositions and not game.has("key"):
            yield f"transpositions need the game's method `key`, which {game.name} does not have"


@dataclass(frozen=True, kw_only=True)
class Values(Part):
    """What returns are worth, and to whom.

    >>> import treetop as tt
    >>> config = tt.SearchConfig(values=tt.rules.Values(discount=0.9))
    >>> tt.search("nim(stones=5)", config, simulations=1_000, seed=1).value < 0.9 ** 2
    True
    """

    slot = "values"
    name = "values"

    discount: float = share(1.0, "What a return is worth one move earlier. Outcomes of chance take no time.")
    opponents: str = choice(
        "own",
        "With three players or more: every player maximises its own return (max^n), or all others play against the "
        "player to move (paranoid).",
        ("own", "paranoid"),
        kernel=False,
    )
    normalise: bool | None = flag(
        None,
        "Whether rules see values on the scale from the lowest to the highest mean in the tree. Default: where the "
        "utility range is wider than 2.",
    )
    history_decay: float = share(
        0.6, "What remains of the table of past moves (progressive history, MAST) after each move.", kernel=False
    )

    def builds(self) -> frozenset[str]:
        """Return what a build must have."""
        return frozenset() if self.discount == 1.0 else frozenset({"full"})


@dataclass(frozen=True, kw_only=True)
class Growth(Part):
    """How the tree grows.

    >>> import treetop as tt
    >>> config = tt.SearchConfig(growth=tt.rules.Growth(max_nodes=50))
    >>> tt.search("tic_tac_toe", config, simulations=1_000, seed=1).tree.size <= 50
    True
    """

    slot = "growth"
    name = "growth"

    expand_after: int | None = whole(
        None,
        "Visits that a leaf needs before it is expanded. Default: 1 with rollouts, 0 with an evaluator that gives "
        "priors.",
        low=0,
    )
    max_depth: int | None = whole(None, "No node deeper than this is expanded.", low=1)
    max_nodes: int | None = whole(
        None,
        "The tree never holds more nodes: at the bound the least visited subtrees are folded and the search continues.",
        low=2,
        kernel=False,
    )
