"""Learn a grid world without its rules, in the way of MuZero: a search over a learned model, with Gymnasium."""

import tempfile
from collections import deque

import gymnasium
import numpy as np

import treetop as tt

GRID = ("..#..", ".#...", "...#.", ".#..G")
CELLS = [(row, column) for row, line in enumerate(GRID) for column, cell in enumerate(line) if cell != "#"]
GOAL = next(cell for cell in CELLS if GRID[cell[0]][cell[1]] == "G")
STARTS = [cell for cell in CELLS if cell != GOAL]
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))
OPTIONS = {
    "steps": 5_000, "discount": 0.9, "bootstrap": 3, "completed_scale": 0.1, "rate": 0.01, "seed": 1,
    "hidden": 64, "latent": 32, "support": 5, "unroll": 3, "batch": 64, "reuse": 32,
}  # fmt: skip


def walk(cell, action):
    """Return the cell after a move; walls and edges stop it."""
    aim = cell[0] + MOVES[action][0], cell[1] + MOVES[action][1]
    return aim if aim in CELLS else cell


def distances():
    """Return the number of moves from each cell to the goal, by breadth-first search."""
    found, waiting = {GOAL: 0}, deque([GOAL])
    while waiting:
        cell = waiting.popleft()
        for before in (one for one in CELLS if one not in found and cell in [walk(one, action) for action in range(4)]):
            found[before] = found[cell] + 1
            waiting.append(before)
    return found


class GridWorld(gymnasium.Env):
    """Reach the goal from a random cell, which is rewarded by 1. An episode is cut off after 30 moves."""

    observation_space, action_space = gymnasium.spaces.Discrete(len(CELLS)), gymnasium.spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cell, self.moves = STARTS[self.np_random.integers(len(STARTS))], 0
        return CELLS.index(self.cell), {}

    def step(self, action):
        self.cell, self.moves = walk(self.cell, action), self.moves + 1
        return CELLS.index(self.cell), float(self.cell == GOAL), self.cell == GOAL, self.moves >= 30, {}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run = tt.train.muzero(GridWorld, out=folder, **OPTIONS)
        policy, ways = run.policy(), []
        for cell in STARTS:
            ways.append(0)
            while cell != GOAL and ways[-1] < 30:
                cell, ways[-1] = walk(cell, policy(CELLS.index(cell))), ways[-1] + 1
    best = np.mean([distances()[cell] for cell in STARTS])
    print(f"{np.mean(ways):.2f} moves to the goal, mean of {len(STARTS)} starts; the shortest paths have {best:.2f}")
