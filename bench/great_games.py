"""Compare chess, Go, xiangqi and shogi with OpenSpiel's C++ search and python-chess, as ratios in one run.

    python bench/great_games.py            all tables, some minutes
    python bench/great_games.py --quick    a few repeats only
    python bench/great_games.py --markdown

Searches are UCB1 with one random rollout a simulation from the start position, interleaved in one process, in CPU time;
ratios are medians over the repeats, with their range. Perft counts the moves of the last ply without playing them (bulk
counting), in Treetop as in python-chess. OpenSpiel and python-chess are optional (pip install -e ".[openspiel,chess]").
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import treetop as tt

sys.path.insert(0, str(Path(__file__).parent))
from speed import Timer, openspiel_timer, treetop_timer

SEARCHES = {  # the name in OpenSpiel, and the simulations of a search
    "go(size=9)": ("go(board_size=9,komi=7.5)", 10_000),
    "chess": ("chess", 2_000),
    "xiangqi": ("xiangqi", 2_000),
    "shogi": ("shogi", 1_000),
}
PERFTS = {"chess": 5, "xiangqi": 4, "shogi": 4, "minishogi": 5, "checkers": 9, "ataxx": 5}
PLAYOUTS = 200_000  # simulations of a search whose root is never expanded


def middle(numbers: Iterable[float], digits: int = 1) -> str:
    """Return the median of numbers, with their range."""
    found = sorted(numbers)
    return f"{statistics.median(found):,.{digits}f} ({found[0]:,.{digits}f} to {found[-1]:,.{digits}f})"


def searches(repeats: int) -> list[list[str]]:
    """Return rows: simulations a second of Treetop and of OpenSpiel, and the ratio."""
    rows = []
    for game, (spiel, simulations) in SEARCHES.items():
        own, other = treetop_timer(game), openspiel_timer(spiel)
        own(simulations, 0)
        mine, its = list[float](), list[float]()
        for seed in range(1, repeats + 1):
            mine.append(simulations / own(simulations, seed))
            if other is not None:
                its.append(simulations / other(simulations, seed))
        ratios = [one / two for one, two in zip(mine, its, strict=True)] if its else []
        rows.append([game, middle(mine, 0), middle(its, 0) if its else "", middle(ratios) if ratios else ""])
    return rows


def perft_timer(game: str) -> Timer:
    """Return a timer of perft from the start position."""

    def run(depth: int, _: int) -> float:
        start = time.process_time()
        tt.perft(game, depth)
        return time.process_time() - start

    return run


def chess_perft(depth: int, _: int = 0) -> float:
    """Return the CPU seconds of python-chess for perft from the start position."""
    import chess

    def count(board: Any, left: int) -> int:
        if left == 1:
            return board.legal_moves.count()
        total = 0
        for move in list(board.legal_moves):
            board.push(move)
            total += count(board, left - 1)
            board.pop()
        return total

    board, start = chess.Board(), time.process_time()
    count(board, depth)
    return time.process_time() - start


def perfts(repeats: int) -> list[list[str]]:
    """Return rows: millions of nodes a second by perft with bulk counting; of chess also those of python-chess."""
    rows = []
    for game, depth in PERFTS.items():
        nodes, timer = tt.perft(game, depth), perft_timer(game)
        own = [nodes / timer(depth, seed) / 1e6 for seed in range(repeats)]
        other, ratio = "", ""
        if game == "chess":
            try:
                theirs = [tt.perft("chess", 3) / chess_perft(3) / 1e6 for _ in range(repeats)]
            except ImportError:
                theirs = []
            if theirs:
                other = middle(theirs, 2)
                ratio = middle([one / two for one, two in zip(own, theirs, strict=True)], 0)
        rows.append([game, str(depth), f"{nodes:,}", middle(own), other, ratio])
    return rows


def playouts(repeats: int) -> list[list[str]]:
    """Return rows: random games of Go a second on one core, uniform and by the rollout policy of the game."""
    rows = []
    for name, policy in (("uniform, no own eye filled", "random"), ("the game's own", "game")):
        found = []
        for seed in range(repeats):
            search = tt.Search("go(size=9)", tt.uct(expand_after=2**30), evaluator=tt.Rollout(policy=policy), seed=seed,
                               tier="direct")  # fmt: skip
            search.prepare()
            start = time.process_time()
            search.run(tt.Limit(simulations=PLAYOUTS))
            found.append(PLAYOUTS / (time.process_time() - start))
        rows.append(["go(size=9)", name, middle(found, 0)])
    return rows


TABLES: dict[str, tuple[tuple[str, ...], Callable[[int], list[list[str]]]]] = {
    "simulations a second, one random rollout each": (
        ("game", "Treetop", "OpenSpiel C++", "ratio"), searches,
    ),
    "perft, millions of nodes a second": (
        ("game", "depth", "nodes", "Treetop", "python-chess", "ratio"), perfts,
    ),
    "playouts a second": (("game", "policy", "Treetop"), playouts),
}  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few repeats")
    parser.add_argument("--markdown", action="store_true", help="print the tables in Markdown")
    options = parser.parse_args()
    console = Console(width=140)
    for title, (headings, rows_of) in TABLES.items():
        rows = rows_of(2 if options.quick else 7)
        if options.markdown:
            lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
            print(f"{title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n")
            continue
        table = Table(*headings, title=title, box=None, title_justify="left")
        for row in rows:
            table.add_row(*row)
        console.print(table)


if __name__ == "__main__":
    main()
