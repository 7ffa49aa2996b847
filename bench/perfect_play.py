"""Play every position of tic-tac-toe by a network, and count the moves that lose value by exhaustive search.

    treetop train tic_tac_toe --minutes 3 --out run
    python bench/perfect_play.py run                    with 50 and 200 simulations, as the player `net`

All positions that legal moves can reach are tried, not only those of good play. Needs pip install -e ".[onnx]".
"""

from __future__ import annotations

import argparse

import treetop as tt
from treetop.oracle.exhaustive import Exhaustive, reachable
from treetop.players.net import net_evaluator, net_search
from treetop.train.accuracy import Labelled, policy_moves, search_moves

GAME = "tic_tac_toe"


def main() -> None:
    """Print how many positions there are, and in how many a move loses value."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="the folder of a network")
    parser.add_argument("--simulations", type=int, nargs="*", default=[50, 200])
    options = parser.parse_args()
    model, exact, found = tt.load_model(options.run), Exhaustive(), list[Labelled]()
    for position in reachable(tt.position(GAME)):
        if not position.is_terminal:
            values = exact.action_values(position)
            found.append(Labelled(position, {action: value[position.player] for action, value in values.items()}))
    print(f"{len(found):,} positions")
    moves = {"raw policy": policy_moves(found, model)}
    for count in options.simulations:
        moves[f"{count} simulations"] = search_moves(found, net_search(model.game, count), net_evaluator(model), count)
    for name, chosen in moves.items():
        wrong = sum(move not in one.best for one, move in zip(found, chosen, strict=True))
        print(f"{name}: value lost in {wrong:,}")


if __name__ == "__main__":
    main()
