"""Biased rock paper scissors."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import SIMULTANEOUS, Card, Cards, Game, checks, family, field, game, require


@family
def rock_paper_scissors(weights: tuple[float, float, float] = (1.0, 2.0, 10.0)) -> Game:
    """Rock paper scissors with `weights`: the rewards of a win by rock, paper and scissors, in this order."""
    require(isinstance(weights, tuple) and len(weights) == 3, f"weights must be three numbers, not {weights!r}")
    for weight in weights:
        checks.number("each of the weights", weight, above=0, high=1000)
    # The reward of player 0; each shape beats the previous one.
    payoffs = np.zeros((3, 3))
    for shape in range(3):
        payoffs[shape, (shape + 2) % 3] = weights[shape]
        payoffs[(shape + 2) % 3, shape] = -weights[shape]
    most = float(max(weights))

    @game(players=2, num_actions=3, max_length=1, rewards=(-most, most), observation_shape=(6,))
    class RockPaperScissors:
        """Both players simultaneously show rock, paper or scissors; the reward of a win depends on the winning shape.

        Rock beats scissors, paper beats rock, and scissors beat paper. In equilibrium with weights r, p and s both
        players show rock, paper and scissors in the ratio s : r : p, and the expected reward is 0.
        """

        shown: int = field("i1")  # -1, or the shapes of both: 3 * that of player 0 + that of player 1

        def reset(self) -> None:
            self.shown = -1

        def current_player(self) -> int:
            return SIMULTANEOUS

        def legal_actions_of(self, player: int, out: Any) -> int:  # noqa: ARG002 - the same for both
            for shape in range(3):
                out[shape] = shape
            return 3

        def apply_joint(self, actions: Any) -> None:
            self.shown = 3 * actions[0] + actions[1]

        def is_terminal(self) -> bool:
            return self.shown >= 0

        def rewards(self, out: Any) -> None:
            out[0] = payoffs[self.shown // 3, self.shown % 3]
            out[1] = -out[0]

        def observe(self, player: int, out: Any) -> None:
            """Write the player's shape and the opponent's, each one-hot; zeros before they are shown."""
            if self.shown >= 0:
                first, second = self.shown // 3, self.shown % 3
                out[first if player == 0 else second] = 1.0
                out[3 + (second if player == 0 else first)] = 1.0

        def key(self) -> int:
            return self.shown + 1

        def board(self) -> Cards:
            hands = ("", "") if self.shown < 0 else [self.move_text(shape) for shape in divmod(self.shown, 3)]
            return Cards([Card(hand, note=f"player {player + 1}") for player, hand in enumerate(hands)])

        def render(self) -> str:
            return (
                "both hide a hand"
                if self.shown < 0
                else f"shown: {' and '.join(self.move_text(shape) for shape in divmod(self.shown, 3))}"
            )

        def move_text(self, action: int) -> str:
            return ("rock", "paper", "scissors")[action]

    return RockPaperScissors  # type: ignore[return-value]  # mypy does not see what a class decorator returns
