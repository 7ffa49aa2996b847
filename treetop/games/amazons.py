"""The game of the Amazons."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import Game, Grid, checks, family, field, game, mix_bits, read_diagram, square_symmetries

_NONE = np.uint64(0)
_FILES = "abcdefghij"
_EMPTY, _X, _ARROW, _FRAME = 0, 1, 3, 4  # in `cells`; O is 2
_PIECES = ".XO#"


@family
def amazons(size: int = 6) -> Game:
    """Move amazons and shoot arrows on a board of `size` x `size` squares (4 to 10); who cannot move loses."""
    checks.whole("size", size, 4, 10)
    squares = size * size
    arrows = squares * squares  # the action of an arrow to square 0
    # A place is a square of the framed board, in which the right edge of a row is the left edge of the next one.
    stride = size + 1
    framed = stride * (size + 2) + 1
    place_of = np.array([stride * (row + 1) + column + 1 for row in range(size) for column in range(size)], np.int64)
    square_of = np.zeros(framed, np.int64)
    square_of[place_of] = np.arange(squares)
    directions = np.array([1, -1, stride, -stride, stride + 1, stride - 1, 1 - stride, -1 - stride], np.int64)
    third, last = (size - 1) // 3, size - 1
    starts = ((third, 0), (0, third), (0, last - third), (third, last))
    homes = np.array(
        [sorted(stride * (row + 1) + column + 1 for row, column in starts),
         sorted(stride * (last - row + 1) + column + 1 for row, column in starts)], np.int64,
    )  # fmt: skip
    mirror = square_symmetries(size)[1]

    @game(
        players=2, num_actions=arrows + squares, max_length=2 * (squares - 8), observation_shape=(5, size, size),
        symmetries=2,
    )  # fmt: skip
    class Amazons:
        """Move an amazon and shoot an arrow; the player who cannot move loses.

        The players have four amazons each and take turns, X first. A turn is two actions: an amazon moves any number of
        squares in a straight or diagonal line, and then shoots an arrow that flies in the same way from its new square.
        Squares with amazons or arrows are never entered or crossed, and arrows stay. A player who cannot move loses.
        Action size * size * s + t moves from the square s to t, and size ** 4 + t shoots at t.
        """

        cells: Any = field("u1", framed)
        queens: Any = field("u1", (2, 4))  # the places of the amazons of X and O, in increasing order
        shooter: int = field("u1")  # the place of the amazon that has moved and has to shoot, or 0
        player: int = field("i1")

        def reset(self) -> None:
            self.clear()
            for player in range(2):
                for number in range(4):
                    self.queens[player, number] = homes[player, number]
                    self.cells[homes[player, number]] = _X + player
            self.player = 0

        def clear(self) -> None:
            """Empty the board."""
            for place in range(framed):
                self.cells[place] = _FRAME
            for square in range(squares):
                self.cells[place_of[square]] = _EMPTY
            self.shooter = 0

        def legal_actions(self, out: Any) -> int:
            if self.shooter > 0:
                return self.list_reached(self.shooter, arrows, out, 0)
            count = 0
            for number in range(4):
                queen = self.queens[self.player, number]
                count = self.list_reached(queen, squares * square_of[queen], out, count)
            return count

        def list_reached(self, start: int, base: int, out: Any, count: int) -> int:
            """Append `base` plus each square that is reached from a place to `out`; return the new count."""
            for direction in directions:
                place = start + direction
                while self.cells[place] == _EMPTY:
                    out[count] = base + square_of[place]
                    count += 1
                    place += direction
            return count

        def reaches(self, start: int) -> int:
            """Return how many squares are reached from a place."""
            count = 0
            for direction in directions:
                place = start + direction
                while self.cells[place] == _EMPTY:
                    count += 1
                    place += direction
            return count

        def reached(self, start: int, number: int) -> int:
            """Return the square with a number, from 0, among those that are reached from a place."""
            for direction in directions:
                place = start + direction
                while self.cells[place] == _EMPTY:
                    if number == 0:
                        return int(square_of[place])
                    number -= 1
                    place += direction
            return 0

        def apply(self, action: int) -> None:
            if action >= arrows:
                self.cells[place_of[action - arrows]] = _ARROW
                self.shooter = 0
                self.player = 1 - self.player
                return
            source, target = place_of[action // squares], place_of[action % squares]
            self.cells[source] = _EMPTY
            self.cells[target] = _X + self.player
            for number in range(4):
                if self.queens[self.player, number] == source:
                    self.queens[self.player, number] = target
            self.sort(self.player)
            self.shooter = target

        def sort(self, player: int) -> None:
            """Put a player's amazons into increasing order."""
            for _ in range(3):
                for number in range(3):
                    one, two = self.queens[player, number], self.queens[player, number + 1]
                    if one > two:
                        self.queens[player, number] = two
                        self.queens[player, number + 1] = one

        def is_terminal(self) -> bool:
            if self.shooter > 0:
                return False
            for number in range(4):
                for direction in directions:
                    if self.cells[self.queens[self.player, number] + direction] == _EMPTY:
                        return False
            return True

        def rewards(self, out: Any) -> None:
            out[self.player] = -1.0
            out[1 - self.player] = 1.0

        def random_action(self, rng: Any) -> int:
            if self.shooter > 0:
                return arrows + self.reached(self.shooter, rng.below(self.reaches(self.shooter)))
            counts = (
                self.reaches(self.queens[self.player, 0]),
                self.reaches(self.queens[self.player, 1]),
                self.reaches(self.queens[self.player, 2]),
                self.reaches(self.queens[self.player, 3]),
            )
            chosen, number = rng.below(counts[0] + counts[1] + counts[2] + counts[3]), 0
            while chosen >= counts[number]:
                chosen -= counts[number]
                number += 1
            queen = self.queens[self.player, number]
            return int(squares * square_of[queen]) + self.reached(queen, chosen)

        def heuristic(self, out: Any) -> None:
            """Write the lead in squares that the amazons reach."""
            first, second = 0, 0
            for number in range(4):
                first += self.reaches(self.queens[0, number])
                second += self.reaches(self.queens[1, number])
            out[0] = (first - second) / (first + second + 1)
            out[1] = -out[0]

        def observe(self, player: int, out: Any) -> None:
            """Write five planes; row 0 is the bottom of the board.

            The player's own amazons; the opponent's; arrows; the amazon that has to shoot; ones if the player is to
            move.
            """
            for square in range(squares):
                row, column, place = square // size, square % size, place_of[square]
                out[0, row, column] = self.cells[place] == _X + player
                out[1, row, column] = self.cells[place] == _X + 1 - player
                out[2, row, column] = self.cells[place] == _ARROW
                out[3, row, column] = self.shooter == place
                out[4, row, column] = self.player == player

        def transform(self, symmetry: int) -> None:
            if symmetry == 0:
                return
            cells, queens, shooter = self.cells.copy(), self.queens.copy(), self.shooter
            for square in range(squares):
                self.cells[place_of[mirror[square]]] = cells[place_of[square]]
            for player in range(2):
                for number in range(4):
                    self.queens[player, number] = place_of[mirror[square_of[queens[player, number]]]]
                self.sort(player)
            if shooter > 0:
                self.shooter = place_of[mirror[square_of[shooter]]]

        def transform_action(self, symmetry: int, action: int) -> int:
            if symmetry == 0:
                return action
            if action >= arrows:
                return int(arrows + mirror[action - arrows])
            return int(squares * mirror[action // squares] + mirror[action % squares])

        def key(self) -> np.uint64:
            key = np.uint64(2 * self.shooter + self.player)
            for square in range(squares):
                key = mix_bits(key ^ np.uint64(self.cells[place_of[square]]))
            return key

        def rows(self) -> list[list[str]]:
            """Return the squares for people, the top row first."""
            cells = ["" if self.cells[place] == _EMPTY else _PIECES[self.cells[place]] for place in place_of]
            return [cells[start : start + size] for start in reversed(range(0, squares, size))]

        def board(self) -> Grid:
            return Grid([["■" if cell == "#" else cell for cell in row] for row in self.rows()], surface="checkered")

        def render(self) -> str:
            rows = [
                f"{size - index:2} {' '.join(cell or '.' for cell in row)}" for index, row in enumerate(self.rows())
            ]
            side = "XO"[self.player]
            last = f"game over, {side} cannot move" if self.is_terminal() else f"{side} to move"
            if self.shooter > 0:
                last = f"{side} to shoot from {self.name_of(int(square_of[self.shooter]))}"
            return "\n".join([*rows, "   " + " ".join(_FILES[:size]), last])

        def name_of(self, square: int) -> str:
            """Return the name of a square, for people."""
            return f"{_FILES[square % size]}{square // size + 1}"

        def move_text(self, action: int) -> str:
            if action >= arrows:
                return self.name_of(action - arrows)
            return f"{self.name_of(action // squares)}-{self.name_of(action % squares)}"

        def parse_move(self, text: str) -> int:
            named = [
                size * range(1, size + 1).index(int(part[1:])) + _FILES[:size].index(part[0].lower())
                for part in text.split("-")
            ]
            return arrows + named[0] if len(named) == 1 else squares * named[0] + named[1]

        def parse(self, text: str) -> None:
            """Set up a diagram, with # for arrows; X or O after the rows is to move an amazon (default: X)."""
            rows, side = read_diagram(text, size, size, _FILES, pieces="XO#")
            cells = "".join(reversed(rows))
            if cells.count("X") != 4 or cells.count("O") != 4:
                raise ValueError("there are four amazons of X and four of O on the board")
            self.clear()
            for player in range(2):
                found = [int(place_of[square]) for square in range(squares) if cells[square] == "XO"[player]]
                for number in range(4):
                    self.queens[player, number] = found[number]
            for square in range(squares):
                self.cells[place_of[square]] = _PIECES.index(cells[square])
            self.player = 1 if side == "O" else 0

    return Amazons  # type: ignore[return-value]  # mypy does not see what a class decorator returns
