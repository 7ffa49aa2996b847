import numpy as np
import pytest

import treetop as tt
from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import copy_state, state_at
from treetop.errors import ConfigError, IllegalMoveError
from treetop.game.position import Position
from treetop.games.checkers import checkers

EMPTY = ["........"] * 8


@compiled
def turns(game, states, actions, untried, left):
    """Count the sequences of `left[0]` turns; a turn is a step, or all jumps of a piece."""
    total, level, arrived = 0, 0, True
    while level >= 0:
        state = state_at(game, states, level)
        if arrived:
            untried[level] = 0
            if left[level] == 0:
                total += 1
            elif not state.is_terminal():
                untried[level] = state.legal_actions(actions[level])
        arrived = untried[level] > 0
        if arrived:
            untried[level] -= 1
            copy_state(game, states, level + 1, states, level)
            after = state_at(game, states, level + 1)
            after.apply(np.int64(actions[level, untried[level]]))
            left[level + 1] = left[level] - (after.current_player() != state.current_player())
            level += 1
        else:
            level -= 1
    return total


def diagram(side="X", **pieces):
    """A board with some pieces by square: `diagram(c3="x")`."""
    rows = [list(row) for row in EMPTY]
    for square, piece in pieces.items():
        rows[8 - int(square[1])]["abcdefgh".index(square[0])] = piece
    return Position.parse(checkers, "/".join("".join(row) for row in rows) + f" {side}")


def test_turns_are_counted_as_others_count_them():
    known = [7, 49, 302, 1_469, 7_361, 36_768, 179_740, 845_931]
    found = []
    for depth in range(1, 9):
        states = np.repeat(Position(checkers).record, 8 * depth)
        left = np.full(8 * depth, depth, np.int64)
        actions, untried = np.zeros((8 * depth, 128), np.int32), np.zeros(8 * depth, np.int64)
        count = checkers.engine(bounds_checked=True).entry(turns)
        found.append(count(states, actions, untried, left))
    assert found == known


def test_who_can_jump_must_jump():
    position = diagram(c3="x", d4="o", a1="x")
    assert position.legal_moves() == ["c3e5"]
    for text in ("c3d4", "c3f6", "a1b2", "c3h8"):
        with pytest.raises(IllegalMoveError, match="is not a legal move here"):
            position.play(text)


def test_a_piece_goes_on_jumping_and_no_other_does():
    first = diagram(c3="x", d4="o", d6="o", g3="x", h4="o", a7="o").play("c3e5")
    assert first.player == 0
    assert first.legal_moves() == ["e5c7"]
    after = first.play("e5c7")
    assert after.player == 1
    assert str(after).splitlines()[1] == "7 o . x . . . . ."


def test_a_man_that_becomes_a_king_ends_its_turn():
    crowned = diagram(f6="x", e7="o", c7="o", h2="o").play("f6d8")  # a king could jump over c7
    assert str(crowned).splitlines()[0] == "8 . . . X . . . ."
    assert crowned.player == 1


def test_men_go_forward_and_kings_in_all_directions():
    assert diagram(d4="x").legal_moves() == ["d4c5", "d4e5"]
    assert diagram(side="O", d4="o").legal_moves() == ["d4c3", "d4e3"]
    assert diagram(d4="X").legal_moves() == ["d4c5", "d4e5", "d4c3", "d4e3"]
    assert diagram(d4="x", c3="o", e3="o").legal_moves() == ["d4c5", "d4e5"]
    assert sorted(diagram(d4="X", c3="o", e3="o").legal_moves()) == ["d4b2", "d4f2"]


def test_no_piece_jumps_over_the_edge_or_over_its_own():
    assert diagram(a3="x", h4="o", b4="x").legal_moves() == ["b4a5", "b4c5"]
    assert diagram(g3="x", h4="o").legal_moves() == ["g3f4"]


def test_who_cannot_move_loses():
    end = diagram(side="O", a7="x", b8="o", c7="x", d6="x", e5="x")
    assert not diagram(side="O", a7="x", b8="o", c7="x").is_terminal
    assert end.is_terminal
    assert end.rewards == [1.0, -1.0]


def test_moves_of_kings_without_a_jump_are_a_draw_after_eighty():
    position = diagram(a1="X", h8="O")
    there_and_back = ["a1b2", "h8g7", "b2a1", "g7h8"]
    for move in range(80):
        assert not position.is_terminal
        position = position.play(there_and_back[move % 4])
    assert position.is_terminal
    assert position.rewards == [0.0, 0.0]


def test_a_diagram_has_pieces_on_dark_squares_only():
    start = Position(checkers)
    assert Position.parse(checkers, str(start)) == start
    with pytest.raises(ConfigError, match="dark squares"):
        diagram(b1="x")
    with pytest.raises(ConfigError, match="8 rows of 8 cells"):
        Position.parse(checkers, "x.x")


def test_random_games_end_within_their_length():
    for seed in range(20):
        position = Position(checkers)
        rng = tt.Rng(seed)
        while not position.is_terminal:
            position = position.apply(position.state.random_action(rng))
        assert len(position.moves()) <= 300
