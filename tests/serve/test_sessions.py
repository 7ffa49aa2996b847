"""Sessions of the server, without the network: moves, searches, trees, records, reviews, limits."""

from __future__ import annotations

import threading
import time

import pytest

import treetop as tt
from treetop.errors import ConfigError, IllegalMoveError
from treetop.serve.engines import Engine
from treetop.serve.limits import Limits, TooManyError
from treetop.serve.recording import Recorder
from treetop.serve.sessions import Sessions
from treetop.serve.tasks import Scheduler
from treetop.show.trees import subtree


@pytest.fixture
def scheduler():
    with Scheduler(2) as made:
        yield made


@pytest.fixture
def sessions(scheduler):
    made = Sessions(Engine(), scheduler, Limits(sessions=4, total_nodes=100_000, nodes=50_000))
    yield made
    made.close()


def begin(sessions, game, people=(0,), seed=1, moves=""):
    known = tt.load_game(game)
    session = sessions.create(tt.position(known, moves, seed=seed if known.has("deal") else None), people, seed)
    events = []
    return session, events


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.005)


def test_a_game_against_the_engine_is_played_to_its_end(sessions):
    session, events = begin(sessions, "tic_tac_toe")
    with session.listening(events.append):
        while not session.position.is_terminal:
            session.play(session.position.legal_moves()[0])
            if not session.position.is_terminal:
                ply = session.view()["ply"]
                session.think(Engine(), visits=200, seconds=10.0, play=True)
                until(lambda: session.view()["ply"] > ply)  # noqa: B023
    kinds = {event["type"] for event in events}
    assert {"position", "analysis"} <= kinds
    assert session.view()["position"]["returns"] is not None
    assert len(session.view()["line"]) == session.view()["plies"]


def test_the_line_has_a_move_for_each_step_also_where_chance_comes_between(sessions):
    session, _ = begin(sessions, "pig", people=(0, 1))
    for move in ("roll", "hold", "roll"):
        session.play(move)
    view = session.view()
    assert view["line"] == ["roll", "hold", "roll"][: view["plies"]]
    again, _ = begin(sessions, "pig", people=(0, 1))
    for move in view["line"]:
        again.play(move)
    assert again.view()["position"]["text"] == view["position"]["text"]


def test_moves_can_be_taken_back_and_played_differently(sessions):
    session, _ = begin(sessions, "connect_four", moves="4 4")
    session.play("3")
    session.play("5")
    session.go(1)
    assert session.view()["line"] == ["3", "5"]
    session.play("6")
    assert session.view()["line"] == ["3", "6"]
    with pytest.raises(ConfigError, match="ply must be"):
        session.go(7)


def test_a_line_is_left_for_a_variation_and_restored(sessions):
    session, _ = begin(sessions, "connect_four")
    for move in ("4", "4", "3"):
        session.play(move)
    session.follow_moves(["4", "5", "6", "1"], 2)
    assert (session.view()["line"], session.view()["ply"]) == (["4", "5", "6", "1"], 2)
    with pytest.raises(IllegalMoveError):
        session.follow_moves(["4", "9"], 1)
    assert session.view()["line"] == ["4", "5", "6", "1"]  # unchanged by the error
    session.follow_moves(["4", "4", "3"], 3)
    assert (session.view()["line"], session.view()["ply"]) == (["4", "4", "3"], 3)


def test_another_line_is_refused_where_it_would_show_hidden_cards(sessions):
    session, _ = begin(sessions, "kuhn_poker", people=(0,), seed=3)
    with pytest.raises(ConfigError, match="hidden information"):
        session.follow_moves(["bet", "bet"], 2)
    assert session.view()["plies"] == 0


def test_the_moves_of_a_game_of_chance_begin_the_same_game_again(sessions):
    session, _ = begin(sessions, "pig")
    for move in ("roll", "roll", "hold"):
        session.play(move)
    again, _ = begin(sessions, "pig")
    for move in session.view()["line"]:
        again.play(move)
    assert session.view()["line"] == ["roll", "roll", "hold"]
    assert again.position.actions == session.position.actions
    review = session.begin_review(Engine(), 50)
    until(lambda: review.is_over)
    assert [row["ply"] for row in review.rows] == [0, 1, 2]


