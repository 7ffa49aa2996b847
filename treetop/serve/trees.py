"""A part of a search tree as plain values: its most visited nodes, so that a tree of any size can be shown."""

from __future__ import annotations

import heapq
import secrets
from collections.abc import Sequence
from typing import Any

from treetop.errors import ConfigError, TreetopError
from treetop.game.position import Position
from treetop.search.search import Search
from treetop.tree.layout import FOLDED, PROVEN, TERMINAL
from treetop.tree.storage import Tree
from treetop.types import CHANCE, ROOT, SIMULTANEOUS

MOST_NODES = 5000
"""Nodes of one answer, at most."""


def subtree(search: Search, path: Sequence[int] = (), most: int = 200) -> dict[str, Any]:
    """Return the `most` most visited nodes below the node that a path of actions leads to, parents first.

    Each node has the number of its parent in the list. Raise ConfigError where the path leaves the tree.

    >>> import treetop as tt
    >>> search = tt.Search("tic_tac_toe", seed=1)
    >>> _ = search.run(tt.Limit(simulations=500))
    >>> found = subtree(search, (), 10)
    >>> len(found["nodes"]), found["nodes"][0]["visits"], found["nodes"][1]["move"]
    (10, 500, 'b2')
    """
    tree, index, names = search.tree, ROOT, list[str]()
    position: Position | None = _known(search)
    for action in path:
        index = child_of(tree, index, action)
        names.append(move_name(position, action))
        position = position_after(position, action)
    nodes = list[dict[str, Any]]()
    waiting: list[tuple[int, int, int, int, Position | None, Position | None]] = [(0, 0, index, -1, None, position)]
    number = 0
    while waiting and len(nodes) < most:
        _, _, node, parent, before, known = heapq.heappop(waiting)
        here = known if known is not None else position_after(before, int(tree.columns.links["action"][node]))
        nodes.append(_node(tree, node, parent, before, here))
        link = tree.columns.links[node]
        first, count = int(link["first_child"]), int(link["num_children"])
        visits = tree.columns.stats["visits"][first : first + count].tolist() if count else []
        for offset, seen in enumerate(visits):
            if seen > 0:
                number += 1
                heapq.heappush(waiting, (-seen, number, first + offset, len(nodes) - 1, here, None))
    return {"path": list(path), "moves": names, "nodes": nodes, "size": tree.size, "left": len(waiting)}


def _known(search: Search) -> Position:
    """Return the position of the root, or where a node is not one position, a determinization of it: its names of moves
    say nothing of what is hidden from the player.
    """
    position: Position = search.position
    hidden = search.begins_anew and position.game.has("determinize")
    return position.determinize(search.player, secrets.randbits(32)) if hidden else position


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
        "move": "" if parent < 0 else move_name(before, action),
        "visits": visits,
        "value": value,
        "prior": abs(float(stats["prior"])),
        "children": int(link["num_children"]),
        "player": _player(here),
        "terminal": bool(flags & TERMINAL),
        "proven": bool(flags & PROVEN),
        "folded": bool(flags & FOLDED),
    }


def _player(position: Position | None) -> int | str | None:
    if position is None or position.is_terminal:
        return None
    return {CHANCE: "chance", SIMULTANEOUS: "simultaneous"}.get(position.player, position.player)


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
