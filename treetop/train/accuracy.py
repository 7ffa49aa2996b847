"""Positions with exact values, and the share of them in which a network's move keeps the value.

Positions come from random games, with a seed of their own: all runs of a game are measured by the same ones. Only
positions in which some move loses value count.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from treetop.compiler.preparing import thinking_clock
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, SaveError, SearchError, TreetopError
from treetop.evaluators.networks.model import Model
from treetop.files import parse_json, read_bytes, replacing
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.oracle.solve import solve
from treetop.oracle.solve_any import refuse_what_has_no_exact_value
from treetop.search.config import SearchConfig
from treetop.search.pool import SearchPool
from treetop.search.presets import gumbel
from treetop.search.states import legal_mask, observations

FILE, KIND, VERSION = "accuracy.json", "positions with exact values", 1
SIMULATIONS = 32
"""Simulations of a network's searches in ratings."""
_POSITIONS, _SEED = 200, 1_000_003
_LONGEST = 1 / 80  # of the time for all positions: the longest proof of one
_FIRST, _ENOUGH = 8, 3  # a game is too large if fewer of its first positions are solved
_TOO_OFTEN = 2  # unsolved positions after which so early a position is not tried again
_IN_VAIN = 1_000  # positions in a row that were seen before or have no wrong move: there are no others


@dataclass(frozen=True)
class Labelled:
    """A position with a wrong move, and the exact value of each move for the player to move.

    >>> import treetop as tt
    >>> found = Labelled(tt.position("nim(stones=5)"), {0: 1.0, 1: -1.0, 2: -1.0})
    >>> found.best
    [0]
    """

    position: Position
    values: dict[int, float]

    @property
    def best(self) -> list[int]:
        """The actions that keep the value."""
        value = max(self.values.values())
        return [action for action, one in self.values.items() if one == value]


