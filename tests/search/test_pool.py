"""A pool: every slot is the search that it would be alone, whatever the other slots and threads do."""

from __future__ import annotations

import re
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import treetop as tt
from tests.search.evaluators import Hashed
from treetop.tree.layout import OPTIONAL

UNIFORM = tt.evaluators.Uniform()


def trees_are_equal(pool, searches):
    for slot, search in enumerate(searches):
        if search is None:
            continue
        driver = pool._slots.driver(slot)
        ours, theirs = driver.tree, search.tree
        assert driver.position.actions == search.position.actions
        assert ours.size == theirs.size
        assert ours.totals.tobytes() == theirs.totals.tobytes()
        for name in ("stats", "links", *OPTIONAL):
            if theirs.has(name) or name in ("stats", "links"):
                left, right = (getattr(tree.columns, name)[: tree.size] for tree in (ours, theirs))
                if name in ("bounds", "distances", "amaf"):  # a node's row may be unwritten before it is read
                    continue
                assert left.tobytes() == right.tobytes(), (slot, name)
        ours.check()


def play_both(game, config, evaluator, *, slots=6, simulations=30, moves=5, leaves=1, threads=1, overlap=True):
    """Play games in a pool and in single searches, and compare everything after each move."""
    pool = tt.SearchPool(
        game, config, slots=slots, evaluator=evaluator, seed=3, leaves=leaves, threads=threads, overlap=overlap
    )
    alone = config.with_options(batch_size=leaves)
    searches = [
        tt.Search(pool.position(slot), alone, evaluator=evaluator, seed=int(seed))
        for slot, seed in enumerate(pool.seeds)
    ]
    for _ in range(moves):
        pool.run(simulations)
        found = [None if search is None else search.run(tt.Limit(simulations=simulations)) for search in searches]
        trees_are_equal(pool, searches)
        results = pool.results()
        for slot, result in enumerate(found):
            if result is None:
                assert results.actions[slot] == -1
                continue
            assert results.actions[slot] == result.action
            assert results.visits[slot, result.numbers].tolist() == result.counts.tolist()
            assert results.values[slot].tolist() == result.values
            assert results.target[slot] == pytest.approx(result.target(), abs=1e-12)
            assert results.policy[slot] == pytest.approx(result.policy(), abs=1e-12)
        pool.advance(results.actions, restart=False)
        for slot, search in enumerate(searches):
            if search is not None:
                played = pool.position(slot).actions
                for action in played[len(search.position.actions) :]:
                    search.advance(action)
                searches[slot] = None if search.position.is_terminal else search
    return pool


