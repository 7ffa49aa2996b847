from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

import treetop
from tests.cli.conftest import started
from treetop.game.records import GameRecord, load_game_record

QUICK = ("--simulations", "300", "--seed", "1")
THREE_LEFT = "3 3 3 3 3 3"


def _record(path: Path) -> GameRecord:
    return load_game_record(path)


def test_a_whole_game_can_be_played(run, tmp_path):
    # Seven stones are left. The person takes three; after the engine's answer one of the next moves takes the last.
    ended = run("play", "nim", "--moves", "3 3 3 3 1 1", *QUICK, lines=["3", "1", "2", "3"])
    assert ended.code == 0
    assert "You are player 0. The engine plays player 1, 300 simulations a move." in ended.out
    assert "The engine's rule is uct(solver=True) (recommended for this game)." in ended.out
    assert "player 1, the engine, plays" in ended.out
    assert "The game is over" in ended.out
    assert not list(tmp_path.iterdir())


def test_a_won_game_says_who_won(run):
    ended = run("play", "nim", "--moves", THREE_LEFT, *QUICK, lines=["3"])
    assert "The game is over: you win, as player 0 (+1 for player 0, -1 for player 1)" in ended.out


def test_a_lost_game_says_so(run):
    ended = run("play", "nim", "--moves", THREE_LEFT, "--second", *QUICK)
    assert "The game is over: the engine wins, as player 0 (+1 for player 0, -1 for player 1)" in ended.out
    assert "the last move was 3" in ended.out


def test_a_draw_is_called_a_draw(run):
    moves = "a1 b1 c1 b2 a2 c2 b3 a3"
    ended = run("play", "tic_tac_toe", "--moves", moves, "--player", "both", lines=["c3"])
    assert "The game is over: a draw" in ended.out


def test_the_same_seed_and_moves_get_the_same_answers(run):
    games = [run("play", "tic_tac_toe", *QUICK, lines=["b2", "board"]).out for _ in range(2)]
    assert games[0].replace("tic_tac_toe-2", "tic_tac_toe") == games[1].replace("tic_tac_toe-2", "tic_tac_toe")


def test_the_engine_may_begin_or_play_alone(run):
    assert "player 0, the engine, plays" in run("play", "nim", "--second", *QUICK, lines=["quit"]).out
    alone = run("play", "nim", "--player", "none", *QUICK)
    assert alone.code == 0
    assert "The game is over" in alone.out


def test_undo_takes_back_both_moves(run, tmp_path):
    ended = run("play", "nim", *QUICK, lines=["2", "undo", "1", "undo", "3", "quit"])
    assert ended.out.count("took back") == 2
    actions = _record(tmp_path / "nim.game.json").actions
    assert actions[0] == 2
    assert len(actions) == 2


def test_undo_with_nothing_to_take_back_says_so(run):
    assert "there is no move of yours to take back" in run("play", "nim", *QUICK, lines=["undo"]).out


def test_a_hint_names_a_move_and_its_value_and_plays_nothing(run, tmp_path):
    ended = run("play", "nim", "--moves", "3 3 3 2 2 2", "--simulations", "3000", lines=["hint", "quit"])
    assert "the engine would play 2" in ended.out
    assert "for player 0" in ended.out
    assert not list(tmp_path.iterdir())


def test_an_illegal_move_loses_nothing(run, tmp_path):
    ended = run("play", "nim", *QUICK, lines=["1", "9", "nonsense", "quit"])
    assert ended.code == 0
    assert "'9' is not a legal move here; the legal moves are 1, 2, 3" in ended.out
    assert len(_record(tmp_path / "nim.game.json").actions) == 2


def test_moves_board_and_help_answer_at_the_prompt(run):
    out = run("play", "tic_tac_toe", *QUICK, lines=["moves", "board", "help"]).out
    assert "a1 b1 c1 a2 b2 c2 a3 b3 c3" in out
    assert out.count("3 . . .") == 2
    assert "take back your last move" in out


