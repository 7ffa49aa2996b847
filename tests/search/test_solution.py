"""The best complete solution of one player: equal to that of an exhaustive search, and never more than was seen."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import treetop as tt

SIZES, WORTH, CAPACITY = (5, 4, 3, 7, 2, 6), (10, 7, 6, 13, 3, 9), 14
"""The things of a knapsack: at each step the next one is taken or left."""


def best_knapsack() -> float:
    """Return the greatest worth, by trying all choices."""
    choices = itertools.product((0, 1), repeat=len(SIZES))
    fits = [chosen for chosen in choices if np.dot(chosen, SIZES) <= CAPACITY]
    return float(max(np.dot(chosen, WORTH) for chosen in fits))


@tt.family
def knapsack(steps: bool = False):
    sizes, worth = np.array(SIZES), np.array(WORTH)

    @tt.game(players=1, num_actions=2, max_length=len(SIZES), rewards=(0, sum(WORTH)))
    class Knapsack:
        """Take or leave things, one after the other."""

        at = tt.field("i1")
        size = tt.field("i2")
        total = tt.field("i2")
        gain = tt.field("i2")

        def reset(self):
            self.at, self.size, self.total, self.gain = 0, 0, 0, 0

        def legal_actions(self, out):
            out[0], out[1] = 0, 1
            return 2 if self.size + sizes[self.at] <= CAPACITY else 1

        def apply(self, action):
            self.gain = worth[self.at] if action == 1 else 0
            self.total += self.gain
            self.size += sizes[self.at] if action == 1 else 0
            self.at += 1

        def is_terminal(self):
            return self.at == 6

        def rewards(self, out):
            out[0] = 0.0 if steps else float(self.total)

        def key(self):
            return self.at + 16 * self.size + 4096 * self.total

        def move_text(self, action):
            return ("leave", "take")[action]

        if steps:

            def step_rewards(self, out):
                out[0] = float(self.gain)

    return Knapsack


class Packing:
    """The same as a Python problem: a state is the choices so far."""

    reward_range = (0, sum(WORTH))

    def __init__(self, *, steps=False):
        self.step_rewards = steps

    def initial(self):
        return ()

    def actions(self, chosen):
        return ["leave", "take"] if np.dot([*chosen, 1], SIZES[: len(chosen) + 1]) <= CAPACITY else ["leave"]

    def step(self, chosen, action):
        following = (*chosen, int(action == "take"))
        return (following, WORTH[len(chosen)] * following[-1]) if self.step_rewards else following

    def is_terminal(self, chosen):
        return len(chosen) == len(SIZES)

    def rewards(self, chosen):
        return 0.0 if self.step_rewards else float(np.dot(chosen, WORTH))


@pytest.mark.parametrize("steps", [False, True])
def test_the_best_solution_of_a_compiled_game_is_that_of_an_exhaustive_search(steps):
    game = knapsack(steps=steps)
    result = tt.search(game, tt.uct(c=1.0), simulations=3000, seed=1)
    best = result.best
    assert best.total_reward == best_knapsack()
    assert tt.position(game).play(best.moves) == best.position
    assert best.position.is_terminal
    assert best.position.returns == [best.total_reward]
    assert best.actions == best.position.actions
    assert best.state.total == best.total_reward
    assert f"best solution: {' '.join(best.moves)}, return {best.total_reward:g}" in str(result)
    assert result.to_dict()["best"] == {"return": best.total_reward, "moves": list(best.moves)}


def test_a_result_keeps_its_best_solution_when_the_search_continues():
    search = tt.Search(knapsack(), seed=2)
    early = search.run(tt.Limit(simulations=60))
    search.run(tt.Limit(simulations=3000))
    search.advance(search.result().action)
    again = tt.Search(knapsack(), seed=2).run(tt.Limit(simulations=60))
    assert early.best == again.best


def test_after_a_move_the_best_solution_starts_at_the_new_root():
    search = tt.Search(knapsack(steps=True), tt.uct(c=1.0), seed=1)
    first = search.run(tt.Limit(simulations=3000)).best
    search.advance(first.actions[0])
    rest = search.result().best
    assert rest.actions == first.actions[1:]
    assert rest.total_reward == first.total_reward - WORTH[0] * first.actions[0]


def test_the_best_solution_of_a_graph_is_a_path_that_can_be_played():
    result = tt.search(knapsack(), tt.uct(c=1.0, transpositions=True), simulations=3000, seed=1)
    assert result.best.total_reward == best_knapsack()
    assert result.best.position.returns == [result.best.total_reward]


@pytest.mark.parametrize("steps", [False, True])
def test_the_best_solution_of_a_python_problem_is_that_of_an_exhaustive_search(steps):
    problem = Packing(steps=steps)
    result = tt.Search(problem, tt.uct(c=1.0), seed=1).run(tt.Limit(simulations=500))
    best = result.best
    assert best.total_reward == best_knapsack()
    assert best.moves == best.actions
    assert best.state == tuple(int(action == "take") for action in best.actions)
    assert np.dot(best.state, WORTH) == best.total_reward
    assert f"return {best.total_reward:g}" in str(result)


@pytest.mark.parametrize("steps", [False, True])
def test_rollouts_of_a_python_problem_count_as_seen(steps):
    search = tt.Search(Packing(steps=steps), tt.uct(discount=0.5), seed=3)
    result = search.run(tt.Limit(simulations=1))
    assert len(result.best.actions) == len(SIZES)
    assert result.best.total_reward == np.dot(result.best.state, WORTH)
    search.advance(result.best.actions[0])
    assert search.run(tt.Limit(simulations=1)).best.total_reward >= (
        result.best.total_reward - (WORTH[0] * result.best.state[0] if steps else 0)
    )


def test_nothing_complete_several_players_and_chance_have_no_best_solution():
    assert tt.Search(knapsack(), seed=1).run(tt.Limit(simulations=2)).best is None
    assert tt.search("tic_tac_toe", simulations=500).best is None
    assert tt.search(tt.position("twenty48").resolve_chance(1), simulations=50).best is None
    assert "best solution" not in str(tt.search("tic_tac_toe", simulations=500))
    own = tt.Search(Packing(), tt.puct(), evaluator=lambda state, actions: (None, 5.0), seed=1)
    assert own.run(tt.Limit(simulations=2)).best is None
    assert own.run(tt.Limit(simulations=300)).best.total_reward == best_knapsack()


def test_a_long_solution_is_printed_in_part():
    best = tt.results.CompleteSolution(2.5, tuple(range(30)), tuple("a" * 30), None)
    assert str(best) == f"{' '.join('a' * 20)} ... and 10 more, return 2.5"
