"""What becomes of a search when the caller's own code fails, or says what cannot be."""

from __future__ import annotations

import math

import pytest

import treetop as tt
from tests.search.own_problems import Gamble, Nim, Three, TicTacToe


class Broken(Nim):
    """Taking two stones from a heap of a certain size is a bug."""

    at = (19,)

    def step(self, state, action):
        if action == 1 and state[0] in self.at:
            raise RuntimeError("two is too many")
        return super().step(state, action)


def without_rollouts(state, actions):
    return None, (0.5 if state[0] % 4 else -0.5)


@pytest.mark.parametrize(
    "config", [tt.uct(), tt.puct(c=1.0), tt.uct(solver=True), tt.rules.ucb1_tuned(), tt.uct(max_nodes=60)]
)
def test_a_step_that_raises_ends_its_node_and_not_the_search(config):
    search = tt.Search(Broken(), config, evaluator=without_rollouts, seed=1)
    result = search.run(tt.Limit(simulations=400))
    search.tree.check((-1, 1))
    assert result.simulations == 400 or result.solved
    assert result.failures
    assert all(
        sum(taken + 1 for taken in failure.path[:-1]) == 2 and failure.path[-1] == 1 for failure in result.failures
    )
    assert all(failure.reason == "RuntimeError: two is too many" for failure in result.failures)
    assert "two is too many" in str(result)
    assert "two is too many" in result.json()


def test_a_dead_node_is_never_chosen_again():
    class Root(Broken):
        at = (21,)

    search = tt.Search(Root(), evaluator=without_rollouts, seed=1)
    result = search.run(tt.Limit(simulations=300))
    assert result.visits[1] == 0
    assert result.action != 1
    assert [failure.path for failure in result.failures] == [(1,)]
    assert 'raise RuntimeError("two is too many")' in result.failures[0].where
    dead = search.tree.root.children[1]
    assert dead.is_closed
    assert dead.visits == 0
    search.advance(0)
    assert len(search.failures) == 1  # a failure is reported once


def test_a_node_dies_with_its_last_action():
    class Trap(Nim):
        def step(self, state, action):
            if state[0] == 4:
                raise ValueError("no way on")
            return super().step(state, action)

    search = tt.Search(Trap(5), tt.uct(solver=True), evaluator=without_rollouts, seed=1)
    result = search.run(tt.Limit(simulations=100))
    search.tree.check((-1, 1))
    assert result.visits[0] <= 1  # it was evaluated once, before its own actions failed
    assert any(failure.path == (0,) and "all 3 actions failed" in failure.reason for failure in result.failures)
    # The other moves lose: two leave three, three leave two. What that one is worth is unknown, so nothing is proven.
    assert result.proof is None
    assert result.action != 0


def test_a_root_whose_every_action_fails_is_an_error():
    class Nothing(Nim):
        def step(self, state, action):
            raise OSError("the disk is gone")

    with pytest.raises(tt.errors.SearchError, match=r"root itself failed.*the disk is gone"):
        tt.Search(Nothing(), evaluator=without_rollouts, seed=1).run(tt.Limit(simulations=10))


def test_a_root_that_cannot_be_looked_at_is_an_error():
    class Silent(Nim):
        def actions(self, state):
            raise KeyError("nothing here")

    with pytest.raises(tt.errors.SearchError, match=r"root itself failed: KeyError"):
        tt.Search(Silent())


def test_actions_that_raise_end_a_node_too():
    class Shy(Nim):
        def actions(self, state):
            if state[0] == 20:
                raise LookupError("shy")
            return super().actions(state)

    result = tt.Search(Shy(), evaluator=without_rollouts, seed=1).run(tt.Limit(simulations=100))
    assert result.visits[0] == 0
    assert result.failures[0] == tt.results.Failure((0,), "LookupError: shy")


def test_an_evaluator_that_raises_ends_the_node():
    def evaluate(state, actions):
        if state[0] == 20:
            raise ZeroDivisionError("by nothing")
        return without_rollouts(state, actions)

    result = tt.Search(Nim(), tt.puct(c=1.0), evaluator=evaluate, seed=1).run(tt.Limit(simulations=100))
    assert result.visits[0] == 0
    assert "ZeroDivisionError" in result.failures[0].reason