def test_outcomes_of_chance_do_not_change_when_a_move_is_taken_back(sessions):
    session, _ = begin(sessions, "pig")
    session.play("roll")
    first = session.position.actions
    session.go(0)
    session.play("roll")
    assert session.position.actions == first


def test_hidden_cards_are_not_in_what_a_player_gets(sessions):
    session, _ = begin(sessions, "leduc_poker", people=(0,), seed=3)
    view = session.view()
    faces = [part["cards"][0]["face"] for part in view["position"]["board"][:2]]
    assert faces[0]
    assert not faces[1]
    assert view["line"] == []
    assert view["position"]["moves"] == []
    assert "player 1 has" not in view["position"]["text"]


def test_the_engine_moves_in_games_with_simultaneous_moves(sessions):
    session, _ = begin(sessions, "goofspiel", seed=2)
    session.play("3").future.result(60)
    assert any(isinstance(action, tuple) and action[0] == 2 for action in session.position.actions)


def test_the_tree_follows_the_game(sessions):
    session, _ = begin(sessions, "connect_four")
    session.think(Engine(), visits=5_000, seconds=30.0)
    until(lambda: not session.is_thinking)
    with session.reading() as search:
        kept = search.tree.root.child(3).visits
    session.play("4")
    session.think(Engine(), visits=kept + 100, seconds=30.0)
    until(lambda: not session.is_thinking)
    assert session.analysis["simulations"] == kept + 100


def test_a_move_during_a_search_ends_it(sessions):
    session, events = begin(sessions, "othello")
    with session.listening(events.append):
        session.think(Engine(), visits=None, seconds=600.0, play=True)
        until(lambda: any(event["type"] == "analysis" for event in events))
        move = session.position.legal_moves()[0]
        session.play(move)
        time.sleep(0.2)
    assert session.view()["line"] == [move]
    assert not session.is_thinking


def test_many_threads_may_use_one_session(sessions):
    session, events = begin(sessions, "connect_four", people=(0, 1))
    errors = []

    def use(number):
        try:
            for _ in range(15):
                if number == 0:
                    session.think(Engine(), visits=None, seconds=5.0)
                elif number == 1:
                    session.go(0)
                elif number == 2:
                    session.play("4")
                else:
                    session.view()
                    with session.reading() as search:
                        subtree(search, (), 20)
        except (ConfigError, IllegalMoveError):
            pass  # there is no tree yet, or the column is full
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    with session.listening(events.append):
        threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert not errors
    assert not any(thread.is_alive() for thread in threads)


def test_a_wrong_rule_is_refused_and_nothing_is_searched(sessions):
    session, _ = begin(sessions, "connect_four")
    with pytest.raises(ConfigError, match="no rule"):
        session.think(Engine("magic"), visits=10, seconds=1.0)
    assert not session.is_thinking


def test_idle_sessions_make_way_and_watched_ones_stay(sessions):
    made = [begin(sessions, "nim")[0] for _ in range(4)]
    with made[0].listening(lambda event: None):
        begin(sessions, "nim")
        assert sessions.find(made[0].name) is made[0]
        with pytest.raises(KeyError):
            sessions.find(made[1].name)


def test_a_full_server_refuses_new_sessions(sessions):
    made = [begin(sessions, "nim")[0] for _ in range(4)]
    for session in made:
        session._listeners.append(lambda event: None)
    with pytest.raises(TooManyError, match="4 games in progress"):
        begin(sessions, "nim")


def test_trees_stay_within_the_bound_of_all_nodes(sessions):
    made = [begin(sessions, "othello")[0] for _ in range(4)]
    assert sessions.nodes.used == 0
    for session in made:
        session.think(Engine("uct"), visits=30_000, seconds=60.0)
        until(lambda: not session.is_thinking)  # noqa: B023
        assert sessions.nodes.used <= 100_000
    with made[-1].reading() as search:
        assert 25_000 < search.nodes <= 50_000


def test_nodes_of_a_subtree_have_deviations_where_the_search_keeps_squares():
    search = tt.Search("tic_tac_toe", tt.uct(final="secure"), seed=1)
    result = search.run(tt.Limit(simulations=300))
    deviations = {one["move"]: one["deviation"] for one in subtree(search, (), 10)["nodes"] if one["parent"] == 0}
    for index, expected in enumerate(result.deviations):
        if result.name_of(index) in deviations:
            assert deviations[result.name_of(index)] == pytest.approx(expected)


