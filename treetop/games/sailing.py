"""Sailing: the shortest path across a lake with changing wind."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import CHANCE, Element, Game, Grid, Picture, Table, checks, family, field, game

_NAMES = ("n", "ne", "e", "se", "s", "sw", "w", "nw")
_NORTH = np.array([1, 1, 0, -1, -1, -1, 0, 1], np.int64)
_EAST = np.array([0, 1, 1, 1, 0, -1, -1, -1], np.int64)
# The probability that the wind of a row is followed by that of a column. It stays, or turns by an eighth.
_WINDS = np.array([
    [0.4, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3],
    [0.4, 0.3, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.4, 0.3, 0.3, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.4, 0.3, 0.3, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.4, 0.2, 0.4, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.3, 0.3, 0.4, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.3, 0.4],
    [0.4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.3],
])  # fmt: skip
_DIAGONAL = 2.0**0.5
_DELAY = 3.0
_COST = np.array([1.0, 2.0, 3.0, 4.0, 0.0, 4.0, 3.0, 2.0])  # by the angle from the wind to the course, in eighths
_TACK = np.array([0, 1, 1, 1, 0, 2, 2, 2], np.int64)  # 0 before the wind; else the side of the sail
_CALM = 8


@family
def sailing(size: int = 10, horizon: int = 1000) -> Game:
    """Sail across a lake of `size` x `size` points from one corner to the opposite one, in at most `horizon` legs."""
    checks.whole("size", size, 2, 100)
    checks.whole("horizon", horizon, 1, 30_000)
    goal = size - 1

    @game(
        players=1,
        num_actions=8,
        max_length=2 * horizon + 1,
        rewards=(-(4.0 * _DIAGONAL + _DELAY) * horizon, 0),
        num_outcomes=8,
        observation_shape=(2 * size + 14,),
    )
    class Sailing:
        """Sail across a lake to the opposite corner; the wind changes, and each leg costs time.

        The boat starts in the south-west and sails to the north-east, in legs to one of the eight neighbouring points
        (actions 0 to 7: north, north-east, and so on clockwise). No leg leaves the lake or goes straight against the
        wind. A leg before the wind costs 1, at an eighth of a turn to it 2, across it 3, and close to it 4; diagonal
        legs are longer by the square root of 2. Changing the side of the sail costs 3 more. After each leg the wind
        stays or turns; at the start all winds are equally likely. The game ends at the goal, or after the last leg.

        Outcome n is a wind that blows in the direction of action n.
        """

        north: int = field("i1")
        east: int = field("i1")
        wind: int = field("i1")  # the direction in which it blows; 8 before the first wind
        tack: int = field("i1")  # of the last leg: 0 none, 1 and 2 the two sides
        legs: int = field("i2")
        cost: float = field("f8")  # of the last leg
        turning: bool = field("bool")  # a chance node: the next wind is drawn

        def reset(self) -> None:
            self.north = 0
            self.east = 0
            self.wind = _CALM
            self.tack = 0
            self.legs = 0
            self.cost = 0.0
            self.turning = True

        def current_player(self) -> int:
            return CHANCE if self.turning else 0

        def chance_outcomes(self, actions: Any, probabilities: Any) -> int:
            count = 0
            for wind in range(8):
                probability = 0.125 if self.wind == _CALM else _WINDS[self.wind, wind]
                if probability > 0.0:
                    actions[count] = wind
                    probabilities[count] = probability
                    count += 1
            return count

        def random_outcome(self, rng: Any) -> int:
            if self.wind == _CALM:
                return int(rng.below(8))
            drawn = rng.random()
            wind = (self.wind + 7) & 7  # only this one and the next two are possible
            for _ in range(2):
                drawn -= _WINDS[self.wind, wind]
                if drawn < 0.0:
                    return wind
                wind = (wind + 1) & 7
            return wind

        def is_open(self, course: int) -> bool:
            """Return whether a leg is legal."""
            north, east = self.north + _NORTH[course], self.east + _EAST[course]
            return bool(0 <= north < size and 0 <= east < size) and (course - self.wind) & 7 != 4

        def cost_of(self, course: int) -> float:
            angle = (course - self.wind) & 7
            cost = _COST[angle] * (_DIAGONAL if course & 1 else 1.0)
            return float(cost + (_DELAY if self.tack + _TACK[angle] == 3 else 0.0))

        def legal_actions(self, out: Any) -> int:
            count = 0
            for course in range(8):
                if self.is_open(course):
                    out[count] = course
                    count += 1
            return count

        def random_action(self, rng: Any) -> int:
            while True:
                course = int(rng.below(8))
                if self.is_open(course):
                    return course

        def rollout_action(self, rng: Any) -> int:  # noqa: ARG002 - this policy is deterministic
            """Return the leg with the least cost for its progress: about 3% more costly than the optimal policy."""
            best, least = -1, 1e9
            way = max(goal - self.north, goal - self.east)
            for course in range(8):
                if self.is_open(course):
                    left = max(goal - self.north - _NORTH[course], goal - self.east - _EAST[course])
                    cost = self.cost_of(course) + 3.5 * (left - way)
                    if cost < least:
                        best, least = course, cost
            return best

        def apply(self, action: int) -> None:
            if self.turning:
                self.wind = action
                self.cost = 0.0
                self.turning = False
                return
            self.cost = self.cost_of(action)
            self.tack = _TACK[(action - self.wind) & 7]
            self.north += _NORTH[action]
            self.east += _EAST[action]
            self.legs += 1
            self.turning = not self.is_terminal()

        def is_terminal(self) -> bool:
            return (self.north == goal and self.east == goal) or (not self.turning and self.legs >= horizon)

        def step_rewards(self, out: Any) -> None:
            out[0] = -self.cost

        def rewards(self, out: Any) -> None:
            pass

        def heuristic(self, out: Any) -> None:
            """Write the average cost of the rest of the trip under the optimal policy."""
            way = min(max(goal - self.north, goal - self.east), horizon - self.legs)
            out[0] = -1.3 - 3.5 * way if way > 0 else 0.0

        def observe(self, player: int, out: Any) -> None:  # noqa: ARG002 - there is one player
            """Write the place to the north and to the east, the wind and the sail, each one-hot.

            Then the share of the legs left, and whether the next wind is drawn. The winds are 0 to 7, and 8 before the
            first one.
            """
            out[self.north] = 1.0
            out[size + self.east] = 1.0
            out[2 * size + self.wind] = 1.0
            out[2 * size + 9 + self.tack] = 1.0
            out[2 * size + 12] = 1.0 - self.legs / horizon
            out[2 * size + 13] = self.turning

        def key(self) -> int:
            place = (self.legs * size + self.north) * size + self.east
            return ((place * 9 + self.wind) * 3 + self.tack) * 2 + int(self.turning)

        def board(self) -> list[Element]:
            cells = [["" for _ in range(size)] for _ in range(size)]
            cells[goal][goal] = "G"
            cells[self.north][self.east] = "X"
            wind = "to come" if self.wind == _CALM else f"to {_NAMES[self.wind]}{', turning' if self.turning else ''}"
            return [Grid(cells[::-1], pieces="text"), Table({"wind": wind, "legs": f"{self.legs} of {horizon}"})]

        def render(self) -> str:
            rows = [" ".join(cell or "." for cell in row) for row in Picture.of(self.board()).rows() or ()]
            wind = (
                "the wind is still to come"
                if self.wind == _CALM
                else f"wind to {_NAMES[self.wind]}{', turning' if self.turning else ''}"
            )
            return "\n".join(
                [
                    *rows,
                    f"{wind}; {self.legs} of {horizon} legs, sail {('free', 'on one side', 'on the other')[self.tack]}",
                ]
            )

        def move_text(self, action: int) -> str:
            return _NAMES[action]

        def outcome_text(self, outcome: int) -> str:
            return _NAMES[outcome]

        def parse_move(self, text: str) -> int:
            return _NAMES.index(text.lower())

    return Sailing  # type: ignore[return-value]  # mypy does not see what a class decorator returns
