from __future__ import annotations

import sys

import pytest

import treetop as tt
from treetop.game.registry import BUNDLED, load_bundled


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_game_is_found_by_its_name(name):
    game = tt.load_game(name)
    assert game.family == name
    assert tt.load_game(game.name).digest == game.digest
    assert game.summary


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("chess2", "no game called 'chess2'"),
        ("othelo", "did you mean othello"),
        ("hex(width=3)", "width.*parameters are size=11"),
        ("hex(size=1)", "size must be a whole number from 2 to 19, not 1"),
        ("hex(size='a')", "size must be"),
        ("hex(size=3.0)", "size must be"),
        ("hex(size=[3])", "plain value"),
        ("hex(3, 4)", "too many"),
        ("connect_four(size=3)", "takes no parameters"),
        ("hex(size=3", "is not the name of a game"),
        ("", "is not the name of a game"),
        ("hex(size=__import__('os'))", "is not the name of a game"),
        ("no.such.module:Game", "cannot be imported"),
        ("treetop.games.nim:Other", "no 'Other'; .* objects there: nim"),
        ("nowhere.py:Game", "no file"),
        (5, "must be a name"),
        (int, "not a game yet"),
    ],
)
def test_unknown_games_and_parameters_are_clear_errors(spec, what):
    with pytest.raises(tt.errors.UnknownGameError, match=what) as caught:
        tt.load_game(spec)
    assert isinstance(caught.value, ValueError)


OWN = """
import treetop
{extra}
@treetop.game(players=1, num_actions=1, max_length=3)
class Mine:
    n = treetop.field("i1")
    def reset(self): self.n = 3
    def legal_actions(self, out):
        out[0] = 0
        return 1
    def apply(self, action): self.n -= 1
    def is_terminal(self): return self.n == 0
    def rewards(self, out): out[0] = 1.0

@treetop.family
def lot(size):
    return Mine
"""


def test_a_users_own_game_is_found_by_module_and_by_file(tmp_path, monkeypatch):
    (tmp_path / "my_own_game.py").write_text(OWN.format(extra=""))
    monkeypatch.syspath_prepend(str(tmp_path))
    game = tt.load_game("my_own_game:Mine")
    assert tt.load_game(f"{tmp_path}/my_own_game.py:Mine") is game
    assert tt.load_game("my_own_game:lot(size=4)").name == "lot(size=4)"
    sys.modules.pop("my_own_game")


@pytest.mark.parametrize("spec", [
    "os:system(command='touch {file}')", "os:system('touch {file}')", "subprocess:getoutput('touch {file}')", "builtins:exec('open({file!r}, \"w\")')",
    "pathlib:Path('{file}')", "my_traps:plain", "my_traps:plain(1)", "my_traps:Plain", "my_traps:hidden", "my_traps:__getattr__('x')", "my_traps:Plain.make",
    "my_traps:made", "treetop:Family(function=1)", "treetop:family(1)",
])  # fmt: skip
def test_a_text_calls_nothing_but_what_our_decorators_made(spec, tmp_path, monkeypatch):
    file = tmp_path / "touched"
    (tmp_path / "my_traps.py").write_text(TRAPS.format(file=str(file)))
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(tt.errors.UnknownGameError):
        tt.load_game(spec.format(file=str(file)))
    assert not file.exists()
    sys.modules.pop("my_traps", None)


TRAPS = """
import treetop
def plain(*arguments): open({file!r}, "w")
class Plain:
    def __init__(self, *arguments): plain()
    @staticmethod
    def make(): plain()
def __getattr__(name):
    if name == "hidden": plain()
    raise AttributeError(name)
made = treetop.player(plain)
"""


@pytest.mark.parametrize("spec", [
    "hex(size=" + "9" * 5000 + ")", "hex(size=0x" + "f" * 5000 + ")", "hex(size=" + "(" * 4000 + ")" * 4000 + ")", "hex(size=" + "-" * 9000 + "1)",
    "hex(size=" + "[" * 150 + "]" * 150 + ")", "hex" * 10_000, "hex(size='\x00')", "hex\x00", "\x00:x", "hex(\ud800)", "hex(size={[]: 1})", "hex(size={{}})",
    "gomoku(size=1000000000)", "gomoku(size=1e999)", "nim(stones=18446744073709551615)", ":x", "..:x", ".py:x", "~nobody/x.py:x", "a" * 300 + ".py:x",
    "a." * 3000 + "b:x", "hex(size=" + "1+" * 4000 + "1)", "hex('\\d')", "hex(size=1)(2)", "hex(**{'size': 3})", "hex(*[3])", "hex(size=3, size=4)",
])  # fmt: skip
def test_hostile_texts_are_clear_errors(spec):
    with pytest.raises(tt.errors.UnknownGameError) as caught:
        tt.load_game(spec)
    assert len(str(caught.value)) < 2000


