from __future__ import annotations

import json

import numpy as np
import pytest

import treetop as tt
from tests.own_games import ThreeNim
from treetop.search.saving import VERSION


@pytest.mark.parametrize(
    ("game", "config", "evaluator"),
    [
        ("connect_four", tt.uct(), None),
        ("connect_four", tt.puct(), tt.evaluators.Uniform()),
        ("tic_tac_toe", tt.uct(max_nodes=60), None),
        (ThreeNim, tt.uct(), None),
    ],
)
def test_continuing_after_a_load_equals_continuing_without_it(tmp_path, game, config, evaluator):
    search = tt.Search(game, config, evaluator=evaluator, seed=5)
    search.run(tt.Limit(simulations=1234))
    search.advance(search.result().action)
    search.run(tt.Limit(simulations=777))
    search.save(tmp_path / "search.treetop")
    loaded = tt.Search.load(tmp_path / "search.treetop", game=game)
    for each in (search, loaded):
        each.run(tt.Limit(simulations=999))
        each.tree.check()
    size = search.tree.size
    assert loaded.tree.size == size
    for column in ("stats", "links", "returns"):
        assert (
            getattr(loaded.tree.columns, column)[:size].tobytes()
            == getattr(search.tree.columns, column)[:size].tobytes()
        )
    assert loaded.tree.totals.tolist() == search.tree.totals.tolist()
    assert loaded._driver.control["rng"] == search._driver.control["rng"]
    assert loaded.position == search.position
    assert loaded.result().action == search.result().action


def saved(tmp_path, game="connect_four"):
    search = tt.Search(game, seed=1)
    search.run(tt.Limit(simulations=300))
    path = tmp_path / "search.treetop"
    search.save(path)
    return search, path


def test_truncated_and_foreign_files_are_refused(tmp_path):
    _, path = saved(tmp_path)
    whole = path.read_bytes()
    bad = tmp_path / "bad"
    for content in (whole[:100], whole[: len(whole) // 2], whole[:-30], b"", b"hello", b"PK\x03\x04"):
        bad.write_bytes(content)
        with pytest.raises(tt.errors.SaveError, match="damaged|not written by Treetop"):
            tt.Search.load(bad)
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(tt.errors.SaveError, match="not written by Treetop"):
        tt.Search.load(tmp_path / "other.npz")
    np.save(tmp_path / "plain.npy", np.zeros(3))
    with pytest.raises(tt.errors.SaveError):
        tt.Search.load(tmp_path / "plain.npy")
    with pytest.raises(tt.errors.SaveError, match="no file"):
        tt.Search.load(tmp_path / "nowhere")


def altered(path, **changes):
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays["treetop"].tobytes())
    header.update({key: value for key, value in changes.items() if key in header})
    arrays.update({key: value for key, value in changes.items() if key in arrays})
    arrays["treetop"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)


def test_a_save_of_another_game_version_or_kind_is_refused(tmp_path):
    search, path = saved(tmp_path)
    with pytest.raises(tt.errors.SaveError, match="rules are not those of"):
        tt.Search.load(path, game="tic_tac_toe")
    altered(path, version=99)
    with pytest.raises(tt.errors.SaveError, match="version 99"):
        tt.Search.load(path)
    altered(path, version=VERSION, kind="a dance")
    with pytest.raises(tt.errors.SaveError, match="a dance"):
        tt.Search.load(path)
    altered(path, kind="a search", game="no_such_game")
    with pytest.raises(tt.errors.SaveError, match=r"pass the game as well, as game="):
        tt.Search.load(path)
    altered(path, game="connect_four", config={"rule": "ucb9"})
    with pytest.raises(tt.errors.SaveError):
        tt.Search.load(path)
    search.run(tt.Limit(simulations=10))


def test_a_file_whose_tree_is_broken_is_refused(tmp_path):
    search, path = saved(tmp_path)
    links = search.tree.columns.links[: search.tree.size].copy()
    links["parent"][5] = 3
    altered(path, links=links)
    with pytest.raises(tt.errors.SaveError, match="damaged"):
        tt.Search.load(path)
    altered(path, links=links[:-4])
    with pytest.raises(tt.errors.SaveError, match="do not fit together"):
        tt.Search.load(path)


def test_what_a_file_cannot_hold_must_be_given_again(tmp_path):
    class Mine:
        name = "mine"

        def evaluate(self, batch):
            return tt.evaluators.Uniform().evaluate(batch)

    search = tt.Search("tic_tac_toe", tt.puct(tie_break=lambda actions: actions[0]), evaluator=Mine(), seed=1)
    search.run(tt.Limit(simulations=20))
    path = tmp_path / "search.treetop"
    search.save(path)
    with pytest.raises(tt.errors.SaveError, match="tie_break="):
        tt.Search.load(path)
    with pytest.raises(tt.errors.SaveError, match="evaluator="):
        tt.Search.load(path, tie_break=lambda actions: actions[0])
    with pytest.raises(tt.errors.SaveError, match="evaluator mine, not rollout"):
        tt.Search.load(path, tie_break=lambda actions: actions[0], evaluator=tt.Rollout())
    loaded = tt.Search.load(path, tie_break=lambda actions: actions[0], evaluator=Mine())
    assert loaded.result().visits == search.result().visits


def test_saving_to_an_impossible_place_loses_nothing(tmp_path):
    search, path = saved(tmp_path)
    before = path.read_bytes()
    with pytest.raises(tt.errors.SaveError, match="cannot be written"):
        search.save(tmp_path / "no" / "such" / "folder")
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["search.treetop"]
    search.run(tt.Limit(simulations=10))
