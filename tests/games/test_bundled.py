"""Promises that every bundled game keeps."""

import numpy as np
import pytest

from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import local_copy, local_rng, state_at
from treetop.compiler.rng import Rng
from treetop.errors import UnknownGameError
from treetop.game.position import Position
from treetop.game.registry import BUNDLED, load_game, position

GAMES = ["tic_tac_toe", "connect_four", "othello", "gomoku", "hex", "breakthrough"]
MORE_GAMES = [
    "othello(size=4)",
    "gomoku(size=7, line=4)",
    "gomoku(size=19, line=6)",
    "hex(size=2)",
    "hex(size=19)",
    "breakthrough(size=4)",
]
HALFWAY = {
    "tic_tac_toe": (4, 1),
    "connect_four": (32, 33),
    "othello": (40, 1),
    "gomoku": (60, 1),
    "hex": (60, 1),
    "breakthrough": (30, 1),
}
"""After how many moves, with which seed, the game goes on and (in Connect Four) some columns are full."""


@compiled
def play_and_draw(game, states, seed, plies, draws, tally):
    rng = local_rng(seed)
    state = state_at(game, states, 0)
    played = 0
    while played < plies and not state.is_terminal():
        state.apply(state.random_action(rng))
        played += 1
    for _ in range(draws):
        tally[local_copy(state).random_action(rng)] += 1
    return played


def start(game):
    return Position(game).record.copy()


def random_positions(game, seed):
    rng = Rng(seed)
    state = game()
    yield state
    while not state.is_terminal():
        state.apply(state.random_action(rng))
        yield state


def test_the_names_of_module_game_and_registry_agree():
    for name, module in BUNDLED.items():
        game = load_game(name)
        assert module == f"treetop.games.{name}"
        assert game.family == name
        assert load_game(game.name) is game
        assert game.summary.endswith(".")


@pytest.mark.parametrize("name", GAMES)
def test_compiled_and_interpreted_games_with_one_seed_are_equal(name):
    game = load_game(name)
    for seed in range(3):
        compiled_states, plain_states = start(game), start(game)
        tally = np.zeros(game.facts.num_actions, np.int64)
        count = game.engine(bounds_checked=True).entry(play_and_draw)(compiled_states, np.uint64(seed), 1000, 0, tally)
        assert count == play_and_draw(game, plain_states, np.uint64(seed), 1000, 0, tally)
        assert compiled_states == plain_states


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("halfway", [False, True])
def test_random_action_gives_each_legal_action_equally_often_and_no_other(name, halfway):
    game = load_game(name)
    states = start(game)
    tally = np.zeros(game.facts.num_actions, np.int64)
    draws = 200_000
    if halfway:
        game.engine(bounds_checked=True).entry(play_and_draw)(
            states, np.uint64(HALFWAY[name][1]), HALFWAY[name][0], 0, tally
        )
    legal = Position(game, states).legal_actions()
    assert legal
    game.engine(bounds_checked=True).entry(play_and_draw)(states, np.uint64(5), 0, draws, tally)
    assert sorted(np.flatnonzero(tally)) == legal
    expected = draws / len(legal)
    squares = sum((tally[action] - expected) ** 2 / expected for action in legal)
    assert squares < len(legal) + 6 * np.sqrt(2 * len(legal)) + 6  # a chi-square that far out happens once in a million


@pytest.mark.parametrize("name", GAMES + MORE_GAMES)
def test_random_action_is_legal_all_through_a_game(name):
    game = load_game(name)
    out = np.zeros(game.facts.num_actions, np.int32)
    rng = Rng(2)
    for state in random_positions(game, seed=1):
        if not state.is_terminal():
            legal = out[: state.legal_actions(out)].tolist()
            assert state.random_action(rng) in legal
            assert legal == sorted(set(legal))


