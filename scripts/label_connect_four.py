"""Label Connect Four positions with their exact values, as a benchmark for searches.

    python scripts/label_connect_four.py                       tests/golden/connect_four_labels.txt, some seconds
    python scripts/label_connect_four.py --each 200 --out more.txt

The positions come from random games, equally many of each length from 12 to 20 discs, without duplicates and mirror
images. Only positions with a wrong move, which loses value, are included. A line has the moves (columns from 1), the
value for the player to move, and the columns that keep it:

    214533516446 +1 2

A stopped run is continued: lines that are already in the file are not proven again. The file depends only on the seed.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import treetop as tt
from treetop.files import replacing
from treetop.oracle.connect_four import Board, ConnectFourSolver

LENGTHS = range(12, 21)
GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "connect_four_labels.txt"
HEADING = (
    "# Connect Four: moves, value for the player to move, columns that keep it. "
    "Made by scripts/label_connect_four.py --each {each} --seed {seed}\n"
)
LINE = re.compile(r"([1-7]{12,20}) ([+-]1|0) ([1-7]{1,7})\n")


def random_position(rng: tt.Rng, length: int) -> tt.Position:
    """Return the position after a number of random moves, from a game that is not over then."""
    while True:
        position = tt.position("connect_four")
        for _ in range(length):
            actions = position.legal_actions()
            position = position.apply(actions[rng.below(len(actions))])
            if position.is_terminal:
                break
        if not position.is_terminal:
            return position


def identity(position: tt.Position) -> tuple[Board, Board]:
    """Return a key that is equal only for a position and its mirror image."""
    board = Board.of(position)
    first, second = sorted((board, board.mirrored))
    return first, second


def label(solver: ConnectFourSolver, position: tt.Position) -> str | None:
    """Return the line of a position, or None if every move keeps its value."""
    values = solver.values(position)
    best = max(values.values())
    keeping = "".join(str(action + 1) for action, value in values.items() if value == best)
    return (
        None if len(keeping) == len(values) else f"{''.join(position.moves())} {best:+d} {keeping}\n".replace("+0", "0")
    )


def known_moves(file: Path, heading: str) -> set[str]:
    """Return the moves of all lines in the file of an earlier run. An incomplete last line is removed from it."""
    if not file.exists():
        file.write_text(heading)
    lines = file.read_text().splitlines(keepends=True)
    if lines[:1] != [heading]:
        raise SystemExit(f"{file} was made with other settings: remove it first, or give another --out")
    whole = [found for line in lines[1:] if (found := LINE.fullmatch(line))]
    if len(whole) < len(lines) - 1:
        with replacing(file) as mended:
            mended.write("".join([heading, *(found[0] for found in whole)]).encode())
    return {found[1] for found in whole}


def main() -> None:
    """Read the options and write the file."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, default=GOLDEN)
    options.add_argument("--each", type=int, default=70, help="positions of each length")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    known = known_moves(given.out, HEADING.format(each=given.each, seed=given.seed))
    rng, solver, seen = tt.Rng(given.seed), ConnectFourSolver(), set()
    note = TextColumn("{task.fields[note]}")
    columns = (TextColumn("labelling"), BarColumn(bar_width=20), MofNCompleteColumn(), note, TimeElapsedColumn())
    with given.out.open("a") as file, Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task("labelling", total=given.each * len(LENGTHS), note="")
        for length in LENGTHS:
            found = 0
            while found < given.each:
                position = random_position(rng, length)
                if identity(position) in seen:
                    continue
                seen.add(identity(position))
                if "".join(position.moves()) not in known:
                    line = label(solver, position)
                    if line is None:
                        continue
                    file.write(line)
                    file.flush()
                found += 1
                shown.update(task, advance=1, note=f"{length} discs, {solver.nodes:,} positions searched")


if __name__ == "__main__":
    main()
