"""UCI and its dialects: what is answered to commands, right and wrong ones."""

from __future__ import annotations

import random
import threading
import time

import pytest

import treetop as tt
from treetop.errors import ConfigError
from treetop.serve.engines import Engine
from treetop.serve.protocols.dialects import DIALECTS
from treetop.serve.protocols.uci import UciServer, read_settings

GAME = "breakthrough(size=5)"


class Program:
    """The other side: it sends commands, and waits for lines."""

    def __init__(self, game=GAME, **settings):
        self.said, self._new = [], threading.Condition()
        self.server = UciServer(self._hear, tt.load_game(game), engine=Engine("uct", None, 1), **settings)

    def _hear(self, line):
        with self._new:
            self.said.append(line)
            self._new.notify_all()

    def tell(self, *lines):
        self.said.clear()
        for line in lines:
            assert self.server.receive(line)
        return self.said

    def until(self, word, seconds=30.0):
        with self._new:
            assert self._new.wait_for(lambda: any(line.startswith(word) for line in self.said), seconds), self.said
        return next(line for line in self.said if line.startswith(word))

    def __enter__(self):
        self.tell("isready")
        return self

    def __exit__(self, *_):
        self.server.__exit__()


@pytest.fixture
def program():
    with Program() as made:
        yield made


def test_the_greeting_names_the_options_and_ends_with_uciok(program):
    said = program.tell("uci")
    assert said[0].startswith("id name Treetop ")
    assert said[-1] == "uciok"
    names = [line.split(" type ")[0].removeprefix("option name ") for line in said if line.startswith("option")]
    assert {"UCI_Variant", "Threads", "Hash", "MultiPV", "Ponder", "Rule", "Seed", "Move Overhead"} <= set(names)


def test_a_search_of_nodes_ends_with_a_legal_move(program):
    program.tell("position startpos moves b2b3", "go nodes 300")
    move = program.until("bestmove").split()[1]
    assert move in tt.position(GAME, moves="b2b3").legal_moves()
    info = [line for line in program.said if line.startswith("info")][-1].split()
    assert int(info[info.index("nodes") + 1]) >= 300
    assert info[info.index("pv") + 1] == move


def test_several_variations_are_numbered(program):
    program.tell("setoption name MultiPV value 3", "position startpos", "go nodes 300")
    program.until("bestmove")
    assert [line.split()[4] for line in program.said[-4:-1]] == ["1", "2", "3"]


def test_an_infinite_search_ends_by_stop_only(program):
    program.tell("position startpos", "go infinite")
    time.sleep(0.3)
    assert not any(line.startswith("bestmove") for line in program.said)
    program.server.receive("stop")
    assert [line for line in program.said if line.startswith("bestmove")] == [program.until("bestmove")]


def test_a_solved_position_is_held_until_stop():
    with Program("nim(stones=3)") as program:
        program.tell("setoption name Rule value uct(solver=True)", "position startpos", "go infinite")
        program.until("info")
        time.sleep(0.3)
        assert not any(line.startswith("bestmove") for line in program.said)
        program.server.receive("stop")
        assert program.until("bestmove") == "bestmove 3"
        assert any("score mate 1" in line for line in program.said)


def test_pondering_becomes_a_search_with_the_clock(program):
    program.tell("position startpos moves b2b3", "go ponder wtime 1000 btime 1000 winc 0 binc 0")
    time.sleep(0.2)
    assert not any(line.startswith("bestmove") for line in program.said)
    program.server.receive("ponderhit")
    program.until("bestmove", 5.0)


def test_moves_are_searched_among_those_that_are_named(program):
    program.tell("position startpos", "go nodes 200 searchmoves a2a3 b2b3")
    assert program.until("bestmove").split()[1] in ("a2a3", "b2b3")


