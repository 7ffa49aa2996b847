import numpy as np
import pytest

import treetop as tt
from tests.games.engines import Counter
from treetop.errors import ConfigError, UnknownGameError
from treetop.game.position import Position
from treetop.games.minishogi import minishogi
from treetop.games.shogi import shogi
from treetop.games.shogi_text import hands_of, rows_of

GAME, SMALL = shogi(), minishogi()
START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL"


def at(sfen, game=GAME):
    return Position.parse(game, sfen)


def board_of(position):
    rows = ["".join(cell or "." for cell in row) for row in rows_of(position.state, len(position.board()))]
    for empty in range(9, 0, -1):
        rows = [row.replace("." * empty, str(empty)) for row in rows]
    return "/".join(rows)


def sfen_of(position):
    return f"{board_of(position)} {'bw'[position.player]} {hands_of(position.state)} 1"


def moves_from(square, position):
    return {move.removeprefix(square) for move in position.legal_moves() if move.startswith(square)}


def drops_of(letter, position):
    return {move.removeprefix(f"{letter}*") for move in position.legal_moves() if move.startswith(f"{letter}*")}


def random_positions(game, count, seed, most):
    """Positions that random games reach after some moves, from 1 up to `most`."""
    rng, found = tt.Rng(seed), []
    while len(found) < count:
        position = Position(game)
        for _ in range(1 + rng.below(most)):
            if position.is_terminal:
                break
            position = position.apply(position.state.random_action(rng))
        if not position.is_terminal:
            found.append(position)
    return found


# Moves.


@pytest.mark.parametrize(
    ("letter", "targets"),
    [
        ("P", "5d"),
        ("L", "5d 5c 5b"),
        ("N", "4c 6c"),
        ("S", "5d 4d 6d 4f 6f"),
        ("G", "5d 4d 6d 4e 6e 5f"),
        ("B", "4d 3c 2b 6d 7c 8b 4f 3g 2h 1i 6f 7g 8h 9i"),
        ("R", "5d 5c 5b 5f 5g 5h 5i 4e 3e 2e 1e 6e 7e 8e 9e"),
        ("+P", "5d 4d 6d 4e 6e 5f"),
        ("+L", "5d 4d 6d 4e 6e 5f"),
        ("+N", "5d 4d 6d 4e 6e 5f"),
        ("+S", "5d 4d 6d 4e 6e 5f"),
        ("+B", "4d 3c 2b 6d 7c 8b 4f 3g 2h 1i 6f 7g 8h 9i 5d 5f 4e 6e"),
        ("+R", "5d 5c 5b 5f 5g 5h 5i 4e 3e 2e 1e 6e 7e 8e 9e 4d 6d 4f 6f"),
    ],
)
def test_a_piece_moves_as_the_rules_say_for_both_players(letter, targets):
    # A piece of each player on 5e, with a square out of each line occupied by an own piece on rank a or i.
    black = (
        at(f"k3G3g/9/9/9/4{letter}4/9/9/9/8K b - 1")
        if letter not in ("B", "+B")
        else at(f"4k4/9/9/9/4{letter}4/9/9/9/4K4 b - 1")
    )
    expected = set(targets.split())
    if letter in ("B", "+B"):
        expected |= {"1a", "9a"}
    found = {move.removesuffix("+") for move in moves_from("5e", black)}
    assert found == expected
    white = at(black_turned(black))
    turned = {f"{10 - int(target[0])}{'ihgfedcba'['abcdefghi'.index(target[1])]}" for target in expected}
    assert {move.removesuffix("+") for move in moves_from("5e", white)} == turned


def black_turned(position):
    """The same position with the players exchanged and the board turned."""
    rows = [[(cell.swapcase() or ".") for cell in reversed(row)] for row in reversed(rows_of(position.state, 9))]
    return "\n".join(" ".join(row) for row in rows) + "\nwhite to move"


def test_kings_move_one_step_and_not_into_check():
    assert moves_from("5i", at("4k4/9/9/9/9/9/9/3r5/4K4 b - 1")) == {"4i", "6h"}


