"""Evaluators of leaves: rollouts, a game's heuristic, evaluators that wrap others; `Evaluator` is the protocol."""

from treetop.evaluators.cache import Cached
from treetop.search.batch import Batch
from treetop.search.evaluator import Evaluator, Heuristic, Mixed, Rollout, Uniform
from treetop.search.problems.evaluator import StateEvaluator

__all__ = ["Batch", "Cached", "Evaluator", "Heuristic", "Mixed", "Rollout", "StateEvaluator", "Uniform"]
