"""Several threads on one tree: nothing is lost, nothing wrong is proven, and with `deterministic` nothing depends on their number."""

from __future__ import annotations

import random

import numpy as np
import pytest

import treetop as tt
from tests.own_games import start
from tests.search import fragile_games
from tests.sketch import random_drawing, slots, spot_of
from treetop.tree.layout import BOUNDED, PROVEN

KINDS = {
    "ucb1": ("tic_tac_toe", tt.uct(), None),
    "priors": ("tic_tac_toe", tt.puct(), tt.evaluators.Uniform()),
    "proofs": ("othello(size=4)", tt.uct(solver=True), None),
    "folded": ("tic_tac_toe", tt.uct(solver=True, max_nodes=300), None),
    "variances": ("tic_tac_toe", tt.rules.ucb1_tuned(), None),
    "maximum": ("tic_tac_toe", tt.uct(backup="max"), None),
    "amaf": ("tic_tac_toe", tt.rules.grave(), None),
    "history": ("tic_tac_toe", tt.rules.progressive_history(), tt.Rollout(policy="mast")),
    "three players": ("nim_three", tt.uct(solver=True), None),
    "dice": ("pig(goal=30)", tt.uct(), None),
    "immediate rewards": ("cliff_walking(horizon=20)", tt.uct(normalise=False), None),
}


def searched(kind, threads, simulations=4000, seed=1, **options):
    game, config, evaluator = KINDS[kind]
    position = tt.position(game, seed=1) if game != "pig(goal=30)" else tt.position(game).resolve_chance(1)
    config = config.with_options(stop_when_forced=False)
    search = tt.Search(position, config, evaluator=evaluator, seed=seed, threads=threads, **options)
    search.run(tt.Limit(simulations=simulations))
    return search


@pytest.mark.parametrize("kind", KINDS)
def test_every_simulation_is_counted_once_at_every_node(kind):
    search = searched(kind, 3)
    assert search.solved or search.simulations == 4000
    low, high = search.game.facts.rewards
    search.tree.check((-np.inf, np.inf) if search.game.has("step_rewards") else (low, high))
    kept = search.result().action
    search.advance(kept)
    if not search.position.is_terminal and search.position.player >= 0:
        search.run(tt.Limit(simulations=500))
        search.tree.check()


def test_a_search_goes_on_with_another_number_of_threads(tmp_path):
    search = searched("ucb1", 2)
    search.save(tmp_path / "search")
    for threads in (1, 4):
        loaded = tt.Search.load(tmp_path / "search", threads=threads)
        assert loaded.run(tt.Limit(simulations=1000)).root_visits == 5000
        loaded.tree.check((-1, 1))


def test_leaves_can_be_asked_for_between_two_runs_of_threads():
    search = searched("ucb1", 2, simulations=500)
    batch = search.ask(8)
    search.tell(batch, np.zeros((len(batch), 9)), np.zeros(len(batch)))
    search.run(tt.Limit(simulations=500))
    search.tree.check((-1, 1))


def assert_sound(search, drawing, seed):
    search.tree.check((-1, 1))
    columns = search.tree.columns
    for slot, position in slots(search):
        value, length = drawing.exact[spot_of(position)]
        flags = columns.links["flags"][slot]
        if flags & BOUNDED:
            low, high = columns.bounds[slot, 0], columns.bounds[slot, 2]
            assert low <= value <= high, (
                f"drawing {seed}: spot {spot_of(position)} is worth {value}, not {low} to {high}"
            )
        if flags & PROVEN and value:
            assert columns.distances[slot] >= length


@pytest.mark.slow
def test_a_thousand_searches_by_threads_that_yield_prove_nothing_wrong():
    solved = bounded = 0
    for seed in range(1000):
        drawing = random_drawing(seed, values=(-1.0, -0.5, 0.0, 0.25, 1.0) if seed % 2 else (-1.0, 0.0, 1.0))
        config = tt.uct(solver=True, stop_when_forced=False, max_nodes=[None, 40][seed % 5 == 0])
        search = tt.Search(drawing.position(), config, seed=seed, threads=2 + seed % 3)
        search._driver.threads.yields = (0, 1, 3, 17)[seed % 4]
        for simulations in (40, 300):
            result = search.run(tt.Limit(simulations=simulations))
        if seed % 4 == 0:
            assert_sound(search, drawing, seed)
        else:
            search.tree.check((-1, 1))
        bounded += int(np.count_nonzero(search.tree.columns.links["flags"][: search.tree.size] & BOUNDED))
        if search.solved:
            solved += 1
            value = drawing.exact[0][0]
            assert result.values == pytest.approx([value, -value], abs=1e-12)
            assert drawing.exact[spot_of(search.position.apply(result.action))][0] == value
    assert solved > 700
    assert bounded > 10_000


def test_threads_play_on_with_the_tree_below_each_move():
    for seed in range(20):
        drawing = random_drawing(seed)
        search = tt.Search(drawing.position(), tt.uct(solver=True, stop_when_forced=False), seed=seed, threads=2)
        while True:
            search.run(tt.Limit(simulations=30))
            assert_sound(search, drawing, seed)
            onward = [a for a in search.position.legal_actions() if not search.position.apply(a).is_terminal]
            if not onward:
                break
            search.advance(random.Random(seed).choice(onward))


