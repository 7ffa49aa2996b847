"""The conformance check: thousands of random games, interpreted and compiled with bounds checks side by side.

An error shows the shortest move list that was found and the user's own line. What is examined in each position is in looks.py and look_kinds.py,
the search for the shortest game in shortest.py. trial.py runs the interpreted half before anything is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from treetop import checks
from treetop.compiler.rng import Rng, mix
from treetop.game.broken import BrokenError, kept
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.looks import Looks
from treetop.game.registry import load_game
from treetop.game.shortest import explained

_CLOSE_LOOKS = 4_000  # positions in which the slow, interpreted lists are compared too


@dataclass(frozen=True)
class CheckReport:
    """What was played, and what held in all of it."""

    game: str
    games: int
    moves: int
    longest: int
    promises: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        held = "\n".join(f"  {promise}" for promise in self.promises)
        return f"{self.game} keeps its promises: {self.games:,} games, {self.moves:,} moves, the longest of {self.longest}\n{held}"


def check(
    game: str | Game | Family[...],
    *,
    games: int = 2000,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> CheckReport:
    """Play random games in both modes and raise a `ConformanceError` for the first promise that does not hold.

    `progress` is called now and then with the games done and to do.
    """
    checks.whole("games", games, 1)
    looks = Looks(load_game(game))
    moves, longest, stride = 0, 0, 1
    for index in range(games):
        played: list[Any] = []
        rng = Rng(mix(seed) ^ mix(index + 1))
        deal = mix(rng.word)
        try:
            looks.play(rng, deal, stride, played)
        except BrokenError as broken:
            raise explained(looks, deal, played, broken) from broken.__cause__
        moves += len(played)
        longest = max(longest, len(played))
        if index == min(20, games - 1):
            stride = max(1, round(moves / (index + 1) * games / _CLOSE_LOOKS))
        if progress is not None and index % 16 == 0:
            progress(index, games)
    if progress is not None:
        progress(games, games)
    return CheckReport(looks.game.name, games, moves, longest, kept(looks.game))
