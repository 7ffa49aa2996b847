"""Monte Carlo tree search in plain Python: the specification, and the oracle for the compiled search.

Written for reading. For the same seed the compiled search has the same visits at every node. It shares with it the games, in plain Python,
and the random numbers; nothing else. Here are the four phases; each rule and option is a function in a file of its own.
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
"""How the path of a simulation ends: at a node to evaluate, at the end of the game, where every move is closed, or at a position on itself."""


class ReferenceSearch:
    """The four phases, one after the other, on objects."""

    expands_on_the_way_down = True

    def __init__(self, position: Position, settings: Settings, seed: int = 0) -> None:
        self.position = position
        self.settings = settings
        self.facts = position.game.facts
        self.rng = Rng(seed)
        self.root = Node.new(self.facts.players)
        self.scale = values.Scale(settings, self.facts)
        self.paranoid_target = position.player if settings.opponents == "paranoid" else None
        """The player against whom all others are taken to play."""
        self.pays_immediately = position.game.has("step_rewards")
        self.steps: list[list[float]] = []
        self.path: list[Node] = []
        """The present path, and what each step of it brought to every player."""
        self.history: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
        """For each player and action the sum and the number of its returns, wherever it was played."""
        self.references: dict[int, Node] = {}
        """For each player the node of the present path whose statistics of all moves as first are read."""
        self.trail: list[tuple[int, int]] = []
        """Players and actions of the present simulation's rollout."""
        self.wanted: Collection[int] | None = None
        """Moves of the root that are looked at; None: all."""
        self.noise: list[float] = []
        self.gumbel: list[float] = []
        """For each move of the root its share of the noise and its Gumbel number, given by the caller."""
        self.schedule: list[int] = []
        self.turn = 0
        self.base: list[int] = []
        self.passes: Iterator[Node] | None = None

    def run(self, simulations: int, wanted: Collection[int] | None = None) -> None:
        """Run so many simulations, or until there is nothing left to search; look only at the moves of the root that are wanted."""
        if self.wanted != wanted:
            self.wanted, self.passes = wanted, None
        self.base = []
        for done in range(simulations):
            if self.root.children:
                root.dress(self, simulations - done)
            if self.root.is_proven or not self.simulate():
                break

    def simulate(self) -> bool:
        """One simulation; false where every move of the root is closed, or none was asked for."""
        state = self.position.state
        path, ending = self.select(state)
        if ending == EXHAUSTED and len(path) == 1:
            return False
        self.trail = []
        rewards = self.finish(path[-1], state, ending)
        if rewards is None:
            rewards = rollouts.evaluate(self, state)
        self.back_up(path, state, rewards, ending)
        self.turn += 1
        return True

    # 1. Select.

    def select(self, state: Any) -> tuple[list[Node], str]:
        """The path to the node to be evaluated, and how it ends there; the state walks along. At most one leaf is expanded on it."""
        path, self.references, self.steps = [self.root], {}, [[0.0] * self.facts.players]
        self.path = path
        may_expand = self.expands_on_the_way_down
        while True:
            node = path[-1]
            if state.is_terminal():
                node.is_terminal = not node.children
                return path, ENDED
            if not node.children:
                if chance.decides(state):
                    chance.open_outcomes(self, node, state)
                elif may_expand and self.is_ripe(node, len(path) - 1):
                    may_expand = False
                    if not self.expand(path, state):
                        return path, REPEATED
                if (node.visits == 0 and not node.is_drawn) or not node.children:
                    return path, LEAF
            child = chance.draw_child(self, node) if node.is_drawn else self.choose(node)
            if child is None:
                return path, EXHAUSTED
            state.apply(child.action)
            path.append(child)
            self.steps.append(chance.received(self, state))
            if not state.is_terminal() and self.is_on_path(path):
                return path, REPEATED

    def choose(self, node: Node) -> Node | None:
        """The child with the highest score; ties go to the hook, to the seed or to the first. None where all are closed."""
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

    def is_ripe(self, node: Node, depth: int) -> bool:
        """Whether a leaf was visited often enough, and does not lie too deep."""
        return node.visits >= self.settings.expand_after and (
            self.settings.max_depth is None or depth < self.settings.max_depth
        )

    def expand(self, path: list[Node], state: Any, logits: list[float] | None = None) -> bool:
        """Give the end of a path its children. In a graph false where the position stands on its own path."""
        path[-1].children = self.new_children(state, logits)
        return True

    def new_children(self, state: Any, logits: list[float] | None) -> list[Node]:
        """All legal moves, each as likely or by the softmax of its logit; the likeliest first where they are opened one by one."""
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

    def finish(self, node: Node, state: Any, ending: str) -> list[float] | None:
        """What the end of a path is worth, where nobody needs to be asked."""
        if ending == ENDED:
            return rollouts.outcome(self, state)
        if ending == EXHAUSTED:
            solver.update(self.facts, node)
            return solver.value(node)
        if ending == REPEATED:
            worth = self.facts.middle if self.settings.repetition is None else self.settings.repetition
            return [worth, -worth] if self.facts.zero_sum and self.facts.players == 2 else [worth] * self.facts.players
        return None

    # 4. Back up.

    def back_up(self, path: list[Node], state: Any, rewards: list[float], ending: str) -> None:
        """One more visit for each node of a path, and for each player what it was worth."""
        if self.settings.solver and ending in (ENDED, EXHAUSTED):
            solver.prove(self.facts, path, rewards, ending == ENDED)
        rewards = chance.made_paranoid(self, rewards)
        path[-1].evaluate(rewards)
        guess = values.heuristic_of(self, path[-1], state, rewards)
        rollouts.remember(self, path, rewards)
        played = set(self.trail)
        correction = [0.0] * self.facts.players
        for step in range(len(path) - 1, 0, -1):
            node = path[step]
            rewards = solver.clip(node, chance.with_step(self, path, step, rewards))
            node.add(rewards)
            if self.settings.chance == "expected":
                correction = chance.set_expectation(self, node, rewards, correction)
            worth = rewards[node.chooser]
            node.squares += worth * worth
            if not path[step - 1].is_drawn:
                amaf.credit(path[step - 1], node, played, worth)
            values.update_vector(self, path, step, rewards, guess)
            self.scale.note(node.value_sum / node.visits)
            rewards = chance.expected(self, path[step - 1], rewards)
        self.root.add(solver.clip(self.root, rewards))
        self.root.sums = plus(self.root.sums, correction)

    def is_on_path(self, path: list[Node]) -> bool:  # noqa: ARG002 - a tree need not look
        """Whether the last position of a path stood on it before: only in a graph that can be."""
        return False
