"""What searches and checks return, for type annotations; `treetop.SearchResult` holds most of it.

>>> import treetop as tt
>>> result = tt.search("tic_tac_toe", simulations=100, seed=1)
>>> isinstance(result.explain(), tt.results.Explanation)
True
>>> isinstance(result.lines()[0], tt.results.Line)
True
>>> isinstance(result.tree, tt.results.Tree) and isinstance(result.tree.root, tt.results.Node)
True
>>> isinstance(tt.solve("nim(stones=5)"), tt.results.Solution)
True
>>> isinstance(tt.check("tic_tac_toe", games=5), tt.results.CheckReport)
True
>>> tt.explain(tt.uct(), {"A": tt.results.Statistics(50, 0.8), "B": (10, 0.6)}).selected
'B'
>>> proven = tt.search("nim(stones=5)", tt.uct(solver=True), simulations=2_000, seed=1)
>>> isinstance(proven.proof, tt.results.ProvenValue)
True
>>> seen = []
>>> def show(progress: tt.results.Progress) -> None: seen.append(progress.simulations)
>>> found = tt.Search("tic_tac_toe", seed=1).run(tt.Limit(simulations=100), progress=show)

`Failure` and `LoggedCall` come from searches of Python objects:

>>> tt.results.Failure(("left", "up"), "no answer").path
('left', 'up')
>>> tt.results.LoggedCall(("left",), cost=2.0, seconds=0.1, attempts=1, error=None, note=None).cost
2.0
"""

from treetop.game.check import CheckReport
from treetop.oracle.solve import Solution
from treetop.search.explain import Explanation, Statistics
from treetop.search.merging import Merged
from treetop.search.pool import FinishedGame
from treetop.search.pool_results import PoolResult
from treetop.search.problems.outcomes import Failure, LoggedCall
from treetop.search.progress import Progress
from treetop.search.proof import ProvenValue
from treetop.search.solution import CompleteSolution
from treetop.search.strategies import Strategies
from treetop.search.variations import Line
from treetop.tree.node import Node
from treetop.tree.storage import Tree

__all__ = [
    "CheckReport", "CompleteSolution", "Explanation", "Failure", "FinishedGame", "Line", "LoggedCall", "Merged",
    "Node", "PoolResult", "Progress", "ProvenValue", "Solution", "Statistics", "Strategies", "Tree",
]  # fmt: skip
