"""Small games of every kind, as users write them, for tests: chance, immediate rewards, simultaneous moves, real numbers, deals, secrets."""

from __future__ import annotations

import treetop as tt
from tests.own_games import start


@tt.game(players=1, num_actions=2, max_length=12, num_outcomes=3, rewards=(0, 30))
class Press:
    """Roll a loaded three-sided die for its points, at most six times, or stop and take two points; after a 3 the game is over."""

    rolls = tt.field("i1")
    rolling = tt.field("bool")
    over = tt.field("bool")
    gain = tt.field("i1")

    def reset(self):
        self.rolls, self.rolling, self.over, self.gain = 0, False, False, 0

    def current_player(self):
        return tt.CHANCE if self.rolling else 0

    def legal_actions(self, out):
        out[0], out[1] = 0, 1
        return 2

    def apply(self, action):
        self.gain = 0
        if self.rolling:
            self.gain = action + 1
            self.rolls += 1
            self.rolling = False
            self.over = action == 2 or self.rolls == 6
        elif action == 0:
            self.rolling = True
        else:
            self.over = True

    def chance_outcomes(self, actions, probabilities):
        for side in range(3):
            actions[side] = side
        probabilities[0], probabilities[1], probabilities[2] = 0.5, 0.3, 0.2
        return 3

    def is_terminal(self):
        return self.over

    def step_rewards(self, out):
        out[0] = self.gain

    def rewards(self, out):
        out[0] = 2.0 if not self.rolling and self.gain == 0 else 0.0

    def key(self):
        return self.rolls * 16 + int(self.rolling) * 8 + int(self.over) * 4 + self.gain

    def move_text(self, action):
        return f"side{action + 1}" if self.rolling else ("roll", "stop")[action]


@tt.game(players=2, num_actions=3, max_length=2, rewards=(-4, 4))
class Hands:
    """Both show one to three fingers at once, twice; player 1 has but two. The even sum is player 0's, the odd one player 1's."""

    lead = tt.field("i1")
    rounds = tt.field("i1")

    def reset(self):
        self.lead, self.rounds = 0, 0

    def current_player(self):
        return tt.SIMULTANEOUS

    def legal_actions_of(self, player, out):
        for action in range(3 - player):
            out[action] = action
        return 3 - player

    def apply_joint(self, actions):
        self.lead += 2 if (actions[0] + actions[1]) % 2 == 0 else -2
        self.rounds += 1

    def is_terminal(self):
        return self.rounds == 2

    def rewards(self, out):
        out[0], out[1] = self.lead, -self.lead

    def move_text(self, action):
        return ("one", "two", "three")[action]


