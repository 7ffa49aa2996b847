"""Read many states of a game at once, as arrays: players, observations, legal actions, keys, symmetries.

All of it is compiled code. A game without `observe` has a default encoding, made from its fields.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop import checks
from treetop.compiler.engine import Engine
from treetop.compiler.rng import MIX_1, MIX_2, STEP
from treetop.errors import ConfigError, GameError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.kernels.observe import read_states, transform_states
from treetop.types import NONE

States = npt.NDArray[Any]
_GREATEST = float(np.finfo(np.float32).max)
_SLACK = 1024  # actions that a wrong game may write beyond num_actions without damage
_NOT_WANTED: dict[str, npt.NDArray[Any]] = {
    "players": np.zeros(0, np.int64),
    "observations": np.zeros((0, 1), np.float32),
    "masks": np.zeros((0, 1), np.bool_),
    "keys": np.zeros(0, np.uint64),
}


def _read(game: Game, states: States, engine: Engine | None, viewpoint: int = NONE, **wanted: npt.NDArray[Any]) -> None:
    """Fill the wanted arrays, in one compiled call."""
    actions = np.empty(game.facts.num_actions + _SLACK if "masks" in wanted else 0, np.int32)
    engine = game.engine() if engine is None else engine
    wrong = engine.entry(read_states)(states, viewpoint, actions, *(_NOT_WANTED | wanted).values())
    if wrong != NONE:
        Position(game, states[wrong : wrong + 1]).legal_actions()  # the interpreted game raises the error
        raise GameError(f"{game.name}.legal_actions lists wrong actions in state {wrong} of a batch")


def refuse_other(game: Game, states: Any) -> None:
    """Raise ConfigError for what are not records of a game.

    >>> import treetop as tt
    >>> refuse_other(tt.load_game("nim"), tt.position("nim").record)
    """
    if not isinstance(game, Game):
        raise ConfigError(f"give a game, such as treetop.load_game('nim'), not {checks.shorten(game)}")
    if not isinstance(states, np.ndarray) or states.dtype != game.dtype or states.ndim != 1:
        given = f"{states.dtype} of the shape {states.shape}" if hasattr(states, "dtype") else checks.shorten(states)
        raise ConfigError(
            f"states must be an array of records of {game.name}, as batch.states and position.record are, not {given}"
        )


def players(game: Game, states: States, *, engine: Engine | None = None) -> npt.NDArray[np.int64]:
    """Return the player to move in each state; NONE where the game is over.

    >>> import treetop as tt
    >>> players(tt.load_game("nim"), tt.position("nim").play("2").record).tolist()
    [1]
    """
    refuse_other(game, states)
    found = np.zeros(len(states), np.int64)
    _read(game, states, engine, players=found)
    return found


def legal_mask(game: Game, states: States, *, engine: Engine | None = None) -> npt.NDArray[np.bool_]:
    """Return whether each action is legal in each state: (states, actions).

    >>> import treetop as tt
    >>> legal_mask(tt.load_game("nim"), tt.position("nim(stones=2)").record).tolist()
    [[True, True, False]]
    """
    refuse_other(game, states)
    found = np.zeros((len(states), game.facts.num_actions), np.bool_)
    _read(game, states, engine, masks=found)
    return found


def keys(game: Game, states: States, *, engine: Engine | None = None) -> npt.NDArray[np.uint64]:
    """Return a 64-bit key of each state: the game's `key`, or a hash of all its fields.

    >>> import treetop as tt
    >>> one, two = (tt.position("tic_tac_toe", moves=moves).record for moves in ("a1 b2 c3", "c3 b2 a1"))
    >>> bool(keys(tt.load_game("tic_tac_toe"), one) == keys(tt.load_game("tic_tac_toe"), two))
    True
    """
    refuse_other(game, states)
    if game.has("key"):
        found = np.zeros(len(states), np.uint64)
        _read(game, states, engine, keys=found)
        return found
    return _hashes(states)


def _hashes(states: States) -> npt.NDArray[np.uint64]:
    """Return a hash of each record."""
    size = states.dtype.itemsize
    words = np.zeros((len(states), (size + 7) // 8 * 8), np.uint8)
    words[:, :size] = states.view(np.uint8).reshape(len(states), size)
    found = np.zeros(len(states), np.uint64)
    with np.errstate(over="ignore"):
        for column in words.view(np.uint64).T:
            found = (found ^ column) + np.uint64(STEP)
            found = (found ^ (found >> np.uint64(30))) * np.uint64(MIX_1)
            found = (found ^ (found >> np.uint64(27))) * np.uint64(MIX_2)
            found ^= found >> np.uint64(31)
    return found


def observation_shape(game: Game) -> tuple[int, ...]:
    """Return the shape of an observation: that of the game's `observe`, or of the default encoding.

    >>> import treetop as tt
    >>> observation_shape(tt.load_game("connect_four"))
    (3, 6, 7)
    """
    if game.has("observe"):
        shape: tuple[int, ...] = game.facts.observation_shape or ()
        return shape
    _refuse_hidden(game)
    return (len(_encoded(game, np.zeros(1, game.dtype), np.zeros(1, np.int64))[0]),)


def observations(
    game: Game, states: States, viewpoint: int | None = None, *, engine: Engine | None = None
) -> npt.NDArray[np.float32]:
    """Return an observation of each state, for the player to move or for the player `viewpoint`.

    It is written by the game's `observe`. A game without this method has a default encoding of all its fields: whole
    numbers of one and two bytes and floats as they are, wider whole numbers bit by bit, since floats of 32 bits cannot
    hold them; then the viewpoint, one-hot. It cannot be used for games with imperfect information.

    >>> import treetop as tt
    >>> observations(tt.load_game("tic_tac_toe"), tt.position("tic_tac_toe").play("b2").record)[0, 1].tolist()
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return players_and_observations(game, states, viewpoint, engine=engine)[1]


