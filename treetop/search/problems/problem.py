"""Python problems: the methods of a class whose states can be searched. See docs/own-objects.md for an example."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, runtime_checkable

from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.position import Position


def is_problem(game: Any) -> bool:
    """Return whether an object is meant as a Python problem; `CheckedProblem` checks the methods."""
    own = not isinstance(game, (str, Game, Family, Position))
    return own and any(callable(getattr(game, method, None)) for method in ("actions", "step"))


def unsearchable(game: Any) -> ConfigError:
    """Return the error for an object that is neither a game nor a problem."""
    return ConfigError(
        "give a game (its name, a class under @treetop.game or a Position) or a Python problem (an object with the "
        f"methods actions, step, is_terminal and rewards), not {game!r}"
    )


@runtime_checkable
class Problem(Protocol):
    """A problem with states of any type and hashable actions. A class need not inherit from this.

    Optional attributes: `num_players` (1), `reward_range` ((-1, 1), of a whole game), `zero_sum` (for two players: True
    if the range is symmetric), `step_rewards` (False), `max_length` (of a rollout, 10,000), `name`. Optional methods:

    - `initial()`: the state to search, if the search is given none;
    - `player(state)`: the player to move, by default 0; `treetop.CHANCE` at a chance node;
    - `outcomes(state)`: at a chance node, pairs of an outcome and its probability;
    - `copy(state)`: needed if `step` changes the state that it is given;
    - `prior(state, actions)`: a prior for each action;
    - `rollout(state, rng)`: the rewards of one game played from here; it may change the state if there is a `copy`;
    - `key(state)`: a name of the state, for records; `text(action)`, `render(state)`: texts for people.

    With `step_rewards = True`, `step` returns the next state and the immediate reward of each player; `rewards` returns
    what the end adds.

    >>> import treetop as tt
    >>> class Countdown:
    ...     def initial(self): return 4
    ...     def actions(self, state): return ["one", "two"]
    ...     def is_terminal(self, state): return state <= 0
    ...     def step(self, state, action): return state - (1 if action == "one" else 2)
    ...     def rewards(self, state): return [1.0 if state == 0 else -1.0]
    >>> isinstance(Countdown(), tt.Problem)
    True
    >>> tt.Search(Countdown(), seed=1).run(tt.Limit(simulations=100)).value > 0.5
    True
    """

    def actions(self, state: Any) -> Sequence[Hashable]:
        """Return the actions of a state that is not terminal: at least one, all different."""
        ...

    def step(self, state: Any, action: Any) -> Any:
        """Return the state after an action."""
        ...

    def is_terminal(self, state: Any) -> bool:
        """Return whether the state is terminal."""
        ...

    def rewards(self, state: Any) -> Any:
        """Return the rewards of a terminal state, one for each player; for one player a single number is enough."""
        ...
