"""A wrong game is a Treetop error that shows the user's own line, before anything of it is compiled; right games pass."""

from __future__ import annotations

import pytest

import treetop as tt
from tests.wrong_games import KINDS, VALUES, WRONG, Wrong, right, write
from treetop.arena.matches import match
from treetop.game import trial, watchdog


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    """Endless loops are found sooner: waiting proves nothing."""
    monkeypatch.setattr(watchdog, "SECONDS", 0.2)


@pytest.fixture(autouse=True)
def _nothing_compiled(monkeypatch):
    def refuse(*_):
        raise AssertionError("a wrong game was compiled")

    monkeypatch.setattr("treetop.compiler.engine.Entry._prepare", refuse)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name.replace(" ", "-"))
def test_a_wrong_game_is_an_error_with_the_line(wrong, tmp_path):
    file = write(tmp_path, wrong.name, wrong.source)
    with pytest.raises(tt.TreetopError) as caught:
        tt.search(f"{file}:Wrong", simulations=20)
    assert f"{file.name}, line " in str(caught.value)


@pytest.mark.parametrize("wrong", VALUES, ids=lambda wrong: wrong.name.replace(" ", "-"))
def test_a_method_that_must_return_nothing_is_refused_with_its_value(wrong, tmp_path):
    file = write(tmp_path, f"{wrong.name} here", wrong.source)
    method = next(iter(wrong.methods)).partition("(")[0]
    with pytest.raises(tt.errors.ConformanceError, match=rf"{method}.* returned .*return nothing"):
        tt.position(f"{file}:Wrong")


@pytest.mark.parametrize(
    ("method", "body", "reason"),
    [
        ("render(self)", "return ['a']", "render returned ['a']; it must return a text"),
        ("move_text(self, action)", "return action", "move_text returned 0; it must return a text"),
        ("move_text(self, action)", "return 'v'", "the moves 0 and 1 have the same name 'v'; names must differ"),
        ("board(self)", "return [[0]]", "board is wrong: rows must be rows of texts, one for each cell, not [[0]]"),
        ("render(self)", "return 'n' + self.n", "render fails: TypeError: can only concatenate str"),
    ],
)
def test_a_method_for_people_is_tried_and_its_fault_reported_once(method, body, reason, tmp_path):
    file = write(tmp_path, f"people {abs(hash(reason))}", Wrong("people", methods={method: body}).source)
    with pytest.raises(tt.errors.ConformanceError) as caught:
        tt.position(f"{file}:Wrong")
    assert reason in str(caught.value)
    assert str(caught.value).count(f"{file.name}, line ") == 1
    assert "Wrong." not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_right_game_passes_its_trial(kind, tmp_path):
    file = write(tmp_path, f"right {kind}", right(kind))
    assert tt.position(f"{file}:Wrong", seed=1).is_terminal is False


@pytest.mark.parametrize("entry", [
    lambda game: tt.Search(game),
    lambda game: tt.position(game).play("0"),
    lambda game: tt.Position.start(game),
    lambda game: tt.perft(game, 3),
    lambda game: tt.check(game, games=3),
    lambda game: tt.solve(game),
    lambda game: match("random", "random", game=game, games=2, workers=1),
    lambda game: tt.evaluate(game, "random", games=2, workers=1),
    lambda game: game.engine(),
])  # fmt: skip
def test_every_way_to_a_game_tries_it_first(entry, tmp_path):
    wrong = next(wrong for wrong in WRONG if wrong.name == "late store out of range")
    file = write(tmp_path, "entries", wrong.source)
    with pytest.raises(tt.errors.ConformanceError, match="entries_game.py, line .*cells.1. = 1000"):
        entry(tt.load_game(f"{file}:Wrong"))


def test_rules_that_passed_are_not_tried_again_and_changed_ones_are(tmp_path, monkeypatch):
    tried = []
    monkeypatch.setattr(trial, "_try", lambda game: tried.append(game.name))
    monkeypatch.setattr(trial, "_passed", set())
    monkeypatch.setenv("TREETOP_CACHE", str(tmp_path / "cache"))
    game = tt.load_game(f"{write(tmp_path, 'first', right('plain'))}:Wrong")
    for _ in range(2):
        tt.Position(game)
    assert tried == ["Wrong"]
    trial._passed.clear()  # another process
    tt.Position(game)
    assert tried == ["Wrong"]
    next((tmp_path / "cache" / "trials").iterdir()).write_bytes(b"something else")
    trial._passed.clear()
    tt.Position(game)
    assert tried == ["Wrong"] * 2
    tt.Position(tt.load_game(f"{write(tmp_path, 'second', right('plain').replace('self.n = 9', 'self.n = 8'))}:Wrong"))
    assert tried == ["Wrong"] * 3


def test_a_folder_that_cannot_be_written_costs_only_the_next_trial(tmp_path, monkeypatch):
    monkeypatch.setattr(trial, "_passed", set())
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("TREETOP_CACHE", str(tmp_path / "file"))
    game = tt.load_game(f"{write(tmp_path, 'unkept', right('plain'))}:Wrong")
    assert not tt.Position(game).is_terminal


def test_a_failure_that_the_trial_did_not_meet_is_an_error_with_its_line_when_it_is_played(tmp_path):
    rare = right("plain").replace(
        "self.n -= action + 1", "self.n -= action + 1 if self.n < 9 or action < 2 else self.cells[9]"
    )
    game = tt.load_game(f"{write(tmp_path, 'rare', rare)}:Wrong")
    trial._passed.add(trial._key(game, game.digest))
    with pytest.raises(tt.errors.GameError, match="apply fails: IndexError") as caught:
        tt.position(game).play("2")
    assert "rare_game.py, line " in str(caught.value)
