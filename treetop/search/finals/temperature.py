"""Temperature: the move is drawn by its visits, for self-play, where games have to differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treetop.compiler.rng import Rng
from treetop.kernels.parts import number, share
from treetop.search.finals.final import Candidates, Choice, Final, draw
from treetop.search.finals.visits import Visits

if TYPE_CHECKING:
    from treetop.search.result import SearchResult


@dataclass(frozen=True, kw_only=True)
class Temperature(Final):
    """A move drawn with a probability proportional to visits ** (1 / temperature).

    >>> import treetop as tt
    >>> config = tt.SearchConfig(final=tt.rules.Temperature(temperature=0.5))
    >>> tt.search("tic_tac_toe", config, simulations=500, seed=1).explain().why
    'it was drawn, at temperature 0.5, with a probability of 75.2%'
    """

    name = "temperature"

    temperature: float = number(
        1.0,
        "0 plays the most visited move, 1 draws by visits, infinity draws any.",
        low=0.0,
        finite=False,
        kernel=False,
    )
    temperature_decay: float = share(1.0, "The factor of the temperature after each move.", kernel=False)
    temperature_final: float = number(0.0, "The temperature does not fall below this.", low=0.0, kernel=False)

    def at(self, moves: int) -> float:
        """Return the temperature after `moves` moves."""
        return max(self.temperature_final, self.temperature * self.temperature_decay**moves)

    def choose(self, result: SearchResult, candidates: Candidates, rng: Rng) -> Choice:
        """Return the index of the move to play among the candidates, and the reason."""
        temperature = self.at(len(result.position.actions))
        if not temperature > 0:
            return Visits().choose(result, candidates, rng)
        index, probability = draw(result.shares(temperature), candidates, rng)
        return index, lambda: f"it was drawn, at temperature {temperature:g}, with a probability of {probability:.1%}"
