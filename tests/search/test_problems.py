"""Searches over plain Python objects: the same tree and rules as for compiled games."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import treetop as tt
from tests.search.own_problems import Board, Corridor, Gamble, Nim, Race, Three, TicTacToe, Tour, following, minimax


def search_of(problem, config=None, simulations=500, seed=1, **options):
    search = tt.Search(problem, config, seed=seed, **options)
    result = search.run(tt.Limit(simulations=simulations))
    search.tree.check(search.game.facts.rewards)
    assert_states_fit(search)
    return search, result


def assert_states_fit(search):
    """Every node's state is the one that the actions above it lead to."""
    for node in search.tree.root.walk():
        state, parent = search.state_of(node.index), node.parent
        if state is not None and parent is not None and not search.game.has("step_rewards"):
            assert repr(state) == repr(
                following(search.problem, search.state_of(parent.index), search.action_of(node.index))
            )


SAME = {
    "uct": tt.uct(),
    "puct": tt.puct(),
    "solver": tt.uct(solver=True),
    "fpu": tt.uct(fpu=0.3),
    "parent": tt.puct(fpu="parent"),
    "discount": tt.uct(discount=0.9),
    "mixed": tt.uct(backup="mixed"),
    "tuned": tt.rules.ucb1_tuned(),
    "thompson": tt.rules.thompson(),
    "gumbel": tt.gumbel(),
    "halving": tt.rules.halving(),
    "few nodes": tt.uct(max_nodes=50),
    "widening": tt.uct(widening=1.0),
    "noise": tt.puct(noise=0.25),
    "early": tt.uct(expand_after=0),
    "late": tt.uct(expand_after=3),
    "shallow": tt.uct(max_depth=3),
    "normalised": tt.uct(normalise=True),
    "lcb": tt.uct(final="lcb"),
    "nexus": tt.rules.nexus(),
}


@pytest.mark.parametrize("name", SAME)
def test_same_seed_same_visits_as_the_compiled_game(name):
    config = SAME[name]
    search, result = search_of(TicTacToe(), config, simulations=400, seed=5)
    compiled = tt.Search("tic_tac_toe", config, seed=5)
    expected = compiled.run(tt.Limit(simulations=400))
    assert list(result.visits.values()) == list(expected.visits.values())
    row, column = result.action
    assert (result.value, 3 * row + column, result.proof) == (expected.value, expected.action, expected.proof)
    assert search.tree.size == compiled.tree.size
    assert np.array_equal(
        search.tree.columns.stats["visits"][: search.tree.size],
        compiled.tree.columns.stats["visits"][: search.tree.size],
    )


def test_the_tree_after_a_move_is_the_compiled_one_too():
    search, compiled = tt.Search(Nim(), seed=2), tt.Search("nim", seed=2)
    for _ in range(3):
        search.run(tt.Limit(simulations=200))
        compiled.run(tt.Limit(simulations=200))
        assert list(search.result().visits.values()) == list(compiled.result().visits.values())
        action = search.result().action
        search.advance(action)
        compiled.advance(action)
        search.tree.check((-1, 1))
        assert search.simulations == compiled.simulations
        assert_states_fit(search)


@pytest.mark.parametrize("cells", ["x...o....", "xox.o....", "xx..o..o.", "xo.ox...."])
def test_the_solver_agrees_with_exhaustive_search_of_tic_tac_toe(cells):
    problem = TicTacToe()
    board = Board(cells, "xo"[cells.count("x") > cells.count("o")])
    _search, result = search_of(problem, tt.uct(solver=True), 20_000, root=board)
    assert result.proof is not None
    assert result.proof.value == minimax(problem, board)
    assert -minimax(problem, following(problem, board, result.action)) == result.proof.value
    assert "".join(board.cells) == cells  # the caller's own object is left alone


def test_rollouts_find_the_only_move_that_does_not_lose():
    _, result = search_of(TicTacToe(), simulations=1000, root=Board("x.......o", "x"))
    losing = {
        action
        for action in TicTacToe().actions(result.state)
        if minimax(TicTacToe(), following(TicTacToe(), result.state, action)) == 1
    }
    assert result.action not in losing


def test_the_result_has_the_surface_of_every_result():
    search, result = search_of(TicTacToe(), simulations=300)
    assert result.action in result.visits
    assert result.simulations == 300
    assert sum(result.visits.values()) == 299
    assert sum(result.policy().values()) == pytest.approx(1.0)
    assert result.policy(0)[result.action] == 1.0
    assert result.values == [result.value, -result.value]
    assert result.pv_actions[0] == result.action
    assert result.pv[0] == result.move == str(result.action)
    assert result.lines(2)[0].moves[0] == result.move
    assert result.explain().chosen == result.move
    assert "own tic-tac-toe" in str(result.report())
    assert result.report().seed == 1
    assert "...\n...\n..." in str(result)
    assert result.move in str(result)
    assert result.move in result._repr_html_()
    assert result.to_dict()["visits"][result.move] == max(result.visits.values())
    assert "own tic-tac-toe" in result.json()
    assert "300 simulations" in repr(search)
    before = dict(result.visits), result.pv
    search.advance(result.action)
    assert (dict(result.visits), result.pv) == before  # a snapshot
    with pytest.raises(tt.errors.StaleNodeError):
        result.lines()


