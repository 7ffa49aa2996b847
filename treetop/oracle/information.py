"""Small games of imperfect information: the whole tree, its information sets, best responses, exploitability.

For two-player zero-sum games whose deals are chance outcomes. Simultaneous moves are treated as made one after the
other, the second without having seen the first. In plain Python: the oracle shares nothing with the search.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from treetop import checks
from treetop.errors import ConfigError, GameError
from treetop.game.definition import Game
from treetop.game.position import Position
from treetop.game.registry import load_game
from treetop.types import CHANCE, SIMULTANEOUS

Strategy: TypeAlias = Mapping[Any, Mapping[Any, float]]
"""For each information set, by its key, the probability of each action; an action that is not named has
probability 0.
"""

OVER, DRAWN, CHOSEN = 0, 1, 2
_SUM = 1e-6  # the allowed error of the sum of a strategy's probabilities


@dataclass(slots=True)
class TreeNode:
    """One node of the whole tree."""

    kind: int
    """OVER, DRAWN by chance, or CHOSEN by a player."""
    payoff: float = 0.0
    """At a terminal node: all that player 0 has received since the start of the tree."""
    player: int = 0
    key: Hashable = None
    """The information set in which the player has to choose."""
    ways: list[tuple[Any, float, TreeNode]] = field(default_factory=list)
    """Action or outcome, the outcome's probability (1 for an action), and the child."""


@dataclass(frozen=True)
class InformationSet:
    """An information set: the player, the actions, and one of its positions."""

    player: int
    actions: tuple[Any, ...]
    position: Position


class InformationTree:
    """The whole tree of a game from a position, with its information sets."""

    def __init__(self, game: str | Game | Position, *, max_positions: int = 1_000_000) -> None:
        start = game if isinstance(game, Position) else Position(load_game(game))
        facts = start.game.facts
        if facts.players != 2 or not facts.zero_sum:
            raise GameError(f"{start.game.name}: equilibria are computed for two-player zero-sum games")
        if start.game.has("deal"):
            raise GameError(
                f"{start.game.name} deals at random by `deal`, which cannot be enumerated: "
                "chance must consist of outcomes"
            )
        self.name = start.game.name
        self.sets: dict[Hashable, InformationSet] = {}
        """The information sets by their keys, in depth-first order."""
        self.num_positions = 0
        self._max_positions = max_positions
        self.root = self._grow(start, 0.0)

    def _grow(self, position: Position, received: float) -> TreeNode:
        """Return the tree below a position, at which player 0 has received so much since the start."""
        self.num_positions += 1
        if self.num_positions > self._max_positions:
            raise GameError(f"{self.name} has more than {self._max_positions:,} positions: too many to visit all")
        if position.is_terminal:
            return TreeNode(OVER, payoff=received + position.rewards[0])
        player = position.player
        if player == CHANCE:
            return TreeNode(
                DRAWN,
                ways=[
                    (outcome, chance, self._next(position, outcome, received))
                    for outcome, chance in position.outcomes()
                ],
            )
        if player == SIMULTANEOUS:
            node = self._choice(position, 0)
            for first in self.sets[node.key].actions:
                answer = self._choice(position, 1)
                answer.ways = [
                    (second, 1.0, self._next(position, (first, second), received))
                    for second in self.sets[answer.key].actions
                ]
                node.ways.append((first, 1.0, answer))
            return node
        node = self._choice(position, player)
        node.ways = [(action, 1.0, self._next(position, action, received)) for action in self.sets[node.key].actions]
        return node

    def _next(self, position: Position, action: Any, received: float) -> TreeNode:
        following = position.apply(action)
        return self._grow(following, received + following.step_rewards[0])

    def _choice(self, position: Position, player: int) -> TreeNode:
        """Return a node without its children, which must be in the order of its information set."""
        key, actions = information_key(position, player), tuple(position.legal_actions(player))
        known = self.sets.setdefault(key, InformationSet(player, actions, position))
        if known.player != player or set(known.actions) != set(actions):
            raise GameError(
                f"{self.name} gives the same information {key} to two positions with different actions: "
                f"see `treetop check`\n{position}"
            )
        return TreeNode(CHOSEN, player=player, key=key)

    # Strategies.

    def uniform(self) -> dict[Hashable, dict[Any, float]]:
        """Return the uniform strategy of both players."""
        return {key: dict.fromkeys(known.actions, 1.0 / len(known.actions)) for key, known in self.sets.items()}

    def checked(self, strategy: Strategy, players: tuple[int, ...] = (0, 1)) -> dict[Hashable, dict[Any, float]]:
        """Return a strategy with every information set of some players and every action in it. Raise ConfigError if it
        is incomplete.
        """
        found = {}
        for key, known in self.sets.items():
            if known.player not in players:
                continue
            if key not in strategy:
                raise ConfigError(
                    f"the strategy lacks the information set {key} of player {known.player}, as in\n{known.position}"
                )
            chances = {action: float(chance) for action, chance in strategy[key].items()}
            strange = [action for action in chances if action not in known.actions]
            if strange:
                raise ConfigError(
                    f"{strange[0]!r} is not an action with the information {key}: there are {list(known.actions)}"
                )
            total = math.fsum(chances.values())
            if not all(0.0 <= chance <= 1.0 + _SUM for chance in chances.values()) or abs(total - 1.0) > _SUM:
                raise ConfigError(
                    f"the probabilities with the information {key} must be from 0 to 1 and sum to 1, not {chances}"
                )
            found[key] = {action: chances.get(action, 0.0) / total for action in known.actions}
        return found

    def value(self, strategy: Strategy) -> float:
        """Return the mean return of player 0 when both play a strategy."""
        return _expected(self.root, self.checked(strategy))

    def best_response(self, strategy: Strategy, player: int) -> tuple[float, dict[Hashable, Any]]:
        """Return the mean return of a player's best response to the other's strategy, and the action of that response
        in each information set.
        """
        checks.whole("player", player, 0, 1)
        return _Response(self.root, self.checked(strategy, (1 - player,)), player).found()

    def exploitability(self, strategy: Strategy) -> float:
        """Return half of what both players could gain by best responses: NashConv / 2, which is 0 for an
        equilibrium.
        """
        return (self.best_response(strategy, 0)[0] + self.best_response(strategy, 1)[0]) / 2.0


