"""Positions of shogi as text: SFEN, or a diagram."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from treetop.game import Element, Grid, Pile, Piles
from treetop.games.ranks import read_ranks, write_ranks
from treetop.games.shogi_tables import DIRECTIONS, KING, KNIGHT, LANCE, LETTERS, PAWN, UNPROMOTED, Variant

SIDES = ("black", "white")


class Written(NamedTuple):
    """A position that was read."""

    pieces: list[tuple[int, int, int]]
    """The square, the player and the kind of each piece."""
    hands: list[list[int]]
    """How many pieces of each kind are in the hand of each player."""
    player: int
    plies: int


_RANKS = "abcdefghi"


def letter_of(code: int) -> str:
    """Return the letter of a piece: capitals are black's, a promoted piece has a plus; "" for an empty square."""
    if code == 0:
        return ""
    kind = abs(code) - 1
    letter = "+" * (kind >= 8) + LETTERS[kind % 8]
    return letter if code > 0 else letter.lower()


def rows_of(state: Any, size: int) -> list[list[str]]:
    """Return the letters of the pieces, the top rank first."""
    return [[letter_of(state.cells[size * rank + file]) for file in range(size)] for rank in reversed(range(size))]


def hands_of(state: Any) -> str:
    """Return the pieces in both hands as in SFEN: rooks first, black's before white's; "-" if there are none."""
    found = ""
    for player in range(2):
        for kind in (5, 4, 6, 3, 2, 1, 0):
            count = state.hands[player, kind]
            letter = LETTERS[kind] if player == 0 else LETTERS[kind].lower()
            found += "" if count == 0 else letter if count == 1 else f"{count}{letter}"
    return found or "-"


def sfen_of(state: Any, variant: Variant) -> str:
    """Return a position as SFEN."""
    return f"{write_ranks(rows_of(state, variant.size))} {'bw'[state.player]} {hands_of(state)} {state.plies + 1}"


def diagram_of(state: Any, variant: Variant) -> str:
    """Return a position as a diagram with the names of files and ranks."""
    size = variant.size
    rows = [
        " ".join(f"{cell or '.':>2}" for cell in row) + f"  {_RANKS[index]}"
        for index, row in enumerate(rows_of(state, size))
    ]
    top = " ".join(f"{size - file:>2}" for file in range(size))
    last = f"{SIDES[state.player]} to move, hands {hands_of(state)}, move {state.plies + 1}"
    over = ("", "; game over, black wins", "; game over, white wins", "; game over, a draw")[state.result]
    return "\n".join([top, *rows, last + over])


def parts_of(state: Any, variant: Variant) -> list[Element]:
    """Return the board between the two hands. The hand of the player to move can be touched."""
    size = variant.size
    names = [[variant.name(size * rank + file) for file in range(size)] for rank in reversed(range(size))]
    grid = Grid(rows_of(state, size), pieces="text", cell_names=names)
    hands = [
        Piles([[_pile(state, player, kind) for kind in variant.drops]], title=f"{name} has in hand")
        for player, name in enumerate(SIDES)
    ]
    return [hands[1], grid, hands[0]]


def _pile(state: Any, player: int, kind: int) -> Pile:
    letter = LETTERS[kind]
    touched = letter if player == state.player else ""
    return Pile(state.hands[player, kind], letter if player == 0 else letter.lower(), touched)


def name_of(state: Any, action: int, variant: Variant) -> str:
    """Return the name of an action in USI: 7g7f, 8h2b+ for a promotion, P*5e for a drop."""
    plane, target = divmod(action, variant.squares)
    target = target if state.player == 0 else variant.squares - 1 - target
    if plane >= 2 * variant.directions:
        return f"{LETTERS[variant.drops[plane - 2 * variant.directions]]}*{variant.name(target)}"
    up, right = DIRECTIONS[plane % variant.directions]
    delta = variant.size * up + right if state.player == 0 else -variant.size * up - right
    source = target - delta
    while 0 <= source - delta < variant.squares and state.cells[source] == 0:
        source -= delta
    return f"{variant.name(source)}{variant.name(target)}{'+' * (plane >= variant.directions)}"