SEARCHES = {
    "ucb1": ("connect_four", tt.uct(), None),
    "solver": ("tic_tac_toe", tt.uct(solver=True), None),
    "gumbel": ("connect_four", tt.gumbel(), UNIFORM),
    "rave": ("tic_tac_toe", tt.rave(), None),
    "mast": ("tic_tac_toe", tt.rules.progressive_history(), tt.Rollout("mast")),
    "halving": ("tic_tac_toe", tt.rules.halving(), None),
    "noise": ("connect_four", tt.puct(noise=0.3, noise_final=0.1, noise_moves=4), UNIFORM),
    "three players": ("nim_three", tt.uct(), None),
    "chance": ("pig", tt.uct(), None),
    "chance and rewards": ("twenty48", tt.uct(), None),
    "folding": ("connect_four", tt.uct(max_nodes=200), None),
    "temperature": ("connect_four", tt.uct(final="temperature"), None),
    "value": ("connect_four", tt.uct(final="value"), None),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", SEARCHES)
def test_each_slot_is_the_search_that_it_would_be_alone(name, threads):
    game, config, evaluator = SEARCHES[name]
    play_both(game, config, evaluator, threads=threads)


EVALUATED = {
    "puct": ("connect_four", tt.puct(noise=0.25), 1),
    "several leaves": ("connect_four", tt.puct(virtual_loss="always"), 3),
    "gumbel": ("tic_tac_toe", tt.gumbel(), 1),
    "gumbel, several leaves": ("connect_four", tt.gumbel(), 2),
    "forced playouts": ("connect_four", tt.puct(forced_playouts=2.0, noise=0.2, final="temperature"), 1),
    "solver": ("tic_tac_toe", tt.puct(solver=True), 2),
    "chance": ("pig", tt.puct(noise=0.2), 2),
    "chance and rewards": ("twenty48", tt.puct(), 1),
}


@pytest.mark.parametrize(("threads", "overlap"), [(1, False), (1, True), (2, True)])
@pytest.mark.parametrize("name", EVALUATED)
def test_each_slot_with_an_evaluator_is_the_search_that_it_would_be_alone(name, threads, overlap):
    game, config, leaves = EVALUATED[name]
    play_both(game, config, Hashed(), leaves=leaves, threads=threads, overlap=overlap)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("config", [tt.uct(), tt.puct(), tt.gumbel()], ids=str)
def test_256_slots_are_256_searches(config, threads):
    evaluator = None if config == tt.uct() else Hashed()
    play_both("connect_four", config, evaluator, slots=256, simulations=16, moves=2, threads=threads)


def test_a_pool_of_one_slot_is_a_search():
    play_both("connect_four", tt.puct(), Hashed(), slots=1)


def test_games_that_end_are_replaced_at_once_by_games_with_new_seeds():
    pool = tt.SearchPool("tic_tac_toe", slots=5, seed=1)
    seeds, finished = set(pool.seeds.tolist()), []
    for _ in range(12):
        pool.run(20)
        finished += pool.advance(pool.results().actions)
        assert not pool.is_terminal.any()
    assert len(finished) >= 5
    assert all(game.position.is_terminal and len(game.position.actions) >= 5 for game in finished)
    assert all(sum(game.returns) == 0 for game in finished)
    used = [game.seed for game in finished] + pool.seeds.tolist()
    assert len(set(used)) == len(used)
    assert seeds <= set(used)


def test_without_restart_a_finished_slot_stays_until_it_is_replaced():
    pool = tt.SearchPool("nim(stones=1)", slots=2, seed=1)
    pool.run(5)
    finished = pool.advance([0, -1], restart=False)
    assert [game.slot for game in finished] == [0]
    assert pool.is_terminal.tolist() == [True, False]
    pool.run(5)
    assert pool.results().actions.tolist()[0] == -1
    with pytest.raises(tt.errors.ConfigError, match="the game in slot 0 is over: give NONE"):
        pool.advance([0, 0])
    with pytest.raises(tt.errors.SearchError, match="slot 0 is over"):
        pool.result(0)
    pool.replace(0)
    assert pool.is_terminal.tolist() == [False, False]


def test_a_slot_can_be_replaced_by_any_position():
    pool = tt.SearchPool("connect_four", slots=3, seed=1)
    position = tt.position("connect_four", moves="4 4 3")
    pool.replace(1, position, seed=17)
    assert pool.position(1) == position
    assert pool.position(1).moves() == ["4", "4", "3"]
    assert pool.moves_played.tolist() == [0, 3, 0]
    pool.run(50)
    alone = tt.search(position, simulations=50, seed=17)
    assert pool.result(1).visits == alone.visits
    assert pool.result(1).pv == alone.pv


def test_a_pool_may_start_from_a_position():
    pool = tt.SearchPool(tt.position("connect_four", moves="1 2 3"), slots=2)
    assert [str(pool.position(slot)) for slot in range(2)] == [str(tt.position("connect_four", moves="1 2 3"))] * 2


def test_deals_and_outcomes_follow_the_seed_of_a_slot():
    first, again = (tt.SearchPool("twenty48", slots=4, seed=5) for _ in range(2))
    boards = [str(first.position(slot)) for slot in range(4)]
    assert boards == [str(again.position(slot)) for slot in range(4)]
    assert len(set(boards)) > 1


def test_the_trees_of_a_pool_grow():
    pool = tt.SearchPool("connect_four", slots=2, seed=1)
    pool.run(3000)
    assert pool.results().simulations.tolist() == [3000, 3000]
    for tree in pool._slots.trees:
        assert tree.columns.capacity > 1024


def test_the_positions_of_a_pool_are_a_batch():
    pool = tt.SearchPool("connect_four", slots=3, seed=1)
    pool.replace(1, tt.position("connect_four", moves="4"))
    batch = pool.batch()
    assert batch.players.tolist() == pool.players.tolist() == [0, 1, 0]
    assert batch.observations.shape == (3, 3, 6, 7)
    assert batch.legal_mask.all()


# Wrong input.


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"slots": 0}, "slots must be"),
        ({"slots": True}, "slots must be"),
        ({"slots": 2, "threads": 0}, "threads must be"),
        ({"slots": 2, "threads": 1000}, "threads must be"),
        ({"slots": 2, "leaves": 0}, "leaves must be"),
        ({"slots": 2, "evaluator": 3}, "evaluator must be"),
        ({"slots": 2, "seed": 0.5}, "seed must be"),
        ({"slots": 2, "tier": "fast"}, "tier must be"),
    ],
)
def test_wrong_options_are_refused(options, text):
    with pytest.raises(tt.errors.ConfigError, match=text):
        tt.SearchPool("tic_tac_toe", **options)