def information_key(position: Position, player: int) -> Hashable:
    """Return the key of an information set: the game's `information`, or in a game of perfect information the player
    and the history.
    """
    return position.information(player) if position.game.has("information") else (player, position.actions)


def exploitability(game: str | Game | Position, strategy: Strategy) -> float:
    """Return how far a strategy of both players is from an equilibrium: NashConv / 2, in rewards.

    NashConv is the sum of what player 0 and player 1 could gain, each by a best response to the other; it is 0 for an
    equilibrium and positive for everything else. The strategy maps each information key to the probabilities of its
    actions.
    """
    return InformationTree(game).exploitability(strategy)


def _expected(node: TreeNode, strategy: Mapping[Hashable, Mapping[Any, float]]) -> float:
    if node.kind == OVER:
        return node.payoff
    chances = strategy[node.key] if node.kind == CHOSEN else None
    shares = ((chance if chances is None else chances[action], child) for action, chance, child in node.ways)
    return math.fsum(share * _expected(child, strategy) for share, child in shares if share > 0.0)


class _Response:
    """The best response to a strategy: in each information set the action that is best over all its nodes."""

    def __init__(self, root: TreeNode, strategy: Mapping[Hashable, Mapping[Any, float]], player: int) -> None:
        self._strategy, self._player, self._root = strategy, player, root
        self._sign = 1.0 if player == 0 else -1.0
        self._points: dict[Hashable, list[tuple[float, TreeNode]]] = {}
        self._answers: dict[Hashable, Any] = {}
        self._collect(root, 1.0)

    def _collect(self, node: TreeNode, reach: float) -> None:
        """Record the reach probability of each node if the responding player goes there."""
        if node.kind == CHOSEN and node.player == self._player:
            self._points.setdefault(node.key, []).append((reach, node))
        for action, chance, child in node.ways:
            self._collect(child, reach * self._share(node, action, chance))

    def _share(self, node: TreeNode, action: Any, chance: float) -> float:
        return chance if node.kind == DRAWN or node.player == self._player else self._strategy[node.key][action]

    def found(self) -> tuple[float, dict[Hashable, Any]]:
        value = self._value(self._root)
        for key in self._points:
            self._answer(key)
        return value, self._answers

    def _value(self, node: TreeNode) -> float:
        if node.kind == OVER:
            return self._sign * node.payoff
        if node.kind == CHOSEN and node.player == self._player:
            answer = self._answer(node.key)
            return next(self._value(child) for action, _, child in node.ways if action == answer)
        shares = [(self._share(node, action, chance), child) for action, chance, child in node.ways]
        return math.fsum(share * self._value(child) for share, child in shares if share > 0.0)

    def _answer(self, key: Hashable) -> Any:
        if key not in self._answers:
            totals: dict[Any, float] = {action: 0.0 for action, _, _ in self._points[key][0][1].ways}
            for reach, node in self._points[key]:
                for action, _, child in node.ways:
                    totals[action] += reach * self._value(child) if reach > 0.0 else 0.0
            self._answers[key] = max(totals, key=lambda action: totals[action])
        return self._answers[key]
