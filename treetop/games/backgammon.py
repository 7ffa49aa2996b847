"""Backgammon."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import (
    CHANCE,
    Dice,
    Element,
    Game,
    Pile,
    Piles,
    Table,
    checks,
    compiled,
    family,
    field,
    game,
    lowest_bit,
    mix_bits,
    nth_bit,
    popcount,
)

# The points are numbered from each player's own side: 24 down to 1, with 25 for the bar and 0 for checkers borne off.
# Point n is point 25 - n of the opponent. A set of points is a number whose bit n is point n.
_BAR, _OFF, _CHECKERS = 25, 0, 15
_WHO_BEGINS, _FIRST_ROLL, _ROLL, _MOVE = range(4)
_START = ((24, 2), (13, 5), (8, 3), (6, 5))
_HIGH = np.array([high for high in range(1, 7) for _ in range(high)], np.int64)  # of each roll: 1-1, 2-1, 2-2, 3-1, ...
_LOW = np.array([low for high in range(1, 7) for low in range(1, high + 1)], np.int64)
_SIDES = "XO"
_HEIGHT = 5  # the rows of a stack of checkers on the board that is printed


@compiled(inline=True)
def _sources(occupied: int, walls: int, die: int) -> int:
    """Return the points from which a checker can move by a die.

    Checkers on the bar move first, blocked points are excluded, and bearing off needs all checkers at home.
    """
    if occupied >> _BAR != 0:
        return (1 << _BAR) & ~(walls << die)
    found = occupied & ~(walls << die) & (-2 << die)
    if occupied >> 7 == 0:
        found |= occupied & (1 << die)
        if occupied >> die == 0:  # a die that is too high bears off the farthest checker
            for point in range(5, 0, -1):
                if occupied >> point == 1:
                    found |= 1 << point
    return found


def _drawing(checkers: Any, player: int) -> list[str]:
    """Return the lines of a board: two rows of twelve points and the bar, with the points numbered for a player.

    X moves towards the lower right. A stack of more than five checkers has its number at the inner end.
    """

    def stack(side: int, count: int) -> list[str]:
        """Return the five cells of a stack, from the edge of the board inwards."""
        shown = [_SIDES[side]] * min(count, _HEIGHT) + [""] * (_HEIGHT - count)
        return [*shown[:-1], str(count)] if count > _HEIGHT else shown

    def half(points: range, bar: int) -> tuple[str, list[str]]:
        """Return the edge of a half with the numbers of its points, and its rows from the edge inwards."""
        stacks = [
            stack(0, int(checkers[0, point])) if checkers[0, point] else stack(1, int(checkers[1, 25 - point]))
            for point in points
        ]
        stacks.insert(6, stack(bar, int(checkers[bar, _BAR])))
        rows = [[f"{cell:>2}" for cell in row] for row in zip(*stacks, strict=True)]
        inside = [f"| {' '.join(row[:6])} | {row[6]} | {' '.join(row[7:])} |" for row in rows]
        off = int(checkers[bar, _OFF])
        inside[0] += f"  {_SIDES[bar]}: {off} off" if off else ""
        numbers = [f"{25 - point if player else point:->2}" for point in points]
        return f"+-{'-'.join(numbers[:6])}-+bar-+-{'-'.join(numbers[6:])}-+", inside

    (top, upper), (bottom, lower) = half(range(13, 25), 1), half(range(12, 0, -1), 0)
    return [top, *upper, f"|{' ' * 19}|{' ' * 4}|{' ' * 19}|", *reversed(lower), bottom]


def _pile(state: Any, point: int) -> Pile:
    """Return the checkers on a point, as X numbers it; its name is the number for the player to move."""
    side = 0 if state.checkers[0, point] else 1
    count = state.checkers[side, point if side == 0 else 25 - point]
    return Pile(count, _SIDES[side] if count else "", str(25 - point if state.player else point))


@family
def backgammon(gammons: bool = True, most_turns: int = 2000) -> Game:
    """Race fifteen checkers home past the opponent's, by dice.

    `gammons`: a gammon counts 2 and a backgammon 3; else every win counts 1. A game of `most_turns` turns is a draw.
    """
    checks.flag("gammons", gammons)
    checks.whole("most_turns", most_turns, 1, 20_000)
    most = 3 if gammons else 1

    @game(
        players=2,
        num_actions=50,
        max_length=5 * most_turns + 2,
        rewards=(-most, most),
        num_outcomes=21,
        observation_shape=(214,),
    )
    class Backgammon:
        """Race fifteen checkers home past the opponent's, by dice.

        Each player moves from their 24-point down to their 1-point. The first player is drawn at random, with a first
        roll of two different dice, which is equivalent to letting the higher die start. A turn moves one checker by
        each die, four times with doubles. No checker lands on a point with two or more checkers of the opponent; a
        single one there is hit and goes to the bar, from where it must enter before any other checker moves. When all
        fifteen checkers are at home they may be borne off; a die higher than needed bears off only the farthest. Both
        dice must be used if possible, and if only one can be used, the higher one. A turn without a legal move is
        skipped. The first player to bear off all checkers wins: twice as much if the opponent has borne off none, three
        times as much if one of the opponent's checkers is also on the bar or in the winner's home.

        A turn consists of single moves: action 2 * (point - 1) moves from a point by the higher die, + 1 by the lower;
        point 25 is the bar. Outcomes are the rolls 1-1, 2-1, 2-2, 3-1 and so on; at the first chance node, outcome n
        lets player n start.
        """

        checkers: Any = field("i1", (2, 26))  # the number of checkers of each player, on their own points
        occupied: Any = field("i4", 2)  # the set of points with checkers of each player
        walls: Any = field("i4", 2)  # the set of points where each player cannot land
        by_high: int = field("i4")  # the set of points from which the player may move by the higher die
        by_low: int = field("i4")
        high: int = field("i1")
        low: int = field("i1")
        high_left: int = field("i1")  # the moves left by the higher die: up to four for doubles
        low_left: int = field("i1")  # none for doubles
        turns: int = field("i2")
        player: int = field("i1")
        stage: int = field("i1")

        def reset(self) -> None:
            self.checkers[:] = 0
            for player in range(2):
                for point, count in _START:
                    self.checkers[player, point] = count
            self.turns = 0
            self.player = 0
            self.stage = _WHO_BEGINS
            self.no_dice()
            self.look_at_all()

        def no_dice(self) -> None:
            self.high = 0
            self.low = 0
            self.high_left = 0
            self.low_left = 0
            self.by_high = 0
            self.by_low = 0

        def look_at_all(self) -> None:
            for player in range(2):
                for point in range(1, 26):
                    self.look_at(player, point)

        def look_at(self, player: int, point: int) -> None:
            """Update the sets after a point has changed."""
            count = self.checkers[player, point]
            here, there = 1 << point, 1 << (25 - point)
            self.occupied[player] = self.occupied[player] & ~here | (here if count > 0 else 0)
            self.walls[1 - player] = self.walls[1 - player] & ~there | (there if count > 1 and point < _BAR else 0)

        def set_up(self, checkers: Any, player: int, high: int, low: int) -> None:
            """Set up a position from checkers[player, point]: 25 is the bar, 0 is off; dice of 0 are not rolled."""
            for side in range(2):
                for point in range(26):
                    self.checkers[side, point] = checkers[side, point]
            self.look_at_all()
            self.player = player
            self.turns = 0
            self.no_dice()
            self.stage = _ROLL
            if high > 0:
                self.roll(max(high, low), min(high, low))
                self.find_moves()

        def roll(self, high: int, low: int) -> None:
            self.high = high
            self.low = low
            self.high_left = 4 if high == low else 1
            self.low_left = 0 if high == low else 1
            self.stage = _MOVE

        def find_moves(self) -> None:
            """Find the points from which the player may move; if there are none, end the turn."""
            occupied, walls = int(self.occupied[self.player]), int(self.walls[self.player])
            by_high = _sources(occupied, walls, self.high) if self.high_left > 0 else 0
            by_low = _sources(occupied, walls, self.low) if self.low_left > 0 else 0
            if self.high_left == 1 and self.low_left == 1:
                # Doubles need no such check: a move never blocks another one, so any order uses as many as possible.
                high_first = self.leaving(by_high, self.high, self.low)
                low_first = self.leaving(by_low, self.low, self.high)
                if high_first | low_first != 0:
                    by_high, by_low = high_first, low_first
                elif by_high != 0:
                    by_low = 0
            self.by_high = by_high
            self.by_low = by_low
            if by_high | by_low == 0 and self.checkers[self.player, _OFF] < _CHECKERS:
                self.no_dice()
                self.player = 1 - self.player
                self.stage = _ROLL
                self.turns += 1

        def leaving(self, sources: int, die: int, other: int) -> int:
            """Return the sources of moves by a die after which a move by the other die is possible."""
            occupied, walls = int(self.occupied[self.player]), int(self.walls[self.player])
            found, rest = 0, sources
            while rest != 0:
                point = lowest_bit(rest)
                rest &= rest - 1
                after = occupied ^ (1 << point) if self.checkers[self.player, point] == 1 else occupied
                if point > die:
                    after |= 1 << (point - die)
                if _sources(after, walls, other) != 0:
                    found |= 1 << point
            return found

        def current_player(self) -> int:
            return self.player if self.stage == _MOVE else CHANCE

        def chance_outcomes(self, actions: Any, probabilities: Any) -> int:
            count = 0
            for outcome in range(2 if self.stage == _WHO_BEGINS else 21):
                doubles = _HIGH[outcome] == _LOW[outcome]
                probability = 0.5 if self.stage == _WHO_BEGINS else (1.0 if doubles else 2.0) / 36.0
                if self.stage == _FIRST_ROLL:
                    probability = 0.0 if doubles else 1.0 / 15.0
                if probability > 0.0:
                    actions[count] = outcome
                    probabilities[count] = probability
                    count += 1
            return count

        def random_outcome(self, rng: Any) -> int:
            if self.stage == _WHO_BEGINS:
                return int(rng.below(2))
            different = self.stage == _FIRST_ROLL
            drawn = int(rng.below(30 if different else 36))
            one = drawn // 5 if different else drawn // 6
            two = drawn % 5 if different else drawn % 6
            if different and two >= one:
                two += 1
            return max(one, two) * (max(one, two) + 1) // 2 + min(one, two)

        def legal_actions(self, out: Any) -> int:
            count = 0
            rest = self.by_high
            while rest != 0:
                out[count] = 2 * lowest_bit(rest) - 2
                rest &= rest - 1
                count += 1
            rest = self.by_low
            while rest != 0:
                out[count] = 2 * lowest_bit(rest) - 1
                rest &= rest - 1
                count += 1
            return count

        def random_action(self, rng: Any) -> int:
            high_moves = popcount(self.by_high)
            drawn = int(rng.below(high_moves + popcount(self.by_low)))
            if drawn < high_moves:
                return 2 * nth_bit(self.by_high, drawn) - 2
            return 2 * nth_bit(self.by_low, drawn - high_moves) - 1

        def apply(self, action: int) -> None:
            if self.stage == _WHO_BEGINS:
                self.player = action
                self.stage = _FIRST_ROLL
                return
            if self.stage == _MOVE:
                self.move(action // 2 + 1, self.low if action & 1 else self.high)
                self.high_left -= 1 - (action & 1)
                self.low_left -= action & 1
            else:
                self.roll(_HIGH[action], _LOW[action])
            self.find_moves()

        def move(self, point: int, die: int) -> None:
            player, other = self.player, 1 - self.player
            to = max(_OFF, point - die)
            self.checkers[player, point] -= 1
            self.checkers[player, to] += 1
            self.look_at(player, point)
            if to == _OFF:
                return
            self.look_at(player, to)
            if self.checkers[other, 25 - to] > 0:
                self.checkers[other, 25 - to] = 0
                self.checkers[other, _BAR] += 1
                self.look_at(other, 25 - to)
                self.look_at(other, _BAR)

        def is_terminal(self) -> bool:
            return (
                self.checkers[0, _OFF] == _CHECKERS or self.checkers[1, _OFF] == _CHECKERS or self.turns >= most_turns
            )

        def rewards(self, out: Any) -> None:
            for player in range(2):
                if self.checkers[player, _OFF] == _CHECKERS:
                    other = 1 - player
                    won = 1.0
                    if gammons and self.checkers[other, _OFF] == 0:
                        won = 3.0 if self.occupied[other] >> 19 != 0 else 2.0
                    out[player] = won
                    out[other] = -won

        def pips(self, player: int) -> int:
            """Return the pip count of a player: the sum of the distances of all checkers."""
            total = 0
            for point in range(1, 26):
                total += point * self.checkers[player, point]
            return total

        def heuristic(self, out: Any) -> None:
            """Write the lead in pips, relative to the pips of both players."""
            if self.is_terminal():
                self.rewards(out)
                return
            own, others = self.pips(self.player), self.pips(1 - self.player)
            lead = 8.0 * (others - own + 4.0) / (own + others + 20.0)
            out[self.player] = lead / (1.0 + abs(lead))
            out[1 - self.player] = -out[self.player]

        def observe(self, player: int, out: Any) -> None:
            """Write the checkers of the player and of the opponent as in TD-Gammon, then the turn and the dice.

            Points are those of the player, from 1 to 24. Four numbers show the checkers of a side on a point: whether
            there are at least one, two, three, and half of those above three. After 96 of them for each side follow
            the checkers on the bar (divided by 2) and borne off (by 15), for the player and the opponent; whether the
            player has the turn, or the opponent; whether the first roll is next; the higher and the lower die, each
            one-hot; the moves left by the higher (divided by 4) and by the lower; and the share of the turns left.
            """
            for side in range(2):
                owner = player if side == 0 else 1 - player
                for point in range(1, 25):
                    count = self.checkers[owner, point if side == 0 else 25 - point]
                    start = 96 * side + 4 * (point - 1)
                    out[start] = count >= 1
                    out[start + 1] = count >= 2
                    out[start + 2] = count >= 3
                    out[start + 3] = max(0, count - 3) / 2
                out[192 + side] = self.checkers[owner, _BAR] / 2
                out[194 + side] = self.checkers[owner, _OFF] / _CHECKERS
                out[196 + side] = owner == self.player and self.stage != _WHO_BEGINS
            out[198] = self.stage == _FIRST_ROLL
            if self.stage == _MOVE:
                out[198 + self.high] = 1.0
                out[204 + self.low] = 1.0
            out[211] = self.high_left / 4
            out[212] = self.low_left
            out[213] = 1.0 - self.turns / most_turns

        def key(self) -> np.uint64:
            numbers = (self.turns * 4 + self.stage) * 2 + self.player
            for number in (self.high, self.low, self.high_left, self.low_left):
                numbers = 8 * numbers + number
            found = mix_bits(np.uint64(numbers))
            for player in range(2):
                for start in (0, 13):
                    word = 0
                    for point in range(start, start + 13):
                        word = 16 * word + self.checkers[player, point]
                    found = mix_bits(found ^ np.uint64(word))
            return found

        def board(self) -> list[Element]:
            def row(points: range, bar: int) -> list[Pile]:
                piles = [_pile(self, point) for point in points]
                piles.insert(6, Pile(self.checkers[bar, _BAR], _SIDES[bar], "bar" if bar == self.player else ""))
                return [*piles, Pile(self.checkers[bar, _OFF], _SIDES[bar], "off" if bar == self.player else "")]

            dice = [self.high] * self.high_left + [self.low] * self.low_left if self.stage == _MOVE else []
            pips = {f"pips of {_SIDES[player]}": self.pips(player) for player in range(2)}
            return [
                Piles([row(range(13, 25), 1), row(range(12, 0, -1), 0)], style="points"),
                Dice(dice, self.turn_text()),
                Table(pips),
            ]

        def render(self) -> str:
            lines = _drawing(self.checkers, self.player)
            for player in range(2):
                points = [
                    (point, int(self.checkers[player, point]))
                    for point in range(_BAR, 0, -1)
                    if self.checkers[player, point]
                ]
                held = [f"{'bar' if point == _BAR else point}*{count}" for point, count in points]
                lines.append(" ".join([f"{_SIDES[player]}:", *held, f"({self.pips(player)} pips)"]))
            return "\n".join([*lines, self.turn_text()])

        def turn_text(self) -> str:
            """Return whose turn it is, and the dice that are left."""
            if self.stage == _WHO_BEGINS:
                return "who begins is to be drawn"
            side = _SIDES[self.player]
            if self.checkers[self.player, _OFF] == _CHECKERS:
                return f"{side} has won"
            dice = [self.high] * self.high_left + [self.low] * self.low_left
            return f"{side} to move {' '.join(map(str, dice))}" if self.stage == _MOVE else f"{side} to roll"

        def move_text(self, action: int) -> str:
            point, die = action // 2 + 1, self.low if action & 1 else self.high
            start = "bar" if point == _BAR else str(point)
            return f"{start}/{point - die}" if point > die else f"{start}/off:{die}"

        def outcome_text(self, outcome: int) -> str:
            return _SIDES[outcome] if self.stage == _WHO_BEGINS else f"{_HIGH[outcome]}-{_LOW[outcome]}"

        def parse_move(self, text: str) -> int:
            start, _, end = text.lower().partition("/")
            point = _BAR if start == "bar" else int(start)
            die = int(end.partition(":")[2]) if end.startswith("off") else point - int(end)
            return 2 * point - 2 + (self.high, self.low).index(die)

        def parse(self, text: str) -> None:
            """Read two lines of checkers as printed, and a line such as `X to move 6 5` or `X to roll`.

            The board above these lines may be left out.
            """
            lines = [line.split() for line in text.strip().splitlines() if line.strip()[:1] not in ("+", "|")]
            if (
                len(lines) != 3
                or [line[0] for line in lines[:2]] != ["X:", "O:"]
                or lines[2][:2] not in (["X", "to"], ["O", "to"])
            ):
                raise ValueError(f"a backgammon position has lines for X, O and the player to move; not {text!r}")
            checkers = np.zeros((2, 26), np.int64)
            for player in range(2):
                for held in lines[player][1:]:
                    if held.startswith("("):
                        break
                    point, _, count = held.partition("*")
                    checkers[player, _BAR if point == "bar" else range(1, 25).index(int(point)) + 1] += int(count)
                checkers[player, _OFF] = _CHECKERS - checkers[player].sum()
            if checkers.min() < 0 or (checkers[0, 1:25] * checkers[1, 24:0:-1]).any():
                raise ValueError(f"each player has fifteen checkers, and no point has checkers of both; not {text!r}")
            dice = [range(7).index(int(die)) for die in lines[2][3:]] or [0]
            if len(dice) > 4 or (len(dice) > 2 and len(set(dice)) > 1):
                raise ValueError(f"there are one or two dice, or up to four moves of doubles; not {text!r}")
            self.set_up(checkers, _SIDES.index(lines[2][0]), dice[0], dice[-1])
            if self.stage == _MOVE and self.high == self.low:
                self.high_left = len(dice)

    return Backgammon  # type: ignore[return-value]  # mypy does not see what a class decorator returns
