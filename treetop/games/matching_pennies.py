"""Matching pennies."""

from __future__ import annotations

from typing import Any

from treetop.game import SIMULTANEOUS, Card, Cards, Game, checks, family, field, game


@family
def matching_pennies(weight: float = 1.0) -> Game:
    """Both players show a side of a coin; player 0 wins if they match, `weight` for heads and 1 for tails."""
    payoff = checks.number("weight", weight, above=0, high=1000)
    most = max(1.0, payoff)

    @game(players=2, num_actions=2, max_length=1, rewards=(-most, most), observation_shape=(5,))
    class MatchingPennies:
        """Both players simultaneously show a side of a coin; the first player wins if they match.

        Two heads give player 0 the weight, two tails 1, and player 1 receives 1 if they differ. In equilibrium with
        weight w both players show heads with probability 2 / (w + 3), and player 0 receives (w - 1) / (w + 3).
        """

        shown: int = field("i1")  # -1, or the sides of both: 2 * that of player 0 + that of player 1

        def reset(self) -> None:
            self.shown = -1

        def current_player(self) -> int:
            return SIMULTANEOUS

        def legal_actions_of(self, player: int, out: Any) -> int:  # noqa: ARG002 - the same for both
            out[0] = 0
            out[1] = 1
            return 2

        def apply_joint(self, actions: Any) -> None:
            self.shown = 2 * actions[0] + actions[1]

        def is_terminal(self) -> bool:
            return self.shown >= 0

        def rewards(self, out: Any) -> None:
            gain = -1.0
            if self.shown == 0:
                gain = payoff
            if self.shown == 3:
                gain = 1.0
            out[0] = gain
            out[1] = -gain

        def observe(self, player: int, out: Any) -> None:
            """Write the player's side and the opponent's, each one-hot, zeros before they are shown.

            The last number is 1 for player 0, who wins if they match.
            """
            if self.shown >= 0:
                first, second = self.shown // 2, self.shown % 2
                out[first if player == 0 else second] = 1.0
                out[2 + (second if player == 0 else first)] = 1.0
            out[4] = player == 0

        def key(self) -> int:
            return self.shown + 1

        def board(self) -> Cards:
            sides = ("", "") if self.shown < 0 else [self.move_text(side) for side in divmod(self.shown, 2)]
            return Cards([Card(side, note=f"player {player + 1}") for player, side in enumerate(sides)])

        def render(self) -> str:
            return (
                "both hide a coin"
                if self.shown < 0
                else f"shown: {' and '.join(self.move_text(side) for side in divmod(self.shown, 2))}"
            )

        def move_text(self, action: int) -> str:
            return ("heads", "tails")[action]

    return MatchingPennies  # type: ignore[return-value]  # mypy does not see what a class decorator returns
