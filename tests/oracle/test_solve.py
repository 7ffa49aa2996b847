"""Exact solutions of any game: against plain minimax, against known results, and that nothing is proven without a proof."""

from __future__ import annotations

import json

import pytest

import treetop as tt
from tests import own_games
from treetop.errors import ConfigError, GameError, SearchError, TerminalPositionError
from treetop.oracle import solve as solving
from treetop.oracle import solve_any
from treetop.oracle.connect_four import ConnectFourSolver, plies_to_end
from treetop.oracle.solve import Solution, SolveProgress, solve

pytestmark = pytest.mark.usefixtures("untried")


class Plain:
    """Values and distances by the rules and nothing else."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[float, int]] = {}

    def outcome(self, position: tt.Position) -> tuple[float, int]:
        """What player 0 receives, and after how many moves; 0 moves in a draw."""
        key = position.record.tobytes()
        if key not in self._known:
            if position.is_terminal:
                self._known[key] = position.rewards[0], 0
            else:
                outcomes = [self.later(self.outcome(position.apply(action))) for action in position.legal_actions()]
                self._known[key] = (max if position.player == 0 else min)(outcomes, key=self.rank)
        return self._known[key]

    @staticmethod
    def later(outcome: tuple[float, int]) -> tuple[float, int]:
        return outcome[0], outcome[1] + 1 if outcome[0] else 0

    @staticmethod
    def rank(outcome: tuple[float, int]) -> tuple[float, int]:
        value, moves = outcome
        return value, -moves if value > 0 else moves

    def check(self, position: tt.Position) -> None:
        solution = solve(position)
        sign = 1 if position.player == 0 else -1
        for move in solution.moves:
            value, moves = self.later(self.outcome(position.apply(move.action)))
            assert move.value == sign * value, (position, move)
            assert move.distance == (moves if value and position.game.facts.players == 2 else None), (position, move)
        assert solution.value == sign * self.outcome(position)[0]
        assert [move.action for move in solution.moves] == position.legal_actions()


def random_position(name: str, seed: int, length: int) -> tt.Position:
    rng = tt.Rng(seed)
    while True:
        position = tt.position(name)
        while not position.is_terminal and len(position.actions) < length:
            actions = position.legal_actions()
            position = position.apply(actions[rng.below(len(actions))])
        if not position.is_terminal:
            return position


@pytest.mark.parametrize("name", ["nim", "tic_tac_toe"])
def test_all_positions_of_small_games_are_as_plain_minimax_says(name):
    plain = Plain()
    plain.check(tt.position(name))
    for seed in range(10):
        plain.check(random_position(name, seed, 1 + seed % 3))


@pytest.mark.parametrize(("name", "length"), [("hex(size=3)", 3), ("othello(size=4)", 5), ("breakthrough(size=4)", 12)])
def test_positions_on_the_way_are_as_plain_minimax_says(name, length):
    plain = Plain()
    for seed in range(6):
        plain.check(random_position(name, seed, length))


def test_double_moves_and_rewards_of_other_sizes_are_solved():
    Plain().check(tt.Position(own_games.DoubleMoves).play([3] * 7))


def test_one_player_has_a_value_and_no_distance():
    solution = solve(own_games.Climb)
    assert (solution.value, solution.values, solution.distance, solution.best_actions) == (8.0, (8.0,), None, (1,))
    assert solution.describe(solution.moves[0]) == "gives 7"


@pytest.mark.parametrize(
    ("name", "value", "best"),
    [
        ("tic_tac_toe", 0, "a1 b1 c1 a2 b2 c2 a3 b3 c3"),
        ("nim", 1, "1"),
        ("hex(size=3)", 1, "c1 a2 b2 c2 a3"),
        ("hex(size=4)", 1, "d1 c2 b3 a4"),
        ("othello(size=4)", -1, "b1 a2 d3 c4"),
        ("breakthrough(size=4)", -1, "a2b3 b2a3 b2c3 c2b3 c2d3 d2c3"),
    ],
)
def test_small_games_are_solved_from_their_start(name, value, best):
    solution = solve(name)
    assert (solution.method, solution.value, solution.values) == ("exhaustive", value, (value, -value))
    assert [solution.position.move_text(action) for action in solution.best_actions] == best.split()


def test_a_small_table_changes_no_result(monkeypatch):
    whole = solve("hex(size=3)")
    monkeypatch.setattr(solve_any, "_FIRST_ENTRIES", 2)
    monkeypatch.setattr(solve_any, "_TABLE_BYTES", 2000)
    small = solve("hex(size=3)")
    assert small.moves == whole.moves
    assert small.nodes > whole.nodes


def test_a_table_that_grows_while_it_is_used_changes_no_result(monkeypatch):
    whole = solve("othello(size=4)")
    monkeypatch.setattr(solve_any, "_FIRST_ENTRIES", 2)
    monkeypatch.setattr(solve_any, "_SLICE", 7)
    assert solve("othello(size=4)").moves == whole.moves


def test_connect_four_has_its_own_solver():
    position = tt.position("connect_four", moves="4 4 4 5 5 3 3 3 5 2 1 6")
    solution, solver = solve(position), ConnectFourSolver()
    assert solution.method == "connect_four"
    scores = solver.scores(position)
    assert {move.action: move.distance for move in solution.moves} == {
        action: plies_to_end(score, 12) for action, score in scores.items()
    }
    assert [move.value for move in solution.moves] == [(score > 0) - (score < 0) for score in scores.values()]
    assert scores[solution.action] == max(scores.values())


def test_a_variant_of_connect_four_uses_the_general_solver():
    @tt.game(players=2, num_actions=7, max_length=42)
    class Variant(tt.load_game("connect_four")):
        """The same rules under another name."""

    for moves in ("244354561366453234335622151166", "514176661312372245442374312134"):
        general = solve(tt.Position(Variant).play(list(moves)))
        own = solve(tt.position("connect_four", moves=list(moves)))
        assert (general.method, own.method) == ("exhaustive", "connect_four")
        for move, other in zip(general.moves, own.moves, strict=True):
            assert (move.action, move.value) == (other.action, other.value)
            assert move.distance == (other.distance if move.value else None)


def test_the_best_moves_keep_the_value_and_the_action_is_the_soonest_of_them():
    solution = solve("hex(size=3)")
    reported = {move.move: solution.describe(move) for move in solution.moves}
    assert reported["b2"] == "wins in 5 plies"
    assert reported["c2"] == "wins in 9 plies"
    assert reported["b1"] == "loses in 6 plies"
    assert solution.position.move_text(solution.action) == "b2"
    assert solution.distance == 5


def test_a_loser_delays():
    solution = solve(tt.position("nim", moves="1"))
    assert {move.distance for move in solution.moves} == {10}
    assert solution.summary() == "player 1, who is to move, loses in 10 plies: all moves are equal"


def test_moves_that_are_equally_good_are_all_named():
    solution = solve(tt.position("tic_tac_toe", moves="a1 b2 c3"))
    assert solution.summary() == "player 1, who is to move, draws: best are b1, a2, c2, b3"


def test_a_solution_prints_every_move_the_best_first():
    text = str(solve(tt.position("tic_tac_toe", moves="a1 b1 a2 b2")))
    assert "a3: wins in 1 ply\nb3: draws\nc1: loses in 2 plies\n" in text
    assert "player 0, who is to move, wins in 1 ply: best is a3" in text
    assert "proven by exhaustive: " in text


def test_a_solution_is_ready_for_json():
    reported = json.loads(json.dumps(solve(tt.position("nim", moves="3 3 3 3 3 1")).to_dict(), allow_nan=False))
    assert reported["moves"][0] == {"action": 0, "move": "1", "value": 1.0, "distance": 3}
    wanted = {
        "game": "nim(stones=21, most=3)",
        "history": list("333331"),
        "player": 0,
        "value": 1.0,
        "values": [1.0, -1.0],
        "distance": 3,
        "action": 0,
        "best_actions": [0],
        "method": "exhaustive",
    }
    assert {key: reported[key] for key in wanted} == wanted


def test_a_deadline_that_passes_leaves_no_claim():
    for name in ("connect_four", "hex(size=4)"):
        with pytest.raises(SearchError, match="is not solved within 0.05 s .* nothing is proven"):
            solve(name, seconds=0.05)


def test_a_game_that_is_too_large_is_given_up(monkeypatch):
    monkeypatch.setattr(solving, "_MOST_NODES", 50_000)
    with pytest.raises(SearchError, match="not solved within .* positions; nothing is proven"):
        solve("hex(size=4)")


def test_values_are_reported_even_where_the_distances_are_out_of_reach(monkeypatch):
    whole = solve("hex(size=3)")
    monkeypatch.setattr(solve_any, "_SLICE", 10)
    values_only = next(solution for solution in limited(monkeypatch) if solution is not None)
    assert [move.value for move in values_only.moves] == [move.value for move in whole.moves]
    assert {move.distance for move in values_only.moves} == {None}
    assert values_only.describe(values_only.moves[0]) == "loses"


def limited(monkeypatch: pytest.MonkeyPatch) -> list[Solution | None]:
    """The same solution under larger and larger limits; None where nothing is proven."""
    found: list[Solution | None] = []
    for most in range(500, 8000, 500):
        monkeypatch.setattr(solving, "_MOST_NODES", most)
        try:
            found.append(solve("hex(size=3)"))
        except SearchError:
            found.append(None)
    assert None in found
    return found


def test_progress_is_reported_with_what_is_known(monkeypatch):
    monkeypatch.setattr(solving, "_PROGRESS_SECONDS", 0.0)
    seen: list[SolveProgress] = []
    solution = solve("hex(size=4)", progress=seen.append)
    assert [now.nodes for now in seen] == sorted(now.nodes for now in seen)
    assert seen[-1].nodes == solution.nodes
    assert (seen[0].moves, seen[0].all_moves, seen[-1].moves) == (0, 16, 16)
    assert seen[-1].rate > 0


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "1", True])
def test_impossible_times_are_refused(seconds):
    with pytest.raises(ConfigError, match="seconds must be a positive number"):
        solve("nim", seconds=seconds)


def test_a_finished_game_is_refused():
    with pytest.raises(TerminalPositionError, match="nothing to solve"):
        solve(tt.position("tic_tac_toe", moves="a1 a2 b1 b2 c1"))


def test_three_players_are_refused():
    with pytest.raises(ConfigError, match="ThreeNim cannot be solved exactly: that needs one player, or two"):
        solve(own_games.ThreeNim)


@tt.game(players=2, num_actions=6, max_length=4)
class Faulty:
    """The first move chooses which promise is broken two moves later."""

    fault = tt.field("i1")
    moves = tt.field("i1")

    def reset(self):
        self.fault = 0
        self.moves = 0

    def current_player(self):
        return 2 if self.fault == 5 and self.moves == 3 else self.moves % 2

    def legal_actions(self, out):
        for action in range(6):
            out[action] = action
        if self.moves == 0:
            return 6
        return 0 if self.fault == 1 and self.moves == 3 else 1

    def apply(self, action):
        if self.moves == 0:
            self.fault = action
        self.moves += 1

    def is_terminal(self):
        return self.moves >= 4 and self.fault != 2

    def rewards(self, out):
        out[0] = 2.0 if self.fault == 3 else 1.0
        out[1] = 1.0 if self.fault == 4 else -out[0]


def test_a_game_without_a_fault_is_solved():
    solution = solve(tt.Position(Faulty).apply(0))
    assert (solution.player, solution.value, solution.distance) == (1, -1.0, 3)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (1, "without a legal action that is not over"),
        (2, "takes more moves than its max_length"),
        (3, "rewards out of its range"),
        (4, "do not add up to zero"),
        (5, "neither player is to move"),
    ],
)
def test_a_broken_promise_on_the_way_is_reported(fault, words):
    with pytest.raises(GameError, match=words):
        solve(tt.Position(Faulty).apply(fault))


def test_a_position_without_a_legal_action_is_reported():
    with pytest.raises(GameError, match="legal_actions gave 0 actions"):
        solve(tt.Position(Faulty).play([1, 0, 0]))


def test_chance_is_refused():
    @tt.game(players=2, num_actions=6, max_length=4, num_outcomes=6)
    class WithDice(Faulty):
        """Never played."""

        def chance_outcomes(self, actions, chances):
            return 0

    with pytest.raises(ConfigError, match="WithDice cannot be solved exactly: it has chance"):
        solve(WithDice)


@pytest.mark.parametrize(
    ("name", "why"), [("kuhn_poker", "it has chance"), ("matching_pennies", "it has simultaneous moves")]
)
def test_bundled_games_of_other_kinds_are_refused_with_the_reason(name, why):
    with pytest.raises(ConfigError, match=why):
        solve(name)
