"""What a worker does: it makes its players once, and plays one game a unit of work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treetop.arena.game import PlayedGame, play_game, score
from treetop.arena.seeds import GAME, derive
from treetop.errors import PlayerError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.players.player import Player
from treetop.workers.units import resolve

MAKE_PLAYER = "treetop.players.spec:make_player"
"""What makes a player of a text and a game, unless a match names another function."""

SETUP = "treetop.arena.playing:GameWorker"

RESULTS = {1.0: "win", 0.5: "draw", 0.0: "loss"}


@dataclass(frozen=True)
class GameTask:
    """One game of a match: all that it depends on."""

    index: int
    opening: tuple[int, ...]
    specs: tuple[str, str]
    """Player A and player B."""
    seed: int
    """The match's seed."""

    @property
    def pair(self) -> int:
        """The pair that the game belongs to: two games from one opening."""
        return self.index // 2

    @property
    def seat_of_a(self) -> int:
        """Player A begins in the first game of a pair, B in the second."""
        return self.index % 2


class GameWorker:
    """Plays games. Players are made when they are first needed, and again after they have failed."""

    def __init__(self, game: str | Game, make_player: str, move_deadline: float | None) -> None:
        self._game = load_game(game)
        self._make = resolve(make_player)
        self._deadline = move_deadline
        self._players: dict[tuple[str, int], Player] = {}

    def __call__(self, task: GameTask) -> dict[str, Any]:
        """Play a game: its line in the match's file."""
        start = Position(self._game).play(task.opening)
        seed = derive(task.seed, GAME, task.index)
        keys = [(spec, side) for side, spec in enumerate(task.specs)]  # two objects even where both are the same player
        seats = keys if task.seat_of_a == 0 else keys[::-1]
        try:
            players = [self._player(*key) for key in seats]
            played = play_game(players, start, seed, move_deadline=self._deadline)
        except BaseException:
            self._drop(seats)
            raise
        if played.forfeit is not None:
            self._drop([seats[played.forfeit]])  # whatever state it is in
        return _record(task, played, seed)

    def close(self) -> None:
        """Close all players."""
        self._drop(list(self._players))

    def _player(self, spec: str, side: int) -> Player:
        if (spec, side) not in self._players:
            try:
                self._players[spec, side] = self._make(spec, self._game)
            except PlayerError as error:
                return _Absent(spec, str(error))
        return self._players[spec, side]

    def _drop(self, keys: list[tuple[str, int]]) -> None:
        for key in keys:
            player = self._players.pop(key, None)
            if player is not None:
                player.close()


class _Absent:
    """Stands in for a player that cannot be made: it forfeits."""

    def __init__(self, name: str, reason: str) -> None:
        self.name, self._reason = name, reason

    def begin(self, start: Position, seed: int) -> None:  # noqa: ARG002 - the shape of a player
        raise PlayerError(self._reason)

    def choose(self, position: Position) -> int:  # noqa: ARG002
        raise PlayerError(self._reason)

    def observe(self, action: int) -> None:
        """Nothing to see."""

    def close(self) -> None:
        """Nothing to close."""


def _record(task: GameTask, played: PlayedGame, seed: int) -> dict[str, Any]:
    seats = "AB" if task.seat_of_a == 0 else "BA"
    points = score(played.rewards, task.seat_of_a)
    moves = played.end.moves()
    opening = len(task.opening)
    return {
        "index": task.index,
        "pair": task.pair,
        "seats": list(seats),
        "opening": list(task.opening),
        "opening_moves": moves[:opening],
        "actions": list(played.actions),
        "moves": moves[opening:],
        "result": RESULTS[points],
        "score": points,
        "rewards": _by_player(seats, played.rewards),
        "plies": len(moves),
        "forfeit": None if played.forfeit is None else seats[played.forfeit],
        "reason": played.reason,
        "seconds": _by_player(seats, [round(seconds, 4) for seconds in played.seconds]),
        "simulations": _by_player(seats, played.simulations),
        "seeds": {"game": seed, **_by_player(seats, played.seeds)},
    }


def _by_player(seats: str, values: Any) -> dict[str, Any]:
    return dict(sorted(zip(seats, values, strict=True)))