def test_perft_counts_by_moves(program):
    said = program.tell("position startpos", "go perft 2")
    assert said[-1] == f"Nodes searched: {tt.perft(tt.position(GAME), 2)}"
    assert len(said) == 1 + len(tt.position(GAME).legal_moves())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("foo", "unknown command 'foo'"),
        ("position", "position needs startpos or fen"),
        ("position startpos moves e9e9", "not a legal move"),
        ("position fen nonsense", "error"),
        ("go nodes", "go nodes needs a whole number"),
        ("go wtime many", "go wtime needs a whole number"),
        ("go sideways", "go does not know 'sideways'"),
        ("go perft 99", "go perft needs a depth"),
        ("go nodes 10 searchmoves z1z2", "not a legal move"),
        ("setoption", "setoption needs a name"),
        ("setoption name MultiPv value 0", "it must be a whole number from 1 to 500"),
        ("setoption name Multi value 1", "there is no option 'Multi'"),
        ("setoption name Rule value nothing", "there is no rule 'nothing'"),
        ("setoption name UCI_Variant value os:system", "not a bundled game"),
        ("setoption name UCI_Variant value pig", "UCI is for games of two players"),
    ],
)
def test_a_wrong_command_gets_one_line_that_says_what_is_wrong(program, line, message):
    said = program.tell(line)
    assert len(said) == 1
    assert said[0].startswith("info string error: ")
    assert message in said[0]


def test_a_finished_game_has_no_move():
    with Program("tic_tac_toe") as program:
        assert program.tell("position startpos moves a1 b1 a2 b2 a3", "go nodes 10") == ["bestmove (none)"]


def test_another_variant_is_another_game(program):
    program.tell("setoption name UCI_Variant value othello", "position startpos moves d3", "go nodes 50")
    assert program.until("bestmove").split()[1] in tt.position("othello", moves="d3").legal_moves()


def test_a_finished_game_has_no_move_before_stop_in_an_infinite_search():
    with Program("tic_tac_toe") as program:
        assert program.tell("position startpos moves a1 b1 a2 b2 a3", "go infinite") == []
        assert program.tell("stop") == ["bestmove (none)"]
        assert program.tell("stop") == []


def test_ponderhit_without_ponder_is_ignored(program):
    program.tell("ponderhit", "position startpos", "go infinite", "ponderhit")
    time.sleep(0.3)
    assert not any(line.startswith("bestmove") for line in program.said)
    program.server.receive("stop")
    program.until("bestmove")
    assert program.tell("ponderhit") == []


def test_pondering_with_nodes_goes_on_after_ponderhit_until_they_are_reached(program):
    program.tell("position startpos", "go ponder nodes 300000", "ponderhit")
    program.until("bestmove")
    info = [line for line in program.said if line.startswith("info")][-1].split()
    assert int(info[info.index("nodes") + 1]) >= 300_000


def test_a_refused_go_leaves_nothing_to_wait_for(program):
    program.tell("position startpos", "go nodes 10 searchmoves z1z2")
    program.server.wait()  # it would not return


def test_waiting_for_the_end_stops_a_search_without_an_end(program):
    for command in ("go", "go infinite", "go ponder movetime 10"):
        program.tell("position startpos", command)
        program.server.wait()
        program.until("bestmove")


def test_a_word_without_a_meaning_is_ignored_and_named(program):
    program.tell("position startpos", "go nodes 50 sideways")
    assert program.until("info string") == "info string go ignores 'sideways'"
    program.until("bestmove")


def test_the_memory_of_the_tree_is_bounded_and_its_use_reported(program):
    program.tell("setoption name Hash value 1", "position startpos", "go nodes 60000")
    program.until("bestmove")
    assert program.server._thinker.search(program.server._position).tree.nbytes <= 2**20
    info = [line for line in program.said if line.startswith("info")][-1].split()
    assert 0 < int(info[info.index("hashfull") + 1]) <= 1000


def test_a_number_of_thousands_of_digits_is_refused(program):
    for value in ("9" * 5000, "-1", "1_0", "٣"):
        (said,) = program.tell(f"setoption name MultiPV value {value}")
        assert "it must be a whole number from 1 to 500" in said


def test_perft_that_would_take_hours_is_refused(program):
    assert "would take too long" in program.tell("position startpos", "go perft 12")[-1]


