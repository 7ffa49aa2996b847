"""Constants and type aliases that every package shares."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

ROOT = 0
"""The index of a tree's root."""

NONE = -1
"""No node, no action, no limit."""

CHANCE = -1
"""The player to move at a chance node."""

SIMULTANEOUS = -2
"""The player to move where all players move simultaneously."""

Action: TypeAlias = int
FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int32]
RecordArray: TypeAlias = npt.NDArray[Any]
