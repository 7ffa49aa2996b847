"""Checks of a search from a file before a kernel reads it: compiled code checks no index, so they are checked here."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.compiler.rng import Rng
from treetop.errors import SaveError, TreetopError
from treetop.game.position import Position
from treetop.kernels.replay import Moves, find_illegal
from treetop.search.drivers.tree import TreeDriver
from treetop.tree.layout import BOUNDED, OPTIONAL, PROVEN, SHARED
from treetop.tree.storage import Tree
from treetop.types import NONE, ROOT

_MOST_VISITS = 2 * 10**9  # more visits could overflow when the search continues
_MOST_STREAMS = 2**62
_TRIALS = 8
_SMALL = 10_000  # up to this many expanded nodes a tree is checked without compiling its game
_KEPT_STATE = (
    "rng",
    "value_low",
    "value_high",
    "turn",
    "planned",
    "arms",
    "arm",
    "arm_given",
    "arm_samples",
    "blocks",
    "collisions",
    "masked",
    "paranoid_target",
    "streams",
)
"""The fields of the control record that are not settings, which follow from the header."""


def require(condition: object, what: str) -> None:
    """Raise SaveError unless a condition holds."""
    if not condition:
        raise SaveError(what)


def check_position(position: Position, root: npt.NDArray[Any]) -> None:
    """Raise SaveError if the moves do not lead from the start to the root, or the game cannot be played from there."""
    game = position.game
    require(position.record.tobytes() == root.tobytes(), "its moves do not lead to its position")
    start = Position(game, position.start)
    if start.record.tobytes() == Position(game).record.tobytes():
        return
    try:  # any other start is accepted if interpreted games, which check every index, can be played from it
        for trial in range(_TRIALS):
            at, rng = position, Rng(trial)
            for _ in range(game.facts.max_length + 1):
                if at.is_terminal:
                    break
                at = at.resolve_chance(rng)
                legal = at.legal_actions()
                if not legal:
                    break
                at = at.apply(legal[rng.below(len(legal))])
    except TreetopError as error:
        raise SaveError(f"its position is not one of {game.name}: {str(error).splitlines()[0]}") from error


def restore_tree(tree: Tree, arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Restore the arrays of a tree; raise SaveError unless each has the type and the length that the settings need."""
    size = len(arrays["stats"])
    for name in (*(name for name in OPTIONAL if name != "in_flight" and tree.has(name)), "totals"):
        current = tree.totals if name == "totals" else getattr(tree.columns, name)
        shape = current.shape if name == "totals" else (size, *current.shape[1:])
        require(name in arrays, f"it lacks {name}")
        require(
            arrays[name].dtype == current.dtype and arrays[name].shape == shape, f"its {name} do not fit its settings"
        )
    tree.restore(
        arrays["stats"],
        arrays["links"],
        {name: arrays[name] for name in OPTIONAL if name != "in_flight" and tree.has(name)},
    )
    tree.totals[:] = arrays["totals"]


def check_tree(tree: Tree) -> None:
    """Raise SaveError for errors that `Tree.check` does not look for, because kernels do not make them."""
    columns, size = tree.columns, tree.size
    stats, links = columns.stats[:size], columns.links[:size]
    require(np.all(stats["visits"] < _MOST_VISITS), "it has more visits than can be counted")
    require(np.all(np.isfinite(tree.totals)), "a value of its root is not finite")
    for name in ("returns", "squares", "vectors"):
        require(np.all(np.isfinite(getattr(columns, name)[1:size])), f"its {name} are not finite")
    if len(columns.amaf):
        amaf = columns.amaf[1:size]
        require(
            np.all(np.isfinite(amaf["value_sum"])) and np.all(amaf["visits"] >= 0),
            "its statistics of all moves as first are invalid",
        )
        require(
            np.all(amaf["action"] == links["action"][1:]), "its statistics of all moves as first belong to other moves"
        )
    if not len(columns.bounds):
        require(
            not np.any(links["flags"] & (BOUNDED | PROVEN)) and np.all(stats["prior"] >= 0),
            "it has proofs, but its settings have no solver",
        )
    if tree.is_graph:
        shared = (links["flags"] & SHARED) > 0
        require(np.all(links["num_children"][shared] > 0), "an edge shares the children of no position")