@tt.game(players=2, num_actions=3, max_length=1, rewards=(-20, 20))
class Matrix:
    """Both players choose one of at most three actions at once; the payoffs of player 0 are fields, so one game serves for all matrices."""

    payoffs = tt.field("f8", (3, 3))
    choices = tt.field("i1")
    chosen = tt.field("i1")  # -1, or 3 * the action of player 0 + that of player 1

    def reset(self):
        self.payoffs[:, :] = 0.0
        self.choices = 3
        self.chosen = -1

    def current_player(self):
        return tt.SIMULTANEOUS

    def legal_actions_of(self, player, out):
        for action in range(self.choices):
            out[action] = action
        return self.choices

    def apply_joint(self, actions):
        self.chosen = 3 * actions[0] + actions[1]

    def is_terminal(self):
        return self.chosen >= 0

    def rewards(self, out):
        out[0] = self.payoffs[self.chosen // 3, self.chosen % 3]
        out[1] = -out[0]


def matching_pennies(weight):
    """A matrix: two heads are worth `weight` to player 0, two tails 1; player 1 receives 1 if the sides differ."""
    return start(Matrix, payoffs=((weight, -1.0, 0.0), (-1.0, 1.0, 0.0), (0.0, 0.0, 0.0)), choices=2)


def rock_paper_scissors(rock, paper, scissors):
    """A matrix: rock beats scissors, paper beats rock and scissors beat paper, each for its own stake."""
    return start(Matrix, payoffs=((0.0, -paper, rock), (paper, 0.0, -scissors), (-rock, scissors, 0.0)))


@tt.game(players=1, max_length=4, action_size=2, rewards=(-40, 0))
class Drift:
    """Four steps in the plane, each of at most one in either direction, from (3, -2) towards the origin."""

    x = tt.field("f8")
    y = tt.field("f8")
    steps = tt.field("i1")

    def reset(self):
        self.x, self.y, self.steps = 3.0, -2.0, 0

    def sample_action(self, rng, out):
        out[0] = 2.0 * rng.random() - 1.0
        out[1] = 2.0 * rng.random() - 1.0

    def apply_vector(self, values):
        self.x += min(1.0, max(-1.0, values[0]))
        self.y += min(1.0, max(-1.0, values[1]))
        self.steps += 1

    def is_terminal(self):
        return self.steps == 4

    def step_rewards(self, out):
        out[0] = -abs(self.x) - abs(self.y)

    def rewards(self, out):
        out[0] = 0.0


@tt.game(players=2, num_actions=2, max_length=2)
class Secret:
    """Player 0 is dealt a card, 0 or 1, and says `low` or `high`; player 1 has not seen it and guesses it."""

    card = tt.field("i1")
    said = tt.field("i1")
    guess = tt.field("i1")
    player = tt.field("i1")

    def reset(self):
        self.card, self.said, self.guess, self.player = 0, -1, -1, 0

    def deal(self, rng):
        self.card = rng.below(2)

    def legal_actions(self, out):
        out[0], out[1] = 0, 1
        return 2

    def apply(self, action):
        if self.player == 0:
            self.said = action
        else:
            self.guess = action
        self.player = 1 - self.player

    def is_terminal(self):
        return self.guess >= 0

    def rewards(self, out):
        out[1] = 1.0 if self.guess == self.card else -1.0
        out[0] = -out[1]

    def determinize(self, player, rng):
        if player == 1:
            self.card = rng.below(2)

    def information(self, player):
        return 100 * player + 10 * (self.card if player == 0 else 0) + 3 * (self.said + 1) + self.guess + 1

    def render_for(self, player):
        return f"card {self.card if player == 0 else '?'}, said {self.said}"


@tt.game(players=1, max_length=2, rewards=(-4.2, 2), action_size=2)
class Aim:
    """Two shots from -1 to 1, each with a spin that costs a little; a shot is worth 1 less the squared distance from its target.

    The second target lies where the first shot went. A sore arm, if there is one, fails while it draws the second shot.
    """

    shots = tt.field("i1")
    sore = tt.field("bool")
    first = tt.field("f8")
    worth = tt.field("f8")

    def reset(self):
        self.shots, self.sore, self.first, self.worth = 0, False, 0.0, 0.0

    def current_player(self):
        return 0

    def sample_action(self, rng, out):
        out[0] = 2.0 * rng.random() - 1.0
        if self.sore and self.shots == 1 and out[0] > 0.97:
            raise ValueError("a sore arm")
        out[1] = rng.random()

    def apply_vector(self, values):
        target = 0.4 if self.shots == 0 else self.first
        self.worth += 1.0 - (values[0] - target) * (values[0] - target) - 0.1 * values[1] * values[1]
        self.first = values[0]
        self.shots += 1

    def is_terminal(self):
        return self.shots == 2

    def rewards(self, out):
        out[0] = self.worth


def changed(base, **changes):
    """A good game of some kind, with a few methods changed for the worse."""
    facts = base.facts
    numbers = {
        "players": facts.players,
        "num_actions": facts.num_actions,
        "max_length": facts.max_length,
        "rewards": facts.rewards,
        "num_outcomes": facts.num_outcomes,
        "action_size": facts.action_size,
        **changes.pop("facts", {}),
    }
    return tt.game(**numbers)(type("Changed", (base.cls,), changes))
