"""Leduc poker."""

from __future__ import annotations

from typing import Any

from treetop.game import CHANCE, Card, Cards, Element, Table, field, game

_CARDS = ("Js", "Jh", "Qs", "Qh", "Ks", "Kh")
_FOLD, _CALL, _RAISE = 0, 1, 2
_MOVES = ("fold", "call", "raise")
_MOST_RAISES = 2  # in a round


def _played(state: Any) -> str:
    """Return the moves so far as text, with a bar between the rounds."""
    digits, history = [], state.history
    while history:
        digits.append(history % 4)
        history //= 4
    return " ".join("|" if digit == 0 else _MOVES[digit - 1] for digit in reversed(digits)) or "nothing"


def _picture(state: Any, shown: tuple[int, ...]) -> list[Element]:
    """Return the cards, those of the players in `shown` face up, the chips and the moves so far."""
    faces = ["" if card < 0 or place not in (*shown, 2) else _CARDS[card] for place, card in enumerate(state.cards)]
    titles = [*(f"player {player + 1}, paid {state.paid[player]}" for player in range(2)), "open"]
    return [
        *(Cards([Card(face)], title) for face, title in zip(faces, titles, strict=True)),
        Table({"played": _played(state)}),
    ]


@game(players=2, num_actions=3, max_length=11, num_outcomes=6, rewards=(-13, 13), observation_shape=(34,))
class leduc_poker:  # noqa: N801 - the class of a bundled game has the name of the game
    """Poker with six cards: two jacks, two queens and two kings.

    Each player pays one chip and is dealt a card that the opponent does not see. In two rounds they fold, call (or
    check) and raise: by 2 chips in the first round and by 4 in the second, at most twice a round; player 0 starts both.
    Between the rounds a public card is dealt. A card with the rank of the public card wins, else the higher rank; equal
    ranks share. A reward is the number of chips won.
    """

    history: int = field("i4")  # two bits an action: 1 for a fold, 2 for a call, 3 for a raise; 0 between the rounds
    cards: Any = field("i1", 3)  # of each player, and the public one; -1 before it is dealt
    paid: Any = field("i1", 2)
    player: int = field("i1")
    round: int = field("i1")
    raises: int = field("i1")  # in this round
    acted: bool = field("bool")  # whether a player has acted in this round
    folded: int = field("i1")  # the player who folded, or -1
    over: bool = field("bool")

    def reset(self) -> None:
        self.cards[:] = -1
        self.paid[:] = 1
        self.history = 0
        self.player = 0
        self.round = 0
        self.raises = 0
        self.acted = False
        self.folded = -1
        self.over = False

    def current_player(self) -> int:
        if self.cards[1] < 0 or (self.round == 1 and self.cards[2] < 0):
            return CHANCE
        return self.player

    def dealt(self) -> int:
        """Return the number of cards dealt so far."""
        return (1 if self.cards[0] >= 0 else 0) + (1 if self.cards[1] >= 0 else 0) + (1 if self.cards[2] >= 0 else 0)

    def chance_outcomes(self, actions: Any, probabilities: Any) -> int:
        count = 0
        for card in range(6):
            if card != self.cards[0] and card != self.cards[1]:
                actions[count] = card
                count += 1
        for index in range(count):
            probabilities[index] = 1.0 / count
        return count

    def draw(self, first: int, second: int, rng: Any) -> int:
        """Return a random card other than two known ones; -1 means no card."""
        low, high = min(first, second), max(first, second)
        card = rng.below(6 - (1 if first >= 0 else 0) - (1 if second >= 0 else 0))
        if low >= 0 and card >= low:
            card += 1
        if high >= 0 and card >= high:
            card += 1
        return int(card)

    def random_outcome(self, rng: Any) -> int:
        return self.draw(self.cards[0], self.cards[1], rng)

    def legal_actions(self, out: Any) -> int:
        count = 0
        if self.paid[self.player] < self.paid[1 - self.player]:
            out[count] = _FOLD
            count += 1
        out[count] = _CALL
        count += 1
        if self.raises < _MOST_RAISES:
            out[count] = _RAISE
            count += 1
        return count

    def apply(self, action: int) -> None:
        if self.cards[0] < 0:
            self.cards[0] = action
        elif self.cards[1] < 0:
            self.cards[1] = action
        elif self.round == 1 and self.cards[2] < 0:
            self.cards[2] = action
        else:
            self.act(action)

    def act(self, action: int) -> None:
        """Fold, call or raise."""
        me, other = self.player, 1 - self.player
        ends = False
        self.history = 4 * self.history + action + 1
        if action == _FOLD:
            self.folded = me
            self.over = True
        elif action == _CALL:
            self.paid[me] = self.paid[other]
            ends = self.acted
        else:
            self.paid[me] = self.paid[other] + (2 if self.round == 0 else 4)
            self.raises += 1
        self.player = other
        self.acted = True
        if ends and self.round == 1:
            self.over = True
        elif ends:
            self.history = 4 * self.history
            self.round = 1
            self.player = 0
            self.raises = 0
            self.acted = False

    def is_terminal(self) -> bool:
        return self.over

    def strength(self, player: int) -> int:
        """Return the strength of a player's card at the end."""
        rank = self.cards[player] // 2
        return int(rank + (3 if rank == self.cards[2] // 2 else 0))

    def rewards(self, out: Any) -> None:
        loser = self.folded
        if loser < 0:
            first, second = self.strength(0), self.strength(1)
            loser = 1 if first > second else 0 if first < second else -1
        if loser >= 0:
            out[loser] = -float(self.paid[loser])
            out[1 - loser] = float(self.paid[loser])

    def determinize(self, player: int, rng: Any) -> None:
        if self.cards[1 - player] >= 0:
            self.cards[1 - player] = self.draw(self.cards[player], self.cards[2], rng)

    def information(self, player: int) -> int:
        known = (self.cards[player] + 1) * 7 + self.cards[2] + 1
        return int(((self.history * 49 + known) * 4 + self.dealt()) * 2 + player)

    def observe(self, player: int, out: Any) -> None:
        """Write the ranks of the player's own card and of the public card, each one-hot, and the moves of both rounds.

        A round has up to four moves, each one-hot: fold, call, raise. Then the chips paid by the player and by the
        opponent, divided by 13, whether the player is player 0, and whether the player is to move. Suits do not matter.
        """
        if self.cards[player] >= 0:
            out[self.cards[player] // 2] = 1.0
        if self.cards[2] >= 0:
            out[3 + self.cards[2] // 2] = 1.0
        length = 0
        while self.history >> 2 * length > 0:
            length += 1
        start = 6
        for turn in range(length):
            move = self.history >> 2 * (length - 1 - turn) & 3
            if move == 0:
                start = 18
            else:
                out[start + move - 1] = 1.0
                start += 3
        out[30] = self.paid[player] / 13
        out[31] = self.paid[1 - player] / 13
        out[32] = player == 0
        out[33] = player == self.current_player()

    def key(self) -> int:
        return int(((self.history * 7 + self.cards[0] + 1) * 7 + self.cards[1] + 1) * 7 + self.cards[2] + 1)

    def board(self) -> list[Element]:
        return _picture(self, (0, 1))

    def board_for(self, player: int) -> list[Element]:
        return _picture(self, (player,))

    def render(self) -> str:
        first, second, shown = ("?" if card < 0 else _CARDS[card] for card in self.cards)
        paid = f"paid {self.paid[0]} and {self.paid[1]}"
        return f"player 0 has {first}, player 1 has {second}, open is {shown}; {paid}; played: {_played(self)}"

    def render_for(self, player: int) -> str:
        own, shown = ("?" if self.cards[place] < 0 else _CARDS[self.cards[place]] for place in (player, 2))
        return f"you have {own}, open is {shown}; paid {self.paid[0]} and {self.paid[1]}; played: {_played(self)}"

    def move_text(self, action: int) -> str:
        return _MOVES[action]

    def outcome_text(self, outcome: int) -> str:
        return _CARDS[outcome]