@pytest.mark.parametrize(
    ("game", "config", "text"),
    [
        ("kuhn_poker", tt.uct(), "information-set search"),
        ("tic_tac_toe", tt.uct(transpositions=True), "no transpositions"),
        ("nim_three", tt.uct(opponents="paranoid"), "no paranoid search"),
        ("tic_tac_toe", tt.uct(tie_break=min), "tie_break function"),
    ],
)
def test_what_a_pool_cannot_search_is_refused(game, config, text):
    with pytest.raises(tt.errors.ConfigError, match=text):
        tt.SearchPool(game, config, slots=2)


@pytest.mark.parametrize("simulations", [0, -1, 1.5, True, "many"])
def test_a_run_needs_a_number_of_simulations(simulations):
    with pytest.raises(tt.errors.ConfigError, match="simulations must be"):
        tt.SearchPool("tic_tac_toe", slots=2).run(simulations)


@pytest.mark.parametrize(("config", "evaluator"), [(tt.uct(), None), (tt.gumbel(), Hashed())], ids=["uct", "gumbel"])
def test_each_slot_may_have_a_number_of_simulations_of_its_own(config, evaluator):
    pool = tt.SearchPool("connect_four", config, slots=3, evaluator=evaluator, seed=3)
    searches = [
        tt.Search(pool.position(slot), config.with_options(batch_size=1), evaluator=evaluator, seed=int(seed))
        for slot, seed in enumerate(pool.seeds)
    ]
    for counts in ([5, 40, 17], np.array([30, 1, 64])):
        pool.run(simulations=counts)
        for search, count in zip(searches, counts, strict=True):
            search.run(tt.Limit(simulations=int(count)))
        trees_are_equal(pool, searches)


@pytest.mark.parametrize("simulations", [[8], [8, 8, 8], [8, 0], [8, -1], [8.0, 8.0], [8, 2**31], [[8, 8]], []])
def test_numbers_of_simulations_must_fit_the_slots(simulations):
    with pytest.raises(tt.errors.ConfigError, match="simulations"):
        tt.SearchPool("tic_tac_toe", slots=2, seed=1).run(simulations=simulations)


@pytest.mark.parametrize("actions", [[0], [0, 1, 2], [[0, 1]], [0.5, 1.0], ["0", "1"]])
def test_actions_must_be_one_number_for_each_slot(actions):
    with pytest.raises(tt.errors.ConfigError, match="one for each slot"):
        tt.SearchPool("tic_tac_toe", slots=2).advance(actions)


def test_an_illegal_action_is_refused_and_nothing_is_played():
    pool = tt.SearchPool("tic_tac_toe", slots=3, seed=1)
    pool.advance([4, 4, 4])
    with pytest.raises(tt.errors.IllegalMoveError, match="4 is not a legal action"):
        pool.advance([0, 4, 1])
    assert pool.moves_played.tolist() == [1, 1, 1]
    pool.run(10)
    pool.advance([0, 1, 2])
    assert pool.moves_played.tolist() == [2, 2, 2]


