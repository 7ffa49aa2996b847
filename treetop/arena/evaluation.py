"""Evaluate players: one player alone, or in every seat, in many games; several players on the same deals.

As in `match`, every finished game is on the disk, and an evaluation that was interrupted or killed is resumed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treetop import checks
from treetop.arena.books import Opening
from treetop.arena.game import PlayedGame
from treetop.arena.log import EVALUATION, GameLog
from treetop.arena.matches import Contest, MatchProgress, Terms, play_contests
from treetop.arena.openings import OpeningSettings
from treetop.arena.playing import MAKE_PLAYER, Task
from treetop.arena.scores import EvaluationResult, ScoreTally
from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.registry import load_game


@dataclass(frozen=True)
class EvaluationTask:
    """One game of an evaluation: everything it depends on."""

    index: int
    player: int
    spec: str
    deal: int
    seats: int
    seed: int
    """The seed of the evaluation."""

    @property
    def opening(self) -> Opening:
        """No moves are played before the players begin."""
        return Opening(())

    @property
    def game_seed_number(self) -> int:
        """All players have the same seeds on the same deal."""
        return self.deal

    @property
    def by_seat(self) -> tuple[tuple[str, int], ...]:
        """One player in every seat, each a separate object."""
        return tuple((self.spec, seat) for seat in range(self.seats))

    def record(self, played: PlayedGame, seed: int, chance: int) -> dict[str, Any]:
        """Return the game's line in the file."""
        used = [simulations for simulations in played.simulations if simulations is not None]
        return {
            "index": self.index,
            "deal": self.deal,
            "player": self.player,
            "returns": list(played.rewards),
            "summary": played.end.summary(),
            "forfeit": played.forfeit,
            "reason": played.reason,
            "seconds": round(math.fsum(played.seconds), 4),
            "choices": sum(played.choices),
            "simulations": sum(used) if used else None,
            "clairvoyant": bool(played.clairvoyant),
            "plies": len(played.actions),
            "actions": list(played.actions),
            "seeds": {"game": seed, "chance": chance},
        }


class _Evaluation(Contest):
    """Players, each by itself on every deal."""

    def __init__(
        self, specs: tuple[str, ...], names: tuple[str, ...], log: GameLog, tally: ScoreTally, seats: int
    ) -> None:
        super().__init__(specs, names, log, tally)
        self._seats = seats

    def task(self, index: int, opening: Opening, seed: int) -> Task:  # noqa: ARG002 - nothing is played before
        """Return one of its games: the deals in order, all players on each."""
        deal, player = divmod(index, len(self.specs))
        return EvaluationTask(index, player, self.specs[player], deal, self._seats, seed)

    @property
    def title(self) -> str:
        """The players' names."""
        return ", ".join(self.names)


@dataclass(frozen=True)
class _Terms(Terms):
    """The same number of games for each player, on the same deals."""

    entrants: int = 1

    def _check_games(self) -> None:
        checks.whole("games", self.games, 1)

    @property
    def group(self) -> int:
        """All players play each deal."""
        return self.entrants


def evaluate(
    game: str | Game,
    players: str | Sequence[str],
    *,
    games: int = 100,
    seed: int = 0,
    workers: int | None = None,
    out: str | Path | None = None,
    win_above: float = 0.0,
    move_deadline: float | None = None,
    make_player: str = MAKE_PLAYER,
    names: Sequence[str] | None = None,
    progress: Callable[[MatchProgress], object] | None = None,
    on: str | None = None,
) -> EvaluationResult:
    """Let each player play `games` games by itself, and return the scores. Called again with the same `out`, it
    resumes.

    A one-player game has one seat; in any other game each player plays all seats, and the return of the first seat is
    the score. All players get the same deals and dice, so that their differences are more precise than their scores. A
    score above `win_above` counts as a win. `workers`, `on`, `out`, `move_deadline`, `make_player` and `progress` are
    as in `match`; `progress.result` holds the mean scores so far.

    >>> import treetop
    >>> treetop.evaluate("nim(stones=5)", "random", games=4, workers=1).scores[0].games
    4
    """
    specs = (players,) if isinstance(players, str) else tuple(players)
    called = specs if names is None else tuple(names)
    if not specs or len(called) != len(specs):
        raise ConfigError("evaluate needs at least one player, and as many names as players")
    threshold = checks.number("win_above", win_above)
    found = load_game(game)
    checked = _Terms(found, games, seed, OpeningSettings(0, balanced=False), make_player, move_deadline)
    terms = _Terms(found, games * len(specs), seed, checked.openings, make_player, move_deadline, entrants=len(specs))
    file = None if out is None else Path(out)
    tally = ScoreTally(called, found.name, seed, games, threshold, file)
    header = terms.header(specs, called) | {"win_above": threshold}
    contest = _Evaluation(specs, called, GameLog(file, header, EVALUATION), tally, found.facts.players)
    with contest.log:
        contest.resume()
        interrupted = play_contests(terms, [contest], workers, progress and (lambda _, now: progress(now)), on=on)
    return tally.result(interrupted=interrupted)
