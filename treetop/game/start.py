"""The record of a game's initial state."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game.contract import call
from treetop.game.definition import Game


def frozen(record: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a record that cannot be written: itself, or a copy."""
    if record.flags.writeable:
        record = record.copy()
        record.flags.writeable = False
    return record


def first_record(game: Game) -> np.ndarray[Any, Any]:
    """Return the record of a game's initial state, after its rules have passed a trial."""
    from treetop.game.trial import require_trial  # a trial plays games, so its module imports this one

    require_trial(game)
    return start_record(game)


def start_record(game: Game) -> np.ndarray[Any, Any]:
    """Return the record of a game's initial state, before `deal`. It is deterministic."""
    states = np.zeros(1, game.dtype)
    call(game, game.view(states), "reset")
    return states
