"""Everything that a page or a widget shows of a result, as plain values."""

from __future__ import annotations

import json
from typing import Any

from treetop.game.position import Position
from treetop.search.explain import finite
from treetop.search.result import SearchResult
from treetop.show.trees import tree_of
from treetop.show.views import analysis_view, game_title, position_view, shows_players_differently
from treetop.types import SIMULTANEOUS

_MOST_NODES = 2000
_MOST_MOVES = 500
_MOST_CHARACTERS = 700_000  # of a snapshot, so that a page stays below 1 MB
_LONGEST_TEXT = 10_000


def snapshot_of(result: SearchResult) -> dict[str, Any]:
    """Return the position, the analysis and the tree of a result, without what is hidden from its player.

    The tree has at most 2,000 nodes, or fewer where their texts are long; None after the search has continued.

    >>> import treetop as tt
    >>> found = snapshot_of(tt.search("tic_tac_toe", simulations=500, seed=1))
    >>> found["position"]["player"], found["analysis"]["move"], len(found["tree"]["nodes"])
    (0, 'b2', 500)
    """
    analysis = plain_values(analysis_view(result))
    moves = _fitting(analysis["moves"][:_MOST_MOVES], _MOST_CHARACTERS // 2)
    position, named = plain_values(_position(result)), {one["move"] for one in moves}
    found: dict[str, Any] = {
        "game": game_title(result),
        "position": {**position, "legal": [one for one in position["legal"] if one["move"] in named]},
        "analysis": {**analysis, "moves": moves, "left": len(analysis["moves"]) - len(moves)},
        "tree": None,
        "elapsed": result.elapsed,
    }
    if not result.has_tree:
        return found
    tree = plain_values(tree_of(result, _MOST_NODES))
    nodes = _fitting(tree["nodes"], _MOST_CHARACTERS - len(json.dumps(found)))
    return found | {"tree": {**tree, "nodes": nodes, "left": tree["left"] + len(tree["nodes"]) - len(nodes)}}


def _fitting(rows: list[Any], space: int) -> list[Any]:
    """Return the first rows, as many as fit into a number of characters of JSON, but at least one."""
    while len(rows) > 1 and len(json.dumps(rows)) > space:
        rows = rows[: len(rows) // 2]
    return rows


def _position(result: SearchResult) -> dict[str, Any]:
    """Return the position as its player knows it; that of a Python problem as its own text."""
    position: Any = result.position
    if isinstance(position, Position):
        # The name of a user's game may be the path of a file.
        return position_view(position, _viewer(result)) | {"game": game_title(result)}
    text = str(position)
    legal = [
        {"action": int(number), "move": result.name_of(index), "path": []}
        for index, number in enumerate(result.numbers)
    ]
    return {
        "game": position.game.name, "players": position.game.facts.players, "player": position.player,
        "moves": position.moves(), "ply": len(position.actions), "over": False, "returns": None, "legal": legal,
        "board": [{"kind": "text", "text": text}], "text": text,
    }  # fmt: skip


def _viewer(result: SearchResult) -> int | None:
    """Return the player whose information is shown; None where everything is open."""
    closed = shows_players_differently(result.position.game)
    return result.player if closed or result.position.player == SIMULTANEOUS else None


def plain_values(value: Any) -> Any:
    """Return a value with None in place of NaN and infinity, which JSON does not have, and long texts shortened."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else f"{value[: _LONGEST_TEXT - 1]}…"
    if isinstance(value, dict):
        return {key: plain_values(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(one) for one in value]
    return finite(value)
