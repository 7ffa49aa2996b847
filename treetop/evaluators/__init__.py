"""Evaluators of leaves: rollouts, a game's heuristic, evaluators that wrap others; `Evaluator` is the protocol.

>>> import treetop as tt
>>> tt.search("tic_tac_toe", evaluator=tt.evaluators.Rollout(), simulations=100, seed=1).simulations
100
"""

from treetop.evaluators.cache import Cached
from treetop.search.batch import Batch
from treetop.search.evaluator import Evaluator, Heuristic, Mixed, Rollout, Uniform
from treetop.search.problems.evaluator import StateEvaluator

__all__ = ["Batch", "Cached", "Evaluator", "Heuristic", "Mixed", "Rollout", "StateEvaluator", "Uniform"]
