"""Pictures of positions as SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from treetop.boards import Card, Cards, Dice, Grid, Picture, Pile, Piles, Shape, Shapes, Table, Text, Track
from treetop.game.choices import first_choice
from treetop.game.registry import BUNDLED, load_game

NASTY = "<&\x00\"'>"


def drawn(*parts):
    return ET.fromstring(Picture.of(list(parts)).svg())


def named(root, name):
    return list(root.iter(f"{{http://www.w3.org/2000/svg}}{name}"))


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_the_board_of_every_game_is_drawn(name):
    root = ET.fromstring(first_choice(load_game(name)).picture().svg())
    assert float(root.get("width")) > 30
    assert float(root.get("height")) > 30


def test_each_piece_of_a_grid_is_drawn():
    root = drawn(Grid([["X", "O", ""], ["", "", "X"]], surface="checkered"))
    assert [one.get("fill") for one in named(root, "circle")] == ["#d9593d", "#f2c14e", "#d9593d"]
    assert [one.text for one in named(root, "text")] == ["a", "b", "c", "2", "1"]
    assert len(named(drawn(Grid([["X", "O"], ["", ""]], shape="hex", edges="XOXO")), "polygon")) == 4
    assert len(named(drawn(Grid([["X", "O"], ["", ""]], shape="hex", edges="XOXO")), "polyline")) == 4


def test_every_part_is_there_whatever_its_texts_are():
    parts = [
        Cards([Card(NASTY, note=NASTY), ""], NASTY), Dice([6, 0], NASTY), Piles([[Pile(3, NASTY, NASTY)]], NASTY),
        Track({NASTY: 3}, 10, NASTY), Shapes(2, 2, [Shape("text", 1, 1, text=NASTY), Shape("line", 0, 0, 2, 2)]),
        Table({NASTY: NASTY}), Text(NASTY), Grid([[NASTY]], pieces="text"),
    ]  # fmt: skip
    texts = " ".join(one.text or "" for one in named(drawn(*parts), "text"))
    assert texts.count("<&\ufffd\"'>") == 14
    assert "6" in texts
    assert "3 of 10" in texts


def test_a_card_face_down_shows_nothing():
    root = drawn(Cards(["", "K♠"]))
    assert [one.text for one in named(root, "text")] == ["K♠"]
