"""The rules of shogi on boards of two sizes; `shogi` and `minishogi` are made from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import Element, Game, field, game, lowest_bit, mix_bits
from treetop.games.shogi_playouts import ALL, draw_action, find_capture, find_lead
from treetop.games.shogi_tables import (
    KINDS,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    SLIDES,
    STEPS,
    UNPROMOTED,
    Variant,
)
from treetop.games.shogi_text import SIDES, action_named, diagram_of, name_of, parts_of, read_position, sfen_of

_NONE, _ONE, _LOW = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFF)
_SIDE = np.uint64(0x9E3779B97F4A7C15)  # in the key if player 1 is to move
_TRIES = 8  # draws of moves before the legal ones are counted
_HANDS = 1 << 20  # added to what is hashed for pieces in hand


def make(variant: Variant, most_plies: int) -> Game:
    """Return shogi on the board of a variant; a game of `most_plies` moves is a draw."""
    size, squares, directions = variant.size, variant.squares, variant.directions
    reach, deltas, regions, files = variant.reach(), variant.deltas(), variant.regions(), variant.files()
    drops, kinds = np.array(variant.drops), variant.kinds
    plane_of = np.array([kinds.index(kind) if kind in kinds else 0 for kind in range(KINDS)])
    amounts = np.array(variant.amounts)
    own_planes, hand_planes, zone = len(kinds), len(variant.drops), size - variant.zone
    planes = 2 * own_planes + 2 * hand_planes + 3
    has_knights = KNIGHT in variant.drops
    full = variant.words(lambda _rank, _file: True)
    first = read_position(variant.start, variant).pieces
    start_cells = np.zeros(squares, np.int64)
    for square, player, kind in first:
        start_cells[square] = kind + 1 if player == 0 else -kind - 1

    @game(
        players=2,
        num_actions=(2 * directions + len(variant.drops)) * squares,
        max_length=most_plies,
        observation_shape=(planes, size, size),
    )
    class Shogi:
        """Checkmate the king; captured pieces change sides and are dropped.

        Black, player 0, moves first and up the board. Pieces are kings (K), rooks (R), bishops (B), generals of gold
        (G) and silver (S), knights (N), lances (L) and pawns (P). A piece that enters, leaves or moves inside the far
        ranks (three of nine, one of five) may promote, and must where it could never move again. Instead of a move, a
        captured piece may be dropped, unpromoted, on an empty square from which it can move later; a pawn neither on a
        file with an unpromoted pawn of the same player nor so that it gives mate. A player without a legal move loses.

        The fourth occurrence of a position, with the same pieces in hand and the same player to move, ends the game: a
        player whose every move since the first one gave check loses, else it is a draw. A game of `most_plies` moves is
        a draw. There is no declaration of a king that has entered the far ranks.
        """

        policy_places = np.arange((2 * directions + len(variant.drops)) * squares)  # planes over the target squares
        cells: Any = field("i1", squares)  # 0, or 1 + kind, negative for player 1
        own: Any = field("u8", (2, 2))  # the squares of each player's pieces, as words
        free: Any = field("u8", (2, 2))  # the squares of the files without an unpromoted pawn of each player
        hands: Any = field("i1", (2, 7))
        kings: Any = field("i1", 2)
        word: np.uint64 = field("u8")  # the key of the pieces, the hands and the player to move
        past: Any = field("u4", most_plies)  # the lower halves of these words since the start
        plies: int = field("i2")
        checking: Any = field("i2", 2)  # the last moves of each player that all gave check
        checked: bool = field("bool")  # whether the player to move is in check
        player: int = field("i1")
        result: int = field("i1")  # 1 + the winner, 3 for a draw, 0 while the game goes on

        def reset(self) -> None:
            self.clear()
            for square in range(squares):
                code = int(start_cells[square])
                if code != 0:
                    self.put(0 if code > 0 else 1, abs(code) - 1, square)
            self.past[0] = int(self.word & _LOW)

        def clear(self) -> None:
            self.cells[:] = 0
            self.own[:] = _NONE
            for player in range(2):
                for word in range(2):
                    self.free[player, word] = full[word]
            self.hands[:] = 0
            self.kings[:] = -1
            self.word = _NONE
            self.past[:] = 0
            self.plies = 0
            self.checking[:] = 0
            self.checked = False
            self.player = 0
            self.result = 0

        def put(self, player: int, kind: int, square: int) -> None:
            self.cells[square] = kind + 1 if player == 0 else -kind - 1
            self.own[player, square >> 6] |= _ONE << np.uint64(square & 63)
            self.word ^= mix_bits((2 * kind + player) * 128 + square + 1)
            if kind == PAWN:
                for word in range(2):
                    self.free[player, word] &= ~files[square % size, word]
            elif kind == KING:
                self.kings[player] = square

        def lift(self, player: int, square: int) -> int:
            """Take a piece from its square and return its kind."""
            kind = abs(int(self.cells[square])) - 1
            self.cells[square] = 0
            self.own[player, square >> 6] &= ~(_ONE << np.uint64(square & 63))
            self.word ^= mix_bits((2 * kind + player) * 128 + square + 1)
            if kind == PAWN:
                for word in range(2):
                    self.free[player, word] |= files[square % size, word]
            return kind

        def hold(self, player: int, kind: int, change: int) -> None:
            """Change how many pieces of a kind are in a hand, by 1 or -1."""
            count = int(self.hands[player, kind])
            self.hands[player, kind] = count + change
            self.word ^= mix_bits(_HANDS + (2 * kind + player) * 128 + max(count, count + change))

        # Directions are seen from the side of a player; player 1 moves down the board.

        def turned(self, player: int, direction: int) -> int:
            if player == 0:
                return direction
            return 7 - direction if direction < 8 else 19 - direction

        def rank_of(self, player: int, square: int) -> int:
            return square // size if player == 0 else size - 1 - square // size

        def is_attacked(self, player: int, square: int, source: int, target: int) -> bool:
            """Return whether the opponent attacks a square, after a move of the player; its squares may be -1."""
            sign = 1 if player == 0 else -1  # of the player's pieces
            for direction in range(8):
                delta, at = int(deltas[direction]), square
                for distance in range(int(reach[12 * square + direction])):
                    at += delta
                    if at == target:
                        break
                    code = int(self.cells[at]) * sign
                    if code == 0 or at == source:
                        continue
                    if code < 0:
                        steps = STEPS[-code - 1] if distance == 0 else SLIDES[-code - 1]
                        # For player 0 the attacker looks down, along direction 7 - direction, which is up for itself.
                        if steps >> (direction if player == 0 else 7 - direction) & 1 != 0:
                            return True
                    break
            if has_knights:
                for jump in range(8, 10):
                    direction = self.turned(player, jump)
                    if reach[12 * square + direction] > 0:
                        at = square + int(deltas[direction])
                        if at != target and int(self.cells[at]) * sign == -1 - KNIGHT:
                            return True
            return False

        def is_safe(self, source: int, target: int) -> bool:
            """Return whether a move or a drop (from -1) of the player to move leaves the own king unattacked."""
            player = self.player
            king = int(self.kings[player])
            if source == king:
                return not self.is_attacked(player, target, source, target)
            if not self.checked:
                if source < 0:
                    return True
                up, right = source // size - king // size, source % size - king % size
                if up != 0 and right != 0 and up != right and up != -right:
                    return True  # it opens no line to the king
            return not self.is_attacked(player, king, source, target)

        def choices(self, kind: int, source: int, target: int) -> int:
            """Return whether a piece may stay as it is (1), promote (2), or both (3)."""
            from_rank, rank = self.rank_of(self.player, source), self.rank_of(self.player, target)
            if kind >= UNPROMOTED or max(from_rank, rank) < zone:
                return 1
            if (kind <= LANCE and rank == size - 1) or (kind == KNIGHT and rank >= size - 2):
                return 2
            return 3

        def move_from(self, source: int, number: int) -> int:
            """Return a move of a piece of the player to move, by its number; if it has fewer, -1 - how many.

            A move is target * 64 + promotes * 32 + direction. It may leave the king attacked.
            """
            player = self.player
            sign = 1 if player == 0 else -1
            kind = int(self.cells[source]) * sign - 1
            left, rest = number, int(STEPS[kind])
            while rest != 0:
                direction = lowest_bit(rest)
                rest &= rest - 1
                way = self.turned(player, direction)
                target, delta = source, int(deltas[way])
                far = int(reach[12 * source + way])
                if SLIDES[kind] >> direction & 1 == 0:
                    far = min(far, 1)
                for _ in range(far):
                    target += delta
                    there = int(self.cells[target]) * sign
                    if there > 0:
                        break
                    choices = self.choices(kind, source, target)
                    found = 2 if choices == 3 else 1
                    if left < found:
                        promotes = 1 if choices == 2 else left
                        return target << 6 | promotes << 5 | direction
                    left -= found
                    if there < 0:
                        break
            return -1 - (number - left)

        def may_drop(self, kind: int, word: int) -> Any:
            """Return the squares in a word where the player to move may drop a kind, apart from the king's safety."""
            player = self.player
            empty = regions[player, kind, word] & ~(self.own[0, word] | self.own[1, word])
            return empty & self.free[player, word] if kind == PAWN else empty

        def mates(self, target: int) -> bool:
            """Return whether a pawn dropped on a square gives mate. The position is the same afterwards."""
            player, other = self.player, 1 - self.player
            if target + (size if player == 0 else -size) != self.kings[other]:
                return False
            checked, sign = self.checked, 1 if player == 0 else -1
            self.cells[target] = sign
            self.own[player, target >> 6] |= _ONE << np.uint64(target & 63)
            self.player, self.checked = other, True
            escapes = self.can_move()
            self.cells[target] = 0
            self.own[player, target >> 6] &= ~(_ONE << np.uint64(target & 63))
            self.player, self.checked = player, checked
            return not escapes

        def is_legal_drop(self, kind: int, target: int) -> bool:
            return self.is_safe(-1, target) and not (kind == PAWN and self.mates(target))

        def can_move(self) -> bool:
            """Return whether a piece on the board has a legal move."""
            for word in range(2):
                rest = self.own[self.player, word]
                while rest != _NONE:
                    source = 64 * word + lowest_bit(rest)
                    rest &= rest - _ONE
                    for number in range(ALL):
                        move = self.move_from(source, number)
                        if move < 0:
                            break
                        if self.is_safe(source, move >> 6):
                            return True
            return False

        def legal_at(self, number: int) -> int:
            """Return a legal action by its number; if there are fewer, -1 - how many."""
            count = 0
            for word in range(2):
                rest = self.own[self.player, word]
                while rest != _NONE:
                    source = 64 * word + lowest_bit(rest)
                    rest &= rest - _ONE
                    for piece_number in range(ALL):
                        move = self.move_from(source, piece_number)
                        if move < 0:
                            break
                        if self.is_safe(source, move >> 6):
                            if count == number:
                                return self.action_from(move)
                            count += 1
            for index in range(len(drops)):
                kind = int(drops[index])
                if self.hands[self.player, kind] > 0:
                    for word in range(2):
                        rest = self.may_drop(kind, word)
                        while rest != _NONE:
                            target = 64 * word + lowest_bit(rest)
                            rest &= rest - _ONE
                            if self.is_legal_drop(kind, target):
                                if count == number:
                                    return self.action_of(2 * directions + index, target)
                                count += 1
            return -1 - count

        def action_of(self, plane: int, target: int) -> int:
            return plane * squares + (target if self.player == 0 else squares - 1 - target)

        def action_from(self, move: int) -> int:
            return self.action_of((move & 31) + (directions if move >> 5 & 1 else 0), move >> 6)

        def legal_actions(self, out: Any) -> int:
            count = 0
            for word in range(2):
                rest = self.own[self.player, word]
                while rest != _NONE:
                    source = 64 * word + lowest_bit(rest)
                    rest &= rest - _ONE
                    for number in range(ALL):
                        move = self.move_from(source, number)
                        if move < 0:
                            break
                        if self.is_safe(source, move >> 6):
                            out[count] = self.action_from(move)
                            count += 1
            for index in range(len(drops)):
                kind = int(drops[index])
                if self.hands[self.player, kind] > 0:
                    for word in range(2):
                        rest = self.may_drop(kind, word)
                        while rest != _NONE:
                            target = 64 * word + lowest_bit(rest)
                            rest &= rest - _ONE
                            if self.is_legal_drop(kind, target):
                                out[count] = self.action_of(2 * directions + index, target)
                                count += 1
            return count

        def random_action(self, rng: Any) -> int:
            # Most moves that are drawn leave the king unattacked, unless it is in check: then the legal ones are few.
            if not self.checked:
                for _ in range(_TRIES):
                    action = draw_action(self, rng, drops, 2 * directions)
                    if action >= 0:
                        return action
            return self.legal_at(rng.below(-1 - self.legal_at(ALL)))

        def rollout_action(self, rng: Any) -> int:
            """Make the capture that gains most, with the capturing piece lost if its target is defended; else any."""
            move = find_capture(self, reach, deltas)
            return self.random_action(rng) if move < 0 else self.action_from(move)

        def apply(self, action: int) -> None:
            player, plane = self.player, action // squares
            target = action - plane * squares
            if player == 1:
                target = squares - 1 - target
            if plane >= 2 * directions:
                kind = int(drops[plane - 2 * directions])
                self.hold(player, kind, -1)
            else:
                promotes = plane >= directions
                way = self.turned(player, plane - directions if promotes else plane)
                source = target - int(deltas[way])
                while self.cells[source] == 0:
                    source -= int(deltas[way])
                kind = self.lift(player, source) + (8 if promotes else 0)
                if self.cells[target] != 0:
                    self.hold(player, self.lift(1 - player, target) & 7, 1)
            self.put(player, kind, target)
            self.word ^= _SIDE
            self.player = 1 - player
            self.plies += 1
            self.checked = self.is_attacked(1 - player, int(self.kings[1 - player]), -1, -1)
            self.checking[player] = self.checking[player] + 1 if self.checked else 0
            self.judge()

        def judge(self) -> None:
            """Find out whether the game is over, after a move."""
            if self.legal_at(0) < 0:
                self.result = 2 - self.player
            elif self.plies >= most_plies:
                self.result = 3
            else:
                self.past[self.plies] = int(self.word & _LOW)
                self.result = self.repeated()

        def occurrences(self) -> int:
            """Return how often the position occurred before."""
            low, found = int(self.word & _LOW), 0
            for index in range(self.plies):
                found += int(self.past[index] == low)
            return found

        def repeated(self) -> int:
            """Return the result if the position occurs for the fourth time, else 0."""
            if self.plies < 12 or self.occurrences() < 3:
                return 0
            low, first = int(self.word & _LOW), 0
            while self.past[first] != low:
                first += 1
            moves = (self.plies - first) // 2  # of each player since then
            checks_by_0, checks_by_1 = self.checking[0] >= moves, self.checking[1] >= moves
            return 3 if checks_by_0 == checks_by_1 else 2 if checks_by_0 else 1

        def is_terminal(self) -> bool:
            return self.result != 0

        def rewards(self, out: Any) -> None:
            out[0] = 1.0 if self.result == 1 else -1.0 if self.result == 2 else 0.0
            out[1] = -out[0]

        def heuristic(self, out: Any) -> None:
            """Write the lead in pieces, those in hand included, and a little for possible moves and a check."""
            lead = find_lead(self)
            out[0] = lead / (1000.0 + abs(lead))
            out[1] = -out[0]

        def observe(self, player: int, out: Any) -> None:
            """Write a plane for each kind of the player's pieces, then of the opponent's; planes with the share of each
            kind that is in the player's hand, then in the opponent's; ones if the player is to move; earlier
            occurrences of the position, divided by 3; share of moves left.

            The board is turned so that row 0 is the player's own first rank.
            """
            for square in range(squares):
                code = int(self.cells[square])
                if code != 0:
                    seen = square if player == 0 else squares - 1 - square
                    plane = plane_of[abs(code) - 1] + (0 if (code > 0) == (player == 0) else own_planes)
                    out[plane, seen // size, seen % size] = 1.0
            for side in range(2):
                for index in range(len(drops)):
                    kind = int(drops[index])
                    plane = 2 * own_planes + index + (0 if side == player else hand_planes)
                    out[plane] = self.hands[side, kind] / amounts[kind]
            out[planes - 3] = 1.0 if player == self.player else 0.0
            out[planes - 2] = self.occurrences() / 3
            out[planes - 1] = 1.0 - self.plies / most_plies

        def key(self) -> np.uint64:
            # The earlier positions matter too: one that occurs again may end the game.
            found = mix_bits(np.uint64(self.plies + 4096 * self.checking[0]) ^ np.uint64(self.checking[1] << 30))
            for index in range(self.plies):
                found += mix_bits(np.uint64(self.past[index]))
            return mix_bits(self.word ^ mix_bits(found))

        # For people.

        def board(self) -> list[Element]:
            return parts_of(self, variant)

        def render(self) -> str:
            return diagram_of(self, variant)

        def setup_text(self) -> str:
            return sfen_of(self, variant)

        def move_text(self, action: int) -> str:
            return name_of(self, action, variant)

        def parse_move(self, text: str) -> int:
            return action_named(self, text, variant)

        def parse(self, text: str) -> None:
            written = read_position(text, variant)
            if written.plies >= most_plies:
                raise ValueError(f"a game ends after {most_plies} moves; move {written.plies + 1} is too late")
            self.clear()
            for square, player, kind in written.pieces:
                self.put(player, kind, square)
            for player, hand in enumerate(written.hands):
                for kind, count in enumerate(hand):
                    for _ in range(count):
                        self.hold(player, kind, 1)
            self.player, self.plies = written.player, written.plies
            self.word ^= _SIDE if written.player == 1 else _NONE
            other = 1 - written.player
            if self.is_attacked(other, int(self.kings[other]), -1, -1):
                raise ValueError(f"{SIDES[written.player]} is to move and could capture {SIDES[other]}'s king")
            self.checked = self.is_attacked(written.player, int(self.kings[written.player]), -1, -1)
            self.judge()

    return Shogi  # type: ignore[return-value]  # mypy does not see what a class decorator returns