def restore_driver(driver: TreeDriver, saved: npt.NDArray[Any], kept: dict[str, npt.NDArray[Any]]) -> None:
    """Restore what the kernels keep between calls; raise SaveError where it does not fit the tree."""
    control, links, size = driver.control, driver.tree.columns.links, driver.tree.size
    for name in _KEPT_STATE:
        control[name] = saved[name]
    state, children, players = control[0], int(links["num_children"][ROOT]), driver.game.facts.players
    require(
        state["masked"] in (0, 1) and NONE <= state["paranoid_target"] < players and 0 <= state["blocks"] <= size,
        "its control record is invalid",
    )
    require(
        state["turn"] >= 0
        and state["collisions"] >= 0
        and 0 <= state["streams"] <= _MOST_STREAMS
        and not np.isnan(state["value_low"])
        and not np.isnan(state["value_high"]),
        "its control record is invalid",
    )
    arms = int(state["arms"])
    require(
        0 <= arms <= children
        and 0 <= state["arm"] <= max(arms, children)
        and state["arm_given"] >= 0
        and state["arm_samples"] >= 0,
        "its schedule of the root is invalid",
    )
    driver.restore(kept)
    work = driver.scratch.work
    require(0 <= state["planned"] <= len(work.schedule), "its schedule of the root is invalid")
    require(
        np.all((work.arms[:arms] >= 0) & (work.arms[:arms] < max(children, 1))), "its schedule of the root is invalid"
    )
    require(
        np.all((work.mask == 0) | (work.mask == 1))
        and np.all(np.isfinite(work.history))
        and np.all(np.isfinite(work.gumbel))
        and np.all(np.isfinite(work.logits)),
        "its buffers hold invalid numbers",
    )
    if driver.tree.is_graph:
        _check_table(driver)


def _check_table(driver: TreeDriver) -> None:
    """Raise SaveError unless each entry of a graph's table is the index of a block with the upper half of its key."""
    tree, table = driver.tree, driver.scratch.work.table
    links = tree.columns.links[: tree.size]
    owners = (links["num_children"] > 0) & ((links["flags"] & SHARED) == 0)
    entries = table[table != 0]
    places = (entries & np.uint64(2**32 - 1)).astype(np.int64)
    require(np.all(np.isin(places, links["first_child"][owners])), "its table of positions points to other nodes")
    require(
        np.all(entries >> np.uint64(32) == tree.columns.keys[places] >> np.uint64(32)),
        "its table of positions points to other nodes",
    )
    bound = driver.plan.table_size
    driver.control["table_capacity"] = len(table) // 2 if len(table) < bound else np.iinfo(np.int64).max


def check_moves(driver: TreeDriver) -> None:
    """Raise SaveError unless every child in the tree is a legal move."""
    game, tree = driver.game, driver.tree
    links, depth = tree.columns.links[: tree.size], game.facts.max_length + 2
    action, first_child, num_children, flags = (
        links[name].astype(np.int64) for name in ("action", "first_child", "num_children", "flags")
    )
    moves = Moves(action, first_child, num_children, flags, tree.columns.keys[: tree.size])
    states = np.zeros(depth, game.dtype)
    states[0] = driver.position.record[0]
    buffers = (np.zeros(game.facts.most_children, np.int32), np.zeros(game.facts.num_outcomes or 0))
    small = np.count_nonzero(moves.num_children) <= _SMALL
    walk = functools.partial(find_illegal, game) if small else game.engine(bounds_checked=True).entry(find_illegal)
    try:
        with np.errstate(over="ignore"):
            node = int(walk(moves, *buffers, states, np.zeros(depth, np.int64), np.zeros(depth, np.int64)))
    except TreetopError:
        raise
    except Exception as error:
        raise SaveError(f"its moves break the rules of {game.name}: {type(error).__name__}: {error}") from error
    require(node == NONE, f"the moves of its node {node} are not legal there")
