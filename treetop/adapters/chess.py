"""Chess as a problem, on the boards of python-chess. That package is under the GPL: only this file imports it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from treetop import checks
from treetop.adapters.packages import load
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError

chess = load("chess", "chess")
polyglot = load("chess.polyglot", "chess")

_WORTH = {chess.PAWN: 1.0, chess.KNIGHT: 3.0, chess.BISHOP: 3.0, chess.ROOK: 5.0, chess.QUEEN: 9.0}
_DECISIVE = 6.0  # a lead in pawns with the value tanh(1), about three quarters of a win


class ChessProblem:
    """Chess as a problem to search. States are `chess.Board`s, actions `chess.Move`s; White is player 0.

    `board` is the position to search, as a `chess.Board` (also of a variant) or a FEN (default: the initial position).
    It is not changed. A game ends by checkmate, stalemate, dead positions, fivefold repetition and 75 moves; with
    `claim_draws` also by threefold repetition, or after fifty moves without a capture or a pawn move.

    Random moves seldom end a game of chess, so a rollout is cut after `rollout_moves` and evaluated by material; None
    plays it to the end. For strong play give the search an evaluator.

    >>> import treetop
    >>> problem = ChessProblem("7k/8/5K2/6Q1/8/8/8/8 w - - 0 1")
    >>> treetop.Search(problem, treetop.uct(solver=True), seed=1).run(treetop.Limit(simulations=5000)).move
    'g5g7'
    """

    num_players, zero_sum, reward_range = 2, True, (-1.0, 1.0)

    def __init__(self, board: Any = None, *, claim_draws: bool = True, rollout_moves: int | None = 40) -> None:
        if isinstance(board, str):
            try:
                board = chess.Board(board)
            except ValueError as error:
                raise ConfigError(f"this is not a chess position: {error}") from None
        if board is not None and not isinstance(board, chess.Board):
            raise ConfigError(f"board must be a chess.Board or a FEN, not {board!r}")
        checks.whole("rollout_moves", rollout_moves, 0, optional=True)
        self._board = chess.Board() if board is None else board.copy()
        self.name = self._board.aliases[0] if getattr(self._board, "aliases", None) else "chess"
        self.claim_draws, self._rollout_moves = bool(claim_draws), rollout_moves

    def initial(self) -> Any:
        """Return the position that was given."""
        return self.copy(self._board)

    def player(self, state: Any) -> int:
        """Return 0 for White, 1 for Black."""
        return 0 if state.turn == chess.WHITE else 1

    def actions(self, state: Any) -> Sequence[Any]:
        """Return the legal moves."""
        return list(state.legal_moves)

    def copy(self, state: Any) -> Any:
        """Return a copy of the board, with as much of its history as repetitions can reach."""
        return state.copy(stack=state.halfmove_clock + 1)

    def step(self, state: Any, action: Any) -> Any:
        """Make a move on the given board."""
        state.push(action)
        return state

    def is_terminal(self, state: Any) -> bool:
        """Return whether the game is over."""
        return self._is_claimed(state) or state.outcome() is not None

    def _is_claimed(self, state: Any) -> bool:
        if not self.claim_draws or state.halfmove_clock < 8:  # too early for a third repetition
            return False
        return (state.is_repetition(3) or state.is_fifty_moves()) and not state.is_checkmate()

    def rewards(self, state: Any) -> tuple[float, float]:
        """Return 1 for the winner and -1 for the loser, or 0 for a draw."""
        outcome = None if self._is_claimed(state) else state.outcome()
        if outcome is None or outcome.winner is None:
            return (0.0, 0.0)
        return (1.0, -1.0) if outcome.winner == chess.WHITE else (-1.0, 1.0)

    def rollout(self, state: Any, rng: Rng) -> tuple[float, float]:
        """Play random moves, then evaluate the material."""
        made = 0
        while self._rollout_moves is None or made < self._rollout_moves:
            if self.is_terminal(state):
                return self.rewards(state)
            moves = list(state.legal_moves)
            state.push(moves[rng.below(len(moves))])
            made += 1
        if self.is_terminal(state):
            return self.rewards(state)
        lead = math.tanh(material(state) / _DECISIVE)
        return (lead, -lead)

    def key(self, state: Any) -> int:
        """Return the Zobrist key of the position."""
        key: int = polyglot.zobrist_hash(state)
        return key

    def text(self, action: Any) -> str:
        """Return the move in UCI notation."""
        return str(action.uci())

    def render(self, state: Any) -> str:
        """Return the board and its FEN."""
        return f"{state}\n{state.fen()}"


def material(board: Any) -> float:
    """Return White's material minus Black's, in pawns."""
    return sum(
        worth * (len(board.pieces(piece, chess.WHITE)) - len(board.pieces(piece, chess.BLACK)))
        for piece, worth in _WORTH.items()
    )
