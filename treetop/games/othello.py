"""Othello."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import (
    Game,
    Grid,
    checks,
    compiled,
    family,
    field,
    game,
    lowest_bit,
    mix_bits,
    nth_bit,
    permute_bits,
    popcount,
    read_diagram,
    require,
    square_symmetries,
)

_NONE, _ONE = np.uint64(0), np.uint64(1)
_FILES = "abcdefgh"


@family
def othello(size: int = 8) -> Game:
    """Outflank and flip discs on a board of `size` x `size` squares (4, 6 or 8); the majority wins."""
    checks.whole("size", size, 4, 8)
    require(size % 2 == 0, f"size must be even, not {size}")
    squares, middle = size * size, size // 2
    # Square (row, column) is bit size * row + column, counted from the top left: a1 is bit 0.
    full = np.uint64((1 << squares) - 1)
    # The squares through which a horizontal or diagonal line may pass: in an edge column it would wrap around.
    inner = np.uint64(sum(1 << (size * row + column) for row in range(size) for column in range(1, size - 1)))
    start_x = np.uint64(1 << (size * (middle - 1) + middle) | 1 << (size * middle + middle - 1))
    start_o = np.uint64(1 << (size * (middle - 1) + middle - 1) | 1 << (size * middle + middle))
    corners = np.uint64(1 | 1 << (size - 1) | 1 << (squares - size) | 1 << (squares - 1))
    level, upright, falling, rising = (np.uint64(step) for step in (1, size, size + 1, size - 1))
    # Half a turn and the reflections in both diagonals. The other four symmetries of the board do not keep the start.
    places = square_symmetries(size)[[0, 3, 4, 7]]

    @compiled
    def lines(start: np.uint64, through: np.uint64, step: np.uint64) -> tuple[np.uint64, np.uint64]:
        """Return the unbroken lines of discs of `through` that start next to `start`, forward and backward."""
        ahead = (start << step) & through
        behind = (start >> step) & through
        ahead |= (ahead << step) & through
        behind |= (behind >> step) & through
        if size > 4:
            twice = step + step
            pairs = through & (through << step)
            pairs_behind = pairs >> step
            ahead |= (ahead << twice) & pairs
            behind |= (behind >> twice) & pairs_behind
            if size > 6:
                ahead |= (ahead << twice) & pairs
                behind |= (behind >> twice) & pairs_behind
        return ahead, behind

    @compiled
    def ends(mine: np.uint64, through: np.uint64, step: np.uint64) -> np.uint64:
        ahead, behind = lines(mine, through, step)
        return (ahead << step) | (behind >> step)

    @compiled
    def find_moves(mine: np.uint64, theirs: np.uint64) -> np.uint64:
        """Return the squares where a disc would outflank others: the far ends of their lines."""
        between = theirs & inner
        found = (
            ends(mine, between, level)
            | ends(mine, theirs, upright)
            | ends(mine, between, falling)
            | ends(mine, between, rising)
        )
        return found & full & ~(mine | theirs)

    @compiled
    def outflanked(disc: np.uint64, mine: np.uint64, through: np.uint64, step: np.uint64) -> np.uint64:
        ahead, behind = lines(disc, through, step)
        turned = ahead if (ahead << step) & mine != _NONE else _NONE
        return turned | (behind if (behind >> step) & mine != _NONE else _NONE)

    @compiled
    def find_turned(disc: np.uint64, mine: np.uint64, theirs: np.uint64) -> np.uint64:
        between = theirs & inner
        turned = outflanked(disc, mine, between, level) | outflanked(disc, mine, theirs, upright)
        return turned | outflanked(disc, mine, between, falling) | outflanked(disc, mine, between, rising)

    @game(
        players=2,
        num_actions=squares + 1,
        max_length=2 * (squares - 4),
        observation_shape=(3, size, size),
        symmetries=4,
    )
    class Othello:
        """Outflank and flip discs; the majority wins.

        The players take turns, X first, to place a disc such that discs of the opponent form an unbroken line, in any
        of the eight directions, between it and another disc of the player; all discs outflanked in this way are
        flipped. A player who cannot do so must pass (action size * size); when neither can, the game is over. More
        discs win, equal numbers are a draw.
        """

        mine: np.uint64 = field("u8")  # the discs of the player to move
        theirs: np.uint64 = field("u8")
        moves: np.uint64 = field("u8")  # the legal squares of the player to move
        player: int = field("i1")
        over: bool = field("bool")

        def reset(self) -> None:
            self.player = 0
            self.set_up(start_x, start_o)

        def set_up(self, mine: np.uint64, theirs: np.uint64) -> None:
            self.mine = mine
            self.theirs = theirs
            self.moves = find_moves(mine, theirs)
            self.over = bool(self.moves == _NONE and find_moves(theirs, mine) == _NONE)

        def legal_actions(self, out: Any) -> int:
            count = 0
            moves = self.moves
            while moves != _NONE:
                out[count] = lowest_bit(moves)
                moves &= moves - _ONE
                count += 1
            if count == 0:
                out[0] = squares
                return 1
            return count

        def apply(self, action: int) -> None:
            moved, other = self.mine, self.theirs
            if action < squares:
                disc = _ONE << np.uint64(action)
                turned = find_turned(disc, moved, other)
                moved |= disc | turned
                other ^= turned
            self.player = 1 - self.player
            self.set_up(other, moved)

        def is_terminal(self) -> bool:
            return self.over

        def rewards(self, out: Any) -> None:
            lead = popcount(self.mine) - popcount(self.theirs)
            out[self.player] = 1.0 if lead > 0 else -1.0 if lead < 0 else 0.0
            out[1 - self.player] = -out[self.player]

        def random_action(self, rng: Any) -> int:
            if self.moves == _NONE:
                return squares
            return nth_bit(self.moves, rng.below(popcount(self.moves)))

        def heuristic(self, out: Any) -> None:
            """Write the lead in corners and in mobility."""
            freedom = popcount(self.moves) - popcount(find_moves(self.theirs, self.mine))
            held = popcount(self.mine & corners) - popcount(self.theirs & corners)
            lead = 0.08 * freedom + 0.4 * held
            out[self.player] = lead / (1.0 + abs(lead))
            out[1 - self.player] = -out[self.player]

        def observe(self, player: int, out: Any) -> None:
            """Write three planes: the player's own discs, the opponent's, and ones if the player is to move.

            The square of action size * row + column stands at [row, column], so row 0 is the top of the board.
            """
            own = self.mine if player == self.player else self.theirs
            other = self.theirs if player == self.player else self.mine
            for square in range(squares):
                row, column = square // size, square % size
                out[0, row, column] = (own >> np.uint64(square)) & _ONE
                out[1, row, column] = (other >> np.uint64(square)) & _ONE
                out[2, row, column] = player == self.player

        def transform(self, symmetry: int) -> None:
            self.mine = permute_bits(self.mine, places[symmetry])
            self.theirs = permute_bits(self.theirs, places[symmetry])
            self.moves = permute_bits(self.moves, places[symmetry])

        def transform_action(self, symmetry: int, action: int) -> int:
            return action if action == squares else int(places[symmetry, action])

        def key(self) -> np.uint64:
            return mix_bits(mix_bits(self.mine) ^ self.theirs) ^ np.uint64(self.player)

        def board(self) -> Grid:
            mine, theirs = int(self.mine), int(self.theirs)
            own, other = ("X", "O") if self.player == 0 else ("O", "X")
            cells = [own if mine >> square & 1 else other if theirs >> square & 1 else "" for square in range(squares)]
            return Grid([cells[start : start + size] for start in range(0, squares, size)], origin="top")

        def render(self) -> str:
            rows = [
                " ".join([str(index + 1), *(cell or "." for cell in row)])
                for index, row in enumerate(self.board().rows)
            ]
            side, mine, theirs = "XO"[self.player], int(popcount(self.mine)), int(popcount(self.theirs))
            discs = (mine, theirs) if self.player == 0 else (theirs, mine)
            last = f"{side} to move" if not self.over else f"game over, X {discs[0]}, O {discs[1]}"
            return "\n".join([" ".join([" ", *_FILES[:size]]), *rows, last])

        def move_text(self, action: int) -> str:
            return "pass" if action == squares else f"{_FILES[action % size]}{action // size + 1}"

        def parse_move(self, text: str) -> int:
            if text.lower() == "pass":
                return squares
            return size * range(1, size + 1).index(int(text[1:])) + _FILES[:size].index(text[0].lower())

        def parse(self, text: str) -> None:
            # Without a player to move the number of discs gives the player, as if nobody had passed.
            rows, side = read_diagram(text, size, size, _FILES)
            cells = "".join(rows)
            discs = {disc: sum(1 << square for square in range(squares) if cells[square] == disc) for disc in "XO"}
            if (discs["X"] | discs["O"]) & int(start_x | start_o) != start_x | start_o:
                raise ValueError(f"the four squares in the middle are never empty; not {text!r}")
            side = side or "XO"[(discs["X"] | discs["O"]).bit_count() % 2]
            self.player = "XO".index(side)
            self.set_up(np.uint64(discs[side]), np.uint64(discs["O" if side == "X" else "X"]))

    return Othello  # type: ignore[return-value]  # mypy does not see what a class decorator returns
