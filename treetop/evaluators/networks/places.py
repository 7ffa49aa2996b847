"""Where the actions of a game lie on its board, for policies that are planes of a board.

A network for thousands of actions, most of them moves from a square, need not connect each of them with every square:
its policy is a few planes as large as the board, and an action is read from one place of one plane. The class of a game
says where: `policy_places` is an array with a number for each action,
`plane * rows * columns + row * columns + column`, in the orientation of its observations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import ConfigError
from treetop.game.definition import Game

Places = npt.NDArray[np.int64]


def policy_places(game: Game) -> Places | None:
    """Return the place of each action in the policy planes of a game; None for a game that does not name any.

    >>> import treetop as tt
    >>> policy_places(tt.load_game("chess"))[:3].tolist(), policy_places(tt.load_game("connect_four"))
    ([0, 1, 2], None)
    """
    given: Any = getattr(game.cls, "policy_places", None)
    if given is None:
        return None
    shape, count = game.facts.observation_shape or (), game.facts.num_actions
    if len(shape) != 3:
        raise ConfigError(f"{game.name} has policy_places, so its observations must be planes of a board, not {shape}")
    found = np.asarray(given)
    if found.shape != (count,) or found.dtype.kind not in "iu":
        raise ConfigError(
            f"policy_places of {game.name} must be an array of {count} whole numbers, one for each action, not "
            f"{found.dtype} of the shape {found.shape}"
        )
    if (found < 0).any() or len(np.unique(found)) < count:
        raise ConfigError(
            f"policy_places of {game.name} must be different numbers from 0 on: two actions share a place"
        )
    return found.astype(np.int64)


def planes_of(game: Game) -> int:
    """Return the number of policy planes of a game; 0 for a game without.

    >>> import treetop as tt
    >>> planes_of(tt.load_game("chess")), planes_of(tt.load_game("connect_four"))
    (73, 0)
    """
    places = policy_places(game)
    if places is None:
        return 0
    _, rows, columns = game.facts.observation_shape or (1, 1, 1)
    return int(places.max()) // (rows * columns) + 1
