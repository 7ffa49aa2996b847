"""Engines as players, against scripted ones: each kind of bad behaviour is a PlayerError in time, and no process is left."""

from __future__ import annotations

import shlex
import sys
import time

import pytest

import treetop
from treetop.players.baselines import RandomPlayer
from treetop.players.engine import UciPlayer
from treetop.players.following import CecpPlayer, GtpPlayer
from treetop.players.gtp import point_of, vertex_of
from treetop.players.spec import make_player
from treetop.players.uci import UciOption, parse_option

PYTHON = shlex.quote(sys.executable)
GAME = treetop.load_game("tic_tac_toe")
START = treetop.Position(GAME)

# Plays the first cell that is free, by the moves that it received.
FIRST_FREE = (
    """say("info depth 1"); say("bestmove " + next(c + r for c in "abc" for r in "123" if c + r not in played))"""
)


def uci(command, **options):
    return UciPlayer(GAME, command, check=0, **options)


def deadline_for(text):
    """Short where the deadline is what is tested, long where a busy machine must not be taken for a bad engine."""
    return 0.5 if "gave no" in text else 20.0


def group_of(player):
    return player._engine.process.pid


def test_a_uci_engine_plays_whole_games(scripted_uci, gone, play):
    player = uci(scripted_uci(FIRST_FREE))
    for seed in range(3):
        play(GAME, [player, RandomPlayer()], seed)
        play(GAME, [RandomPlayer(), player], seed)
    group = group_of(player)
    player.close()
    player.close()
    assert gone(group)


@pytest.mark.parametrize(("go", "text"), [
    ("time.sleep(60)", "gave no bestmove within 0.5 s"),
    ("sys.stderr.write('out of memory\\n'); sys.exit(7)", "exit code 7"),
    ("os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL"),
    ("say('bestmove e2e4')", "played an illegal move: 'e2e4' is not a legal move here"),
    ("say('bestmove')", "has no move where there is one"),
    ("say('bestmove (none)')", "has no move where there is one"),
    ("say('bestmove 0000')", "has no move where there is one"),
    ("while True: os.write(1, b'x' * 65536)", "without an end of line"),
    ("while True: say('info string still thinking')", "gave no bestmove"),
    ("os.close(1); time.sleep(60)", "ended"),
])  # fmt: skip
def test_bad_behaviour_is_a_player_error_in_time(scripted_uci, gone, go, text):
    player = uci(scripted_uci(go), deadline=deadline_for(text))
    player.begin(START, 1)
    group = group_of(player)
    began = time.monotonic()
    with pytest.raises(treetop.errors.PlayerError, match="sent: .*go nodes 10000") as message:
        player.choose(START)
    assert time.monotonic() - began < 10.0
    assert text in str(message.value)
    assert gone(group)
    with pytest.raises(treetop.errors.PlayerError, match="not running"):
        player.choose(START)
    player.close()


def test_an_engine_that_ignores_quit_is_ended(script, gone):
    player = uci(
        script("""
        import signal, sys
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            line = sys.stdin.readline().strip()
            if line in ("uci", "isready"):
                print({"uci": "uciok", "isready": "readyok"}[line], flush=True)
    """)
    )
    player.begin(START, 1)
    group = group_of(player)
    began = time.monotonic()
    player.close()
    assert time.monotonic() - began < 10.0
    assert gone(group)


def test_an_engine_that_speaks_no_uci_is_reported_in_time(script):
    player = uci(script("import time; time.sleep(60)"), start_deadline=0.3)
    with pytest.raises(treetop.errors.PlayerError, match="gave no uciok within 0.3 s"):
        player.begin(START, 1)


def test_the_next_game_starts_a_failed_engine_anew(scripted_uci, gone):
    player = uci(scripted_uci(f"say('bestmove nonsense') if not played else {FIRST_FREE.split('; ')[1]}"))
    player.begin(START, 1)
    first = group_of(player)
    with pytest.raises(treetop.errors.PlayerError):
        player.choose(START)
    later = START.play("a1")
    player.begin(later, 2)
    assert later.move_text(player.choose(later)) == "a2"
    assert group_of(player) != first
    player.close()


def test_ctrl_c_leaves_no_half_read_answer(scripted_uci, gone, monkeypatch):
    player = uci(scripted_uci(FIRST_FREE))
    player.begin(START, 1)
    group = group_of(player)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(player._engine, "best_move", interrupted)
    with pytest.raises(KeyboardInterrupt):
        player.choose(START)
    assert gone(group)


