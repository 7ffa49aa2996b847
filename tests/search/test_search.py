from __future__ import annotations

import math
import os
import signal
import threading

import numpy as np
import pytest

import treetop as tt
from tests.own_games import Climb, DoubleMoves, ThreeNim
from treetop.oracle.exhaustive import Exhaustive, reachable


def run(game, config=None, simulations=1000, seed=1, **options):
    search = tt.Search(game, config, seed=seed, **options)
    return search, search.run(tt.Limit(simulations=simulations))


def test_the_same_seed_gives_the_same_search_however_it_is_sliced():
    _, whole = run("connect_four", simulations=3000)
    search = tt.Search("connect_four", seed=1)
    for part in (1, 2, 7, 990, 2000):
        result = search.run(tt.Limit(simulations=part))
    assert result.visits == whole.visits
    assert result.values == whole.values
    assert run("connect_four", simulations=3000, seed=2)[1].visits != whole.visits


def test_a_limit_counts_from_its_call():
    search, result = run("tic_tac_toe", simulations=100)
    assert (result.simulations, search.simulations) == (100, 100)
    result = search.run(tt.Limit(simulations=50))
    assert (result.simulations, search.simulations) == (50, 150)


def test_the_first_limit_reached_stops():
    search = tt.Search("connect_four", seed=1)
    result = search.run(tt.Limit(simulations=10**9, seconds=0.05))
    assert 0.05 <= result.elapsed < 2.0
    result = search.run(tt.Limit(simulations=10, seconds=1000.0))
    assert result.simulations == 10
    before = search.tree.size
    search.run(tt.Limit(nodes=500, seconds=100))
    assert 500 <= search.tree.size - before < 5000


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("value", [1.0, 0.0, -1.0])
def test_the_root_value_has_the_right_sign_for_both_players(player, value):
    exact = Exhaustive()
    candidates = (position for position in reachable(tt.position("tic_tac_toe")) if len(position.actions) == 6 + player)
    found = [
        position for position in candidates if not position.is_terminal and exact.values(position)[player] == value
    ]
    assert found
    for position in found[:40]:
        assert position.player == player
        result = tt.search(position, tt.uct(stop_when_forced=False), simulations=2000, seed=1)
        assert round(result.value) == value
        assert sum(result.values) == pytest.approx(0, abs=1e-12)


def test_double_moves_need_no_special_case():
    """Each player moves twice in a row: parity of the depth says nothing about who moves."""
    position = tt.position(DoubleMoves, moves=[3, 3, 3, 3, 3, 3, 0])  # 25, and player 1 is to move for the second time
    assert position.player == 1
    result = tt.search(position, simulations=4000, seed=1)
    exact = Exhaustive()
    assert result.action in exact.best_actions(position)
    assert (result.value > 0) == (exact.values(position)[1] > 0)


def test_three_players_each_want_their_own():
    exact = Exhaustive()
    position = tt.position(ThreeNim, moves=[2, 2, 2])
    search, result = run(position, simulations=20_000)
    assert result.action in exact.best_actions(position)
    assert sum(result.values) == pytest.approx(1)
    search.tree.check((0, 1))
    search.advance(result.action)
    assert sum(search.result().values) == pytest.approx(1)


def test_one_player_climbs_to_the_top():
    search, result = run(Climb, simulations=5000)
    assert result.action == 1
    assert result.pv_actions[:4] == (1, 1, 1, 1)
    search.advance(1)
    assert search.result().values[0] > 4


def test_a_finished_game_is_a_clear_error():
    over = tt.position("tic_tac_toe", moves="a1 b1 a2 b2 a3")
    with pytest.raises(tt.errors.TerminalPositionError, match=r"the game is over(.|\n)*X"):
        tt.search(over)
    search = tt.Search(tt.position("tic_tac_toe", moves="a1 b1 a2 b2"))
    assert search.run(tt.Limit(simulations=100)).move == "a3"


def test_one_legal_move_returns_at_once_with_a_value():
    position = tt.position("tic_tac_toe", moves="a1 b2 c3 c2 a2 a3 c1 b1")
    result = tt.search(position, simulations=10**9, seconds=60)
    assert (result.move, result.value) == ("b3", 0.0)
    assert result.simulations < 100
    assert "only legal move" in str(result)


def test_one_simulation_already_gives_a_legal_move():
    for simulations in (1, 2, 3):
        _, result = run("connect_four", simulations=simulations)
        assert result.action in range(7)
        assert math.isfinite(result.value)
        str(result), result.json(), result._repr_html_()


def test_a_result_before_any_simulation_is_a_clear_error():
    with pytest.raises(tt.errors.SearchError, match="nothing has been searched"):
        tt.Search("nim").result()


