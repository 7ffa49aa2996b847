"""A trained network as a player: a search with the network as its evaluator."""

from __future__ import annotations

from treetop import checks
from treetop.errors import ConfigError
from treetop.evaluators.networks.model import load_model
from treetop.game.definition import Game
from treetop.players.search import SearchPlayer
from treetop.search.config import SearchConfig
from treetop.search.limits import Limit
from treetop.search.presets import gumbel, puct

_FEW = 64  # simulations up to which sequential halving is the stronger root


def net_search(game: Game, simulations: int | None, batch_size: int = 1) -> SearchConfig:
    """Return the search of the player `net`, for a number of simulations on each move, or None for a limit in seconds.

    >>> import treetop as tt
    >>> net_search(tt.load_game("connect_four"), 200).solver
    True
    """
    facts = game.facts
    if simulations is not None and simulations <= _FEW:
        return gumbel(batch_size=batch_size)
    solver = bool(facts.zero_sum) and not facts.num_outcomes and not game.has("step_rewards")
    return puct(1.5, batch_size=batch_size, solver=solver)


class NetPlayer(SearchPlayer):
    """Play by a network and a search: `net("run/", simulations=200)`.

    Up to 64 simulations are spent by sequential halving at the root, more, or `seconds`, by PUCT; in games of two
    players without chance that search also proves wins and losses. `batch_size` leaves are evaluated at a time: more
    are faster, fewer are stronger at the same number of simulations.
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
            evaluator=model,
            reuse=checks.flag("reuse", reuse),
        )
