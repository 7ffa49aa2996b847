"""The one record through which Python and the kernels talk: settings in, progress out. Choices are numbers, so that a game compiles once."""

from __future__ import annotations

import numpy as np

CONTROL = np.dtype(
    [
        # Settings.
        ("rule", "i4"),
        ("evaluator", "i4"),
        ("tie_break", "i4"),
        ("expand_after", "i4"),  # visits that a leaf needs before it is expanded
        ("max_depth", "i4"),
        ("max_length", "i4"),  # the game's own bound on its length
        ("num_actions", "i4"),
        ("players", "i4"),
        ("c", "f8"),
        ("c_base", "f8"),  # 0: c is constant; else AlphaZero's schedule ln((1 + N + c_base) / c_base) + c
        ("first_play", "f8"),  # the value assumed of a move that nobody has tried
        ("middle", "f8"),  # of the utility range
        # State.
        ("rng", "u8"),
        ("size", "i8"),  # nodes in use
        ("capacity", "i8"),
        ("budget", "i8"),  # simulations to run in this call
        ("done", "i8"),  # ... and how many were
        ("gathered", "i8"),  # leaves waiting for an evaluation, in a call that gathers
        # What went wrong, or whom to ask.
        ("status", "i4"),
        ("depth", "i4"),  # how far down the present path goes
        ("culprit", "i8"),  # the number that broke a promise
        ("answered", "i4"),  # tie-breaks that the caller has decided for the present simulation
        ("tied", "i4"),  # candidates of the tie that is to be decided
    ]
)

# Selection rules.
UCB1, PUCT = 0, 1

# What evaluates a leaf inside a kernel.
ROLLOUT, UNIFORM = 0, 1

# Who decides between equal scores.
RANDOM, FIRST, ASK = 0, 1, 2

# Status: why a kernel came back.
DONE, NEED_ROOM, TIE, COLLISION = 0, 1, 2, 3
BAD_PLAYER, BAD_COUNT, BAD_ACTION, BAD_REWARD, TOO_LONG = 10, 11, 12, 13, 14