def players_and_observations(
    game: Game, states: States, viewpoint: int | None = None, *, engine: Engine | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Return both of each state: one compiled call reads them.

    >>> import treetop as tt
    >>> position = tt.position("tic_tac_toe")
    >>> [array.shape for array in players_and_observations(position.game, position.record)]
    [(1,), (1, 3, 3, 3)]
    """
    refuse_other(game, states)
    movers = np.empty(len(states), np.int64)
    if game.has("observe"):
        shape = observation_shape(game)
        found = np.empty((len(states), math.prod(shape)), np.float32)
        view = NONE if viewpoint is None else viewpoint
        _read(game, states, engine, view, players=movers, observations=found)
        return movers, found.reshape(len(states), *shape)
    _refuse_hidden(game)
    _read(game, states, engine, players=movers)
    return movers, _encoded(game, states, movers if viewpoint is None else np.full(len(states), viewpoint))


def _refuse_hidden(game: Game) -> None:
    """Raise an error if the default encoding would show hidden information."""
    if game.has("determinize"):
        raise ConfigError(
            f"{game.name} has imperfect information and no method `observe`: an encoding of all fields would show what "
            "is hidden; add `observe` and observation_shape"
        )


def _encoded(game: Game, states: States, views: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Return the default encoding: all fields, wide integers bit by bit, and the player for whom it is."""
    columns = []
    for name in game.fields:
        values = states[name].reshape(len(states), -1)
        if values.dtype.kind in "iu" and values.dtype.itemsize > 2:
            bits = np.arange(8 * values.dtype.itemsize, dtype=values.dtype)
            values = ((values[:, :, None] >> bits) & values.dtype.type(1)).reshape(len(states), -1)
        elif values.dtype.kind == "f":
            values = np.clip(values, -_GREATEST, _GREATEST)
        columns.append(values.astype(np.float32))
    own = np.zeros((len(states), game.facts.players), np.float32)
    own[np.arange(len(states)), np.maximum(views, 0)] = 1.0
    return np.concatenate([*columns, own], axis=1)


def transformed(game: Game, states: States, symmetries: npt.ArrayLike) -> tuple[States, npt.NDArray[np.int32]]:
    """Return each state after one of the game's symmetries, and where each action goes: (states, actions).

    A policy of the original is a policy of the result: `result[rows, places] = policy`.

    >>> import treetop as tt
    >>> mirrored, places = transformed(tt.load_game("connect_four"), tt.position("connect_four").play("1").record, [1])
    >>> places[0].tolist()
    [6, 5, 4, 3, 2, 1, 0]
    """
    refuse_other(game, states)
    count = game.facts.symmetries
    chosen = np.array(symmetries, np.int64)
    if count is None:
        raise ConfigError(f"{game.name} has no symmetries: its class has no method `transform`")
    if chosen.shape != (len(states),) or not np.all((chosen >= 0) & (chosen < count)):
        raise ConfigError(
            f"give a symmetry of {game.name}, 0 to {count - 1}, for each of the {len(states)} states, "
            f"not {symmetries!r}"
        )
    found, places = states.copy(), np.zeros((len(states), game.facts.num_actions), np.int32)
    wrong = game.engine().entry(transform_states)(found, chosen, places)
    if wrong != NONE:
        raise GameError(
            f"{game.name}.transform_action gives an action out of range 0 to {game.facts.num_actions - 1} in state "
            f"{wrong} of a batch"
        )
    return found, places
