"""Real programs: Fairy-Stockfish by UCI, GNU Go by GTP, Fairy-Max by CECP. Each is skipped where it is not installed."""

from __future__ import annotations

import pytest

import treetop
from treetop.players.cecp import CecpEngine
from treetop.players.engine import UciPlayer
from treetop.players.gtp import GtpEngine, point_of
from treetop.players.spec import make_player
from treetop.players.uci import UciEngine

BREAKTHROUGH = "uci('fairy-stockfish', variant='breakthrough', nodes=500)"


def test_fairy_stockfish_plays_breakthrough_by_our_rules(needs, gone):
    needs("fairy-stockfish", "fairy-stockfish")
    engine = UciEngine(["fairy-stockfish"], start_deadline=10.0, deadline=10.0)
    engine.set_option("UCI_Variant", "breakthrough")
    engine.new_game()
    assert [engine.perft([], depth) for depth in (1, 2, 3, 4)] == [22, 484, 11132, 256036]
    game = treetop.load_game("breakthrough")
    assert [treetop.perft(game, depth) for depth in (1, 2, 3, 4)] == [22, 484, 11132, 256036]
    position = treetop.position(
        game, moves="d2d3 e7e6 d3d4 e6e5 d4e5 a7a6 e5e6"
    )  # captures, and an attack on the home rows
    assert engine.perft(position.moves(), 3) == treetop.perft(position, 3)
    engine.close()
    assert gone(engine.process.pid)


def test_fairy_stockfish_plays_chess_by_our_rules(needs, gone, play):
    needs("fairy-stockfish", "fairy-stockfish")
    game = treetop.load_game("chess")
    player = make_player("uci('fairy-stockfish', nodes=200)", game)
    other = make_player("random", game)
    assert play(game, [player, other]).rewards == [1.0, -1.0]
    assert play(game, [other, player]).rewards == [-1.0, 1.0]
    process = player._engine.process
    # Castling on both sides, a capture en passant, and promotions.
    position = treetop.position(game, moves="e4 a6 e5 d5 exd6 Nf6 dxc7 Bg4 cxb8=N Rxb8 Nf3 e6 Be2 Be7")
    for moves in ("", "O-O", "O-O O-O", "b4 O-O b5"):
        reached = position.play(moves)
        assert player._engine.perft(reached.moves(), 3) == treetop.perft(reached, 3)
    player.close()
    assert gone(process.pid)


@pytest.mark.parametrize("other", ["random", "uct(simulations=100)"])
def test_fairy_stockfish_plays_whole_games_on_both_sides(needs, gone, play, other):
    needs("fairy-stockfish", "fairy-stockfish")
    game = treetop.load_game("breakthrough")
    engine, opponent = make_player(BREAKTHROUGH, game), make_player(other, game)
    first = play(game, [engine, opponent])
    second = play(game, [opponent, engine])
    if other == "random":
        assert first.rewards[0] == 1.0
        assert second.rewards[1] == 1.0
    group = engine._engine.process.pid
    engine.close()
    assert gone(group)


@pytest.mark.parametrize(("spec", "game", "error", "text"), [
    ("uci('fairy-stockfish')", "breakthrough", treetop.errors.PlayerError, "perft 1, .* is 20 for it and 22 for us"),
    ("uci('fairy-stockfish', variant='flipello')", "othello", treetop.errors.ConfigError, "'flipello' is not one of its values"),
])  # fmt: skip
def test_a_wrong_variant_is_found_before_the_first_game(needs, gone, spec, game, error, text):
    needs("fairy-stockfish", "fairy-stockfish")
    player = make_player(spec, treetop.load_game(game))
    assert isinstance(player, UciPlayer)
    with pytest.raises(error, match=text):
        player.begin(treetop.position(game), 1)
    assert gone(player._engine.process.pid)


def test_gnu_go_speaks_gtp(needs, gone):
    needs("gnugo", "gnugo")
    engine = GtpEngine(["gnugo", "--mode", "gtp", "--level", "1"], start_deadline=10.0, deadline=30.0)
    assert {"boardsize", "play", "genmove", "set_random_seed"} <= engine.commands
    engine.new_game(9, komi=7.5)
    engine.ask("set_random_seed 7")
    seen = set()
    for colour, vertex in (("black", "E5"), ("black", "C3"), ("black", "J9")):
        engine.play(colour, vertex)
        reply = engine.generate("white")
        column, row = point_of(reply)
        assert column < 9
        assert row < 9
        seen |= {vertex, reply}
    assert len(seen) == 6
    assert set(engine.ask("list_stones black").split()) == {"E5", "C3", "J9"}
    engine.play("black", "pass")
    with pytest.raises(treetop.errors.PlayerError, match="refused 'play black E5': illegal move"):
        engine.play("black", "E5")
    assert gone(engine.process.pid)


def test_gnu_go_plays_the_same_for_a_seed_and_ends_on_request(needs, gone):
    needs("gnugo", "gnugo")
    games = []
    for _ in range(2):
        engine = GtpEngine(["gnugo", "--mode", "gtp", "--level", "0"], start_deadline=10.0, deadline=30.0)
        engine.new_game(7)
        engine.ask("set_random_seed 3")
        games.append([engine.generate(colour) for colour in ("black", "white") * 3])
        engine.close()
        assert gone(engine.process.pid)
    assert games[0] == games[1]


def test_gnu_go_plays_whole_games_of_go_on_both_sides(needs, gone, play):
    needs("gnugo", "gnugo")
    game = treetop.load_game("go(size=5)")
    rules = "--chinese-rules --positional-superko --capture-all-dead --never-resign"
    engine = make_player(f"gtp('gnugo --mode gtp --level 0 {rules}', komi=7.5)", game)
    for players in ([engine, make_player("random", game)], [make_player("random", game), engine]):
        assert play(game, players).rewards[players.index(engine)] == 1.0
    group = engine._engine.process.pid
    engine.close()
    assert gone(group)


def test_fairy_max_speaks_cecp(needs, gone):
    needs("fairymax", "fairymax")
    engine = CecpEngine(["fairymax"], start_deadline=10.0, deadline=20.0)
    assert engine.features["ping"] == "1"
    assert "normal" in engine.features["variants"]
    for _ in range(2):
        engine.new_game("normal", ["sd 2"])
        engine.play("e2e4")
        assert engine.generate()[1] in "78"  # a black piece leaves its home rows
        engine.play("d2d4")
        assert engine.generate()[1] in "5678"
    with pytest.raises(treetop.errors.PlayerError, match="complains: Illegal move"):
        engine.play("a1a8")
    assert gone(engine.process.pid)


def test_fairy_max_plays_other_variants_and_ends_on_request(needs, gone):
    needs("fairymax", "fairymax")
    engine = CecpEngine(["fairymax"], start_deadline=10.0, deadline=20.0)
    engine.new_game("shatranj", ["st 1", "sd 2"])
    assert len(engine.generate()) == 4
    with pytest.raises(treetop.errors.ConfigError, match="does not play 'breakthrough'"):
        engine.new_game("breakthrough")
    engine.close()
    assert gone(engine.process.pid)