def test_quitting_a_game_loses_nothing(run, tmp_path):
    ended = run("play", "nim", *QUICK, lines=["1", "2", "quit"])
    assert ended.code == 0
    assert "continue with:  treetop play --resume nim.game.json" in ended.out
    record = _record(tmp_path / "nim.game.json")
    assert (record.actions[0], record.actions[2], len(record.actions)) == (0, 1, 4)
    assert (record.person, record.simulations, record.seed) == ((0,), 300, 1)


def test_the_end_of_the_input_is_quitting(run, tmp_path):
    run("play", "nim", *QUICK, lines=["1"])
    assert len(_record(tmp_path / "nim.game.json").actions) == 2


def test_a_game_that_just_began_leaves_no_file(run, tmp_path):
    assert "nothing is saved" in run("play", "nim", *QUICK, lines=["quit"]).out
    assert not list(tmp_path.iterdir())


def test_other_moves_in_place_of_an_opening_are_kept(run, tmp_path):
    run("play", "nim", "--moves", "1 1", "--player", "both", *QUICK, lines=["undo", "undo", "2", "2", "quit"])
    assert _record(tmp_path / "nim.game.json").actions == (1, 1)


def test_a_new_game_never_overwrites_another_one(run, tmp_path):
    run("play", "nim", *QUICK, lines=["1"])
    before = (tmp_path / "nim.game.json").read_text()
    run("play", "nim", *QUICK, lines=["2"])
    assert (tmp_path / "nim.game.json").read_text() == before
    assert _record(tmp_path / "nim-2.game.json").actions[0] == 1


def test_a_resumed_game_is_the_game_that_was_left(run, tmp_path):
    run("play", "tic_tac_toe", "--rule", "puct", "--c", "1.5", *QUICK, lines=["b2", "quit"])
    left = _record(tmp_path / "tic_tac_toe.game.json")
    ended = run("play", "--resume", "tic_tac_toe.game.json", lines=["quit"])
    assert "300 simulations a move" in ended.out
    assert f"So far: {' '.join(left.position().moves())}" in ended.out
    assert str(left.position()) in ended.out
    assert _record(tmp_path / "tic_tac_toe.game.json") == left


def test_a_resumed_game_goes_on_in_the_same_file(run, tmp_path):
    run("play", "nim", *QUICK, lines=["1"])
    first = _record(tmp_path / "nim.game.json").actions
    run("play", "nim", "--resume", "nim.game.json", "--simulations", "50", lines=["1"])
    record = _record(tmp_path / "nim.game.json")
    assert record.actions[: len(first)] == first
    assert len(record.actions) == 4
    assert (record.simulations, record.seconds) == (50, None)


def test_a_resumed_game_in_which_the_engine_is_to_move_lets_it_move(run, tmp_path):
    run("play", "nim", "--player", "both", *QUICK, "--save", "own.json", lines=["3", "quit"])
    assert len(_record(tmp_path / "own.json").actions) == 1
    ended = run("play", "--resume", "own.json", "--player", "0", lines=["quit"])
    assert "player 1, the engine, plays" in ended.out
    assert len(_record(tmp_path / "own.json").actions) == 2


def test_a_finished_game_offers_nothing_more(run):
    run("play", "nim", "--moves", THREE_LEFT, *QUICK, "--save", "over.json", lines=["3", "undo"])
    ended = run("play", "--resume", "over.json", lines=["undo"])
    assert ended.code == 0
    assert "The game is over" in ended.out
    assert "your move" not in ended.out


def test_save_writes_a_file_and_the_game_goes_on(run, tmp_path):
    ended = run("play", "nim", *QUICK, lines=["1", "save mine.json", "save nowhere/mine.json", "2", "quit"])
    assert "saved in mine.json" in ended.out
    assert "not saved: " in ended.out
    assert len(_record(tmp_path / "mine.json").actions) == 2
    assert len(_record(tmp_path / "nim.game.json").actions) == 4