def test_a_dead_outcome_of_chance_is_left_out():
    class Edge(Gamble):
        def step(self, state, action):
            if action == "tails":
                raise RuntimeError("the coin stands on its edge")
            return super().step(state, action)

    def evaluate(state, actions):
        return None, 0.0

    class Weighted(Edge):
        def rollout(self, state, rng):
            return 0.5

    search = tt.Search(Weighted(), seed=1)
    result = search.run(tt.Limit(simulations=200))
    search.tree.check()
    assert result.action == "throw"
    assert result.failures[0].path == ("throw", "tails")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rewards": lambda self, state: (math.nan, 0)}, "finite"),
        ({"rewards": lambda self, state: (1,)}, "each of 2 players"),
        ({"rewards": lambda self, state: (3, -3)}, "outside of its reward_range"),
        ({"rewards": lambda self, state: (1, 1)}, "zero_sum = False"),
        ({"rewards": lambda self, state: "won"}, "one number for each player"),
        ({"actions": lambda self, state: []}, "gave no action"),
        ({"actions": lambda self, state: [[1], [2]]}, "cannot be hashed"),
        ({"actions": lambda self, state: [1, 1]}, "twice"),
        ({"player": lambda self, state: 2}, "players are 0 to 1"),
        ({"player": lambda self, state: -1}, "a method outcomes"),
        ({"step": lambda self, state, action: None}, "a method copy"),
        (
            {"is_terminal": lambda self, state: False, "max_length": 50, "actions": lambda self, state: [0]},
            "max_length = 50",
        ),
        ({"prior": lambda self, state, actions: [-1.0] * len(actions)}, "at least 0"),
        ({"prior": lambda self, state, actions: [1.0]}, "one number for each action"),
        ({"step_rewards": True, "step": lambda self, state, action: 5}, r"must return \(state, rewards\)"),
        ({"step_rewards": True}, "step must return one number for each"),
    ],
)
def test_what_cannot_be_is_a_clear_error(change, message):
    problem = type("Wrong", (Nim,), change)()
    with pytest.raises(tt.errors.GameError, match=message):
        tt.Search(problem, seed=1).run(tt.Limit(simulations=200))


@pytest.mark.parametrize(
    "outcomes",
    [
        [("heads", 0.7), ("tails", 0.7)],
        [("heads", math.nan), ("tails", 1.0)],
        [("heads", 1.5), ("tails", -0.5)],
        ["heads"],
        [],
    ],
)
def test_probabilities_that_are_none_are_a_clear_error(outcomes):
    problem = type("Loaded", (Gamble,), {"outcomes": lambda self, state: outcomes})()
    with pytest.raises(tt.errors.GameError, match="outcomes"):
        tt.Search(problem, seed=1).run(tt.Limit(simulations=50))


@pytest.mark.parametrize(
    "answer", [(None, math.nan), (None, None), ([1.0, math.inf, 0.0], 0.0), ([1.0], 0.0), 0.5, (None, (1.0,))]
)
def test_an_evaluator_that_says_what_cannot_be_is_a_clear_error(answer):
    with pytest.raises(tt.errors.GameError):
        tt.Search(Nim(), tt.puct(c=1.0), evaluator=lambda state, actions: answer).run(tt.Limit(simulations=5))


def test_an_error_leaves_the_tree_whole():
    class Late(Nim):
        def rewards(self, state):
            if Late.left == 0:
                return (math.nan, 0.0)
            Late.left -= 1
            return super().rewards(state)

    Late.left = 30
    search = tt.Search(Late(), seed=1)
    with pytest.raises(tt.errors.GameError):
        search.run(tt.Limit(simulations=1000))
    search.tree.check((-1, 1))
    Late.left = 1000
    assert search.run(tt.Limit(simulations=50)).simulations == 50


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (tt.rave(), Nim), (tt.rules.progressive_history(), Nim), (tt.uct(transpositions=True), Nim), (tt.uct(backup="implicit"), Nim), (tt.uct(tie_break=min), Nim),
        (tt.uct(solver=True), Gamble), (tt.uct(max_nodes=5), Nim),
    ],
)  # fmt: skip
def test_settings_that_do_not_fit_are_refused(config, problem):
    with pytest.raises(tt.errors.ConfigError):
        tt.Search(problem(), config).run(tt.Limit(simulations=20))


@pytest.mark.parametrize(
    "options",
    [
        {"evaluator": 5},
        {"evaluator": tt.evaluators.Heuristic()},
        {"evaluator": tt.Rollout(depth=3)},
        {"seed": 1.5},
        {"config": "uct"},
    ],
)
def test_arguments_that_do_not_fit_are_refused(options):
    with pytest.raises(tt.errors.ConfigError):
        tt.Search(Nim(), **options)