def test_an_engine_with_other_rules_is_refused(scripted_uci, gone):
    player = UciPlayer(GAME, scripted_uci("say('Nodes searched: 20')"), check=2)
    with pytest.raises(
        treetop.errors.PlayerError, match="plays by other rules than tic_tac_toe: perft 1.* is 20 for it and 9 for us"
    ):
        player.begin(START, 1)
    assert gone(group_of(player))
    right = UciPlayer(
        GAME, scripted_uci("say('Nodes searched: ' + {'1': '9', '2': '72', '3': '503'}[words[2]])"), check=3
    )
    with pytest.raises(treetop.errors.PlayerError, match="perft 3.* is 503 for it and 504 for us"):
        right.begin(START, 1)


def test_an_engine_without_perft_says_what_to_do(scripted_uci):
    player = UciPlayer(GAME, scripted_uci("say('bestmove a1')"))
    with pytest.raises(treetop.errors.PlayerError, match="give check=0 to play without"):
        player.begin(START, 1)


def test_options_are_set_and_wrong_ones_are_reported(scripted_uci, gone):
    engine = scripted_uci(FIRST_FREE)
    player = uci(engine, variant="two words", options={"skill level": -3, "Ponder": True})
    player.begin(START, 1)
    sent = list(player._engine.process._sent)
    assert "setoption name UCI_Variant value two words" in sent
    assert "setoption name Skill Level value -3" in sent
    assert "setoption name Ponder value true" in sent
    player.close()
    for options, text in [
        ({"Skil Level": 1}, "did you mean Skill Level"),
        ({"Skill Level": 99}, "from -20 to 20"),
        ({"UCI_Variant": "ches"}, "did you mean chess"),
        ({"Ponder": "maybe"}, "true or false"),
    ]:
        wrong = uci(engine, options=options)
        with pytest.raises(treetop.errors.ConfigError, match=text):
            wrong.begin(START, 1)
        assert gone(group_of(wrong))


def test_a_position_that_was_set_up_is_refused(scripted_uci):
    player = uci(scripted_uci(FIRST_FREE))
    elsewhere = START.play("a1 b1")
    set_up = treetop.Position(GAME, elsewhere.record)
    with pytest.raises(treetop.errors.PlayerError, match="not at a set-up"):
        player.begin(set_up, 1)
    player.begin(elsewhere, 1)  # moves from the start are fine
    assert elsewhere.move_text(player.choose(elsewhere)) == "a2"
    player.close()


@pytest.mark.parametrize(("options", "text"), [
    ({"nodes": 0}, "nodes must be"), ({"depth": 1.5}, "depth must be"), ({"seconds": 0}, "seconds must be"), ({"deadline": -1}, "deadline must be"),
    ({"seconds": 99}, "deadline must be more than seconds"), ({"options": [1]}, "dictionary"), ({"check": -1}, "check must be"),
])  # fmt: skip
def test_options_out_of_range_are_refused(options, text):
    with pytest.raises(treetop.errors.ConfigError, match=text):
        UciPlayer(GAME, PYTHON, **options)


def test_limits_are_sent_as_they_were_given(scripted_uci):
    engine = scripted_uci(FIRST_FREE)
    for options, text in [
        ({"nodes": 7}, "go nodes 7"),
        ({"depth": 2, "seconds": 0.25}, "go depth 2 movetime 250"),
        ({}, "go nodes 10000"),
    ]:
        player = uci(engine, **options)
        player.begin(START, 1)
        player.choose(START)
        assert player._engine.process._sent[-1] == text
        player.close()


def test_engines_are_named_by_specs(scripted_uci, play):
    command = scripted_uci(FIRST_FREE)
    player = make_player(f"uci({command!r}, check=0, nodes=5, name='scripted')", GAME)
    assert player.name == "scripted"
    play(GAME, [player, make_player("random", GAME)])
    player.close()
    with pytest.raises(treetop.errors.ConfigError, match="uci needs its command first"):
        make_player("uci(nodes=5)", GAME)
    with pytest.raises(treetop.errors.ConfigError, match="did you mean variant"):
        make_player("uci('python3', variants='x')", GAME)
    with pytest.raises(treetop.errors.PlayerError, match="not installed"):
        make_player("gtp('no-such-engine')", GAME)


def test_option_lines_are_read_with_all_their_blanks():
    line = "option name Analysis Contempt type combo default Both var Both var Off var White Side"
    assert parse_option(line) == UciOption("Analysis Contempt", "combo", None, None, ("Both", "Off", "White Side"))
    assert parse_option("option name Hash type spin default 16 min 1 max 33554432") == UciOption(
        "Hash", "spin", 1, 33554432
    )
    assert parse_option("option name Clear Hash type button") == UciOption("Clear Hash", "button")


