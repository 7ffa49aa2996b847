"""What searches and checks return, for type annotations; `treetop.SearchResult` holds most of it.

>>> import treetop as tt
>>> result = tt.search("tic_tac_toe", simulations=100, seed=1)
>>> isinstance(result.explain(), tt.results.Explanation)
True
"""

from treetop.game.check import CheckReport
from treetop.oracle.solve import Solution
from treetop.search.explain import Explanation, Statistics
from treetop.search.problems.outcomes import Failure, LoggedCall
from treetop.search.progress import Progress
from treetop.search.proof import ProvenValue
from treetop.search.solution import CompleteSolution
from treetop.search.strategies import Strategies
from treetop.search.variations import Line
from treetop.tree.node import Node
from treetop.tree.storage import Tree

__all__ = [
    "CheckReport", "CompleteSolution", "Explanation", "Failure", "Line", "LoggedCall", "Node", "Progress",
    "ProvenValue", "Solution", "Statistics", "Strategies", "Tree",
]  # fmt: skip
