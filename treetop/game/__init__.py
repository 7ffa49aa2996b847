"""Define games: the decorator, fields, facts, positions, the registry and the conformance check."""

from treetop import checks
from treetop.compiler.functions import compiled
from treetop.compiler.intrinsics import local_copy, lowest_bit, mix_bits, nth_bit, popcount
from treetop.game.bitsets import list_bits, random_bit
from treetop.game.boards import (
    Card,
    Cards,
    Dice,
    Element,
    Grid,
    Picture,
    Pile,
    Piles,
    Shape,
    Shapes,
    Table,
    Text,
    Track,
)
from treetop.game.definition import Game, game
from treetop.game.diagrams import read_diagram
from treetop.game.families import family, require
from treetop.game.fields import field
from treetop.game.symmetries import permute_bits, square_symmetries
from treetop.types import CHANCE, SIMULTANEOUS

__all__ = [
    "CHANCE",
    "SIMULTANEOUS",
    "Card",
    "Cards",
    "Dice",
    "Element",
    "Game",
    "Grid",
    "Picture",
    "Pile",
    "Piles",
    "Shape",
    "Shapes",
    "Table",
    "Text",
    "Track",
    "checks",
    "compiled",
    "family",
    "field",
    "game",
    "list_bits",
    "local_copy",
    "lowest_bit",
    "mix_bits",
    "nth_bit",
    "permute_bits",
    "popcount",
    "random_bit",
    "read_diagram",
    "require",
    "square_symmetries",
]