def test_a_subtree_has_the_most_visited_nodes_and_paths_lead_down():
    search = tt.Search("connect_four", seed=1)
    search.run(tt.Limit(simulations=20_000))
    found = subtree(search, (), 500)
    nodes = found["nodes"]
    assert len(nodes) == 500
    assert found["size"] == search.tree.size
    for node in nodes[1:]:
        assert node["parent"] < nodes.index(node)
        assert nodes[node["parent"]]["visits"] >= node["visits"]
    least = min(node["visits"] for node in nodes)
    more = sum(one.visits > least for one in search.tree.root.walk())
    assert more <= 500
    best = nodes[1]
    below = subtree(search, (best["action"],), 50)
    assert below["moves"] == [best["move"]]
    assert below["nodes"][0]["visits"] == best["visits"]
    with pytest.raises(ConfigError, match="no node"):
        subtree(search, (99,), 10)


def test_nodes_of_chance_and_proven_nodes_are_marked():
    search = tt.Search(tt.position("pig").resolve_chance(1), seed=1)
    search.run(tt.Limit(simulations=2000))
    assert "chance" in {node["player"] for node in subtree(search, (), 50)["nodes"]}
    search = tt.Search(tt.position("tic_tac_toe", moves="a1 b1 a2 b2"), tt.uct(solver=True), seed=1)
    search.run(tt.Limit(simulations=2000))
    nodes = subtree(search, (), 50)["nodes"]
    assert any(node["proven"] for node in nodes)
    assert any(node["terminal"] for node in nodes)


def test_a_recorded_search_is_the_search():
    found = Recorder(tt.Search("tic_tac_toe", tt.uct(c=1.0), seed=5), visits=300, detailed=60).run()
    alone = tt.search("tic_tac_toe", tt.uct(c=1.0), simulations=300, seed=5)
    last = found["snapshots"][-1]
    assert {move: visits for move, visits, _ in last["moves"]} == {row.move: row.visits for row in alone.explain().rows}
    assert len(found["simulations"]) == 60
    assert [snapshot["visits"] for snapshot in found["snapshots"][:60]] == list(range(1, 61))


def test_each_recorded_simulation_follows_the_highest_score():
    found = Recorder(tt.Search("connect_four", tt.uct(c=1.0), seed=2), visits=200, detailed=200).run()
    checked = 0
    for simulation in found["simulations"]:
        for level in simulation["levels"]:
            scores = {row[0]: float("inf") if row[4] is None else row[4] for row in level.get("rows", ())}
            if scores:
                assert scores[level["move"]] >= max(scores.values()) - 1e-9
                checked += 1
        assert -1.0 <= simulation["value"] <= 1.0
    assert checked > 200


def test_the_sum_of_recorded_values_is_the_value_of_the_root():
    found = Recorder(tt.Search("othello", seed=2), visits=50, detailed=50).run()
    total = sum(simulation["value"] for simulation in found["simulations"])
    assert total / 50 == pytest.approx(found["root"]["utility"])


def test_a_review_finds_the_move_that_lost(scheduler, sessions):
    session, events = begin(sessions, "tic_tac_toe", people=(0, 1), moves="")
    for move in ("b2", "a1", "c1", "c3", "a3"):
        session.play(move)
    with session.listening(events.append):
        review = session.begin_review(Engine("uct(solver=True)"), 500)
        until(lambda: review.is_over)
    losses = [row["loss"] for row in review.rows]
    assert len(losses) == 5
    assert losses[3] == max(losses)
    assert review.rows[3]["best"] == "a3"
    assert [event["done"] for event in events if event["type"] == "review"][-1] == 5


def test_a_listener_who_comes_late_hears_how_things_stand(sessions):
    session, _ = begin(sessions, "tic_tac_toe", people=(0, 1))
    session.play("b2")
    session.think(Engine(), visits=100, seconds=10.0)
    until(lambda: not session.is_thinking)
    review = session.begin_review(Engine(), 50)
    until(lambda: review.is_over)
    assert [event["type"] for event in session.standing()] == ["position", "analysis", "review"]
    assert session.standing()[-1]["done"] == 1


