"""OpenSpiel games as problems, and Treetop as an OpenSpiel bot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from treetop import checks
from treetop.adapters.options import check_policy
from treetop.adapters.packages import load
from treetop.compiler.rng import Rng, mix
from treetop.errors import ConfigError, GameError, PlayerError, UnknownGameError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.players.protocol import Player
from treetop.search.config import SearchConfig
from treetop.search.limits import Limit
from treetop.search.search import Search
from treetop.types import CHANCE

pyspiel = load("pyspiel", "openspiel")
_Bot: Any = pyspiel.Bot

_SIMULATIONS = 1000  # of a bot without a limit


class OpenSpielProblem:
    """An OpenSpiel game, from its start or from one of its states, as a problem to search.

    `game` is a name with parameters ("connect_four", "pig(winscore=50)"), a `pyspiel.Game`, or the `pyspiel.State` to
    search, which is not changed.

    - Chance is searched by its exact outcomes.
    - Simultaneous moves are searched in turn, `player` first: the others see what was chosen. That is the pessimistic
      reading for `player`, and reveals nothing that `player` could not know.
    - With imperfect information the state to search must be given. Its player has an information set: `worlds` states
      of it are drawn, by `seed`, with OpenSpiel's `resample_from_infostate`, and the search averages over them. After
      the first action everything is visible to it (perfect-information Monte Carlo), so it neither bluffs nor pays for
      information. A game that cannot draw such states is refused.

    >>> import treetop
    >>> problem = OpenSpielProblem("tic_tac_toe")
    >>> treetop.Search(problem, treetop.uct(solver=True), seed=1).run(treetop.Limit(simulations=20_000)).value
    0.0
    """

    outcomes: Callable[[Any], list[tuple[int, float]]]

    def __new__(cls, game: Any, **options: Any) -> OpenSpielProblem:  # noqa: ARG004, PYI034
        """Return a problem of the kind that the game needs."""
        kind = _load(game)[0].get_type()
        if kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
            return super().__new__(_InTurn)
        if kind.information != pyspiel.GameType.Information.PERFECT_INFORMATION:
            return super().__new__(_Hidden)
        return super().__new__(cls)

    def __init__(self, game: Any, *, player: int = 0, worlds: int = 64, seed: int = 0) -> None:
        self.game, self._state = _load(game)
        self._player, self._worlds, self._seed = player, worlds, seed
        kind = self.game.get_type()
        self.name = f"OpenSpiel's {kind.short_name}"
        if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
            raise ConfigError(f"{self.name} is a mean-field game, which has no players to search for")
        if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
            raise ConfigError(
                f"{self.name} samples chance inside a step and does not list the outcomes, so it cannot be searched"
            )
        self.num_players = self.game.num_players()
        checks.whole("player", player, 0, self.num_players - 1)
        checks.whole("worlds", worlds, 1)
        self.reward_range = (self.game.min_utility(), self.game.max_utility())
        self.zero_sum = self.num_players == 2 and kind.utility == pyspiel.GameType.Utility.ZERO_SUM
        self.step_rewards = kind.reward_model == pyspiel.GameType.RewardModel.REWARDS
        if self.step_rewards and self._state is not None:  # a part of the total was received before
            low, high, received = *self.reward_range, self._state.returns()
            self.reward_range = (low - max(received), high - min(received))
        # Simultaneous moves made in turn count one by one, and so do the outcomes of chance.
        self.max_length = self.game.max_game_length() * self.num_players + self.game.max_chance_nodes_in_history() + 1
        self._check(kind)
        if kind.chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC:
            self.outcomes = self._outcomes

    def _check(self, kind: Any) -> None:
        """Prepare what a kind of game needs."""

    def initial(self) -> Any:
        """Return the given state, or the game's initial state."""
        return self.game.new_initial_state() if self._state is None else self._state.clone()

    def player(self, state: Any) -> int:
        """Return the player to move."""
        player: int = state.current_player()
        return player  # OpenSpiel and Treetop use the same number for chance

    def actions(self, state: Any) -> list[int]:
        """Return OpenSpiel's legal actions."""
        actions: list[int] = state.legal_actions()
        return actions

    def _outcomes(self, state: Any) -> list[tuple[int, float]]:
        """Return OpenSpiel's chance outcomes."""
        outcomes: list[tuple[int, float]] = state.chance_outcomes()
        return outcomes

    def copy(self, state: Any) -> Any:
        """Return a copy of a state."""
        return state.clone()

    def step(self, state: Any, action: int) -> Any:
        """Apply an action to the given state."""
        state.apply_action(action)
        return (None, state.rewards()) if self.step_rewards else None

    def is_terminal(self, state: Any) -> bool:
        """Return whether the game is over."""
        over: bool = state.is_terminal()
        return over

    def rewards(self, state: Any) -> list[float]:
        """Return the final rewards, or 0 if all rewards are immediate."""
        returns: list[float] = [0.0] * self.num_players if self.step_rewards else state.returns()
        return returns

    def key(self, state: Any) -> str:
        """Return the actions that led to the state."""
        return str(state.history_str())

    def render(self, state: Any) -> str:
        """Return the state as OpenSpiel prints it."""
        return str(state)


