"""Monte Carlo tree search in plain Python: the specification, and the oracle of the compiled search.

For the same seed the compiled search has the same visits at every node. Both share the games, in plain Python, and the
random generator. This module has the four phases; each rule and option is a function in its own module.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from treetop.compiler.rng import Rng
from treetop.game.position import Position
from treetop.reference import amaf, chance, rollouts, root, rules, solver, values
from treetop.reference.arithmetic import legal_actions, plus, softmax
from treetop.reference.node import Node
from treetop.reference.root import anytime_halving
from treetop.reference.settings import Settings

LEAF, ENDED, EXHAUSTED, REPEATED = "leaf", "ended", "exhausted", "repeated"
"""How a path ends: at a node to evaluate, at the end of the game, where every move is closed, or by a repetition."""


class ReferenceSearch:
    """A search by the four phases, one after the other, on Python objects."""

    expands_during_selection = True

    def __init__(self, position: Position, settings: Settings, seed: int = 0) -> None:
        self.position = position
        self.settings = settings
        self.facts = position.game.facts
        self.rng = Rng(seed)
        self.root = Node.new(self.facts.players)
        self.scale = values.Scale(settings, self.facts)
        self.paranoid_target = position.player if settings.opponents == "paranoid" else None
        """The target player of paranoid search."""
        self.pays_immediately = position.game.has("step_rewards")
        self.steps: list[list[float]] = []
        self.path: list[Node] = []
        """The current path, and in `steps` the immediate rewards of each of its steps."""
        self.history: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
        """For each player and action the sum and the number of its returns in all simulations."""
        self.references: dict[int, Node] = {}
        """For each player the node of the current path whose AMAF statistics are read."""
        self.rollout_moves: list[tuple[int, int]] = []
        """Players and actions of the current simulation's rollout."""
        self.wanted: Collection[int] | None = None
        """The moves of the root that are searched; None: all."""
        self.noise: list[float] = []
        self.gumbel: list[float] = []
        """For each move of the root its noise and its Gumbel number, given by the caller."""
        self.schedule: list[int] = []
        self.turn = 0
        self.base: list[int] = []
        self.passes: Iterator[Node] | None = None

    def run(self, simulations: int, wanted: Collection[int] | None = None) -> None:
        """Run up to `simulations` simulations, while there is something to search; at the root only `wanted` moves."""
        if self.wanted != wanted:
            self.wanted, self.passes = wanted, None
        self.base = []
        for done in range(simulations):
            if self.root.children:
                root.prepare(self, simulations - done)
            if self.root.is_proven or not self.simulate():
                break

    def simulate(self) -> bool:
        """Run one simulation; return False where every move of the root is closed or none was asked for."""
        state = self.position.state
        path, ending = self.select(state)
        if ending == EXHAUSTED and len(path) == 1:
            return False
        self.rollout_moves = []
        rewards = self.known_value(path[-1], state, ending)
        if rewards is None:
            rewards = rollouts.evaluate(self, state)
        self.back_up(path, state, rewards, ending)
        self.turn += 1
        return True

    # 1. Select.

    def select(self, state: Any) -> tuple[list[Node], str]:
        """Return the path to the node to be evaluated, and how it ends; `state` follows.

        It expands at most one leaf.
        """
        path, self.references, self.steps = [self.root], {}, [[0.0] * self.facts.players]
        self.path = path
        may_expand = self.expands_during_selection
        while True:
            node = path[-1]
            if state.is_terminal():
                node.is_terminal = not node.children
                return path, ENDED
            if not node.children:
                if chance.is_chance_state(state):
                    chance.open_outcomes(self, node, state)
                elif may_expand and self.is_expandable(node, len(path) - 1):
                    may_expand = False
                    if not self.expand(path, state):
                        return path, REPEATED
                if (node.visits == 0 and not node.is_chance) or not node.children:
                    return path, LEAF
            child = chance.draw_child(self, node) if node.is_chance else self.choose(node)
            if child is None:
                return path, EXHAUSTED
            state.apply(child.action)
            path.append(child)
            self.steps.append(chance.step_rewards(self, state))
            if not state.is_terminal() and self.is_on_path(path):
                return path, REPEATED

    def choose(self, node: Node) -> Node | None:
        """Return the child with the highest score, ties by a function, at random or the first; None if all closed."""
        if node is self.root and self.settings.root == "halving":
            if self.passes is None:
                self.passes = anytime_halving(self)
            return next(self.passes, None)
        scores = rules.scores(self, node)
        highest = max(scores)
        if highest == -math.inf:
            return None
        tied = [child for child, score in zip(node.children, scores, strict=True) if score == highest]
        if len(tied) == 1 or self.settings.tie_break == "first":
            return tied[0]
        if callable(self.settings.tie_break):
            chosen = self.settings.tie_break([child.action for child in tied])
            return next(child for child in tied if child.action == chosen)
        return tied[self.rng.below(len(tied))]

    # 2. Expand.

    def is_expandable(self, node: Node, depth: int) -> bool:
        """Return whether a leaf has enough visits and is not too deep."""
        return node.visits >= self.settings.expand_after and (
            self.settings.max_depth is None or depth < self.settings.max_depth
        )

    def expand(self, path: list[Node], state: Any, logits: list[float] | None = None) -> bool:
        """Give the end of a path its children; return False where its position is on the path already (in graphs)."""
        path[-1].children = self.new_children(state, logits)
        return True

    def new_children(self, state: Any, logits: list[float] | None) -> list[Node]:
        """Return a node for each legal action, with equal priors or by logits; widening sorts them by their priors."""
        actions, mover = legal_actions(self.position, state), int(state.current_player())
        chosen = [0.0 for _ in actions] if logits is None else [logits[action] for action in actions]
        if self.settings.prior_temperature is not None:
            chosen = rollouts.heuristic_logits(self, state, actions)
        priors = softmax(chosen)
        children = [
            Node.new(self.facts.players, action, float(np.float32(p)), mover)
            for action, p in zip(actions, priors, strict=True)
        ]
        return children if self.settings.widening is None else sorted(children, key=lambda child: -child.prior)

    # 3. Evaluate.

    def known_value(self, node: Node, state: Any, ending: str) -> list[float] | None:
        """Return the value of the end of a path where it needs no evaluation, else None."""
        if ending == ENDED:
            return rollouts.outcome(self, state)
        if ending == EXHAUSTED:
            solver.update(self.facts, node)
            return solver.value(node)
        if ending == REPEATED:
            value = self.facts.middle if self.settings.repetition is None else self.settings.repetition
            return [value, -value] if self.facts.zero_sum and self.facts.players == 2 else [value] * self.facts.players
        return None

    # 4. Back up.

    def back_up(self, path: list[Node], state: Any, rewards: list[float], ending: str) -> None:
        """Add one visit and the returns to each node of a path."""
        if self.settings.solver and ending in (ENDED, EXHAUSTED):
            solver.prove(self.facts, path, rewards, ending == ENDED)
        rewards = chance.paranoid_rewards(self, rewards)
        path[-1].evaluate(rewards)
        guess = values.heuristic_of(self, path[-1], state, rewards)
        rollouts.update_history(self, path, rewards)
        played = set(self.rollout_moves)
        correction = [0.0] * self.facts.players
        for step in range(len(path) - 1, 0, -1):
            node = path[step]
            rewards = solver.clip(node, chance.with_step(self, path, step, rewards))
            node.add(rewards)
            if self.settings.chance == "expected":
                correction = chance.set_expectation(self, node, rewards, correction)
            reward = rewards[node.chooser]
            node.squares += reward * reward
            if not path[step - 1].is_chance:
                amaf.credit(path[step - 1], node, played, reward)
            values.update_vector(self, path, step, rewards, guess)
            self.scale.note(node.value_sum / node.visits)
            rewards = chance.expected(self, path[step - 1], rewards)
        self.root.add(solver.clip(self.root, rewards))
        self.root.sums = plus(self.root.sums, correction)

    def is_on_path(self, path: list[Node]) -> bool:  # noqa: ARG002
        """Return whether the last position of a path occurs on it before; a tree does not check it."""
        return False
