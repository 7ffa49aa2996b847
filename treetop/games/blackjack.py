"""Blackjack against the dealer, with an infinite deck."""

from __future__ import annotations

from typing import Any

from treetop.game import CHANCE, Game, Table, checks, family, field, game

_HIT, _STAND = 0, 1
_NAMES = ("hit", "stand")
_OWN, _DEALERS = 32, 27  # the sums of cards that are observed: 0 to 31, and 0 to 26 for the dealer
_CARDS = ("a", "2", "3", "4", "5", "6", "7", "8", "9", "10")


@family
def blackjack(natural: float = 1.5) -> Game:
    """Draw cards up to 21 and beat the dealer. An ace and a ten as the first two cards pay `natural`."""
    checks.number("natural", natural, 1, 10)

    @game(players=1, num_actions=2, max_length=80, rewards=(-1, natural), num_outcomes=10, observation_shape=(71,))
    class Blackjack:
        """Draw cards up to 21 and beat the dealer.

        Cards count their value, face cards 10, an ace 1 or 11, whichever is better; each card is drawn from a full
        deck. The player has two cards and sees one card of the dealer, then hits (action 0) any number of times, or
        stands (action 1). A player above 21 loses. Then the dealer draws up to 17 or more, counting an ace as 11 if
        that does not exceed 21. The greater sum wins 1, equal sums nothing.

        An ace and a ten as the first two cards are a natural: it beats every other 21, ties with the dealer's natural,
        and pays more.

        Outcome n is a card of value n + 1; outcome 0 is an ace.
        """

        total: int = field("i1")  # of the player, all aces counted as 1
        ace: bool = field("bool")  # whether the player has one
        cards: int = field("i1")  # the number of cards; 3 means three or more
        dealer_total: int = field("i1")
        dealer_ace: bool = field("bool")
        dealer_cards: int = field("i1")
        standing: bool = field("bool")
        waiting: bool = field("bool")  # the player hit, and the card is not drawn yet

        def reset(self) -> None:
            self.total = 0
            self.ace = False
            self.cards = 0
            self.dealer_total = 0
            self.dealer_ace = False
            self.dealer_cards = 0
            self.standing = False
            self.waiting = False

        def best(self) -> int:
            """Return the value of the player's cards."""
            return self.total + 10 if self.ace and self.total <= 11 else self.total

        def dealers_best(self) -> int:
            return self.dealer_total + 10 if self.dealer_ace and self.dealer_total <= 11 else self.dealer_total

        def has_natural(self) -> bool:
            return self.cards == 2 and self.best() == 21

        def current_player(self) -> int:
            return CHANCE if self.waiting or self.standing or self.cards < 2 or self.dealer_cards == 0 else 0

        def chance_outcomes(self, actions: Any, probabilities: Any) -> int:
            for card in range(10):
                actions[card] = card
                probabilities[card] = 1.0 / 13.0
            probabilities[9] = 4.0 / 13.0
            return 10

        def random_outcome(self, rng: Any) -> int:
            return min(9, int(rng.below(13)))

        def legal_actions(self, out: Any) -> int:
            out[0] = _HIT
            out[1] = _STAND
            return 2

        def random_action(self, rng: Any) -> int:
            return int(rng.below(2))

        def apply(self, action: int) -> None:
            if self.current_player() == 0:
                self.waiting = action == _HIT
                self.standing = action == _STAND
            elif self.cards < 2 or self.waiting:
                self.total += action + 1
                self.ace = self.ace or action == 0
                self.cards = min(3, self.cards + 1)
                self.waiting = False
            else:
                self.dealer_total += action + 1
                self.dealer_ace = self.dealer_ace or action == 0
                self.dealer_cards = min(3, self.dealer_cards + 1)
                self.standing = self.standing or self.has_natural()

        def is_terminal(self) -> bool:
            if self.total > 21:
                return True
            return self.standing and self.dealer_cards > 1 and (self.dealers_best() >= 17 or self.has_natural())

        def rewards(self, out: Any) -> None:
            own, dealers = self.best(), self.dealers_best()
            dealer_natural = self.dealer_cards == 2 and dealers == 21
            if own > 21:
                out[0] = -1.0
            elif self.has_natural():
                out[0] = 0.0 if dealer_natural else natural
            elif dealer_natural:
                out[0] = -1.0
            elif dealers > 21 or own > dealers:
                out[0] = 1.0
            else:
                out[0] = 0.0 if own == dealers else -1.0

        def observe(self, player: int, out: Any) -> None:  # noqa: ARG002 - there is one player
            """Write the player's cards, the dealer's cards, whether the player stands, and whether a card is drawn.

            Cards are the sum with aces as 1 (one-hot), whether there is an ace, and their number (one-hot: 0, 1, 2,
            more).
            """
            out[self.total] = 1.0
            out[_OWN] = self.ace
            out[_OWN + 1 + self.cards] = 1.0
            start = _OWN + 5
            out[start + self.dealer_total] = 1.0
            out[start + _DEALERS] = self.dealer_ace
            out[start + _DEALERS + 1 + self.dealer_cards] = 1.0
            out[start + _DEALERS + 5] = self.standing
            out[start + _DEALERS + 6] = self.waiting

        def key(self) -> int:
            own = ((self.total << 1 | int(self.ace)) << 2 | self.cards) << 1 | int(self.standing)
            dealers = ((self.dealer_total << 1 | int(self.dealer_ace)) << 2 | self.dealer_cards) << 1 | int(
                self.waiting
            )
            return own << 10 | dealers

        def board(self) -> Table:
            softness = [
                " (an ace is 11)" if best > total else ""
                for best, total in ((self.best(), self.total), (self.dealers_best(), self.dealer_total))
            ]
            return Table({"you": f"{self.best()}{softness[0]}", "dealer": f"{self.dealers_best()}{softness[1]}"})

        def render(self) -> str:
            softness = [
                " with an ace as 11" if best > total else ""
                for best, total in ((self.best(), self.total), (self.dealers_best(), self.dealer_total))
            ]
            return f"player {self.best()}{softness[0]}, dealer {self.dealers_best()}{softness[1]}"

        def move_text(self, action: int) -> str:
            return _NAMES[action]

        def outcome_text(self, outcome: int) -> str:
            return _CARDS[outcome]

        def parse_move(self, text: str) -> int:
            return _NAMES.index(text.lower())

    return Blackjack  # type: ignore[return-value]  # mypy does not see what a class decorator returns
