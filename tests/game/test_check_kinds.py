"""The conformance check of games with chance, immediate rewards, simultaneous moves, real numbers, deals and secrets."""

from __future__ import annotations

import math

import pytest

import treetop as tt
from tests.all_kinds import Drift, Hands, Press, Secret, changed


def broken(base, **changes):
    with pytest.raises(tt.errors.ConformanceError) as caught:
        tt.check(changed(base, **changes), games=60)
    return str(caught.value)


@pytest.mark.parametrize("game", [Press, Hands, Drift, Secret], ids=str)
def test_good_games_of_every_kind_pass(game):
    report = tt.check(game, games=100, seed=5)
    assert report.longest <= game.facts.max_length


def test_the_report_lists_the_requirements_of_the_kind():
    assert "determinize keeps" in str(tt.check(Secret, games=5))
    assert "determinize" not in str(tt.check(Press, games=5))
    assert "outcomes of chance" in str(tt.check(Press, games=5))


# Chance.


def outcomes(ids, chances):
    count = len(ids)

    def chance_outcomes(self, actions, probabilities):
        for index in range(count):
            actions[index] = ids[index]
            probabilities[index] = chances[index]
        return count

    return chance_outcomes


@pytest.mark.parametrize(
    ("ids", "chances", "what"),
    [
        ((0, 1), (0.5, 0.4), "sum to 0.9, not to 1"),
        (
            (0, 1, 2),
            (0.5, 0.5, 0.0),
            "the outcome 2 has the probability 0; list only outcomes with positive probabilities",
        ),
        ((0, 1, 2), (0.75, 0.5, -0.25), "the outcome 2 has the probability -0.25"),
        ((0, 1), (0.5, math.nan), "the outcome 1 has the probability nan"),
        ((0, 0), (0.5, 0.5), "chance_outcomes gave 0 twice"),
        ((0, 3), (0.5, 0.5), "chance_outcomes gave 3; outcomes are 0 to 2"),
    ],
)
def test_wrong_probabilities_and_outcomes_are_found(ids, chances, what):
    text = broken(Press, chance_outcomes=outcomes(ids, chances))
    assert what in text
    assert "found after the moves roll (actions [0])" in text
    assert "def chance_outcomes" in text


def test_no_outcome_is_found():
    assert "gave 0 outcomes; there must be 1 to 3 (num_outcomes)" in broken(
        Press, chance_outcomes=lambda self, actions, probabilities: 0
    )


def test_names_of_outcomes_are_used_and_read_back():
    dice = changed(Press, outcome_text=lambda self, outcome: f"{outcome + 1}")
    place = tt.position(dice, moves="roll")
    assert place.legal_moves() == ["1", "2", "3"]
    assert place.play("3").actions == (0, 2)
    assert place.play("3").moves() == ["roll", "3"]
    assert place.parse_move("1") == 0
    with pytest.raises(tt.errors.IllegalMoveError, match="the legal moves are 1, 2, 3"):
        place.play("0")
    assert tt.position(dice).legal_moves() == tt.position(Press).legal_moves()
    tt.check(dice, games=20)


def test_names_of_outcomes_that_are_not_unique_or_fail_are_found():
    text = broken(Press, outcome_text=lambda self, outcome: "die")
    assert "the outcomes 0 and 1 have the same name 'die'" in text
    assert "outcome_text fails: IndexError" in broken(Press, outcome_text=lambda self, outcome: "ab"[outcome])


def test_a_right_draw_passes_and_a_wrong_one_is_found():
    def right(self, rng):
        drawn = rng.random()
        return 0 if drawn < 0.5 else 1 if drawn < 0.8 else 2

    def missing(self, rng):
        return 5

    tt.check(changed(Press, random_outcome=right), games=40)
    assert "random_outcome returned 5, which is not among the outcomes [0, 1, 2]" in broken(
        Press, random_outcome=missing
    )
    assert "its probability is 0." in broken(Press, random_outcome=lambda self, rng: rng.below(3))


def test_chance_in_a_game_without_chance_is_a_wrong_player():
    text = broken(Secret, current_player=lambda self: -1 if self.said == 1 else self.player)
    assert "current_player gave -1; players are 0 to 1" in text
    assert "(actions [1])" in text


# Immediate rewards.


def test_whole_returns_out_of_range_are_found():
    text = broken(Press, facts={"rewards": (0, 6)})
    assert "the total rewards are [" in text
    assert "between 0 and 6" in text


def test_immediate_rewards_that_are_not_finite_are_found():
    def step_rewards(self, out):
        out[0] = math.inf if self.rolls == 2 else 1.0

    text = broken(Press, step_rewards=step_rewards)
    assert "immediate rewards are [inf]" in text
    assert "def step_rewards" in text


def test_immediate_rewards_count_for_the_zero_sum():
    def step_rewards(self, out):
        out[0] = 0.5

    assert "total rewards [" in broken(Hands, step_rewards=step_rewards)


