"""How the path of a simulation ends."""

LEAF, ENDED, EXHAUSTED, REPEATED = 0, 1, 2, 3
"""At a node to be evaluated; at the end of the game; at a node without an open child; in a repetition."""
