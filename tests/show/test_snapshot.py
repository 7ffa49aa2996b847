"""Snapshots of results: complete, small, and without hidden information."""

from __future__ import annotations

import json

import pytest

import treetop as tt
from tests.show.conftest import KINDS, NASTY, Walk, dealt, made
from treetop.show.snapshot import snapshot_of


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_of_every_kind_has_a_snapshot(results, kind):
    result = results(kind)
    found = snapshot_of(result)
    assert json.loads(json.dumps(found, allow_nan=False)) == json.loads(json.dumps(found))
    assert found["position"]["board"]
    assert found["position"]["player"] == (result.position.player if kind != "simultaneous" else "simultaneous")
    assert found["analysis"]["moves"][0]["move"] == result.move
    assert found["tree"]["nodes"][0]["visits"] == result.root_visits
    assert {one["move"] for one in found["tree"]["nodes"] if one["parent"] == 0} <= {
        result.name_of(index) for index in range(len(result.counts))
    }


@pytest.mark.parametrize("kind", ["information sets", "determinizations", "perfect information"])
def test_hidden_information_is_not_shown(results, kind):
    found = snapshot_of(results(kind))
    assert dealt().state.card == 0
    assert found["position"]["board"] == [{"kind": "text", "text": "card ?, said 1"}]
    assert found["position"]["moves"] == []
    assert max(one["parent"] for one in found["tree"]["nodes"]) == 0
    assert {one["player"] for one in found["tree"]["nodes"][1:]} == {None}
    assert all(len(one["pv"]) == 1 for one in found["analysis"]["moves"])


def test_the_tree_of_a_snapshot_is_left_out_after_the_search_has_continued():
    search = tt.Search("tic_tac_toe", seed=1)
    old = search.run(tt.Limit(simulations=200))
    search.run(tt.Limit(simulations=200))
    found = snapshot_of(old)
    assert found["tree"] is None
    assert found["analysis"]["simulations"] == 200
    assert found["analysis"]["moves"][0]["pv"] == old.pv
    for draw in (old.svg, old.dot):
        with pytest.raises(tt.errors.StaleNodeError, match="the search has continued"):
            draw()


def test_a_merged_result_is_shown_without_a_tree():
    from treetop.search.parallel import run_parallel

    result = run_parallel(tt.Search("tic_tac_toe", seed=1), tt.Limit(simulations=100), workers=2)
    found = snapshot_of(result)
    assert found["tree"] is None
    assert len(found["analysis"]["moves"][0]["pv"]) > 1
    with pytest.raises(tt.errors.ConfigError, match="merged from several searches has no tree"):
        result.svg()


@pytest.mark.parametrize(("names", "length"), [(3, 3000), (300, 9000)])
def test_a_page_stays_small_however_long_its_texts_are(names, length):
    class Long(Walk):
        def actions(self, state):
            return [f"{number}{'x' * length}" for number in range(names)]

        def render(self, state):
            return "y" * 10**6

    result = tt.search(Long(), simulations=1000, seed=1)
    found = snapshot_of(result)
    assert found["tree"]["nodes"]
    assert 1 <= len(found["analysis"]["moves"]) == names - found["analysis"]["left"]
    assert found["analysis"]["moves"][0]["move"] == result.move
    assert len(result.html().encode()) < 1_000_000


def test_the_path_of_a_users_file_is_not_shown(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import treetop as tt\n\n@tt.game(players=1, num_actions=2, max_length=2)\nclass Mine:\n    n = tt.field('i1')\n"
        "    def reset(self): self.n = 0\n    def current_player(self): return 0\n    def legal_actions(self, out):\n"
        "        out[0], out[1] = 0, 1\n        return 2\n    def apply(self, action): self.n += 1\n"
        "    def is_terminal(self): return self.n == 2\n    def rewards(self, out): out[0] = 1.0\n"
    )
    result = tt.search(f"{file}:Mine", simulations=20, seed=1)
    assert str(tmp_path) not in json.dumps(snapshot_of(result)) + result.svg() + result.dot()


def test_names_of_a_python_problem_are_its_own(results):
    found = snapshot_of(results("python problem"))
    assert {one["move"] for one in found["analysis"]["moves"]} == {"left", NASTY}
    assert "chance" in {one["player"] for one in found["tree"]["nodes"]}
    assert {"heads", "tails"} <= {one["move"] for one in found["tree"]["nodes"]}


def test_nodes_of_a_chance_game_say_that_they_are_chance_nodes():
    players = {one["player"] for one in snapshot_of(made("chance and rewards"))["tree"]["nodes"]}
    assert {0, "chance"} <= players


def test_the_children_of_a_position_of_a_graph_are_there_once(results):
    nodes = snapshot_of(results("graph"))["tree"]["nodes"]
    assert any(one["shared"] for one in nodes)
    assert not any(nodes[one["parent"]]["shared"] for one in nodes if one["parent"] >= 0)
