"""One random game of each bundled game, as text: diagrams, legal moves, rewards. Whatever changes the rules or their texts changes a file.

`pytest tests/golden --rewrite-golden` writes the files anew; the difference shows what changed. Nothing is compiled here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import treetop as tt
from treetop.game.registry import BUNDLED, load_game

FOLDER = Path(__file__).parent / "playthroughs"
SMALLER = {
    "ataxx": "ataxx(size=5)",
    "go": "go(size=5)",
    "gomoku": "gomoku(size=6, line=4)",
    "hex": "hex(size=4)",
    "othello": "othello(size=6)",
}
LONGEST = 60  # actions of a game that are recorded
DIAGRAMS = 8  # actions between two diagrams, after the first ones


def playthrough(name: str) -> str:
    game, rng = load_game(SMALLER.get(name, name)), tt.Rng(2026)
    position = tt.Position.start(game, rng)
    lines = [game.name]
    for number in range(LONGEST):
        if number < 3 or number % DIAGRAMS == 0 or position.is_terminal:
            lines += ["", *(row.rstrip() for row in str(position).splitlines()), ""]
        if position.is_terminal:
            lines.append(f"rewards {' '.join(f'{reward:g}' for reward in position.rewards)}")
            break
        action = position.sample_action(rng)
        lines.append(f"{number}. {mover_of(position)}: {position.move_text(action)}, of {choices_of(position)}")
        position = position.apply(action)
        if any(position.step_rewards):
            lines.append(f"   gains {' '.join(f'{reward:g}' for reward in position.step_rewards)}")
    return "\n".join(lines) + "\n"


def mover_of(position: tt.Position) -> str:
    return {tt.CHANCE: "chance", tt.SIMULTANEOUS: "all"}.get(position.player, f"player {position.player}")


def choices_of(position: tt.Position) -> str:
    if position.is_continuous:
        return "continuous actions"
    if position.player == tt.CHANCE:
        return ", ".join(
            f"{position.move_text(outcome)} ({probability:.4g})" for outcome, probability in position.outcomes()
        )
    return ", ".join(position.legal_moves())


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_a_random_game_is_played_as_it_was_recorded(name, golden):
    golden(FOLDER / f"{name}.txt", playthrough(name))


def test_every_recorded_game_is_bundled():
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(BUNDLED)
