"""Evaluators that answer from elsewhere, and what holds when a search with them has ended."""

from __future__ import annotations

import asyncio
import math
import threading

import numpy as np


def worth(state):
    """What a heap is worth to the player to move."""
    return 0.5 if state[0] % 4 else -0.5


async def at_once(state, actions):
    return None, worth(state)


def jittery(seed, cost=1.0):
    """An evaluator whose calls come back in another order each time."""
    random = np.random.default_rng(seed)

    async def evaluate(state, actions):
        await asyncio.sleep(random.uniform(0.0, 0.004))
        return [1 + action for action in actions], worth(state) + 0.01 * math.sin(state[0]), cost

    return evaluate


def assert_at_rest(search):
    search.tree.check(search.game.facts.rewards)  # which refuses a tree with anything in flight
    assert search.in_flight == 0
    assert not any(task for task in threading.enumerate() if task.name == "treetop evaluation" and not task.daemon)


def columns(search):
    size = search.tree.size
    return [
        search.tree.columns.stats[:size].tobytes(),
        search.tree.columns.links[:size].tobytes(),
        search.tree.totals.tobytes(),
    ]