def test_a_game_that_cannot_be_written_is_reported_in_moves(run, monkeypatch):
    from treetop.cli import play
    from treetop.errors import SaveError

    def full(*_: object) -> None:
        raise SaveError("the disk is full")

    monkeypatch.setattr(play, "save_game", full)
    ended = run("play", "nim(most=3)", *QUICK, lines=["1", "quit"])
    assert ended.code == 2
    assert "treetop play 'nim(most=3)' --moves '1 " in ended.out
    assert "the disk is full" in ended.err


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_the_engine_thinks_loses_nothing(tmp_path, kind):
    with started("play", "nim", "--rule", "uct", "--seconds", "600", folder=tmp_path) as process:
        process.type("2")
        process.see("player 1 thinks")
        process.process.send_signal(kind)
        code, out = process.end()
    assert code == 0
    assert "treetop play --resume nim.game.json" in out
    assert _record(tmp_path / "nim.game.json").actions == (1,)


def test_rules_that_fail_in_the_middle_of_a_game_do_not_cost_the_game(run, tmp_path, monkeypatch):
    from treetop.errors import GameError
    from treetop.search.search import Search

    def fail(*_: object, **__: object) -> None:
        raise GameError("a method of nim failed")

    monkeypatch.setattr(Search, "run", fail)
    ended = run("play", "nim", *QUICK, lines=["3"])
    assert ended.code == 2
    assert "a method of nim failed" in ended.err
    assert _record(tmp_path / "nim.game.json").actions == (2,)


def test_the_tree_is_kept_from_move_to_move(run, monkeypatch):
    from treetop.search.search import Search

    made = []
    first = Search.__init__
    monkeypatch.setattr(
        Search, "__init__", lambda self, *args, **options: (made.append(1), first(self, *args, **options))[1]
    )
    run("play", "nim", *QUICK, lines=["1", "hint", "1", "1"])
    assert len(made) == 1
    run("play", "nim", *QUICK, lines=["1", "undo", "2"])
    assert len(made) == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rules": "0" * 64}, "the rules of nim in the file differ"),
        ({"rules": "0" * 64, "python": "3.5.0"}, "saved under Python 3.5.0"),
        ({"actions": [0, 7]}, "move 2 of 2: 7 is not a legal action"),
        ({"actions": "0 1"}, "actions is '0 1'"),
        ({"actions": [True]}, "actions is [True]"),
        ({"person": [5]}, "but `person` is [5]"),
        ({"kind": "a search"}, "holds a search, not a game"),
        ({"version": 2}, "version 2"),
        ({"simulations": -3}, "simulations must be"),
        ({"c": -1}, "c must be"),
        ({"rule": "luck"}, "there is no rule 'luck'"),
        ({"seconds": None, "simulations": None}, "a limit needs"),
        ({"colour": "red"}, "colour is unknown"),
        ({"game": "draughts"}, "there is no game called"),
    ],
)
def test_a_changed_file_is_refused_with_the_reason(run, tmp_path, change, words):
    run("play", "nim", *QUICK, lines=["1"])
    path = tmp_path / "nim.game.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    before = path.read_text()
    ended = run("play", "--resume", "nim.game.json", lines=["1"])
    assert ended.code == 2
    assert words in ended.err
    assert "nim.game.json" in ended.err
    assert path.read_text() == before


@pytest.mark.parametrize("content", ["", "{", "[1, 2]", '{"kind": "a game", "version": 1}', "[" * 100_000, "\x00\x01"])
def test_a_damaged_or_foreign_file_is_refused(run, tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    ended = run("play", "--resume", "x.json")
    assert ended.code == 2
    assert ended.err.startswith("error: x.json")


def test_a_cut_file_is_refused_wherever_it_was_cut(run, tmp_path):
    run("play", "nim", *QUICK, lines=["1"])
    whole = (tmp_path / "nim.game.json").read_bytes().strip()
    for size in range(0, len(whole), 25):
        (tmp_path / "cut.json").write_bytes(whole[:size])
        with pytest.raises(treetop.errors.SaveError, match=r"cut\.json"):
            load_game_record(tmp_path / "cut.json")


def test_a_file_of_another_game_is_refused(run):
    run("play", "nim", *QUICK, lines=["1"])
    ended = run("play", "nim(stones=20)", "--resume", "nim.game.json")
    assert ended.code == 2
    assert "differ from those of nim(stones=20)" in ended.err
    assert run("play", "nim", "--moves", "1", "--resume", "nim.game.json").code == 2
    assert run("play", "--resume", "missing.json").code == 2
