"""What the solver claims is true: values, distances and the bounds of every node, against exhaustive search."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

import treetop as tt
from tests import numbers as numbers_of
from tests.against_reference.games import DOUBLE_MOVES
from tests.own_games import Climb, ThreeNim
from tests.sketch import random_drawing, slots, spot_of
from treetop.oracle.exhaustive import Exhaustive, reachable
from treetop.tree.layout import BOUNDED, PROVEN

ENOUGH = tt.Limit(simulations=200_000)
FRACTIONS = (-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0)


class Exact:
    """Value for player 0 and moves to the end of every position of a zero-sum game, by plain recursion: winners hurry, losers take long."""

    def __init__(self) -> None:
        self.known: dict[bytes, tuple[float, int]] = {}

    def __call__(self, position: tt.Position) -> tuple[float, int]:
        key = position.record.tobytes()
        if key not in self.known:
            self.known[key] = self._look(position)
        return self.known[key]

    def _look(self, position: tt.Position) -> tuple[float, int]:
        if position.is_terminal:
            return position.rewards[0], 0
        below = [self(position.apply(action)) for action in position.legal_actions()]
        sign = 1 if position.player == 0 else -1
        best = max(sign * value for value, _ in below)
        lengths = [length for value, length in below if sign * value == best]
        return sign * best, 1 + (max(lengths) if best < 0 else min(lengths))


@pytest.fixture(scope="module")
def exact():
    return Exact()


def solve(position, seed, **options):
    search = tt.Search(position, tt.uct(solver=True, stop_when_forced=False, **options), seed=seed)
    result = search.run(ENOUGH)
    assert result.solved, f"not solved:\n{position}"
    return search, result


def assert_solved_right(position, exact, seed):
    """The proof has the exact value and no distance that is too short, and the move keeps the value."""
    _, result = solve(position, seed)
    value, length = exact(position)
    mine = value if position.player == 0 else -value
    assert result.values == [value, -value]
    assert (result.proof.value, result.proof.values, result.value) == (mine, (value, -value), mine)
    assert result.proof.outcome == {1.0: "win", 0.0: "draw", -1.0: "loss"}[mine]
    assert exact(position.apply(result.action))[0] == value
    if value:
        assert length <= result.proof.at_most <= position.game.facts.max_length
    return result


def different_tic_tac_toes():
    """All positions of tic-tac-toe that are not over, one of each eight that are mirrored or turned."""
    found = {}
    for position in reachable(tt.position("tic_tac_toe")):
        board = np.array(position.board())
        turned = [np.rot90(side, times).tolist() for side in (board, board.T) for times in range(4)]
        if not position.is_terminal:
            found.setdefault(str(min(turned)), position)
    return list(found.values())


def test_every_tic_tac_toe_position_is_solved_right(exact):
    positions = different_tic_tac_toes()
    assert len(positions) == 627
    for index, position in enumerate(positions):
        assert_solved_right(position, exact, index)


def test_the_line_of_a_solved_position_keeps_its_value_to_the_end(exact):
    for index, position in enumerate(different_tic_tac_toes()[::3]):
        _, result = solve(position, index)
        line = position
        for action in result.pv_actions:
            line = line.apply(action)
            assert exact(line)[0] == exact(position)[0], f"{' '.join(result.pv)} in\n{position}"


def test_nim_is_solved_from_every_number_of_stones(exact):
    position = tt.position("nim(stones=21)")
    for stones in range(21, 0, -1):
        result = assert_solved_right(position, exact, stones)
        assert (result.proof.outcome == "loss") == (stones % 4 == 0)
        if stones > 1:
            position = position.apply(0)


def some_positions(game, count, *, moves, seed):
    """Positions of random games after some moves, none of them the end."""
    rng, found = random.Random(seed), []
    while len(found) < count:
        position = tt.position(game)
        for _ in range(rng.randint(*moves)):
            if not position.is_terminal:
                position = position.apply(rng.choice(position.legal_actions()))
        if not position.is_terminal:
            found.append(position)
    return found


def test_small_hex_is_solved_right(exact):
    for index, position in enumerate(
        [tt.position("hex(size=3)"), *some_positions("hex(size=3)", 100, moves=(1, 6), seed=3)]
    ):
        assert_solved_right(position, exact, index)


def test_small_othello_is_solved_right(exact):
    for index, position in enumerate(some_positions("othello(size=4)", 60, moves=(5, 10), seed=4)):
        assert_solved_right(position, exact, index)


def test_the_second_player_wins_small_othello():
    _, result = solve(tt.position("othello(size=4)"), 1)
    assert (result.proof.outcome, result.values) == ("loss", [-1.0, 1.0])


@functools.cache
def four_in_a_row(mine: int, theirs: int) -> tuple[float, int]:
    """Value for the player to move and moves to the end, on bit boards with eight cells a row."""
    discs, found = mine | theirs, []
    for column in range(7):
        cell = next((1 << (8 * row + column) for row in range(6) if not discs >> (8 * row + column) & 1), 0)
        if cell:
            after = mine | cell
            pairs = ((step, after & (after >> step)) for step in (1, 7, 8, 9))
            if any(pair & (pair >> (2 * step)) for step, pair in pairs):
                return 1.0, 1
            value, length = four_in_a_row(theirs, after)
            found.append((-value, length))
    if not found:
        return 0.0, 0
    best = max(value for value, _ in found)
    lengths = [length for value, length in found if value == best]
    return best, 1 + (max(lengths) if best < 0 else min(lengths))


def test_connect_four_endings_are_solved_right():
    def by_bits(position):
        mine, discs = int(position.record["mine"][0]), int(position.record["discs"][0])
        if position.is_terminal:
            return position.rewards[0], 0
        value, length = four_in_a_row(mine, discs ^ mine)
        return (value if position.player == 0 else -value), length

    for index, position in enumerate(some_positions("connect_four", 40, moves=(30, 30), seed=5)):
        assert len(position.actions) == 30
        assert_solved_right(position, by_bits, index)


# Bounds of every node.


def assert_sound(search: tt.Search, outcomes: Callable[[tt.Position], Sequence[tuple[float, ...]]]) -> int:
    """The bounds of every node hold whatever can come of perfect play there; how many nodes have bounds."""
    search.tree.check(search.game.facts.rewards)
    columns, players = search.tree.columns, search.game.facts.players
    bounded = 0
    for slot, position in slots(search):
        if columns.links["flags"][slot] & BOUNDED:
            bounded += 1
            low, high = columns.bounds[slot, :players], columns.bounds[slot, players:]
            for values in outcomes(position):
                assert (low <= values).all(), f"{values} is below {low}\n{position}"
                assert (values <= high).all(), f"{values} is above {high}\n{position}"
    return bounded


def of_drawing(drawing):
    return lambda position: [(drawing.exact[spot_of(position)][0], -drawing.exact[spot_of(position)][0])]


SOLVERS = {
    "ucb1": (tt.uct(solver=True), None),
    "puct": (tt.puct(solver=True), tt.evaluators.Uniform()),
    "rave": (tt.rave(solver=True), None),
    "grave": (tt.rules.grave(amaf_reference=5, solver=True), None),
    "folded": (tt.uct(solver=True, max_nodes=24), None),
    "graph": (tt.uct(solver=True, transpositions=True), None),
    "graph with priors": (tt.puct(solver=True, transpositions=1024), tt.evaluators.Uniform()),
    "folded graph": (tt.uct(solver=True, transpositions=1024, max_nodes=24), None),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_bounds_hold_at_every_node_of_random_games(name):
    config, evaluator = SOLVERS[name]
    solved = bounded = 0
    for seed in range(40):
        drawing = random_drawing(seed, values=FRACTIONS if seed % 2 else (-1.0, 0.0, 1.0))
        search = tt.Search(
            drawing.position(), config.with_options(stop_when_forced=False), evaluator=evaluator, seed=seed
        )
        for simulations in (50, 150, 800):
            result = search.run(tt.Limit(simulations=simulations))
            bounded += assert_sound(search, of_drawing(drawing))
        if search.solved:
            solved += 1
            value = drawing.exact[0][0]
            assert result.values == pytest.approx([value, -value], abs=1e-12)
            assert drawing.exact[spot_of(search.position.apply(result.action))][0] == value
    assert bounded > 500
    assert solved >= (10 if "folded" in name else 38)


@pytest.mark.parametrize("values", [(-1.0, 0.0, 1.0), FRACTIONS], ids=["win or lose", "many values"])
@pytest.mark.parametrize("name", ["ucb1", "graph"])
def test_no_claimed_distance_is_too_short(name, values):
    config, evaluator = SOLVERS[name]
    for seed in range(60):
        drawing = random_drawing(seed, values=values)
        search = tt.Search(
            drawing.position(), config.with_options(stop_when_forced=False), evaluator=evaluator, seed=seed
        )
        search.run(tt.Limit(simulations=1000))
        columns = search.tree.columns
        for slot, position in slots(search):
            value, length = drawing.exact[spot_of(position)]
            if columns.links["flags"][slot] & PROVEN and value:
                assert columns.distances[slot] >= length, f"spot {spot_of(position)} of drawing {seed}, worth {value}"


@pytest.mark.parametrize("name", ["ucb1", "rave", "graph"])
def test_bounds_hold_after_moving_on(name):
    config, evaluator = SOLVERS[name]
    moved = 0
    for seed in range(25):
        drawing = random_drawing(seed)
        search = tt.Search(
            drawing.position(), config.with_options(stop_when_forced=False), evaluator=evaluator, seed=seed
        )
        rng = random.Random(seed)
        while True:
            search.run(tt.Limit(simulations=12))
            assert_sound(search, of_drawing(drawing))
            onward = [
                action for action in search.position.legal_actions() if not search.position.apply(action).is_terminal
            ]
            if not onward:
                break
            search.advance(rng.choice(onward))
            moved += 1
    assert moved > 60


def hashed(batch):
    """Values and logits out of thin air, the same for the same state."""
    raw = np.frombuffer(batch.states.tobytes(), np.uint8).reshape(len(batch), batch.states.itemsize).astype(float)
    mixed = raw @ np.arange(1, raw.shape[1] + 1)
    return np.cos(np.outer(mixed + 1, np.arange(batch.game.facts.num_actions))), 0.9 * np.sin(mixed)


@pytest.mark.parametrize("size", [1, 8, 32])
@pytest.mark.parametrize("transpositions", [False, True], ids=["tree", "graph"])
def test_bounds_hold_in_batches(exact, size, transpositions):
    position = tt.position("tic_tac_toe", moves="b2 a1")
    search = tt.Search(
        position, tt.puct(solver=True, transpositions=transpositions), evaluator=tt.evaluators.Uniform(), seed=size
    )
    turn = 0
    while batch := search.ask(size, tt.Limit(simulations=1500)):
        search.tell(batch, *hashed(batch))
        turn += 1
        if turn % max(1, 400 // size) == 0:
            assert_sound(search, lambda one: [(exact(one)[0], -exact(one)[0])])
    assert assert_sound(search, lambda one: [(exact(one)[0], -exact(one)[0])]) > 50
    if search.solved:
        assert search.result().values == [exact(position)[0], -exact(position)[0]]


@pytest.mark.parametrize(
    "config",
    [
        tt.uct(solver=True, widening=1.0),
        tt.rules.thompson(solver=True),
        tt.gumbel(solver=True),
        tt.rules.halving(solver=True),
    ],
    ids=str,
)
def test_bounds_hold_with_rules_of_the_full_build(exact, config):
    for moves in ("a1 b1", "b2 a1 c1", "a1 b2 c3 b1"):
        position = tt.position("tic_tac_toe", moves=moves)
        search = tt.Search(position, config, seed=1)
        for simulations in (50, 150, 800):
            search.run(tt.Limit(simulations=simulations))
        assert_sound(search, lambda one: [(exact(one)[0], -exact(one)[0])])


@functools.cache
def three_nim(stones: int, player: int) -> frozenset[tuple[float, ...]]:
    """Whatever can come of perfect play, for all ways to decide between equally good moves."""
    if stones == 0:
        return frozenset({tuple(float(seat == (player + 2) % 3) for seat in range(3))})
    below = [three_nim(stones - taken, (player + 1) % 3) for taken in range(1, min(3, stones) + 1)]
    return frozenset(
        values
        for index, outcomes in enumerate(below)
        for values in outcomes
        if all(
            min(other[player] for other in others) <= values[player]
            for place, others in enumerate(below)
            if place != index
        )
    )


def test_bounds_hold_for_three_players(monkeypatch):
    fresh = np.empty

    def written_before(*given, **options):
        """Memory that is new to us is not always empty."""
        array = fresh(*given, **options)
        array.view(np.uint8)[...] = 0x5A
        return array

    monkeypatch.setattr(np, "empty", written_before)
    proven = 0
    for taken in range(11):
        position = tt.position(ThreeNim, moves=[0] * taken)
        search = tt.Search(position, tt.uct(solver=True, stop_when_forced=False), seed=taken)
        for simulations in (5, 20, 50, 200, 1000):
            result = search.run(tt.Limit(simulations=simulations))
            assert_sound(search, lambda one: list(three_nim(int(one.record["stones"][0]), one.player)))
            assert ((result.distances >= 0) & (result.distances <= 13)).all(), (
                f"a number from nowhere: {result.distances}"
            )
        if result.proof is not None:
            proven += 1
            for player, value in enumerate(result.proof.values):
                if value is not None:
                    assert {values[player] for values in three_nim(13 - taken, position.player)} == {value}
                    assert result.values[player] == value
            assert 1 <= result.proof.at_most <= 13 - taken
    assert proven >= 3


def test_bounds_hold_for_one_player():
    search = tt.Search(Climb, tt.uct(solver=True, normalise=False), seed=1)
    for simulations in (5, 45, 150):
        search.run(tt.Limit(simulations=simulations))
        assert_sound(search, lambda one: [(float(one.record["height"][0] + 8 - one.record["steps"][0]),)])
    result = search.run(ENOUGH)
    assert (result.proof.value, result.value, result.proof.at_most, result.action) == (8.0, 8.0, 8, 1)


def test_bounds_hold_where_players_move_twice():
    oracle = Exhaustive()
    for total in range(0, 30, 3):
        position = DOUBLE_MOVES.play([2] * (total // 3))
        search = tt.Search(position, tt.uct(solver=True), seed=total)
        for simulations in (50, 150, 800):
            result = search.run(tt.Limit(simulations=simulations))
            assert_sound(search, lambda one: [oracle.values(one)])
        if search.solved:
            assert tuple(result.values) == oracle.values(position)
            assert oracle.values(position.apply(result.action)) == oracle.values(position)


# What is played while not everything is proven.


def with_numbers(result, **numbers):
    """A result with numbers of our own: move 2 and 3 are given, all others are proven lost."""
    count = len(result.actions)
    arrays = {
        "counts": np.full(count, 10, np.int32),
        "means": np.full(count, -1.0),
        "lower": np.full(count, -1.0),
        "upper": np.full(count, -1.0),
        "deviations": np.zeros(count),
    }
    for name, (second, third) in numbers.items():
        arrays[name][2], arrays[name][3] = second, third
    return numbers_of.with_numbers(result, distances=np.full(count, 3, np.int32), **arrays)


@pytest.fixture(scope="module")
def some_result():
    return tt.Search("tic_tac_toe", tt.uct(solver=True), seed=1).run(tt.Limit(simulations=100))


@pytest.mark.parametrize("final", ["visits", "value", "secure", "lcb", "temperature"])
def test_an_unproven_move_is_better_than_a_proven_loss_however_bad_it_looks(some_result, final):
    result = replace(some_result, config=tt.uct(solver=True, final=final))
    for seed in range(5):
        reported = with_numbers(
            replace(result, seed=seed), counts=(90, 2), means=(-1.0, -0.9), upper=(-1.0, 1.0), deviations=(0.0, 0.4)
        )
        assert reported.action == 3


@pytest.mark.parametrize("final", ["visits", "value"])
def test_an_untried_move_is_better_than_a_proven_loss(some_result, final):
    result = replace(some_result, config=tt.uct(solver=True, final=final))
    assert with_numbers(result, counts=(90, 0), means=(-1.0, np.nan), upper=(-1.0, 1.0)).action == 3


@pytest.mark.parametrize("final", ["visits", "value", "lcb"])
@pytest.mark.parametrize("visits", [(5, 400), (400, 350)], ids=["seldom seen draw", "often seen draw"])
def test_a_proven_draw_beats_a_bad_guess_and_loses_to_a_good_one(some_result, final, visits):
    result = replace(some_result, config=tt.uct(solver=True, final=final))
    for mean, best in ((-0.3, 2), (0.3, 3)):
        reported = with_numbers(
            result, counts=visits, means=(0.0, mean), lower=(0.0, -1.0), upper=(0.0, 1.0), deviations=(0.0, 0.5)
        )
        assert reported.action == best, f"the other move is thought to be worth {mean}"


@pytest.mark.parametrize("final", ["visits", "value", "temperature"])
def test_no_move_is_played_that_another_is_proven_to_match_and_may_beat(final):
    met = 0
    for seed in range(60):
        drawing = random_drawing(seed)
        search = tt.Search(drawing.position(), tt.uct(solver=True, final=final), seed=seed)
        while not search.solved and search.simulations < 400:
            result = search.run(tt.Limit(simulations=3))
            if result.counts.any():
                index = result.actions.tolist().index(result.action)
                better = (result.lower >= result.upper[index]) & (result.upper > result.upper[index])
                met += bool((result.lower == result.upper).any())
                assert not better.any(), (
                    f"drawing {seed} after {search.simulations}: {result.lower} to {result.upper}, plays {index}"
                )
    assert met > 500


def test_a_proven_position_is_played_right_though_its_tree_was_folded(exact):
    for index, start in enumerate(some_positions("tic_tac_toe", 40, moves=(3, 3), seed=6)):
        search = tt.Search(start, tt.uct(solver=True, max_nodes=60), seed=index)
        while True:
            result = search.run(tt.Limit(simulations=3000))
            following = search.position.apply(result.action)
            if search.solved:
                assert exact(following)[0] == exact(search.position)[0], f"{result.explain().why}\n{search.position}"
            if following.is_terminal:
                break
            search.advance(result.action)
