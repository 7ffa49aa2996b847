"""What only results of Python problems hold: failures of the user's code, and evaluations that were made elsewhere."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

_LISTED = 5  # failures that are printed
NOTHING_OPEN = "every action is proven or has failed"
"""Why a search ended that can neither go on nor prove the root."""


@dataclass(frozen=True)
class Failure:
    """Code of the caller's that raised: at a node, which is never chosen again, or in a rollout from it, which was dropped."""

    path: tuple[Hashable, ...]
    """The actions that lead to it, from where the search began."""
    reason: str
    where: str = field(default="", compare=False)
    """The line of the caller's code that raised it, where that is known."""
    ends_node: bool = True
    """False where a rollout or a draw of chance failed: the node itself stays in the search."""

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
    """An evaluation that was made elsewhere and has ended."""

    path: tuple[Hashable, ...]
    """The actions that lead to its node, from where the search began."""
    cost: float
    """What it cost, with all its attempts."""
    seconds: float
    attempts: int
    error: str | None
    """Why its last attempt failed; None where there is an answer."""
    note: Any
    """What the evaluator gave as a fourth part of its answer, as JSON holds it."""


def listed(heading: str, failures: list[Failure], count: int) -> list[str]:
    """Return a heading and the first few failures; nothing where there are none."""
    more = [f"  ... and {count - _LISTED:,} more"] if count > _LISTED else []
    return [f"{heading}:", *(f"  {failure}" for failure in failures[:_LISTED]), *more] if count else []