def test_a_pinned_piece_stays_on_its_line():
    assert moves_from("5h", at("4r3k/9/9/9/9/9/9/4R4/4K4 b - 1")) == {"5a+", "5a", *(
        f"5{rank}{sign}" for rank in "bc" for sign in ("", "+")), "5d", "5e", "5f", "5g"}  # fmt: skip
    assert moves_from("5h", at("4r3k/9/9/9/9/9/9/4S4/4K4 b - 1")) == {"5g"}
    assert moves_from("5h", at("4r3k/9/9/9/9/9/9/4N4/4K4 b - 1")) == set()


def test_a_check_is_answered_by_capture_interposition_drop_or_a_step():
    position = at("4r3k/9/9/9/9/9/9/3S5/3GK4 b P 1")
    assert drops_of("P", position) == {f"5{rank}" for rank in "bcdefgh"}
    assert {move for move in position.legal_moves() if "*" not in move} == {"6h5g", "5i4i", "5i4h"} | {"6i5h"}


# Promotion.


def test_a_piece_may_promote_where_it_enters_moves_in_or_leaves_the_far_ranks():
    assert moves_from("5d", at("8k/9/9/4S4/9/9/9/9/K8 b - 1")) == {"5c", "5c+", "4c", "4c+", "6c", "6c+", "4e", "6e"}
    assert moves_from("5c", at("8k/9/4S4/9/9/9/9/9/K8 b - 1")) == {
        f"{to}{sign}" for to in ("5b", "4b", "6b", "4d", "6d") for sign in ("", "+")
    }
    assert moves_from("5d", at("8k/9/9/4G4/9/9/9/9/K8 b - 1")) == {"5c", "4c", "6c", "4d", "6d", "5e"}
    assert moves_from("3b", at("4k/2S2/5/5/K4 b - 1", SMALL)) >= {"3a", "3a+", "2a+", "2c"}
    assert "2c+" not in moves_from("3b", at("4k/2S2/5/5/K4 b - 1", SMALL))


@pytest.mark.parametrize(
    ("sfen", "square", "targets"),
    [
        ("8k/4P4/9/9/9/9/9/9/K8 b - 1", "5b", {"5a+"}),
        ("8k/9/4P4/9/9/9/9/9/K8 b - 1", "5c", {"5b", "5b+"}),
        ("8k/9/4L4/9/9/9/9/9/K8 b - 1", "5c", {"5b", "5b+", "5a+"}),
        ("8k/9/4N4/9/9/9/9/9/K8 b - 1", "5c", {"4a+", "6a+"}),
        ("8k/9/9/4N4/9/9/9/9/K8 b - 1", "5d", {"4b+", "6b+"}),
        ("8k/9/9/9/4N4/9/9/9/K8 b - 1", "5e", {"4c", "4c+", "6c", "6c+"}),
        ("8k/9/9/9/9/9/4p4/9/K8 w - 1", "5g", {"5h", "5h+"}),
        ("8k/9/9/9/9/9/9/4p4/K8 w - 1", "5h", {"5i+"}),
    ],
)
def test_a_piece_must_promote_where_it_would_have_no_move(sfen, square, targets):
    assert moves_from(square, at(sfen)) == targets


def test_a_captured_piece_goes_to_the_hand_unpromoted():
    after = at("8k/9/9/9/4+r4/4P4/9/9/K8 b - 1").play("5f5e")
    assert hands_of(after.state) == "R"
    assert hands_of(after.play("1a1b 5e5d").state) == "R"


# Drops.


def test_a_piece_is_dropped_on_any_empty_square_where_it_can_move_later():
    position = at("8k/9/9/9/9/9/9/9/K8 b PLNSBRG 1")
    assert len(drops_of("G", position)) == len(drops_of("R", position)) == 79
    assert len(drops_of("L", position)) == 79 - 8  # the last rank has eight empty squares
    assert len(drops_of("N", position)) == 79 - 8 - 9
    assert not any(square.endswith("a") for square in drops_of("P", position))
    white = at("8k/9/9/9/9/9/9/9/K8 w pn 1")
    assert not any(square.endswith("i") for square in drops_of("P", white))
    assert not any(square[1] in "hi" for square in drops_of("N", white))


