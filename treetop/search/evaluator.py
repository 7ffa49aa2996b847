"""What a leaf is worth, and which moves look good there: the protocol, and the two evaluators that live inside the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from treetop.kernels.control import ROLLOUT, UNIFORM

if TYPE_CHECKING:
    from treetop.search.batch import Batch


@runtime_checkable
class Evaluator(Protocol):
    """Evaluates a batch of states in Python: a network, a heuristic, a service."""

    def evaluate(self, batch: Batch) -> tuple[npt.ArrayLike, npt.ArrayLike]:
        """Logits over all actions, one row a state, and values: one row a state with a number for each player, or, in
        two-player zero-sum games, one number a state for the player to move.
        """
        ...


class CompiledEvaluator:
    """An evaluator that is part of the compiled loop."""

    def __init__(self, name: str, code: int, expand_after: int) -> None:
        self.name, self.code, self.expand_after = name, code, expand_after

    def __repr__(self) -> str:
        return f"{self.name}()"


class Rollout(CompiledEvaluator):
    """Plays one random game to its end. A leaf is expanded on its second visit: the first one is the rollout."""

    def __init__(self) -> None:
        super().__init__("rollout", ROLLOUT, expand_after=1)


class Uniform(CompiledEvaluator):
    """Knows nothing: every move as good as the other, every position worth the middle of the utility range."""

    def __init__(self) -> None:
        super().__init__("uniform", UNIFORM, expand_after=0)

    def evaluate(self, batch: Batch) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]:
        """The same for states that were asked for, so that it can stand in for a network."""
        facts = batch.game.facts
        return np.zeros((len(batch), facts.num_actions), np.float32), np.full((len(batch), facts.players), facts.middle)


def name_of(evaluator: Any) -> str:
    """How a report names an evaluator."""
    return str(getattr(evaluator, "name", None) or type(evaluator).__name__)
