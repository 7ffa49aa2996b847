"""Engines that begin at positions that were set up: FEN and SFEN by UCI and USI, `setboard` by CECP, stones by GTP."""

from __future__ import annotations

import pytest

import treetop
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError, PlayerError
from treetop.game.position import Position
from treetop.players.engine import UciPlayer
from treetop.players.following import CecpPlayer, GtpPlayer
from treetop.players.spec import make_player
from treetop.players.stones import stones_of

SET_UPS = {
    "chess": "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 20",
    "xiangqi": "4k4/9/9/9/9/9/9/9/4R4/3K5 b - - 7 1",
    "shogi": "4k4/9/9/9/9/9/9/9/4K4 b 2Pr 31",
    "minishogi": "3k1/5/5/5/K3R w Pb 8",
}
CHESS = treetop.load_game("chess")


@pytest.mark.parametrize(("game", "text"), SET_UPS.items())
def test_a_position_is_written_as_it_is_read(game, text):
    assert treetop.position(game, setup=text).setup_text() == text


def test_a_game_without_such_a_text_says_so():
    with pytest.raises(
        ConfigError, match="tic_tac_toe cannot write a position as text: its class has no method `setup_text`"
    ):
        treetop.position("tic_tac_toe").setup_text()


def test_uci_is_sent_the_set_up_and_the_moves_after_it(scripted_uci):
    start = treetop.position(CHESS, setup=SET_UPS["chess"])
    player = UciPlayer(CHESS, scripted_uci("say('bestmove e1g1')"), check=0)
    player.begin(start, 1)
    position = start.play("a1a2 a8a7")
    assert position.move_text(player.choose(position)) == "e1g1"
    assert f"position fen {SET_UPS['chess']} moves a1a2 a8a7" in player._engine.process._sent
    player.begin(treetop.position(CHESS), 2)
    player.choose(treetop.position(CHESS, moves="e4 e5 Nf3 Nf6 Bc4 Bc5"))
    assert "position startpos moves e2e4 e7e5 g1f3 g8f6 f1c4 f8c5" in player._engine.process._sent
    player.close()


def test_usi_is_sent_an_sfen(script):
    engine = """
    import sys
    for line in sys.stdin:
        word = line.split()[0]
        if word == "go":
            print("bestmove resign" if "moves" in last else "bestmove 1e1d", flush=True)
        elif word in ("usi", "isready"):
            print({"usi": "option name USI_Variant type combo default shogi var minishogi\\nusiok"}.get(word, "readyok"), flush=True)
        last = line
    """
    game = treetop.load_game("minishogi")
    start = treetop.position(game, setup="3k1/5/5/5/K3R b Pb 8")
    player = make_player(f"usi({script(engine)!r}, variant='minishogi', check=0)", game)
    player.begin(start, 1)
    assert start.move_text(player.choose(start)) == "1e1d"
    sent = list(player._engine.process._sent)
    assert "position sfen 3k1/5/5/5/K3R b Pb 8" in sent
    assert "setoption name USI_Variant value minishogi" in sent
    assert "usinewgame" in sent
    with pytest.raises(PlayerError, match="resigns"):
        player.choose(start.play("1e1d 2a3a"))
    player.close()


CECP = """
    import sys
    def say(text):
        sys.stdout.write(text + "\\n"); sys.stdout.flush()
    for line in sys.stdin:
        words = line.split()
        if words[0] == "protover":
            say("feature ping=1 usermove=1 setboard=SETBOARD done=1")
        elif words[0] == "ping":
            say("pong " + words[1])
        elif words[0] == "go":
            say("move e1g1")
"""


def test_cecp_is_sent_the_set_up_by_setboard(script):
    start = treetop.position(CHESS, setup=SET_UPS["chess"])
    player = CecpPlayer(CHESS, script(CECP.replace("SETBOARD", "1")), depth=2)
    player.begin(start, 1)
    position = start.play("a1a2 a8a7")
    assert position.move_text(player.choose(position)) == "e1g1"
    sent = list(player._engine.process._sent)
    assert f"setboard {SET_UPS['chess']}" in sent
    assert sent.index("usermove a1a2") < sent.index("usermove a8a7") < sent.index("go")
    player.close()


def test_cecp_without_setboard_is_a_player_error_that_says_so(script):
    player = CecpPlayer(CHESS, script(CECP.replace("SETBOARD", "0")), depth=2)
    with pytest.raises(PlayerError, match="does not announce the feature setboard"):
        player.begin(treetop.position(CHESS, setup=SET_UPS["chess"]), 1)
    player.begin(treetop.position(CHESS), 1)
    player.close()
    with pytest.raises(ConfigError, match="castling has other names"):
        CecpPlayer(treetop.load_game("chess(variant='960')"), "python3")


GTP = """
    import sys
    played = []
    for line in sys.stdin:
        number, command, *words = line.split()
        reply = {"list_commands": "play", "genmove": "F9", "history": " ".join(played)}.get(command, "")
        if command == "play":
            played.append(words[0][0] + words[1])
        if command == "clear_board":
            played = []
        sys.stdout.write(f"={number} {reply}\\n\\n"); sys.stdout.flush()
"""


