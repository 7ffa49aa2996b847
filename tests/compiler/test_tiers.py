"""The two tiers of compiled code: one loop for all games, and one that is specialised for a game. Their results are equal."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import treetop as tt
from tests.own_games import Climb
from treetop.compiler import background
from treetop.compiler.cache import KernelCache
from treetop.compiler.indirect import METHODS, space_for
from treetop.game.methods import SIGNATURES
from treetop.kernels.loop import make_run
from treetop.tree.layout import BOUNDED


def search_on(tier, game="tic_tac_toe", config=None, simulations=2000, **options):
    search = tt.Search(game, config, seed=3, tier=tier, **options)
    search.run(tt.Limit(simulations=simulations))
    return search


def assert_equal_trees(one, other):
    mine, theirs = (search.tree.columns for search in (one, other))
    size = one.tree.size
    assert other.tree.size == size
    assert mine.stats[:size].tobytes() == theirs.stats[:size].tobytes()
    assert mine.links[:size].tobytes() == theirs.links[:size].tobytes()
    bounded = np.flatnonzero(mine.links["flags"][:size] & BOUNDED)
    assert not len(bounded) or (mine.bounds[bounded] == theirs.bounds[bounded]).all()


def entry_of(search):
    return search._driver.engine.entry(make_run(search._driver.build))


@pytest.mark.parametrize("config", [tt.uct(), tt.uct(solver=True)], ids=str)
def test_both_tiers_build_the_same_tree(config):
    indirect, direct = search_on("indirect", config=config), search_on("direct", config=config)
    assert (entry_of(indirect).is_direct, entry_of(direct).is_direct) == (False, True)
    assert_equal_trees(indirect, direct)


def test_a_search_that_is_saved_on_one_tier_continues_on_the_other(tmp_path):
    whole = search_on("direct", simulations=1000)
    half = search_on("indirect", simulations=400)
    half.save(tmp_path / "half")
    loaded = tt.Search.load(tmp_path / "half", tier="direct")
    loaded.run(tt.Limit(simulations=600))
    assert_equal_trees(loaded, whole)


def test_every_compiled_method_of_games_can_be_called_through_its_address():
    assert set(METHODS) == set(SIGNATURES)


def test_a_method_that_fails_is_the_same_error_on_both_tiers(untried):
    @tt.game(players=2, num_actions=2, max_length=40)
    class Fragile:
        "Fails late."

        turns = tt.field("i1")
        player = tt.field("i1")
        cells = tt.field("i1", 8)

        def reset(self):
            self.turns = 0

        def legal_actions(self, out):
            out[0], out[1] = 0, 1
            return 2

        def apply(self, action):
            self.cells[self.turns] = action
            self.turns += 1
            self.player = 1 - self.player

        def is_terminal(self):
            return self.turns == 20

        def rewards(self, out):
            out[0] = 0.0

    texts = []
    for tier in ("indirect", "direct"):
        with pytest.raises(tt.errors.GameError, match="out of bounds") as error:
            search_on(tier, Fragile)
        texts.append(str(error.value))
    assert texts[0] == texts[1]


def test_states_of_every_size_are_searched_on_the_indirect_tier():
    def make(size):
        @tt.game(players=1, num_actions=2, max_length=3, rewards=(0, 1))
        class Wide:
            "Sums what was chosen, at the end of a wide state."

            cells = tt.field("i1", size)
            turns = tt.field("i1")
            player = tt.field("i1")

            def reset(self):
                self.turns = 0

            def legal_actions(self, out):
                out[0], out[1] = 0, 1
                return 2

            def apply(self, action):
                self.cells[size - 1] += action
                self.turns += 1

            def is_terminal(self):
                return self.turns == 3

            def rewards(self, out):
                out[0] = self.cells[size - 1] / 3

        return Wide

    for size in (8, 5000):
        assert search_on("indirect", make(size), simulations=200).result().value > 0.7
    assert [space_for(size) for size in (1, 4096, 4097, 65536)] == [4096, 4096, 65536, 65536]


def test_an_unknown_tier_is_refused():
    with pytest.raises(tt.errors.ConfigError, match="tier must be 'auto', 'indirect' or 'direct'"):
        tt.Search("nim", tier="fast")
    with pytest.raises(tt.errors.ConfigError, match="tier is for compiled games"):
        tt.Search(Counting(), tier="direct")


class Counting:
    """A Python problem."""

    def initial(self):
        return 0

    def actions(self, state):
        return [1, 2]

    def step(self, state, action):
        return state + action

    def is_terminal(self, state):
        return state > 3

    def rewards(self, state):
        return 1.0


def test_an_unknown_tier_of_the_process_is_refused():
    env = {**os.environ, "TREETOP_TIER": "fast"}
    ended = subprocess.run(
        [sys.executable, "-m", "treetop", "search", "nim"], env=env, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "TREETOP_TIER must be 'auto', 'indirect' or 'direct'" in ended.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="code is compiled in the background on Linux only")
def test_the_direct_tier_takes_over_by_itself_and_the_search_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("TREETOP_CACHE", str(tmp_path))
    search = tt.Search(Climb, seed=3, tier="auto")
    search.run(tt.Limit(simulations=100))
    assert not entry_of(search).is_direct
    deadline = time.monotonic() + 120
    while not entry_of(search).is_direct and time.monotonic() < deadline:
        time.sleep(0.2)
        search.run(tt.Limit(simulations=10))
    assert entry_of(search).is_direct
    assert entry_of(search).from_cache
    assert_equal_trees(search, search_on("direct", Climb, simulations=search.simulations))


def test_code_that_cannot_be_kept_is_not_compiled_in_the_background(monkeypatch):
    monkeypatch.setattr(KernelCache, "is_writable", False)
    monkeypatch.setattr(background.BackgroundCompiler, "start", lambda code: pytest.fail("it was compiled"))
    assert not entry_of(search_on("auto", make_walk(7))).is_direct


def make_walk(length):
    """A game of one player without direct code in the cache."""

    @tt.game(players=1, num_actions=2, max_length=20, rewards=(0, 100))
    class Walk:
        "Steps of 0 or STEP; the reward is the sum."

        height = tt.field("i2")
        steps = tt.field("i1")

        def reset(self):
            self.height = 0

        def legal_actions(self, out):
            out[0], out[1] = 0, 1
            return 2

        def apply(self, action):
            self.height += action * STEP
            self.steps += 1

        def is_terminal(self):
            return self.steps == length

        def rewards(self, out):
            out[0] = self.height

    return Walk


STEP = 1


@pytest.mark.parametrize("tier", ["indirect", "direct"])
def test_rules_that_change_after_a_search_was_created_are_never_compiled_for_it(tier, monkeypatch, tmp_path):
    """Their code would be saved under the digest of the old rules, and be found by the next process."""
    monkeypatch.setenv("TREETOP_CACHE", str(tmp_path))
    game = make_walk(9)
    search = tt.Search(game, tier=tier)
    monkeypatch.setitem(globals(), "STEP", 5)
    with pytest.raises(tt.errors.CompileError, match="rules of Walk have changed .* create a new one"):
        search.run(tt.Limit(simulations=10))
    assert not list(tmp_path.glob("Walk-*/*"))


def test_arrays_of_states_are_passed_as_bytes_without_a_copy():
    engine = tt.load_game("tic_tac_toe").engine(tier="indirect")
    states = np.zeros(3, engine.blueprint.dtype)
    flat, other = engine.as_bytes((states, 7))
    assert flat.shape == (3, states.dtype.itemsize)
    assert np.shares_memory(flat, states)
    assert other == 7


def test_a_loop_for_any_game_is_loaded_once_a_process():
    searches = [search_on("indirect", game, simulations=10) for game in ("tic_tac_toe", "nim")]
    functions = {id(entry_of(search)._code._function) for search in searches}
    assert len(functions) == 1
