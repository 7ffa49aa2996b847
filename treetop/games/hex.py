"""Hex."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import Game, Grid, checks, family, field, game, list_bits, mix_bits, random_bit

_NONE, _ONE, _TWO, _SIX = (np.uint64(number) for number in (0, 1, 2, 6))
# The bits of `links` for the near and the far edge; those for "not linked to it" are two places higher.
_LINKED = np.uint64(0b0011)
_OWN = np.uint64(0b1111)
_NEAR = np.uint64(0b0101_0101)  # the bits for the near edge, of both players
_FILES = "abcdefghijklmnopqrs"


@family
def hex(size: int = 11) -> Game:  # noqa: A001 - the name of the game; the builtin is not used here
    """Connect two opposite edges of a rhombus of `size` x `size` cells (2 to 19)."""
    checks.whole("size", size, 2, 19)
    cells = size * size
    words = (cells + 63) // 64
    # The board has a frame of one cell on each side, so that each cell has six neighbours, and the frame represents the
    # edges. Indices are unsigned, so that compiled code does not check for negative ones.
    stride = size + 2
    framed = stride * stride
    width, row_up, corner_up = np.uint64(size), np.uint64(stride), np.uint64(stride - 1)
    first_cell = np.uint64(stride + 1)
    # The neighbours of a cell, relative to the upper left one.
    from_above = np.array([0, 1, stride - 1, stride + 1, 2 * stride - 1, 2 * stride], np.uint64)

    @game(players=2, num_actions=cells, max_length=cells, observation_shape=(4, size, size), symmetries=2)
    class Hex:
        """Connect your two opposite edges of a rhombus of hexagons.

        The players take turns to put a stone on an empty cell, X first; stones never move. X wins with a chain of
        neighbouring X stones from the top edge to the bottom edge, O with a chain of O stones from the left edge to the
        right edge. One of them always wins, so there is no draw. A cell's neighbours are the two beside it, the two
        above it (the same column and the next) and the two below it (the same column and the previous). There is no
        swap rule.
        """

        # Four bits a player for each framed cell, X low and O high. All are 0 if the player has no stone there. A stone
        # has bit 0 if a chain links it to the player's near edge (top or left), else bit 2, and bit 1 if a chain links
        # it to the far edge, else bit 3. The union of the six neighbours then gives the links of a new stone, and
        # whether a neighbour gets a new link.
        links: Any = field("u1", framed)
        stack: Any = field("u1" if framed <= 256 else "u2", cells // 2 + 1)  # for `spread`; all 0 outside of it
        empty: Any = field("u8", words)  # one bit a cell: action // 64 is the word, action % 64 the bit
        first: Any = field("u8", words)  # the stones of X, in the same way
        left: int = field("i4")  # the number of empty cells
        player: int = field("i1")
        won: bool = field("bool")  # by the player who moved last

        def reset(self) -> None:
            for place in range(framed):
                self.links[place] = 0
            for place in range(1, stride - 1):
                self.links[place] = 0x01
                self.links[framed - 1 - place] = 0x02
                self.links[place * stride] = 0x10
                self.links[place * stride + stride - 1] = 0x20
            for word in range(words):
                self.empty[word] = ~_NONE >> np.uint64(64 - min(64, cells - 64 * word))
                self.first[word] = _NONE
            for height in range(cells // 2 + 1):
                self.stack[height] = 0
            self.left = cells
            self.player = 0
            self.won = False

        def legal_actions(self, out: Any) -> int:
            return list_bits(self.empty, out)

        def apply(self, action: int) -> None:
            cell = np.uint64(action)
            place = first_cell + cell + _TWO * (cell // width)
            side = np.uint64(4 * self.player)
            around = (self.around(place) >> side) & _OWN
            linked = around & _LINKED
            self.links[place] = (linked | ((linked ^ _LINKED) << _TWO)) << side
            self.empty[cell >> _SIX] ^= _ONE << (cell & np.uint64(63))
            self.first[cell >> _SIX] |= np.uint64(1 - self.player) << (cell & np.uint64(63))
            self.left -= 1
            self.player = 1 - self.player
            self.won = bool(linked == _LINKED)
            if linked & (around >> _TWO) != _NONE and not self.won:
                self.spread(place, linked << side)

        def around(self, place: np.uint64) -> np.uint64:
            """Return the union of the links of a cell's neighbours."""
            links = self.links
            above = links[place - row_up] | links[place - corner_up]
            below = links[place + row_up] | links[place + corner_up]
            return np.uint64(above | links[place - _ONE] | links[place + _ONE] | below)

        def spread(self, place: np.uint64, linked: np.uint64) -> None:
            """Link all stones of a chain to the edge to which one of them is linked."""
            news = linked << _TWO
            height = 0
            while True:
                for step in from_above:
                    neighbour = (place - row_up) + step
                    links = np.uint64(self.links[neighbour])
                    if links & news != _NONE:
                        self.links[neighbour] = links ^ (news | linked)
                        self.stack[height] = neighbour
                        height += 1
                if height == 0:
                    return
                height -= 1
                place = np.uint64(self.stack[height])
                self.stack[height] = 0

        def is_terminal(self) -> bool:
            return self.won

        def rewards(self, out: Any) -> None:
            out[self.player] = -1.0
            out[1 - self.player] = 1.0

        def random_action(self, rng: Any) -> int:
            return random_bit(self.empty, self.left, rng)

        def observe(self, player: int, out: Any) -> None:
            """Write four planes: the player's own stones, the opponent's, ones if the player is to move, ones for X.

            The last plane shows which edges the player connects. The cell of action size * row + column stands at
            [row, column], so row 0 is the top edge.
            """
            for row in range(size):
                for column in range(size):
                    stone = np.uint64(self.links[stride * (row + 1) + column + 1])
                    out[0, row, column] = stone >> np.uint64(4 * player) & _OWN != _NONE
                    out[1, row, column] = stone >> np.uint64(4 - 4 * player) & _OWN != _NONE
                    out[2, row, column] = player == self.player
                    out[3, row, column] = player == 0

        def transform(self, symmetry: int) -> None:
            """Turn the board by half a turn, by symmetry 1; near and far edges are exchanged."""
            if symmetry == 0:
                return
            links, empty, first = self.links.copy(), self.empty.copy(), self.first.copy()
            for place in range(framed):
                bits = np.uint64(links[framed - 1 - place])
                self.links[place] = (bits & _NEAR) << _ONE | (bits >> _ONE) & _NEAR
            for word in range(words):
                self.empty[word] = _NONE
                self.first[word] = _NONE
            for cell in range(cells):
                word, bit = cell // 64, np.uint64(cell % 64)
                target, goal = (cells - 1 - cell) // 64, np.uint64((cells - 1 - cell) % 64)
                self.empty[target] |= (empty[word] >> bit & _ONE) << goal
                self.first[target] |= (first[word] >> bit & _ONE) << goal

        def transform_action(self, symmetry: int, action: int) -> int:
            return cells - 1 - action if symmetry == 1 else action

        def key(self) -> np.uint64:
            key = _NONE  # the number of empty cells gives the player to move
            for word in range(words):
                key = mix_bits(mix_bits(key ^ self.empty[word]) ^ self.first[word])
            return key

        def board(self) -> Grid:
            empty, first = (
                sum(int(bits) << (64 * word) for word, bits in enumerate(cell_set))
                for cell_set in (self.empty, self.first)
            )
            names = ["" if empty >> cell & 1 else "X" if first >> cell & 1 else "O" for cell in range(cells)]
            rows = [names[start : start + size] for start in range(0, cells, size)]
            return Grid(rows, shape="hex", origin="top", edges=("X", "O", "X", "O"))

        def render(self) -> str:
            rows = [
                f"{' ' * row}{row + 1:2} {' '.join(cell or '.' for cell in line)}"
                for row, line in enumerate(self.board().rows)
            ]
            return "\n".join(["   " + " ".join(_FILES[:size]), *rows])

        def move_text(self, action: int) -> str:
            return f"{_FILES[action % size]}{action // size + 1}"

        def parse_move(self, text: str) -> int:
            return size * range(1, size + 1).index(int(text[1:])) + _FILES[:size].index(text[0].lower())

    return Hex  # type: ignore[return-value]  # mypy does not see what a class decorator returns
