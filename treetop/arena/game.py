"""The one loop that plays a game: legal moves only, and a player that fails loses."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, Self

import numpy as np

from treetop.arena.seeds import CHANCE as FOR_CHANCE
from treetop.arena.seeds import PLAYER, derive
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, GameError, PlayerError
from treetop.game.facts import Facts
from treetop.game.position import Position
from treetop.players.player import Player
from treetop.types import CHANCE


@dataclass(frozen=True)
class PlayedGame:
    """A game from its start to its end, or to the forfeit that ended it. Everything stands in the order of the seats."""

    start: Position
    end: Position
    rewards: tuple[float, ...]
    """What each seat received. Who forfeits receives the least that the game has; an only opponent the most, several the middle."""
    forfeit: int | None
    """The seat that lost by forfeit."""
    reason: str | None
    """Why it did."""
    seconds: tuple[float, ...]
    """What each seat needed for its moves."""
    simulations: tuple[int | None, ...]
    """How many simulations each seat ran; None for players that do not say."""
    seeds: tuple[int, ...]
    """What each seat was given."""

    @property
    def actions(self) -> tuple[int, ...]:
        """What was played from the start on."""
        return self.end.actions[len(self.start.actions) :]


def play_game(players: Sequence[Player], start: Position, seed: int, *, move_deadline: float | None = None) -> PlayedGame:
    """Play a game, one player a seat, and tell how it ended.

    A player that raises a `PlayerError`, plays an illegal action or needs more than `move_deadline` seconds for a move loses by forfeit.
    Any other exception is somebody's bug, and goes on to the caller. The same seed and the same players give the same game.
    """
    facts = start.game.facts
    if len(players) != facts.players:
        raise ConfigError(f"{start.game.name} is played by {facts.players}, not by {len(players)}")
    if move_deadline is not None and not move_deadline > 0:
        raise ConfigError(f"move_deadline must be a positive number of seconds, not {move_deadline!r}")
    with _CtrlC() as ctrl_c:
        return _Play(players, start, seed, move_deadline, ctrl_c).run()


def score(rewards: Sequence[float], seat: int) -> float:
    """The score of one of two players: 1 for a win, 1/2 for a draw, 0 for a loss.

    >>> score([1.0, -1.0], 0), score([0.0, 0.0], 0), score([1.0, -1.0], 1)
    (1.0, 0.5, 0.0)
    """
    mine, other = rewards[seat], rewards[1 - seat]
    return 0.5 if mine == other else float(mine > other)


class _Forfeit(Exception):  # noqa: N818 - the way out of a game, not an error
    def __init__(self, seat: int, reason: str) -> None:
        super().__init__(reason)
        self.seat, self.reason = seat, reason


class _OutOfTime(BaseException):
    """Beyond what a player may catch by `except Exception`."""


class _Play:
    """A game under way."""

    def __init__(self, players: Sequence[Player], start: Position, seed: int, deadline: float | None, ctrl_c: _CtrlC) -> None:
        self._players, self._start, self._deadline, self._ctrl_c = players, start, deadline, ctrl_c
        self._position = start
        self._seeds = tuple(derive(seed, PLAYER, seat) for seat in range(len(players)))
        self._rng = Rng(derive(seed, FOR_CHANCE))
        self._seconds = [0.0] * len(players)
        self._simulations: list[int | None] = [None] * len(players)

    def run(self) -> PlayedGame:
        try:
            for seat, player in enumerate(self._players):
                self._ask(seat, player.begin, self._start, self._seeds[seat])
            while not self._position.is_terminal:
                self._step()
        except _Forfeit as forfeit:
            return self._ended(_forfeited(self._start.game.facts, forfeit.seat), forfeit.seat, forfeit.reason)
        return self._ended(tuple(self._position.returns), None, None)

    def _step(self) -> None:
        position = self._position
        if len(position.actions) >= position.game.facts.max_length and not position.was_set_up:
            raise GameError(f"{position.game.name} promises at most {position.game.facts.max_length} moves, and is not over after them\n{position}")
        seat = position.player
        action = draw_outcome(position, self._rng) if seat == CHANCE else self._choose(seat)
        self._position = position.apply(action)
        for other, player in enumerate(self._players):
            self._ask(other, player.observe, action)

    def _choose(self, seat: int) -> int:
        if seat not in range(len(self._players)):
            raise GameError(f"nobody can be asked for a move: the player to move is {seat}\n{self._position}")
        player = self._players[seat]
        began = time.perf_counter()
        try:
            with _alarm(self._deadline):
                action = self._ask(seat, player.choose, self._position)
        except _OutOfTime:
            raise _Forfeit(seat, f"no move after {self._deadline:g} s") from None
        finally:
            took = time.perf_counter() - began
            self._seconds[seat] += took
        self._count(seat, player)
        if self._deadline is not None and took > self._deadline:
            raise _Forfeit(seat, f"a move took {took:.3g} s, more than {self._deadline:g} s")
        return self._legal(seat, action)

    def _legal(self, seat: int, action: Any) -> int:
        good = isinstance(action, (int, np.integer)) and not isinstance(action, bool)
        if not good or action not in self._position.legal_actions():
            raise _Forfeit(seat, f"played {action!r}, which is not a legal action after {' '.join(self._position.moves()) or 'no move'}")
        return int(action)

    def _ask(self, seat: int, method: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return method(*arguments)
        except PlayerError as error:
            raise _Forfeit(seat, str(error) or "it failed") from error
        finally:
            self._ctrl_c.look()

    def _count(self, seat: int, player: Player) -> None:
        """Add the simulations of a player that says what its last search found."""
        used = getattr(getattr(player, "last_result", None), "simulations", None)
        if isinstance(used, int):
            self._simulations[seat] = (self._simulations[seat] or 0) + used

    def _ended(self, rewards: tuple[float, ...], forfeit: int | None, reason: str | None) -> PlayedGame:
        return PlayedGame(self._start, self._position, rewards, forfeit, reason, tuple(self._seconds), tuple(self._simulations), self._seeds)


def draw_outcome(position: Position, rng: Rng) -> int:
    """What chance decides, by the probabilities of the game."""
    return position.draw_outcome(rng)


def _forfeited(facts: Facts, seat: int) -> tuple[float, ...]:
    low, high = facts.rewards
    others = high if facts.players == 2 else facts.middle
    return tuple(low if other == seat else others for other in range(facts.players))


@contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    """Interrupt what runs too long. Only the main thread can be interrupted; elsewhere a late move is found when it comes."""
    if seconds is None or not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the shape of a signal handler
        raise _OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


class _CtrlC:
    """Ctrl-C ends the game even where a player takes it as a wish to think no longer: such a move would belong to no seed."""

    def __init__(self) -> None:
        self._pressed = False
        self._before: Any = None

    def __enter__(self) -> Self:
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the shape of a signal handler
        self._pressed = True
        raise KeyboardInterrupt

    def look(self) -> None:
        """Raise what a player has swallowed."""
        if self._pressed:
            raise KeyboardInterrupt

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