def test_two_unpromoted_pawns_never_stand_on_one_file():
    position = at("8k/9/9/9/4P4/3+P5/9/9/K8 b P 1")
    files = {square[0] for square in drops_of("P", position)}
    assert files == set("12346789")
    assert "5" in {square[0] for square in drops_of("P", position.play("5e5d 1a1b 5d5c+ 1b1a"))}


def test_a_pawn_is_not_dropped_to_give_mate():
    mate = at("7nk/7g1/6S2/9/9/9/9/9/K8 b P 1")
    free = at("8k/7g1/6S2/9/9/9/9/9/K8 b P 1")
    assert "1b" in drops_of("P", free)  # the general of gold captures it
    corner = at("7lk/9/7G1/9/9/9/9/9/K8 b PG 1")
    assert "1b" not in drops_of("P", corner)  # the general of gold protects it, and the king cannot leave
    assert "1b" in drops_of("G", corner)
    assert not mate.is_terminal
    assert "1c" in drops_of("P", corner)


def test_a_pinned_piece_cannot_save_the_king_from_a_dropped_pawn():
    pinned = at("R6gk/9/7G1/9/9/9/9/9/K8 b P 1")  # the gold on 2a cannot leave rank a
    assert "1b" not in drops_of("P", pinned)
    unpinned = at("7gk/9/7G1/9/9/9/9/9/K8 b P 1")
    assert "1b" in drops_of("P", unpinned)


def test_moving_a_pawn_may_give_mate():
    end = at("7lk/9/7GP/9/9/9/9/9/K8 b - 1").play("1c1b")
    assert end.is_terminal
    assert end.rewards == [1.0, -1.0]
    assert str(end).endswith("white to move, hands -, move 2; game over, black wins")


# Ends.


def test_a_player_without_a_legal_move_loses_without_check():
    end = at("4k/5/2R2/3R1/K4 b - 1", SMALL).play("3c3b")
    assert end.is_terminal
    assert not end.state.checked
    assert end.rewards == [1.0, -1.0]


def test_a_game_of_so_many_moves_is_a_draw():
    game = shogi(most_plies=20)
    position = at(f"{START} b - 19", game)
    end = position.play("9i9h 1a1b")
    assert end.is_terminal
    assert end.rewards == [0.0, 0.0]
    assert not position.play("9i9h").is_terminal


def test_the_fourth_occurrence_is_a_draw():
    cycle = "2h3h 8b7b 3h2h 7b8b "
    assert not Position(GAME).play(cycle * 2).is_terminal
    end = Position(GAME).play(cycle * 3)
    assert end.is_terminal
    assert end.rewards == [0.0, 0.0]


def test_another_hand_is_another_position():
    # A pawn is captured in each cycle, so the board is the same and the hands are not.
    first = at("8k/9/9/9/9/9/9/4r4/K3G4 b - 1")
    second = at("8k/9/9/9/9/9/9/4r4/K3G4 b P 1")
    assert first.state.word != second.state.word


def test_the_side_that_checks_throughout_loses_by_repetition():
    start = at("8k/9/9/9/9/9/9/R8/K8 b - 1").play("9h1h")
    cycle = "1a2a 1h2h 2a1a 2h1h "
    assert not start.play(cycle * 2).is_terminal
    end = start.play(cycle * 3)
    assert end.is_terminal
    assert end.rewards == [-1.0, 1.0]
    white = at("8k/8r/9/9/9/9/9/9/K8 w - 1").play("1b9b " + "9i8i 9b8b 8i9i 8b9b " * 3)
    assert white.rewards == [1.0, -1.0]


def test_one_move_without_check_makes_the_repetition_a_draw():
    start = at("8k/9/9/9/9/9/9/R8/K8 b - 1").play("9h1h")
    cycle = "1a2a 1h2h 2a1a 2h1h "
    end = start.play(cycle + "1a2a 1h3h 2a1a 3h1h " + cycle)
    assert end.is_terminal
    assert end.rewards == [0.0, 0.0]


# Actions and texts.


