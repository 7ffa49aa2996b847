"""A search over Python objects against a twin of a few lines, written apart from it: the same visits at every node, for random problems."""

from __future__ import annotations

import asyncio
import math

import numpy as np
import pytest

import treetop as tt
from treetop.types import CHANCE


class Maze:
    """A random problem: a state is the path so far, and everything else follows from a hash of it."""

    def __init__(self, salt, players=2, chance=False, on_the_way=False, fails=False):
        self.salt, self.num_players, self.fails = salt, players, fails
        self.reward_range, self.zero_sum = (-8.0, 8.0), False
        self.step_rewards = on_the_way
        if chance:
            self.outcomes = lambda state: list(zip("hijk", (0.125, 0.5, 0.125, 0.25), strict=True))
        self._chance = chance

    def draw(self, state, purpose, below):
        return tt.Rng(hash((self.salt, purpose, *map(ord, state))) % 2**31).below(below)

    def initial(self):
        return ()

    def player(self, state):
        return CHANCE if self._chance and len(state) % 3 == 1 else self.draw(state, 1, self.num_players)

    def actions(self, state):
        return list("abcd"[: 1 + self.draw(state, 2, 4)])

    def step(self, state, action):
        following = (*state, action)
        if self.fails and self.draw(following, 3, 9) == 0:
            raise RuntimeError("a hole")
        if not self.step_rewards:
            return following
        return following, [self.draw(following, 10 + player, 5) / 4 - 0.5 for player in range(self.num_players)]

    def is_terminal(self, state):
        return len(state) == 6 or (len(state) > 2 and self.draw(state, 4, 5) == 0)

    def rewards(self, state):
        return [self.draw(state, 20 + player, 9) / 4 - 1 for player in range(self.num_players)]


class Leaf:
    """A node of the twin."""

    def __init__(self, action=None, prior=1.0):
        self.action, self.prior = action, prior
        self.visits, self.children, self.dead, self.sums = 0, [], False, None


class Twin:
    """UCB1 with rollouts, the mean, a discount, chance, immediate rewards and dead nodes: the four phases, one after the other."""

    def __init__(self, problem, config, seed):
        self.problem, self.config, self.rng, self.root = problem, config, tt.Rng(seed), Leaf()

    def run(self, simulations):
        while self.root.visits < simulations and not self.root.dead:
            self.simulate()

    def step(self, state, action):
        reported = self.problem.step(state, action)
        return reported if self.problem.step_rewards else (reported, [0.0] * self.problem.num_players)

    def simulate(self):
        problem, node, state, path = self.problem, self.root, (), []
        while True:
            if problem.is_terminal(state):
                returns = [float(reward) for reward in problem.rewards(state)]
                break
            if not node.children and node.visits == 0:
                returns = self.rollout(state)
                break
            mover = problem.player(state)
            if not node.children:
                if mover == CHANCE:
                    node.children = [Leaf(action, chance) for action, chance in problem.outcomes(state)]
                else:
                    node.children = [Leaf(action) for action in problem.actions(state)]
            child = self.draw(node) if mover == CHANCE else self.choose(node, mover)
            try:
                state, received = self.step(state, child.action)
            except RuntimeError:
                self.bury(child, [self.root, *(step[0] for step in path)])
                return
            node = child
            path.append((child, self.fade(state), received))
        self.back_up(path, returns)

    def fade(self, state):
        """A step ends where a player chooses again or the game is over."""
        return (
            1.0
            if not self.problem.is_terminal(state) and self.problem.player(state) == CHANCE
            else self.config.values.discount
        )

    def bury(self, child, above):
        child.dead = True
        for node in reversed(above):
            if not all(one.dead for one in node.children):
                return
            node.dead = True

    def draw(self, node):
        alive = [child for child in node.children if not child.dead]
        left = self.rng.random() * sum(child.prior for child in alive)
        for child in alive:
            left -= child.prior
            if left < 0:
                return child
        return alive[-1]

    def choose(self, node, mover):
        alive = [child for child in node.children if not child.dead]
        total = sum(child.visits for child in node.children)
        scores = [
            math.inf
            if not child.visits
            else child.sums[mover] / child.visits + self.config.rule.c * math.sqrt(math.log(total) / child.visits)
            for child in alive
        ]
        tied = [child for child, score in zip(alive, scores, strict=True) if score == max(scores)]
        return tied[self.rng.below(len(tied))] if len(tied) > 1 else tied[0]

    def rollout(self, state):
        returns, factor = [0.0] * self.problem.num_players, 1.0
        while not self.problem.is_terminal(state):
            if self.problem.player(state) == CHANCE:
                left, action = self.rng.random(), None
                for outcome, chance in self.problem.outcomes(state):
                    left -= chance
                    if left < 0 and action is None:
                        action = outcome
            else:
                actions = self.problem.actions(state)
                action = actions[self.rng.below(len(actions))]
            state, received = self.step(state, action)
            returns = [one + factor * more for one, more in zip(returns, received, strict=True)]
            factor *= self.fade(state)
        return [one + factor * more for one, more in zip(returns, self.problem.rewards(state), strict=True)]

    def back_up(self, path, returns):
        for node, fade, received in reversed(path):
            returns = [fade * one + more for one, more in zip(returns, received, strict=True)]
            node.sums = (
                returns if node.sums is None else [one + more for one, more in zip(node.sums, returns, strict=True)]
            )
            node.visits += 1
        self.root.visits += 1
        self.root.sums = (
            returns
            if self.root.sums is None
            else [one + more for one, more in zip(self.root.sums, returns, strict=True)]
        )


