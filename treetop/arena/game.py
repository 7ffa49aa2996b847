"""Play one game of any kind: only legal moves count, a player that fails loses, and hidden information stays hidden."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, Self

import numpy as np

from treetop import checks
from treetop.arena.seeds import CHANCE as FOR_CHANCE
from treetop.arena.seeds import PLAYER, SIGHT, derive
from treetop.compiler.preparing import thinking_clock
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, GameError, IllegalMoveError, PlayerError
from treetop.game.facts import Facts
from treetop.game.position import Position
from treetop.players.clock import ClockTimes, TimeControl, show_clock
from treetop.players.protocol import Player, prepare
from treetop.search.clock import GameClock
from treetop.types import CHANCE, SIMULTANEOUS

_SOON = 0.05  # seconds between two looks at a clock that is stopped


@dataclass(frozen=True)
class PlayedGame:
    """A finished game, or one that a forfeit ended. Everything is in the order of the seats."""

    start: Position
    end: Position
    rewards: tuple[float, ...]
    """The return of each seat, immediate rewards included. A forfeit gives the lowest return to its player, the highest
    to a single opponent, and the middle to several.
    """
    forfeit: int | None
    """The seat that lost by forfeit."""
    reason: str | None
    """The reason of the forfeit."""
    seconds: tuple[float, ...]
    """The thinking time of each seat. Compiling does not count."""
    simulations: tuple[int | None, ...]
    """The number of simulations of each seat; None for players that do not report it."""
    choices: tuple[int, ...]
    """How often each seat had to choose."""
    clairvoyant: tuple[int, ...]
    """The seats that were shown hidden information."""
    seeds: tuple[int, ...]
    """The seed of each seat."""

    @property
    def actions(self) -> tuple[Any, ...]:
        """The actions from the start on."""
        return self.end.actions[len(self.start.actions) :]


def play_game(
    players: Sequence[Player],
    start: Position,
    seed: int,
    *,
    chance: int | None = None,
    move_deadline: float | None = None,
    clock: TimeControl | None = None,
) -> PlayedGame:
    """Play a game with one player for each seat, and return it.

    Chance draws from its own seed `chance`, or from the game's: the same seed gives the same dice in the same order,
    whoever plays. With imperfect information each player is given positions in which the hidden part is drawn at random
    (a determinization), by a seed from the game's seed and from what the player has observed; only players that declare
    themselves `clairvoyant` are given the true positions. A player that raises a `PlayerError`, plays an illegal action
    or needs more than `move_deadline` seconds for a move loses by forfeit; so
    does one that has used up its time where there is a `clock`. Any other exception is a bug and goes to the
    caller. The same seed and the same players give the same game.
    """
    facts = start.game.facts
    if len(players) != facts.players:
        raise ConfigError(f"{start.game.name} needs {facts.players} players, not {len(players)}")
    checks.number("move_deadline", move_deadline, above=0, finite=False, unit="seconds", optional=True)
    with _CtrlC() as ctrl_c:
        return _Play(players, start, seed, seed if chance is None else chance, move_deadline, clock, ctrl_c).run()


def score(rewards: Sequence[float], seat: int) -> float:
    """Return the score of one of two players: 1 for a win, 1/2 for a draw, 0 for a loss.

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
    """Not an Exception, so that a player cannot catch it by `except Exception`."""