def test_immediate_rewards_that_change_the_state_are_found():
    def step_rewards(self, out):
        out[0] = self.gain
        self.gain = 0

    assert "step_rewards changed the state" in broken(Press, step_rewards=step_rewards)


# All at once.


def test_wrong_actions_of_one_player_are_found():
    def legal_actions_of(self, player, out):
        out[0] = 0
        out[1] = 3 if self.rounds == 1 and player == 1 else 1
        return 2

    text = broken(Hands, legal_actions_of=legal_actions_of)
    assert "legal_actions_of(1) gave 3; actions are 0 to 2" in text
    assert "def legal_actions_of" in text
    assert "rounds=1" in text
    assert "legal_actions_of(0) gave 0 actions" in broken(Hands, legal_actions_of=lambda self, player, out: player)


def test_joint_actions_that_fail_are_found_with_the_line():
    def apply_joint(self, actions):
        self.rounds += 1
        self.lead += 4 // (actions[0] - 1)

    text = broken(Hands, apply_joint=apply_joint)
    assert "apply_joint((1, " in text
    assert "zero" in text
    assert "self.lead += 4 // (actions[0] - 1)" in text


def test_names_that_could_not_be_distinguished_in_a_joint_move_are_found():
    assert "nor a slash in positions with simultaneous moves" in broken(
        Hands, move_text=lambda self, action: f"{action}/"
    )


# Real numbers.


def test_drawn_numbers_that_are_not_finite_are_found():
    def sample_action(self, rng, out):
        out[0] = rng.random()
        out[1] = math.nan if self.steps == 1 else 0.0

    text = broken(Drift, sample_action=sample_action)
    assert "the numbers must be finite" in text
    assert "found after the moves 0." in text


def test_numbers_that_a_game_cannot_take_are_found_with_the_line():
    def apply_vector(self, values):
        self.steps += 1
        self.x += values[2]

    text = broken(Drift, apply_vector=apply_vector)
    assert "IndexError" in text
    assert "self.x += values[2]" in text


# Deals and secrets.


def test_a_deal_that_fails_is_found_with_its_line():
    def deal(self, rng):
        self.card = 200 + rng.below(2)

    text = broken(Secret, deal=deal)
    assert "deal fails" in text
    assert "self.card = 200 + rng.below(2)" in text


def test_a_failure_after_a_deal_shows_the_deal():
    def apply(self, action):
        self.player = 1 - self.player
        if self.player == 1:
            self.said = action
        else:
            self.guess = 3 // self.card if self.card == 0 else action

    text = broken(Secret, apply=apply)
    assert "dealt: Changed(card=0" in text
    assert "ZeroDivisionError" in text


@pytest.mark.parametrize(
    ("determinize", "what"),
    [
        ("self.said = -1", "changed that player's information"),
        ("self.player = 1 - self.player", "changed the player to move from"),
        ("self.guess = 1", "changed whether the game is over from False to True"),
        ("self.card = 1 - self.card", "for player 0 changed that player's information"),
    ],
)
def test_determinize_that_touches_what_a_player_knows_is_found(determinize, what):
    scope: dict[str, object] = {}
    exec(f"def determinize(self, player, rng):\n    {determinize}", scope)
    assert what in broken(Secret, determinize=scope["determinize"])


def test_determinize_that_changes_a_players_own_actions_is_found():
    def legal_actions(self, out):
        out[0] = 0
        out[1] = 1
        return 2 if self.card == 0 or self.player == 0 else 1

    assert "for player 1 changed that player's legal actions from [" in broken(Secret, legal_actions=legal_actions)


def test_information_that_merges_different_histories_is_found():
    def two_cards_alike(self, player):
        return 100 * player + 3 * (self.said + 1) + self.guess + 1

    def legal_actions(self, out):
        out[0] = 1
        out[1] = 0
        return 2 if self.card == 0 or self.player == 1 else 1

    text = broken(Secret, information=two_cards_alike, legal_actions=legal_actions)
    assert "two positions with the same information for player 0" in text
    assert "have different legal actions" in text


def test_information_that_forgets_is_found():
    @tt.game(players=2, num_actions=2, max_length=3)
    class Forgetful(Secret):
        turn = tt.field("i1")

        def apply(self, action):
            self.turn += 1
            if self.turn == 3:
                self.guess = action

        def information(self, player):
            return self.turn

    with pytest.raises(
        tt.errors.ConformanceError, match="two positions with the same information .* have different histories"
    ):
        tt.check(Forgetful, games=50)


def test_modes_that_draw_differently_are_found():
    game = changed(Secret)
    engine = game.engine(bounds_checked=True)

    def determinize(self, player, rng):
        if player == 1:
            self.card = 1 - rng.below(2)

    tt.check(game, games=5)
    game.cls.determinize = determinize
    game.engine = lambda bounds_checked=False: engine
    with pytest.raises(
        tt.errors.ConformanceError, match="determinize differs between the modes: card is . interpreted and . compiled"
    ):
        tt.check(game, games=50)
