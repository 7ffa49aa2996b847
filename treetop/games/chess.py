"""Chess."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from treetop.errors import ConfigError
from treetop.game import Game, Grid, checks, family, field, game, lowest_bit, mix_bits
from treetop.game.position import Position
from treetop.games import chess_text as text
from treetop.games.chess_moves import (
    ALL,
    FIRST_RANK,
    LAST_RANK,
    NONE,
    ONE,
    back_rank,
    bishop_attacks,
    bit,
    castling_rooks,
    diagonal_moves,
    file_of,
    flip,
    is_dead,
    jumps_ahead,
    jumps_back,
    list_promotions,
    list_steps,
    list_targets,
    passing_takers,
    pawn_moves,
    placement_key,
    rank_of,
    rook_attacks,
    straight_moves,
    survey,
    union,
)
from treetop.games.chess_playouts import attacks_of_mover, draw_move, find_capture, find_mate, find_promotion
from treetop.games.chess_tables import (
    AHEAD,
    AHEAD_LEFT,
    AHEAD_RIGHT,
    DELTAS,
    FALLING,
    KING,
    KNIGHT,
    PLANE,
    PLANES,
    PROMOTIONS,
    RISING,
    TWO_AHEAD,
)
from treetop.games.chess_value import estimate

_FIFTY = 100  # moves of both players without a capture or a move of a pawn
_LATE = 50  # from this number on they are part of the key
_STANDARD = 518  # the number of the usual start position among those of Chess960
# Each of at most 30 captures and 96 moves of pawns ends a series of at most 100 moves; one more series ends the game.
_LONGEST = (30 + 96 + 1) * _FIFTY
_SETS = tuple[np.uint64, np.uint64, np.uint64, np.uint64]


@family
def chess(variant: str = "standard") -> Game:
    """Checkmate the king. The variant "960" (Chess960) deals the pieces of the back rank at random."""
    checks.one_of("variant", variant, ("standard", "960"))
    is_960 = variant == "960"

    @game(players=2, num_actions=64 * PLANES, max_length=_LONGEST, observation_shape=(17, 8, 8))
    class Chess:
        """Checkmate the king.

        The rules of FIDE, with castling, captures en passant and promotions. A game is drawn by stalemate, and at once
        when a position occurs for the third time, after fifty moves of each player without a capture or a move of a
        pawn, and when the material is insufficient: bishops that all stand on squares of one colour, or a single
        knight, and no other pieces besides the kings.

        Action 64 * plane + square is a move of the piece on the square, seen by the player to move: planes 0 to 55 are
        1 to 7 steps ahead, ahead to the right and so on clockwise, 56 to 63 jumps of knights, 64 to 72 promotions to a
        knight, bishop or rook (a pawn that reaches the last rank by another plane becomes a queen). The king castles by
        a move to the square of the rook.
        """

        policy_places = np.arange(64 * PLANES)  # a plane for each step, over the squares where moves begin
        mine: np.uint64 = field("u8")  # the pieces of the player to move; all boards are seen by that player
        theirs: np.uint64 = field("u8")
        pawns: np.uint64 = field("u8")
        knights: np.uint64 = field("u8")
        diagonal: np.uint64 = field("u8")  # bishops and queens
        straight: np.uint64 = field("u8")  # rooks and queens
        castles: np.uint64 = field("u8")  # the rooks of both players with which their kings may still castle
        takers: np.uint64 = field("u8")  # the pawns that can capture en passant
        attacked: np.uint64 = field("u8")  # the squares that the king may not enter
        allowed: np.uint64 = field("u8")  # the squares where a check is answered; all if there is none
        pinned_straight: np.uint64 = field("u8")  # lines between the king and the pieces that pin
        pinned_diagonal: np.uint64 = field("u8")
        placement: np.uint64 = field("u8")  # the key of the position without its history
        earlier: Any = field("u8", _FIFTY)  # the keys of the positions since the last move that cannot be undone
        past: int = field("i1")  # their number
        repeats: int = field("i1")  # how many of them are equal to the present one
        clock: int = field("i1")  # moves since the last capture or move of a pawn
        passing: int = field("i1")  # the square of a possible capture en passant, or -1
        player: int = field("i1")  # 0 is White
        turn: int = field("i2")  # the number of the move, counted from 1

        def reset(self) -> None:
            self.place(_STANDARD)

        if is_960:

            def deal(self, rng: Any) -> None:
                self.place(int(rng.below(960)))

        def place(self, number: int) -> None:
            """Set up a start position of Chess960."""
            rank = back_rank(number)
            knights, diagonal, straight, rooks = NONE, NONE, NONE, NONE
            for file in range(8):
                both = bit(file) | bit(56 + file)
                piece = rank >> (4 * file) & 15
                knights |= both if piece == 1 else NONE
                diagonal |= both if piece == 2 or piece == 4 else NONE
                straight |= both if piece == 3 or piece == 4 else NONE
                rooks |= both if piece == 3 else NONE
            self.mine, self.theirs = np.uint64(0xFFFF), np.uint64(0xFFFF << 48)
            self.pawns, self.knights = np.uint64(0x00FF_0000_0000_FF00), knights
            self.diagonal, self.straight, self.castles = diagonal, straight, rooks
            self.player, self.clock, self.turn = 0, 0, 1
            self.begin(-1)

        def begin(self, passing: int) -> None:
            """Compute what follows from a placement without a history; a pawn may have passed a square."""
            self.past = self.repeats = 0
            self.earlier[:] = 0
            self.look(passing)

        def look(self, passing: int) -> None:
            """Compute what follows from the boards."""
            mine, theirs, pawns = self.mine, self.theirs, self.pawns
            knights, diagonal, straight = self.knights, self.diagonal, self.straight
            self.attacked, self.allowed, self.pinned_straight, self.pinned_diagonal = survey(
                mine, theirs, pawns, knights, diagonal, straight
            )
            self.takers = NONE
            if passing >= 0:
                self.takers = passing_takers(passing, mine, theirs, pawns, knights, diagonal, straight)
                passing = passing if self.takers != NONE else -1
            self.passing = passing
            extra = 2 * (passing + 1) + self.player
            self.placement = placement_key(mine, theirs, pawns, knights, diagonal, straight, self.castles, extra)

        # What each kind of piece can do.

        def king(self) -> int:
            """Return the square of the player's king."""
            return lowest_bit(self.mine & ~(self.pawns | self.knights | self.diagonal | self.straight)) & 63

        def king_targets(self) -> np.uint64:
            return np.uint64(KING[self.king()]) & ~(self.mine | self.attacked)

        def pawn_targets(self) -> _SETS:
            mine = self.mine & self.pawns
            line = ~self.pinned_straight | file_of(self.king())
            return pawn_moves(
                mine & ~self.pinned_diagonal & line,
                mine & ~self.pinned_straight,
                self.pinned_diagonal,
                ~(self.mine | self.theirs),
                self.theirs,
                self.allowed,
            )

        def free_knights(self) -> np.uint64:
            return self.mine & self.knights & ~(self.pinned_straight | self.pinned_diagonal)

        def straight_targets(self) -> _SETS:
            movers = self.mine & self.straight & ~self.pinned_diagonal
            king, free = self.king(), ~self.pinned_straight
            return straight_moves(
                movers & (free | file_of(king)),
                movers & (free | rank_of(king)),
                ~(self.mine | self.theirs),
                ~self.mine & self.allowed,
            )

        def diagonal_targets(self) -> _SETS:
            movers = self.mine & self.diagonal & ~self.pinned_straight
            king, free = self.king(), ~self.pinned_diagonal
            return diagonal_moves(
                movers & (free | RISING[king]),
                movers & (free | FALLING[king]),
                ~(self.mine | self.theirs),
                ~self.mine & self.allowed,
            )

        def rooks_to_castle(self) -> np.uint64:
            """Return the rooks with which the king can castle now."""
            if self.castles & FIRST_RANK == NONE or self.allowed != ALL:
                return NONE
            theirs = self.theirs & self.straight
            return castling_rooks(self.king(), self.castles, self.mine | self.theirs, self.attacked, theirs)

        def can_move(self) -> bool:
            """Return whether there is a legal move."""
            if self.king_targets() | self.takers != NONE:
                return True
            if self.allowed == NONE:
                return False
            if union(self.pawn_targets()) != NONE:
                return True
            knights, targets = self.free_knights(), ~self.mine & self.allowed
            if union(jumps_ahead(knights, targets)) | union(jumps_back(knights, targets)) != NONE:
                return True
            slides = union(self.straight_targets()) | union(self.diagonal_targets())
            return bool(slides | self.rooks_to_castle() != NONE)

        # The rules.

        def legal_actions(self, out: Any) -> int:
            king = self.king()
            count = list_targets(king, self.king_targets(), 0, out)
            count = list_targets(king, self.rooks_to_castle(), count, out)
            if self.allowed == NONE:
                return count
            occupied, targets = self.mine | self.theirs, ~self.mine & self.allowed
            rest = self.free_knights()
            while rest != NONE:
                square = lowest_bit(rest)
                count = list_targets(square, KNIGHT[square] & targets, count, out)
                rest &= rest - ONE
            rest = self.mine & self.diagonal & ~self.pinned_straight
            while rest != NONE:
                square = lowest_bit(rest)
                line = self.pinned_diagonal if bit(square) & self.pinned_diagonal != NONE else ALL
                count = list_targets(square, bishop_attacks(square, occupied) & targets & line, count, out)
                rest &= rest - ONE
            rest = self.mine & self.straight & ~self.pinned_diagonal
            while rest != NONE:
                square = lowest_bit(rest)
                line = self.pinned_straight if bit(square) & self.pinned_straight != NONE else ALL
                count = list_targets(square, rook_attacks(square, occupied) & targets & line, count, out)
                rest &= rest - ONE
            return self.list_pawns(count, out)

        def list_pawns(self, count: int, out: Any) -> int:
            ahead, double, left, right = self.pawn_targets()
            count = list_steps(ahead & ~LAST_RANK, 8, AHEAD, count, out)
            count = list_steps(double, 16, TWO_AHEAD, count, out)
            count = list_steps(left & ~LAST_RANK, 7, AHEAD_LEFT, count, out)
            count = list_steps(right & ~LAST_RANK, 9, AHEAD_RIGHT, count, out)
            if (ahead | left | right) & LAST_RANK != NONE:
                count = list_promotions(left & LAST_RANK, 0, count, out)
                count = list_promotions(ahead & LAST_RANK, 1, count, out)
                count = list_promotions(right & LAST_RANK, 2, count, out)
            rest = self.takers
            while rest != NONE:
                square = lowest_bit(rest)
                out[count] = 64 * int(PLANE[64 * square + self.passing]) + square
                count += 1
                rest &= rest - ONE
            return count

        def random_action(self, rng: Any) -> int:
            return draw_move(self, rng)

        def rollout_action(self, rng: Any) -> int:
            """Checkmate or promote where that is possible, capture safely in three of four cases, else any move."""
            action = find_mate(self)
            if action < 0:
                action = find_promotion(self)
            if action < 0 and rng.below(4) > 0:
                action = find_capture(self)
            return action if action >= 0 else draw_move(self, rng)

        def heuristic(self, out: Any) -> None:
            """Write an estimate by material, places, mobility, pawns, attacks on kings, and a search of captures."""
            value = estimate(self)
            out[self.player] = value
            out[1 - self.player] = -value

        def apply(self, action: int) -> None:
            start, plane = action & 63, action >> 6
            end = start + int(DELTAS[plane])
            old, new = bit(start), bit(end)
            castles, was = self.castles, self.castles
            mine, theirs, pawns = self.mine, self.theirs, self.pawns
            knights, diagonal, straight = self.knights, self.diagonal, self.straight
            kings = ~(pawns | knights | diagonal | straight)
            passing, quiet = -1, True
            if mine & new != NONE:  # castling
                to, rook_to = (6, 5) if end > start else (2, 3)
                mine = (mine ^ old ^ new) | bit(to) | bit(rook_to)
                straight = (straight ^ new) | bit(rook_to)
                castles &= ~FIRST_RANK
            else:
                is_pawn = pawns & old != NONE
                quiet = not is_pawn and theirs & new == NONE
                if is_pawn and self.takers & old != NONE and end == self.passing:
                    theirs ^= new >> np.uint64(8)
                    pawns ^= new >> np.uint64(8)
                both, moved = ~(old | new), np.uint64(end)
                mine = (mine ^ old) | new
                theirs &= both
                pawns = pawns & both | (pawns >> np.uint64(start) & ONE) << moved
                knights = knights & both | (knights >> np.uint64(start) & ONE) << moved
                diagonal = diagonal & both | (diagonal >> np.uint64(start) & ONE) << moved
                straight = straight & both | (straight >> np.uint64(start) & ONE) << moved
                castles &= both
                if is_pawn:
                    if end - start == 16:
                        passing = (start + 8) ^ 56
                    elif end >= 56:
                        piece = (plane - PROMOTIONS) // 3 if plane >= PROMOTIONS else 3
                        pawns ^= new
                        knights |= new if piece == 0 else NONE
                        diagonal |= new if piece == 1 or piece == 3 else NONE
                        straight |= new if piece >= 2 else NONE
                elif kings & old != NONE:
                    castles &= ~FIRST_RANK
            self.remember(quiet, castles == was)
            self.mine, self.theirs, self.pawns = flip(theirs), flip(mine), flip(pawns)
            self.knights, self.diagonal, self.straight = flip(knights), flip(diagonal), flip(straight)
            self.castles = flip(castles)
            self.turn += self.player
            self.player = 1 - self.player
            self.look(passing)
            self.count_repeats()

        def remember(self, quiet: bool, reversible: bool) -> None:
            """Count a move, and keep the key of the position before it as long as that can occur again."""
            self.clock = self.clock + 1 if quiet else 0
            if quiet and reversible and self.past < _FIFTY:
                self.earlier[self.past] = self.placement
                self.past += 1
            else:
                for index in range(self.past):
                    self.earlier[index] = NONE
                self.past = 0

        def count_repeats(self) -> None:
            repeats = 0
            for index in range(self.past & 1, self.past - 3, 2):
                repeats += int(self.earlier[index] == self.placement)
            self.repeats = repeats

        def is_terminal(self) -> bool:
            return (
                self.repeats >= 2
                or self.clock >= _FIFTY
                or is_dead(self.pawns, self.knights, self.diagonal, self.straight)
                or not self.can_move()
            )

        def rewards(self, out: Any) -> None:
            if self.allowed != ALL and not self.can_move():
                out[self.player] = -1.0
                out[1 - self.player] = 1.0

        def observe(self, player: int, out: Any) -> None:
            """Write 17 planes: six kinds of own pieces and of the opponent's, rooks that may castle, the square of a
            capture en passant, ones if the position has occurred before, the moves towards the fifty, ones if the
            player is to move.

            Row 0 is the player's own side.
            """
            turned = player != self.player
            kings = ~(self.pawns | self.knights | self.diagonal | self.straight)
            queens = self.diagonal & self.straight
            mine, theirs = (self.theirs, self.mine) if turned else (self.mine, self.theirs)
            for square in range(64):
                place = bit(square ^ 56 if turned else square)
                rank, file = square // 8, square % 8
                if (mine | theirs) & place != NONE:
                    kind = 5 if kings & place != NONE else 4 if queens & place != NONE else 3
                    kind = 2 if self.diagonal & ~queens & place != NONE else kind
                    kind = 1 if self.knights & place != NONE else 0 if self.pawns & place != NONE else kind
                    out[kind if mine & place != NONE else 6 + kind, rank, file] = 1.0
                out[12, rank, file] = self.castles & place != NONE
                out[14, rank, file] = self.repeats > 0
                out[15, rank, file] = self.clock / _FIFTY
                out[16, rank, file] = not turned
            if self.passing >= 0:
                out[13, (self.passing // 8) ^ (7 if turned else 0), self.passing % 8] = 1.0

        def key(self) -> np.uint64:
            """Return a key of the position, of how often it has occurred, and of the moves towards the fifty if they
            are many. Other differences of the history are left out, so that positions in a search are found again.
            """
            late = self.clock if self.clock >= _LATE else 0
            return mix_bits(self.placement + np.uint64(late * 4 + min(self.repeats, 2)))

        def opponent_is_in_check(self) -> bool:
            kings = ~(self.pawns | self.knights | self.diagonal | self.straight)
            return bool(attacks_of_mover(self) & self.theirs & kings != NONE)

        # For people.

        def board(self) -> Grid:
            cells = [text.GLYPHS.get(cell, "") for cell in text.setup_of(self).cells]
            ranks = [cells[8 * rank : 8 * rank + 8] for rank in range(7, -1, -1)]
            return Grid(ranks, surface="checkered", pieces="text")

        def render(self) -> str:
            return text.write_diagram(text.setup_of(self), is_960=is_960)

        def move_text(self, action: int) -> str:
            return text.write_uci(text.move_of(self, action), is_960=is_960)

        def parse_move(self, name: str) -> int:
            legal = text.legal_moves(self)
            return list(legal)[text.find_move(name, list(legal.values()), is_960=is_960)]

        def notation(self, action: int) -> str:
            legal, after = text.legal_moves(self), copy(self)
            after.apply(action)
            check = "" if after.allowed == ALL else "+" if after.can_move() else "#"
            move = legal[int(action)]
            taking = text.setup_of(self).cells[move.end] != "" or (
                move.piece == "P" and (move.end - move.start) % 8 != 0
            )
            return text.write_san(move, list(legal.values()), taking=taking) + check

        def setup_text(self) -> str:
            return text.write_fen(text.setup_of(self), is_960=is_960)

        def parse(self, diagram: str) -> None:
            """Read a FEN, or a diagram as printed, whose last line is a FEN."""
            given = text.read_position(diagram, is_960=is_960)
            turned = 56 * given.black
            mine, theirs, *boards = (np.uint64(board) for board in text.boards_of(given.cells, given.black))
            self.mine, self.theirs = mine, theirs
            self.pawns, self.knights, self.diagonal, self.straight = boards
            self.castles = np.uint64(sum(1 << (square ^ turned) for square in given.castles))
            self.player, self.clock, self.turn = int(given.black), given.clock, given.turn
            if self.opponent_is_in_check():
                side = "White" if given.black else "Black"
                raise ValueError(f"{side} is in check, but it is the opponent's turn")
            self.begin(given.passing ^ turned if given.passing >= 0 else -1)

    return Chess  # type: ignore[return-value]  # mypy does not see what a class decorator returns


def fen(position: Position) -> str:
    """Return a position of chess as FEN. The square of a capture en passant is given where that capture is legal.

    >>> import treetop as tt
    >>> fen(tt.position("chess", moves="e4 c5 Nf3"))
    'rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2'
    """
    if position.game.family != "chess":
        raise ConfigError(f"a FEN is of a position of chess, not of {position.game.name}")
    return position.setup_text()
