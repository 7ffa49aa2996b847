"""Kuhn poker."""

from __future__ import annotations

from typing import Any

from treetop.game import CHANCE, Card, Cards, Element, Table, field, game

_PASS_THEN_BET = 2  # `bets` after a pass and a bet: player 0 must answer


def _played(state: Any) -> str:
    """Return the moves so far as text."""
    return " ".join(("pass", "bet")[state.bets >> turn & 1] for turn in range(state.turns)) or "nothing"


def _picture(state: Any, shown: tuple[int, ...]) -> list[Element]:
    """Return the cards of both players, those of `shown` face up, and the moves so far."""
    cards = [Card("" if card < 0 or player not in shown else "JQK"[card]) for player, card in enumerate(state.cards)]
    return [
        *(Cards([card], f"player {player + 1}") for player, card in enumerate(cards)),
        Table({"played": _played(state)}),
    ]


@game(players=2, num_actions=2, max_length=5, num_outcomes=3, rewards=(-2, 2), observation_shape=(11,))
class kuhn_poker:  # noqa: N801 - the class of a bundled game has the name of the game
    """Poker with three cards: jack, queen and king.

    Each player pays one chip and is dealt a card that the opponent does not see. The players take turns to pass or to
    bet one more chip. After a bet the other player bets too, and the higher card wins, or passes and gives up. After
    two passes the higher card wins. A reward is the number of chips won. With optimal play player 0 loses 1/18 of a
    chip a game.
    """

    cards: Any = field("i1", 2)  # of each player; -1 before it is dealt
    turns: int = field("i1")  # the number of passes and bets
    bets: int = field("i1")  # a bit a turn, the first one lowest: whether it was a bet

    def reset(self) -> None:
        self.cards[:] = -1
        self.turns = 0
        self.bets = 0

    def current_player(self) -> int:
        return CHANCE if self.cards[1] < 0 else self.turns % 2

    def chance_outcomes(self, actions: Any, probabilities: Any) -> int:
        count = 0
        for card in range(3):
            if card != self.cards[0]:
                actions[count] = card
                count += 1
        for index in range(count):
            probabilities[index] = 1.0 / count
        return count

    def random_outcome(self, rng: Any) -> int:
        if self.cards[0] < 0:
            return int(rng.below(3))
        card = rng.below(2)
        return int(card + (1 if card >= self.cards[0] else 0))

    def legal_actions(self, out: Any) -> int:
        out[0] = 0
        out[1] = 1
        return 2

    def apply(self, action: int) -> None:
        if self.cards[0] < 0:
            self.cards[0] = action
        elif self.cards[1] < 0:
            self.cards[1] = action
        else:
            self.bets += action << self.turns
            self.turns += 1

    def is_terminal(self) -> bool:
        return self.turns == 3 or (self.turns == 2 and self.bets != _PASS_THEN_BET)

    def rewards(self, out: Any) -> None:
        stronger = 0 if self.cards[0] > self.cards[1] else 1
        won = 1.0
        if self.turns == 2 and self.bets == 1:  # player 0 bet and player 1 gave up
            stronger = 0
        elif self.turns == 3 and self.bets == _PASS_THEN_BET:
            stronger = 1
        elif self.bets != 0:
            won = 2.0
        out[stronger] = won
        out[1 - stronger] = -won

    def random_action(self, rng: Any) -> int:
        return int(rng.below(2))

    def determinize(self, player: int, rng: Any) -> None:
        if self.cards[1 - player] >= 0:
            if self.cards[player] < 0:
                self.cards[1 - player] = rng.below(3)
            else:
                card = rng.below(2)
                self.cards[1 - player] = card + (1 if card >= self.cards[player] else 0)

    def information(self, player: int) -> int:
        dealt = (1 if self.cards[0] >= 0 else 0) + (1 if self.cards[1] >= 0 else 0)
        return int((((self.turns * 8 + self.bets) * 4 + self.cards[player] + 1) * 3 + dealt) * 2 + player)

    def observe(self, player: int, out: Any) -> None:
        """Write the player's own card and the passes and bets of three turns, each one-hot.

        Then whether the player is player 0, and whether the player is to move.
        """
        if self.cards[player] >= 0:
            out[self.cards[player]] = 1.0
        for turn in range(self.turns):
            out[3 + 2 * turn + (self.bets >> turn & 1)] = 1.0
        out[9] = player == 0
        out[10] = player == self.current_player()

    def key(self) -> int:
        return int(((self.turns * 8 + self.bets) * 4 + self.cards[0] + 1) * 4 + self.cards[1] + 1)

    def board(self) -> list[Element]:
        return _picture(self, (0, 1))

    def board_for(self, player: int) -> list[Element]:
        return _picture(self, (player,))

    def render(self) -> str:
        first, second = ("?JQK"[card + 1] for card in self.cards)
        return f"player 0 has {first}, player 1 has {second}; played: {_played(self)}"

    def render_for(self, player: int) -> str:
        return f"you have {'?JQK'[self.cards[player] + 1]}; played: {_played(self)}"

    def move_text(self, action: int) -> str:
        return ("pass", "bet")[action]

    def outcome_text(self, outcome: int) -> str:
        return "JQK"[outcome]