class _Play:
    """A game in progress."""

    def __init__(
        self, players: Sequence[Player], start: Position, seed: int, chance: int, deadline: float | None,
        control: TimeControl | None, ctrl_c: _CtrlC,
    ) -> None:  # fmt: skip
        self._players, self._start, self._deadline, self._ctrl_c = players, start, deadline, ctrl_c
        self._position, self._game = start, start.game
        self._seed, self._chance, self._draws = seed, chance, 0
        self._seeds = tuple(derive(seed, PLAYER, seat) for seat in range(len(players)))
        hidden = self._game.has("determinize")
        self._sees_all = [not hidden or bool(getattr(player, "clairvoyant", False)) for player in players]
        self._clairvoyant = tuple(seat for seat, sees in enumerate(self._sees_all) if hidden and sees)
        # If a history begins in the middle of a game, its length means nothing, unless it began with a deal.
        self._bounded = self._game.has("deal") or not start.was_set_up
        self._received = np.array(start.returns)
        self._seconds = [0.0] * len(players)
        self._simulations: list[int | None] = [None] * len(players)
        self._choices = [0] * len(players)
        self._clocks = [] if control is None else [GameClock(control.seconds, control.increment) for _ in players]

    def run(self) -> PlayedGame:
        try:
            self._show_clocks()
            for seat, player in enumerate(self._players):
                self._ask(seat, prepare, player, self._game)
            for seat, player in enumerate(self._players):
                if hasattr(player, "seat"):
                    player.seat = seat
                self._ask(seat, player.begin, self._sight(seat), self._seeds[seat])
            while not self._position.is_terminal:
                self._step()
        except _Forfeit as forfeit:
            return self._ended(_forfeited(self._game.facts, forfeit.seat), forfeit.seat, forfeit.reason)
        return self._ended(tuple(float(reward) for reward in self._received), None, None)

    def _step(self) -> None:
        position, facts = self._position, self._game.facts
        if self._bounded and len(position.actions) >= facts.max_length:
            raise GameError(
                f"{self._game.name} promises at most {facts.max_length} moves, and is not over after them\n{position}"
            )
        mover = position.player
        if mover == CHANCE:
            self._make(self._draw(), None)
        elif mover == SIMULTANEOUS:
            self._make(tuple(self._choose(seat) for seat in range(len(self._players))), None)
        else:
            self._make(self._choose(mover), mover)

    def _draw(self) -> int:
        """Resolve chance. Each draw has its own seed, so that the third roll is the same however the first two were
        used.
        """
        outcome = self._position.draw_outcome(Rng(derive(self._chance, FOR_CHANCE, self._draws)))
        self._draws += 1
        return outcome

    def _make(self, action: Any, mover: int | None) -> None:
        """Play an action of one seat, of chance, or of all seats, and show it to those who may see it."""
        before, self._position = self._position, self._position.apply(action)
        if self._game.has("step_rewards"):
            self._received += self._position.step_rewards
        if self._position.is_terminal:
            self._received += self._position.rewards
        for seat, player in enumerate(self._players):
            if self._sees_all[seat] or seat == mover:
                self._ask(seat, player.observe, action)
            elif before.player == SIMULTANEOUS:
                self._ask(
                    seat, player.observe, tuple(own if other == seat else None for other, own in enumerate(action))
                )

    def _sight(self, seat: int) -> Position:
        """Return the position as a seat may see it."""
        if self._sees_all[seat]:
            return self._position
        return self._position.determinize(seat, Rng(derive(self._seed, SIGHT, seat, self._position.information(seat))))

    def _choose(self, seat: int) -> Any:
        if seat not in range(len(self._players)):
            raise GameError(f"no player can move: the player to move is {seat}\n{self._position}")
        player, position = self._players[seat], self._sight(seat)
        self._show_clocks()
        left = self._clocks[seat].remaining if self._clocks else None
        deadline = min((limit for limit in (self._deadline, left) if limit is not None), default=None)
        clock = thinking_clock()
        began = clock.now()
        try:
            with _alarm(deadline):
                action = self._ask(seat, player.choose, position)
        except _OutOfTime:
            why = "lost on time: " if deadline == left else ""
            raise _Forfeit(seat, f"{why}no move after {deadline:.3g} s") from None
        finally:
            took = clock.now() - began
            self._seconds[seat] += took
            self._choices[seat] += 1
        self._count(seat, player)
        if self._deadline is not None and took > self._deadline:
            raise _Forfeit(seat, f"a move took {took:.3g} s, more than {self._deadline:g} s")
        if self._clocks:
            self._clocks[seat].spent(took)
            if self._clocks[seat].flagged:
                raise _Forfeit(seat, f"lost on time: a move took {took:.3g} s, and {left:.3g} s were left")
        return self._legal(seat, action)

    def _show_clocks(self) -> None:
        left = tuple(clock.remaining for clock in self._clocks)
        times = ClockTimes(left, self._clocks[0].increment) if self._clocks else None
        for player in self._players:
            show_clock(player, times)

    def _legal(self, seat: int, action: Any) -> Any:
        position = self._position
        if position.is_continuous:
            try:
                return position.apply(action).actions[-1]
            except IllegalMoveError:
                pass
        elif (
            isinstance(action, (int, np.integer))
            and not isinstance(action, bool)
            and action in position.legal_actions(seat)
        ):
            return int(action)
        raise _Forfeit(
            seat, f"played {action!r}, which is not a legal action after {' '.join(position.moves()) or 'no move'}"
        )

    def _ask(self, seat: int, method: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return method(*arguments)
        except PlayerError as error:
            raise _Forfeit(seat, str(error) or "it failed") from error
        finally:
            self._ctrl_c.look()

    def _count(self, seat: int, player: Player) -> None:
        """Add the simulations of a player that reports its last search."""
        used = getattr(getattr(player, "last_result", None), "simulations", None)
        if isinstance(used, int):
            self._simulations[seat] = (self._simulations[seat] or 0) + used

    def _ended(self, rewards: tuple[float, ...], forfeit: int | None, reason: str | None) -> PlayedGame:
        return PlayedGame(
            self._start,
            self._position,
            rewards,
            forfeit,
            reason,
            tuple(self._seconds),
            tuple(self._simulations),
            tuple(self._choices),
            self._clairvoyant,
            self._seeds,
        )


def _forfeited(facts: Facts, seat: int) -> tuple[float, ...]:
    low, high = facts.rewards
    others = high if facts.players == 2 else facts.middle
    return tuple(low if other == seat else others for other in range(facts.players))


@contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    """Interrupt a move that takes too long. Only the main thread can be interrupted; elsewhere a late move is noticed
    when it comes.
    """
    if seconds is None or not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    clock = thinking_clock()
    began = clock.now()

    def ring(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the shape of a signal handler
        left = seconds - (clock.now() - began)
        if left <= 0:
            raise _OutOfTime
        # something was or is being compiled: that time is given back
        signal.setitimer(signal.ITIMER_REAL, max(left, _SOON))

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


class _CtrlC:
    """Let Ctrl-C end the game even if a player takes it as a request to stop thinking: such a move would not be
    reproducible.
    """

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
        """Raise the KeyboardInterrupt that a player has caught."""
        if self._pressed:
            raise KeyboardInterrupt

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
