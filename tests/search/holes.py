"""Random problems over Python objects in which code fails, and the oracle: what is proven must hold for every value of what failed.

`python -m tests.search.holes 5000` checks so many searches; the tests check some hundreds.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

import treetop as tt
from treetop.tree.layout import BOUNDED, PROVEN

LOW, HIGH = -1.0, 1.0


class HoleError(Exception):
    """What the caller's code raises."""


@dataclass
class Place:
    """A state of a random problem."""

    number: int
    player: int = 0
    rewards: list[float] | None = None
    """At the end."""
    children: list[Place] = field(default_factory=list)
    fails: str = ""
    """The method that raises for this place: "step" to it, or "actions", "is_terminal", "player", "rewards", "evaluate" there."""
    flaky: bool = False
    """Whether it fails now and then only."""


class Holes:
    """A random tree; `order` numbers its places."""

    def __init__(self, rng: random.Random, evaluates: bool) -> None:
        self.evaluates = evaluates
        self.rng, self.num_players = rng, rng.choice((1, 2, 2, 2, 3))
        self.zero_sum = self.num_players == 2 and rng.random() < 0.75
        self.reward_range = (LOW, HIGH)
        self.share, self.values = (
            rng.choice((0.05, 0.15, 0.4)),
            rng.choice(([-1.0, 1.0], [-1.0, 0.0, 1.0], [-1.0, -0.5, 0.25, 1.0])),
        )
        self.only_steps = rng.random() < 0.6
        self.flaky = rng.random() < 0.15
        self.places = 0
        self.root = self.grow(rng.randint(1, 5))
        self.root.fails = ""

    def grow(self, depth: int) -> Place:
        """A random subtree."""
        rng = self.rng
        self.places += 1
        place = Place(self.places, rng.randrange(self.num_players))
        if depth == 0 or (rng.random() < 0.15 and self.places > 1):
            first = rng.choice(self.values)
            place.rewards = (
                [first, -first] if self.zero_sum else [rng.choice(self.values) for _ in range(self.num_players)]
            )
        else:
            place.children = [self.grow(depth - 1) for _ in range(rng.randint(1, 4))]
        if rng.random() < self.share:
            there = (
                ["rewards"]
                if place.rewards is not None
                else ["actions", "player", *(["evaluate"] if self.evaluates else [])]
            )
            place.fails, place.flaky = (
                "step" if self.only_steps else rng.choice(["step", "is_terminal", *there]),
                self.flaky,
            )
        return place

    def trip(self, place: Place, method: str) -> None:
        """Raise where a method fails."""
        if place.fails == method and not (place.flaky and self.rng.random() < 0.6):
            raise HoleError(f"{method} of {place.number}")

    def initial(self) -> Place:
        return self.root

    def player(self, state: Place) -> int:
        self.trip(state, "player")
        return state.player

    def actions(self, state: Place) -> list[str]:
        self.trip(state, "actions")
        return [f"a{index}" for index in range(len(state.children))]

    def step(self, state: Place, action: str) -> Place:
        following = state.children[int(action[1:])]
        self.trip(following, "step")
        return following

    def is_terminal(self, state: Place) -> bool:
        self.trip(state, "is_terminal")
        return state.rewards is not None

    def rewards(self, state: Place) -> list[float]:
        self.trip(state, "rewards")
        assert state.rewards is not None
        return state.rewards

    def evaluate(self, state: Place, actions: list[str]) -> tuple[None, list[float]]:
        """A guess that has nothing to do with the truth."""
        self.trip(state, "evaluate")
        guess = ((state.number * 37) % 19) / 9.5 - 1.0
        return None, [guess, -guess] if self.zero_sum else [guess] * self.num_players

    async def evaluate_elsewhere(self, state: Place, actions: list[str]) -> tuple[None, list[float]]:
        """The same in a coroutine."""
        await asyncio.sleep(0)
        return self.evaluate(state, actions)

    def solve(self, rng: random.Random, unknown: dict[int, list[float]]) -> dict[int, list[float]]:
        """A value of every place when everybody plays for the best, with the given values of what failed and ties broken at random."""
        values: dict[int, list[float]] = {}

        def value_of(place: Place) -> list[float]:
            below = [value_of(child) for child in place.children]
            if place.number in unknown:
                value = unknown[place.number]
            elif place.rewards is not None:
                value = place.rewards
            else:
                most = max(one[place.player] for one in below)
                value = rng.choice([one for one in below if one[place.player] == most])
            values[place.number] = value
            return value

        value_of(self.root)
        return values

    def unknown(self, rng: random.Random) -> dict[int, list[float]]:
        """Some values of what failed: the lowest, the highest, or anything between. Where it fails now and then only, it has its own value."""
        found = {}

        def visit(place: Place) -> None:
            if place.fails and not place.flaky:
                draw = [rng.choice((LOW, HIGH, rng.uniform(LOW, HIGH))) for _ in range(self.num_players)]
                found[place.number] = [draw[0], -draw[0]] if self.zero_sum else draw
            for child in place.children:
                visit(child)

        visit(self.root)
        return found

    def forces(self, place: Place, player: int, moves: int) -> bool:
        """Whether a player can force the highest reward within so many moves, whatever the failed places are worth."""
        if place.fails and not place.flaky:
            return False
        if place.rewards is not None:
            return place.rewards[player] == HIGH
        if moves == 0:
            return False
        ways = [self.forces(child, player, moves - 1) for child in place.children]
        return any(ways) if place.player == player else all(ways)


