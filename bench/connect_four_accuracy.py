"""Measure a network of Connect Four against the exact solver: how often its moves keep the value of a position.

    python bench/connect_four_accuracy.py run                      the network in the folder `run`
    python bench/connect_four_accuracy.py run --positions 500 --simulations 200 800

Positions come from random games: 8 to 20 stones, with a move that loses value. They are labelled by `treetop.solve`, a
few a second, with a seed of their own. The raw policy is the move with the highest logit; a search is that of the
player `net`. `--rollouts` adds a plain search by rollouts, for comparison. Needs pip install -e ".[onnx]".
"""

from __future__ import annotations

import argparse

import treetop as tt
from treetop.players.net import net_evaluator, net_search
from treetop.train.accuracy import kept, kept_by_chance, labelled, policy_moves, search_moves

GAME, STONES = "connect_four", (8, 20)


def main() -> None:
    """Print the share of positions whose value is kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="the folder of a network")
    parser.add_argument("--positions", type=int, default=500)
    parser.add_argument("--simulations", type=int, nargs="*", default=[200, 800])
    parser.add_argument("--rollouts", type=int, nargs="*", default=[], help="simulations of searches by rollouts")
    parser.add_argument("--seed", type=int, default=1_000_003, help="of the positions")
    options = parser.parse_args()
    found, model = labelled(GAME, options.positions, seed=options.seed, plies=STONES), tt.load_model(options.run)
    print(f"{len(found)} positions; by chance {kept_by_chance(found):.1%} keep the value")
    print(f"raw policy: {kept(found, policy_moves(found, model)):.1%}")
    for count in options.simulations:
        moves = search_moves(found, net_search(model.game, count), net_evaluator(model), count)
        print(f"{count} simulations: {kept(found, moves):.1%}")
    for count in options.rollouts:
        print(f"{count} simulations by rollouts: {kept(found, search_moves(found, tt.uct(), None, count)):.1%}")


if __name__ == "__main__":
    main()