def test_the_opponents_turn_shows_nothing_of_hidden_cards(sessions):
    session, _ = begin(sessions, "kuhn_poker", people=(1,), seed=3)
    assert session.position.player == 0
    with pytest.raises(ConfigError, match="hidden information"):
        session.searchable()
    session.think(Engine(), visits=50, seconds=10.0, play=True)
    until(lambda: not session.is_thinking)
    assert session.searchable().player == 1


def test_a_recording_has_the_sums_of_each_node_before_and_after_a_simulation():
    found = Recorder(tt.Search("tic_tac_toe", tt.uct(), seed=1), visits=60, detailed=60).run()
    for simulation in found["simulations"]:
        assert sum(simulation["values"]) == pytest.approx(0.0)
        for level in simulation["levels"]:
            assert level["after"][0] == level["before"][0] + 1
            gained = level["after"][1] - level["before"][1]
            assert gained == pytest.approx(simulation["values"][level["player"]])


def test_a_search_of_the_opponent_cannot_be_read_after_its_move(sessions):
    session, _ = begin(sessions, "kuhn_poker", people=(1,), seed=3)
    session.think(Engine(), visits=50, seconds=10.0, play=True)
    until(lambda: not session.is_thinking)
    assert session.position.player == 1
    with pytest.raises(ConfigError, match="no search yet"), session.reading():
        pass
    session.think(Engine(), visits=50, seconds=10.0)
    until(lambda: not session.is_thinking)
    with session.reading() as search:
        assert subtree(search, (), 10)["nodes"][1]["move"] in ("pass", "bet")


def test_wrong_requests_do_not_end_a_search(sessions):
    session, events = begin(sessions, "connect_four")
    session.think(Engine(), visits=None, seconds=60.0)
    with pytest.raises(IllegalMoveError):
        session.play("9")
    with pytest.raises(ConfigError):
        session.go(5)
    assert session.is_thinking
    with session.listening(events.append), pytest.raises(ConfigError, match="not a legal move"):
        session.think(Engine(), visits=10, seconds=1.0, include=["9"])
    assert not events[-1]["thinking"]


def test_the_nodes_of_a_session_are_free_after_it_is_closed_even_if_its_slice_does_not_end(sessions, monkeypatch):
    monkeypatch.setattr("treetop.serve.session._PATIENCE", 0.05)
    session, _ = begin(sessions, "tic_tac_toe")
    session.think(Engine("uct"), visits=10**9, seconds=60.0)
    until(lambda: session.analysis is not None)
    assert sessions.nodes.used > 0
    with session.searching:  # as a slice does
        sessions.remove(session.name)
        assert sessions.nodes.used == 0
    until(lambda: len(sessions.scheduler) == 0)
    assert sessions.nodes.used == 0


def test_a_session_that_is_closed_twice_is_closed(sessions):
    session, _ = begin(sessions, "tic_tac_toe")
    sessions.remove(session.name)
    sessions.remove(session.name)
    assert len(sessions) == 0


def test_a_game_that_only_renders_for_a_player_hides_what_it_does_not_show(sessions):
    @tt.game(players=2, num_actions=2, max_length=2)
    class Guess:
        """One player hides a coin in a hand, and the other one guesses."""

        hand = tt.field("i1")
        turn = tt.field("i1")

        def reset(self):
            self.hand = -1
            self.turn = 0

        def legal_actions(self, out):
            out[0] = 0
            out[1] = 1
            return 2

        def current_player(self):
            return self.turn

        def apply(self, action):
            if self.turn == 0:
                self.hand = action
            else:
                self.hand = 2 + (action == self.hand)
            self.turn += 1

        def is_terminal(self):
            return self.turn == 2

        def rewards(self, out):
            out[0] = 1.0 if self.hand == 2 else -1.0
            out[1] = -out[0]

        def render(self):
            return f"the coin is in hand {self.hand}"

        def render_for(self, player):
            return "the coin is in a hand" if player == 1 else self.render()

    session = sessions.create(tt.position(Guess), (1,), 1)
    session.replay(["1"])
    view = session.view()
    assert view["position"]["text"] == "the coin is in a hand"
    assert view["line"] == []
