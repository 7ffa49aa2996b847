"""Xiangqi, Chinese chess."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from treetop.game import Game, Grid, checks, family, field, game, mix_bits
from treetop.games.xiangqi_moves import (
    ACTIONS,
    ALLOWED,
    BLOCKS,
    DELTAS,
    FILES,
    FIRST,
    GENERAL,
    KEYS,
    KINDS,
    MIRRORED,
    NONE,
    PAWNS,
    PIECES,
    POLICY_PLACES,
    PREY,
    SIDE,
    SIDES,
    SLOT_MOVE,
    SLOT_PIECE,
    SQUARES,
    TRIES,
    WORTH,
    between,
    label_of,
    move_of,
    rank_of,
    reflected,
    turned,
)  # fmt: skip
from treetop.games.xiangqi_text import fen_of, numbered, read_position, rows_of, square_name
from treetop.games.xiangqi_value import estimate


@family
def xiangqi(quiet_plies: int = 120) -> Game:
    """Checkmate or stalemate the general on a board of nine files and ten ranks.

    `quiet_plies`: this number of moves, of both players together, without a capture is a draw (10 to 1000).
    """
    checks.whole("quiet_plies", quiet_plies, 10, 1000)

    @game(
        players=2,
        num_actions=ACTIONS,
        max_length=31 * quiet_plies,
        observation_shape=(17, 10, 9),
        symmetries=2,
    )
    class Xiangqi:
        """Checkmate or stalemate the general.

        Red, player 0, moves first. The general (K) moves one step along a line and the advisors (A) one step
        diagonally, inside their palace of nine squares; the elephants (B) move two steps diagonally, on their own side
        of the river, and the horses (N) one step along a line and one diagonally outwards; both are blocked by a piece
        in between. Chariots (R) move any distance along a line, and so do cannons (C), which capture by jumping over
        exactly one piece. Pawns (P) move one step forward, and across the river also sideways. The generals may not
        face each other on a file without a piece in between. A player without a legal move loses, in check or not.

        The third occurrence of a position since the last capture ends the game. A player whose every move since the
        first one gave check loses, unless this holds for both; else it is a draw. Threats to pieces other than the
        general may be repeated. `quiet_plies` moves without a capture are a draw.
        """

        policy_places = POLICY_PLACES
        cells: Any = field("i1", SQUARES)  # 0, or 1 + 16 * player + piece
        squares: Any = field("i1", (2, PIECES))  # of each player's pieces, by number; -1 if it was captured
        ranks: Any = field("i2", 10)  # the occupied places of each rank
        files: Any = field("i2", 9)
        word: np.uint64 = field("u8")  # the key of the pieces and the player to move
        past: Any = field("u8", quiet_plies)  # the words of the positions since the last capture
        quiet: int = field("i2")  # moves since the last capture
        checking: Any = field("i2", 2)  # the last moves of each player that all gave check, since the last capture
        checked: bool = field("bool")  # whether the player to move is in check
        player: int = field("i1")
        result: int = field("i1")  # 1 + the winner, 3 for a draw, 0 while the game goes on

        def reset(self) -> None:
            self.clear()
            for piece in range(PIECES):
                self.put(0, piece, int(FIRST[piece]))
                self.put(1, piece, 89 - int(FIRST[piece]))
            self.past[0] = self.word

        def clear(self) -> None:
            self.cells[:] = 0
            self.squares[:] = -1
            self.ranks[:] = 0
            self.files[:] = 0
            self.word = NONE
            self.past[:] = NONE
            self.quiet = 0
            self.checking[:] = 0
            self.checked = False
            self.player = 0
            self.result = 0

        def put(self, player: int, piece: int, square: int) -> None:
            rank = rank_of(square)
            self.cells[square] = 1 + 16 * player + piece
            self.squares[player, piece] = square
            self.ranks[rank] |= 1 << (square - 9 * rank)
            self.files[square - 9 * rank] |= 1 << rank
            self.word ^= KEYS[(7 * player + KINDS[piece]) * SQUARES + square]

        def attacker(self, player: int, square: int, source: int, target: int) -> int:
            """Return the least piece of a player that attacks a square, or -1, after a move of the other player.

            The move is given by its squares, which are -1 for none. Generals attack along the open file; elephants and
            advisors are left out.
            """
            rank = rank_of(square)
            file = square - 9 * rank
            by_rank, by_file = int(self.ranks[rank]), int(self.files[file])
            if source >= 0:
                source_rank, target_rank = rank_of(source), rank_of(target)
                source_file, target_file = source - 9 * source_rank, target - 9 * target_rank
                by_rank &= ~(int(source_rank == rank) << source_file)
                by_rank |= int(target_rank == rank) << target_file
                by_file &= ~(int(source_file == file) << source_rank)
                by_file |= int(target_file == file) << target_rank
            for piece in range(PAWNS, PIECES):
                at = int(self.squares[player, piece])
                if at < 0 or at == target:
                    continue
                if square - at == (9 if player == 0 else -9):
                    return piece
                crossed = (at > 44) == (player == 0)
                if crossed and abs(square - at) == 1 and rank_of(at) == rank:
                    return piece
            for piece in range(5, 7):
                at = int(self.squares[player, piece])
                if at < 0 or at == target or abs(square - at) > 19:
                    continue
                at_rank = rank_of(at)
                up, right = rank - at_rank, file - (at - 9 * at_rank)
                if up * up + right * right == 5:
                    leg = at + (9 if up > 0 else -9) if up * up == 4 else at + (1 if right > 0 else -1)
                    if leg != target and (leg == source or self.cells[leg] == 0):
                        return piece
            for piece in (9, 10, 7, 8, GENERAL):
                at = int(self.squares[player, piece])
                if at < 0 or at == target:
                    continue
                at_rank = rank_of(at)
                at_file = at - 9 * at_rank
                if at_file == file:
                    inside = between(by_file, at_rank, rank)
                elif at_rank == rank and piece != GENERAL:
                    inside = between(by_rank, at_file, file)
                else:
                    continue
                if piece >= 9:
                    if inside != 0 and inside & (inside - 1) == 0:
                        return piece
                elif inside == 0:
                    return piece
            return -1

        def is_safe(self, source: int, target: int) -> bool:
            """Return whether a move of the player to move leaves the own general unattacked."""
            general = int(self.squares[self.player, GENERAL])
            if source == general:
                return self.attacker(1 - self.player, target, source, target) < 0
            if not self.checked:
                rank = rank_of(general)
                file = general - 9 * rank
                source_rank, target_rank = rank_of(source), rank_of(target)
                source_file = source - 9 * source_rank
                up, right = source_rank - rank, source_file - file
                if (
                    up != 0
                    and right != 0
                    and up * up + right * right > 2
                    and target_rank != rank
                    and target - 9 * target_rank != file
                ):
                    return True  # it neither opens a line or a horse's leg nor becomes the screen of a cannon
            return self.attacker(1 - self.player, general, source, target) < 0

        def move_in(self, player: int, slot: int) -> int:
            """Return the move in a slot, as 128 * source + target, or -1 if the player's piece cannot move so."""
            piece, number = int(SLOT_PIECE[slot]), int(SLOT_MOVE[slot])
            source = int(self.squares[player, piece])
            if source < 0:
                return -1
            rank = rank_of(source)
            file = source - 9 * rank
            if piece >= PAWNS:
                crossed = (source > 44) == (player == 0)
                if number == 0:
                    target = source + 9 - 18 * player
                    if target < 0 or target >= SQUARES:
                        return -1
                elif not crossed or (file == 0 and number == 1) or (file == 8 and number == 2):
                    return -1
                else:
                    target = source + 2 * number - 3
            elif piece >= 7:
                if number < 8:
                    to_file = number + int(number >= file)
                    target = 9 * rank + to_file
                    inside = between(int(self.ranks[rank]), file, to_file)
                else:
                    to_rank = number - 8 + int(number - 8 >= rank)
                    target = 9 * to_rank + file
                    inside = between(int(self.files[file]), rank, to_rank)
                if piece >= 9 and self.cells[target] != 0:
                    if inside == 0 or inside & (inside - 1) != 0:
                        return -1
                elif inside != 0:
                    return -1
            else:
                step = number + (16 if piece == GENERAL else 12 if piece < 3 else 8 if piece < 5 else 0)
                if ALLOWED[source] >> step & 1 == 0:
                    return -1
                target = source + int(DELTAS[step])
                if step < 12 and self.cells[source + int(BLOCKS[step])] != 0:
                    return -1
            there = int(self.cells[target])
            return -1 if there != 0 and (there - 1) >> 4 == player else source << 7 | target

        def is_legal(self, move: int) -> bool:
            return move >= 0 and self.is_safe(move >> 7, move & 127)

        def action_of(self, move: int) -> int:
            if self.player == 0:
                return label_of(move >> 7, move & 127)
            return label_of(89 - (move >> 7), 89 - (move & 127))

        def has_move(self) -> bool:
            for slot in range(len(SLOT_PIECE)):  # noqa: SIM110 - compiled code has no generators
                if self.is_legal(self.move_in(self.player, slot)):
                    return True
            return False

        def legal_actions(self, out: Any) -> int:
            count = 0
            for slot in range(len(SLOT_PIECE)):
                move = self.move_in(self.player, slot)
                if self.is_legal(move):
                    out[count] = self.action_of(move)
                    count += 1
            return count

        def random_action(self, rng: Any) -> int:
            # Draws of slots that are no legal move are repeated; where few are legal, the legal ones are counted.
            if not self.checked:
                for _ in range(TRIES):
                    move = self.move_in(self.player, rng.below(len(SLOT_PIECE)))
                    if self.is_legal(move):
                        return self.action_of(move)
            count = 0
            for slot in range(len(SLOT_PIECE)):
                count += int(self.is_legal(self.move_in(self.player, slot)))
            rest, slot = rng.below(count), -1
            while rest >= 0:
                slot += 1
                rest -= int(self.is_legal(self.move_in(self.player, slot)))
            return self.action_of(self.move_in(self.player, slot))

        def rollout_action(self, rng: Any) -> int:
            """Capture a piece that is worth more than the least attacker or that is not defended, else any move."""
            player = self.player
            for piece in PREY:
                square = int(self.squares[1 - player, piece])
                if square < 0:
                    continue
                taker = self.attacker(player, square, -1, -1)
                if taker <= GENERAL:
                    continue
                source = int(self.squares[player, taker])
                if (
                    WORTH[piece] > WORTH[taker] or self.attacker(1 - player, square, source, square) < 0
                ) and self.is_safe(source, square):
                    return self.action_of(source << 7 | square)
            return self.random_action(rng)

        def apply(self, action: int) -> None:
            player, move = self.player, move_of(action)
            source, target = move >> 7, move & 127
            if player == 1:
                source, target = 89 - source, 89 - target
            piece, taken = (int(self.cells[source]) - 1) & 15, int(self.cells[target])
            rank = rank_of(source)
            self.cells[source] = 0
            self.ranks[rank] &= ~(1 << (source - 9 * rank))
            self.files[source - 9 * rank] &= ~(1 << rank)
            self.word ^= KEYS[(7 * player + KINDS[piece]) * SQUARES + source] ^ SIDE
            if taken != 0:
                self.squares[1 - player, (taken - 1) & 15] = -1
                self.word ^= KEYS[(7 - 7 * player + KINDS[(taken - 1) & 15]) * SQUARES + target]
                self.past[: self.quiet + 1] = NONE
                self.quiet = -1
                self.checking[:] = 0
            self.put(player, piece, target)
            self.player = 1 - player
            self.quiet += 1
            self.checked = self.attacker(player, int(self.squares[1 - player, GENERAL]), -1, -1) >= 0
            if taken == 0:
                self.checking[player] = self.checking[player] + 1 if self.checked else 0
            self.judge()

        def judge(self) -> None:
            """Find out whether the game is over, after a move."""
            if not self.has_move():
                self.result = 2 - self.player
            elif self.quiet >= quiet_plies:
                self.result = 3
            else:
                self.past[self.quiet] = self.word
                if self.quiet >= 8:
                    self.result = self.repeated()

        def repeated(self) -> int:
            """Return the result if the position occurs for the third time, else 0."""
            found, first = 0, 0
            for back in range(4, self.quiet + 1, 2):
                if self.past[self.quiet - back] == self.word:
                    found += 1
                    first = self.quiet - back
            if found < 2:
                return 0
            moves = (self.quiet - first) // 2  # of each player since then
            checks_by_0, checks_by_1 = self.checking[0] >= moves, self.checking[1] >= moves
            return 3 if checks_by_0 == checks_by_1 else 2 if checks_by_0 else 1

        def is_terminal(self) -> bool:
            return self.result != 0

        def rewards(self, out: Any) -> None:
            out[0] = 1.0 if self.result == 1 else -1.0 if self.result == 2 else 0.0
            out[1] = -out[0]

        def heuristic(self, out: Any) -> None:
            """Write an estimate by material, places, possible moves and a search of captures."""
            value = estimate(self)
            out[self.player] = value
            out[1 - self.player] = -value

        def observe(self, player: int, out: Any) -> None:
            """Write 17 planes: seven of the player's pieces and seven of the opponent's, each K A B N R C P; ones if
            the player is to move; earlier occurrences of the position, divided by 2; share of quiet moves left.

            The board is turned so that row 0 is the player's own first rank; player 1 sees file i in column 0.
            """
            for side in range(2):
                for piece in range(PIECES):
                    square = int(self.squares[side, piece])
                    if square >= 0:
                        seen = square if player == 0 else 89 - square
                        rank = rank_of(seen)
                        out[KINDS[piece] + (0 if side == player else 7), rank, seen - 9 * rank] = 1.0
            before = 0
            for back in range(4, self.quiet + 1, 2):
                before += int(self.past[self.quiet - back] == self.word)
            out[14] = 1.0 if player == self.player else 0.0
            out[15] = before / 2
            out[16] = 1.0 - self.quiet / quiet_plies

        def transform(self, symmetry: int) -> None:
            """Exchange left and right, by symmetry 1. The pieces keep their numbers from left to right."""
            if symmetry == 0:
                return
            before, places = self.cells.copy(), self.squares.copy()
            ranks, files, past = self.ranks.copy(), self.files.copy(), self.past.copy()
            for square in range(SQUARES):
                code = int(before[square])
                self.cells[reflected(square)] = 0 if code == 0 else (code - 1 & 16) + 1 + MIRRORED[(code - 1) & 15]
            for player in range(2):
                for piece in range(PIECES):
                    square = int(places[player, piece])
                    self.squares[player, MIRRORED[piece]] = -1 if square < 0 else reflected(square)
            for rank in range(10):
                line = 0
                for file in range(9):
                    line |= (int(ranks[rank]) >> file & 1) << (8 - file)
                self.ranks[rank] = line
            for file in range(9):
                self.files[8 - file] = files[file]
            for index in range(quiet_plies):
                self.past[index] = turned(past[index])
            self.word = turned(self.word)

        def transform_action(self, symmetry: int, action: int) -> int:
            move = move_of(action)
            return label_of(reflected(move >> 7), reflected(move & 127)) if symmetry == 1 else action

        def key(self) -> np.uint64:
            # The positions since the last capture matter too: one that occurs again may end the game.
            found = mix_bits(np.uint64(self.quiet + 1024 * self.checking[0]) ^ np.uint64(self.checking[1] << 20))
            for index in range(self.quiet):
                found += mix_bits(self.past[index])
            return mix_bits(self.word ^ mix_bits(found))

        # For people.

        def board(self) -> Grid:
            return Grid(rows_of(self), surface="lines", pieces="text")

        def render(self) -> str:
            rows = [
                f"{10 - index:>2} " + " ".join(cell or "." for cell in row) for index, row in enumerate(rows_of(self))
            ]
            last = f"{SIDES[self.player]} to move"
            last += f", {self.quiet} move{'s' * (self.quiet > 1)} without a capture" if self.quiet else ""
            over = ("", "; game over, red wins", "; game over, black wins", "; game over, a draw")[self.result]
            return "\n".join([*rows, "   " + " ".join(FILES), last + over])

        def setup_text(self) -> str:
            return fen_of(self)

        def move_text(self, action: int) -> str:
            move = move_of(action)
            return square_name(move >> 7, self.player) + square_name(move & 127, self.player)

        def parse_move(self, text: str) -> int:
            found = re.fullmatch(r"([a-i])(10|[1-9])([a-i])(10|[1-9])", text.lower())
            if found is None:
                raise ValueError(f"a move is its two squares, such as h3e3, not {text!r}")
            source, target = (9 * int(found[at + 1]) - 9 + FILES.index(found[at]) for at in (1, 3))
            if self.cells[source] == 0 or source == target:
                raise ValueError(f"there is no piece on {found[1]}{found[2]} that moves to {found[3]}{found[4]}")
            action = self.action_of(source << 7 | target)
            if self.move_text(action) != text.lower():
                raise ValueError(f"no piece moves from {found[1]}{found[2]} to {found[3]}{found[4]}")
            return action

        def parse(self, text: str) -> None:
            rows, player, count = read_position(text)
            if count >= quiet_plies:
                raise ValueError(f"a game of {quiet_plies} moves without a capture is over, and this one has {count}")
            self.clear()
            for piece, square, side in numbered(rows):
                self.put(side, piece, square)
            if self.attacker(player, int(self.squares[1 - player, GENERAL]), -1, -1) >= 0:
                raise ValueError(
                    f"{SIDES[player]} is to move, and {SIDES[1 - player]}'s general is attacked or faces the other one"
                )
            self.player, self.quiet = player, count
            self.word ^= SIDE if player == 1 else NONE
            self.checked = self.attacker(1 - player, int(self.squares[player, GENERAL]), -1, -1) >= 0
            self.judge()

    return Xiangqi  # type: ignore[return-value]  # mypy does not see what a class decorator returns
