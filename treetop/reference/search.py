"""Monte Carlo tree search in plain Python: the specification, and the oracle for the compiled search.

Written for reading. For the same seed the compiled search has the same visits at every node. It shares with it the games, in plain Python,
and the random numbers; nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treetop.compiler.rng import Rng
from treetop.game.position import Position

TieBreak = Callable[[Sequence[int]], int]


@dataclass
class Node:
    """A node, with the statistics of the edge that leads to it."""

    action: int = -1
    prior: float = 1.0
    visits: int = 0
    value_sum: float = 0.0  # for the player who chose this node at its parent
    children: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class Settings:
    """What the reference can do."""

    score: Callable[[Node, int, Settings], float]
    c: float = math.sqrt(2)
    c_base: float | None = None
    first_play: float = 0.0
    evaluate: str = "rollout"
    expand_after: int = 1
    max_depth: float = math.inf
    tie_break: str | TieBreak = "random"


def ucb1(child: Node, total: int, settings: Settings) -> float:
    """W/n + c * sqrt(ln N / n), with 1/sqrt(n) taken out."""
    if child.visits == 0:
        return math.inf
    root = 1.0 / math.sqrt(child.visits)
    return (child.value_sum * root + settings.c * math.sqrt(math.log(total))) * root


def puct(child: Node, total: int, settings: Settings) -> float:
    """Q + c(N) * P * sqrt(N) / (1 + n)."""
    c = settings.c
    if settings.c_base is not None:
        c += math.log((1.0 + total + settings.c_base) / settings.c_base)
    value = child.value_sum * (1.0 / child.visits) if child.visits else settings.first_play
    return value + c * math.sqrt(total) * child.prior * (1.0 / (child.visits + 1))


class ReferenceSearch:
    """The four phases, one after the other, on objects."""

    def __init__(self, position: Position, settings: Settings, seed: int = 0) -> None:
        self.position = position
        self.settings = settings
        self.rng = Rng(seed)
        self.root = Node()
        self.totals = [0.0] * position.game.facts.players

    def run(self, simulations: int) -> None:
        """Run so many simulations."""
        for _ in range(simulations):
            self.simulate()

    def simulate(self) -> None:
        """One simulation."""
        state = self.position.state
        path, movers = self.select(state)
        rewards = self.evaluate(state)
        # Back up: each node's share goes to the player who chose it.
        self.root.visits += 1
        self.totals = [total + reward for total, reward in zip(self.totals, rewards, strict=True)]
        for node, mover in zip(path[1:], movers, strict=True):
            node.visits += 1
            node.value_sum += rewards[mover]

    def select(self, state: Any) -> tuple[list[Node], list[int]]:
        """The path to the node to be evaluated, and who moved along it; the state walks along."""
        path, movers = [self.root], list[int]()
        while True:
            node = path[-1]
            if not node.children:
                if state.is_terminal():
                    return path, movers
                if node.visits >= self.settings.expand_after and len(movers) < self.settings.max_depth:
                    self.expand(node, state)
                if node.visits == 0 or not node.children:
                    return path, movers
            movers.append(state.current_player())
            child = self.best(node.children)
            state.apply(child.action)
            path.append(child)

    def expand(self, node: Node, state: Any) -> None:
        """All legal moves, each as likely."""
        actions = legal_actions(self.position, state)
        prior = float(np.float32(1.0 / len(actions)))
        node.children = [Node(action, prior) for action in actions]

    def best(self, children: list[Node]) -> Node:
        """The child with the highest score; ties go to the hook, to the seed or to the first."""
        total = max(1, sum(child.visits for child in children))
        scores = [self.settings.score(child, total, self.settings) for child in children]
        tied = [child for child, score in zip(children, scores, strict=True) if score == max(scores)]
        if len(tied) == 1 or self.settings.tie_break == "first":
            return tied[0]
        if callable(self.settings.tie_break):
            chosen = self.settings.tie_break([child.action for child in tied])
            return next(child for child in tied if child.action == chosen)
        return tied[self.rng.below(len(tied))]

    def evaluate(self, state: Any) -> list[float]:
        """What each player receives, or is thought to."""
        facts = self.position.game.facts
        if not state.is_terminal() and self.settings.evaluate == "uniform":
            return [facts.middle] * facts.players
        while not state.is_terminal():
            state.apply(self.random_action(state))
        rewards = np.zeros(facts.players)
        state.rewards(rewards)
        return [float(reward) for reward in rewards]

    def random_action(self, state: Any) -> int:
        """A uniformly random legal action, by the game's own way if it has one."""
        if hasattr(state, "random_action"):
            return int(state.random_action(self.rng))
        actions = legal_actions(self.position, state)
        return actions[self.rng.below(len(actions))]


def legal_actions(position: Position, state: Any) -> list[int]:
    """The legal actions of a state, as a list."""
    out = np.zeros(position.game.facts.num_actions, np.int32)
    return [int(action) for action in out[: state.legal_actions(out)]]
