"""The conformance check: thousands of random games, interpreted and compiled with bounds checks side by side.

An error shows the shortest list of moves that was found and the line of the user's code. examiner.py and
examine_kinds.py examine each position, shortest.py searches for a short game. trial.py runs the interpreted half
before anything is compiled.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from treetop import checks
from treetop.compiler.rng import Rng, mix
from treetop.game.contract import ContractError, requirements_of
from treetop.game.definition import Game
from treetop.game.examiner import Examiner
from treetop.game.families import Family
from treetop.game.fields import negative_indices
from treetop.game.methods import ARITY
from treetop.game.notes import indices, misspelt
from treetop.game.registry import load_game
from treetop.game.shortest import conformance_error
from treetop.game.states import members

_THOROUGH = 4_000  # the number of positions in which the slow, interpreted lists are compared too


@dataclass(frozen=True)
class CheckReport:
    """The result of a passed check: how much was played, and the requirements that were verified.

    >>> import treetop as tt
    >>> report = tt.check("tic_tac_toe", games=20, seed=1)
    >>> report.games, report.longest, len(report.requirements) > 0
    (20, 9, True)
    """

    game: str
    games: int
    moves: int
    longest: int
    requirements: tuple[str, ...]
    seconds: float | None = None
    """The time budget, if it ended the check before all games were played."""
    notes: tuple[str, ...] = ()
    """What violates no requirement and is still likely to be wrong, such as a player who never moved."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        ended = "" if self.seconds is None else f"; the time budget of {self.seconds:g} s ended the check"
        lines = [f"  {requirement}" for requirement in self.requirements] + [f"note: {note}" for note in self.notes]
        listed = "\n".join(lines)
        return (
            f"{self.game} meets all requirements: {self.games:,} games, {self.moves:,} moves, "
            f"the longest game has {self.longest}{ended}\n{listed}"
        )


def check(
    game: str | Game | Family[...],
    *,
    games: int = 2000,
    seed: int = 0,
    seconds: float | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> CheckReport:
    """Play random games in both modes and raise a `ConformanceError` for the first violated requirement.

    With `seconds`, no game starts after so many seconds; the first game, during which the rules are compiled, is not
    counted. `progress` is called from time to time with the number of games played and the number of all games.

    >>> import treetop as tt
    >>> tt.check("tic_tac_toe", games=20, seed=1).games
    20
    """
    checks.whole("games", games, 1)
    checks.number("seconds", seconds, above=0, finite=False, optional=True)
    examiner = Examiner(load_game(game))
    with negative_indices() as lines:
        report = _play(examiner, games, seed, seconds, progress)
    return replace(report, notes=(*report.notes, *indices(lines), *misspelt(members(examiner.game.cls), ARITY)))


def _play(
    examiner: Examiner,
    games: int,
    seed: int,
    seconds: float | None,
    progress: Callable[[int, int], object] | None,
) -> CheckReport:
    """Play random games and return a report, with notes on the games."""
    name, requirements = examiner.game.name, requirements_of(examiner.game)
    moves, longest, stride = 0, 0, 1
    end = math.inf
    for index in range(games):
        if time.monotonic() > end:
            if progress is not None:
                progress(index, games)
            return CheckReport(name, index, moves, longest, requirements, seconds, examiner.tally.notes())
        played: list[Any] = []
        rng = Rng(mix(seed) ^ mix(index + 1))
        deal = mix(rng.word)
        try:
            examiner.play(rng, deal, stride, played)
        except ContractError as broken:
            raise conformance_error(examiner, deal, played, broken) from broken.__cause__
        moves += len(played)
        longest = max(longest, len(played))
        if index == min(20, games - 1):
            stride = max(1, round(moves / (index + 1) * games / _THOROUGH))
        if index == 0 and seconds is not None:
            end = time.monotonic() + seconds
        if progress is not None and index % 16 == 0:
            progress(index, games)
    if progress is not None:
        progress(games, games)
    return CheckReport(name, games, moves, longest, requirements, notes=examiner.tally.notes())