def visits_of(search, node=None):
    node = search.tree.root if node is None else node
    return node.visits, {search.action_of(child.index): visits_of(search, child) for child in node.children}


def visits_of_twin(node):
    return node.visits, {child.action: visits_of_twin(child) for child in node.children}


@pytest.mark.parametrize("salt", range(3))
@pytest.mark.parametrize("discount", [1.0, 0.75])
@pytest.mark.parametrize(
    "kind",
    [{"players": 1}, {"players": 2}, {"players": 3}, {"players": 1, "chance": True}, {"players": 2, "chance": True, "on_the_way": True},
     {"players": 3, "on_the_way": True}],
    ids=["one", "two", "three", "one and chance", "two, chance, rewards", "three, rewards"],
)  # fmt: skip
def test_random_problems_have_the_twins_visits_at_every_node(kind, discount, salt):
    problem = Maze(salt, **kind)
    config = tt.uct(
        c=1.5, discount=discount, normalise=False, fpu=100.0, stop_when_forced=False
    )  # rich arithmetic: no products for quotients
    search = tt.Search(problem, config, seed=salt)
    search.run(tt.Limit(simulations=400))
    search.tree.check()
    twin = Twin(problem, config, salt)
    twin.run(400)
    assert search.tree.totals.tolist() == pytest.approx(twin.root.sums)
    assert visits_of(search) == visits_of_twin(twin.root)


class Guess:
    """A fixed evaluation, so that failures do not end rollouts."""

    def __init__(self, problem):
        self.problem = problem

    def __call__(self, state, rng):
        return [self.problem.draw(state, 30 + player, 5) / 4 - 0.5 for player in range(self.problem.num_players)]


@pytest.mark.parametrize("salt", range(24))
def test_problems_with_holes_have_the_twins_visits_too(salt):
    problem = Maze(salt, fails=True)
    problem.rollout = Guess(problem)
    config = tt.uct(c=1.5, normalise=False, fpu=100.0, stop_when_forced=False)
    search, twin = tt.Search(problem, config, seed=salt), Twin(problem, config, salt)
    twin.rollout = lambda state: problem.rollout(state, None)
    twin.run(200)
    if twin.root.dead:
        with pytest.raises(tt.errors.SearchError, match="a hole"):
            search.run(tt.Limit(simulations=200))
    else:
        result = search.run(tt.Limit(simulations=200))
        assert all("a hole" in failure.reason for failure in result.failures)
    search.tree.check()
    assert visits_of(search) == visits_of_twin(twin.root)


@pytest.mark.parametrize("salt", range(10))
def test_random_problems_replay_bit_for_bit_whatever_fails(tmp_path, salt):
    problem = Maze(salt, players=1 + salt % 3, chance=salt % 2 == 1, on_the_way=salt % 4 > 1, fails=salt > 4)
    random = np.random.default_rng(salt)

    async def evaluate(state, actions):
        await asyncio.sleep(random.uniform(0.0, 0.002))
        if problem.draw(state, 40, 12) == 0 and state:
            raise ConnectionError("lost")
        return (
            [random.uniform(0.1, 1.0) for _ in actions],
            random.uniform(-1.0, 1.0, problem.num_players).tolist(),
            random.uniform(0.0, 2.0),
        )

    limit = (tt.Limit(simulations=150), tt.Limit(cost=60.0), tt.Limit(seconds=0.1), tt.Limit(calls=80))[salt % 4]
    config = tt.puct(c=1.5, virtual_loss=("none", "always", "first")[salt % 3], discount=0.9, stop_when_forced=False)
    outcomes = []
    for options in ({"evaluate": evaluate, "record": tmp_path / "calls"}, {"replay": tmp_path / "calls"}):
        search = tt.Search(problem, config, seed=salt)
        try:
            result = search.run_remote(limit, in_flight=1 + 3 * salt, **options)
            reported = result.stopped, result.failures, result.cost, result.calls
        except tt.errors.SearchError as error:
            reported = str(error), tuple(search.failures), 0, 0
        search.tree.check()
        size = search.tree.size
        columns = [column[:size].tobytes() for column in search.tree.columns if len(column)]
        outcomes.append((reported, columns, search.tree.totals.tobytes(), int(search._driver.control["rng"][0])))
    assert outcomes[0] == outcomes[1]