def test_advance_keeps_the_statistics_of_the_subtree():
    search, result = run("connect_four", simulations=5000)
    child = search.tree.root.child(result.action)
    visits = {grandchild.action: (grandchild.visits, grandchild.value_sum) for grandchild in child.children}
    total, value = child.visits, child.value
    search.advance(result.action)
    search.tree.check((-1, 1))
    assert search.simulations == total
    assert {node.action: (node.visits, node.value_sum) for node in search.tree.root.children} == visits
    assert search.result().values[0] == pytest.approx(value)
    assert search.result().value == pytest.approx(-value)
    with pytest.raises(tt.errors.StaleNodeError, match="earlier state"):
        _ = child.visits
    search.run(tt.Limit(simulations=1000))
    assert search.simulations == total + 1000
    search.tree.check((-1, 1))


def test_advance_by_a_move_that_was_never_tried_starts_fresh():
    search = tt.Search("connect_four", seed=1)
    search.advance("4")
    assert search.tree.size == 1
    search.run(tt.Limit(simulations=100))
    assert search.position.moves() == ["4"]
    with pytest.raises(tt.errors.IllegalMoveError, match=r"9.*legal moves are 1, 2"):
        search.advance("9")
    with pytest.raises(tt.errors.IllegalMoveError):
        search.advance(-1)
    assert search.simulations == 100


def test_bounded_memory_keeps_searching_and_finds_the_same_move():
    free, expected = run("connect_four", simulations=30_000)
    search, result = run("connect_four", tt.uct(max_nodes=2000), simulations=30_000)
    assert search.simulations == 30_000
    assert search.tree.size <= 2000 < free.tree.size
    search.tree.check((-1, 1))
    assert result.action == expected.action
    assert sum(result.visits.values()) == sum(expected.visits.values())
    assert any(node.is_folded for node in search.tree.root.walk())


def test_the_smallest_allowed_tree_still_works():
    search, result = run("tic_tac_toe", tt.uct(max_nodes=20), simulations=3000)
    assert search.tree.size <= 20
    search.tree.check((-1, 1))
    assert result.move == "b2"


def test_depth_limit_is_honoured():
    search, _ = run("connect_four", tt.uct(max_depth=2), simulations=5000)
    depth = {search.tree.root: 0}
    for node in search.tree.root.walk():
        if node.parent is not None:
            depth[node] = depth[node.parent] + 1
    assert max(depth.values()) == 2


def test_final_move_by_value_and_by_temperature():
    search, by_visits = run("connect_four", simulations=2000)
    by_value = run("connect_four", tt.uct(final="value"), simulations=2000)[1]
    means = dict(zip(by_value.actions.tolist(), by_value.means.tolist(), strict=True))
    assert by_value.action == max(means, key=means.get)
    assert by_visits.action == max(by_visits.visits, key=by_visits.visits.get)
    drawn = {
        run("connect_four", tt.uct(final="temperature", temperature=math.inf), simulations=50, seed=seed)[1].action
        for seed in range(60)
    }
    assert len(drawn) > 4
    cold = run("connect_four", tt.uct(final="temperature", temperature=0.0), simulations=2000)[1]
    assert cold.action == by_visits.action
    assert search.result().action == by_visits.action


def test_policy_is_computed_in_log_space():
    _, result = run("connect_four", simulations=20_000)
    sharp = result.policy(temperature=0.01)  # visits ** 100 overflows a float
    assert np.isfinite(sharp).all()
    assert sharp.sum() == pytest.approx(1)
    assert sharp.argmax() == result.action
    visits = np.array([result.visits[action] for action in range(7)])
    assert result.policy(1.0) == pytest.approx(visits / visits.sum())
    assert result.policy(math.inf) == pytest.approx(np.full(7, 1 / 7))
    assert set(result.policy(0)) == {0.0, 1.0}
    with pytest.raises(tt.errors.ConfigError):
        result.policy(-1)


def test_a_tie_break_must_return_a_candidate():
    search = tt.Search("tic_tac_toe", tt.uct(tie_break=lambda actions: 77), seed=1)
    with pytest.raises(tt.errors.ConfigError, match="77.*not one of the tied actions"):
        search.run(tt.Limit(simulations=10))
    search.tree.check((-1, 1))


def test_progress_is_reported_while_the_search_runs():
    seen = []
    search = tt.Search("connect_four", seed=1)
    search.run(tt.Limit(seconds=0.5), progress=seen.append)
    assert len(seen) >= 3
    assert seen[-1].simulations == search.simulations
    assert seen[-1].best in "1234567"
    assert seen[-1].rate > 0


def test_ctrl_c_returns_the_result_so_far():
    search = tt.Search("connect_four", seed=1)
    search.prepare()
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    result = search.run(tt.Limit(seconds=60))
    assert result.interrupted
    assert result.elapsed < 30
    assert "interrupted" in str(result)
    search.tree.check((-1, 1))
    search.run(tt.Limit(simulations=100))


