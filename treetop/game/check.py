"""The conformance check: thousands of random games, interpreted and compiled with bounds checks side by side.

It finds what games get wrong, and tells it with the shortest move list that it can find and the user's own line. Here games are played;
what is looked at in each position stands in looks.py and look_kinds.py, and the hunt for the shortest game in shortest.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from treetop.compiler.rng import Rng, mix
from treetop.errors import ConfigError, ConformanceError
from treetop.game.broken import BrokenError, kept
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.looks import Looks
from treetop.game.registry import load_game
from treetop.game.shortest import shortest, tell

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
    game: str | Game | Family[...], *, games: int = 2000, seed: int = 0, progress: Callable[[int, int], object] | None = None
) -> CheckReport:
    """Play random games in both modes and raise a `ConformanceError` for the first promise that does not hold.

    `progress` is called now and then with the games done and to do.
    """
    if isinstance(games, bool) or not isinstance(games, int) or games < 1:
        raise ConfigError(f"games must be a whole number of at least 1, not {games!r}")
    looks = Looks(load_game(game))
    moves, longest, stride = 0, 0, 1
    for index in range(games):
        played: list[Any] = []
        rng = Rng(mix(seed) ^ mix(index + 1))
        deal = mix(rng.word)
        try:
            _play(looks, rng, deal, stride, played)
        except BrokenError as broken:
            found, why = shortest(looks, deal, played, broken)
            raise ConformanceError(tell(looks.game, deal, found, why)) from broken.__cause__
        moves += len(played)
        longest = max(longest, len(played))
        if index == min(20, games - 1):
            stride = max(1, round(moves / (index + 1) * games / _CLOSE_LOOKS))
        if progress is not None and index % 16 == 0:
            progress(index, games)
    if progress is not None:
        progress(games, games)
    return CheckReport(looks.game.name, games, moves, longest, kept(looks.game))


def _play(looks: Looks, rng: Rng, deal: int, stride: int, played: list[Any]) -> None:
    """One random game; `played` is filled as it goes, so that a failure leaves its moves."""
    position = looks.start(deal)
    while True:
        close = stride == 1 or rng.below(stride) == 0 or len(played) < 2
        options = looks.look(position, rng, close=close)
        if not options:
            return
        looks.length(len(played))
        action = options.pick(rng)
        played.append(action)
        position = looks.step(position, action)