@pytest.mark.parametrize(("game", "actions"), [(GAME, 27 * 81), (SMALL, 21 * 25)])
def test_there_is_an_action_for_each_direction_or_drop_and_target(game, actions):
    assert game.facts.num_actions == actions


def test_both_players_number_their_moves_from_their_own_side():
    start = Position(GAME)
    other = start.play("5g5f")
    assert other.legal_actions() == sorted(other.legal_actions(), key=other.legal_actions().index)
    assert set(other.legal_actions()) == set(start.legal_actions())


@pytest.mark.parametrize("game", [GAME, SMALL], ids=str)
def test_a_printed_position_and_an_sfen_can_be_set_up_again(game):
    for position in random_positions(game, 10, seed=2, most=80):
        again = at(str(position), game)
        assert str(again) == str(position)
        assert set(again.legal_moves()) == set(position.legal_moves())
        assert again.state.word == position.state.word
        assert at(sfen_of(position), game).state.word == position.state.word


def test_the_start_is_the_position_of_its_sfen():
    assert at(f"{START} b - 1") == Position(GAME)
    assert at("rbsgk/4p/5/P4/KGSBR b - 1", SMALL) == Position(SMALL)
    assert at(f"{START} w - 8").state.plies == 7


def test_a_position_shows_both_hands():
    position = at("8k/9/9/9/9/9/9/9/K8 b 2PRb 1")
    white, grid, black = position.picture().parts
    assert [(pile.count, pile.name) for pile in black.rows[0]] == [
        (2, "P"), (0, "L"), (0, "N"), (0, "S"), (0, "B"), (1, "R"), (0, "G"),
    ]  # fmt: skip
    assert [pile.name for pile in white.rows[0]] == [""] * 7
    assert position.picture().path("P*5e") == ["P", "5e"]
    assert position.picture().path("9i8h") == ["9i", "8h"]
    assert grid.rows[8][0] == "K"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "9 ranks of 9 squares"),
        ("9/9 b - 1", "9 ranks of 9 squares"),
        (f"{START.replace('lnsgkgsnl', 'lnsqkgsnl')} b - 1", "'q' in the rank"),
        (f"{START.replace('1B5R1', '1B4R1')} b - 1", "9 ranks of 9 squares"),
        (START, "b .black. or w .white."),
        (f"{START} x - 1", "b .black. or w .white."),
        (f"{START} b 2X 1", "pieces in hand are"),
        (f"{START} b P 1", "19 pieces P; a game has 18"),
        (f"{START} b - 0", "from 1, not '0'"),
        (f"{START} b - 513", "too late"),
        ("8k/9/9/9/9/9/9/9/9 b - 1", "black must have one king"),
        ("k7k/9/9/9/9/9/9/9/K8 b - 1", "3 pieces K; a game has 2"),
        ("8k/9/9/9/9/9/9/9/K7+G b - 1", "promoted gold or king"),
        ("8k/9/9/4P4/9/9/4P4/9/K8 b - 1", "two unpromoted pawns"),
        ("P7k/9/9/9/9/9/9/9/K8 b - 1", "black's P on 9a could never move"),
        ("8k/N8/9/9/9/9/9/9/K8 b - 1", "black's N on 9b could never move"),
        ("8k/9/9/9/9/9/9/9/K6l1 w - 1", "white's L on 2i could never move"),
        ("8k/9/9/9/9/9/9/9/K7R b - 1", "could capture white's king"),
    ],
)
def test_an_impossible_position_is_refused(text, why):
    with pytest.raises(ConfigError, match=why):
        at(text)


@pytest.mark.parametrize("text", ["", "7g", "7g7f7e", "0a1a", "7g7e", "7g7f+", "P*5e", "K*5e", "5e5d", "7g7g", "X*5e"])
def test_a_text_that_is_no_move_is_refused(text):
    with pytest.raises(ValueError, match="not a legal move here"):
        Position(GAME).parse_move(text)


@pytest.mark.parametrize("name", ["shogi(most_plies=19)", "minishogi(most_plies=1001)", "shogi(size=5)"])
def test_parameters_out_of_range_are_refused(name):
    with pytest.raises(UnknownGameError):
        tt.load_game(name)


