"""Codes and buffers of the kernels, and the fields of the control record that belong to no part.

Choices are numbers, so that a game compiles once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treetop.types import FloatArray, IntArray, RecordArray

BASE: list[tuple[str, str]] = [
    # The parts of the search, by their places in their registries.
    ("rule", "i4"),
    ("backup", "i4"),
    ("root", "i4"),
    # The game.
    ("max_length", "i4"),  # the game's own bound on its length
    ("num_actions", "i4"),
    ("players", "i4"),
    ("num_outcomes", "i4"),
    ("most_children", "i4"),  # that one expansion can make
    ("step_rewards", "i4"),  # 1: there are immediate rewards
    ("middle", "f8"),  # of the utility range
    ("low", "f8"),  # the utility range
    ("high", "f8"),
    ("least_value", "f8"),  # what an evaluation may be, with a little slack
    ("greatest_value", "f8"),
    # What follows from several options.
    ("tie_break", "i4"),
    ("fpu", "f8"),  # first-play urgency, where it is the same at every node
    ("fpu_kind", "i4"),
    ("solver", "i4"),  # 1: proofs are kept and used
    ("keeps_history", "i4"),
    ("notes_moves", "i4"),  # 1: the moves of a rollout are noted, for AMAF statistics or the table of past moves
    ("chance_expected", "i4"),  # 1: what goes up from chance is the expected value, not the outcome that was drawn
    ("open_loop", "i4"),  # 1: open-loop search: outcomes of chance are not distinguished
    ("leaf_heuristic", "i4"),  # 1: the backup needs the game's heuristic of every leaf
    ("masked", "i4"),  # 1: only the moves marked in `mask` are searched at the root
    # The evaluator.
    ("evaluator", "i4"),
    ("heuristic_prior", "f8"),  # 0: equal priors; else the temperature of a softmax over the children's heuristics
    ("rollout_policy", "i4"),
    ("rollout_count", "i4"),
    ("rollout_depth", "i4"),  # moves after which the heuristic takes over
    ("rollout_weight", "f8"),  # of the rollouts, beside another evaluation
    ("rollout_epsilon", "f8"),
    ("rollout_temperature", "f8"),
    # The information of the searcher.
    ("paranoid_target", "i4"),  # the player against whom all others play; NONE: everybody plays for himself
    ("searcher", "i4"),
    ("hidden", "i4"),  # 1: what the searcher cannot know is redrawn for each simulation
    ("frozen", "i4"),  # 1: the tree is full, no information set is added
    ("history", "u8"),  # the key of the moves before the root
    ("outcome", "i8"),  # the last outcome of chance
    ("is_new", "i4"),  # whether the present simulation has come to a new information set
    ("chosen", "i8"),  # how many choices it has made
    ("logged", "i8"),  # places of `offered` that it uses
    # The root.
    ("seed", "u8"),
    ("moves", "i8"),  # that led to the root
    ("noise_due", "i4"),  # 1: noise has to be added to the priors
    ("noise_share", "f8"),
    ("noise_alpha", "f8"),  # 0: 10 / legal moves
    ("schedule_due", "i4"),  # 1: a schedule has to be planned
    ("planned", "i8"),  # simulations of the schedule
    ("gumbel_scale", "f8"),
    # State.
    ("rng", "u8"),
    ("size", "i8"),  # nodes in use
    ("capacity", "i8"),
    ("budget", "i8"),  # simulations to run in this call
    ("done", "i8"),  # ... and how many were
    ("gathered", "i8"),  # leaves waiting for an evaluation, in a call that gathers
    ("row", "i8"),  # ... and the row of the batch where they begin
    ("split_after", "i8"),  # in a search by several threads: the visits after which a subtree is divided
    ("floor", "i8"),  # ... the depth of the subtree that this thread has
    ("finished", "i8"),  # ... its simulations there that are not yet counted above
    ("proven", "i8"),  # ... and the shared nodes that it has proven
    ("yields", "i8"),  # ... and for tests: how often it lets others run where threads may meet; 0: never
    ("yielded", "i8"),
    ("streams", "i8"),  # in rounds: leaves evaluated so far, each with a random stream of its own
    ("failed_row", "i8"),  # ... and the leaf of this round whose evaluation has failed
    ("deepest", "i8"),  # in a Python problem: the depth of the deepest node
    ("value_low", "f8"),  # the lowest and highest mean seen anywhere in the tree
    ("value_high", "f8"),
    ("turn", "i8"),  # how far a schedule of the root has come
    ("arms", "i4"),  # anytime sequential halving: moves left in this pass, and where it stands
    ("arm", "i4"),
    ("arm_given", "i4"),
    ("arm_samples", "i4"),
    ("trailed", "i8"),  # moves of the last rollout
    ("blocks", "i8"),  # positions in a graph's table, and how many it may hold before it has to grow
    ("table_capacity", "i8"),
    ("collisions", "i8"),  # equal keys of different positions
    # What went wrong, or whom to ask.
    ("status", "i4"),
    ("ending", "i4"),  # how the present path ended
    ("depth", "i4"),  # how far down the present path goes
    ("culprit", "i8"),  # the number that broke a promise; during an evaluation, the state of the generator before it
    ("bad_value", "f8"),  # the value that did, where it is no whole number
    ("answered", "i4"),  # tie-breaks that the caller has decided for the present simulation
    ("tied", "i4"),  # candidates of the tie that is to be decided
    ("expanded", "i4"),  # 1: the present simulation, which waits for a tie-break, has expanded its leaf
    ("resumed", "i4"),  # the child of the root that it has gone to, or 0
]
"""The fields that belong to no part. `kernels.record` adds those of the parts."""

# First-play urgency.
NO_FPU, FPU_FIXED, FPU_PARENT, FPU_SCALED = 0, 1, 2, 3

# What an evaluation in flight counts as, beside a visit in the exploration term.
NO_VIRTUAL_LOSS, VIRTUAL_LOSS, VIRTUAL_LOSS_FIRST = 0, 1, 2

# What evaluates a leaf inside a kernel.
ROLLOUT, UNIFORM, HEURISTIC = 0, 1, 2

# Who chooses the moves of a rollout.
RANDOM_MOVES, OWN_MOVES, GREEDY_MOVES, SOFTMAX_MOVES = 0, 1, 2, 3

# Who decides between equal scores.
RANDOM, FIRST, ASK = 0, 1, 2

# The two layers of the table of past moves.
SUM, COUNT = 0, 1

# The words that several threads on one tree share, each in a cache line of its own: nodes in use, simulations left,
# whether to stop, and the lock of the proofs above the subtrees of the threads; in rounds, the numbers of the first row
# and of the one after the last, of the next one to evaluate, and how many are evaluated.
SIZE, LEFT, STOP, PROOFS, FIRST_ROW, LAST_ROW, NEXT_ROW, READY = range(0, 64, 8)

# Status: why a kernel came back.
DONE, NEED_CAPACITY, TIE, COLLISION, SOLVED, ASK_ACTIONS, NEED_PATH = 0, 1, 2, 3, 4, 5, 6
FIRST_FAILURE = 10
"""The first of the codes of games that break a promise."""
BAD_PLAYER, BAD_COUNT, BAD_ACTION, BAD_REWARD, TOO_LONG, BAD_SCORE, BAD_CHANCE, BAD_OUTCOME, BAD_VALUE = (
    10,
    11,
    12,
    13,
    14,
    15,
    16,
    17,
    18,
)

NO_CHILD = -2
"""What selection returns where every child is closed: there is nothing to choose."""
BY_RULE = -3
"""What a root rule returns to leave the choice to the selection rule."""


class Work(NamedTuple):
    """The buffers that the kernels work in. Only those marked as kept have a meaning between two calls."""

    path: IntArray
    movers: IntArray
    actions: IntArray
    rewards: FloatArray
    tied: IntArray
    answers: IntArray
    scores: FloatArray
    trail: IntArray
    """Players and actions of the present simulation, the tree's and the rollout's: two rows."""
    trial: FloatArray
    """Rewards of one of several rollouts, or a heuristic's."""
    played: RecordArray
    """For each player a bit set of the actions played so far, seen from the end of the simulation."""
    lookup: IntArray
    """For each player and action the child of the node whose statistics are borrowed."""
    lookup_block: IntArray
    """... and the first child of that node."""
    history: FloatArray
    """Sums and counts of returns for each player and action: kept from call to call."""
    mask: IntArray
    """For each action whether it is searched at the root: kept."""
    gumbel: FloatArray
    """For each child of the root its Gumbel number: kept."""
    logits: FloatArray
    """For each child of the root the logit of its prior: kept."""
    base: IntArray
    """For each child of the root its visits when the schedule began: kept."""
    schedule: IntArray
    """The visits that a child of the root must have to be chosen, turn by turn: kept."""
    arms: IntArray
    """Children of the root that are left in this pass of sequential halving: kept."""
    probabilities: FloatArray
    """Of the outcomes of chance in the present state."""
    steps: FloatArray
    """For each depth the immediate rewards of the step to it."""
    gain: FloatArray
    """What the players have received in the present rollout, and in its last step: two rows."""
    times: IntArray
    """In information-set search: the time of each choice in `path`; simultaneous moves have the same."""
    places: IntArray
    """... which of its set's actions it was,"""
    counts: IntArray
    """... how many could have been chosen,"""
    starts: IntArray
    """... and where in `offered` they are listed; NONE: they are the set's first."""
    offered: IntArray
    joint: np.ndarray[Any, np.dtype[np.int64]]
    """What each player has chosen."""
    vector: FloatArray
    """A continuous action, in a rollout."""
    returned: FloatArray
    """In a search by several threads: the rewards of the simulations in one subtree,"""
    burst_counts: IntArray
    """... for each player and action how many of them played it,"""
    burst_sums: FloatArray
    """... their rewards,"""
    proven: IntArray
    """... and the shared nodes that were proven, each with the player who chose it."""
    sets: IntArray
    """For each player the information set in which it chooses."""
    table: RecordArray
    """In a graph: from a key's lowest bits to the first child of its block: kept."""
    node_movers: IntArray
    """In a Python problem, whose states live in Python, for each node: the player to move, as far as known: kept."""
    node_counts: IntArray
    """... how many children a leaf will have, all with equal priors; 0 where Python has to be asked: kept."""
    node_ends: FloatArray
    """... the rewards of terminal states: kept."""
    node_steps: FloatArray
    """... and the immediate rewards of the step to it; no rows where a problem has none: kept."""
