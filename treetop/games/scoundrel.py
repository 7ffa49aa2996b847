"""Scoundrel, a card game for one player (Zach Gage and Kurt Bieg, 2011)."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import (
    CHANCE,
    Card,
    Cards,
    Element,
    Game,
    Table,
    checks,
    family,
    field,
    game,
    lowest_bit,
    mix_bits,
    nth_bit,
    popcount,
    require,
)

# Cards are numbers: clubs 2 to 14 are 0 to 12, spades 13 to 25, diamonds 2 to 10 are 26 to 34, hearts 35 to 43.
_NONE, _ONE = np.uint64(0), np.uint64(1)
_CARDS, _WEAPONS, _POTIONS = 44, 26, 35  # the number of cards; the first diamond; the first heart
_ALL = np.uint64((1 << _CARDS) - 1)
_VALUE = np.array([*range(2, 15), *range(2, 15), *range(2, 11), *range(2, 11)], np.int64)
_HELP = np.array(
    [0.0] * 26 + [1.37 * value for value in range(2, 11)] + [1.07 * value for value in range(2, 11)]
)  # for the heuristic
_MONSTERS = 208  # the sum of all monsters
_FULL_HEALTH = 20
_AVOID = 3 * _CARDS
_SLOTS = 63  # of the ring of cards under the deck: a mask
_RANKS = {11: "J", 12: "Q", 13: "K", 14: "A"}
_NAMES = [
    f"{'CSDH'[(card >= 13) + (card >= _WEAPONS) + (card >= _POTIONS)]}{_RANKS.get(int(_VALUE[card]), _VALUE[card])}"
    for card in range(_CARDS)
]
_WAYS = ("", ":hands", ":weapon")


def _card(card: int, *, touched: bool = True) -> Card:
    """Return a card as it is drawn; its name is that in the texts of moves."""
    kind = "monster" if card < _WEAPONS else "weapon" if card < _POTIONS else "potion"
    name = _NAMES[card]
    return Card(name[1:] + "♣♠♦♥"["CSDH".index(name[0])], name if touched else "", kind)


@family
def scoundrel(weapon_rule: str = "<=", avoided: str = "ordered", clairvoyant: bool = False) -> Game:
    """Fight through a deck of monsters, weapons and potions.

    `weapon_rule`: a used weapon works on monsters of at most the value of the last one it killed ("<="), or of less
    ("<"). `avoided`: the cards of an avoided room go under the deck in their order, which is then known ("ordered"), or
    shuffled room by room ("shuffled"). `clairvoyant` cheats: the state has the order of the whole deck, so a search
    knows every card before it is dealt.
    """
    checks.one_of("weapon_rule", weapon_rule, ("<=", "<"))
    checks.one_of("avoided", avoided, ("ordered", "shuffled"))
    checks.flag("clairvoyant", clairvoyant)
    require(
        not clairvoyant or avoided == "ordered",
        'avoided must be "ordered" in a clairvoyant game: the order of the whole deck is known',
    )
    shuffled = avoided == "shuffled"
    spent = 1 if weapon_rule == "<" else 0

    @game(
        players=1,
        num_actions=_AVOID + 1,
        max_length=200,
        rewards=(-188, 30),
        num_outcomes=None if clairvoyant else _CARDS,
        observation_shape=(6 * _CARDS + 9,),
    )
    class Scoundrel:
        """Fight alone through a deck of monsters, weapons and potions.

        44 cards: clubs and spades, 2 to 14, are monsters; diamonds, 2 to 10, weapons; hearts, 2 to 10, potions. Health
        is 20 at most. In each turn cards are dealt until the room has four. The room may be avoided (its cards go under
        the deck), but not twice in a row and only before the first card is faced; else three cards are faced, one at a
        time, and the fourth remains. A weapon replaces the previous one. A potion heals, but only the first of a turn.
        A monster costs its value in health; with the weapon it costs its value above that of the weapon, and then the
        weapon works no longer on greater monsters. The last two cards form a turn.

        The game ends at health 0 or below, or with the last card. The score of a dead player is the health minus the
        values of all monsters left. The score of a living one is the health, plus the value of the last card if that
        was a potion and health is 20.

        The order of the deck is not in the state: a dealt card is an outcome of chance among the unseen cards, as for a
        person. (The clairvoyant game differs: it cheats.)

        Action 3 * card takes a weapon or potion, 3 * card + 1 fights a monster with bare hands, + 2 with the weapon;
        132 avoids the room.
        """

        unseen: np.uint64 = field("u8")  # cards in the deck above the avoided ones
        under: Any = field("i1", 64)  # a ring buffer of the cards under them, in the order of dealing
        first: int = field("u1")  # the start of the ring buffer ...
        end: int = field("u1")  # ... and its end: both only grow
        room: Any = field("i1", 4)  # in the order of dealing
        size: int = field("i1")  # of the room
        faced: int = field("i1")  # cards in this turn
        health: int = field("i1")
        weapon: int = field("i1")
        reach: int = field("i1")  # the greatest monster that the weapon may be used on
        left: int = field("i2")  # the sum of the values of all monsters left
        last_potion: int = field("i1")  # the value of the last card if it was a potion
        potion_used: bool = field("bool")  # in this turn
        avoided: bool = field("bool")  # the room before this one
        dealing: bool = field("bool")  # a chance node: a card is dealt next

        def reset(self) -> None:
            self.under[:] = -1
            self.room[:] = -1
            self.first = 0
            self.size = 0
            self.faced = 0
            self.health = _FULL_HEALTH
            self.weapon = 0
            self.reach = 0
            self.left = _MONSTERS
            self.last_potion = 0
            self.potion_used = False
            self.avoided = False
            if clairvoyant:
                self.unseen = _NONE
                self.end = _CARDS
                for card in range(_CARDS):
                    self.under[card] = card
            else:
                self.unseen = _ALL
                self.end = 0
            self.fill_room()

        if clairvoyant:

            def deal(self, rng: Any) -> None:
                """Shuffle the deck, the first room included."""
                for place in range(4):
                    self.room[place] = -1
                self.size = 0
                self.first = 0
                for card in range(_CARDS):
                    place = rng.below(card + 1)
                    self.under[card] = self.under[place]
                    self.under[place] = card
                self.fill_room()

        else:

            def chance_outcomes(self, actions: Any, probabilities: Any) -> int:
                count = 0
                cards = self.unseen
                if cards == _NONE:  # the room that was avoided first, in unknown order
                    for place in range(self.first, (self.first | 3) + 1):
                        actions[count] = self.under[place & _SLOTS]
                        count += 1
                while cards != _NONE:
                    actions[count] = lowest_bit(cards)
                    cards &= cards - _ONE
                    count += 1
                for index in range(count):
                    probabilities[index] = 1.0 / count
                return count

            def random_outcome(self, rng: Any) -> int:
                if shuffled and self.unseen == _NONE:
                    return int(self.under[(self.first + rng.below(4 - (self.first & 3))) & _SLOTS])
                return nth_bit(self.unseen, rng.below(popcount(self.unseen)))

        def current_player(self) -> int:
            return CHANCE if self.dealing else 0

        def fill_room(self) -> None:
            """Start a turn: deal the cards whose order is known, and set whether chance deals more."""
            if not shuffled and self.unseen == _NONE:
                while self.size < 4 and self.first != self.end:
                    self.room[self.size] = self.under[self.first & _SLOTS]
                    self.under[self.first & _SLOTS] = -1
                    self.first += 1
                    self.size += 1
            self.dealing = self.size < 4 and bool(self.unseen != _NONE or (shuffled and self.first != self.end))

        def turn_up(self, card: int) -> None:
            """Put a card that chance dealt into the room."""
            if shuffled and self.unseen == _NONE:
                place = self.first
                while self.under[place & _SLOTS] != card:
                    place += 1
                # The others keep their order, which is arbitrary, but equal positions then have equal states.
                while place > self.first:
                    self.under[place & _SLOTS] = self.under[(place - 1) & _SLOTS]
                    place -= 1
                self.under[self.first & _SLOTS] = -1
                self.first += 1
            else:
                self.unseen &= ~(_ONE << np.uint64(card))
            self.room[self.size] = card
            self.size += 1
            if self.size == 4 or self.unseen == _NONE:
                self.fill_room()

        def avoid(self) -> None:
            if shuffled:  # sort the cards, so that the state does not depend on their order
                for after in range(1, 4):
                    for place in range(after, 0, -1):
                        if self.room[place] < self.room[place - 1]:
                            card = self.room[place]
                            self.room[place] = self.room[place - 1]
                            self.room[place - 1] = card
            for place in range(4):
                self.under[self.end & _SLOTS] = self.room[place]
                self.room[place] = -1
                self.end += 1
            self.size = 0
            self.avoided = True
            self.fill_room()

        def remove(self, card: int) -> None:
            """Take a card out of the room; the others keep their order."""
            kept = 0
            for place in range(self.size):
                if self.room[place] != card:
                    self.room[kept] = self.room[place]
                    kept += 1
            self.room[kept] = -1
            self.size = kept

        def apply(self, action: int) -> None:
            if self.dealing:
                self.turn_up(action)
                return
            if action == _AVOID:
                self.avoid()
                return
            card = action // 3
            value = _VALUE[card]
            self.last_potion = 0
            if card < _WEAPONS:
                self.left -= value
                if action % 3 == 2:
                    self.health -= max(0, value - self.weapon)
                    self.reach = value - spent
                else:
                    self.health -= value
            elif card < _POTIONS:
                self.weapon = value
                self.reach = 14
            else:
                if not self.potion_used:
                    self.health = min(_FULL_HEALTH, self.health + value)
                self.potion_used = True
                self.last_potion = value
            self.remove(card)
            self.avoided = False
            self.faced += 1
            if self.faced == 3 and self.health > 0:
                self.faced = 0
                self.potion_used = False
                self.fill_room()

        def legal_actions(self, out: Any) -> int:
            count = 0
            for place in range(self.size):
                card = self.room[place]
                if card >= _WEAPONS:
                    out[count] = 3 * card
                    count += 1
                else:
                    out[count] = 3 * card + 1
                    count += 1
                    if _VALUE[card] <= self.reach:
                        out[count] = 3 * card + 2
                        count += 1
            if self.size == 4 and not self.avoided:
                out[count] = _AVOID
                count += 1
            return count

        def random_action(self, rng: Any) -> int:
            count = self.size + int(self.size == 4 and not self.avoided)
            for place in range(self.size):
                card = self.room[place]
                count += int(card < _WEAPONS and _VALUE[card] <= self.reach)
            chosen = rng.below(count)
            for place in range(self.size):
                card = self.room[place]
                if chosen == 0:
                    return int(3 * card + int(card < _WEAPONS))
                chosen -= 1
                if card < _WEAPONS and _VALUE[card] <= self.reach:
                    if chosen == 0:
                        return int(3 * card + 2)
                    chosen -= 1
            return _AVOID

        def rollout_action(self, rng: Any) -> int:  # noqa: ARG002 - this policy is deterministic
            """Return the action with the most points, by tuned weights: this policy alone wins one game in eight.

            It prefers great monsters within the weapon's reach, then potions that heal their full value, then a new
            weapon if the old one is worn; the card with the fewest points remains. It avoids a room that would cost
            half of the health even without its worst monster and with a potion.
            """
            weapon, reach, health = self.weapon, self.reach, self.health
            # The best potion and weapon here, the greatest monsters within the reach of the weapon and beyond it.
            potion, arm, within, beyond = 0, 0, 0, 0
            for place in range(self.size):
                card = self.room[place]
                value = _VALUE[card]
                if card >= _POTIONS:
                    potion = max(potion, value)
                elif card >= _WEAPONS:
                    arm = max(arm, value)
                elif value <= reach:
                    within = max(within, value)
                else:
                    beyond = max(beyond, value)
            most, action, pain, worst = -10_000, 0, 0, 0
            for place in range(self.size):
                card = self.room[place]
                value = _VALUE[card]
                way = 0
                if card >= _POTIONS:
                    healed = min(value, _FULL_HEALTH - health)
                    points = 20 - 60 * value if self.potion_used else 70 * healed - 200 * (value - healed)
                elif card >= _WEAPONS:
                    points = 40 - 35 * value + 10 * weapon - 5 * weapon * reach + 20 * reach + 10 * beyond - 25 * within
                else:
                    way = 1
                    points = 3 * health - 35 * value - (1000 if value >= health else 0) - 10
                    cost = value - min(value, arm)
                    if value <= reach:
                        absorbed = min(weapon, value)
                        cost = min(cost, value - absorbed)
                        armed = (
                            400
                            - 25 * (reach - value)
                            + 25 * (value - weapon)
                            - 30 * absorbed
                            - (2000 if value - weapon >= health else 0)
                        )
                        if armed > points:
                            points, way = armed, 2
                    pain += cost
                    worst = max(worst, cost)
                if points > most:
                    most, action = points, 3 * card + way
            if self.size == 4 and not self.avoided and 2 * (pain - worst) - potion > health:
                return _AVOID
            return int(action)

        def is_terminal(self) -> bool:
            return self.health <= 0 or (self.size == 0 and not self.dealing)

        def rewards(self, out: Any) -> None:
            if self.health <= 0:
                out[0] = self.health - self.left
            elif self.health == _FULL_HEALTH:
                out[0] = _FULL_HEALTH + self.last_potion
            else:
                out[0] = self.health

        def heuristic(self, out: Any) -> None:
            """Write an estimate of the final score, fitted to games of `rollout_action`; at the end the exact score."""
            if self.is_terminal():
                self.rewards(out)
                return
            help_left = 0.0
            cards = self.unseen >> np.uint64(_WEAPONS)
            while cards != _NONE:
                help_left += _HELP[_WEAPONS + lowest_bit(cards)]
                cards &= cards - _ONE
            for place in range(self.size):
                help_left += _HELP[self.room[place]]
            for place in range(self.first, self.end):
                help_left += _HELP[self.under[place & _SLOTS]]
            guess = 1.5 * self.health - 0.925 * self.left + 0.17 * self.weapon * self.reach + help_left - 10.0
            out[0] = min(30.0, max(-188.0, guess))

        def observe(self, player: int, out: Any) -> None:  # noqa: ARG002 - there is one player
            """Write where each card is, in six numbers a card, and then the state of the player.

            The six parts of 44 numbers are the unseen cards, the four places of the room, and the cards under the deck:
            1 for the one that is dealt first of them, 1/44 less for each one before it. If rooms are shuffled, all
            cards of one room count alike. Then follow health, weapon, its reach, the cards faced in this turn, the sum
            of all monsters left and the last potion, divided by their greatest values; whether a potion was used,
            whether the room before was avoided, and whether a card is dealt next.
            """
            for card in range(_CARDS):
                out[card] = (self.unseen >> np.uint64(card)) & _ONE
            for place in range(self.size):
                out[_CARDS * (1 + place) + self.room[place]] = 1.0
            for place in range(self.first, self.end):
                before = (place >> 2) - (self.first >> 2) if shuffled else place - self.first
                out[5 * _CARDS + self.under[place & _SLOTS]] = 1.0 - before / _CARDS
            start = 6 * _CARDS
            out[start] = self.health / _FULL_HEALTH
            out[start + 1] = self.weapon / 10
            out[start + 2] = self.reach / 14
            out[start + 3] = self.faced / 3
            out[start + 4] = self.left / _MONSTERS
            out[start + 5] = self.last_potion / 10
            out[start + 6] = self.potion_used
            out[start + 7] = self.avoided
            out[start + 8] = self.dealing

        def key(self) -> np.uint64:
            numbers = self.health + 32  # always positive
            for number in (self.weapon, self.reach, self.last_potion, self.faced, self.first & 3):
                numbers = 16 * numbers + number
            numbers = 8 * numbers + 4 * int(self.potion_used) + 2 * int(self.avoided) + int(self.dealing)
            for place in range(4):
                numbers = 64 * numbers + self.room[place] + 1
            cards = mix_bits(self.unseen) ^ mix_bits(np.uint64(numbers))
            for place in range(self.first, self.end):
                cards = mix_bits(cards + np.uint64(self.under[place & _SLOTS] + 1))
            return cards

        def board(self) -> list[Element]:
            below = [self.under[place & _SLOTS] for place in range(self.first, self.end)]
            weapon = f"{self.weapon}, for monsters up to {self.reach}" if self.weapon else "none"
            facts = {"health": self.health, "weapon": weapon, "unseen cards": popcount(self.unseen)}
            return [
                Cards([_card(card) for card in self.room if card >= 0], "room"),
                *([Cards([_card(card, touched=False) for card in below], "under the deck")] if below else []),
                Table(facts),
            ]

        def render(self) -> str:
            cards = [_NAMES[card] for card in self.room if card >= 0]
            below = [_NAMES[self.under[place & _SLOTS]] for place in range(self.first, self.end)]
            weapon = f"weapon {self.weapon}, good for monsters up to {self.reach}" if self.weapon else "no weapon"
            above = f"{popcount(self.unseen)} unseen cards"
            known = f", under them {' '.join(below)}" if below else ""
            return f"health {self.health}, {weapon}\nroom: {' '.join(cards) or 'empty'}\ndeck: {above}{known}"

        def move_text(self, action: int) -> str:
            return "avoid" if action == _AVOID else _NAMES[action // 3] + _WAYS[action % 3]

        def outcome_text(self, outcome: int) -> str:
            return _NAMES[outcome]

        def parse_move(self, text: str) -> int:
            name, colon, way = text.upper().partition(":")
            if name == "AVOID":
                return _AVOID
            return 3 * _NAMES.index(name) + _WAYS.index((colon + way).lower())

    return Scoundrel  # type: ignore[return-value]  # mypy does not see what a class decorator returns