def test_immediate_rewards_add_up_along_a_path():
    search, result = search_of(Corridor(length=4), tt.uct(c=5.0, normalise=False), 2000)
    assert result.action == "right"
    assert result.means[1] == 1.0  # leaving at once brings the crumb and nothing else
    assert max(node.value for node in search.tree.root.walk() if node.value is not None) == pytest.approx(5.0)


def test_a_discount_makes_the_near_crumb_better():
    problem = Corridor(length=4, prize=2.0)
    config = tt.uct(c=2.0, normalise=False)
    assert search_of(problem, config, 3000)[1].action == "right"
    assert search_of(problem, config.with_options(discount=0.5), 3000)[1].action == "leave"


def test_discounted_returns_are_exact_on_a_path_without_choice():
    class Forced(Corridor):
        def actions(self, state):
            return ["right"]

    _, result = search_of(Forced(length=3, prize=4.0), tt.uct(discount=0.5), 20)
    assert result.means[0] == pytest.approx(-0.1 + 0.5 * (-0.1 + 0.5 * 4.0))
    assert result.value == pytest.approx(result.means[0])


def test_three_players_each_choose_for_themselves():
    _, result = search_of(Three(), simulations=3000)
    assert result.action == "a"
    assert len(result.values) == 3
    assert sum(result.values) == pytest.approx(1.0)
    assert result.pv == ["a", "b", "c"]


def test_three_players_are_proven_too():
    _, result = search_of(Three(), tt.uct(solver=True), 3000)
    assert result.proof is not None
    assert result.proof.value == pytest.approx(1 / 3)


def test_chance_is_drawn_by_its_probabilities():
    search, result = search_of(Gamble(), simulations=4000)
    assert result.action == "throw"
    coin = search.tree.root.children[1]
    heads, tails = coin.children
    assert heads.visits / coin.visits == pytest.approx(0.75, abs=0.03)
    assert (heads.value, tails.value) == (1.0, pytest.approx(-0.2))
    assert result.means[1] == pytest.approx(0.7, abs=0.03)
    assert [search.action_of(node.index) for node in coin.children] == ["heads", "tails"]


def test_two_players_and_a_die():
    search = tt.Search(Race(), tt.puct(c=1.0), seed=1)
    with pytest.raises(tt.errors.SearchError, match="chance decides"):
        search.run(tt.Limit(simulations=10))
    search.advance(6)
    result = search.run(tt.Limit(simulations=1500))
    search.tree.check((-1, 1))
    assert result.action == "add"
    assert result.values[0] == pytest.approx(-result.values[1])
    assert result.value > 0
    assert_states_fit(search)
    search.advance("add")
    search.advance(1)
    assert search.state == (6, 0, 1, 1)
    assert search.simulations > 0
    search.tree.check((-1, 1))


def test_an_evaluator_gives_priors_and_values():
    asked = []

    def evaluate(state, actions):
        asked.append(state)
        return {0: 5, 1: 2, 2: 3}, (1.0 if state[0] % 4 else -1.0)  # for the player to move

    _search, result = search_of(Nim(22), tt.puct(c=1.5), 300, evaluator=evaluate)
    assert result.action == 1  # leaves twenty
    assert asked[0] == (22, 0)
    assert result.priors.tolist() == pytest.approx([0.5, 0.2, 0.3])
    assert result.report().evaluator == "evaluate"

    class Object:
        name = "by fours"

        def evaluate(self, state, actions):
            return evaluate(state, actions)

    assert search_of(Nim(22), tt.puct(c=1.5), 300, evaluator=Object())[1].visits == result.visits


def test_an_evaluator_is_never_asked_where_chance_decides():
    seen = []

    def evaluate(state, actions):
        seen.append(state)
        assert state[3] is not None
        assert actions == ["add", "pass"]
        return None, 0.1

    search = tt.Search(Race(), tt.puct(c=1.0), evaluator=evaluate, seed=1, root=(0, 0, 0, 3))
    result = search.run(tt.Limit(simulations=200))
    search.tree.check((-1, 1))
    assert seen
    assert set(result.visits) == {"add", "pass"}


