"""Monte Carlo tree search for Python: write a game once, search it at the speed of C.

>>> import treetop as tt
>>> result = tt.search("connect_four", simulations=10_000, seed=1)
>>> print(result)                                     # doctest: +SKIP

Nothing here imports Numba: it is loaded by the first search.
"""

from typing import TYPE_CHECKING, Any

from treetop import adapters
from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import lowest_bit, mix_bits, nth_bit, popcount
from treetop.compiler.rng import Rng
from treetop.errors import (
    CompileError,
    ConfigError,
    ConformanceError,
    EvaluationError,
    GameDefinitionError,
    GameError,
    IllegalMoveError,
    MissingExtraError,
    PlayerError,
    ProverError,
    SaveError,
    SearchError,
    StaleNodeError,
    TerminalPositionError,
    TreetopError,
    UnknownGameError,
)
from treetop.evaluators.cache import Cached
from treetop.game.bitsets import list_bits, random_bit
from treetop.game.check import CheckReport, check
from treetop.game.definition import Game, game
from treetop.game.families import Family, family
from treetop.game.fields import field
from treetop.game.position import Position
from treetop.game.registry import load_game, position
from treetop.kernels.rules.own import rule
from treetop.oracle.perft import perft
from treetop.oracle.solve import Solution, solve
from treetop.players.own import player
from treetop.search.batch import Batch
from treetop.search.clock import GameClock
from treetop.search.config import SearchConfig, configure
from treetop.search.evaluator import Evaluator, Heuristic, Mixed, Rollout, Uniform
from treetop.search.explain import Explanation, Statistics, explain
from treetop.search.limits import Limit
from treetop.search.presets import (
    grave,
    gumbel,
    halving,
    nexus,
    progressive_history,
    puct,
    rave,
    regret_matching,
    thompson,
    ucb1_tuned,
    ucb_v,
    uct,
    uniform,
)
from treetop.search.problems.evaluator import StateEvaluator
from treetop.search.problems.outcomes import Failure, LoggedCall
from treetop.search.problems.problem import Problem
from treetop.search.progress import Progress
from treetop.search.proof import Proof
from treetop.search.result import SearchResult
from treetop.search.search import Search
from treetop.search.stopping import KLGain, MoreWhenCritical, Standing, Stopper, UnassailableLeader
from treetop.search.strategies import Strategies, find_strategies
from treetop.search.variations import Line
from treetop.tree.node import Node
from treetop.tree.storage import Tree
from treetop.types import CHANCE, NONE, ROOT, SIMULTANEOUS

if TYPE_CHECKING:
    from treetop.arena.evaluation import evaluate
    from treetop.search.search import search  # the package itself, which can be called

__version__ = "0.1.0"

__all__ = [
    "CHANCE",
    "NONE",
    "ROOT",
    "SIMULTANEOUS",
    "Batch",
    "Cached",
    "CheckReport",
    "CompileError",
    "ConfigError",
    "ConformanceError",
    "EvaluationError",
    "Evaluator",
    "Explanation",
    "Failure",
    "Family",
    "Game",
    "GameClock",
    "GameDefinitionError",
    "GameError",
    "Heuristic",
    "IllegalMoveError",
    "KLGain",
    "Limit",
    "Line",
    "LoggedCall",
    "MissingExtraError",
    "Mixed",
    "MoreWhenCritical",
    "Node",
    "PlayerError",
    "Position",
    "Problem",
    "Progress",
    "Proof",
    "ProverError",
    "Rng",
    "Rollout",
    "SaveError",
    "Search",
    "SearchConfig",
    "SearchError",
    "SearchResult",
    "Solution",
    "StaleNodeError",
    "Standing",
    "StateEvaluator",
    "Statistics",
    "Stopper",
    "Strategies",
    "TerminalPositionError",
    "Tree",
    "TreetopError",
    "UnassailableLeader",
    "Uniform",
    "UnknownGameError",
    "__version__",
    "adapters",
    "check",
    "compiled",
    "configure",
    "evaluate",
    "explain",
    "family",
    "field",
    "find_strategies",
    "game",
    "grave",
    "gumbel",
    "halving",
    "list_bits",
    "load_game",
    "lowest_bit",
    "mix_bits",
    "nexus",
    "nth_bit",
    "perft",
    "player",
    "popcount",
    "position",
    "progressive_history",
    "puct",
    "random_bit",
    "rave",
    "regret_matching",
    "rule",
    "search",
    "solve",
    "thompson",
    "ucb1_tuned",
    "ucb_v",
    "uct",
    "uniform",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load `evaluate` on first use: playing games starts processes and locks files."""
    if name == "evaluate":
        from treetop.arena.evaluation import evaluate

        return evaluate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
