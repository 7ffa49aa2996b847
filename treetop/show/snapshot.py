"""Everything that a page or a widget shows of a result, as plain values."""

from __future__ import annotations

import json
from typing import Any

from treetop.game.position import Position
from treetop.search.explain import finite
from treetop.search.result import SearchResult
from treetop.show.trees import tree_of
from treetop.show.views import analysis_view, game_title, position_view
from treetop.types import SIMULTANEOUS

_MOST_NODES = 2000
_MOST_MOVES = 500
_MOST_CHARACTERS = 700_000  # of a snapshot, so that a page stays below 1 MB
_LONGEST_TEXT = 20_000


def snapshot_of(result: SearchResult) -> dict[str, Any]:
    """Return the position, the analysis and the tree of a result, without what is hidden from its player.

    The tree has at most 2,000 nodes, or fewer where their texts are long; None after the search has continued.

    >>> import treetop as tt
    >>> found = snapshot_of(tt.search("tic_tac_toe", simulations=500, seed=1))
    >>> found["position"]["player"], found["analysis"]["move"], len(found["tree"]["nodes"])
    (0, 'b2', 500)
    """
    analysis = analysis_view(result)
    moves = analysis["moves"]
    found = {
        "game": game_title(result),
        "position": _position(result),
        "analysis": {**analysis, "moves": moves[:_MOST_MOVES], "left": max(0, len(moves) - _MOST_MOVES)},
        "tree": None,
        "elapsed": result.elapsed,
    }
    cleaned: dict[str, Any] = plain_values(found)
    if not result.has_tree:
        return cleaned
    space = _MOST_CHARACTERS - len(json.dumps(cleaned))
    tree = plain_values(tree_of(result, _MOST_NODES))
    while len(tree["nodes"]) > 1 and len(json.dumps(tree)) > space:
        kept = len(tree["nodes"]) // 2
        tree |= {"nodes": tree["nodes"][:kept], "left": tree["left"] + len(tree["nodes"]) - kept}
    return cleaned | {"tree": tree}


def _position(result: SearchResult) -> dict[str, Any]:
    """Return the position as its player knows it; that of a Python problem as its own text."""
    position: Any = result.position
    if isinstance(position, Position):
        # The name of a user's game may be the path of a file.
        return position_view(position, _viewer(result)) | {"game": game_title(result)}
    text = str(position)[:_LONGEST_TEXT]
    legal = [
        {"action": int(number), "move": result.name_of(index), "path": []}
        for index, number in enumerate(result.numbers[:_MOST_MOVES])
    ]
    return {
        "game": position.game.name, "players": position.game.facts.players, "player": position.player,
        "moves": position.moves(), "ply": len(position.actions), "over": False, "returns": None, "legal": legal,
        "board": [{"kind": "text", "text": text}], "text": text,
    }  # fmt: skip


def _viewer(result: SearchResult) -> int | None:
    """Return the player whose information is shown; None where everything is open."""
    game = result.position.game
    closed = any(game.has(method) for method in ("determinize", "board_for", "render_for"))
    return result.player if closed or result.position.player == SIMULTANEOUS else None


def plain_values(value: Any) -> Any:
    """Return a value with None in place of NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {key: plain_values(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(one) for one in value]
    return finite(value)