def test_a_problem_without_its_methods_or_a_start_is_refused():
    with pytest.raises(tt.errors.ConfigError, match="methods actions, step, is_terminal and rewards"):
        tt.Search(object())
    unfinished = type("Unfinished", (), {"actions": TicTacToe.actions})()
    with pytest.raises(tt.errors.ConfigError, match="has a method step"):
        tt.Search(unfinished)
    problem = TicTacToe()
    problem.initial = None
    with pytest.raises(tt.errors.ConfigError, match="root="):
        tt.Search(problem)
    for name, value in (("num_players", 0), ("reward_range", (1, -1)), ("reward_range", 3)):
        wrong = Three()
        setattr(wrong, name, value)
        with pytest.raises(tt.errors.ConfigError, match=name):
            tt.Search(wrong)


def test_a_terminal_state_has_nothing_to_search():
    with pytest.raises(tt.errors.TerminalPositionError):
        tt.Search(Nim(), root=(0, 0))


def test_nothing_searched_yet_has_no_result():
    with pytest.raises(tt.errors.SearchError, match="nothing has been searched"):
        tt.Search(Nim()).result()


def test_limits_in_calls_or_cost_are_for_evaluations_elsewhere():
    for limit in (tt.Limit(cost=3), tt.Limit(calls=3, simulations=5)):
        with pytest.raises(tt.errors.ConfigError, match="elsewhere"):
            tt.Search(Nim()).run(limit)
        with pytest.raises(tt.errors.ConfigError, match="elsewhere"):
            tt.Search("nim").run(limit)
    with pytest.raises(tt.errors.ConfigError, match="cost must be"):
        tt.Limit(cost=-1)


def test_an_error_of_treetops_own_in_the_callers_code_ends_a_node_too():
    class Wrapped(Nim):
        def step(self, state, action):
            if state[0] == 21 and action == 2:
                tt.position("nim").play([7])
            return super().step(state, action)

    result = tt.Search(Wrapped(), evaluator=without_rollouts, seed=1).run(tt.Limit(simulations=50))
    assert result.failures[0].path == (2,)


def test_among_moves_that_all_lose_a_dead_one_is_never_played():
    class Last(Nim):
        def rewards(self, state):
            return (-1, 1) if state[1] == 1 else (1, -1)  # whoever takes the last one loses

        def step(self, state, action):
            if action == 0:
                raise RuntimeError("broken")
            return super().step(state, min(action, state[0] - 1))

    for seed in range(8):
        problem = type("Small", (Last,), {"actions": lambda self, state: [0, 1]})(1)
        result = tt.Search(problem, tt.uct(solver=True), evaluator=without_rollouts, seed=seed).run(
            tt.Limit(simulations=20)
        )
        assert result.action == 1
        assert result.proof is None


def test_a_start_of_nothing_is_refused():
    problem = TicTacToe()
    problem.initial = lambda: None
    with pytest.raises(tt.errors.ConfigError, match="must return a state"):
        tt.Search(problem)


def test_any_class_with_the_four_methods_is_a_problem():
    assert isinstance(Nim(), tt.Problem)
    assert not isinstance(object(), tt.Problem)


class Pick:
    """One choice, of which only the last is good, and the priors know it."""

    reward_range = (0, 1)

    def initial(self):
        return ()

    def actions(self, state):
        return ["bad", "worse", "worst", "good"]

    def step(self, state, action):
        return (*state, action)

    def is_terminal(self, state):
        return len(state) == 1

    def rewards(self, state):
        return float(state[0] == "good")


def test_priors_that_misspell_an_action_are_refused():
    with pytest.raises(tt.errors.GameError, match="which is not an action here"):
        tt.Search(Pick(), evaluator=lambda state, actions: ({"godo": 1.0, "bad": 1.0}, 0.0)).run(
            tt.Limit(simulations=5)
        )


def test_widening_by_priors_keeps_actions_and_statistics_together():
    problem = Pick()
    problem.prior = lambda state, actions: [0.1, 0.1, 0.1, 0.7]
    search = tt.Search(problem, tt.puct(widening=1.0), seed=1)
    result = search.run(tt.Limit(simulations=100))
    assert result.action == "good"
    assert max(result.visits, key=result.visits.get) == "good"
    search.advance("good")
    assert search.state == ("good",)


def test_an_evaluator_that_changes_its_list_of_actions_changes_nothing():
    def evaluate(state, actions):
        actions.sort(reverse=True)
        return None, 0.5

    assert tt.Search(Pick(), tt.puct(), evaluator=evaluate, seed=1).run(tt.Limit(simulations=100)).action == "good"


def test_a_rule_of_the_users_own_is_refused():
    @tt.rule
    def mine(value, visits, prior, variance, total, c):
        return value

    with pytest.raises(tt.errors.ConfigError, match="works with rule='ucb1'"):
        tt.Search(Pick(), tt.configure(mine))