# GTP.

GTP = """
    import sys
    played = []
    def reply(number, text, sign="="):
        sys.stdout.write(f"{sign}{number} {text}\\n\\n"); sys.stdout.flush()
    for line in sys.stdin:
        number, command, *words = line.split()
        if command == "list_commands":
            reply(number, "boardsize\\nclear_board\\nplay\\ngenmove\\nset_random_seed\\nquit")
        elif command in ("boardsize", "set_random_seed", "komi"):
            reply(number, "")
        elif command == "clear_board":
            played = []; reply(number, "")
        elif command == "play":
            played.append(words[1].upper()); reply(number, "")
        elif command == "genmove":
            GENMOVE
        elif command == "history":
            reply(number, " ".join(played))
        elif command == "quit":
            reply(number, ""); break
        else:
            reply(number, "unknown command", "?")
"""
LAST_FREE = """move = next(c + r for c in "JHGFEDCBA" for r in "987654321" if c + r not in played); played.append(move); reply(number, move)"""


@pytest.fixture
def scripted_gtp(script):
    return lambda genmove: script(GTP.replace("GENMOVE", genmove))


def test_vertices_have_no_i():
    assert [vertex_of(column, 8) for column in (0, 7, 8, 18)] == ["A9", "H9", "J9", "T9"]
    assert [point_of(vertex) for vertex in ("a1", "J9", "T19")] == [(0, 0), (8, 8), (18, 18)]
    for nonsense in ("I5", "", "5", "A0", "AA1", "PASS"):
        with pytest.raises(treetop.errors.PlayerError, match="not a vertex"):
            point_of(nonsense)


def test_a_gtp_engine_follows_the_game_with_its_own_board(scripted_gtp, play, gone):
    game = treetop.load_game("gomoku(size=9, line=5)")
    player = GtpPlayer(game, scripted_gtp(LAST_FREE))
    for seed in range(2):
        end = play(game, [RandomPlayer(), player], seed)
        message = player._engine.ask("history").split()
        ours = [move.upper().replace("I", "J") for move in end.moves()]
        assert message == ours[: len(message)]
        assert len(message) >= len(ours) - 1
        assert any(vertex.startswith("J") for vertex in message)  # our column i
    group = group_of(player)
    player.close()
    assert gone(group)


def test_a_gtp_board_that_went_another_way_is_built_anew(scripted_gtp):
    game = treetop.load_game("gomoku(size=9, line=5)")
    player = GtpPlayer(game, scripted_gtp(LAST_FREE))
    start = treetop.Position(game)
    player.begin(start, 1)
    player.choose(start.play("a1"))
    player.choose(start.play("b2 c3"))
    assert player._engine.ask("history") == "B2 C3 J9"
    player.close()


@pytest.mark.parametrize(("genmove", "text"), [
    ("reply(number, 'resign')", "resigns"),
    ("reply(number, 'PASS')", "played an illegal move: 'pass'"),
    ("reply(number, 'A1')", "played an illegal move: 'a1'"),
    ("reply(number, 'Z77')", "played an illegal move"),
    ("reply(number, '%&!')", "is not a vertex"),
    ("reply(number, 'cannot', '?')", "refused 'genmove white': cannot"),
    ("reply(99, 'B2')", "answered command 99"),
    ("sys.stdout.write('hello\\n\\n'); sys.stdout.flush()", "begins with = or ?"),
    ("import time; time.sleep(60)", "gave no reply to 'genmove white' within 0.5 s"),
])  # fmt: skip
def test_bad_gtp_is_a_player_error(scripted_gtp, gone, genmove, text):
    game = treetop.load_game("gomoku(size=9, line=5)")
    player = GtpPlayer(game, scripted_gtp(genmove), deadline=deadline_for(text))
    position = treetop.Position(game).play("a1")
    player.begin(position, 1)
    group = group_of(player)
    with pytest.raises(treetop.errors.PlayerError) as message:
        player.choose(position)
    assert text in str(message.value)
    assert gone(group) or text == "resigns"  # to resign is no failure
    player.close()
    assert gone(group)