def test_gtp_is_sent_the_stones_of_a_set_up(script):
    game = treetop.load_game("go(size=9)")
    rows = ". . . . . . . . . / . . X X X . . . . /" + " . . . . . . . . . /" * 6 + " . . . . . . . . O / O to move"
    start = treetop.position(game, setup=rows)
    player = GtpPlayer(game, script(GTP))
    player.begin(start, 1)
    position = start.play("A1 B1")
    assert position.move_text(player.choose(position)) == "F9"
    assert player._engine.ask("history") == "bC8 bD8 bE8 wJ1 wA1 bB1"
    player.close()


def test_stones_that_would_turn_others_are_not_placed():
    assert stones_of(treetop.position("othello", moves="d3")) is None
    assert stones_of(treetop.position("gomoku(size=9, line=5)", moves="a1 b2 c3")) == [(0, "c3"), (0, "a1"), (1, "b2")]
    player = GtpPlayer(treetop.load_game("othello"), "python3", size=8)
    with pytest.raises(PlayerError, match="not at a set-up: its board cannot be reached by placing stones"):
        player._check_start(Position(player.game, treetop.position("othello", moves="d3").record))


# Real engines.


@pytest.mark.parametrize(
    ("spec", "game", "package"),
    [
        ("uci('fairy-stockfish', nodes=50)", "chess", "fairy-stockfish"),
        ("uci('fairy-stockfish', variant='xiangqi', nodes=50, check=2)", "xiangqi", "fairy-stockfish"),
        ("usi('fairy-stockfish', variant='shogi', nodes=50, check=2)", "shogi", "fairy-stockfish"),
        ("usi('fairy-stockfish', variant='minishogi', nodes=50)", "minishogi", "fairy-stockfish"),
        ("cecp('phalanx -b- -l-', seconds=1)", "chess", "phalanx"),
        ("cecp('hoichess', depth=1)", "chess", "hoichess"),
    ],
)
def test_real_engines_play_on_from_set_ups(needs, spec, game, package):
    needs(package, package)
    found = treetop.load_game(game)
    player = make_player(spec, found)
    start = treetop.position(found, setup=SET_UPS[game])
    for first in (start, start.apply(start.legal_actions()[0])):
        player.begin(first, 1)
        assert player.choose(first) in first.legal_actions()
    player.close()


CHESS_960 = "uci('stockfish', nodes=50, options={'UCI_Chess960': True, 'Hash': 1})"


def test_stockfish_plays_chess960_from_dealt_starts_by_our_rules(needs, play, monkeypatch):
    needs("stockfish", "stockfish")
    game = treetop.load_game("chess(variant='960')")
    player = make_player(CHESS_960, game)
    player.prepare(game)  # compares the rules
    engine = player._engine
    rng = Rng(5)
    castled = 0
    for seed in range(6):
        position = Position.start(game, Rng(seed))
        for _ in range(40):
            if position.is_terminal:
                break
            names = {position.move_text(action) for action in position.legal_actions()}
            assert engine.legal_moves(position.moves(), player._fen(position)) == names, position
            assert engine.legal_moves([], position.setup_text()) == names
            own = [name for name in names if _is_castling(position, name)]
            castled += bool(own)
            position = position.play(own[0]) if own else position.apply(position.sample_action(rng))
    assert castled > 3
    player.close()


def _is_castling(position, name):
    start, end = (8 * (8 - int(square[1])) + "abcdefgh".index(square[0]) for square in (name[:2], name[2:4]))
    cells = [cell for row in position.board() for cell in row]
    return (cells[start], cells[end]) in (("♔", "♖"), ("♚", "♜"))


def test_stockfish_without_the_option_of_chess960_is_refused(needs):
    needs("stockfish", "stockfish")
    game = treetop.load_game("chess(variant='960')")
    player = make_player("uci('stockfish', nodes=50)", game)
    with pytest.raises(PlayerError, match="does it need an option, as Chess960 needs"):
        player.prepare(game)


def test_a_match_of_chess960_against_stockfish_begins_at_dealt_starts(needs):
    needs("stockfish", "stockfish")
    result = treetop.match(CHESS_960, "random", "chess(variant='960')", games=2, seed=3, workers=1)
    assert (result.wins, result.forfeits) == (2, {"A": 0, "B": 0})


def test_gnu_go_plays_on_from_a_set_up(needs):
    needs("gnugo", "gnugo")
    game = treetop.load_game("go(size=5)")
    player = make_player("gtp('gnugo --mode gtp --level 0')", game)
    start = treetop.position(game, setup=". . X . . / . . O . . / . . X . . / . . . O . / . . . . . / X to move")
    player.begin(start, 1)
    assert player.choose(start) in start.legal_actions()
    assert set(player._engine.ask("list_stones white").split()) == {"C4", "D2"}
    player.close()
