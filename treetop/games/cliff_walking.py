"""Cliff walking: a grid world for one player with a safe path and a short one."""

from __future__ import annotations

from typing import Any

from treetop.game import CHANCE, Element, Game, Grid, Picture, Table, checks, family, field, game

_ROWS, _COLUMNS = 4, 12
_START, _GOAL = 36, 47  # cells row by row from the top left; between these two lies the cliff
_NAMES = ("up", "right", "down", "left")
_SLIPS = ("aside-left", "ahead", "aside-right")


@family
def cliff_walking(slippery: bool = False, horizon: int = 200) -> Game:
    """Walk along a cliff to the goal in the fewest steps; at most `horizon` steps are allowed.

    `slippery`: a step goes in the chosen direction with probability 1/3, and to each side with probability 1/3.
    """
    checks.flag("slippery", slippery)
    checks.whole("horizon", horizon, 1, 30_000)

    @game(
        players=1,
        num_actions=4,
        max_length=horizon * (2 if slippery else 1),
        rewards=(-100 * horizon, 0),
        num_outcomes=3 if slippery else None,
        observation_shape=(_ROWS * _COLUMNS + (5 if slippery else 1),),
    )
    class CliffWalking:
        """Walk along a cliff to the goal; each step costs 1, a fall 100.

        The grid has 4 rows of 12 cells. The start is at the bottom left, the goal at the bottom right, and all cells
        between them are the cliff: a step there costs 100 and leads back to the start. Actions 0 to 3 go up, right,
        down and left; at an edge the player stays. The game ends at the goal, or after `horizon` steps.

        On slippery ground a chance node follows each action: outcome 1 goes in the chosen direction, 0 to the left of
        it and 2 to the right.
        """

        cell: int = field("i1")
        steps: int = field("i2")
        cost: int = field("i1")  # of the last step
        meant: int = field("i1")  # the chosen direction at a chance node; else -1

        def reset(self) -> None:
            self.cell = _START
            self.steps = 0
            self.cost = 0
            self.meant = -1

        def current_player(self) -> int:
            return CHANCE if self.meant >= 0 else 0

        if slippery:

            def chance_outcomes(self, actions: Any, probabilities: Any) -> int:
                for outcome in range(3):
                    actions[outcome] = outcome
                    probabilities[outcome] = 1.0 / 3.0
                return 3

            def random_outcome(self, rng: Any) -> int:
                return int(rng.below(3))

        def legal_actions(self, out: Any) -> int:
            for action in range(4):
                out[action] = action
            return 4

        def random_action(self, rng: Any) -> int:
            return int(rng.below(4))

        def apply(self, action: int) -> None:
            if self.meant >= 0:
                self.walk((self.meant + action - 1) & 3)
                self.meant = -1
            elif slippery:
                self.meant = action
                self.cost = 0
            else:
                self.walk(action)

        def walk(self, direction: int) -> None:
            row, column = self.cell // _COLUMNS, self.cell % _COLUMNS
            if direction == 0:
                row = max(row - 1, 0)
            elif direction == 1:
                column = min(column + 1, _COLUMNS - 1)
            elif direction == 2:
                row = min(row + 1, _ROWS - 1)
            else:
                column = max(column - 1, 0)
            self.cell = _COLUMNS * row + column
            self.cost = 1
            self.steps += 1
            if _START < self.cell < _GOAL:
                self.cell = _START
                self.cost = 100

        def is_terminal(self) -> bool:
            return self.meant < 0 and (self.cell == _GOAL or self.steps >= horizon)

        def step_rewards(self, out: Any) -> None:
            out[0] = -self.cost

        def rewards(self, out: Any) -> None:
            pass

        def heuristic(self, out: Any) -> None:
            """Write the cost of the shortest path to the goal on ground that is not slippery."""
            way = _COLUMNS - 1 - self.cell % _COLUMNS + _ROWS - 1 - self.cell // _COLUMNS
            if self.cell == _START:
                way += 2
            out[0] = -min(way, horizon - self.steps)

        def observe(self, player: int, out: Any) -> None:  # noqa: ARG002 - there is one player
            """Write the cell, one-hot, and the share of the steps left; on slippery ground the chosen direction too."""
            out[self.cell] = 1.0
            out[_ROWS * _COLUMNS] = 1.0 - self.steps / horizon
            if self.meant >= 0:
                out[_ROWS * _COLUMNS + 1 + self.meant] = 1.0

        def key(self) -> int:
            return (self.steps * 48 + self.cell) * 8 + self.meant + 1

        def board(self) -> list[Element]:
            cells = ["#" if _START < cell < _GOAL else "G" if cell == _GOAL else "" for cell in range(_ROWS * _COLUMNS)]
            cells[self.cell] = "X"
            rows = [cells[start : start + _COLUMNS] for start in range(0, _ROWS * _COLUMNS, _COLUMNS)]
            return [Grid(rows, pieces="text"), Table({"steps": f"{self.steps} of {horizon}"})]

        def render(self) -> str:
            rows = [" ".join(cell or "." for cell in row) for row in Picture.of(self.board()).rows() or ()]
            slipping = f", going {_NAMES[self.meant]}" if self.meant >= 0 else ""
            return "\n".join([*rows, f"{self.steps} of {horizon} steps{slipping}"])

        def move_text(self, action: int) -> str:
            return _NAMES[action]

        def outcome_text(self, outcome: int) -> str:
            return _SLIPS[outcome]

        def parse_move(self, text: str) -> int:
            return _NAMES.index(text.lower())

    return CliffWalking  # type: ignore[return-value]  # mypy does not see what a class decorator returns