# What searches use.


def test_the_rollout_policy_captures_what_gains_most():
    position = at("4k4/9/4p4/9/1r2R2s1/9/9/9/4K4 b - 1")
    assert position.move_text(position.state.rollout_action(tt.Rng(1))) == "5e8e"
    defended = at("4k4/9/3gpg3/9/4R4/9/9/9/4K4 b - 1")  # a rook for a pawn is no gain
    moves = {defended.move_text(defended.state.rollout_action(tt.Rng(seed))) for seed in range(30)}
    assert len(moves) > 5


def test_the_heuristic_is_zero_at_the_start_and_counts_pieces_on_the_board_and_in_hand():
    out = np.zeros(2)
    GAME().heuristic(out)
    assert out.tolist() == [0.0, 0.0]
    at("8k/9/9/9/9/9/9/9/K8 b R 1").state.heuristic(out)
    assert out[0] == -out[1] > 0.5


def test_the_observation_is_seen_from_the_players_own_side():
    state = at("8k/9/9/9/9/9/9/4+r4/K8 w 2Pg 3").state
    planes = [np.zeros((45, 9, 9), np.float32) for _ in range(2)]
    for player in range(2):
        state.observe(player, planes[player])
    assert np.argwhere(planes[0][7]).tolist() == [[0, 0]]  # black's king, in the corner on the left
    assert np.argwhere(planes[1][7]).tolist() == [[0, 0]]
    assert np.argwhere(planes[0][14 + 13]).tolist() == [[1, 4]]
    assert np.argwhere(planes[1][13]).tolist() == [[7, 4]]
    assert planes[0][28].min() == planes[1][35].min() == pytest.approx(2 / 18)
    assert planes[1][34].min() == planes[0][41].min() == 0.25
    assert (planes[0][42].max(), planes[1][42].min()) == (0.0, 1.0)
    assert planes[0][44].max() == pytest.approx(1 - 2 / 512)


def test_the_observation_shows_how_often_the_position_occurred():
    out = np.zeros((45, 9, 9), np.float32)
    Position(GAME).play("2h3h 8b7b 3h2h 7b8b " * 2).state.observe(0, out)
    assert out[43].max() == pytest.approx(2 / 3)


def test_equal_keys_need_equal_occurrences():
    start = Position(GAME)
    again = start.play("2h3h 8b7b 3h2h 7b8b")
    assert again.state.word == start.state.word
    assert again.state.key() != start.state.key()


# Fairy-Stockfish.


def uci_of(move, size):
    """The name of a move as Fairy-Stockfish writes it: files a, b, ... from the left, ranks 1, 2, ... from below."""

    def square(name):
        return f"{'abcdefghi'[size - int(name[0])]}{size - 'abcdefghi'.index(name[1])}"

    return f"{move[0]}@{square(move[2:])}" if "*" in move else square(move[:2]) + square(move[2:4]) + move[4:]


def fen_of(position):
    hands = hands_of(position.state).replace("-", "")
    for count in range(18, 1, -1):
        for letter in "PLNSBRGplnsbrg":
            hands = hands.replace(f"{count}{letter}", count * letter)
    return f"fen {board_of(position)}[{hands}] {'wb'[position.player]} - - 0 1"


@pytest.mark.parametrize(("game", "first", "most"), [(GAME, 30, 150), (SMALL, 14, 60)], ids=str)
def test_fairy_stockfish_finds_the_same_moves_in_random_positions(game, first, most):
    # It counts pawn drops that give mate, and lets them lose: no move follows them.
    engine, size = Counter(game.family, first), game.facts.observation_shape[1]
    for before in random_positions(game, 4, seed=4, most=most):
        for position in (before, *(before.apply(action) for action in before.legal_actions()[:8])):
            ours = {uci_of(move, size) for move in position.legal_moves()}
            theirs = set(engine.moves(fen_of(position)))
            assert ours <= theirs
            for move in theirs - ours:
                assert move.startswith("P@")
                assert engine.moves(f"{fen_of(position)} moves {move}") == {}
    engine.close()
