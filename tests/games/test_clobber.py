import pytest

from treetop.game.position import Position
from treetop.games.clobber import clobber


def test_a_stone_takes_each_neighbour_of_the_other_colour_and_nothing_else():
    position = Position.parse(clobber(3, 4), ".O.. / XXO. / .X.O X")
    assert sorted(position.legal_moves()) == ["b2b3", "b2c2"]
    after = position.play("b2c2")
    assert after.board() == [["", "O", "", ""], ["X", "", "X", ""], ["", "X", "", "O"]]
    assert after.player == 1
    assert after.is_terminal


def test_who_cannot_move_loses():
    end = Position.parse(clobber(2, 2), "XO / .. X").play("a2b2")
    assert end.is_terminal
    assert end.rewards == [1.0, -1.0]
    assert str(end).endswith("game over, O cannot move")


def test_moves_do_not_go_on_at_the_other_edge():
    assert Position.parse(clobber(2, 3), "O.. / ..X X").is_terminal


@pytest.mark.parametrize(
    ("rows", "columns", "count"), [(5, 6, 2), (6, 5, 2), (5, 5, 8), (4, 4, 4), (2, 4, 2), (3, 5, 4)]
)
def test_the_symmetries_are_those_that_keep_the_colours_of_the_start(rows, columns, count):
    game = clobber(rows, columns)
    assert game.facts.symmetries == count
    for symmetry in range(count):
        state = game()
        state.transform(symmetry)
        assert state._states.tobytes() == game()._states.tobytes()


def test_a_printed_position_can_be_set_up_again():
    position = Position(clobber(3, 3)).play("a1b1")
    assert Position.parse(clobber(3, 3), str(position)) == position
