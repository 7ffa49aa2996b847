"""Positions and results as plain values, with the field names of the analysis protocol."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treetop.game.boards import Picture
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.search.explain import finite
from treetop.search.result import SearchResult
from treetop.search.variations import Line
from treetop.show.decisions import decisions
from treetop.types import CHANCE, SIMULTANEOUS, FloatArray

_NAMES = {CHANCE: "chance", SIMULTANEOUS: "simultaneous"}
Z = 1.96
"""Standard errors from a mean to the ends of its 95% interval: one value of 40 lies below it."""


def position_view(position: Position, viewer: int | None = None) -> dict[str, Any]:
    """Return a position as plain values; with `viewer`, without what is hidden from that player.

    >>> import treetop as tt
    >>> view = position_view(tt.position("tic_tac_toe", moves="b2"))
    >>> view["player"], view["moves"], view["legal"][0]
    (1, ['b2'], {'action': 0, 'move': 'a1', 'path': ['a1']})
    """
    picture = position.picture(viewer)
    over = position.is_terminal
    return {
        "game": position.game.source or position.game.name,
        "players": position.game.facts.players,
        "player": None if over else _NAMES.get(position.player, position.player),
        "moves": position.moves() if viewer is None or not shows_players_differently(position.game) else [],
        "ply": len(position.actions),
        "over": over,
        "returns": [float(value) for value in position.returns] if over else None,
        "legal": [] if over else _legal(position, picture, viewer),
        "board": picture.to_dict(),
        "text": str(position) if viewer is None else position.shown_to(viewer),
    }


def shows_players_differently(game: Game) -> bool:
    """Return whether a game shows its players different things, so that something of a position may be hidden.

    >>> import treetop as tt
    >>> [shows_players_differently(tt.load_game(name)) for name in ("kuhn_poker", "tic_tac_toe")]
    [True, False]
    """
    return any(game.has(method) for method in ("determinize", "board_for", "render_for"))


def _legal(position: Position, picture: Picture, viewer: int | None) -> list[dict[str, Any]]:
    """Return the legal moves with the names that are touched to make them; of chance with their probabilities."""
    if position.is_continuous:
        return []
    if position.player == CHANCE:
        return [
            {"action": int(outcome), "move": position.move_text(outcome), "path": [], "probability": float(share)}
            for outcome, share in position.outcomes()
        ]
    seat = (viewer or 0) if position.player == SIMULTANEOUS else None
    names = position.legal_moves(seat)
    return [
        {"action": int(action), "move": name, "path": picture.path(name)}
        for action, name in zip(position.legal_actions(seat), names, strict=True)
    ]


def win_rate(position: Position, value: float) -> float:
    """Return a value as a number from 0 to 1: 0 is the worst result of the game, 1 the best.

    >>> import treetop as tt
    >>> win_rate(tt.position("connect_four"), 0.5)
    0.75
    """
    low, high = value_range(position)
    return min(1.0, max(0.0, (value - low) / (high - low)))


def game_title(result: SearchResult) -> str:
    """Return the name of the game of a result: that of a bundled game as it is written in commands.

    >>> import treetop as tt
    >>> game_title(tt.search("nim(stones=5)", simulations=10, seed=1))
    'nim(stones=5)'
    """
    game: Any = result.position.game
    return str(game.source if getattr(game, "is_bundled", False) and game.source else game.name)


def value_range(position: Position) -> tuple[float, float]:
    """Return the least and the greatest value of a game."""
    game = position.game
    return game.facts.value_range(step_rewards=game.has("step_rewards"))


def standard_errors(result: SearchResult) -> FloatArray:
    """Return the standard error of each mean; NaN without visits.

    Where the search keeps no squares, the standard deviation is taken as half the range of values, its upper bound.
    """
    low, high = value_range(result.position)
    deviations = np.where(np.isnan(result.deviations), (high - low) / 2.0, result.deviations)
    counts = result.counts.astype(np.float64)
    return deviations / np.sqrt(np.where(counts > 0, counts, math.nan))


def move_infos(result: SearchResult, most: int | None = None) -> list[dict[str, Any]]:
    """Return what a search has found of each move, the best first, from the viewpoint of the player to move.

    >>> import treetop as tt
    >>> infos = move_infos(tt.search("tic_tac_toe", simulations=500, seed=1))
    >>> infos[0]["move"], infos[0]["order"], sorted(infos[0])[:4]
    ('b2', 0, ['edgeVisits', 'lcb', 'move', 'order'])
    """
    position, chosen = result.position, result.chosen
    order = sorted(range(len(result.counts)), key=lambda index: (index != chosen, -int(result.counts[index])))[:most]
    low, _ = value_range(position)
    errors, with_priors = Z * standard_errors(result), bool(result.priors.any())
    found = []
    for place, index in enumerate(order):
        visits, mean = int(result.counts[index]), float(result.clipped_means[index])
        name, value = result.name_of(index), mean if visits else None
        lower = None if value is None else max(low, value - float(errors[index]))
        line = _variation(result, index) if visits or place == 0 else (name,)
        found.append(
            {
                "move": name,
                "order": place,
                "visits": visits,
                "edgeVisits": visits,
                "prior": finite(float(result.priors[index])) if with_priors else None,
                "utility": value,
                "winrate": None if value is None else win_rate(position, value),
                "lcb": None if lower is None else win_rate(position, lower),
                "utilityLcb": lower,
                "pv": list(line),
                **_proven(result, index),
            }
        )
    return found


def _variation(result: SearchResult, index: int) -> tuple[str, ...]:
    """Return the moves that are expected after a move; only itself where they depend on hidden information."""
    hidden = result.tree.has_information_sets or result.position.game.has("determinize")
    if not hidden and (result.has_tree or result.merged is not None):
        return Line.of(result, index).moves
    return tuple(result.pv) if not hidden and index == result.chosen else (result.name_of(index),)


def _proven(result: SearchResult, index: int) -> dict[str, Any]:
    if result.lower is None or result.upper is None:
        return {}
    low, high = float(result.lower[index]), float(result.upper[index])
    return {"bounds": [low, high]} | ({"proven": low} if low == high else {})


def root_info(result: SearchResult) -> dict[str, Any]:
    """Return what a search has found of the position.

    >>> import treetop as tt
    >>> root_info(tt.search("nim(stones=5)", simulations=100, seed=1))["currentPlayer"]
    0
    """
    return {
        "currentPlayer": result.player,
        "visits": result.root_visits,
        "utility": result.value,
        "winrate": win_rate(result.position, result.value),
        **({} if result.proof is None else {"proven": result.proof.to_dict()}),
    }


def analysis_view(result: SearchResult) -> dict[str, Any]:
    """Return everything that the page shows of a search: all moves with the terms of the formula, and the reasons.

    >>> import treetop as tt
    >>> view = analysis_view(tt.search("nim(stones=5)", simulations=500, seed=1))
    >>> view["move"], view["rule"].split(":")[0]
    ('1', 'UCB1')
    """
    explanation = result.explain()
    terms = {row.move: row for row in explanation.rows}
    infos = move_infos(result)
    total = max(1, sum(info["visits"] for info in infos))
    for info in infos:
        row = terms[info["move"]]
        info |= {
            "share": info["visits"] / total,
            "exploration": finite(row.exploration),
            "score": finite(row.score),
            "closed": row.score == -math.inf,
            "scaled": row.scaled,
        }
    return {
        "move": explanation.chosen,
        "why": explanation.why,
        "rule": explanation.rule,
        "selected": explanation.selected,
        "scale": explanation.scale,
        "moves": infos,
        "finals": decisions(result),
        "root": root_info(result),
        "simulations": result.root_visits,
        "nodes": result.usage.nodes,
        "config": str(result.config),
        "seed": result.seed,
    }