class _Open:
    """A state of a game with simultaneous moves, and the actions chosen so far."""

    __slots__ = ("chosen", "state")

    def __init__(self, state: Any, chosen: dict[int, int]) -> None:
        self.state, self.chosen = state, chosen

    def __str__(self) -> str:
        return f"{self.state}\nchosen: {self.chosen}" if self.chosen else str(self.state)

    __repr__ = __str__


class _InTurn(OpenSpielProblem):
    """Simultaneous moves, made one after the other: the searching player first."""

    def _check(self, kind: Any) -> None:
        self._order: list[int] = [(self._player + place) % self.num_players for place in range(self.num_players)]
        if kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION:
            raise ConfigError(
                f"{self.name} has imperfect information and simultaneous moves, which cannot be searched here"
            )

    def initial(self) -> _Open:
        return _Open(super().initial(), {})

    def player(self, state: _Open) -> int:
        if state.state.is_simultaneous_node():
            return self._order[len(state.chosen)]
        return super().player(state.state)

    def actions(self, state: _Open) -> list[int]:
        actions: list[int] = state.state.legal_actions(self.player(state))
        return actions or [0]  # a player without a choice still takes part, with any action

    def _outcomes(self, state: _Open) -> list[tuple[int, float]]:
        return super()._outcomes(state.state)

    def copy(self, state: _Open) -> _Open:
        return _Open(state.state.clone(), dict(state.chosen))

    def step(self, state: _Open, action: int) -> Any:
        if not state.state.is_simultaneous_node():
            return super().step(state.state, action)
        state.chosen[self._order[len(state.chosen)]] = action
        if len(state.chosen) < self.num_players:
            return (None, [0.0] * self.num_players) if self.step_rewards else None
        state.state.apply_actions([state.chosen[player] for player in range(self.num_players)])
        state.chosen.clear()
        return (None, state.state.rewards()) if self.step_rewards else None

    def is_terminal(self, state: _Open) -> bool:
        return super().is_terminal(state.state)

    def rewards(self, state: _Open) -> list[float]:
        return super().rewards(state.state)

    def key(self, state: _Open) -> str:
        return f"{state.state.history_str()} {sorted(state.chosen.items())}"

    def render(self, state: _Open) -> str:
        return str(state)


class _Veiled:
    """The information of a player: the states it may be in, how often each was drawn, and then the chosen action."""

    __slots__ = ("action", "actions", "player", "text", "worlds")

    def __init__(
        self, player: int, actions: list[int], text: str, worlds: list[tuple[Any, float]], action: int | None = None
    ) -> None:
        self.player, self.actions, self.text, self.worlds, self.action = player, actions, text, worlds, action

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


