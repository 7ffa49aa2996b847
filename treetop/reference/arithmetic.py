"""Small things that every part needs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from treetop.game.position import Position


def legal_actions(position: Position, state: Any) -> list[int]:
    """The legal actions of a state, as a list."""
    out = np.zeros(position.game.facts.num_actions, np.int32)
    return [int(action) for action in out[: state.legal_actions(out)]]


def added(numbers: Iterable[float]) -> float:
    """The sum of some numbers, from left to right: that of newer Pythons is more exact."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def plus(numbers: list[float], others: list[float]) -> list[float]:
    """The sum of two vectors."""
    return [number + other for number, other in zip(numbers, others, strict=True)]


def softmax(logits: list[float]) -> list[float]:
    """exp(l) / sum of exp(l); the highest is taken off first, so that nothing overflows. Where nothing is possible: equal shares."""
    highest = max(logits)
    if highest == -math.inf:
        return [1.0 / len(logits)] * len(logits)
    shares = [math.exp(logit - highest) for logit in logits]
    total = added(shares)
    return [share / total for share in shares]
