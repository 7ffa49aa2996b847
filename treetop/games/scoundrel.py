"""Scoundrel, the card game of a single player (Zach Gage and Kurt Bieg, 2011)."""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.game import CHANCE, Game, checks, family, field, game, lowest_bit, mix_bits, nth_bit, popcount, require

# Cards are numbers: clubs 2 to 14 are 0 to 12, spades 13 to 25, diamonds 2 to 10 are 26 to 34, hearts 35 to 43.
_NONE, _ONE = np.uint64(0), np.uint64(1)
_CARDS, _WEAPONS, _POTIONS = 44, 26, 35  # how many there are; the first diamond; the first heart
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


@family
def scoundrel(weapon_rule: str = "<=", avoided: str = "ordered", clairvoyant: bool = False) -> Game:
    """Fight through a deck of monsters, weapons and potions.

    `weapon_rule`: a used weapon may be used on monsters of at most the value of the last it slew ("<="), or of less ("<").
    `avoided`: the cards of an avoided room go under the deck as they lay, so their order is known ("ordered"), or each room shuffled
    ("shuffled"). `clairvoyant` cheats: the order of the whole deck stands in the state, and a search sees every card before it is dealt.
    """
    checks.one_of("weapon_rule", weapon_rule, ("<=", "<"))
    checks.one_of("avoided", avoided, ("ordered", "shuffled"))
    checks.flag("clairvoyant", clairvoyant)
    require(
        not clairvoyant or avoided == "ordered",
        'a clairvoyant knows the order of avoided cards too: avoided must be "ordered"',
    )
    shuffled = avoided == "shuffled"
    spent = 1 if weapon_rule == "<" else 0

    @game(
        players=1,
        num_actions=_AVOID + 1,
        max_length=200,
        rewards=(-188, 30),
        num_outcomes=None if clairvoyant else _CARDS,
    )
    class Scoundrel:
        """Fight through a deck of monsters, weapons and potions, alone.

        44 cards: clubs and spades, 2 to 14, are monsters; diamonds, 2 to 10, weapons; hearts, 2 to 10, potions. Health is 20 and never
        more. A turn deals until four cards lie open. They may all be avoided (they go under the deck), but never twice in a row and only
        before the first is faced; else three of them are faced, one at a time, and the fourth stays. A weapon replaces the former one. A
        potion heals, but only the first of a turn. A monster costs its value in health, or with the weapon what it exceeds the weapon by;
        and then the weapon serves no more against greater monsters. The last two cards are a turn of their own.

        The game ends at health 0 or below, or with the last card. Dead, the score is the health minus all monsters left; alive, the health,
        and the value of the last card too if it was a potion and health is 20.

        The order of the deck is not in the state: a dealt card is an outcome of chance among those that have not been seen, as the player
        knows it. (The clairvoyant game is another one: it cheats.)

        Action 3 * card takes a weapon or potion, 3 * card + 1 fights a monster with bare hands, + 2 with the weapon; 132 avoids the room.
        """

        unseen: np.uint64 = field("u8")  # cards in the deck above the avoided ones
        under: Any = field("i1", 64)  # a ring of the cards under them, in the order of dealing
        first: int = field("u1")  # where the ring begins ...
        end: int = field("u1")  # ... and ends: both only grow
        room: Any = field("i1", 4)  # in the order of dealing
        size: int = field("i1")  # of the room
        faced: int = field("i1")  # cards in this turn
        health: int = field("i1")
        weapon: int = field("i1")
        reach: int = field("i1")  # the greatest monster that the weapon may be used on
        left: int = field("i2")  # the values of all monsters left
        last_potion: int = field("i1")  # the value of the last card if it was a potion
        potion_used: bool = field("bool")  # in this turn
        avoided: bool = field("bool")  # the room before this one
        dealing: bool = field("bool")  # the next card is chance's

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
                if cards == _NONE:  # the room that was avoided first, its order unknown
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
            """A turn begins: deal what is known, and say whether chance is to deal more."""
            if not shuffled and self.unseen == _NONE:
                while self.size < 4 and self.first != self.end:
                    self.room[self.size] = self.under[self.first & _SLOTS]
                    self.under[self.first & _SLOTS] = -1
                    self.first += 1
                    self.size += 1
            self.dealing = self.size < 4 and bool(self.unseen != _NONE or (shuffled and self.first != self.end))

        def turn_up(self, card: int) -> None:
            """Chance deals a card."""
            if shuffled and self.unseen == _NONE:
                place = self.first
                while self.under[place & _SLOTS] != card:
                    place += 1
                while (
                    place > self.first
                ):  # the others keep their order, which means nothing but makes equal positions look equal
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
            if shuffled:  # from least to greatest: so nothing of the former order is kept
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

        def rollout_action(self, rng: Any) -> int:  # noqa: ARG002 - this one needs no luck
            """The action of the most points, weighed by tuning: alone it wins one game of eight.

            The weapon goes first at great monsters that it is still good for, potions follow where nothing of them is wasted, a new weapon
            when the old one is worn, and the card of least points is what stays. A room is avoided that would cost half of one's health even
            if its worst monster stayed and a potion were drunk.
            """
            weapon, reach, health = self.weapon, self.reach, self.health
            potion, arm, within, beyond = (
                0,
                0,
                0,
                0,
            )  # the best potion and weapon here, the greatest monsters within reach and beyond
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
            """The final score by what is left, fitted to games of `rollout_action`; at the end the score itself."""
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

        def key(self) -> np.uint64:
            numbers = self.health + 32  # above 0, whatever the last blow was
            for number in (self.weapon, self.reach, self.last_potion, self.faced, self.first & 3):
                numbers = 16 * numbers + number
            numbers = 8 * numbers + 4 * int(self.potion_used) + 2 * int(self.avoided) + int(self.dealing)
            for place in range(4):
                numbers = 64 * numbers + self.room[place] + 1
            cards = mix_bits(self.unseen) ^ mix_bits(np.uint64(numbers))
            for place in range(self.first, self.end):
                cards = mix_bits(cards + np.uint64(self.under[place & _SLOTS] + 1))
            return cards

        def render(self) -> str:
            cards = [_NAMES[card] for card in self.room if card >= 0]
            below = [_NAMES[self.under[place & _SLOTS]] for place in range(self.first, self.end)]
            weapon = f"weapon {self.weapon}, good for monsters up to {self.reach}" if self.weapon else "no weapon"
            above = f"{popcount(self.unseen)} unseen cards"
            known = f", under them {' '.join(below)}" if below else ""
            return f"health {self.health}, {weapon}\nroom: {' '.join(cards) or 'empty'}\ndeck: {above}{known}"

        def move_text(self, action: int) -> str:
            if self.dealing:
                return _NAMES[action]
            return "avoid" if action == _AVOID else _NAMES[action // 3] + _WAYS[action % 3]

        def parse_move(self, text: str) -> int:
            name, colon, way = text.upper().partition(":")
            if name == "AVOID":
                return _AVOID
            card = _NAMES.index(name)
            return card if self.dealing else 3 * card + _WAYS.index((colon + way).lower())

    return Scoundrel  # type: ignore[return-value]  # mypy does not see what a class decorator returns
