"""A trained network as a player: a search with the network as its evaluator."""

from __future__ import annotations

from treetop import checks
from treetop.errors import ConfigError
from treetop.evaluators.networks.model import Model, load_model
from treetop.evaluators.networks.symmetric import Symmetric
from treetop.game.definition import Game
from treetop.players.search import SearchPlayer
from treetop.search.config import SearchConfig
from treetop.search.limits import Limit
from treetop.search.presets import gumbel, puct


def net_search(game: Game, simulations: int | None, batch_size: int = 1) -> SearchConfig:
    """Return the search of the player `net`, for a number of simulations on each move, or None for a limit in seconds.

    >>> import treetop as tt
    >>> net_search(tt.load_game("connect_four"), 200).solver
    True
    """
    facts = game.facts
    solver = bool(facts.zero_sum) and not facts.num_outcomes and not game.has("step_rewards")
    if simulations is not None:
        return gumbel(batch_size=batch_size, solver=solver)
    return puct(1.5, batch_size=batch_size, solver=solver)


def net_evaluator(model: Model, symmetries: bool | None = None, *, timed: bool = False) -> Model | Symmetric:
    """Return the evaluator of the player `net`: the network, or its mean over a position and one reflection of it.

    >>> import treetop as tt
    >>> type(net_evaluator(Model.untrained(tt.load_game("connect_four"), "tiny"))).__name__
    'Symmetric'
    """
    wanted = bool(model.game.facts.symmetries) and not timed if symmetries is None else symmetries
    return Symmetric(model) if checks.flag("symmetries", wanted) else model


class NetPlayer(SearchPlayer):
    """Play by a network and a search: `net("run/", simulations=200)`.

    A number of simulations is spent by sequential halving at the root, `seconds` by PUCT; in games of two players
    without chance the search also proves wins and losses. `batch_size` leaves are evaluated at a time: more
    are faster, fewer are stronger at the same number of simulations. With `symmetries` each evaluation is the mean over
    a position and one reflection of it: stronger at the same number of simulations, and half as fast. Default: in games
    with symmetries, unless the limit is in seconds.
    """

    def __init__(
        self,
        game: Game,
        folder: str,
        /,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        batch_size: int = 8,
        reuse: bool = True,
        symmetries: bool | None = None,
        name: str = "net",
    ) -> None:
        if not isinstance(folder, str):
            raise ConfigError(f"net needs the folder of a network, as text, not {checks.shorten(folder)}")
        if simulations is None and seconds is None:
            simulations = 200
        model = load_model(folder, game=game)
        super().__init__(
            name,
            net_search(game, None if seconds is not None else simulations, batch_size),
            Limit(simulations=simulations, seconds=seconds),
            evaluator=net_evaluator(model, symmetries, timed=seconds is not None),
            reuse=checks.flag("reuse", reuse),
        )