class _Hidden(OpenSpielProblem):
    """An information set at the root, and states drawn from it below."""

    def _check(self, kind: Any) -> None:  # noqa: ARG002 - the shape of the method
        if self._state is None:
            raise ConfigError(f"{self.name} has imperfect information: give a state in which a player is to move")
        if self._state.is_terminal() or self._state.current_player() < 0:
            raise ConfigError(
                f"{self.name} has imperfect information: search it from a state in which a player is to move, "
                f"not from this one\n{self._state}"
            )
        self._root = self._look(self._state)
        self.outcomes = self._outcomes

    def _look(self, state: Any) -> _Veiled:
        """Draw states that the player to move cannot distinguish from this one. Nothing else of the state is kept."""
        player, rng = state.current_player(), Rng(self._seed)
        found: dict[str, tuple[Any, int]] = {}
        try:
            for _ in range(self._worlds):
                world = state.resample_from_infostate(player, rng.random)
                key = world.history_str()
                found[key] = (world, found[key][1] + 1 if key in found else 1)
            text = state.information_state_string(player)
        except pyspiel.SpielError as error:
            raise ConfigError(
                f"{self.name} has imperfect information and cannot resample it, so it cannot be searched: {error}"
            ) from None
        return _Veiled(
            player, state.legal_actions(), text, [(world, count / self._worlds) for world, count in found.values()]
        )

    def initial(self) -> Any:
        return self._root

    def player(self, state: Any) -> int:
        if isinstance(state, _Veiled):
            return state.player if state.action is None else CHANCE
        return super().player(state)

    def actions(self, state: Any) -> list[int]:
        return state.actions if isinstance(state, _Veiled) else super().actions(state)

    def _outcomes(self, state: Any) -> list[tuple[int, float]]:
        if isinstance(state, _Veiled):
            return [(number, probability) for number, (_, probability) in enumerate(state.worlds)]
        return super()._outcomes(state)

    def copy(self, state: Any) -> Any:
        return state if isinstance(state, _Veiled) else state.clone()

    def step(self, state: Any, action: int) -> Any:
        if not isinstance(state, _Veiled):
            return super().step(state, action)
        if state.action is None:
            following: Any = _Veiled(state.player, state.actions, state.text, state.worlds, action)
            received = [0.0] * self.num_players
        else:
            following = state.worlds[action][0].child(state.action)
            received = following.rewards() if self.step_rewards else []
        return (following, received) if self.step_rewards else following

    def is_terminal(self, state: Any) -> bool:
        return False if isinstance(state, _Veiled) else super().is_terminal(state)

    def key(self, state: Any) -> str:
        return f"{state.text} {state.action}" if isinstance(state, _Veiled) else super().key(state)


def _load(game: Any) -> tuple[Any, Any]:
    """Return an OpenSpiel game, and the state to begin with if one was given."""
    if isinstance(game, pyspiel.State):
        return game.get_game(), game.clone()
    if isinstance(game, pyspiel.Game):
        return game, None
    if not isinstance(game, str):
        raise ConfigError(
            f"game must be the name of an OpenSpiel game, a pyspiel.Game or a pyspiel.State, not {game!r}"
        )
    try:
        return pyspiel.load_game(game), None
    except pyspiel.SpielError as error:
        raise UnknownGameError(f"OpenSpiel has no such game: {str(error).splitlines()[0]}") from None


