"""Tiny players, named by texts, for matches in any process. `make` is what a match is given as `tests.arena.stand_ins:make`."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from treetop.compiler.preparing import preparing_kernel, thinking_clock
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, PlayerError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.players.own import player
from treetop.search.limits import Limit
from treetop.search.search import Search

MAKE = "tests.arena.stand_ins:make"


class Random:
    """Plays at random; the other players here do, too, until they do not."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen: list[int] = []
        self.started: list[tuple[tuple[int, ...], int]] = []
        self.closed = 0

    def begin(self, start: Position, seed: int) -> None:
        self.rng = Rng(seed)
        self.seen = []
        self.started.append((start.actions, seed))

    def choose(self, position: Position) -> int:
        legal = position.legal_actions()
        return legal[self.rng.below(len(legal))]

    def observe(self, action: int) -> None:
        self.seen.append(action)

    def close(self) -> None:
        self.closed += 1


class First(Random):
    def choose(self, position: Position) -> int:
        return position.legal_actions()[0]


class Winner(Random):
    """Takes a win that is there, else plays at random."""

    def choose(self, position: Position) -> int:
        for action in position.legal_actions():
            after = position.apply(action)
            if after.is_terminal and after.rewards[position.player] > 0:
                return action
        return super().choose(position)


class Uct(Random):
    def choose(self, position: Position) -> int:
        search = Search(position, seed=self.rng.bits() >> 11)
        self.last_result = search.run(Limit(simulations=int(self.name.partition(":")[2])))
        return self.last_result.action


class Illegal(Random):
    def choose(self, position: Position) -> int:
        return -7 if len(position.actions) > 3 else super().choose(position)


class Quits(Random):
    def choose(self, position: Position) -> int:
        raise PlayerError("the engine has died")


class QuitsEarly(Random):
    def begin(self, start: Position, seed: int) -> None:
        raise PlayerError("the engine does not start")


class Unfit(Random):
    """An engine whose rules are not ours."""

    def prepare(self, game: Game) -> None:
        raise PlayerError("the engine plays by other rules")


class Prepares(Random):
    """Compiles a kernel when it is prepared, and does not play otherwise."""

    ready = False

    def prepare(self, game: Game) -> None:
        if not self.ready:
            with preparing_kernel():
                self.ready = True

    def begin(self, start: Position, seed: int) -> None:
        super().begin(start, seed)
        self.kernels = thinking_clock().kernels

    def choose(self, position: Position) -> int:
        if not self.ready or thinking_clock().kernels != self.kernels:
            raise PlayerError("something is compiled while the clock runs")
        return super().choose(position)


class QuitsOnSight(Random):
    def observe(self, action: int) -> None:
        raise PlayerError("the engine does not answer")


class Buggy(Random):
    """A bug that shows in the games whose seed is odd."""

    def choose(self, position: Position) -> int:
        if self.started[-1][1] % 2:
            raise ZeroDivisionError("a bug of ours")
        return super().choose(position)


class Hangs(Random):
    def choose(self, position: Position) -> int:
        try:
            time.sleep(60)
        except Exception:  # noqa: BLE001 - it tries hard
            time.sleep(60)
        return super().choose(position)


class Slow(Random):
    def choose(self, position: Position) -> int:
        time.sleep(float(self.name.partition(":")[2]))
        return super().choose(position)


class KillsOnce(Random):
    """Kills its process, but only if the file that it names does not exist yet."""

    def choose(self, position: Position) -> int:
        mark = Path(self.name.partition(":")[2])
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().choose(position)


_KINDS = {
    "random": Random,
    "first": First,
    "winner": Winner,
    "uct": Uct,
    "illegal": Illegal,
    "quits": Quits,
    "quits_early": QuitsEarly,
    "quits_on_sight": QuitsOnSight,
    "buggy": Buggy,
    "hangs": Hangs,
    "slow": Slow,
    "kills_once": KillsOnce,
    "unfit": Unfit,
    "prepares": Prepares,
}


@player
def make(spec: str, game: Game) -> Random:
    kind = spec.partition(":")[0]
    if kind not in _KINDS:
        raise ConfigError(f"there is no stand-in called {spec!r}")
    return _KINDS[kind](spec)


@player
def make_nobody(spec: str, game: Game) -> object:
    return object()
