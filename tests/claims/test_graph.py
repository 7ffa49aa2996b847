"""A search of a graph finds the same values as exhaustive search, in far fewer nodes, and counts nothing twice."""

from __future__ import annotations

import math
import random

import pytest

import treetop as tt
from tests.sketch import Drawing, Sketch, find_mistake, goes_round, random_drawing, random_maze, slots, spot_of
from treetop.oracle.exhaustive import Exhaustive
from treetop.tree.layout import SHARED

GRAPH, PROOF = tt.uct(transpositions=True), tt.uct(transpositions=True, solver=True)


def grid(size=6):
    """Walk right or down over a board, in turn; where the walk leaves it, it ends. All ways to a square merge."""
    drawing = Drawing({})
    rng = random.Random(7)
    for row in range(size):
        for column in range(size):
            spot = size * row + column
            drawing.movers[spot] = (row + column) % 2
            end = size * size + (row + column) % 8
            drawing.ways[spot] = [spot + 1 if column < size - 1 else end, spot + size if row < size - 1 else end]
    drawing.worth |= {size * size + index: rng.choice((-1.0, -0.5, 0.5, 1.0)) for index in range(8)}
    return drawing


@pytest.mark.parametrize(
    ("game", "moves", "simulations"),
    [
        ("nim(stones=21)", "", 20_000),
        ("nim(stones=21)", "1", 20_000),
        ("tic_tac_toe", "", 30_000),
        ("tic_tac_toe", "a1 b1", 20_000),
        ("tic_tac_toe", "a1 b1 b2", 20_000),
        ("othello(size=4)", "a2 a3 a4 c1", 40_000),
    ],
)
def test_a_graph_leads_to_the_exact_value_and_a_best_move(game, moves, simulations):
    oracle, position = Exhaustive(), tt.position(game, moves=moves)
    value = oracle.values(position)[position.player]
    search = tt.Search(position, GRAPH.with_options(c=0.7), seed=1)
    result = search.run(tt.Limit(simulations=simulations))
    search.tree.check((-1, 1))
    assert search.simulations == simulations
    assert result.action in oracle.best_actions(position)
    assert math.copysign(1, result.value) == value if value else abs(result.value) < 0.15
    proven = tt.Search(position, PROOF, seed=1)
    reported = proven.run(tt.Limit(simulations=300_000))
    proven.tree.check((-1, 1))
    assert tuple(reported.values) == oracle.values(position)
    assert reported.action in oracle.best_actions(position)


def test_a_walk_over_a_grid_leads_to_the_exact_value():
    drawing = grid()
    search = tt.Search(drawing.position(), GRAPH, seed=1)
    result = search.run(tt.Limit(simulations=50_000))
    search.tree.check((-1, 1))
    assert result.value == pytest.approx(drawing.exact[0][0], abs=0.05)
    assert drawing.exact[spot_of(search.position.apply(result.action))][0] == drawing.exact[0][0]
    assert search.tree.size <= 1 + 2 * 36  # every square is expanded once, though 252 ways lead to the far corner
    for _, position in slots(search):
        assert spot_of(position) in drawing.exact
    blocks = search.tree.columns.links["first_child"][: search.tree.size]
    assert (search.tree.columns.links["flags"][: search.tree.size] & SHARED > 0).sum() == (blocks > 0).sum() - len(
        set(blocks[blocks > 0])
    )


@pytest.mark.parametrize(
    ("game", "times"),
    [("nim(stones=21)", 200), ("tic_tac_toe", 2), (grid().position(), 10)],
    ids=["nim", "tic_tac_toe", "grid"],
)
def test_a_graph_proves_with_far_fewer_nodes_than_a_tree(game, times):
    sizes = []
    for transpositions in (False, True):
        search = tt.Search(game, tt.uct(solver=True, transpositions=transpositions), seed=1)
        assert search.run(tt.Limit(simulations=300_000)).solved
        sizes.append(search.tree.size)
    assert sizes[0] > times * sizes[1]


