"""Checks of observations: finite, determined by the state and the player, and without hidden information."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from treetop.compiler.rng import Rng
from treetop.game import probe
from treetop.game.contract import ContractError, guard
from treetop.game.position import Position

if TYPE_CHECKING:
    from treetop.game.examiner import Examiner

Observation: TypeAlias = npt.NDArray[np.float32]

_OBSERVED = 200  # the number of positions of a check in which observations are compared; in all others they are finite
_DRAWS = 4  # the number of determinizations whose observations are compared
_RELATIVE, _ABSOLUTE = 1e-5, 1e-6  # between the modes: functions such as sine differ in their last bits


def examine_observations(examiner: Examiner, position: Position, rng: Rng) -> None:
    """Check the observation of each player in a position."""
    examiner.observed += 1
    compared = examiner.observed <= _OBSERVED or not examiner.compiled
    for player in range(examiner.game.facts.players):
        seen = (_interpreted if compared else _compiled)(examiner, position, player)
        strange = np.argwhere(~np.isfinite(seen))
        if len(strange):
            place = strange[0].tolist()
            raise ContractError(
                "observe",
                f"observe wrote {seen[tuple(place)]} at {place} for player {player}; write finite numbers only",
                "observe",
            )
        if compared:
            _compare(examiner, position, player, seen)
            if examiner.game.has("determinize"):
                _examine_hidden(examiner, position, player, seen, rng)


def _interpreted(examiner: Examiner, position: Position, player: int) -> Observation:
    out = np.zeros(examiner.game.facts.observation_shape or (), np.float32)
    examiner.call(position, "observe", player, out)
    return out


def _compiled(examiner: Examiner, position: Position, player: int) -> Observation:
    out = np.zeros(examiner.game.facts.observation_shape or (), np.float32)
    examiner.call_compiled(position, "observe", probe.observation, player, out.reshape(-1))
    return out


def _compare(examiner: Examiner, position: Position, player: int, seen: Observation) -> None:
    """Check that a second observation of the same state is equal, and that of compiled code."""
    again = _interpreted(examiner, position, player)
    if not np.array_equal(seen, again):
        raise ContractError(
            "observe",
            f"observe for player {player} {_difference(seen, again, 'in a second call for the same state')}; an "
            "observation must depend on nothing but the state and the player",
            "observe",
        )
    if examiner.compiled:
        found = _compiled(examiner, position, player)
        if not _near(seen, found).all():
            difference = f"for player {player} it {_difference(seen, found, 'compiled')}"
            raise ContractError("same", f"observe differs between the modes: {difference}", "observe")


def _examine_hidden(examiner: Examiner, position: Position, player: int, seen: Observation, rng: Rng) -> None:
    """Check that the observation is the same in all states of the player's information set."""
    own = Rng.from_word(rng.word)
    for _ in range(_DRAWS):
        state = position.state
        guard("determinize", lambda state=state: state.determinize(player, own))  # type: ignore[misc]
        found = _interpreted(examiner, Position(examiner.game, state._states), player)
        if not np.array_equal(seen, found):
            raise ContractError(
                "hidden",
                f"observe for player {player} {_difference(seen, found, 'after determinize')}, which changes only what "
                f"is hidden from player {player}; write only what the player knows",
                "observe",
            )


def _difference(one: Observation, other: Observation, when: str) -> str:
    """Return the first number that differs between two observations, as text."""
    far, different = np.argwhere(~_near(one, other)), np.argwhere(one != other)
    place = (far if len(far) else different)[0].tolist()
    return f"writes {one[tuple(place)]:.9g} at {place}, and {other[tuple(place)]:.9g} {when}"


def _near(one: Observation, other: Observation) -> npt.NDArray[np.bool_]:
    return np.asarray(np.isclose(one, other, rtol=_RELATIVE, atol=_ABSOLUTE), np.bool_)