class Toll:
    """Move, pay what chance says, and move again; the evaluator expects 10 where a player moves."""

    num_players, step_rewards, reward_range = 1, True, (-20.0, 20.0)

    def initial(self):
        return 0

    def player(self, state):
        return tt.CHANCE if state % 2 else 0

    def actions(self, state):
        return ["on"]

    def outcomes(self, state):
        return [("toll", 1.0)]

    def step(self, state, action):
        return state + 1, (-4.0 if action == "toll" else 0.0)

    def is_terminal(self, state):
        return state == 20

    def rewards(self, state):
        return 0.0


@pytest.mark.parametrize("run", [tt.Search.run, tt.Search.run_remote], ids=["here", "elsewhere"])
def test_outcomes_before_an_evaluation_belong_to_the_action_before_them(run):
    search = tt.Search(
        Toll(), tt.puct(discount=0.5, stop_when_forced=False), evaluator=lambda state, actions: (None, 10.0), seed=1
    )
    result = run(search, tt.Limit(simulations=2))
    assert result.means[0] == -4.0 + 0.5 * 10.0


def test_the_problems_own_prior_and_rollout_are_used():
    class Guided(Nim):
        def prior(self, state, actions):
            return [0.5, 0.25, 0.25][: len(actions)]

        def rollout(self, state, rng):
            assert 0 <= rng.below(5) < 5
            return (0.5, -0.5)

    _, result = search_of(Guided(), tt.puct(c=1.0), 100)
    assert result.priors.tolist() == [0.5, 0.25, 0.25]
    assert result.value == pytest.approx(0.5)


def test_uniform_and_several_rollouts_serve_as_evaluators():
    assert search_of(Nim(), tt.puct(c=1.0), 100, evaluator=tt.evaluators.Uniform())[1].simulations == 100
    assert search_of(Nim(), simulations=100, evaluator=tt.Rollout(count=3))[1].simulations == 100


def test_the_same_seed_gives_the_same_search():
    runs = [search_of(Race(), tt.puct(c=1.0), 300, seed=seed, root=(0, 0, 0, 3))[1] for seed in (4, 4, 5)]
    assert runs[0].visits == runs[1].visits
    assert runs[0].value == runs[1].value
    assert runs[0].value != runs[2].value


def test_two_runs_are_as_one():
    split, _ = search_of(TicTacToe(), simulations=150)
    split.run(tt.Limit(simulations=150))
    assert split.result().visits == search_of(TicTacToe(), simulations=300)[1].visits


def test_a_bounded_tree_keeps_searching_and_its_states():
    search, result = search_of(TicTacToe(), tt.uct(max_nodes=120), 2000)
    assert search.tree.size <= 120
    assert result.simulations == 2000
    assert search.tree.has_moved


def test_ctrl_c_stops_cleanly_with_the_result_so_far():
    class Interrupting(Nim):
        calls = 0

        def rewards(self, state):
            Interrupting.calls += 1
            if Interrupting.calls == 50:
                signal.raise_signal(signal.SIGINT)
            return super().rewards(state)

    search = tt.Search(Interrupting(), seed=1)
    result = search.run(tt.Limit(simulations=100_000))
    search.tree.check((-1, 1))
    assert result.interrupted
    assert 0 < result.simulations < 1000
    assert search.run(tt.Limit(simulations=10)).simulations == 10


def test_progress_is_reported():
    reported = []
    tt.Search(Nim(), seed=1).run(tt.Limit(simulations=200), progress=reported.append)
    assert reported[-1].simulations == 200
    assert reported[-1].best


def test_a_limit_in_seconds_or_nodes_ends_it():
    assert search_of(Nim(), simulations=10)[0].run(tt.Limit(seconds=0.05)).elapsed < 5
    search = tt.Search(TicTacToe(), seed=1)
    search.run(tt.Limit(nodes=500))
    assert 500 <= search.tree.size < 1500


def test_a_forced_action_is_not_searched_for_long():
    assert tt.Search(Nim(1), seed=1).run(tt.Limit(simulations=5000)).simulations <= 32


def test_advance_by_an_action_that_was_never_tried_starts_a_fresh_tree():
    search = tt.Search(TicTacToe(), seed=1)
    search.advance((1, 1))
    assert search.simulations == 0
    assert search.state.cells[4] == "x"
    assert search.run(tt.Limit(simulations=50)).player == 1
    with pytest.raises(tt.errors.IllegalMoveError, match="not an action here"):
        search.advance((1, 1))


def test_actions_of_any_hashable_kind_and_of_equal_names_are_distinguished():
    class Odd:
        def initial(self):
            return 0

        def actions(self, state):
            return [1, "1", (1,), frozenset({1})]

        def step(self, state, action):
            return 1 if isinstance(action, str) else 2

        def is_terminal(self, state):
            return state > 0

        def rewards(self, state):
            return float(state == 1)

    _, result = search_of(Odd(), simulations=200)
    assert result.action == "1"
    assert len(result.explain().rows) == 4


