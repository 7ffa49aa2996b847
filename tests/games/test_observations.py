"""Observations and symmetries of the bundled games: shapes, viewpoints, and that nothing is lost or shown too much."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import treetop as tt
from treetop.game import CHANCE, SIMULTANEOUS, square_symmetries
from treetop.game.registry import BUNDLED

SHAPES = {
    "amazons": (5, 6, 6),
    "amazons(size=10)": (5, 10, 10),
    "ataxx": (4, 7, 7),
    "ataxx(size=5)": (4, 5, 5),
    "backgammon": (214,),
    "backgammon(gammons=False, most_turns=3)": (214,),
    "blackjack": (71,),
    "blackjack(natural=1.2)": (71,),
    "breakthrough": (4, 8, 8),
    "breakthrough(size=4)": (4, 4, 4),
    "checkers": (9, 8, 8),
    "chess": (17, 8, 8),
    "cliff_walking": (49,),
    "cliff_walking(slippery=True, horizon=4)": (53,),
    "clobber": (3, 5, 6),
    "clobber(rows=3, columns=2)": (3, 3, 2),
    "connect_four": (3, 6, 7),
    "go": (8, 9, 9),
    "go(size=2, komi=0)": (8, 2, 2),
    "gomoku": (3, 15, 15),
    "gomoku(size=3, line=3)": (3, 3, 3),
    "goofspiel": (18,),
    "goofspiel(cards=3, prizes='descending')": (14,),
    "hex": (4, 11, 11),
    "hex(size=3)": (4, 3, 3),
    "kuhn_poker": (11,),
    "leduc_poker": (34,),
    "matching_pennies": (5,),
    "matching_pennies(weight=3)": (5,),
    "minishogi": (33, 5, 5),
    "minishogi(most_plies=20)": (33, 5, 5),
    "nim": (23,),
    "nim(stones=9, most=2)": (11,),
    "nim_three": (17,),
    "nim_three(stones=7)": (11,),
    "othello": (3, 8, 8),
    "othello(size=4)": (3, 4, 4),
    "pendulum": (4,),
    "pendulum(wind=0.5, horizon=3)": (5,),
    "pig": (6,),
    "pig(goal=6, most_rolls=9)": (6,),
    "rock_paper_scissors": (6,),
    "rock_paper_scissors(weights=(1, 1, 2))": (6,),
    "sailing": (34,),
    "sailing(size=2, horizon=3)": (18,),
    "scoundrel": (273,),
    "scoundrel(avoided='shuffled')": (273,),
    "scoundrel(clairvoyant=True)": (273,),
    "shogi": (45, 9, 9),
    "shogi(most_plies=20)": (45, 9, 9),
    "tic_tac_toe": (3, 3, 3),
    "twenty48": (17, 4, 4),
    "xiangqi": (17, 10, 9),
    "xiangqi(quiet_plies=10)": (17, 10, 9),
}
SYMMETRIES = {
    "tic_tac_toe": 8, "connect_four": 2, "othello": 4, "go": 8, "gomoku": 8, "hex": 2, "breakthrough": 2, "twenty48": 8,
    "amazons": 2, "ataxx": 4, "clobber": 2, "xiangqi": 2,
}  # fmt: skip
SMALL = {
    "tic_tac_toe": 150,
    "connect_four": 20,
    "othello(size=4)": 60,
    "gomoku(size=3, line=3)": 100,
    "hex(size=3)": 150,
    "breakthrough(size=4)": 60,
    "amazons(size=4)": 30,
    "ataxx(size=5)": 10,
    "checkers": 10,
    "clobber(rows=3, columns=3)": 60,
    "nim(stones=9, most=2)": 30,
    "nim_three(stones=7)": 30,
    "pig(goal=6, most_rolls=9)": 300,
    "blackjack": 300,
    "cliff_walking(slippery=True, horizon=4)": 300,
    "sailing(size=2, horizon=3)": 300,
    "goofspiel(cards=3)": 100,
    "rock_paper_scissors": 20,
    "matching_pennies": 10,
}
"""Games in which random play often reaches equal positions, and how many of them are played."""
TURNS = [
    "clobber(rows=3, columns=3)",
    "tic_tac_toe",
    "othello(size=4)",
    "gomoku(size=3, line=3)",
    "hex(size=3)",
    "breakthrough(size=4)",
    "connect_four",
]
ONE_ACTION_A_CELL = ["tic_tac_toe", "othello(size=4)", "gomoku(size=3, line=3)", "hex(size=3)"]


def step(game, state, rng):
    """Apply a random action or outcome, and return it."""
    mover = int(state.current_player())
    out = np.zeros(game.facts.most_children, np.int32)
    if mover == SIMULTANEOUS:
        actions = [int(out[rng.below(state.legal_actions_of(player, out))]) for player in range(game.facts.players)]
        state.apply_joint(np.array(actions))
        return tuple(actions)
    if game.facts.action_size is not None and mover != CHANCE:
        values = np.zeros(game.facts.action_size)
        state.sample_action(rng, values)
        state.apply_vector(values)
        return tuple(values)
    count = state.chance_outcomes(out, np.zeros(len(out))) if mover == CHANCE else state.legal_actions(out)
    action = int(out[rng.below(count)])
    state.apply(action)
    return action


def positions(spec, games, seed=0, most=10_000):
    """Yield the states of random games, each a copy."""
    game = tt.load_game(spec)
    for number in range(games):
        rng, state = tt.Rng(1000 * seed + number), game()
        if game.has("deal"):
            state.deal(rng)
        yield state.copy()
        for _ in range(most):
            if state.is_terminal():
                break
            step(game, state, rng)
            yield state.copy()


def observed(state, player=0):
    out = np.zeros(type(state)._game.facts.observation_shape, np.float32)
    state.observe(player, out)
    return out


def mover_of(state):
    return int(state.current_player())


def test_every_bundled_game_has_observations_in_all_parameters_and_board_games_have_symmetries():
    assert {tt.load_game(spec).family for spec in SHAPES} == set(BUNDLED)
    for spec, shape in SHAPES.items():
        game = tt.load_game(spec)
        assert game.facts.observation_shape == tt.states.observation_shape(game) == shape
        assert game.facts.symmetries == SYMMETRIES.get(game.family)


def test_the_page_of_observations_shows_the_shape_and_the_symmetries_of_every_game():
    page = (Path(__file__).resolve().parents[2] / "docs" / "observations.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.count(" | ") == 3]
    shown = {row[0]: (row[1], row[3].partition(":")[0]) for row in rows if row[0] in BUNDLED}
    assert shown == {name: (str(SHAPES[name]), str(SYMMETRIES.get(name, "none"))) for name in BUNDLED}


@pytest.mark.parametrize("spec", SHAPES)
def test_observations_are_numbers_of_about_one_for_every_player(spec):
    for state in positions(spec, games=2, most=60):
        before = state._states.tobytes()
        for player in range(type(state)._game.facts.players):
            out = observed(state, player)
            assert np.isfinite(out).all()
            assert np.abs(out).max() <= (2.0 if "backgammon" not in spec else 7.5)
            assert np.array_equal(out, observed(state, player))
        assert state._states.tobytes() == before


@pytest.mark.parametrize("name", BUNDLED)
def test_compiled_observations_equal_interpreted_ones(name):
    states = list(positions(name, games=1, most=12))
    game, records = tt.load_game(name), np.concatenate([state._states for state in states])
    for player in range(game.facts.players):
        found = tt.states.observations(game, records, player)
        assert np.array_equal(found, np.array([observed(state, player) for state in states]))


# Nothing is lost.


@pytest.mark.parametrize("spec", SMALL)
def test_different_positions_have_different_observations_for_the_player_to_move(spec):
    seen: dict[tuple[int, bytes], int] = {}
    equal = 0
    for state in positions(spec, SMALL[spec]):
        if not state.is_terminal():
            players = range(type(state)._game.facts.players) if mover_of(state) < 0 else [mover_of(state)]
            for player in players:
                about = (player, observed(state, player).tobytes())
                equal += about in seen
                assert seen.setdefault(about, int(state.key())) == int(state.key())
    assert equal > 3, "the test compares nothing: no position came up twice"


@pytest.mark.parametrize("spec", ["hex(size=3)", "breakthrough(size=4)"])
def test_an_observation_shows_which_way_the_player_goes(spec):
    seen: dict[bytes, int] = {}
    for state in positions(spec, SMALL[spec]):
        for player in range(2):
            assert seen.setdefault(observed(state, player).tobytes(), player) == player


@pytest.mark.parametrize("spec", [*TURNS, "nim(stones=9, most=2)", "nim_three(stones=7)", "pig(goal=6, most_rolls=9)"])
def test_an_observation_shows_whose_turn_it_is_to_every_player(spec):
    seen: dict[bytes, int] = {}
    players = tt.load_game(spec).facts.players
    for state in positions(spec, SMALL[spec]):
        for player in range(players):
            turn = CHANCE if mover_of(state) == CHANCE else (mover_of(state) - player) % players
            assert state.is_terminal() or seen.setdefault(observed(state, player).tobytes(), turn) == turn


def test_nothing_of_a_position_of_backgammon_is_lost():
    for state in positions("backgammon", games=3, most=250):
        for player in range(2):
            out = observed(state, player)
            for side, owner in enumerate((player, 1 - player)):
                units = out[96 * side : 96 * side + 96].reshape(24, 4)
                counts = (units[:, :3].sum(axis=1) + 2 * units[:, 3]).astype(int).tolist()
                held = [state.checkers[owner, point] for point in range(1, 25)]
                assert counts == (held if side == 0 else held[::-1])
                assert 2 * out[192 + side] == state.checkers[owner, 25]
                assert round(15 * float(out[194 + side])) == state.checkers[owner, 0]
            moving = state.stage == 3
            assert out[196:198].tolist() == [
                float(state.stage != 0 and state.player == side) for side in (player, 1 - player)
            ]
            assert out[198] == (state.stage == 1)
            assert out[199:205].tolist() == [float(moving and state.high == die) for die in range(1, 7)]
            assert out[205:211].tolist() == [float(moving and state.low == die) for die in range(1, 7)]
            assert out[211:213].tolist() == [state.high_left / 4, state.low_left]
            assert round(2000 * (1 - float(out[213]))) == state.turns


@pytest.mark.parametrize("avoided", ["ordered", "shuffled"])
def test_nothing_that_matters_in_scoundrel_is_lost(avoided):
    avoids = 0
    for state in positions(f"scoundrel(avoided={avoided!r})", games=30):
        out = observed(state)
        cards = out[:264].reshape(6, 44)
        assert np.flatnonzero(cards[0]).tolist() == [card for card in range(44) if int(state.unseen) >> card & 1]
        room = [np.flatnonzero(cards[1 + place]).tolist() for place in range(4)]
        assert room == [[card] if card >= 0 else [] for card in state.room]
        ring = range(state.first, state.end)
        depths = [44 - round(44 * float(cards[5, state.under[place & 63]])) for place in ring]
        assert np.count_nonzero(cards[5]) == len(ring)
        assert depths == [(place >> 2) - (ring[0] >> 2) if avoided == "shuffled" else place - ring[0] for place in ring]
        numbers = [state.health / 20, state.weapon / 10, state.reach / 14, state.faced / 3, state.left / 208]
        flags = [state.last_potion / 10, state.potion_used, state.avoided, state.dealing]
        assert out[264:].tolist() == pytest.approx([float(number) for number in (*numbers, *flags)])
        avoids += len(ring) > 4
    assert avoids > 20


def test_nothing_of_a_position_of_twenty48_is_lost():
    for state in positions("twenty48", games=2):
        out = observed(state)
        tiles = out[:16].argmax(axis=0).ravel().tolist()
        assert tiles == [int(state.cells) >> 4 * cell & 15 for cell in range(16)]
        assert (out[:16].sum(axis=0) == 1.0).all()
        assert (out[16] == state.waiting / 2).all()


def test_the_angle_of_the_pendulum_is_its_cosine_and_sine():
    for state in positions("pendulum(wind=0.5, horizon=30)", games=4):
        cosine, sine, speed, left, blowing = observed(state).tolist()
        assert (cosine, sine) == pytest.approx((math.cos(state.angle), math.sin(state.angle)), abs=1e-6)
        assert speed == pytest.approx(state.speed / 8)
        assert left == pytest.approx(1 - state.steps / 30)
        assert blowing == state.blowing


# Nothing hidden is shown, and all that the player knows is.


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_an_observation_is_the_same_in_all_states_of_an_information_set_and_only_there(name):
    known: dict[tuple[int, bytes], set[object]] = {}
    for state in positions(name, games=400):
        for player in range(2):
            out = observed(state, player)
            for draw in range(4):
                other = state.copy()
                other.determinize(player, tt.Rng(draw))
                assert np.array_equal(out, observed(other, player))
            if mover_of(state) == player and not state.is_terminal():
                known.setdefault((player, out.tobytes()), set()).add(known_to(state, player))
    assert all(len(sets) == 1 for sets in known.values())
    assert len(known) == {"kuhn_poker": 12, "leduc_poker": len({next(iter(sets)) for sets in known.values()})}[name]


def known_to(state, player):
    """What the player knows and what matters: the information set, in Leduc poker without suits."""
    if type(state).__name__ == "kuhn_poker":
        return state.information(player)
    return (player, state.history, state.cards[player] // 2, state.cards[2] // 2)


# Viewpoints.


@pytest.mark.parametrize("spec", TURNS)
def test_the_planes_of_the_two_players_are_exchanged(spec):
    for state in positions(spec, games=4):
        first, second = observed(state, 0), observed(state, 1)
        assert np.array_equal(first[:2], second[[1, 0]])
        assert (first[2] == (state.player == 0)).all()
        assert (second[2] == (state.player == 1)).all()
        assert not (first[0] * first[1]).any()
        assert all((plane == 1 - number).all() for number, plane in enumerate((first[3:], second[3:])))


def test_the_numbers_of_the_two_players_are_exchanged():
    for state in positions("goofspiel(cards=5)", games=5):
        first, second = observed(state, 0), observed(state, 1)
        assert np.array_equal(first[:10], np.roll(second[:10], 5))
        assert np.array_equal(first[10:20], second[10:20])
        assert np.array_equal(first[20:], second[:-3:-1])
    for state in positions("rock_paper_scissors", games=9):
        assert np.array_equal(observed(state, 0), np.roll(observed(state, 1), 3))
    for state in positions("backgammon", games=1, most=60):
        points = [observed(state, player)[:192].reshape(2, 24, 4) for player in range(2)]
        assert np.array_equal(points[0], points[1][::-1, ::-1])


@pytest.mark.parametrize("spec", ONE_ACTION_A_CELL)
def test_the_cell_of_an_action_stands_at_its_place_in_the_planes(spec):
    game = tt.load_game(spec)
    rng, state = tt.Rng(3), game()
    while not state.is_terminal():
        player = mover_of(state)
        empty = 1 - observed(state, player)[:2].sum(axis=0).ravel()
        action = step(game, state, rng)
        if action < empty.size:  # not a pass
            assert empty[action] == 1
            assert observed(state, player)[0].ravel()[action] == 1


# Symmetries.


def turned_planes(spec, symmetry, planes):
    """The planes of an observation after a symmetry of the game."""
    rows, columns = planes.shape[1:]
    places = {
        "othello": lambda: square_symmetries(rows)[(0, 3, 4, 7)[symmetry]],
        "hex": lambda: square_symmetries(rows)[(0, 3)[symmetry]],
        "connect_four": lambda: np.array([columns * r + columns - 1 - c for r in range(rows) for c in range(columns)]),
    }.get(tt.load_game(spec).family, lambda: square_symmetries(rows)[symmetry])()
    found = np.zeros_like(planes)
    found.reshape(len(planes), -1)[:, places] = planes.reshape(len(planes), -1)
    return found


@pytest.mark.parametrize("spec", [*TURNS, "twenty48"])
def test_the_observation_of_a_transformed_state_is_the_transformed_observation(spec):
    for number, state in enumerate(positions(spec, games=3, most=60)):
        symmetry = 1 + number % (type(state)._game.facts.symmetries - 1)
        planes = observed(state)
        state.transform(symmetry)
        assert np.array_equal(observed(state), turned_planes(spec, symmetry, planes))


@pytest.mark.parametrize("family", SYMMETRIES)
def test_symmetries_are_different_and_the_initial_state_is_kept_by_all(family):
    game = tt.load_game(family)
    start, some = game(), list(positions(family, games=1, most=9))[-1]
    found = set()
    for symmetry in range(game.facts.symmetries):
        for state, known in ((start.copy(), None), (some.copy(), found)):
            state.transform(symmetry)
            assert known is not None or state._states.tobytes() == start._states.tobytes()
            found |= {state._states.tobytes()} if known is not None else set()
    assert len(found) == game.facts.symmetries


def test_symmetries_of_a_batch_move_a_policy_with_the_board():
    game = tt.load_game("tic_tac_toe")
    records = np.repeat(tt.position(game, moves="a1 b2").record, 8)
    states, places = tt.states.transformed(game, records, np.arange(8))
    for record, moved in zip(states, places, strict=True):
        board = tt.states.observations(game, record.reshape(1))[0]
        assert board[0].ravel()[moved[0]] == 1
        assert board[1].ravel()[moved[4]] == 1
    assert {int(moved[0]) for moved in places} == {0, 2, 6, 8}
