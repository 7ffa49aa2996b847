"""GNU Backgammon: its turns are ours, and errors are reported. What needs the program is skipped where it is not installed."""

from __future__ import annotations

import os
import signal

import pytest

import treetop
from treetop.arena.matches import match
from treetop.game.position import Position
from treetop.players.gnubg import (
    LEVELS,
    GnubgEngine,
    GnubgPlayer,
    board_after,
    board_of,
    compare_turns,
    random_turns,
    turns_of,
)
from treetop.players.spec import make_player

GAME = treetop.load_game("backgammon")
SIMPLE = treetop.load_game("backgammon(gammons=False)")

STAND_IN = """
    import sys
    shown = ""
    for line in sys.stdin:
        words = line.split()
        if words[:2] == ["set", "prompt"]:
            print(f"The prompt has been set to `{words[2]}'.", flush=True)
        elif words[:3] == ["set", "board", "simple"]:
            points = words[3:]
        elif words[:2] == ["set", "dice"]:
            dice = words[2:]
        elif words[:2] == ["show", "board"]:
            print(":".join(["board:a:b:0:0:0", points[-1], *points[1:-1], points[0], "1", *dice]))
        elif words[:1] == ["hint"]:
            HINT
        elif words[:1] == ["exit"]:
            break
        else:
            print("Well.")
"""


@pytest.fixture
def engine(needs):
    """The program, without noise."""
    needs("gnubg", "gnubg")
    started = GnubgEngine(["gnubg"], plies=0, noise=0.0, gammons=True, start_deadline=30.0, deadline=60.0)
    yield started
    started.close()


@pytest.fixture
def stand_in(script):
    """A player whose program answers `hint` in a way of the test's own."""

    def make(hint, **options):
        return GnubgPlayer(
            GAME,
            command=script(STAND_IN.replace("HINT", hint)),
            **{"check": 0, "start_deadline": 20.0, "deadline": 20.0, **options},
        )

    return make


def position_of(x, o, to_move, game=GAME):
    return Position.parse(game, f"X: {x}\nO: {o}\n{to_move}")


OPENING = position_of("24*2 13*5 8*3 6*5", "24*2 13*5 8*3 6*5", "X to move 3 1")


def play_out(players, seed, game=GAME):
    """A whole game; chance draws from the seed."""
    rng = treetop.Rng(seed)
    position = Position(game).resolve_chance(rng)
    for player in players:
        player.begin(position, seed)
    while not position.is_terminal:
        position = position.apply(players[position.player].choose(position)).resolve_chance(rng)
    return position


# Texts and boards: no program needed.


@pytest.mark.parametrize(("x", "o", "move", "own", "others"), [
    ("24*2 13*5 8*3 6*5", "24*2 13*5 8*3 6*5", "8/5 6/5", {24: 2, 13: 5, 8: 2, 6: 4, 5: 2}, {24: 2, 13: 5, 8: 3, 6: 5}),
    ("bar*2 8*3 6*5", "5*1 13*2", "bar/20*(2) 8/4(2)", {20: 2, 8: 1, 6: 5, 4: 2, 0: 5}, {25: 1, 13: 2, 0: 12}),
    ("24*1", "5*1 9*1", "24/20*/16*", {16: 1, 0: 14}, {25: 2, 0: 13}),
    ("2*1 1*3", "20*2", "2/off 1/off(3)", {0: 15}, {20: 2, 0: 13}),
])  # fmt: skip
def test_a_turn_as_the_program_writes_it_leads_to_its_board(x, o, move, own, others):
    board = board_after(board_of(position_of(x, o, "X to roll")), move)
    assert [{point: count for point, count in enumerate(side) if count} for side in board] == [own, others]


@pytest.mark.parametrize("move", ["pass", "8-5", "8/5 7/6", "26/20", "8/", "8/5(9)", "6/off*"])
def test_a_text_that_is_no_turn_is_an_error(move):
    with pytest.raises(treetop.errors.PlayerError, match="move"):
        board_after(board_of(OPENING), move)


def test_our_turns_are_counted_by_the_boards_they_end_with():
    assert len(turns_of(OPENING)) == 16
    assert all(OPENING.play(actions).player == treetop.CHANCE for actions in turns_of(OPENING).values())
    assert {len(actions) for actions in turns_of(position_of("2*1", "24*1", "X to move 6 5")).values()} == {1}


# A program that misbehaves.