@pytest.mark.parametrize("name", GAMES + MORE_GAMES)
def test_no_game_is_longer_than_its_facts_say(name):
    game = load_game(name)
    for seed in range(5):
        assert len(list(random_positions(game, seed))) - 1 <= game.facts.max_length


@pytest.mark.parametrize("name", GAMES + MORE_GAMES)
def test_the_players_take_turns_and_one_wins_what_the_other_loses(name):
    game = load_game(name)
    rewards = np.full(2, 9.0)
    for seed in range(5):
        players = [state.current_player() for state in random_positions(game, seed)]
        assert players == [ply % 2 for ply in range(len(players))]
        *_, last = random_positions(game, seed)
        last.rewards(rewards)
        assert rewards[0] + rewards[1] == 0
        assert rewards[0] in (-1.0, 0.0, 1.0)


@pytest.mark.parametrize("name", GAMES + MORE_GAMES)
def test_every_move_text_is_read_back_as_its_action(name):
    game = load_game(name)
    rng = Rng(3)
    place = Position(game)
    for _ in range(40):
        if place.is_terminal:
            break
        for action in place.legal_actions()[:: max(1, len(place.legal_actions()) // 20)]:
            text = place.move_text(action)
            assert not set(text) & set(" ,;\n")
            assert place.state.parse_move(text) == action
            assert place.parse_move(text.upper()) == action
        place = place.apply(place.state.random_action(rng))
    assert position(game, moves=" ".join(place.moves())) == place


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("text", ["", "z9", "a0", "q77", "hello", "-1", "99999"])
def test_a_text_that_is_no_move_is_refused_with_the_legal_moves(name, text):
    with pytest.raises(ValueError, match="not a legal move here; the legal moves are"):
        Position(load_game(name)).parse_move(text)


@pytest.mark.parametrize("name", GAMES + MORE_GAMES)
def test_keys_distinguish_positions_and_nothing_else(name):
    game = load_game(name)
    keys, positions = {}, {}
    for seed in range(6):
        for state in random_positions(game, seed):
            shown = (str(state.board()), state.player)
            key = int(state.key())
            assert keys.setdefault(shown, key) == key
            assert positions.setdefault(key, shown) == shown


@pytest.mark.parametrize("name", GAMES + MORE_GAMES)
def test_a_printed_board_shows_each_cell_and_ends_no_line_with_a_blank(name):
    game = load_game(name)
    for state in random_positions(game, seed=4):
        cells = [cell or "." for row in state.board() for cell in row]
        text = state.render()
        assert all(line == line.rstrip() for line in text.splitlines())
        text = text.removesuffix(f"{'XO'[state.player]} to move").partition("game over")[0]
        assert [letter for letter in text if letter in "XO."] == cells


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "othello", "othello(size=6)"])
def test_a_printed_board_can_be_set_up_again(name):
    game = load_game(name)
    for state in random_positions(game, seed=5):
        assert Position.parse(game, state.render()) == Position(game, state._states)
        rows = ["".join(cell or "." for cell in row) for row in state.board()]
        side = f" {'XO'[state.player]}" if game.family == "othello" else ""
        for separator in "/", "\n", " / ":
            assert Position.parse(game, separator.join(rows) + side) == Position(game, state._states)


@pytest.mark.parametrize(
    "name",
    [
        "tic_tac_toe(size=4)",
        "connect_four(8)",
        "othello(size=5)",
        "othello(size=2)",
        "othello(size=10)",
        "othello(size=True)",
        "othello(size=8.5)",
        "othello(rows=8)",
        "gomoku(size=2)",
        "gomoku(size=20)",
        "gomoku(line=2)",
        "gomoku(size=5, line=6)",
        "hex(size=1)",
        "hex(size=20)",
        "hex(size='11')",
        "breakthrough(size=3)",
        "breakthrough(size=9)",
    ],
)
def test_parameters_out_of_range_are_refused(name):
    with pytest.raises(UnknownGameError):
        load_game(name)