def test_gtp_commands_of_ones_own_are_sent_at_the_start(scripted_gtp):
    game = treetop.load_game("gomoku(size=9, line=5)")
    player = GtpPlayer(game, scripted_gtp(LAST_FREE), commands=["level 3"])
    with pytest.raises(treetop.errors.PlayerError, match="refused 'level 3': unknown command"):
        player.begin(treetop.Position(game), 1)
    with pytest.raises(treetop.errors.ConfigError, match="list of strings"):
        GtpPlayer(game, PYTHON, commands="level 3")
    with pytest.raises(treetop.errors.ConfigError, match="needs the size"):
        GtpPlayer(treetop.load_game("nim"), PYTHON)


# CECP.

CECP = """
    import sys, time
    played, forced = [], False
    def say(text):
        sys.stdout.write(text + "\\n"); sys.stdout.flush()
    for line in sys.stdin:
        words = line.split()
        if words[0] == "protover":
            FEATURES
        elif words[0] == "new":
            played = []
        elif words[0] == "force":
            forced = True
        elif words[0] == "ping":
            say("pong " + words[1])
        elif words[0] == "usermove":
            played.append(words[1])
        elif words[0] == "go":
            GO
        elif words[0] == "quit":
            break
        elif words[0] == "a1x":
            say("Illegal move: a1x")
        elif len(words[0]) == 2 and words[0] != "st":
            played.append(words[0])
        elif words[0] in ("easy", "nopost"):
            say("Error (unknown command): " + words[0])
"""
FEATURES = "say('feature ping=1 usermove=1 variants=\"normal,tic tac\" done=1')"
CECP_FREE = """
            move = next(c + r for c in "abc" for r in "123" if c + r not in played); played.append(move); say("# thinking"); say("move " + move)"""


@pytest.fixture
def scripted_cecp(script):
    return lambda go, features=FEATURES: script(CECP.replace("GO", go).replace("FEATURES", features))


@pytest.mark.parametrize("features", [
    FEATURES, "say('feature done=0'); time.sleep(2.5); say('feature ping=1'); say('feature done=1')", "pass",
])  # fmt: skip
def test_a_cecp_engine_plays_whole_games(scripted_cecp, play, gone, features):
    """With all features, with features that take their time, and without any."""
    player = CecpPlayer(GAME, scripted_cecp(CECP_FREE, features))
    for seed in range(3):
        play(GAME, [player, RandomPlayer()], seed)
        play(GAME, [RandomPlayer(), player], seed)
    group = group_of(player)
    player.close()
    assert gone(group)


@pytest.mark.parametrize(("go", "text"), [
    ("say('resign')", "resigns"),
    ("say('move zz')", "played an illegal move: 'zz'"),
    ("say('1-0 {White mates}')", "says that the game is over"),
    ("say('Error (no king): go')", "complains: Error (no king): go"),
    ("say('Illegal move: b2')", "complains: Illegal move: b2"),
    ("time.sleep(60)", "gave no move within 0.5 s"),
    ("sys.exit(1)", "exit code 1"),
])  # fmt: skip
def test_bad_cecp_is_a_player_error(scripted_cecp, gone, go, text):
    player = CecpPlayer(GAME, scripted_cecp(go), deadline=deadline_for(text), depth=3)
    position = START.play("a1")
    player.begin(position, 1)
    group = group_of(player)
    with pytest.raises(treetop.errors.PlayerError) as message:
        player.choose(position)
    assert text in str(message.value)
    assert gone(group) or text == "resigns"
    player.close()
    assert gone(group)


def test_an_engine_that_is_never_done_with_its_features_is_reported(scripted_cecp):
    player = CecpPlayer(GAME, scripted_cecp("pass", "say('feature done=0')"), start_deadline=2.5)
    with pytest.raises(treetop.errors.PlayerError, match="not done with its features within 2.5 s"):
        player.begin(START, 1)


def test_a_variant_that_the_engine_does_not_play_is_reported(scripted_cecp):
    player = CecpPlayer(GAME, scripted_cecp("pass"), variant="atomic")
    with pytest.raises(treetop.errors.ConfigError, match="its variants are normal, tic tac"):
        player.begin(START, 1)


def test_the_dialect_can_be_said(scripted_cecp):
    player = CecpPlayer(
        GAME, scripted_cecp(CECP_FREE), variant="tic tac", usermove=False, depth=4, level="40 5 0", commands=["random"]
    )
    player.begin(START, 1)
    player.choose(START.play("b2"))
    sent = list(player._engine.process._sent)
    assert "b2" in sent
    assert "usermove b2" not in sent
    player.close()
    assert player._limits == ["level 40 5 0", "sd 4", "random"]
    with pytest.raises(treetop.errors.ConfigError, match="whole number"):
        CecpPlayer(GAME, PYTHON, seconds=0.5)
