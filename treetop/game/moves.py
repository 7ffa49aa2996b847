"""Write and parse moves: one move ("e4"), simultaneous moves ("a/b"), continuous actions ("0.3:0.1")."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop.errors import GameError, IllegalMoveError
from treetop.game.contract import ContractError, as_whole, call
from treetop.game.lines import users_line
from treetop.types import CHANCE, SIMULTANEOUS

if TYPE_CHECKING:
    from treetop.game.position import Position

JOINT, VECTOR = "/", ":"
"""The separators of simultaneous moves, and of the numbers of a continuous action."""
_SHOWN = 30  # the number of moves that an error lists


def split_moves(moves: Any) -> list[Any]:
    """Return a text, an action, or several of either, as a list.

    A tuple is several moves; simultaneous moves are a list inside it.
    """
    if isinstance(moves, str):
        return [move for move in re.split(r"[\s,;]+", moves) if move]
    return list(moves) if isinstance(moves, Iterable) else [moves]


def text_of(position: Position, action: Any) -> str:
    """Return an action as text: of one player, of all players, of chance, or a continuous action."""
    if isinstance(action, (tuple, list, np.ndarray)):
        if position.is_continuous:
            return VECTOR.join(repr(float(value)) for value in action)
        return JOINT.join(text_of(position, part) for part in action)
    method = naming_method(position)
    return str(int(action)) if method is None else str(call(position.game, position.state, method, int(action)))


def naming_method(position: Position) -> str | None:
    """Return the method that names actions here: `outcome_text` at a chance node, else `move_text`; None: numbers.

    A game without `outcome_text` names its outcomes by `move_text`.
    """
    if position.game.has("outcome_text") and position.player == CHANCE:
        return "outcome_text"
    return "move_text" if position.game.has("move_text") else None


def action_of(position: Position, text: str, player: int | None) -> Any:
    """Return the legal action that a text describes."""
    wanted = text.strip()
    if position.is_continuous:
        found = _numbers(wanted)
        if found is not None and len(found) == position.game.facts.action_size:
            return found
    elif position.player == SIMULTANEOUS and player is None:
        parts = wanted.split(JOINT)
        players = position.game.facts.players
        joint = [_one(position, part, position.legal_actions(seat)) for seat, part in enumerate(parts[:players])]
        if len(parts) == players and None not in joint:
            return tuple(joint)
    else:
        action = _one(position, wanted, position.legal_actions(player))
        if action is not None:
            return action
    raise IllegalMoveError(f"{text!r} is not a legal move here{choices(position, player)}\n{position}")


def _one(position: Position, wanted: str, legal: list[int]) -> int | None:
    if position.game.has("parse_move") and naming_method(position) != "outcome_text":
        try:
            action = as_whole("parse_move", position.state.parse_move(wanted))
        except (ValueError, IndexError, KeyError):
            action = -1
        except ContractError as broken:
            raise GameError(f"{position.game.name}: {broken.detail}\n  {broken.where(position.game)}") from None
        except Exception as error:
            raise GameError(
                f"{position.game.name}.parse_move fails: {type(error).__name__}: {error}\n  {users_line(error)}"
            ) from error
        if action in legal:
            return action
    for action in legal:
        if text_of(position, action).lower() == wanted.lower():
            return action
    return None


def _numbers(text: str) -> tuple[float, ...] | None:
    try:
        found = tuple(float(part) for part in text.split(VECTOR))
    except ValueError:
        return None
    return found if all(math.isfinite(value) for value in found) else None


def turn_text(position: Position) -> str:
    """Return whose turn it is; at the end of the game, the returns."""
    if position.is_terminal:
        returns = enumerate(position.returns)
        return "the game is over: " + ", ".join(f"{total:+g} for player {player}" for player, total in returns)
    return {CHANCE: "chance", SIMULTANEOUS: "all players"}.get(
        position.player, f"player {position.player}"
    ) + " to move"


def choices(position: Position, player: int | None = None) -> str:
    """Return the end of an error's first line: a description of the legal moves."""
    if position.is_terminal:
        return ": the game is over"
    if position.is_continuous:
        size = position.game.facts.action_size
        example = VECTOR.join(["0.5"] * (size or 1))
        return f"; an action is {size} finite number{'s' if size != 1 else ''}, written as {example}"
    if position.player == SIMULTANEOUS and player is None:
        seats = range(position.game.facts.players)
        each = "; ".join(f"player {seat} has {_listed(position, position.legal_actions(seat))}" for seat in seats)
        return f"; the moves are simultaneous, written as {JOINT.join('abcdefgh'[: len(seats)])}: {each}"
    return f"; the legal moves are {_listed(position, position.legal_actions(player))}"


def _listed(position: Position, actions: list[int]) -> str:
    moves = [text_of(position, action) for action in actions[:_SHOWN]]
    return ", ".join(moves) + (f" and {len(actions) - _SHOWN} more" if len(actions) > _SHOWN else "")
