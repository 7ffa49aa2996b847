"""Rules as users write them, shared by tests so that each is compiled once."""

from __future__ import annotations

import math

import treetop as tt

NOT_A_NUMBER, BY_ZERO, INFINITE = 13.0, 17.0, 19.0
"""Exploration factors that put `moody` out of temper."""
BOLD = 23.0
"""One that makes it use all its arguments."""
WEIGHT = 1.0
"""A constant that the rule reads."""


@tt.rule
def moody(value, visits, prior, variance, total, c):
    """UCB1, written by a user; some factors make it fail for moves that were tried often."""
    if c == 13.0 and visits > 3:
        return math.nan
    if c == 17.0:
        return value + 1 / (visits - 4)
    if c == 19.0:
        return -math.inf if visits > 3 else math.inf
    if c == 23.0:
        return (
            10.0 + prior
            if visits == 0
            else value + 0.3 * math.sqrt(variance / visits) + prior * total / (1.0 + visits * visits)
        )
    if visits == 0:
        return math.inf
    return value + WEIGHT * c * math.sqrt(math.log(total) / visits)
