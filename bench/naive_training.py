"""Train a network of Connect Four as teaching repositories do: one game at a time, and one position in a batch.

    python bench/naive_training.py run --minutes 30        the network in the folder `run`

The rules are written with NumPy arrays, the tree is made of Python objects with dictionaries of children, and PyTorch
evaluates each leaf by itself. Everything else is AlphaZero's: PUCT, Dirichlet noise at the root, a temperature in the
first moves, visits as the target of the policy, the outcome as that of the value, mirrored positions, Adam. The network
is the same as Treetop's, and is saved as Treetop's are. `bench/training.py` compares both.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

import treetop as tt
from treetop.evaluators.networks.architecture import Architecture
from treetop.evaluators.networks.model import Model
from treetop.train.network import folded, make_module

Board = npt.NDArray[np.int8]  # 1 is a disc of the player to move, -1 one of the opponent; row 0 is the top
Sample = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], float]  # planes, policy, value

ROWS, COLUMNS = 6, 7
SIMULATIONS, EXPLORATION = 32, 1.5
NOISE, ALPHA = 0.25, 1.0
WARM_MOVES = 10  # moves that are drawn in proportion to their visits
GAMES, REUSE, BATCH, WINDOW = 20, 8, 256, 20_000  # REUSE: how often a position is trained on, as in Treetop


@dataclass
class Trained:
    """What a training run has done."""

    games: int = 0
    positions: int = 0
    steps: int = 0
    seconds: float = 0.0


# The rules.


def legal(board: Board) -> list[int]:
    """Return the columns that are not full."""
    return np.flatnonzero(board[0] == 0).tolist()


def play(board: Board, column: int) -> Board:
    """Return the board after a move, as the opponent sees it."""
    after = board.copy()
    after[np.flatnonzero(board[:, column] == 0)[-1], column] = 1
    return -after


def lost(board: Board) -> bool:
    """Return whether the opponent of the player to move has four in a row."""
    discs = board == -1
    across = discs[:, :-3] & discs[:, 1:-2] & discs[:, 2:-1] & discs[:, 3:]
    upright = discs[:-3] & discs[1:-2] & discs[2:-1] & discs[3:]
    falling = discs[:-3, :-3] & discs[1:-2, 1:-2] & discs[2:-1, 2:-1] & discs[3:, 3:]
    rising = discs[3:, :-3] & discs[2:-1, 1:-2] & discs[1:-2, 2:-1] & discs[:-3, 3:]
    return bool(across.any() or upright.any() or falling.any() or rising.any())


def planes(board: Board) -> npt.NDArray[np.float32]:
    """Return the input of the network: own discs, the opponent's discs, ones."""
    return np.stack([board == 1, board == -1, np.ones_like(board)]).astype(np.float32)


# The search.


@dataclass
class Node:
    """A position of the tree."""

    prior: float
    board: Board | None = None
    visits: int = 0
    total: float = 0.0  # of the values, for the player who moved here
    children: dict[int, Node] = field(default_factory=dict)

    def best(self) -> tuple[int, Node]:
        """Return the move with the highest PUCT score."""
        factor = EXPLORATION * math.sqrt(self.visits)

        def score(item: tuple[int, Node]) -> float:
            child = item[1]
            mean = child.total / child.visits if child.visits else 0.0
            return mean + factor * child.prior / (1 + child.visits)

        return max(self.children.items(), key=score)


def expand(node: Node, network: Any) -> float:
    """Add the children of a leaf, and return its value for the player to move."""
    assert node.board is not None
    if lost(node.board):
        return -1.0
    moves = legal(node.board)
    if not moves:
        return 0.0
    with torch.inference_mode():
        logits, value = network(torch.from_numpy(planes(node.board)[None]))
    priors = torch.softmax(logits[0, moves], 0).tolist()
    node.children = {move: Node(prior) for move, prior in zip(moves, priors, strict=True)}
    return math.tanh(float(value))


def search(board: Board, network: Any, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """Return the share of the visits of each column."""
    root = Node(1.0, board)
    expand(root, network)
    noise = rng.dirichlet([ALPHA] * len(root.children))
    for child, extra in zip(root.children.values(), noise.tolist(), strict=True):
        child.prior = (1 - NOISE) * child.prior + NOISE * extra
    for _ in range(SIMULATIONS):
        node, path = root, [root]
        while node.children:
            move, child = node.best()
            if child.board is None:
                assert node.board is not None
                child.board = play(node.board, move)
            node = child
            path.append(node)
        value = expand(node, network)
        for visited in reversed(path):
            value = -value
            visited.visits += 1
            visited.total += value
    visits = np.zeros(COLUMNS, np.float32)
    for move, child in root.children.items():
        visits[move] = child.visits
    return visits / visits.sum()


# Self-play and training.


def play_game(network: Any, rng: np.random.Generator) -> list[Sample]:
    """Play a game against itself; return its positions and their mirror images."""
    board, seen = np.zeros((ROWS, COLUMNS), np.int8), list[tuple[Board, npt.NDArray[np.float32]]]()
    while not lost(board) and legal(board):
        policy = search(board, network, rng)
        seen.append((board, policy))
        warm = len(seen) <= WARM_MOVES
        board = play(board, int(rng.choice(COLUMNS, p=policy / policy.sum()) if warm else policy.argmax()))
    value, samples = -1.0 if lost(board) else 0.0, list[Sample]()
    for before, policy in reversed(seen):
        value = -value
        samples += [(planes(before), policy, value), (planes(before[:, ::-1]), policy[::-1], value)]
    return samples


def fit(network: Any, optimiser: Any, window: deque[Sample], steps: int, rng: np.random.Generator) -> None:
    """Take some steps of the optimiser."""
    network.train()
    for _ in range(steps):
        drawn = [window[place] for place in rng.integers(len(window), size=BATCH).tolist()]
        inputs, policies, values = (torch.from_numpy(np.array(part, np.float32)) for part in zip(*drawn, strict=True))
        logits, found = network(inputs)
        loss = -(policies * torch.log_softmax(logits, 1)).sum(1).mean() + ((found[:, 0].tanh() - values) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    network.eval()


def train(folder: str, minutes: float, *, seed: int = 0, threads: int | None = None) -> Trained:
    """Train a network for some minutes, and save it in a folder; PyTorch has `threads` (default: all cores)."""
    torch.set_num_threads(threads or os.cpu_count() or 1)
    game, rng, done, start = tt.load_game("connect_four"), np.random.default_rng(seed), Trained(), time.perf_counter()
    architecture = Architecture.of(game, "small")
    network = make_module(architecture, seed).eval()
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3, weight_decay=1e-4)
    window, waiting = deque[Sample](maxlen=2 * WINDOW), 0
    while (seconds := time.perf_counter() - start) < 60 * minutes:
        samples = play_game(network, rng)
        window += samples
        done.games, done.positions, waiting = done.games + 1, done.positions + len(samples) // 2, waiting + len(samples)
        if done.games % GAMES == 0:
            steps, waiting = max(1, REUSE * waiting // 2 // BATCH), 0
            fit(network, optimiser, window, steps, rng)
            done.steps += steps
    done.seconds = seconds
    weights = folded(architecture, network, np.zeros(1), np.ones(1))
    Model(game, architecture, weights, {"made by": "bench/naive_training.py", **vars(done)}).save(folder)
    return done


def main() -> None:
    """Train, and print what was done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, help="of PyTorch (default: all cores)")
    options = parser.parse_args()
    print(train(options.folder, options.minutes, seed=options.seed, threads=options.threads))


if __name__ == "__main__":
    main()