FAULTS = (
    "NO_SUCH_PLAYER",
    "TOO_MANY_ACTIONS",
    "NO_ACTIONS",
    "NO_SUCH_ACTION",
    "DIVIDES",
    "RAISES_AT_THE_END",
    "RAISES_IN_THE_LIST",
)


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_game_that_fails_in_a_thread_is_an_error_and_leaves_the_tree_whole(fault, deterministic):
    position = start(fragile_games.Countdown, fault=getattr(fragile_games, fault))
    search = tt.Search(position, seed=1, threads=3, deterministic=deterministic)
    for _ in range(2):
        with pytest.raises(tt.errors.GameError, match="Countdown"):
            search.run(tt.Limit(simulations=5000))
        search.tree.check()
    assert search.in_flight == 0


# Deterministic: the same result for any number of threads.


def columns_of(search):
    columns, size = search.tree.columns, search.tree.size
    return columns.stats[:size].tobytes(), columns.links[:size].tobytes(), search.tree.totals.tobytes()


DETERMINISTIC = {
    "ucb1": KINDS["ucb1"],
    "proofs": ("othello(size=4)", tt.uct(solver=True, batch_size=8), None),
    "gumbel": ("tic_tac_toe", tt.gumbel(), tt.evaluators.Rollout()),
    "bounded": ("tic_tac_toe", tt.uct(max_nodes=300), None),
    "dice": KINDS["dice"],
}


@pytest.mark.filterwarnings("ignore:Gumbel")
@pytest.mark.parametrize("kind", DETERMINISTIC)
def test_a_deterministic_search_is_the_same_for_any_number_of_threads(kind):
    game, config, evaluator = DETERMINISTIC[kind]
    position = tt.position(game) if kind != "dice" else tt.position(game).resolve_chance(1)
    trees = []
    for threads in (1, 2, 5):
        search = tt.Search(position, config, evaluator=evaluator, seed=7, threads=threads, deterministic=True)
        search.run(tt.Limit(simulations=700))
        search.tree.check(search.game.facts.rewards)
        trees.append(columns_of(search))
    assert trees[0] == trees[1] == trees[2]


def test_a_deterministic_search_continues_after_a_file_as_it_would_have(tmp_path):
    search = tt.Search("tic_tac_toe", seed=7, threads=2, deterministic=True)
    search.run(tt.Limit(simulations=700))
    search.save(tmp_path / "search")
    search.run(tt.Limit(simulations=640))
    for threads in (1, 3):
        loaded = tt.Search.load(tmp_path / "search", threads=threads, deterministic=True)
        loaded.run(tt.Limit(simulations=640))
        assert columns_of(loaded) == columns_of(search)


# What is refused.


@pytest.mark.parametrize("threads", [0, -1, 257, 1000, 1.5, True, "two"])
def test_a_wrong_number_of_threads_is_refused(threads):
    with pytest.raises(tt.errors.ConfigError, match="threads must be"):
        tt.Search("tic_tac_toe", threads=threads)


class Net:
    def evaluate(self, batch):
        return np.zeros((len(batch), batch.game.facts.num_actions)), np.zeros(len(batch))


REFUSED = {
    "evaluator in Python": ("tic_tac_toe", tt.puct(), Net(), "batch_size"),
    "transpositions": ("tic_tac_toe", tt.uct(transpositions=True), None, "transpositions"),
    "tie_break": ("tic_tac_toe", tt.uct(tie_break=lambda actions: actions[0]), None, "tie_break"),
    "schedule": ("tic_tac_toe", tt.gumbel(), tt.evaluators.Uniform(), "deterministic=True"),
    "expected": ("pig", tt.uct(chance="expected"), None, "sampled"),
    "information sets": ("kuhn_poker", tt.uct(), None, "information-set"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_several_threads_cannot_search_is_refused_with_a_way_out(kind):
    game, config, evaluator, match = REFUSED[kind]
    position = tt.position(game).resolve_chance(1) if game in ("pig", "kuhn_poker") else tt.position(game)
    with pytest.raises(tt.errors.ConfigError, match=match):
        tt.Search(position, config, evaluator=evaluator, threads=2)


def test_a_deterministic_search_by_the_moves_of_rollouts_is_refused():
    for config, evaluator in ((tt.rules.grave(), None), (tt.uct(), tt.Rollout(policy="mast"))):
        with pytest.raises(tt.errors.ConfigError, match="moves of each rollout"):
            tt.Search("tic_tac_toe", config, evaluator=evaluator, threads=2, deterministic=True)


def test_a_tree_too_small_for_its_threads_is_refused():
    with pytest.raises(tt.errors.ConfigError, match="max_nodes must be at least 92"):
        tt.Search("tic_tac_toe", tt.uct(max_nodes=60), threads=8)


def test_a_tie_that_another_thread_resolves_is_no_error():
    """GRAVE reads statistics of nodes that other threads change: a tie may be gone when it is broken."""
    for seed in range(25):
        search = tt.Search("othello(size=6)", tt.rules.grave(), seed=seed, threads=4)
        search.run(tt.Limit(simulations=5000))
        search.tree.check((-1, 1))
