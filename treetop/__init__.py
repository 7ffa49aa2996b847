"""Monte Carlo tree search for Python: write a game once, search it at the speed of C.

>>> import treetop as tt
>>> result = tt.search("connect_four", simulations=10_000, seed=1)
>>> print(result)                                     # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import lowest_bit, nth_bit, popcount
from treetop.compiler.rng import Rng
from treetop.errors import (
    CompileError,
    ConfigError,
    ConformanceError,
    GameDefinitionError,
    GameError,
    IllegalMoveError,
    MissingExtraError,
    SaveError,
    SearchError,
    StaleNodeError,
    TerminalPositionError,
    TreetopError,
    UnknownGameError,
)
from treetop.game.definition import Game, game
from treetop.game.families import Family, family
from treetop.game.fields import field
from treetop.game.position import Position
from treetop.game.registry import load_game, position
from treetop.types import CHANCE, NONE, ROOT, SIMULTANEOUS

if TYPE_CHECKING:
    from treetop.game.check import check as check
    from treetop.oracle.perft import perft as perft
    from treetop.search.batch import Batch as Batch
    from treetop.search.config import SearchConfig as SearchConfig
    from treetop.search.config import puct as puct
    from treetop.search.config import uct as uct
    from treetop.search.evaluator import Evaluator as Evaluator
    from treetop.search.evaluator import Rollout as Rollout
    from treetop.search.evaluator import Uniform as Uniform
    from treetop.search.explain import Explanation as Explanation
    from treetop.search.explain import Statistics as Statistics
    from treetop.search.explain import explain as explain
    from treetop.search.limits import Limit as Limit
    from treetop.search.result import SearchResult as SearchResult
    from treetop.search.search import Progress as Progress
    from treetop.search.search import Search as Search
    from treetop.tree.node import Node as Node
    from treetop.tree.storage import Tree as Tree

__version__ = "0.1.0"

# Found on first use, so that `import treetop` stays light.
_LAZY = {
    "Batch": "treetop.search.batch",
    "Evaluator": "treetop.search.evaluator",
    "Explanation": "treetop.search.explain",
    "Limit": "treetop.search.limits",
    "Node": "treetop.tree.node",
    "Progress": "treetop.search.search",
    "Rollout": "treetop.search.evaluator",
    "Search": "treetop.search.search",
    "SearchConfig": "treetop.search.config",
    "SearchResult": "treetop.search.result",
    "Statistics": "treetop.search.explain",
    "Tree": "treetop.tree.storage",
    "Uniform": "treetop.search.evaluator",
    "check": "treetop.game.check",
    "explain": "treetop.search.explain",
    "perft": "treetop.oracle.perft",
    "puct": "treetop.search.config",
    "search": "treetop.search.search",
    "uct": "treetop.search.config",
}

__all__ = [
    "CHANCE", "NONE", "ROOT", "SIMULTANEOUS", "Batch", "CompileError", "ConfigError", "ConformanceError", "Evaluator", "Explanation",
    "Family", "Game", "GameDefinitionError", "GameError", "IllegalMoveError", "Limit", "MissingExtraError", "Node", "Position", "Progress",
    "Rng", "Rollout", "SaveError", "Search", "SearchConfig", "SearchError", "SearchResult", "StaleNodeError", "Statistics",
    "TerminalPositionError", "Tree", "TreetopError", "Uniform", "UnknownGameError", "__version__", "check", "compiled", "explain", "family",
    "field", "game", "load_game", "lowest_bit", "nth_bit", "perft", "popcount", "position", "puct", "search", "uct",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'treetop' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
