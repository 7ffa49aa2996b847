"""Nim with one heap for three players."""

from __future__ import annotations

from typing import Any

from treetop.game import Game, Pile, Piles, checks, family, field, game


@family
def nim_three(stones: int = 13, most: int = 3) -> Game:
    """Three players take turns to take one to `most` stones; whoever takes the last one wins, the two others lose."""
    checks.whole("stones", stones, 1, 10_000)
    checks.whole("most", most, 1, 100)

    @game(players=3, num_actions=most, max_length=stones, observation_shape=(stones + 4,))
    class NimThree:
        """Three players take turns to take a few stones; whoever takes the last one wins, and both others lose.

        A player who cannot win any more may still choose the winner (kingmaking), which two-player games do not have.
        """

        heap: int = field("i2")
        player: int = field("i1")

        def reset(self) -> None:
            self.heap = stones
            self.player = 0

        def legal_actions(self, out: Any) -> int:
            count = min(most, self.heap)
            for action in range(count):
                out[action] = action
            return count

        def apply(self, action: int) -> None:
            self.heap -= action + 1
            self.player = (self.player + 1) % 3

        def is_terminal(self) -> bool:
            return self.heap == 0

        def rewards(self, out: Any) -> None:
            for player in range(3):
                out[player] = -1.0
            out[(self.player + 2) % 3] = 1.0

        def random_action(self, rng: Any) -> int:
            return int(rng.below(min(most, self.heap)))

        def observe(self, player: int, out: Any) -> None:
            """Write the number of stones, one-hot from 0 to `stones`, and who is to move, one-hot.

            The last three numbers are for the player, the next one and the one after that.
            """
            out[self.heap] = 1.0
            out[stones + 1 + (self.player - player) % 3] = 1.0

        def key(self) -> int:
            return 3 * self.heap + self.player

        def board(self) -> Piles:
            return Piles([[Pile(self.heap)]])

        def render(self) -> str:
            return f"{'|' * self.heap} {self.heap} left, player {self.player} to move"

        def move_text(self, action: int) -> str:
            return str(action + 1)

        def parse_move(self, text: str) -> int:
            return int(text) - 1

    return NimThree  # type: ignore[return-value]  # mypy does not see what a class decorator returns