def test_ctrl_c_in_the_middle_of_a_growing_or_folding_tree_leaves_it_whole():
    for round_ in range(12):
        search = tt.Search("connect_four", tt.uct(max_nodes=None if round_ % 2 else 3000), seed=round_)
        search.run(tt.Limit(simulations=1))
        timer = threading.Timer(0.01 + 0.007 * round_, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        result = search.run(tt.Limit(seconds=30))
        assert result.interrupted
        assert sum(result.visits.values()) + search.tree.root.own_visits == search.simulations
        search.tree.check((-1, 1))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_callback_may_end_the_search():
    def stop(progress):
        raise KeyboardInterrupt

    search = tt.Search("connect_four", seed=1)
    assert search.run(tt.Limit(seconds=30), progress=stop).interrupted
    search.tree.check((-1, 1))


def test_a_search_in_another_thread_works():
    found = {}

    def work(seed):
        found[seed] = tt.search("connect_four", simulations=20_000, seed=seed).visits

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[1] == tt.search("connect_four", simulations=20_000, seed=1).visits


def test_results_print_in_text_json_and_html():
    _, result = run("connect_four", simulations=2000)
    text = str(result)
    for part in (
        "visits",
        "value",
        "explore",
        "score",
        "plays",
        "most visits",
        "principal variation",
        "for player 0",
        "seed 1",
    ):
        assert part in text
    import json

    data = json.loads(result.json())
    assert data["action"] == result.action
    assert data["report"]["seed"] == 1
    assert sum(data["visits"].values()) == 1999
    assert "<table" in result._repr_html_()
    assert "rules_digest" in str(result.report())
    assert repr(result.tree).startswith("<tree of")
    assert "ucb1" in repr(tt.Search("nim"))
    assert "prior" in str(run("connect_four", tt.puct())[1])


def test_a_result_is_a_snapshot():
    search, result = run("connect_four", simulations=100)
    visits = result.visits
    search.run(tt.Limit(simulations=1000))
    assert result.visits == visits


@tt.compiled
def steps(action):
    return action + STEP[0]


STEP = np.array([1])


def test_a_helper_whose_globals_changed_in_a_running_session_is_compiled_anew():
    @tt.game(players=1, num_actions=2, max_length=10, rewards=(0, 1))
    class Walk:
        n = tt.field("i2")
        turns = tt.field("i1")

        def reset(self):
            self.n = 0

        def legal_actions(self, out):
            out[0], out[1] = 0, 1
            return 2

        def apply(self, action):
            self.n += steps(action)
            self.turns += 1

        def is_terminal(self):
            return self.turns == 1

        def rewards(self, out):
            out[0] = self.n / 16.0

    assert tt.search(Walk, simulations=1000).means.tolist() == [1 / 16, 2 / 16]
    STEP[0] = 7
    assert tt.search(Walk, simulations=1000).means.tolist() == [7 / 16, 8 / 16]
    tt.check(Walk, games=5)
    STEP[0] = 1
    assert tt.search(Walk, simulations=1000).means.tolist() == [1 / 16, 2 / 16]


def test_rules_changed_in_a_running_session_are_compiled_anew():
    @tt.game(players=2, num_actions=3, max_length=50)
    class Heap:
        stones = tt.field("i2")
        player = tt.field("i1")

        def reset(self):
            self.stones = SIZE  # noqa: F821 - set below, and changed

        def legal_actions(self, out):
            count = min(3, self.stones)
            for action in range(count):
                out[action] = action
            return count

        def apply(self, action):
            self.stones -= action + 1
            self.player = 1 - self.player

        def is_terminal(self):
            return self.stones <= LAST  # noqa: F821

        def rewards(self, out):
            out[self.player] = -1.0
            out[1 - self.player] = 1.0

    globals().update(SIZE=5, LAST=0)
    assert tt.search(Heap, simulations=2000).action == 0
    globals().update(LAST=2)
    first = tt.search(Heap, simulations=2000)
    assert first.action == 2  # now 5 - 3 = 2 stones end the game at once


def test_a_result_stays_as_it_was_when_the_search_continues():
    continued, kept = (tt.Search("tic_tac_toe", seed=1) for _ in range(2))
    result, same = (search.run(tt.Limit(simulations=500)) for search in (continued, kept))
    continued.run(tt.Limit(simulations=5000))
    continued.advance(4)
    assert (result.pv, str(result.explain()), result.move) == (same.pv, str(same.explain()), same.move)


def test_a_result_that_is_read_in_a_callback_stays_as_it_was(monkeypatch):
    monkeypatch.setattr("treetop.search.session._PROGRESS_SECONDS", 0.0)
    taken, search = [], tt.Search("connect_four", seed=1)
    search.run(tt.Limit(simulations=20_000), progress=lambda _: taken.append((search.result(), search.result().pv)))
    assert len(taken) > 1
    assert all(result.pv == before for result, before in taken)


def test_lines_of_a_result_are_refused_when_the_search_has_continued():
    search = tt.Search("tic_tac_toe", seed=1)
    result = search.run(tt.Limit(simulations=500))
    assert len(result.lines(3)) == 3
    search.advance(result.action)
    with pytest.raises(tt.errors.StaleNodeError, match="call `lines` before the next run"):
        result.lines(3)


def test_what_is_not_a_limit_is_refused_with_one():
    search = tt.Search("tic_tac_toe", tt.puct(), evaluator=tt.evaluators.Uniform())
    for call in (search.run, lambda limit: search.ask(8, limit)):
        with pytest.raises(tt.errors.ConfigError, match=r"takes a Limit, such as tt.Limit\(simulations=500\), not 500"):
            call(500)
