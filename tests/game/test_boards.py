"""Pictures of positions as data."""

from __future__ import annotations

import json

import pytest

import treetop as tt
from treetop.boards import Card, Cards, Dice, Grid, Picture, Pile, Piles, Shape, Shapes, Table, Track
from treetop.errors import ConfigError
from treetop.game.registry import BUNDLED

GRIDS = (
    "amazons",
    "ataxx",
    "breakthrough",
    "checkers",
    "clobber",
    "connect_four",
    "go",
    "gomoku",
    "hex",
    "othello",
    "tic_tac_toe",
    "xiangqi",
)


def random_game(name, seed):
    rng = tt.Rng(seed)
    position = tt.Position.start(tt.load_game(name), rng)
    yield position
    while not position.is_terminal:
        position = position.apply(position.sample_action(rng))
        yield position


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_every_position_of_a_bundled_game_has_a_picture_that_is_json(name):
    game = tt.load_game(name)
    assert game.has("board")
    for position in random_game(name, 3):
        for viewer in (None, *range(game.facts.players)):
            picture = position.picture(viewer)
            assert json.loads(json.dumps(picture.to_dict(), allow_nan=False))
            assert all(part.kind for part in picture.parts)


@pytest.mark.parametrize("name", [*GRIDS, "backgammon", "scoundrel", "goofspiel"])
def test_every_move_is_made_by_touching_something(name):
    for position in random_game(name, 5):
        if position.is_terminal or position.player == tt.CHANCE:
            continue
        picture, player = position.picture(), 0 if position.player == tt.SIMULTANEOUS else None
        texts = position.legal_moves(player)
        paths = [tuple(picture.path(text)) for text in texts if text not in ("pass", "avoid")]
        assert all(paths)
        if name in GRIDS:
            assert len(set(paths)) == len(paths)


def test_moves_from_one_place_to_another_touch_both():
    position = tt.position("breakthrough")
    assert position.picture().path("a2b3") == ["a2", "b3"]
    assert Picture.of([["", ""], ["", ""]]).path("a2xb1") == ["a2", "b1"]


def test_names_are_not_found_inside_longer_ones():
    piles = Picture.of(Piles([[Pile(2, name="1"), Pile(3, name="13"), Pile(1, name="3")]]))
    assert piles.path("13/3") == ["13", "3"]
    assert piles.path("11/1") == ["1"]


def test_rows_of_texts_are_a_grid_of_squares():
    picture = Picture.of([["X", ""], ["", "O"]])
    assert picture.rows() == [["X", ""], ["", "O"]]
    assert picture.to_dict()[0]["cell_names"] == (("a2", "b2"), ("a1", "b1"))


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_pictures_hide_the_cards_of_others(name):
    position = tt.position(name).resolve_chance(1)
    assert "" not in [card.face for part in position.picture().parts[:2] for card in part.cards]
    assert [part.cards[0].face == "" for part in position.picture(0).parts[:2]] == [False, True]
    assert [part.cards[0].face == "" for part in position.picture(1).parts[:2]] == [True, False]


@tt.game(players=2, num_actions=2, max_length=4)
class Bare:
    """A game without a picture."""

    count: int = tt.field("i1")
    player: int = tt.field("i1")

    def reset(self):
        self.count = 0
        self.player = 0

    def legal_actions(self, out):
        out[0] = 0
        return 1

    def apply(self, action):
        self.count += 1
        self.player = 1 - self.player

    def is_terminal(self):
        return self.count == 4

    def rewards(self, out):
        out[0] = 1.0
        out[1] = -1.0

    def render(self):
        return f"{self.count} of 4"


def test_a_game_without_a_board_is_shown_as_text():
    picture = tt.Position(Bare).picture()
    assert [(part.kind, part.text) for part in picture.parts] == [("text", "0 of 4")]
    assert tt.Position(Bare).board() is None


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Grid([]), "rows of one length"),
        (lambda: Grid([["X"], ["X", "O"]]), "rows of one length"),
        (lambda: Grid([[1]]), "rows of texts"),
        (lambda: Grid([["X"] * 100] * 100), "4,096 cells"),
        (lambda: Grid([["X"]], shape="round"), "shape must be"),
        (lambda: Grid([["X"]], cell_names=[["a", "b"]]), "shape of the rows"),
        (lambda: Grid([["X"]], edges=("X",)), "edges are"),
        (lambda: Cards([Card(7)]), "face must be a text"),
        (lambda: Cards(["A"] * 1001), "at most 1,000 cards"),
        (lambda: Dice([-1]), "a die"),
        (lambda: Piles([[3]]), "treetop.boards.Pile"),
        (lambda: Track({"X": float("nan")}, 10), "a marker"),
        (lambda: Shape("star", 0, 0), "kind must be"),
        (lambda: Shapes(0, 1, []), "width"),
        (lambda: Table({}, title=3), "title must be a text"),
        (lambda: Picture.of("text"), "a board is rows of texts"),
        (lambda: Picture.of([]), "a board is rows of texts"),
        (lambda: Picture.of([Grid([["X"]]), ["X"]]), "a board is rows of texts"),
    ],
)
def test_wrong_parts_are_refused(made, message):
    with pytest.raises(ConfigError, match=message):
        made()
