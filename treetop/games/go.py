"""Go."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import (
    Element,
    Game,
    Grid,
    Table,
    checks,
    family,
    field,
    game,
    mix_bits,
    read_diagram,
    square_symmetries,
)
from treetop.games.go_playouts import NOWHERE, playout_move

_NONE, _ONE, _6, _63 = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63)
_FILES = "ABCDEFGHJKLMNOPQRST"  # no I: it looks like a 1
_FRAME = 3  # in `cells`
# The numbers in `around`: how many neighbours are empty, X and O (those in the frame count as both), and whether X or,
# one place higher, O has had a stone on the point.
_EMPTY, _X, _O, _HAD = 0x000F, 0x00F0, 0x0F00, 0x1000


@family
def go(size: int = 9, komi: float = 7.5) -> Game:
    """Surround more of a board of `size` x `size` points (2 to 19); O has `komi` points for moving second."""
    checks.whole("size", size, 2, 19)
    checks.number("komi", komi, -361, 361)
    points = size * size
    words = (points + 63) // 64
    longest = 3 * points
    few = 1 << (longest // 12).bit_length()  # words with at least five bits for each position of a game
    last_word = np.uint64(few - 1)
    # A place is a point of the board with its frame, in which the right edge of a row is the left edge of the next one.
    # Indices are unsigned, so that compiled code does not check for negative ones.
    stride = size + 1
    framed = stride * (size + 2) + 1
    kind = "u1" if framed <= 256 else "u2"
    place_of = np.array([stride * (row + 1) + column + 1 for row in range(size) for column in range(size)], np.uint64)
    action_of = np.zeros(framed, np.int64)
    action_of[place_of] = np.arange(points)
    row_up = np.uint64(stride)
    # The neighbours of a place, relative to the one below it.
    beside = np.array([0, stride - 1, stride + 1, 2 * stride], np.uint64)
    hashes = np.array([mix_bits(np.uint64(number + 1)) for number in range(2 * framed)]).reshape(2, framed)
    places = square_symmetries(size)

    @game(players=2, num_actions=points + 1, max_length=longest, observation_shape=(8, size, size), symmetries=8)
    class Go:
        """Surround points with stones; the larger area wins.

        The players take turns, X first, to put a stone on an empty point or to pass (action size * size). Chains are
        stones of one player that are connected along the lines; a chain without an adjacent empty point, a liberty, is
        removed, those of the opponent first. A move that leaves its own chain without a liberty (suicide) or repeats
        any earlier position of the board (positional superko) is illegal. Two passes in a row end the game, as do
        3 * size * size moves. A player's area is the player's stones and the empty points from which only these are
        reached along empty points; all stones on the board count as alive. O adds the komi to its area.
        """

        history: Any = field("u8", longest + 1)  # the hash of each position since the start, in its first `boards`
        seen: Any = field("u8", few)  # a bit for each hash in the history: most others differ in it
        first: Any = field("u8", (2, words))  # the stones of X and of O at the start, one bit a point
        hash: np.uint64 = field("u8")  # of all stones
        liberties: Any = field("i2", framed)  # of a chain: each pair of a stone and an empty neighbour counts
        around: Any = field("u2", framed)  # see _EMPTY
        moves: Any = field("u2", longest)  # all actions since the start
        cells: Any = field("u1", framed)  # 0 empty, 1 X, 2 O, 3 the frame
        chain: Any = field(kind, framed)  # the place that names the chain of a stone, 0 for other places
        following: Any = field(kind, framed)  # the next stone of the chain, in a circle
        empty: Any = field(kind, points)  # the empty places, in any order
        number: Any = field(kind, framed)  # of an empty place in `empty`
        left: int = field("i2")  # the number of empty places
        length: int = field("i2")  # the number of moves
        boards: int = field("i2")
        passes: int = field("i1")  # in a row
        player: int = field("i1")
        opener: int = field("i1")  # the player who moved first

        def reset(self) -> None:
            for word in range(words):
                self.first[0, word] = _NONE
                self.first[1, word] = _NONE
            self.opener = 0
            self.begin()

        def begin(self) -> None:
            """Set up the stones of the start."""
            self.clear()
            for action in range(points):
                for player in range(2):
                    if self.first[player, action // 64] >> np.uint64(action % 64) & _ONE != _NONE:
                        self.put(place_of[action], player)
            self.note()
            self.length = 0
            self.passes = 0
            self.player = self.opener

        def note(self) -> None:
            """Add the position to the history."""
            self.history[self.boards] = self.hash
            self.seen[self.hash >> _6 & last_word] |= _ONE << (self.hash & _63)
            self.boards += 1

        def clear(self) -> None:
            """Remove all stones and the history."""
            for place in range(framed):
                self.cells[place] = _FRAME
                self.chain[place] = 0
                self.following[place] = 0
                self.liberties[place] = 0
                self.number[place] = 0
                self.around[place] = 0x0444  # of the frame, whose numbers change and are not used
            for action in range(points):
                self.cells[place_of[action]] = 0
                self.empty[action] = place_of[action]
                self.number[place_of[action]] = action
            for action in range(points):
                around = 0
                for step in beside:
                    around += 1 if self.cells[place_of[action] - row_up + step] == 0 else 0x0110
                self.around[place_of[action]] = around
            for move in range(longest):
                self.history[move] = _NONE
                self.moves[move] = 0
            self.history[longest] = _NONE
            self.seen[:] = _NONE
            self.boards = 0
            self.hash = _NONE
            self.left = points

        def legal_actions(self, out: Any) -> int:
            count = 0
            for action in range(points):
                if self.cells[place_of[action]] == 0 and self.allows(place_of[action]):
                    out[count] = action
                    count += 1
            out[count] = points
            return count + 1

        def apply(self, action: int) -> None:
            self.moves[self.length] = action
            self.length += 1
            if action == points:
                self.passes += 1
            else:
                self.put(place_of[action], self.player)
                self.note()
                self.passes = 0
            self.player = 1 - self.player

        def put(self, place: np.uint64, player: int) -> None:
            """Put a stone on an empty place, and remove the chains that it captures."""
            own, below, around = player + 1, place - row_up, self.around[place]
            self.left -= 1
            last, number = self.empty[self.left], self.number[place]
            self.empty[number] = last
            self.number[last] = number
            self.around[place] = around | _HAD << player
            self.cells[place] = own
            self.following[place] = place
            self.liberties[place] = 0
            self.hash ^= hashes[player, place]
            change = (0x0010 << 4 * player) - 1
            for step in beside:
                self.around[below + step] += change
                self.liberties[self.chain[below + step]] -= 1  # of chain 0 it is not used
            # Few branches, since nobody can predict them: the stone joins one of its chains, or is its own.
            joined, captures, joins = np.uint64(place), False, False
            for step in beside:
                chain, cell = np.uint64(self.chain[below + step]), self.cells[below + step]
                joined = chain if cell == own else joined
                captures |= (cell == 3 - own) & (self.liberties[chain] == 0)
            for step in beside:
                joins |= (self.cells[below + step] == own) & (self.chain[below + step] != joined)
            after = self.following[joined]
            self.following[joined] = place
            self.following[place] = after
            self.chain[place] = joined
            self.liberties[joined] += around & _EMPTY
            if joins:
                for step in beside:
                    if self.cells[below + step] == own:
                        self.join(self.chain[below + step], self.chain[place])
            if captures:
                for step in beside:
                    if self.cells[below + step] == 3 - own and self.liberties[self.chain[below + step]] == 0:
                        self.capture(below + step, 1 - player)

        def join(self, kept: int, lost: int) -> None:
            """Make one chain of two, which may be the same."""
            if kept == lost:
                return
            if self.liberties[kept] < self.liberties[lost]:  # mostly this one has fewer stones, which is faster
                kept, lost = lost, kept
            self.liberties[kept] += self.liberties[lost]
            stone = lost
            while True:
                self.chain[stone] = kept
                stone = self.following[stone]
                if stone == lost:
                    break
            after = self.following[kept]
            self.following[kept] = self.following[lost]
            self.following[lost] = after

        def capture(self, start: np.uint64, player: int) -> None:
            """Remove the chain of a stone."""
            change = 1 - (0x0010 << 4 * player)
            stone = start
            while True:
                self.cells[stone] = 0
                self.chain[stone] = 0
                self.empty[self.left] = stone
                self.number[stone] = self.left
                self.left += 1
                self.hash ^= hashes[player, stone]
                for step in beside:
                    self.around[stone - row_up + step] += change
                    self.liberties[self.chain[stone - row_up + step]] += 1
                stone = np.uint64(self.following[stone])
                if stone == start:
                    break

        def allows(self, place: np.uint64) -> bool:
            """Return whether the player may put a stone on an empty place."""
            around = self.around[place]
            # Only a stone where the player has had one before can repeat a position.
            had = around & _HAD << self.player != 0
            return (around & _EMPTY != 0 and not had) or self.allows_closely(place, had)

        def allows_closely(self, place: np.uint64, had: bool) -> bool:
            """Return whether a stone has a liberty and repeats nothing; `had`: the player has had a stone there."""
            own, below = self.player + 1, place - row_up
            breathes, captures = self.around[place] & _EMPTY != 0, False
            for step in beside:
                cell, chain, touching = self.cells[below + step], self.chain[below + step], 0
                for other in beside:
                    touching += self.chain[below + other] == chain
                alone = self.liberties[chain] == touching  # its only liberty is the place
                captures |= (cell == 3 - own) & alone
                breathes |= (cell == own) & (not alone)
            return (breathes or captures) and not (had and self.repeats(place, captures))

        def repeats(self, place: np.uint64, captures: bool) -> bool:
            """Return whether a stone on an empty place would lead to a position of the history."""
            after = self.hash ^ hashes[self.player, place]
            if captures:
                after ^= self.hash_of_captures(place)
            if self.seen[after >> _6 & last_word] >> (after & _63) & _ONE == _NONE:
                return False
            found = False
            for board in range(self.boards):  # no early exit, so that several are compared at once
                found |= self.history[board] == after
            return found

        def hash_of_captures(self, place: np.uint64) -> np.uint64:
            """Return the hash of the stones that a stone on an empty place would capture."""
            found: np.uint64 = _NONE
            below = place - row_up
            for index in range(4):
                chain, known, touching = self.chain[below + beside[index]], False, 0
                for other in range(4):
                    same = self.chain[below + beside[other]] == chain
                    touching += same
                    known |= same & (other < index)
                attacked = self.cells[below + beside[index]] == 2 - self.player and not known
                if attacked and self.liberties[chain] == touching:
                    found ^= self.hash_of(chain)
            return found

        def hash_of(self, chain: int) -> np.uint64:
            """Return the hash of the stones of one of the opponent's chains."""
            found: np.uint64 = _NONE
            stone = chain
            while True:
                found = found ^ hashes[1 - self.player, stone]
                stone = self.following[stone]
                if stone == chain:
                    return found

        def is_terminal(self) -> bool:
            return self.passes == 2 or self.length == longest

        def rewards(self, out: Any) -> None:
            lead = self.lead() - komi
            out[0] = 1.0 if lead > 0 else -1.0 if lead < 0 else 0.0
            out[1] = -out[0]

        def lead(self) -> int:
            """Return the area of X minus that of O, without komi."""
            lead, simple = 0, True
            for place in range(framed):
                cell = self.cells[place]
                lead += int(cell == 1) - int(cell == 2)
            for number in range(self.left):
                around = self.around[self.empty[number]]
                lead += int(around & _X == 0x0040) - int(around & _O == 0x0400)
                simple &= around & _EMPTY == 0
            return lead if simple else lead + self.lead_in_regions()

        def lead_in_regions(self) -> int:
            """Return how many empty points with an empty neighbour only X reaches, minus those that only O reaches."""
            reached = np.zeros(framed, np.uint8)  # of the empty places: 1 if X reaches it, 2 if O does, 3 for both
            for number in range(self.left):
                place, found = np.uint64(self.empty[number]), 0
                for step in beside:
                    found |= self.cells[place - row_up + step] % _FRAME
                reached[place] = found
            changed = True
            while changed:
                changed = False
                for number in range(self.left):
                    place = np.uint64(self.empty[number])
                    found = reached[place]
                    for step in beside:
                        found |= reached[place - row_up + step]
                    changed |= found != reached[place]
                    reached[place] = found
            lead = 0
            for number in range(self.left):
                place = np.uint64(self.empty[number])
                if self.around[place] & _EMPTY != 0:
                    lead += int(reached[place] == 1) - int(reached[place] == 2)
            return lead

        def random_action(self, rng: Any) -> int:
            while True:
                number = rng.below(self.left + 1)
                if number == self.left:
                    return points
                place = np.uint64(self.empty[number])
                if self.allows(place):
                    return int(action_of[place])

        def rollout_action(self, rng: Any) -> int:
            """Return a move of a playout, which fills no eye of the player; a pass, if there is none."""
            last = points if self.length == 0 else int(self.moves[self.length - 1])
            found = playout_move(self, NOWHERE if last == points else place_of[last], row_up, rng)
            return points if found == NOWHERE else int(action_of[found])

        def suits(self, place: np.uint64) -> bool:
            """Return whether a rollout may put a stone on an empty place."""
            inside = self.around[place] >> 4 * self.player & _X == 0x0040
            return not (inside and self.is_eye(place)) and self.allows(place)

        def is_eye(self, place: np.uint64) -> bool:
            """Return whether an empty place among the player's stones is an eye.

            It is false if the opponent has two of the places diagonally beside it, or one at the edge of the board.
            """
            below, above = place - row_up, place + row_up
            taken, edge = 0, False
            for cell in (self.cells[below - _ONE], self.cells[below + _ONE],
                         self.cells[above - _ONE], self.cells[above + _ONE]):  # fmt: skip
                taken += cell == 2 - self.player
                edge |= cell == _FRAME
            return taken + edge < 2

        def heuristic(self, out: Any) -> None:
            """Write an estimate by area, in which an empty point belongs to the player with more stones beside it."""
            lead = 0
            for action in range(points):
                cell, around = self.cells[place_of[action]], self.around[place_of[action]]
                x, o = (around & _X) >> 4, (around & _O) >> 8
                lead += 3 - 2 * cell if cell != 0 else int(x > o) - int(x < o)
            estimate = (lead - komi) / size
            out[0] = estimate / (1.0 + abs(estimate))
            out[1] = -out[0]

        def key(self) -> np.uint64:
            """Return a hash of the stones, the history and the length, all of which limit the moves to come."""
            past = _NONE
            for board in range(self.boards):
                past ^= mix_bits(self.history[board])
            return mix_bits(mix_bits(past ^ np.uint64(4 * self.length + 2 * self.passes + self.player)) ^ self.hash)

        def observe(self, player: int, out: Any) -> None:
            """Write eight planes, in which [row, column] is the point of action size * row + column; row 0 is row 1.

            The player's own stones; the opponent's; ones if the player is to move; ones for X, who gives komi; the
            point of the last move; ones if that was a pass; empty points that the player to move may not play on; the
            share of moves left.
            """
            last = self.moves[self.length - 1] if self.length > 0 else -1
            for action in range(points):
                row, column, place = action // size, action % size, place_of[action]
                out[0, row, column] = self.cells[place] == 1 + player
                out[1, row, column] = self.cells[place] == 2 - player
                out[2, row, column] = self.player == player
                out[3, row, column] = player == 0
                out[4, row, column] = action == last
                out[5, row, column] = last == points
                out[6, row, column] = self.cells[place] == 0 and not self.allows(place)
                out[7, row, column] = 1.0 - self.length / longest

        def transform(self, symmetry: int) -> None:
            """Play the whole game again with transformed moves, so that the history is transformed too."""
            first, moves, length = self.first.copy(), self.moves.copy(), self.length
            for player in range(2):
                for word in range(words):
                    self.first[player, word] = _NONE
                for action in range(points):
                    stone = first[player, action // 64] >> np.uint64(action % 64) & _ONE
                    target = places[symmetry, action]
                    self.first[player, target // 64] |= stone << np.uint64(target % 64)
            self.begin()
            for move in range(length):
                self.apply(self.transform_action(symmetry, int(moves[move])))

        def transform_action(self, symmetry: int, action: int) -> int:
            return action if action == points else int(places[symmetry, action])

        def rows(self) -> list[list[str]]:
            """Return the stones for people, the top row first."""
            cells = ["" if cell == 0 else ".XO"[cell] for cell in (self.cells[place] for place in place_of)]
            return [cells[start : start + size] for start in reversed(range(0, points, size))]

        def captured(self, player: int) -> int:
            """Return how many stones of a player were captured, for people."""
            put = sum(int(word).bit_count() for word in self.first[player])
            for turn in range((player - self.opener) % 2, self.length, 2):
                put += self.moves[turn] != points
            return put - sum(row.count("XO"[player]) for row in self.rows())

        def board(self) -> list[Element]:
            names = [[f"{letter}{size - row}" for letter in _FILES[:size]] for row in range(size)]
            captures = {"captured by X": self.captured(1), "captured by O": self.captured(0)}
            return [Grid(self.rows(), surface="lines", cell_names=names), Table(captures)]

        def summary(self) -> dict[str, float]:
            """Return the lead of X in points, which `final_score` of the Go Text Protocol reports."""
            return {"lead": self.lead() - komi}

        def render(self) -> str:
            rows = [
                f"{size - index:2} {' '.join(cell or '.' for cell in row)}" for index, row in enumerate(self.rows())
            ]
            last = f"{'XO'[self.player]} to move"
            if self.is_terminal():
                lead = self.lead() - komi
                last = f"game over, {'X' if lead > 0 else 'O'} wins by {abs(lead):g}" if lead else "game over, a draw"
            return "\n".join([*rows, "   " + " ".join(_FILES[:size]), last])

        def move_text(self, action: int) -> str:
            return "pass" if action == points else f"{_FILES[action % size]}{action // size + 1}"

        def parse_move(self, text: str) -> int:
            if text.lower() == "pass":
                return points
            return size * range(1, size + 1).index(int(text[1:])) + _FILES[:size].index(text[0].upper())

        def parse(self, text: str) -> None:
            """Set up a diagram, as `render` prints it or with slashes between rows; X or O after it is to move."""
            rows, side = read_diagram(text, size, size, _FILES)
            cells = "".join(reversed(rows))
            for player in range(2):
                for word in range(words):
                    part = cells[64 * word : 64 * word + 64]
                    self.first[player, word] = sum(1 << bit for bit, cell in enumerate(part) if cell == "XO"[player])
            self.opener = "XO".index(side or "X")
            self.begin()
            for action, cell in enumerate(cells):
                place = place_of[action]
                if cell != "." and (self.cells[place] == 0 or self.liberties[self.chain[place]] == 0):
                    raise ValueError(
                        f"the chain of {cell} at {self.move_text(action)} has no liberty, an empty point beside it: "
                        "leave out chains that are captured"
                    )

    return Go  # type: ignore[return-value]  # mypy does not see what a class decorator returns
