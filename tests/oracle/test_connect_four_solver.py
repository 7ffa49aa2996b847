"""The Connect Four solver against known scores, exhaustive search, a few lines of minimax, and itself."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import treetop as tt
from treetop.errors import ConfigError, TerminalPositionError
from treetop.oracle import connect_four, connect_four_bits
from treetop.oracle.connect_four import Board, ConnectFourSolver, fitting_table_bits, plies_to_end
from treetop.oracle.exhaustive import Exhaustive

LABELS = Path(__file__).resolve().parents[1] / "golden" / "connect_four_labels.txt"
LINES = [
    [(row + step * rise, column + step * run) for step in range(4)]
    for rise, run in ((0, 1), (1, 0), (1, 1), (1, -1)) for row in range(6) for column in range(7)
    if 0 <= row + 3 * rise < 6 and 0 <= column + 3 * run < 7
]  # fmt: skip
LINE_BITS = [sum(1 << 7 * column + row for row, column in line) for line in LINES]


def after(moves: str) -> tt.Position:
    return tt.position("connect_four", moves=" ".join(moves))


def random_moves(seed: int, discs: int) -> list[int]:
    """Random play in which nobody ever can win at once: else long games would be rare, and soon decided."""
    rng = tt.Rng(seed)
    while True:
        moves: list[int] = []
        board = Board(0, 0)
        while len(moves) < discs:
            quiet = [
                column
                for column in range(7)
                if board.free & 0x3F << 7 * column and not wins_at_once(board.drop(column))
            ]
            if not quiet:
                break
            moves.append(quiet[rng.below(len(quiet))])
            board = board.drop(moves[-1])
        else:
            return moves


def wins_at_once(board: Board) -> bool:
    return any(has_line(board.own | board.free & 0x3F << 7 * column) for column in range(7))


def random_position(seed: int, discs: int) -> tt.Position:
    return tt.position("connect_four", moves=random_moves(seed, discs))


def has_line(cells: int) -> bool:
    return any(cells & line == line for line in LINE_BITS)


@cache
def plain_score(own: int, taken: int) -> int:
    """The score by the rules and nothing else."""
    discs = taken.bit_count()
    if has_line(own ^ taken):
        return -(22 - (discs + 1) // 2)  # the other player has played the half of all discs, rounded up
    free = [(taken + (1 << 7 * column)) & 0x3F << 7 * column for column in range(7)]
    return max((-plain_score(own ^ taken, taken | cell) for cell in free if cell), default=0)


@pytest.fixture
def solver() -> ConnectFourSolver:
    return ConnectFourSolver()


@pytest.mark.parametrize(("moves", "score"), [("4455", 18), ("44455554221", -15)])
def test_known_scores_are_found(solver, moves, score):
    assert solver.score(after(moves)) == score


@pytest.mark.parametrize("discs", range(28, 40))
def test_endings_have_the_scores_of_plain_minimax(solver, discs):
    for seed in range(8):
        position = random_position(1000 * discs + seed, discs)
        board = Board.of(position)
        assert solver.score(position) == plain_score(*board), position
        assert solver.scores(position) == {
            action: -plain_score(*board.drop(action)) for action in position.legal_actions()
        }, position


def test_endings_have_the_values_of_exhaustive_search(solver):
    oracle = Exhaustive()
    for seed in range(8):
        position = random_position(seed, 32)
        values = solver.values(position)
        assert values == {
            action: oracle.values(position.apply(action))[position.player] for action in position.legal_actions()
        }, position
        best = [action for action, value in values.items() if value == max(values.values())]
        assert best == oracle.best_actions(position)


@pytest.mark.parametrize("discs", range(12, 28))
def test_a_score_is_the_best_of_the_moves_scores(discs):
    for seed in range(6):
        position = random_position(seed, discs)
        scores = ConnectFourSolver().scores(position)
        assert ConnectFourSolver().score(position) == max(scores.values())
        signs = {action: (score > 0) - (score < 0) for action, score in scores.items()}
        assert ConnectFourSolver().values(position) == signs


@pytest.mark.parametrize("discs", [8, 12, 13, 14, 18])
def test_a_mirrored_position_has_mirrored_scores(discs):
    position = random_position(discs, discs)
    mirrored = tt.position("connect_four", moves=[6 - action for action in position.actions])
    assert Board.of(mirrored) == Board.of(position).mirrored
    scores = ConnectFourSolver().scores(position)
    assert ConnectFourSolver().scores(mirrored) == {6 - action: score for action, score in scores.items()}


def test_the_size_of_the_table_changes_no_score():
    for seed in range(4):
        position = random_position(seed, 16)
        assert ConnectFourSolver(6).scores(position) == ConnectFourSolver(24).scores(position)


def test_what_is_remembered_of_other_positions_changes_no_score(solver):
    positions = [random_position(seed, 12 + seed % 9) for seed in range(27)]
    assert [solver.scores(position) for position in positions] == [
        ConnectFourSolver().scores(position) for position in positions
    ]


def test_a_search_that_pauses_after_each_position_finds_the_same_by_the_same_way(monkeypatch):
    position = random_position(3, 18)
    whole = ConnectFourSolver()
    scores = whole.scores(position)
    monkeypatch.setattr(connect_four, "_SLICE", 1)
    paused = ConnectFourSolver()
    assert paused.scores(position) == scores
    assert paused.nodes == whole.nodes


def test_a_callback_can_end_a_search_and_the_solver_goes_on_with_the_next(monkeypatch):
    monkeypatch.setattr(connect_four, "_SLICE", 100)

    def watch(nodes: int) -> None:
        if allowed is not None and nodes > allowed:
            raise TimeoutError

    allowed: int | None = 5000
    solver = ConnectFourSolver(watch=watch)
    with pytest.raises(TimeoutError):
        solver.score(after("44"))
    assert 5000 < solver.nodes < 6000
    allowed = None
    position = random_position(1, 16)
    assert solver.scores(position) == ConnectFourSolver().scores(position)


def below(board: Board) -> set[Board]:
    """A board and all unfinished ones that can follow."""
    found, waiting = set(), [board]
    while waiting:
        board = waiting.pop()
        if board not in found and board.discs < 42 and not has_line(board.own ^ board.taken):
            found.add(board)
            waiting += [board.drop(column) for column in range(7) if board.free & 0x3F << 7 * column]
    return found


def test_what_is_said_to_be_out_of_reach_never_comes():
    said = {(first, to_move): 0 for first in (False, True) for to_move in (False, True)}
    for board in {board for seed in range(25) for board in below(Board.of(random_position(seed, 31)))}:
        score, own_is_first = plain_score(*board), board.discs % 2 == 0
        own, other, taken = np.uint64(board.own), np.uint64(board.own ^ board.taken), np.uint64(board.taken)
        if connect_four_bits.cannot_win(own, taken, own_is_first):
            said[own_is_first, True] += 1
            assert score <= 0, board
        if connect_four_bits.cannot_win(other, taken, not own_is_first):
            said[not own_is_first, False] += 1
            assert score >= 0, board
    assert min(said.values()) > 100, said


def test_the_bits_of_the_board_are_what_their_names_say():
    for seed in range(100):
        board = Board.of(random_position(seed, 10 + seed % 25))
        own, empty = np.uint64(board.own), np.uint64(int(connect_four_bits.BOARD) & ~board.taken)
        wins = [cell for cell in range(49) if int(empty) >> cell & 1 and has_line(board.own | 1 << cell)]
        assert int(connect_four_bits.winning_cells(own, empty)) == sum(1 << cell for cell in wins)
        assert board.can_win_at_once == any(board.free >> cell & 1 for cell in wins)
        assert connect_four_bits.has_four(own) == has_line(board.own)


def test_a_board_shows_the_discs_of_the_game():
    board = Board.of(after("4435"))
    assert (board.own, board.taken) == (1 << 21 | 1 << 14, 1 << 21 | 1 << 22 | 1 << 14 | 1 << 28)
    assert board.drop(3).taken == board.taken | 1 << 23
    assert not board.won
    assert Board.of(after("4142434")).won


@pytest.mark.parametrize(
    ("score", "discs", "plies"),
    [(18, 6, 1), (18, 7, 1), (-18, 6, 2), (-17, 7, 2), (1, 0, 41), (0, 12, 30), (-1, 1, 40)],
)
def test_a_score_reports_the_number_of_plies(score, discs, plies):
    assert plies_to_end(score, discs) == plies


def test_plies_are_those_of_the_game_played_out_by_best_moves(solver):
    for seed in range(12):
        position = random_position(seed, 14 + seed)
        plies = plies_to_end(solver.score(position), len(position.actions))
        while not position.is_terminal:
            scores = solver.scores(position)
            assert plies_to_end(max(scores.values()), len(position.actions)) == plies
            position = position.apply(max(scores, key=lambda action: scores[action]))
            plies -= 1
        assert plies == 0


def test_a_position_of_twelve_discs_takes_few_positions(solver):
    """A bound on work instead of time: the median is some two hundred thousand."""
    for seed in range(5):
        solver.scores(random_position(seed, 12))
    assert solver.nodes < 10_000_000


def test_the_labelled_positions_are_many_even_and_right(solver):
    lines = [line.split() for line in LABELS.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) >= 600
    lengths = [len(moves) for moves, _, _ in lines]
    assert {lengths.count(length) for length in range(12, 21)} == {len(lines) // 9}
    assert len({Board.of(after(moves)) for moves, _, _ in lines}) == len(lines)
    for moves, value, keeping in lines[::21]:
        assert re.fullmatch("[+-]1|0", value)
        values = solver.values(after(moves))
        assert int(value) == max(values.values())
        assert keeping == "".join(str(action + 1) for action in values if values[action] == int(value))
        assert len(keeping) < len(values)


def test_a_finished_game_and_other_games_are_refused(solver):
    with pytest.raises(TerminalPositionError, match="the game is over"):
        solver.score(after("4142434"))
    with pytest.raises(ConfigError, match="not tic_tac_toe"):
        solver.score(tt.position("tic_tac_toe"))


@pytest.mark.parametrize("bits", [5, 33, 8.0, True])
def test_a_table_of_an_impossible_size_is_refused(bits):
    with pytest.raises(ConfigError, match="table_bits must be a whole number from 6 to 32"):
        ConnectFourSolver(bits)


def test_fitting_tables_are_larger_for_more_work_and_always_possible():
    sizes = [fitting_table_bits(discs) for discs in range(43)]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[12], sizes[42]) == (25, 18, 16)
