"""Monte Carlo tree search for Python: write a game once, search it at the speed of C.

>>> import treetop as tt
>>> result = tt.search("connect_four", simulations=10_000, seed=1)
>>> result.simulations
10000

The most used names are here; the others are in namespaces: `rules` (presets and parts of searches), `evaluators`,
`states`, `stopping`, `results`, `records`, `players`, `arena`, `train`, `prove`, `lab`, `adapters`, `bits`, `boards`
and `errors`.
Nothing here imports Numba: it is loaded by the first search.
"""

from typing import TYPE_CHECKING, Any

from treetop import adapters, bits, boards, errors, evaluators, records, results, rules, states, stopping
from treetop.compiler.functions import compiled
from treetop.compiler.rng import Rng
from treetop.errors import TreetopError
from treetop.game.definition import Game, game
from treetop.game.families import family
from treetop.game.fields import field
from treetop.game.position import Position
from treetop.game.registry import load_game, position
from treetop.kernels.rules.own import rule
from treetop.oracle.perft import perft
from treetop.oracle.solve import solve
from treetop.players.own import player
from treetop.players.protocol import Player
from treetop.search.check import check
from treetop.search.config import SearchConfig, configure
from treetop.search.evaluator import Evaluator, Rollout
from treetop.search.explain import explain
from treetop.search.limits import Limit
from treetop.search.pool import SearchPool
from treetop.search.presets import gumbel, puct, rave, regret_matching, uct
from treetop.search.problems.problem import Problem
from treetop.search.result import SearchResult
from treetop.search.search import Search
from treetop.search.strategies import find_strategies
from treetop.types import CHANCE, SIMULTANEOUS

if TYPE_CHECKING:
    from treetop import arena, lab, players, prove, train
    from treetop.arena.evaluation import evaluate
    from treetop.arena.matches import match
    from treetop.arena.tournaments import tournament
    from treetop.evaluators.networks.model import load_model
    from treetop.search.search import search  # the package itself, which can be called

__version__ = "0.1.0"

__all__ = [
    "CHANCE", "SIMULTANEOUS", "Evaluator", "Game", "Limit", "Player", "Position", "Problem", "Rng", "Rollout",
    "Search", "SearchConfig", "SearchPool", "SearchResult", "TreetopError", "__version__", "adapters", "arena", "bits",
    "boards", "check", "compiled", "configure", "errors", "evaluate", "evaluators", "explain", "family", "field",
    "find_strategies", "game", "gumbel", "lab", "load_game", "load_model", "match", "perft", "player", "players",
    "position", "prove", "puct", "rave", "records", "regret_matching", "results", "rule", "rules", "search", "solve",
    "states", "stopping", "tournament", "train", "uct",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load what plays, proves and measures on first use: it starts processes and locks files."""
    import importlib

    if name in ("evaluate", "match", "tournament"):
        return getattr(importlib.import_module("treetop.arena"), name)
    if name == "load_model":
        return importlib.import_module("treetop.evaluators.networks.model").load_model
    if name in ("arena", "lab", "players", "prove", "train"):
        return importlib.import_module(f"treetop.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names, also those that are loaded on first use."""
    return sorted({*globals(), *__all__})