def test_an_object_that_only_claims_to_be_a_game_is_not_called(tmp_path, monkeypatch):
    (tmp_path / "lookalike.py").write_text(
        "from treetop.game.families import Family\n"
        "called = []\n"
        "class Fake:\n"
        "    def __call__(self, *args, **kwargs): called.append('call')\n"
        "    @property\n"
        "    def __class__(self):\n"
        "        called.append('class')\n"
        "        return Family\n"
        "fake = Fake()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("fake", "nothing"):
        with pytest.raises(tt.errors.UnknownGameError):
            tt.load_game(f"lookalike:{name}")
    import lookalike

    assert lookalike.called == []


@pytest.mark.parametrize("spec", [":nim", "..:x", ".evil:x", "a::b", "evil.:x", "a b:c"])
def test_a_text_without_the_name_of_a_module_is_a_plain_error(spec):
    with pytest.raises(tt.errors.UnknownGameError, match="is not the name of a"):
        tt.load_game(spec)


def test_names_from_files_are_those_of_bundled_games(tmp_path, monkeypatch):
    (tmp_path / "never_imported.py").write_text("raise SystemExit(3)")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_bundled("hex(size=3)").name == "hex(size=3)"
    for spec in (
        "never_imported:Game",
        "treetop.games.nim:nim",
        f"{tmp_path}/never_imported.py:Game",
        "os:system('true')",
    ):
        with pytest.raises(tt.errors.UnknownGameError, match="not a bundled game"):
            load_bundled(spec)
    with pytest.raises(
        tt.errors.UnknownGameError, match="SystemExit"
    ):  # typed, it is imported, and its end is not ours
        tt.load_game("never_imported:Game")


def test_a_file_with_the_name_of_another_module_leaves_that_one_alone(tmp_path):
    import random

    (tmp_path / "random.py").write_text(OWN.format(extra=""))
    assert tt.load_game(f"{tmp_path}/random.py:Mine") is tt.load_game(f"{tmp_path}/random.py:Mine")
    assert sys.modules["random"] is random


def test_a_family_that_fails_is_reported():
    @tt.family
    def broken(size: int = 0):
        return 1 // size

    with pytest.raises(tt.errors.GameDefinitionError, match=r"broken failed with .*'size': 0.*ZeroDivisionError"):
        broken()


def test_a_users_module_that_fails_is_reported(tmp_path):
    (tmp_path / "failing_game.py").write_text(OWN.format(extra="1 / 0"))
    with pytest.raises(tt.errors.UnknownGameError, match=r"ZeroDivisionError.*failing_game.py, line 3: 1 / 0"):
        tt.load_game(f"{tmp_path}/failing_game.py:Mine")
    assert "failing_game" not in sys.modules


def test_a_position_that_was_set_up_remembers_from_where():
    position = tt.position("connect_four", setup="......./......./......./......./...O.../...X...", moves="4 1")
    assert position.moves() == ["4", "1"]
    assert position.was_set_up
    assert not tt.position("connect_four", moves="4 4").was_set_up
    report = tt.search(position, simulations=100).report()
    assert report.moves == ["4", "1"]
    assert report.start.startswith("connect_four(")
    assert tt.search("connect_four", simulations=100).report().start == "the game's start"


def test_positions_are_played_read_and_compared():
    position = tt.position("connect_four", moves="4 4 5,3")
    assert position.moves() == ["4", "4", "5", "3"]
    assert position == tt.position("connect_four").play(["4", 3]).play([4, 2])
    assert hash(position) == hash(tt.position("connect_four", moves="4 4 5 3"))
    assert position != tt.position("connect_four")
    assert position.player == 0
    assert not position.is_terminal
    with pytest.raises(tt.errors.GameError, match="no final rewards yet"):
        _ = position.rewards
    with pytest.raises(ValueError, match="read-only"):
        position.record["player"] = 1
    assert "after 4 moves" in repr(position)


@pytest.mark.parametrize("move", ["9", "0", "x", "", "4.5"])
def test_illegal_move_texts_are_refused_with_the_board(move):
    with pytest.raises(tt.errors.IllegalMoveError, match=r"legal moves are 1, 2(.|\n)*1 2 3 4 5 6 7"):
        tt.position("connect_four", moves="4").play([move])


@pytest.mark.parametrize("action", [-1, 7, 3.0, True, None])
def test_illegal_actions_are_refused(action):
    with pytest.raises(tt.errors.IllegalMoveError):
        tt.position("connect_four").apply(action)


def test_a_finished_game_has_no_moves():
    over = tt.position("nim(stones=1)", moves="1")
    assert over.legal_actions() == []
    assert over.rewards == [1.0, -1.0]
    with pytest.raises(tt.errors.IllegalMoveError, match="the game is over"):
        over.play("1")


def test_a_game_without_parse_says_so():
    with pytest.raises(tt.errors.ConfigError, match="cannot read a diagram"):
        tt.position("nim", setup="|||")
    assert tt.position("tic_tac_toe", setup="X.O/.../...").player == 0
    with pytest.raises(tt.errors.ConfigError, match="not a position of tic_tac_toe"):
        tt.position("tic_tac_toe", setup="XXX/.../...")


def test_a_python_problem_named_as_a_game_is_refused_with_what_it_is_for(tmp_path):
    file = tmp_path / "puzzle.py"
    file.write_text("class Puzzle:\n    def actions(self, state): ...\n    def step(self, state, action): ...\n")
    with pytest.raises(tt.errors.UnknownGameError, match=r"use a Python problem in Python, with treetop.Search or"):
        tt.load_game(f"{file}:Puzzle")
