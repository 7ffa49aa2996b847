"""Goofspiel."""

from __future__ import annotations

from typing import Any

from treetop.game import (
    CHANCE,
    SIMULTANEOUS,
    Card,
    Cards,
    Element,
    Game,
    checks,
    family,
    field,
    game,
    nth_bit,
    popcount,
)


def _picture(state: Any, cards: int, touched: tuple[int, ...]) -> list[Element]:
    """Return the prize and both hands; the cards of the players in `touched` can be played."""
    prize = [Card(str(state.prize + 1))] if state.prize >= 0 else []
    found: list[Element] = [Cards(prize, "prize")]
    for player in range(2):
        hand = [str(card + 1) for card in range(cards) if state.hands[player] >> card & 1]
        named = [Card(face, face if player in touched else "") for face in hand]
        found.append(Cards(named, f"player {player + 1}, {state.points[player]} points"))
    return found


@family
def goofspiel(cards: int = 4, prizes: str = "random") -> Game:
    """Bid for prizes with `cards` cards each (2 to 13); the prizes are in "random" or "descending" order."""
    checks.whole("cards", cards, 2, 13)
    checks.one_of("prizes", prizes, ("random", "descending"))
    drawn = prizes == "random"
    full = (1 << cards) - 1
    rounds = cards - 1  # there is no choice in the last round
    prizes_sum = cards * (cards + 1) // 2

    @game(
        players=2,
        num_actions=cards,
        max_length=2 * rounds if drawn else rounds,
        num_outcomes=cards if drawn else None,
        observation_shape=(4 * cards + 2,),
    )
    class Goofspiel:
        """Bid for prizes with cards that can be used once.

        Each player has the cards 1 to n, and so has the pile of prizes. A prize is revealed, and both players play a
        card simultaneously: the higher card wins the prize, equal cards win nothing. Both cards are revealed and
        discarded. The last cards are played automatically. The player with more points wins.
        """

        hands: Any = field("i2", 2)  # bit i is the card i + 1
        pile: int = field("i2")  # the prizes that are not revealed yet
        prize: int = field("i1")  # the current prize; -1 before it is revealed
        points: Any = field("i2", 2)

        def reset(self) -> None:
            self.hands[:] = full
            self.points[:] = 0
            self.pile = full
            self.prize = -1
            self.go_on()

        def go_on(self) -> None:
            """Reveal the next prize if it is not random, and play the last cards."""
            if popcount(self.pile) == 1 and self.prize < 0:
                self.prize = nth_bit(self.pile, 0)
                self.pile = 0
                first, second = nth_bit(self.hands[0], 0), nth_bit(self.hands[1], 0)
                self.bid(first, second)
            elif not drawn and self.prize < 0:
                self.prize = nth_bit(self.pile, popcount(self.pile) - 1)
                self.pile -= 1 << self.prize

        def bid(self, first: int, second: int) -> None:
            """Play both cards, and give the prize to the higher one."""
            self.hands[0] -= 1 << first
            self.hands[1] -= 1 << second
            if first != second:
                self.points[0 if first > second else 1] += self.prize + 1
            self.prize = -1

        def current_player(self) -> int:
            return CHANCE if self.prize < 0 else SIMULTANEOUS

        if drawn:

            def chance_outcomes(self, actions: Any, probabilities: Any) -> int:
                count = popcount(self.pile)
                for index in range(count):
                    actions[index] = nth_bit(self.pile, index)
                    probabilities[index] = 1.0 / count
                return count

            def random_outcome(self, rng: Any) -> int:
                return nth_bit(self.pile, rng.below(popcount(self.pile)))

            def apply(self, outcome: int) -> None:
                self.prize = outcome
                self.pile -= 1 << outcome

        def legal_actions_of(self, player: int, out: Any) -> int:
            count = popcount(self.hands[player])
            for index in range(count):
                out[index] = nth_bit(self.hands[player], index)
            return count

        def apply_joint(self, actions: Any) -> None:
            self.bid(actions[0], actions[1])
            self.go_on()

        def is_terminal(self) -> bool:
            return bool(self.hands[0] == 0)

        def rewards(self, out: Any) -> None:
            if self.points[0] != self.points[1]:
                winner = 0 if self.points[0] > self.points[1] else 1
                out[winner] = 1.0
                out[1 - winner] = -1.0

        def observe(self, player: int, out: Any) -> None:
            """Write the player's cards, the opponent's cards, the prizes not revealed yet, and the current prize.

            Each is a number a card, from the lowest. Then the points of the player and of the opponent, divided by the
            sum of all prizes.
            """
            for card in range(cards):
                out[card] = self.hands[player] >> card & 1
                out[cards + card] = self.hands[1 - player] >> card & 1
                out[2 * cards + card] = self.pile >> card & 1
                out[3 * cards + card] = card == self.prize
            out[4 * cards] = self.points[player] / prizes_sum
            out[4 * cards + 1] = self.points[1 - player] / prizes_sum

        def key(self) -> int:
            lead = self.points[0] - self.points[1] + 128
            return int((((self.hands[0] << 13 | self.hands[1]) << 13 | self.pile) << 4 | self.prize + 1) << 8 | lead)

        def board(self) -> list[Element]:
            return _picture(self, cards, (0, 1))

        def board_for(self, player: int) -> list[Element]:
            return _picture(self, cards, (player,))

        def render(self) -> str:
            prize = (
                f"the prize is {self.prize + 1}"
                if self.prize >= 0
                else "the game is over"
                if self.is_terminal()
                else "a prize is turned up"
            )
            hands = [
                " ".join(str(card + 1) for card in range(cards) if self.hands[player] >> card & 1)
                for player in range(2)
            ]
            return "\n".join(
                [
                    *(
                        f"player {player}: {self.points[player]} points, cards {hands[player] or 'none'}"
                        for player in range(2)
                    ),
                    prize,
                ]
            )

        def move_text(self, action: int) -> str:
            return str(action + 1)

        def outcome_text(self, outcome: int) -> str:
            return str(outcome + 1)

        def parse_move(self, text: str) -> int:
            return int(text) - 1

    return Goofspiel  # type: ignore[return-value]  # mypy does not see what a class decorator returns
