"""Trees of fixed searches, as text: visits and values at the root and below. Whatever changes a search changes a file.

`pytest tests/golden --rewrite-golden` writes the files anew. The plain reference decides what is right (tests/against_reference); these files
show that both changed. The searches use code that other tests compile too.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import treetop as tt
from tests.chancy_games import Race

FOLDER = Path(__file__).parent / "trees"
SEARCHES = {
    "ucb1": ("tic_tac_toe", tt.uct()),
    "puct": ("tic_tac_toe", tt.puct()),
    "solver": ("tic_tac_toe", tt.uct(solver=True)),
    "transpositions": ("tic_tac_toe", tt.uct(transpositions=True)),
    "grave": ("tic_tac_toe", tt.rules.grave()),
    "gumbel": ("tic_tac_toe", tt.gumbel()),
    "chance": (Race, tt.uct()),
    "expected_chance": (Race, tt.puct(chance="expected", backup="mixed")),
}
FEWEST = 20  # visits of a node that is written


def tree_text(search: tt.Search) -> str:
    lines: list[str] = []

    def write(node: tt.results.Node, action: str, depth: int) -> None:
        value = "" if node.value is None else f", value {node.value:.9f}"
        lines.append(f"{'  ' * depth}{action}: {node.visits} visits{value}")
        for child in node.children:
            if child.visits >= FEWEST and depth < 3:
                write(child, str(child.action), depth + 1)

    write(search.tree.root, "root", 0)
    lines.append("totals " + " ".join(f"{total:.9f}" for total in search.tree.totals))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", SEARCHES)
def test_a_fixed_search_builds_the_tree_that_was_recorded(name, golden):
    game, config = SEARCHES[name]
    search = tt.Search(game, config, seed=2026)
    search.run(tt.Limit(simulations=500))
    golden(FOLDER / f"{name}.txt", tree_text(search))


def test_every_recorded_tree_is_searched():
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(SEARCHES)