def test_options_may_be_set_in_a_search_which_they_end(program):
    program.tell("position startpos", "go infinite", "setoption name MultiPV value 2")
    assert [line.split()[0] for line in program.said if not line.startswith("info")] == ["bestmove"]
    assert program.tell("setoption name Ponder value 1", "setoption name Ponder value True") == []


def test_usi_has_its_own_words():
    with Program(dialect="usi") as program:
        said = program.tell("usi")
        assert said[-1] == "usiok"
        names = {line.split()[2] for line in said if line.startswith("option name")}
        assert {"USI_Hash", "USI_Ponder"} <= names
        assert not any("Chess960" in name or "Variant" in name for name in names)
        assert program.tell("setoption name USI_Hash value 16", "setoption name USI_Ponder value true") == []
        assert program.tell("usinewgame", "position startpos", "go byoyomi 200 btime 0 wtime 0") == []
        program.until("bestmove", 10.0)
        assert program.tell("go mate 1000", "go mate infinite") == ["checkmate notimplemented"] * 2


def test_ucci_has_its_own_words():
    with Program(dialect="ucci") as program:
        said = program.tell("ucci")
        assert said[-1] == "ucciok"
        assert "option usemillisec type check default false" in said
        assert all(len(line.split(" type ")[0].split()) == 2 for line in said if line.startswith("option"))
        program.tell("setoption MultiPV 2", "position startpos moves b1b2", "go nodes 100")
        move = program.until("bestmove").split()[1]
        assert DIALECTS["ucci"].own(move) in tt.position(GAME, moves="b2b3").legal_moves()
        assert "cp" not in program.until("info").split()
        program.tell("setoption usemillisec true", "go time 500 increment 0 opptime 500 oppincrement 0")
        program.until("bestmove", 10.0)
        assert program.tell("foo")[0].startswith("info message error: unknown command")


def test_banned_moves_of_ucci_are_not_played():
    with Program("tic_tac_toe", dialect="ucci") as program:
        program.tell("position startpos", "banmoves a0 a1 a2 b0 b1 b2 c0 c1", "go nodes 50")
        assert program.until("bestmove").split()[1] == "c2"
        with pytest.raises(ConfigError, match="dialect"):
            Program(dialect="xboard")


@pytest.mark.parametrize(
    ("dialect", "win", "loss"),
    [("uci", "mate 2", "mate -2"), ("usi", "mate 3", "mate -4"), ("ucci", "29997", "-29996")],
)
def test_a_proof_is_a_mate_in_moves_in_plies_or_in_points(dialect, win, loss):
    assert (DIALECTS[dialect].mate(3), DIALECTS[dialect].mate(-4)) == (win, loss)


def test_settings_are_read_from_a_file(tmp_path):
    file = tmp_path / "engine.toml"
    file.write_text('MultiPV = 2\nRule = "uct(c=1.0)"\nPonder = true\n')
    assert read_settings(file) == {"MultiPV": "2", "Rule": "uct(c=1.0)", "Ponder": "true"}
    file.write_text("MultiPV = [")
    with pytest.raises(ConfigError, match="is not a TOML file"):
        read_settings(file)


def test_random_lines_are_answered_and_never_end_the_server(program):
    rng = random.Random(1)
    names = [
        "uci",
        "isready",
        "setoption",
        "position",
        "go",
        "stop",
        "ponderhit",
        "d",
        "ucinewgame",
        "foo",
        "\x00",
        "é",
    ]
    words = ["name", "value", "startpos", "fen", "moves", "b2b3", "nodes", "1", "-5", "movetime", "infinite", "9" * 40,
             "ponder", "searchmoves", "MultiPV", "Hash", "depth", "mate", "8/8", "é"]  # fmt: skip
    for _ in range(400):
        line = " ".join([rng.choice(names), *rng.choices(words, k=rng.randrange(6))])
        program.tell(line)
    program.tell("stop", "ucinewgame", "position startpos", "go nodes 20")
    program.until("bestmove")
