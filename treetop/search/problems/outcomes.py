"""Failures of the user's code and evaluations made elsewhere, in results of Python problems."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

_LISTED = 5  # failures that are printed
NOTHING_OPEN = "every action is proven or has failed"
"""The reason of a search that ends because no action is open, although the root is not proven."""


@dataclass(frozen=True)
class Failure:
    """An error of the user's code: at a node, which is not searched again, or in a rollout, which was dropped.

    >>> import treetop as tt
    >>> class Divide:
    ...     def initial(self): return 12
    ...     def actions(self, state): return [2, 0]
    ...     def is_terminal(self, state): return state < 2
    ...     def step(self, state, action): return state // action
    ...     def rewards(self, state): return float(state)
    >>> search = tt.Search(Divide(), evaluator=lambda state, actions: (None, 0.5), seed=1)
    >>> failure = search.run(tt.Limit(simulations=4)).failures[0]
    >>> failure.path, failure.reason
    ((0,), 'ZeroDivisionError: integer division or modulo by zero')
    """

    path: tuple[Hashable, ...]
    """The actions that lead to the node from the start of the search."""
    reason: str
    where: str = field(default="", compare=False)
    """The line of the user's code that raised it, if it is known."""
    ends_node: bool = True
    """False where a rollout or a draw of chance failed: the node itself is still searched."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        path = [str(action) for action in self.path]
        return {"path": path, "reason": self.reason, "where": self.where, "ends_node": self.ends_node}

    def __str__(self) -> str:
        return f"after {', '.join(map(str, self.path)) or 'nothing'}: {self.reason}" + (
            f" ({self.where})" if self.where else ""
        )


@dataclass(frozen=True)
class LoggedCall:
    """An evaluation made elsewhere that has ended.

    >>> import treetop as tt
    >>> class Divide:
    ...     def initial(self): return 12
    ...     def actions(self, state): return [2, 3]
    ...     def is_terminal(self, state): return state < 2
    ...     def step(self, state, action): return state // action
    ...     def rewards(self, state): return float(state)
    >>> def judge(state, actions): return None, 0.5, 2.0  # equal priors, a value and the cost of the answer
    >>> call = tt.Search(Divide(), seed=1).run_remote(tt.Limit(simulations=1), judge).call_log[0]
    >>> call.path, call.cost, call.error
    ((), 2.0, None)
    """

    path: tuple[Hashable, ...]
    """The actions that lead to its node from the start of the search."""
    cost: float
    """The cost of all its attempts."""
    seconds: float
    attempts: int
    error: str | None
    """Why its last attempt failed; None if it succeeded."""
    note: Any
    """The fourth part of the evaluator's answer, as JSON values."""


def listed(heading: str, failures: list[Failure], count: int) -> list[str]:
    """Return a heading and the first few failures; an empty list if there are none."""
    more = [f"  ... and {count - _LISTED:,} more"] if count > _LISTED else []
    return [f"{heading}:", *(f"  {failure}" for failure in failures[:_LISTED]), *more] if count else []