CONFIGS = (
    tt.uct(solver=True),
    tt.uct(solver=True, stop_when_forced=False),
    tt.puct(c=1.0, solver=True),
    tt.rules.ucb1_tuned(solver=True),
    tt.gumbel(solver=True),
    tt.rules.halving(solver=True),
    tt.uct(solver=True, fpu="parent"),
    tt.puct(c=1.0, solver=True, widening=1.0),
    tt.uct(solver=True, max_nodes=40),
    tt.uct(solver=True, backup="max"),
    tt.uct(solver=True, expand_after=3),
    tt.uct(solver=True, max_depth=2),
)


def check_one(seed: int) -> str:
    """Search one random problem and compare all that it says is proven with exact values; what came out, in a word."""
    rng = random.Random(seed)
    config = rng.choice(CONFIGS)
    way = rng.choice(("rollout", "rollout", "evaluate", "elsewhere" if config.growth.max_nodes is None else "evaluate"))
    problem = Holes(rng, evaluates=way != "rollout")
    search = tt.Search(problem, config, evaluator=problem.evaluate if way == "evaluate" else None, seed=seed)
    limit = tt.Limit(simulations=rng.choice((5, 40, 300)))
    outcome = "nothing proven"
    for _ in range(2):
        try:
            if way == "elsewhere":
                result = search.run_remote(limit, problem.evaluate_elsewhere, in_flight=rng.choice((1, 4)))
            else:
                result = search.run(limit)
        except tt.errors.SearchError as error:
            assert "failed" in str(error), error  # noqa: PT017 - what it says is the promise
            _check_bounds(search, problem, rng)
            return "the root failed"
        search.tree.check((LOW, HIGH))
        _check_bounds(search, problem, rng)
        assert search.solved or result.stopped != "solved"
        index = result.actions.index(result.action)
        assert not result.failed[index] or result.failed.all(), f"seed {seed}: a failed action is played"
        if result.proof is not None:
            _check_distance(search, problem, result.proof)
            return "proven" if not search.failures else "proven beside failures"
        if search.state.children and rng.random() < 0.5:
            alive = [action for action, failed in zip(result.actions, result.failed, strict=True) if not failed]
            following = search.state.children[int(alive[0][1:])]
            if following.rewards is not None or following.fails:
                break
            problem.root = following
            search.advance(alive[0])
    return outcome if not search.failures else "failures, nothing proven"


def _check_bounds(search: tt.Search, problem: Holes, rng: random.Random) -> None:
    """Every bound in the tree holds, whatever the failed places are worth."""
    nodes, columns, players = search._driver.nodes, search.tree.columns, problem.num_players
    nodes.sync()
    flags = columns.links["flags"][: search.tree.size]
    places = _places(search, problem)
    known = [node for node in np.flatnonzero(flags & BOUNDED).tolist() if node in places]
    for _ in range(6):
        values = problem.solve(rng, problem.unknown(rng))
        for node in known:
            value = values[places[node].number]
            for player in range(players):
                low, high = columns.bounds[node, player], columns.bounds[node, players + player]
                assert low - 1e-12 <= value[player] <= high + 1e-12, (nodes.path(node), player, (low, high), value)
    proven = flags[0] & PROVEN
    assert bool(proven) == search.solved


def _places(search: tt.Search, problem: Holes) -> dict[int, Place]:
    """The place of each node."""
    nodes, found = search._driver.nodes, {0: search.state}
    for node in range(1, search.tree.size):
        parent = found[nodes.parents[node]]
        found[node] = parent.children[int(nodes.moves[node][1:])]
    return found


def _check_distance(search: tt.Search, problem: Holes, proof: tt.results.ProvenValue) -> None:
    """A win is forced in at most so many moves, and so is a loss, where one player receives what the other loses."""
    place = search.state
    if proof.value == HIGH and (problem.zero_sum or problem.num_players == 1):
        assert problem.forces(place, place.player, proof.at_most), proof
    elif proof.value == LOW and problem.zero_sum and proof.at_most < 100:
        assert problem.forces(place, 1 - place.player, proof.at_most), proof


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    outcomes = Counter(check_one(seed) for seed in range(count))
    print(f"{count:,} searches over Python objects with failing code, no wrong proof: "
          + ", ".join(f"{number:,} {outcome}" for outcome, number in sorted(outcomes.items())))  # fmt: skip
