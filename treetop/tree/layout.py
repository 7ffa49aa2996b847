"""How a node lies in memory: 32 bytes in two records. The reasons, with a picture: docs/the-trees-memory.md.

Selection reads the statistics of all children of a node but follows the links of one, so the two live apart: a block of seven
children is scored from 112 adjacent bytes. An edge's statistics live in the child's slot.
"""

from __future__ import annotations

import numpy as np

STATS = np.dtype(
    [
        ("value_sum", "f8"),  # of the returns to the player who chose this node at its parent; unused at the root
        ("visits", "i4"),
        ("prior", "f4"),
    ]
)
LINKS = np.dtype(
    [
        ("action", "i4"),  # what leads here from the parent
        ("parent", "i4"),
        ("first_child", "i4"),  # children are contiguous
        ("num_children", "u2"),  # 0: a leaf
        ("flags", "u1"),
        ("own", "u1"),  # evaluations made at this node itself; MANY_OWN stands for as many or more
    ]
)
BYTES_PER_NODE = STATS.itemsize + LINKS.itemsize

MAX_CHILDREN = 2**16 - 1
MANY_OWN = 2**8 - 1

TERMINAL = 1
"""Flag: the game is over here."""
FOLDED = 2
"""Flag: this node had children that were given up to keep memory bounded."""
