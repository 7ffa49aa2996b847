"""Nim with one heap."""

from __future__ import annotations

from typing import Any

from treetop.game import Game, Pile, Piles, checks, family, field, game


@family
def nim(stones: int = 21, most: int = 3) -> Game:
    """Take one to `most` stones from the heap; whoever takes the last one wins."""
    checks.whole("stones", stones, 1, 10_000)
    checks.whole("most", most, 1, 100)

    @game(players=2, num_actions=most, max_length=stones, observation_shape=(stones + 2,))
    class Nim:
        """Take a few stones from the heap; whoever takes the last one wins."""

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
            self.player = 1 - self.player

        def is_terminal(self) -> bool:
            return self.heap == 0

        def rewards(self, out: Any) -> None:
            out[self.player] = -1.0
            out[1 - self.player] = 1.0

        def random_action(self, rng: Any) -> int:
            return int(rng.below(min(most, self.heap)))

        def observe(self, player: int, out: Any) -> None:
            """Write the number of stones, one-hot from 0 to `stones`, and whether the player is to move."""
            out[self.heap] = 1.0
            out[stones + 1] = player == self.player

        def key(self) -> int:
            return 2 * self.heap + self.player

        def board(self) -> Piles:
            return Piles([[Pile(self.heap)]])

        def render(self) -> str:
            return f"{'|' * self.heap} {self.heap} left, player {self.player} to move"

        def move_text(self, action: int) -> str:
            return str(action + 1)

        def parse_move(self, text: str) -> int:
            return int(text) - 1

    return Nim  # type: ignore[return-value]  # mypy does not see what a class decorator returns
