"""Helpers that several modules of the plain search use."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from treetop.game.position import Position


def legal_actions(position: Position, state: Any) -> list[int]:
    """Return the legal actions of a state, as a list."""
    out = np.zeros(position.game.facts.num_actions, np.int32)
    return [int(action) for action in out[: state.legal_actions(out)]]


def added(numbers: Iterable[float]) -> float:
    """Return the sum of some numbers, added from left to right.

    `sum` of Python 3.12 and later compensates rounding errors, so it gives other results.
    """
    total = 0.0
    for number in numbers:
        total += number
    return total


def plus(numbers: list[float], others: list[float]) -> list[float]:
    """Return the sum of two vectors."""
    return [number + other for number, other in zip(numbers, others, strict=True)]


def by_player(players: int, method: Any) -> list[float]:
    """Return the numbers that a method of a game writes, one for each player."""
    out = np.zeros(players)
    method(out)
    return [float(number) for number in out]


def softmax(logits: list[float]) -> list[float]:
    """Return exp(l) / sum of exp(l) for each logit l; equal shares where every logit is minus infinity.

    The highest logit is subtracted first, so that nothing overflows.
    """
    highest = max(logits)
    if highest == -math.inf:
        return [1.0 / len(logits)] * len(logits)
    shares = [math.exp(logit - highest) for logit in logits]
    total = added(shares)
    return [share / total for share in shares]