def action_named(state: Any, text: str, variant: Variant) -> int:
    """Return the action with a name; raise ValueError if there is none."""
    found = re.fullmatch(r"([1-9][a-i])([1-9][a-i])(\+?)|([a-z])\*([1-9][a-i])", text.lower())
    if found is None:
        raise ValueError(f"a move is two squares, such as 7g7f or 8h2b+, or a drop such as P*5e, not {text!r}")
    target = _square(found[5] or found[2], variant)
    if found[4]:
        kind = LETTERS.find(found[4].upper())
        if kind not in variant.drops:
            raise ValueError(f"no piece {found[4].upper()} can be dropped")
        return int(state.action_of(2 * variant.directions + variant.drops.index(kind), target))
    first = variant.directions if found[3] else 0
    for plane in range(first, first + variant.directions):
        action = int(state.action_of(plane, target))
        if name_of(state, action, variant) == text.lower():
            return action
    raise ValueError(f"no piece moves from {found[1]} to {found[2]}")


def _square(name: str, variant: Variant) -> int:
    file, rank = variant.size - int(name[0]), variant.size - 1 - _RANKS.index(name[1])
    if file < 0 or rank < 0:
        raise ValueError(
            f"there is no square {name}: files are 1 to {variant.size}, ranks a to {_RANKS[variant.size - 1]}"
        )
    return variant.size * rank + file


def read_position(text: str, variant: Variant) -> Written:
    """Return the position of an SFEN or a diagram; raise ValueError if it is impossible."""
    size, letters = variant.size, "".join(LETTERS[kind] for kind in (*variant.drops, KING))
    rows, words = read_ranks(text, size, size, rf"\+?[{letters}{letters.lower()}]")
    side = words[0].lower() if words else ""
    player = 0 if side in ("b", "black") else 1 if side in ("w", "white") else -1
    if player < 0:
        raise ValueError(f"the player to move, after the ranks, is b (black) or w (white), not {side!r}")
    fields = [word.strip(",;") for word in words[1:] if word.strip(",;") not in ("to", "move", "hands")]
    hands = _read_hands(fields[0] if fields else "-", variant)
    number = fields[1] if len(fields) > 1 else "1"
    if re.fullmatch(r"[1-9]\d{0,3}", number) is None:
        raise ValueError(f"the number of the next move must be a whole number from 1, not {number!r}")
    pieces = []
    for index, row in enumerate(rows):
        for file, letter in enumerate(row):
            if letter:
                kind = LETTERS.index(letter[-1].upper()) + 8 * (len(letter) > 1)
                pieces.append((size * (size - 1 - index) + file, int(letter[-1].islower()), kind))
    _refuse_impossible(pieces, hands, variant)
    return Written(pieces, hands, player, int(number) - 1)


def _read_hands(text: str, variant: Variant) -> list[list[int]]:
    letters = "".join(LETTERS[kind] for kind in variant.drops)
    found = [[0] * 7, [0] * 7]
    if text == "-":
        return found
    if re.fullmatch(rf"(\d{{0,2}}[{letters}{letters.lower()}])+", text) is None:
        raise ValueError(f"the pieces in hand are - or such as 2Pb, capitals for black, not {text!r}")
    for count, letter in re.findall(r"(\d*)([A-Za-z])", text):
        found[letter.islower()][LETTERS.index(letter.upper())] += int(count or "1")
    return found


def _refuse_impossible(pieces: list[tuple[int, int, int]], hands: list[list[int]], variant: Variant) -> None:
    size = variant.size
    for kind, most in enumerate(variant.amounts):
        count = sum(hand[kind] for hand in hands if kind < 7) + sum(other % 8 == kind for _, _, other in pieces)
        if count > most:
            raise ValueError(f"there are {count} pieces {LETTERS[kind]}; a game has {most}")
    for player, name in enumerate(SIDES):
        own = [(square, kind) for square, owner, kind in pieces if owner == player]
        if sum(kind == KING for _, kind in own) != 1:
            raise ValueError(f"{name} must have one king K, not {sum(kind == KING for _, kind in own)}")
        if any(kind in (KING + 8, KING + 7) for _, kind in own):
            raise ValueError(f"{name} has a promoted gold or king; only {LETTERS[:UNPROMOTED]} promote")
        files = [square % size for square, kind in own if kind == PAWN]
        if len(set(files)) < len(files):
            raise ValueError(f"{name} has two unpromoted pawns on one file")
        for square, kind in own:
            left = size - 1 - square // size if player == 0 else square // size
            if left < {PAWN: 1, LANCE: 1, KNIGHT: 2}.get(kind, 0):
                raise ValueError(f"{name}'s {LETTERS[kind]} on {variant.name(square)} could never move")
