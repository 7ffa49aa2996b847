"""Treetop games as OpenSpiel games, for its algorithms, bots and tests."""

from __future__ import annotations

import re
from typing import Any

from treetop.adapters.packages import load
from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.game.families import Family
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.types import CHANCE, SIMULTANEOUS

pyspiel = load("pyspiel", "openspiel")
_Game: Any = pyspiel.Game
_State: Any = pyspiel.State


def as_openspiel(game: str | Game | Family[...]) -> TreetopGame:
    """Return a Treetop game, bundled or of your own, as a `pyspiel.Game`.

    Actions and outcomes have the same numbers. Chance is explicit, simultaneous moves stay simultaneous, and the
    `information_state_string` identifies the information set. Games with continuous actions, and those whose start is
    dealt outside of their rules, are refused.

    >>> state = as_openspiel("tic_tac_toe").new_initial_state()
    >>> state.apply_action(4)
    >>> state.current_player(), len(state.legal_actions())
    (1, 8)
    """
    return TreetopGame(load_game(game))


class TreetopGame(_Game):
    """A `pyspiel.Game` with the rules of a Treetop game; `as_openspiel` makes one.

    >>> game = as_openspiel("tic_tac_toe")
    >>> game.num_players(), game.num_distinct_actions(), game.treetop_game.name
    (2, 9, 'tic_tac_toe')
    """

    def __init__(self, game: Game) -> None:
        facts = game.facts
        if facts.action_size is not None:
            raise ConfigError(f"{game.name} has continuous actions, which OpenSpiel's games do not have")
        if game.has("deal"):
            raise ConfigError(
                f"the start of {game.name} is dealt outside of its rules, which OpenSpiel's games do not have"
            )
        kind, start = pyspiel.GameType, Position(game)
        self.treetop_game = game
        at_once, hidden = game.has("apply_joint"), game.has("information")
        information = kind.Information.IMPERFECT_INFORMATION if hidden else kind.Information.PERFECT_INFORMATION
        if start.player == SIMULTANEOUS and facts.max_length == 1:
            information = kind.Information.ONE_SHOT
        described = kind(
            short_name="treetop_" + re.sub(r"\W+", "_", game.name).strip("_").lower(),
            long_name=f"{game.name} by Treetop",
            dynamics=kind.Dynamics.SIMULTANEOUS if at_once else kind.Dynamics.SEQUENTIAL,
            chance_mode=kind.ChanceMode.DETERMINISTIC
            if facts.num_outcomes is None
            else kind.ChanceMode.EXPLICIT_STOCHASTIC,
            information=information,
            utility=kind.Utility.ZERO_SUM if facts.zero_sum else kind.Utility.GENERAL_SUM,
            reward_model=kind.RewardModel.REWARDS if game.has("step_rewards") else kind.RewardModel.TERMINAL,
            max_num_players=facts.players,
            min_num_players=facts.players,
            provides_information_state_string=True,
            provides_information_state_tensor=False,
            provides_observation_string=True,
            provides_observation_tensor=False,
        )
        low, high = facts.rewards
        numbers = pyspiel.GameInfo(
            num_distinct_actions=facts.num_actions,
            max_chance_outcomes=facts.num_outcomes or 0,
            num_players=facts.players,
            min_utility=float(low),
            max_utility=float(high),
            utility_sum=0.0 if facts.zero_sum else None,
            max_game_length=facts.max_length,
        )
        super().__init__(described, numbers, {})

    def new_initial_state(self) -> TreetopState:
        """Return the initial state."""
        return TreetopState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> TreetopObserver:  # noqa: ARG002
        """Return an observer, by which OpenSpiel asks for observations."""
        return TreetopObserver(remembers=iig_obs_type is not None and iig_obs_type.perfect_recall)


class TreetopObserver:
    """An observer that writes a player's observation as text: the present one, or with `remembers` the whole game's."""

    def __init__(self, *, remembers: bool) -> None:
        self._remembers = remembers
        self.tensor, self.dict = None, dict[str, Any]()

    def set_from(self, state: TreetopState, player: int) -> None:
        """Do nothing: there are no tensors to fill."""

    def string_from(self, state: TreetopState, player: int) -> str:
        """Return the position as the player may see it; or, to identify the information set, a key, or the history in
        games of perfect information.
        """
        position = state.position
        if not self._remembers:
            return position.shown_to(player)
        if not position.game.has("information"):
            return " ".join(map(str, state.history()))
        return f"{player}:{position.information(player):016x}"


class _Held:
    """A position that is never changed, so that copies of a state share it."""

    __slots__ = ("position", "received")

    def __init__(self, position: Position, received: tuple[float, ...]) -> None:
        self.position, self.received = position, received

    def __deepcopy__(self, memo: Any) -> _Held:
        return self


class TreetopState(_State):
    """A `pyspiel.State` of a Treetop game; `position` is the same as a Treetop position.

    >>> state = as_openspiel("tic_tac_toe").new_initial_state()
    >>> state.apply_action(4)
    >>> state.current_player(), state.position.moves()
    (1, ['b2'])
    """

    def __init__(self, game: TreetopGame) -> None:
        super().__init__(game)
        self._held = _Held(Position(game.treetop_game), (0.0,) * game.num_players())

    @property
    def position(self) -> Position:
        """The same as a Treetop position."""
        return self._held.position

    def current_player(self) -> int:
        """Return the player to move, in OpenSpiel's numbers."""
        position = self.position
        if position.is_terminal:
            return int(pyspiel.PlayerId.TERMINAL)
        player = position.player
        return (
            int(pyspiel.PlayerId.CHANCE)
            if player == CHANCE
            else int(pyspiel.PlayerId.SIMULTANEOUS)
            if player == SIMULTANEOUS
            else player
        )

    def _legal_actions(self, player: int) -> list[int]:
        return sorted(self.position.legal_actions(player))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the chance outcomes and their probabilities."""
        return self.position.outcomes()

    def _apply_action(self, action: int) -> None:
        self._go(self.position.apply(int(action)))

    def _apply_actions(self, actions: Any) -> None:
        self._go(self.position.apply(tuple(int(action) for action in actions)))

    def _go(self, position: Position) -> None:
        """Move to another position, with all immediate rewards. OpenSpiel keeps the history."""
        received = tuple(one + more for one, more in zip(self._held.received, position.step_rewards, strict=True))
        self._held = _Held(position, received)

    def _action_to_string(self, player: int, action: int) -> str:
        position = self.position
        if position.is_terminal or action not in position.legal_actions(
            None if player == CHANCE or position.player != SIMULTANEOUS else player
        ):
            return str(action)
        return str(action) if position.player == SIMULTANEOUS else position.move_text(action)

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.position.is_terminal

    def returns(self) -> list[float]:
        """Return what each player has received so far."""
        ends = self.position.rewards if self.position.is_terminal else [0.0] * len(self._held.received)
        return [one + more for one, more in zip(self._held.received, ends, strict=True)]

    def rewards(self) -> list[float]:
        """Return what each player has received by the last action."""
        position = self.position
        ends = position.rewards if position.is_terminal else [0.0] * len(self._held.received)
        return [one + more for one, more in zip(position.step_rewards, ends, strict=True)]

    def __str__(self) -> str:
        return str(self.position)
