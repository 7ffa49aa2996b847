"""Measure a network of Connect Four against the exact solver: how often its moves keep the value of a position.

    python bench/connect_four_accuracy.py run                      the network in the folder `run`
    python bench/connect_four_accuracy.py run --positions 500 --simulations 200 800

Positions come from random games: 8 to 20 stones, with a move that loses value. They are labelled by `treetop.solve`, a
few a second, with a seed of their own. The raw policy is the move with the highest logit; a search is that of the
player `net`. `--rollouts` adds a plain search by rollouts, for comparison. Needs pip install -e ".[onnx]".
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import treetop as tt
from treetop.compiler.rng import Rng

GAME = "connect_four"


def labelled(count: int, seed: int) -> list[tuple[tt.Position, dict[int, float]]]:
    """Return positions with a wrong move, each with the exact value of its moves for the player to move."""
    rng, found = Rng(seed), list[tuple[tt.Position, dict[int, float]]]()
    while len(found) < count:
        position, stones = tt.position(GAME), 8 + rng.below(13)
        while len(position.actions) < stones and not position.is_terminal:
            legal = position.legal_actions()
            position = position.apply(legal[rng.below(len(legal))])
        if position.is_terminal:
            continue
        values = {move.action: move.value for move in tt.solve(position).moves}
        if min(values.values()) < max(values.values()):
            found.append((position, values))
    return found


def kept(found: list[tuple[tt.Position, dict[int, float]]], actions: Any) -> float:
    """Return the share of the positions whose value a move keeps."""
    right = [values[int(action)] == max(values.values()) for (_, values), action in zip(found, actions, strict=True)]
    return float(np.mean(right))


def searched(found: list[Any], config: tt.SearchConfig, evaluator: Any, simulations: int) -> list[int]:
    """Return the moves of searches of all positions."""
    pool = tt.SearchPool(GAME, config.for_play(), slots=len(found), evaluator=evaluator, seed=1)
    for slot, (position, _) in enumerate(found):
        pool.replace(slot, position)
    pool.run(simulations=simulations)
    return [int(action) for action in pool.results().actions]


def main() -> None:
    """Print the share of positions whose value is kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="the folder of a network")
    parser.add_argument("--positions", type=int, default=500)
    parser.add_argument("--simulations", type=int, nargs="*", default=[200, 800])
    parser.add_argument("--rollouts", type=int, nargs="*", default=[], help="simulations of searches by rollouts")
    parser.add_argument("--seed", type=int, default=1_000_003, help="of the positions")
    options = parser.parse_args()
    found, model = labelled(options.positions, options.seed), tt.load_model(options.run)
    records = np.concatenate([position.record for position, _ in found])
    logits, _ = model.run(tt.states.observations(model.game, records))
    raw = np.where(tt.states.legal_mask(model.game, records), logits, -np.inf).argmax(axis=1)
    print(f"{len(found)} positions; by chance {np.mean([_share(values) for _, values in found]):.1%} keep the value")
    print(f"raw policy: {kept(found, raw):.1%}")
    for count in options.simulations:
        print(f"{count} simulations: {kept(found, searched(found, tt.gumbel(), model, count)):.1%}")
    for count in options.rollouts:
        print(f"{count} simulations by rollouts: {kept(found, searched(found, tt.uct(), None, count)):.1%}")


def _share(values: dict[int, float]) -> float:
    best = max(values.values())
    return sum(value == best for value in values.values()) / len(values)


if __name__ == "__main__":
    main()
