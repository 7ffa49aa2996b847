"""Parts of a picture, which the method `board` of a game returns for people to look at and to touch.

>>> from treetop.boards import Cards, Dice, Table, Grid, Pile, Piles, Track
>>> Grid([["", "X"], ["O", ""]], surface="checkered").to_dict()["surface"]
'checkered'
>>> [part.kind for part in (Cards(["K♠"]), Dice([6]), Table({"pot": 4}), Piles([[Pile(3)]]), Track({"X": 3}, 10))]
['cards', 'dice', 'table', 'piles', 'track']
"""

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

__all__ = [
    "Card", "Cards", "Dice", "Element", "Grid", "Picture", "Pile", "Piles", "Shape", "Shapes", "Table", "Text", "Track",
]  # fmt: skip
