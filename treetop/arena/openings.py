"""Openings: a few random moves, so that games differ; balanced, so that the players decide; each played with both
colours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treetop import checks
from treetop.arena.books import Book, Opening, read_book
from treetop.arena.seeds import DEAL, OPENING, derive
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.position import Position

_DIFFER = ("chance_outcomes", "deal", "determinize", "apply_joint", "apply_vector")
"""Methods of games that differ without random moves."""


def start_of(game: Game, seed: int, number: int) -> Position:
    """Return the start of the games of one deal: the initial position, dealt if the game deals."""
    return Position.start(game, Rng(derive(seed, DEAL, number)))


@dataclass(frozen=True)
class OpeningSettings:
    """How openings are made.

    >>> import treetop as tt
    >>> settings = tt.arena.OpeningSettings(plies=2, balanced=False)
    >>> openings = tt.arena.Openings(tt.load_game("connect_four"), settings, seed=1)
    >>> [len(openings[pair].actions) for pair in range(3)]
    [2, 2, 2]
    """

    plies: int | None = None
    """The number of random moves. Default: an eighth of the longest game, from 1 to 8, and 0 with chance or imperfect
    information.
    """
    balanced: bool = True
    """Whether a quick search must find the position balanced."""
    limit: float = 0.5
    """How far a balanced position's value may lie from the middle of the utility range, as a share of half the
    range.
    """
    simulations: int = 400
    """The simulations of the quick search."""
    tries: int = 40
    """How many openings are tried to find one that is balanced and new; after that the best of them is taken."""

    def __post_init__(self) -> None:
        for name, least in (("plies", 0), ("simulations", 1), ("tries", 1)):
            if name != "plies" or self.plies is not None:
                checks.whole(f"{name} of the openings", getattr(self, name), least)
        checks.number("limit of the openings", self.limit, above=0, high=1)

    def plies_for(self, game: Game) -> int:
        """Return how many random moves an opening of a game has."""
        if self.plies is not None:
            return self.plies
        return 0 if any(game.has(method) for method in _DIFFER) else min(8, max(1, game.facts.max_length // 8))

    def to_dict(self, game: Game) -> dict[str, Any]:
        """Return plain values for a match's file."""
        judge = {"limit": self.limit, "simulations": self.simulations} if self.balanced else {}
        return {"plies": self.plies_for(game), "balanced": self.balanced, **judge, "tries": self.tries}

    def chooser(self, game: Game, seed: int, known: Mapping[int, Opening]) -> Callable[[int], Opening]:
        """Return the function that gives the opening of each pair; `known` are those of a match that is resumed."""
        made = Openings(game, self, seed, {pair: opening.actions for pair, opening in known.items()})
        return lambda pair: Opening(made[pair].actions)


def choose_openings(
    game: Game, openings: str | Path | Sequence[str] | None, order: str, plies: int | None, *, balanced: bool
) -> OpeningSettings | Book:
    """Return how the openings of a match are found: in a file or a list, or made at random.

    >>> import treetop as tt
    >>> choose_openings(tt.load_game("tic_tac_toe"), ["a1", "b2"], "file", None, balanced=True).openings
    (Opening(actions=(0,), setup=None), Opening(actions=(4,), setup=None))
    """
    if openings is None:
        if order != "file":
            raise ConfigError(f"the order of openings, {order!r}, is for openings from a file: give openings too")
        return OpeningSettings(plies, balanced)
    if not balanced:
        raise ConfigError("openings from a file are used as they are: leave out what allows unbalanced ones")
    return read_book(openings, game, order=order, plies=plies)


class Openings:
    """The openings of a match, one for each pair: `openings[3]` is the fourth.

    An opening depends on the seed, on the number of its pair and on the openings before it, which it tries not to
    repeat. `known` are openings that were made before, in a match that is resumed.

    >>> import treetop as tt
    >>> openings = Openings(tt.load_game("tic_tac_toe"), OpeningSettings(plies=2, balanced=False), seed=1)
    >>> len(openings[0].actions)
    2
    """

    def __init__(
        self, game: Game, settings: OpeningSettings, seed: int, known: Mapping[int, tuple[Any, ...]] | None = None
    ) -> None:
        self._game, self._settings, self._seed = game, settings, seed
        self._plies = settings.plies_for(game)
        self._known = dict(known or {})
        self._made: list[Position] = []
        self._uses: dict[bytes, int] = {}
        self._tilts: dict[bytes, float] = {}

    def __getitem__(self, pair: int) -> Position:
        while len(self._made) <= pair:
            number = len(self._made)
            made = (
                start_of(self._game, self._seed, number).play(self._known[number])
                if number in self._known
                else self._make(number)
            )
            self._made.append(made)
            key = made.record.tobytes()
            self._uses[key] = self._uses.get(key, 0) + 1
        return self._made[pair]

    def _make(self, pair: int) -> Position:
        best: Position | None = None
        best_faults = (1, 0, 0.0)
        for attempt in range(self._settings.tries if self._plies else 1):
            candidate = self._walk(
                start_of(self._game, self._seed, pair), Rng(derive(self._seed, OPENING, pair, attempt))
            )
            if candidate is None:
                continue
            uses = self._uses.get(candidate.record.tobytes(), 0)
            tilt = self._tilt(candidate)
            faults = (int(tilt > self._settings.limit), uses, tilt)
            if faults[:2] == (0, 0):
                return candidate
            if best is None or faults < best_faults:
                best, best_faults = candidate, faults
        if best is None:
            raise ConfigError(
                f"no opening of {self._plies} random moves in {self._game.name} leaves a game to play: ask for fewer"
            )
        return best

    def _walk(self, position: Position, rng: Rng) -> Position | None:
        """Play random moves from the start, chance not counted. Return None if the game is over by then, or one move
        from its end.
        """
        for _ in range(self._plies):
            position = position.resolve_chance(rng)
            if position.is_terminal:
                return None
            position = position.apply(position.sample_action(rng))
        return None if self._plies and _is_decided(position) else position

    def _tilt(self, position: Position) -> float:
        """Return how far the value lies from the middle, for the player with the largest difference; 0 if balance is
        not required.
        """
        if (
            not self._settings.balanced or not self._plies or self._game.has("determinize")
        ):  # a search would see only one side of the hidden information
            return 0.0
        key = position.record.tobytes()
        if key not in self._tilts:
            from treetop.search.limits import Limit
            from treetop.search.search import Search

            facts, resolved = self._game.facts, position.resolve_chance(Rng(0))
            if resolved.is_terminal:
                return 0.0
            judged = Search(resolved).run(Limit(simulations=self._settings.simulations))
            if judged.interrupted:  # a search that was cut short would give another value
                raise KeyboardInterrupt
            half = (facts.rewards[1] - facts.rewards[0]) / 2
            self._tilts[key] = max(abs(value - facts.middle) for value in judged.values) / half
        return self._tilts[key]


def _is_decided(position: Position) -> bool:
    """Return whether the game is over, or the player to move wins at once, or must lose at once."""
    if position.is_terminal:
        return True
    mover = position.player
    if mover < 0 or position.is_continuous:
        return False
    high = position.game.facts.rewards[1]
    all_end = True
    for action in position.legal_actions():
        state = position.state
        state.apply(action)
        if not state.is_terminal():
            all_end = False
            continue
        rewards = Position(position.game, state._states).rewards
        if rewards[mover] >= high or rewards[mover] > max(rewards[:mover] + rewards[mover + 1 :], default=high):
            return True
    return all_end