def test_a_stand_in_is_understood_and_the_rest_of_a_turn_is_remembered(stand_in, gone):
    player = stand_in("print('    1. Cubeless 0-ply   8/5 6/5                      Eq.: +0.344')")
    player.begin(OPENING, 1)
    first = player.choose(OPENING)
    asked = player._engine._number
    second = player.choose(OPENING.apply(first))
    assert {OPENING.move_text(first), OPENING.apply(first).move_text(second)} == {"8/5", "6/5"}
    assert player._engine._number == asked
    pid = player._engine.process.pid
    player.close()
    assert gone(pid)


@pytest.mark.parametrize(("hint", "text"), [
    ("print(' 1. Cubeless 0-ply   8/5 8/5 Eq.: 0')", r"(?s)illegal move: '8/5 8/5' is not a turn of.*X: 24\*2 13\*5.*X to move 3 1"),
    ("print(' 1. Cubeless 0-ply   7/4 6/5 Eq.: 0')", r"(?s)illegal move: .*no checker to move.*X to move 3 1"),
    ("print('There are no legal moves.')", "(?s)has no move where there is one.*X to move 3 1"),
    ("print('Hm.')", "lists no moves and does not say"),
    ("sys.exit(3)", "exit code 3"),
    ("import time; time.sleep(60)", "gave no answer to 'hint 10000' within 0.5 s"),
])  # fmt: skip
def test_a_wrong_answer_is_an_error_with_the_board_and_never_another_move(stand_in, gone, hint, text):
    player = stand_in(hint, deadline=0.5 if "0.5 s" in text else 20.0)
    player.begin(OPENING, 1)
    with pytest.raises(treetop.errors.PlayerError, match=text):
        player.choose(OPENING)
    assert gone(player._engine.process.pid)
    with pytest.raises(treetop.errors.PlayerError, match="not running"):
        player.choose(OPENING)


def test_other_rules_are_found_before_the_first_game(stand_in, gone):
    player = stand_in("print(' 1. Cubeless 0-ply   8/5 6/5 Eq.: 0')", check=1)
    with pytest.raises(treetop.errors.PlayerError, match=r"(illegal move|other rules)"):
        player.begin(OPENING, 1)
    assert gone(player._engine.process.pid)