def test_a_stopping_policy_may_end_it_early():
    whole = tt.Search(Nim(), seed=5).run(tt.Limit(simulations=3000))
    early = tt.Search(Nim(), seed=5).run(tt.Limit(simulations=3000), stopping=[tt.stopping.UnassailableLeader()])
    assert early.simulations <= whole.simulations
    assert early.action == whole.action


def test_an_evaluator_may_change_the_state_that_it_is_given():
    def evaluate(board, actions):
        board.cells[:] = "x" * 9
        return None, 0.0

    search, result = search_of(TicTacToe(), tt.puct(c=1.0), 100, evaluator=evaluate)
    assert search.state.cells == ["."] * 9
    assert result.simulations == 100


def test_the_best_childs_value_goes_up_through_chance_and_immediate_rewards():
    _, gamble = search_of(Gamble(), tt.uct(c=1.0, backup="max"), 2000)
    assert gamble.means[1] == pytest.approx(
        0.75 * 1.0 - 0.25 * 0.2
    )  # by the probabilities, not by how often each came up
    _, corridor = search_of(Corridor(length=4), tt.uct(c=5.0, normalise=False, backup="max"), 2000)
    assert corridor.means[0] == pytest.approx(4.7)
    _, shorter = search_of(Corridor(length=4), tt.uct(c=5.0, normalise=False, backup="max", discount=0.5), 2000)
    assert shorter.means[0] == pytest.approx(-0.1 + 0.5 * max(1.0, -0.1 + 0.5 * max(1.0, -0.1 + 0.5 * 5.0)))


def test_actions_may_be_a_numpy_array():
    class Arrays(Nim):
        def actions(self, state):
            return np.arange(min(self.most, state[0]))

    _, result = search_of(Arrays(), simulations=200)
    _, plain = search_of(Nim(), simulations=200)
    assert result.counts.tolist() == plain.counts.tolist()


def test_a_short_search_may_start_elsewhere():
    result = tt.search(Nim(), simulations=50, seed=1, root=(2, 1))
    assert result.position.state == (2, 1)
    assert result.action == tt.Search(Nim(), seed=1, root=(2, 1)).run(tt.Limit(simulations=50)).action


def test_an_option_is_refused_as_it_was_written():
    with pytest.raises(tt.errors.ConfigError, match="does not work with transpositions=True"):
        tt.Search(Nim(), tt.uct(transpositions=True))


def test_a_class_instead_of_an_object_is_refused():
    with pytest.raises(tt.errors.ConfigError, match=r"not the class Nim: Nim\(\.\.\.\)"):
        tt.Search(Nim)

    class Network:
        def evaluate(self, state, actions):
            return None, 0.0

    with pytest.raises(tt.errors.ConfigError, match=r"not the class Network: give Network\(\.\.\.\)"):
        tt.Search(Nim(), evaluator=Network)


@pytest.mark.parametrize("prior", [[1e308, 1e308, 1e308], [1.0, -1.0, 1.0], [float("nan"), 1.0, 1.0]])
def test_priors_whose_sum_is_no_finite_number_are_refused(prior):
    with pytest.raises(tt.TreetopError, match="finite numbers of at least 0"):
        search_of(Nim(), evaluator=lambda state, actions: (prior[: len(actions)], 0.0))


def test_values_of_an_evaluator_must_sum_to_zero_in_a_zero_sum_problem():
    with pytest.raises(tt.TreetopError, match="do not sum to zero"):
        search_of(Nim(), evaluator=lambda state, actions: (None, (0.5, 0.5)))


def test_chance_is_not_to_move_in_a_terminal_state():
    class Flip:
        def initial(self):
            return "start"

        def player(self, state):
            return 0 if state == "start" else tt.CHANCE

        def actions(self, state):
            return ["flip"]

        def outcomes(self, state):
            return [("heads", 0.5), ("tails", 0.5)]

        def step(self, state, action):
            return action

        def is_terminal(self, state):
            return state in ("heads", "tails")

        def rewards(self, state):
            return 1.0 if state == "heads" else -1.0

    search = tt.Search(Flip(), seed=1)
    search.advance("flip")
    assert search.player == tt.CHANCE
    search.advance("heads")
    assert search.player == 0


@pytest.mark.parametrize("config", [tt.uct(), tt.puct(), tt.puct(forced_playouts=2.0), tt.gumbel()])
def test_the_training_target_is_a_dictionary_of_the_actions(config):
    result = tt.Search(Tour(), config, evaluator=lambda state, actions: (None, -1.0), seed=1).run(
        tt.Limit(simulations=40)
    )
    target = result.target()
    assert list(target) == result.actions
    assert sum(target.values()) == pytest.approx(1.0)
    if config == tt.puct():
        assert target == result.policy()