class TreetopBot(_Bot):
    """A bot for OpenSpiel's matches and tournaments.

    It searches the states it is given, of any game that `OpenSpielProblem` takes, within `limit` for each move. Or it
    asks a Treetop `player` of Treetop's own `game`: then both games must have the same positions; `to_ours` and
    `to_theirs` translate actions if their numbers differ. Each move has its own seed, made of `seed` and the number of
    moves before it.

    >>> import pyspiel, treetop as tt
    >>> bot = TreetopBot(tt.Limit(simulations=50), seed=1)
    >>> bot.step(pyspiel.load_game("tic_tac_toe").new_initial_state()) in range(9)
    True
    """

    def __init__(
        self,
        limit: Limit | None = None,
        config: SearchConfig | None = None,
        *,
        evaluator: Any = None,
        seed: int = 0,
        worlds: int = 64,
        player_id: int = 0,
        player: Player | None = None,
        game: str | Game | None = None,
        to_ours: Callable[[Any, int], int] | None = None,
        to_theirs: Callable[[Any, int], int] | None = None,
    ) -> None:
        super().__init__()
        if (player is None) != (game is None):
            raise ConfigError("a bot of a Treetop player needs both player= and game=, the Treetop game of the player")
        if player is not None and (limit, config, evaluator) != (None, None, None):
            raise ConfigError("a player has its own limit, config and evaluator: leave them out")
        self._limit = Limit(simulations=_SIMULATIONS) if limit is None else limit
        check_policy("TreetopBot", OpenSpielProblem, self._limit, config, seed, {})
        self._config, self._evaluator, self._seed, self._worlds, self._player_id = (
            config,
            evaluator,
            seed,
            worlds,
            player_id,
        )
        self._player, self._game = player, None if game is None else load_game(game)
        self._to_ours, self._to_theirs = to_ours, to_theirs
        self._position: Position | None = None

    def restart_at(self, state: Any) -> None:  # noqa: ARG002 - the shape of a bot
        """Begin a game, or continue from another state."""
        self._position = None

    def restart(self) -> None:
        """Begin a new game."""
        self._position = None

    def provides_force_action(self) -> bool:
        """Return True: the bot looks at the state alone."""
        return True

    def force_action(self, state: Any, action: int) -> None:
        """Do nothing: the bot looks at the state alone."""

    def provides_policy(self) -> bool:
        """Return True: the bot returns its visits as a policy."""
        return self._player is None

    def step(self, state: Any) -> int:
        """Return the action to play."""
        return self._ask_player(state) if self._player is not None else int(self._search(state).action)

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """Return the probability of each action, by the visits of a search."""
        return [(int(action), share) for action, share in self._search(state).policy().items()]

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """Return both, from one search."""
        result = self._search(state)
        return [(int(action), share) for action, share in result.policy().items()], int(result.action)

    def _search(self, state: Any) -> Any:
        seed = mix(mix(self._seed) + state.move_number()) >> 1
        problem = OpenSpielProblem(state, player=self._player_id, worlds=self._worlds, seed=seed)
        return Search(problem, self._config, evaluator=self._evaluator, seed=seed).run(self._limit)

    def _ask_player(self, state: Any) -> int:
        """Bring the player to this state, by the moves that are new to it, and ask it."""
        assert self._player is not None
        assert self._game is not None
        actions = self._translated(state)
        known = self._position
        if known is None or list(known.actions) != actions[: len(known.actions)]:
            known = Position.start(self._game)
            self._player.begin(known, self._seed)
        for action in actions[len(known.actions) :]:
            known = known.apply(action)
            self._player.observe(action)
        self._position = known
        if known.player != state.current_player():
            raise GameError(
                f"in {self._game.name} player {known.player} is to move, "
                f"in OpenSpiel player {state.current_player()}\n{known}"
            )
        chosen = self._player.choose(known)
        if isinstance(chosen, tuple):
            raise GameError(f"{self._game.name} has continuous actions, which OpenSpiel's games do not have")
        theirs = chosen if self._to_theirs is None else self._to_theirs(state, chosen)
        if theirs not in state.legal_actions():
            raise PlayerError(
                f"{self._player.name} chose {chosen!r}, which is {theirs!r} for OpenSpiel and not legal there\n{state}"
            )
        return int(theirs)

    def _translated(self, state: Any) -> Sequence[int]:
        """Return the history in Treetop's numbers."""
        if self._to_ours is None:
            return [int(action) for action in state.history()]
        before, actions = state.get_game().new_initial_state(), []
        for action in state.history():
            actions.append(self._to_ours(before, action))
            before.apply_action(action)
        return actions
