"""The one record through which Python and the kernels talk: settings in, progress out. Choices are numbers, so that a game compiles once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treetop.types import FloatArray, IntArray, RecordArray

CONTROL = np.dtype(
    [
        # Settings of every search.
        ("rule", "i4"),
        ("evaluator", "i4"),
        ("tie_break", "i4"),
        ("expand_after", "i4"),  # visits that a leaf needs before it is expanded
        ("max_depth", "i4"),
        ("max_length", "i4"),  # the game's own bound on its length
        ("num_actions", "i4"),
        ("players", "i4"),
        ("num_outcomes", "i4"),
        ("most_children", "i4"),  # that one expansion can make
        ("c", "f8"),
        ("c_base", "f8"),  # 0: c is constant; else AlphaZero's schedule ln((1 + N + c_base) / c_base) + c
        ("first_play", "f8"),  # the value assumed of a move that nobody has tried
        ("middle", "f8"),  # of the utility range
        ("low", "f8"),  # the utility range
        ("high", "f8"),
        ("least_value", "f8"),  # what an evaluation may be, with a little slack
        ("greatest_value", "f8"),
        ("solver", "i4"),  # 1: proofs are kept and used
        # Settings of the rich build.
        ("schedule", "i4"),  # how c grows
        ("c_log", "f8"),
        ("variance_scale", "f8"),  # how far PUCT's bonus follows the spread of the values; 0: not at all
        ("first_play_rule", "i4"),
        ("first_play_reduction", "f8"),
        ("backup", "i4"),
        ("minimax_share", "f8"),  # of the best child in a mixed backup, or of the heuristic in implicit minimax
        ("discount", "f8"),
        ("normalise", "i4"),
        ("virtual", "i4"),  # what an evaluation in flight counts as
        ("virtual_until", "i4"),
        ("widening", "f8"),  # 0: all moves at once; else the factor k of k * N ** widening_power
        ("widening_power", "f8"),
        ("history_weight", "f8"),
        ("amaf_reference", "i4"),  # a node with more visits looks at its own statistics, others at an ancestor's
        ("amaf_bias", "f8"),
        ("amaf_k", "f8"),  # above 0: the hand-made schedule sqrt(k / (3 N + k)) instead of the bias
        ("completed_visits", "f8"),  # c_visit and c_scale of completed values
        ("completed_scale", "f8"),
        ("heuristic_prior", "f8"),  # 0: equal priors; else the temperature of a softmax over the children's heuristics
        ("rollout_policy", "i4"),
        ("rollout_count", "i4"),
        ("rollout_depth", "i4"),  # moves after which the heuristic takes over
        ("rollout_weight", "f8"),  # of the rollouts, beside another evaluation
        ("rollout_epsilon", "f8"),
        ("rollout_temperature", "f8"),
        ("keeps_history", "i4"),
        # Settings of the root.
        ("root_rule", "i4"),
        ("masked", "i4"),  # 1: only the moves marked in `mask` are looked at
        ("forced_playouts", "f8"),
        # Settings of games with chance, with rewards on the way, or with more than two players.
        ("on_the_way", "i4"),  # 1: there are rewards on the way
        (
            "chance_expected",
            "i4",
        ),  # 1: what goes up from chance is the sum over its outcomes, not the one that was drawn
        ("chance_widening", "f8"),  # 0: any outcome may come; else the factor k of k * N ** widening_power
        ("hunted", "i4"),  # the player against whom all others play; NONE: everybody plays for himself
        # Settings of searches over what players see.
        ("observers", "i4"),  # 1: a view is what the player who moves has seen; 0: what the searcher has
        ("searcher", "i4"),
        ("hidden", "i4"),  # 1: what the searcher cannot know is redrawn for each simulation
        ("open_loop", "i4"),  # 1: what chance did is not seen
        ("regret_mix", "f8"),  # how often regret matching tries any action at all
        ("frozen", "i4"),  # 1: the tree is full, no view is added
        ("history", "u8"),  # the key of the moves before the root
        ("lot", "i8"),  # what chance did last
        ("fresh", "i4"),  # whether the present simulation has come to a new view
        ("logged", "i8"),  # places of `offered` that it uses
        # Settings of a graph.
        ("repetition", "f8"),  # what a position that returns on its own path is worth, in zero-sum games to player 0
        # State.
        ("rng", "u8"),
        ("size", "i8"),  # nodes in use
        ("capacity", "i8"),
        ("budget", "i8"),  # simulations to run in this call
        ("done", "i8"),  # ... and how many were
        ("gathered", "i8"),  # leaves waiting for an evaluation, in a call that gathers
        ("value_low", "f8"),  # the lowest and highest mean seen anywhere in the tree
        ("value_high", "f8"),
        ("turn", "i8"),  # how far a schedule of the root has come
        ("arms", "i4"),  # anytime sequential halving: moves left in this pass, and where it stands
        ("arm", "i4"),
        ("arm_given", "i4"),
        ("arm_samples", "i4"),
        ("trailed", "i8"),  # moves of the last rollout
        ("blocks", "i8"),  # positions in a graph's table, and how many it may hold before it has to grow
        ("table_room", "i8"),
        ("collisions", "i8"),  # equal keys of different positions
        # What went wrong, or whom to ask.
        ("status", "i4"),
        ("ending", "i4"),  # how the present path ended
        ("depth", "i4"),  # how far down the present path goes
        ("culprit", "i8"),  # the number that broke a promise; during an evaluation, where the generator stood before it
        ("bad_value", "f8"),  # the value that did, where it is no whole number
        ("answered", "i4"),  # tie-breaks that the caller has decided for the present simulation
        ("tied", "i4"),  # candidates of the tie that is to be decided
        ("expanded", "i4"),  # 1: the present simulation, which waits for a tie-break, has expanded its leaf
        ("resumed", "i4"),  # the child of the root that it has gone to, or 0
    ]
)

# Selection rules. Those from TUNED on need the rich build, RAVE one with statistics of all moves as first.
UCB1, PUCT, TUNED, UCBV, THOMPSON, BLIND, HISTORY, COMPLETED, CUSTOM, RAVE, REGRET = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10

# How PUCT's c grows with the visits.
CONSTANT, ALPHAZERO, KATAGO, DIVIDED = 0, 1, 2, 3

# What is assumed of a move that nobody has tried.
FIRST_PLAY_NONE, FIRST_PLAY_FIXED, FIRST_PLAY_PARENT, FIRST_PLAY_SCALED = 0, 1, 2, 3

# How values go up.
MEAN, MIXED, IMPLICIT = 0, 1, 2

# What an evaluation in flight counts as.
WATCH, LOSS, LOSS_THEN_WATCH = 0, 1, 2

# Who chooses at the root, if not the rule.
AS_BELOW, GUMBEL, HALVING = 0, 1, 2

# What evaluates a leaf inside a kernel.
ROLLOUT, UNIFORM, HEURISTIC = 0, 1, 2

# Who chooses the moves of a rollout.
RANDOM_MOVES, OWN_MOVES, GREEDY_MOVES, SOFTMAX_MOVES = 0, 1, 2, 3

# Who decides between equal scores.
RANDOM, FIRST, ASK = 0, 1, 2

# Status: why a kernel came back.
DONE, NEED_ROOM, TIE, COLLISION, SOLVED = 0, 1, 2, 3, 4
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
"""What selection gives where every child is closed: there is nothing to choose."""


class Work(NamedTuple):
    """The buffers that the kernels work in: made once a search, of no meaning between two calls save where it says so."""

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
    """For each action whether it may be looked at at the root: kept."""
    gumbel: FloatArray
    """For each child of the root its Gumbel number: kept."""
    base: IntArray
    """For each child of the root its visits when the schedule began: kept."""
    schedule: IntArray
    """The visits that a child of the root must have to be chosen, turn by turn: kept."""
    arms: IntArray
    """Children of the root that are left in this pass of sequential halving: kept."""
    probabilities: FloatArray
    """Of the outcomes of chance in the present state."""
    steps: FloatArray
    """For each depth what the players received on the way there."""
    gain: FloatArray
    """What the players have received in the present rollout, and in its last step: two rows."""
    times: IntArray
    """Of views: when each choice of `path` was made; several are at once where players choose at once."""
    places: IntArray
    """... which of its view's actions it was,"""
    counts: IntArray
    """... how many could have been chosen,"""
    starts: IntArray
    """... and where in `offered` they are listed; NONE: they are the view's first."""
    offered: IntArray
    joint: np.ndarray[Any, np.dtype[np.int64]]
    """What each player has chosen."""
    vector: FloatArray
    """An action of real numbers, in a rollout."""
    views: IntArray
    """For each player the view in which it chooses."""
    table: RecordArray
    """In a graph: from a key's lowest bits to the first child of its block: kept."""