class Wrong(Hashed):
    """An evaluator that fails at one state of a batch, once."""

    def __init__(self, what):
        self.what, self.calls = what, 0

    def evaluate(self, batch):
        logits, values = super().evaluate(batch)
        self.calls += 1
        if self.calls == 5:
            if self.what == "raises":
                raise RuntimeError("the network is gone")
            if self.what == "shape":
                return logits[:, :3], values
            values[len(values) // 2] = np.nan
        return logits, values


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize(
    ("what", "error", "text"),
    [
        ("raises", RuntimeError, "the network is gone"),
        ("shape", tt.errors.ConfigError, r"logits must have the shape \(.*, 7\)"),
        ("nan", tt.errors.ConfigError, "is not finite"),
    ],
)
def test_an_evaluator_that_fails_ends_the_run_and_nothing_finished_is_lost(what, error, text, overlap):
    pool = tt.SearchPool("connect_four", tt.puct(), slots=8, evaluator=Wrong(what), seed=1, overlap=overlap)
    with pytest.raises(error, match=text):
        pool.run(50)
    before = pool.results().simulations
    assert before.sum() > 0
    for slot in range(8):
        tree = pool._slots.driver(slot).tree
        assert not tree.columns.in_flight[: tree.size].any()
        tree.check()
    pool.run(20)
    assert (pool.results().simulations == before + 20).all()


def test_a_game_that_fails_names_the_slot(untried):
    @tt.game(players=1, num_actions=2, max_length=50)
    class Trap:
        at = tt.field("i4")
        cells = tt.field("i4", 6)

        def reset(self):
            self.at = 0

        def current_player(self):
            return 0

        def legal_actions(self, out):
            out[0], out[1] = 0, 1
            return 2

        def apply(self, action):
            self.at += action + 1
            self.cells[self.at] = 1  # beyond the end after some moves

        def is_terminal(self):
            return self.at > 40

        def rewards(self, out):
            out[0] = 1.0

    with pytest.raises(tt.errors.GameError, match="in slot 0: a method of Trap failed"):
        tt.SearchPool(Trap, slots=3).run(50)


def test_two_callers_of_one_pool_are_refused():
    class Slow(Hashed):
        def evaluate(self, batch):
            inside.set()
            finish.wait(10)
            return super().evaluate(batch)

    inside, finish = threading.Event(), threading.Event()
    pool = tt.SearchPool("connect_four", tt.puct(), slots=2, evaluator=Slow())
    thread = threading.Thread(target=pool.run, args=(2,))
    thread.start()
    inside.wait(10)
    with pytest.raises(tt.errors.SearchError, match="one caller at a time"):
        pool.run(2)
    finish.set()
    thread.join()


def test_ctrl_c_ends_a_run_and_keeps_what_is_finished():
    class Interrupting(Hashed):
        calls = 0

        def evaluate(self, batch):
            self.calls += 1
            if self.calls == 10:
                signal.raise_signal(signal.SIGINT)
            return super().evaluate(batch)

    pool = tt.SearchPool("connect_four", tt.puct(), slots=4, evaluator=Interrupting(), overlap=False)
    with pytest.raises(KeyboardInterrupt):
        pool.run(1000)
    assert 0 < pool.results().simulations.max() < 1000
    pool.run(5)
    for slot in range(4):
        pool._slots.driver(slot).tree.check()


def test_results_before_a_run_are_refused():
    pool = tt.SearchPool("tic_tac_toe", slots=2, seed=1)
    with pytest.raises(tt.errors.SearchError, match="call run first"):
        pool.results()
    pool.run(simulations=5)
    assert (pool.results().actions >= 0).all()


def test_target_values_follow_the_target_and_not_the_visits():
    pool = tt.SearchPool("tic_tac_toe", tt.gumbel(), slots=8, evaluator=Hashed(), seed=1)
    pool.run(simulations=32)
    found = pool.results()
    values = found.target_values(zero_sum=True)
    for slot in range(8):
        seen = found.visits[slot] > 0
        expected = np.average(found.action_values[slot, seen], weights=found.target[slot, seen])
        assert values[slot].tolist() == pytest.approx([expected, -expected])
    single = found.target_values(zero_sum=False)
    assert single[:, 0].tolist() == values[:, 0].tolist()
    assert single[:, 1].tolist() == found.values[:, 1].tolist()


def test_the_examples_of_the_page_on_networks_run():
    page = Path(__file__).resolve().parents[2] / "docs" / "your-network.md"
    names = {}
    for snippet in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        if "--8<--" not in snippet:
            exec(compile(snippet, str(page), "exec"), names)
    assert names["observations"].shape[1:] == (3, 6, 7)
    assert names["policies"].sum(axis=1) == pytest.approx(1.0)
    assert set(names["values"].tolist()) <= {-1.0, 0.0, 1.0}
