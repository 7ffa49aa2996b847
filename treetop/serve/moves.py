"""What the server adds to moves: outcomes of chance, and the moves of others who move simultaneously."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treetop.arena.seeds import CHANCE as FOR_CHANCE
from treetop.arena.seeds import derive
from treetop.compiler.rng import Rng
from treetop.game.position import Position
from treetop.types import CHANCE, SIMULTANEOUS


def after_chance(position: Position, seed: int) -> Position:
    """Resolve chance by a seed and the number of the move, so that a move taken back has the same outcome.

    >>> import treetop as tt
    >>> after_chance(tt.position("kuhn_poker"), 3).player
    0
    """
    while not position.is_terminal and position.player == CHANCE:
        rng = Rng(derive(seed, FOR_CHANCE, len(position.actions)))
        position = position.apply(position.draw_outcome(rng))
    return position


def completed(position: Position, action: Any, people: Sequence[int], seed: int) -> Any:
    """Return what is applied after a search: with simultaneous moves, random moves of the others complete it.

    >>> import treetop as tt
    >>> completed(tt.position("tic_tac_toe"), 4, [0], 1)
    4
    """
    if position.player != SIMULTANEOUS:
        return action
    seats = range(position.game.facts.players)
    rng = Rng(derive(seed, FOR_CHANCE, len(position.actions)))
    searched = next((one for one in seats if one not in people), 0)
    legal = [position.legal_actions(seat) for seat in seats]
    return tuple(int(action) if seat == searched else int(legal[seat][rng.below(len(legal[seat]))]) for seat in seats)