@pytest.mark.parametrize("solver", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_random_graphs_lead_to_the_exact_value(solver, seed):
    drawing = random_drawing(seed, values=(-1.0, -0.5, 0.0, 0.5, 1.0))
    search = tt.Search(drawing.position(), GRAPH.with_options(solver=solver, stop_when_forced=False), seed=seed)
    result = search.run(tt.Limit(simulations=30_000))
    search.tree.check((-1, 1))
    value = drawing.exact[0][0] * (1 if search.position.player == 0 else -1)
    assert result.value == pytest.approx(value, abs=1e-12 if solver else 0.1)
    chosen = drawing.exact[spot_of(search.position.apply(result.action))][0]
    assert chosen == drawing.exact[0][0]


@pytest.mark.parametrize(
    "options", [{}, {"solver": True}, {"max_nodes": 24}, {"solver": True, "max_nodes": 24}], ids=str
)
def test_nothing_is_counted_twice(options):
    """The flow of visits is checked after every few simulations, through folds and moves."""
    for seed in range(25):
        drawing = random_drawing(seed)
        search = tt.Search(
            drawing.position(), GRAPH.with_options(transpositions=1024, stop_when_forced=False, **options), seed=seed
        )
        rng = random.Random(seed)
        while True:
            for simulations in (1, 2, 7, 30, 100):
                search.run(tt.Limit(simulations=simulations))
                search.tree.check((-1, 1))
            onward = [
                action for action in search.position.legal_actions() if not search.position.apply(action).is_terminal
            ]
            if not onward:
                break
            search.advance(rng.choice(onward))
            if search.simulations:
                search.tree.check((-1, 1))


def test_a_small_table_is_as_sound_as_a_large_one():
    """With 1,024 places for some thousand positions many are forgotten and made again."""
    position, oracle = tt.position("tic_tac_toe"), Exhaustive()
    sizes = {}
    for places in (1024, True):
        search = tt.Search(position, PROOF.with_options(transpositions=places), seed=1)
        result = search.run(tt.Limit(simulations=300_000))
        search.tree.check((-1, 1))
        assert tuple(result.values) == oracle.values(position)
        assert result.action in oracle.best_actions(position)
        sizes[places] = search.tree.size
    assert sizes[1024] > sizes[True]


def test_equal_keys_of_positions_with_other_moves_are_distinguished():
    for seed in range(10):
        drawing = random_drawing(seed, values=(-1.0, -0.5, 0.0, 0.5, 1.0))
        shapes: dict[tuple[int, ...], int] = {}
        for spot, targets in drawing.ways.items():  # spots of different shape share names, three at a time
            shape = tuple(action for action, target in enumerate(targets) if target is not None)
            drawing.names[spot] = 100 + shapes.setdefault((*shape, drawing.movers[spot]), 0)
            shapes[(*shape, drawing.movers[spot])] += 1
        for solver in (False, True):
            search = tt.Search(drawing.position(), GRAPH.with_options(solver=solver, stop_when_forced=False), seed=seed)
            result = search.run(tt.Limit(simulations=30_000))
            search.tree.check((-1, 1))
            value = drawing.exact[0][0] * (1 if search.position.player == 0 else -1)
            assert result.value == pytest.approx(value, abs=1e-12 if solver else 0.1)
            if search.simulations > 2000:
                assert search._driver.control[0]["collisions"] > 0


# Cycles.

BACK_AND_FORTH = Drawing({0: [1, 2], 1: [0, 3]}, worth={2: -1.0, 3: -0.5}, movers={1: 1})
"""The first player may give up at once; else the second one takes half a point, or hands the same position back."""
ROUND = Drawing({0: [1, 2], 1: [2, 3], 2: [0, 4]}, worth={3: -1.0, 4: -1.0}, movers={1: 0, 2: 0})
"""One player alone may lose, or walk round for ever, on two ways."""


def run_circle(drawing, simulations=4000, **options):
    search = tt.Search(drawing.position(), GRAPH.with_options(**options), evaluator=tt.evaluators.Uniform(), seed=1)
    return search, search.run(tt.Limit(simulations=simulations))


def test_going_round_is_worth_the_middle():
    search, result = run_circle(ROUND)
    assert result.value == pytest.approx(0.0, abs=0.1)
    assert search.simulations == 4000
    search.tree.check((-1, 1))
    _, reported = run_circle(ROUND, repetition=-0.9)
    assert reported.value == pytest.approx(-0.9, abs=0.1)


def test_nobody_repeats_who_can_have_more():
    search, result = run_circle(BACK_AND_FORTH)
    assert result.value == pytest.approx(-0.5, abs=0.05)
    assert result.action == 0
    search.advance(0)
    search.tree.check((-1, 1))
    assert search.run(tt.Limit(simulations=1000)).action == 1


BAIT = Drawing({0: [1, 2, 5], 1: [3], 3: [2], 2: [6, 4], 4: [2]}, worth={5: -0.144, 6: -0.607}, movers={1: 1, 2: 1})
"""The second player can always take 0.607 at spot 2, to which two ways lead; going round from there only tempts the first."""
STANDOFF = Drawing({0: [1, 3, 4], 1: [2, 5], 2: [1, 6], 3: [2]}, worth={4: 0.1, 5: 0.9, 6: -0.9}, movers={1: 1, 3: 1})
"""Two ways lead into a circle that neither player wants to leave; a tenth is to be had at once."""


@pytest.mark.parametrize("seed", range(4))
def test_a_move_is_bounded_by_proofs_that_were_found_on_other_ways(seed):
    search = tt.Search(BAIT.position(), PROOF, seed=seed)
    result = search.run(tt.Limit(simulations=100_000))
    assert result.action == 2
    assert result.solved
    assert result.proof.value == -0.144


@pytest.mark.parametrize("solver", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_circle_that_nobody_leaves_is_worth_a_repetition(seed, solver):
    search = tt.Search(STANDOFF.position(), GRAPH.with_options(solver=solver), seed=seed)
    result = search.run(tt.Limit(simulations=20_000))
    search.tree.check((-1, 1))
    assert result.action == 2
    assert result.means[:2] == pytest.approx([0.0, 0.0], abs=0.05)


def test_values_stay_within_what_is_proven_where_play_may_go_round():
    _, result = run_circle(BACK_AND_FORTH, solver=True)
    assert result.upper.max() == -0.5
    assert result.value == pytest.approx(-0.5, abs=0.1)


@pytest.mark.parametrize("evaluator", [tt.evaluators.Uniform(), tt.Rollout()], ids=str)
@pytest.mark.parametrize("solver", [False, True])
def test_random_games_with_circles_are_played_right(solver, evaluator):
    """The same for 10,000 games: python fuzz/cyclic_games.py."""
    met = 0
    for seed in range(40):
        drawing = random_maze(seed)
        search = tt.Search(
            drawing.position(),
            GRAPH.with_options(solver=solver, repetition=drawing.endless),
            evaluator=evaluator,
            seed=seed,
        )
        assert find_mistake(drawing, search, 20_000) is None, f"random_maze({seed})"
        met += goes_round(search)
    assert met > 20


def test_a_graph_with_circles_can_be_moved_on_saved_and_loaded(tmp_path):
    met = 0
    for seed in range(25):
        drawing = random_drawing(seed, values=(-1.0, -0.5, 0.0, 0.5, 1.0), spots=16, circles=True)
        search = tt.Search(drawing.position(), GRAPH, evaluator=tt.evaluators.Uniform(), seed=seed)
        search.run(tt.Limit(simulations=1000))
        met += goes_round(search)
        search.save(tmp_path / "search")
        loaded = tt.Search.load(tmp_path / "search", game=Sketch)
        for each in (search, loaded):
            each.run(tt.Limit(simulations=500))
        assert loaded.result().visits == search.result().visits
        onward = [
            action
            for action, visits in search.result().visits.items()
            if visits and not search.position.apply(action).is_terminal
        ]
        if onward:
            search.advance(onward[0])
            search.tree.check((-1, 1))
            search.run(tt.Limit(simulations=500))
            search.tree.check((-1, 1))
    assert met > 3
