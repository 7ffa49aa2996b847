"""A part of a search tree as plain values: its most visited nodes, so that a tree of any size can be shown."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import Any

from treetop import checks
from treetop.errors import ConfigError, StaleNodeError, TreetopError
from treetop.game.position import Position
from treetop.search.problems.position import ProblemPosition
from treetop.search.result import SearchResult
from treetop.search.search import Search
from treetop.text import vector_text
from treetop.tree.layout import FOLDED, PROVEN, TERMINAL
from treetop.tree.storage import Tree
from treetop.types import CHANCE, ROOT, SIMULTANEOUS

MOST_NODES = 5000
"""Nodes of one answer, at most."""


def subtree(search: Search | SearchResult, path: Sequence[int] = (), most: int = 200) -> dict[str, Any]:
    """Return the `most` most visited nodes below the node that a path of actions leads to, parents first.

    Each node has the number of its parent in the list. Raise ConfigError where the path leaves the tree. With imperfect
    information only the moves of the root are there: what follows them would show what is hidden. In a graph, what
    follows a position stands below the most visited node that leads there; the other ones are `shared`.

    >>> import treetop as tt
    >>> search = tt.Search("tic_tac_toe", seed=1)
    >>> _ = search.run(tt.Limit(simulations=500))
    >>> found = subtree(search, (), 10)
    >>> len(found["nodes"]), found["nodes"][0]["visits"], found["nodes"][1]["move"]
    (10, 500, 'b2')
    """
    tree, position = search.tree, search.position
    hidden = tree.has_information_sets or position.game.has("determinize")
    index, names = ROOT, list[str]()
    for action in path:
        index = child_of(tree, index, action)
        names.append(_name(tree, index, position))
        position = None if hidden else position_after(position, action)
    nodes = list[dict[str, Any]]()
    waiting: list[tuple[int, int, int, int, Position | None, Position | None]] = [(0, 0, index, -1, None, position)]
    number, opened = 0, set[int]()
    while waiting and len(nodes) < most:
        _, _, node, parent, before, known = heapq.heappop(waiting)
        here = known
        if here is None and not hidden:
            here = position_after(before, int(tree.columns.links["action"][node]))
        nodes.append(_node(tree, node, parent, before, here))
        link = tree.columns.links[node]
        first, count = int(link["first_child"]), int(link["num_children"])
        nodes[-1]["shared"] = count > 0 and first in opened
        if nodes[-1]["shared"] or (hidden and node != ROOT):
            continue
        opened.add(first)
        visits = tree.columns.stats["visits"][first : first + count].tolist() if count else []
        for offset, seen in enumerate(visits):
            if seen > 0:
                number += 1
                heapq.heappush(waiting, (-seen, number, first + offset, len(nodes) - 1, here, None))
    game = search.position.game
    low, high = game.facts.value_range(step_rewards=game.has("step_rewards"))
    return {
        "path": list(path), "moves": names, "nodes": nodes, "size": tree.size, "left": len(waiting),
        "range": [low, high],
    }  # fmt: skip


def tree_of(result: SearchResult, most: int) -> dict[str, Any]:
    """Return the `most` most visited nodes of the tree of a result, as `subtree` does.

    Raise StaleNodeError after the search has continued, and ConfigError where the trees are not here.

    >>> import treetop as tt
    >>> len(tree_of(tt.search("tic_tac_toe", simulations=500, seed=1), 10)["nodes"])
    10
    """
    checks.whole("nodes", most, 1, MOST_NODES)
    if result.merged is not None:
        raise ConfigError("a result that was merged from several searches has no tree: search without workers")
    if not result.has_tree:
        raise StaleNodeError(
            "the search has continued, so the tree is no longer that of this result: draw it before the next run or "
            "move, or take a new result"
        )
    return subtree(result, (), most)


def child_of(tree: Tree, index: int, action: int) -> int:
    """Return the index of the child that an action leads to; raise ConfigError where there is none."""
    link = tree.columns.links[index]
    first, count = int(link["first_child"]), int(link["num_children"])
    actions = tree.columns.links["action"][first : first + count].tolist() if count else []
    if action not in actions:
        raise ConfigError(f"the tree has no node after the action {action!r} there")
    return first + actions.index(action)


def _node(tree: Tree, index: int, parent: int, before: Position | None, here: Position | None) -> dict[str, Any]:
    stats, link = tree.columns.stats[index], tree.columns.links[index]
    visits, flags = int(stats["visits"]), int(link["flags"])
    action = int(link["action"])
    value = float(stats["value_sum"]) / visits if visits and index != ROOT else None
    return {
        "parent": parent,
        "action": action,
        "move": "" if parent < 0 else _name(tree, index, before),
        "visits": visits,
        "value": value,
        "deviation": _deviation(tree, index, visits, value),
        "prior": abs(float(stats["prior"])),
        "children": int(link["num_children"]),
        "player": None if flags & TERMINAL else player_of(here, index),
        "terminal": bool(flags & TERMINAL),
        "proven": bool(flags & PROVEN),
        "folded": bool(flags & FOLDED),
    }


def _deviation(tree: Tree, index: int, visits: int, value: float | None) -> float | None:
    """Return the standard deviation of the results at a node; None where the search keeps no squares."""
    squares = tree.columns.squares
    if value is None or not len(squares):
        return None
    return math.sqrt(max(0.0, float(squares[index]) / visits - value**2))


def player_of(position: Position | ProblemPosition | None, index: int = ROOT) -> int | str | None:
    """Return the player to move, chance or simultaneous; None at the end of a game, or where it is not known.

    The one position of a Python problem stands for all nodes: `index` is the node.
    """
    if isinstance(position, ProblemPosition):
        player = position.player if index == ROOT else position.play([index]).player
    elif position is None or position.is_terminal:
        return None
    else:
        player = position.player
    return {CHANCE: "chance", SIMULTANEOUS: "simultaneous"}.get(player, player)


def _name(tree: Tree, index: int, before: Position | None) -> str:
    """Return the text of the action that leads to a node."""
    if len(tree.columns.action_values):
        return vector_text(tree.columns.action_values[index])
    return move_name(before, int(tree.columns.links["action"][index]))


def position_after(position: Position | None, action: int) -> Position | None:
    """Return the position after an action; None where a node is not one position, as with information sets."""
    try:
        return None if position is None else position.apply(action)
    except TreetopError:
        return None


def move_name(position: Position | None, action: int) -> str:
    """Return the text of an action; its number where the position is not known."""
    try:
        return str(action) if position is None else position.move_text(action)
    except TreetopError:
        return str(action)
