"""The work of one worker: make the players once, and play one game for each unit of work."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from treetop.arena.books import Opening, at_opening
from treetop.arena.game import PlayedGame, play_game, score
from treetop.arena.openings import start_of
from treetop.arena.seeds import CHANCE, GAME, derive
from treetop.errors import PlayerError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import load_same
from treetop.players.clock import TimeControl, show_clock
from treetop.players.protocol import Player, prepare
from treetop.players.spec import find_maker, make_player

MAKE_PLAYER = "treetop.players.spec:make_player"
"""The function that makes a player from a spec and a game, unless a match names another."""


SETUP = "treetop.arena.playing:GameWorker"

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""The names of players in files."""

RESULTS = {1.0: "win", 0.5: "draw", 0.0: "loss"}


def maker(reference: str) -> Callable[..., Any]:
    """Return the function that makes players: the bundled one, or one under `@treetop.player` named as
    `module:function`.
    """
    return make_player if reference == MAKE_PLAYER else find_maker(reference)


class Task(Protocol):
    """One game: everything it depends on, and its line in the file."""

    @property
    def opening(self) -> Opening:
        """What is played before the players begin."""
        ...

    @property
    def deal(self) -> int:
        """The number of its deal: games of the same deal share the opening, the cards and the dice."""
        ...

    @property
    def seed(self) -> int:
        """The seed of the whole match or evaluation."""
        ...

    @property
    def game_seed_number(self) -> int:
        """The number from which this game's own seed is derived."""
        ...

    @property
    def by_seat(self) -> tuple[tuple[str, int], ...]:
        """The players in seat order: a spec, and which of several objects of it."""
        ...

    def record(self, played: PlayedGame, seed: int, chance: int) -> dict[str, Any]:
        """Return the game's line in the file."""
        ...


@dataclass(frozen=True)
class GameTask:
    """One game of a match: everything it depends on."""

    index: int
    opening: Opening
    specs: tuple[str, ...]
    """Player A, player B, and so on."""
    seed: int
    """The seed of the match."""

    @property
    def deal(self) -> int:
        """The pair or round of the game: one opening and one deal, from every seat."""
        return self.index // len(self.specs)

    @property
    def game_seed_number(self) -> int:
        """Each game has its own seed."""
        return self.index

    @property
    def seats(self) -> tuple[int, ...]:
        """The number of the player in each seat: A begins in the first game of a round, and moves on by one seat in
        each further game.
        """
        many = len(self.specs)
        return tuple((seat - self.index) % many for seat in range(many))

    @property
    def by_seat(self) -> tuple[tuple[str, int], ...]:
        """The players in seat order; two objects even if both are the same player."""
        return tuple((self.specs[number], number) for number in self.seats)

    def record(self, played: PlayedGame, seed: int, chance: int) -> dict[str, Any]:
        """Return the game's line in the match's file."""
        seats = [LETTERS[number] for number in self.seats]
        moves = played.end.moves()
        opening = len(self.opening.actions)
        return {
            "index": self.index,
            **({"pair": self.deal} if len(seats) == 2 else {"round": self.deal}),
            "seats": seats,
            **({} if self.opening.setup is None else {"setup": self.opening.setup}),
            "opening": list(self.opening.actions),
            "opening_moves": moves[:opening],
            "actions": list(played.actions),
            "moves": moves[opening:],
            **(_result(played, self.seats.index(0)) if len(seats) == 2 else {}),
            "rewards": _by_player(seats, played.rewards),
            "plies": len(moves),
            "forfeit": None if played.forfeit is None else seats[played.forfeit],
            "reason": played.reason,
            "seconds": _by_player(seats, [round(seconds, 4) for seconds in played.seconds]),
            "simulations": _by_player(seats, played.simulations),
            "clairvoyant": sorted(seats[seat] for seat in played.clairvoyant),
            "seeds": {"game": seed, "chance": chance, **_by_player(seats, played.seeds)},
        }


class GameWorker:
    """Plays games. Players are made when they are first needed, and again after they have failed.

    One of each of `specs` is made and prepared at once, so that what compiles or starts slowly is ready before the
    first game. `rules` is the digest of the game's rules, which must be the same here.
    """

    def __init__(
        self,
        game: str | Game,
        make_player: str,
        move_deadline: float | None,
        specs: tuple[str, ...] = (),
        rules: str | None = None,
        clock: TimeControl | None = None,
    ) -> None:
        self._game = load_same(game, rules)
        self._make = maker(make_player)
        self._deadline, self._clock = move_deadline, clock
        self._players: dict[tuple[str, int], Player] = {}
        self._spare: dict[str, Player] = {}
        """Prepared players without a seat."""
        for spec in specs:
            with suppress(PlayerError):  # it forfeits its games, each with the reason
                self._spare[spec] = self._make(spec, self._game)
                show_clock(self._spare[spec], None if clock is None else clock.at_start(self._game.facts.players))
                prepare(self._spare[spec], self._game)

    def __call__(self, task: Task) -> dict[str, Any]:
        """Play a game and return its line in the file."""
        start = at_opening(start_of(self._game, task.seed, task.deal), task.opening)
        seed, chance = derive(task.seed, GAME, task.game_seed_number), derive(task.seed, CHANCE, task.deal)
        seats = list(task.by_seat)
        try:
            players = [self._player(*key) for key in seats]
            played = play_game(players, start, seed, chance=chance, move_deadline=self._deadline, clock=self._clock)
        except BaseException:
            self._drop(seats)
            raise
        if played.forfeit is not None:
            self._drop([seats[played.forfeit]])  # in whatever state it is
        return task.record(played, seed, chance)

    def close(self) -> None:
        """Close all players."""
        self._drop(list(self._players))
        while self._spare:
            self._spare.popitem()[1].close()

    def _player(self, spec: str, side: int) -> Player:
        if (spec, side) not in self._players:
            try:
                self._players[spec, side] = (
                    self._spare.pop(spec) if spec in self._spare else self._make(spec, self._game)
                )
            except PlayerError as error:
                return _Absent(spec, str(error))
        return self._players[spec, side]

    def _drop(self, keys: list[tuple[str, int]]) -> None:
        for key in keys:
            player = self._players.pop(key, None)
            if player is not None:
                player.close()


class _Absent:
    """Replaces a player that cannot be made: it forfeits."""

    def __init__(self, name: str, reason: str) -> None:
        self.name, self._reason = name, reason

    def begin(self, start: Position, seed: int) -> None:  # noqa: ARG002 - the shape of a player
        raise PlayerError(self._reason)

    def choose(self, position: Position) -> int:  # noqa: ARG002
        raise PlayerError(self._reason)

    def observe(self, action: Any) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def _result(played: PlayedGame, seat: int) -> dict[str, Any]:
    points = score(played.rewards, seat)
    return {"result": RESULTS[points], "score": points}


def _by_player(seats: list[str], values: Any) -> dict[str, Any]:
    return dict(sorted(zip(seats, values, strict=True)))