def labelled(
    game: str | Game,
    count: int,
    *,
    seed: int,
    plies: tuple[int, int],
    seconds: float | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> list[Labelled]:
    """Return positions of random games, after `plies` moves at least and at most, with exact values.

    With `seconds` the search for them ends after that time: positions that take long are left out, and a game whose
    positions are mostly too hard gives none. Raise KeyboardInterrupt as soon as `interrupted` returns true.

    >>> [one.best for one in labelled("nim(stones=5)", 2, seed=1, plies=(0, 1))]
    [[0], [2]]
    """
    known, rng, found, seen = load_game(game), Rng(seed), list[Labelled](), set[bytes]()
    clock, (low, high) = thinking_clock(), plies
    end = math.inf if seconds is None else clock.now() + seconds
    limit = None if seconds is None else seconds * _LONGEST
    solved, failed, vain = Counter[int](), Counter[int](), 0
    while len(found) < count and vain < _IN_VAIN and clock.now() < end:
        if interrupted():
            raise KeyboardInterrupt
        if failed.total() + solved.total() == _FIRST and solved.total() < _ENOUGH:
            return []
        vain += 1
        ply = low + rng.below(high - low + 1)
        position = _random_position(known, ply, rng)
        too_early = failed[ply] >= _TOO_OFTEN and failed[ply] > solved[ply]
        if too_early or position.is_terminal or position.record.tobytes() in seen:
            continue
        seen.add(position.record.tobytes())
        try:
            values = {move.action: move.value for move in solve(position, seconds=limit).moves}
        except SearchError:
            failed[ply] += 1
            continue
        solved[ply] += 1
        if min(values.values()) < max(values.values()):
            found.append(Labelled(position, values))
            vain = 0
    return found


def kept(found: Sequence[Labelled], actions: Sequence[int]) -> float:
    """Return the share of the positions whose value a move keeps.

    >>> import treetop as tt
    >>> kept([Labelled(tt.position("nim(stones=5)"), {0: 1.0, 1: -1.0, 2: -1.0})], [0])
    1.0
    """
    return float(np.mean([int(action) in one.best for one, action in zip(found, actions, strict=True)]))


def kept_by_chance(found: Sequence[Labelled]) -> float:
    """Return the share of the positions whose value a random move keeps, on average."""
    return float(np.mean([len(one.best) / len(one.values) for one in found]))


def policy_moves(found: Sequence[Labelled], model: Model) -> list[int]:
    """Return the moves to which a network gives the highest logits."""
    records = np.concatenate([one.position.record for one in found])
    logits, _ = model.run(observations(model.game, records))
    best = np.where(legal_mask(model.game, records), logits, -np.inf).argmax(axis=1)
    return [int(action) for action in best]


def search_moves(found: Sequence[Labelled], config: SearchConfig, evaluator: Any, simulations: int) -> list[int]:
    """Return the moves of a search of each position."""
    pool = SearchPool(found[0].position.game, config.for_play(), slots=len(found), evaluator=evaluator, seed=1)
    for slot, one in enumerate(found):
        pool.replace(slot, one.position)
    pool.run(simulations=simulations)
    return [int(action) for action in pool.results().actions]


def accuracy(model: Model, found: Sequence[Labelled]) -> dict[str, float]:
    """Return the shares of positions whose value is kept, by the raw policy, by a search and by chance."""
    return {
        "positions": len(found),
        "policy": kept(found, policy_moves(found, model)),
        "search": kept(found, search_moves(found, gumbel(), model, SIMULATIONS)),
        "chance": kept_by_chance(found),
    }


def exact_positions(
    folder: Path, game: Game, *, seconds: float, interrupted: Callable[[], bool] = lambda: False
) -> list[Labelled]:
    """Return the labelled positions of a run, which are made at the first call and kept in its folder.

    A game without exact values, or one that is too large to be solved in time, has none.
    """
    path = folder / FILE
    if path.exists():
        try:
            return _read(path, game)
        except SaveError:
            pass  # they are made again
    found = _label(game, seconds, interrupted)
    content = {
        "kind": KIND, "version": VERSION, "rules": game.digest,
        "positions": [
            {"moves": list(one.position.actions), "values": {str(key): value for key, value in one.values.items()}}
            for one in found
        ],
    }  # fmt: skip
    with replacing(path) as file:
        file.write(json.dumps(content).encode())
    return found


def _label(game: Game, seconds: float, interrupted: Callable[[], bool]) -> list[Labelled]:
    if game.facts.players != 2 or game.has("deal"):
        return []
    try:
        refuse_what_has_no_exact_value(Position(game))
        rng = Rng(_SEED)
        longest = max(len(_random_position(game, game.facts.max_length, rng).actions) for _ in range(10))
        return labelled(
            game, _POSITIONS, seed=_SEED, plies=(0, max(longest - 1, 0)), seconds=seconds, interrupted=interrupted
        )
    except TreetopError:  # of a game that has no exact values, or whose lines do not fit into memory
        return []


def _random_position(game: Game, plies: int, rng: Rng) -> Position:
    """Return a position after so many random moves, or the end of the game if it comes first."""
    position = Position(game)
    while len(position.actions) < plies and not position.is_terminal:
        legal = position.legal_actions()
        position = position.apply(legal[rng.below(len(legal))])
    return position


def _read(path: Path, game: Game) -> list[Labelled]:
    """Return the positions of a file; raise SaveError where they are not positions of this game with values."""
    try:
        content = parse_json(read_bytes(path))
        if (content["kind"], content["version"], content["rules"]) != (KIND, VERSION, game.digest):
            raise SaveError(f"{path} holds no {KIND} of {game.name}: delete it, and it is made again")
        return [_one(game, entry) for entry in content["positions"]]
    except (ValueError, KeyError, TypeError, AttributeError, ConfigError) as error:
        raise SaveError(f"{path} is damaged: {error}; delete it, and it is made again") from None


def _one(game: Game, entry: Any) -> Labelled:
    position = Position(game)
    for action in entry["moves"]:
        if action not in position.legal_actions():
            raise ValueError(f"{action!r} is no legal action")
        position = position.apply(action)
    values = {int(action): float(value) for action, value in entry["values"].items()}
    if position.is_terminal or sorted(values) != sorted(position.legal_actions()):
        raise ValueError("the values are not those of the legal actions")
    return Labelled(position, values)