def test_a_missing_program_is_reported_with_its_package(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("treetop.players.line_process._GAMES_FOLDERS", ())
    with pytest.raises(treetop.errors.PlayerError, match="'gnubg' is not installed: apt-get install gnubg"):
        make_player("gnubg", GAME)


@pytest.mark.parametrize(("options", "text"), [
    ("level='novice'", "level must be 'beginner', 'casual'"), ("level='beginner', plies=1", "not both"), ("plies=9", "from 0 to 4"), ("plies=True", "plies must"),
    ("noise=-1", "noise must"), ("noise='much'", "noise must"), ("check=-1", "check must"), ("deadline=0", "deadline must"), ("ply=1", "has no option 'ply'"),
])  # fmt: skip
def test_options_out_of_range_are_refused(options, text):
    with pytest.raises(treetop.errors.ConfigError, match=text):
        make_player(f"gnubg(command='cat', {options})", GAME)


def test_it_plays_backgammon_alone():
    with pytest.raises(treetop.errors.ConfigError, match="plays only backgammon, not pig"):
        make_player("gnubg(command='cat')", treetop.load_game("pig"))


# The program itself.


def test_its_turns_are_ours_in_random_positions(engine):
    positions = random_turns(GAME, 60, seed=5)
    counts = [compare_turns(engine, position) for position in positions]
    states = [position.state for position in positions]
    assert max(counts) > 100
    assert {int(state.player) for state in states} == {0, 1}
    assert any(state.high == state.low for state in states)
    assert any(state.checkers[state.player, 25] > 0 for state in states)
    assert any(state.checkers[state.player, 0] > 0 for state in states)


@pytest.mark.parametrize(("x", "o", "to_move"), [
    ("6*2 5*2 4*2 3*2 2*2 1*2", "18*1 6*5", "X to move 6 5"),
    ("4*2 3*2 1*2", "bar*1 6*5", "X to move 6 6 6 6"),
    ("bar*3 6*5", "6*2 5*2 4*2 3*1 1*2", "X to move 3 3 3 3"),
    ("bar*1 13*2", "24*2 6*2 4*2 3*2 2*2 1*2", "X to move 5 1"),
    ("6*3 5*3", "24*1 23*1 1*2", "X to move 4 1"),
    ("24*2", "13*2 12*2 6*2", "X to move 6 5"),
    ("24*1 6*1", "bar*2 12*1 13*1", "O to move 2 2 2 2"),
    ("20*1", "1*2 2*2 6*1 8*2", "X to move 2 1"),
])  # fmt: skip
def test_its_turns_are_ours_where_the_rules_are_hard(engine, x, o, to_move):
    assert compare_turns(engine, position_of(x, o, to_move)) > 0


def test_where_we_pass_it_has_no_move_either(engine):
    shut = position_of("bar*1 13*2", "6*2 5*2 4*2 3*2 2*2 1*2", "X to roll")
    passed = shut.apply(20)  # 6-6
    assert passed.player == treetop.CHANCE
    assert "O to roll" in str(passed)
    assert engine.ranked_moves(board_of(shut), (6, 6)) == []
    assert engine.ranked_moves(board_of(shut), (5, 2)) == []


def test_a_board_that_it_refuses_is_reported(engine, gone):
    own = [0] * 26
    own[6] = 20
    with pytest.raises(treetop.errors.PlayerError, match="does not show the board"):
        engine.ranked_moves((tuple(own), (15, *[0] * 25)), (6, 5))
    assert gone(engine.process.pid)


def test_without_noise_it_plays_the_well_known_opening_moves(needs):
    needs("gnubg", "gnubg")
    player = make_player("gnubg", GAME)
    for dice, moves in (("3 1", {"8/5", "6/5"}), ("6 1", {"13/7", "8/7"}), ("4 2", {"8/4", "6/4"})):
        position = position_of("24*2 13*5 8*3 6*5", "24*2 13*5 8*3 6*5", f"O to move {dice}")
        player.begin(position, 1)
        first = player.choose(position)
        after = position.apply(first)
        assert {position.move_text(first), after.move_text(player.choose(after))} == moves
    player.close()


def test_a_turn_that_another_has_started_is_ended_as_well_as_it_can_be(needs):
    needs("gnubg", "gnubg")
    player = make_player("gnubg", GAME)
    player.begin(OPENING, 1)
    half = OPENING.play("24/23")
    assert player.choose(half) in half.legal_actions()
    with pytest.raises(treetop.errors.PlayerError, match="whose beginning is unknown"):
        player.choose(Position(GAME, OPENING.play("6/5").record))
    player.close()


@pytest.mark.parametrize("spec", ["gnubg(level='beginner')", "gnubg", "gnubg(plies=1, noise=0.02)"])
def test_whole_games_are_played_on_both_sides(needs, gone, spec):
    needs("gnubg", "gnubg")
    player, other = make_player(spec, GAME), make_player("random", GAME)
    ends = [play_out([player, other], 1), play_out([other, player], 2)]
    assert ends[0].rewards[0] > 0
    assert ends[1].rewards[1] > 0
    pid = player._engine.process.pid
    player.close()
    assert gone(pid)


def test_games_without_gammons_are_played_as_matches_of_one_point(needs):
    needs("gnubg", "gnubg")
    player = make_player("gnubg(level='casual')", SIMPLE)
    assert play_out([player, make_player("random", SIMPLE)], 3, SIMPLE).rewards == [1.0, -1.0]
    assert any("match" in line for line in player._engine.ask(["show matchlength", "show score"], 20.0))
    player.close()


def test_a_level_is_what_the_program_calls_so(needs):
    needs("gnubg", "gnubg")
    for level, (plies, noise) in LEVELS.items():
        engine = GnubgEngine(["gnubg"], plies=plies, noise=noise, gammons=True, start_deadline=30.0, deadline=60.0)
        engine.order("set evaluation chequerplay evaluation cubeful on")  # it has names for play with the cube alone
        said = engine.ask(
            [
                "set turn 1",
                "set board simple 0 -2 0 0 0 0 5 0 3 0 0 0 -5 5 0 0 0 -3 0 -5 0 0 0 0 2 0",
                "set dice 4 3",
                "hint 1",
            ],
            60.0,
        )
        assert any(f"[{level}" in line for line in said), said
        engine.close()


def test_equal_seeds_give_equal_matches(needs):
    needs("gnubg", "gnubg")
    results = [match("gnubg(level='beginner', check=0)", "random", GAME, games=2, seed=4, workers=1) for _ in range(2)]
    assert results[0] == results[1]
    assert results[0].forfeits == {"A": 0, "B": 0}


def test_a_killed_program_is_an_error_and_the_next_game_starts_it_anew(needs, gone):
    needs("gnubg", "gnubg")
    player = make_player("gnubg(check=0)", GAME)
    player.begin(OPENING, 1)
    pid = player._engine.process.pid
    os.killpg(pid, signal.SIGKILL)
    with pytest.raises(treetop.errors.PlayerError, match="killed by SIGKILL"):
        player.choose(OPENING)
    assert gone(pid)
    player.begin(OPENING, 1)
    assert player._engine.process.pid != pid
    assert player.choose(OPENING) in OPENING.legal_actions()
    player.close()
