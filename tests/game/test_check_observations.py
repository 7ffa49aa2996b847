"""The conformance check of observations and symmetries: right games pass, and wrong ones are found with a short game."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treetop as tt
from tests.all_kinds import Drift, Press, Secret, changed

TICKS = np.zeros(1)


@tt.game(players=2, num_actions=4, max_length=4, observation_shape=(3, 4), symmetries=2)
class Row:
    """The players take turns to mark one of four cells in a row; two neighbouring marks of one player win."""

    cells = tt.field("i1", 4)
    player = tt.field("i1")
    left = tt.field("i1")
    won = tt.field("bool")

    def reset(self):
        self.cells[:] = 0
        self.player, self.left, self.won = 0, 4, False

    def legal_actions(self, out):
        count = 0
        for cell in range(4):
            if self.cells[cell] == 0:
                out[count] = cell
                count += 1
        return count

    def apply(self, action):
        mark = 1 + self.player
        self.cells[action] = mark
        self.won = (action > 0 and self.cells[action - 1] == mark) or (action < 3 and self.cells[action + 1] == mark)
        self.left -= 1
        self.player = 1 - self.player

    def is_terminal(self):
        return self.won or self.left == 0

    def rewards(self, out):
        out[self.player] = -1.0 if self.won else 0.0
        out[1 - self.player] = -out[self.player]

    def observe(self, player, out):
        for cell in range(4):
            out[0, cell] = self.cells[cell] == 1 + player
            out[1, cell] = self.cells[cell] == 2 - player
            out[2, cell] = player == self.player

    def transform(self, symmetry):
        if symmetry == 1:
            for cell in range(2):
                other = self.cells[cell]
                self.cells[cell] = self.cells[3 - cell]
                self.cells[3 - cell] = other

    def transform_action(self, symmetry, action):
        return 3 - action if symmetry == 1 else action


@tt.game(players=1, num_actions=2, max_length=6, num_outcomes=3, rewards=(-3, 3), symmetries=2)
class Walk:
    """Three steps to the left or to the right, and after each a gust of wind to the left, none, or to the right."""

    place = tt.field("i1")
    steps = tt.field("i1")
    blowing = tt.field("bool")
    gain = tt.field("i1")

    def reset(self):
        self.place, self.steps, self.blowing, self.gain = 0, 0, False, 0

    def current_player(self):
        return tt.CHANCE if self.blowing else 0

    def legal_actions(self, out):
        out[0], out[1] = 0, 1
        return 2

    def chance_outcomes(self, actions, probabilities):
        for gust in range(3):
            actions[gust] = gust
        probabilities[0], probabilities[1], probabilities[2] = 0.25, 0.5, 0.25
        return 3

    def apply(self, action):
        self.gain = 0
        if self.blowing:
            self.place += action - 1
            self.gain = 1 if self.place == 0 else 0
        else:
            self.place += 2 * action - 1
            self.steps += 1
        self.blowing = not self.blowing

    def is_terminal(self):
        return self.steps == 3 and not self.blowing

    def step_rewards(self, out):
        out[0] = self.gain

    def rewards(self, out):
        pass

    def transform(self, symmetry):
        if symmetry == 1:
            self.place = -self.place

    def transform_action(self, symmetry, action):
        return 1 - action if symmetry == 1 else action

    def transform_outcome(self, symmetry, outcome):
        return 2 - outcome if symmetry == 1 else outcome


def broken(base, **changes):
    facts = {"observation_shape": base.facts.observation_shape, "symmetries": base.facts.symmetries}
    changes["facts"] = {name: value for name, value in facts.items() if value} | changes.get("facts", {})
    with pytest.raises(tt.errors.ConformanceError) as caught:
        tt.check(changed(base, **changes), games=60)
    return str(caught.value)


@pytest.mark.parametrize("game", [Row, Walk], ids=str)
def test_right_observations_and_symmetries_pass(game):
    report = tt.check(game, games=100, seed=5)
    assert "a transformed game is a game with the same players" in str(report)
    assert ("observe writes finite numbers" in str(report)) == game.has("observe")
    assert "hidden from the player" not in str(report)


# Observations.


def test_a_number_that_is_not_finite_is_found_with_the_shortest_game():
    def observe(self, player, out):
        out[1, 2] = math.inf if self.cells[3] == 2 and player == 1 else 0.0

    text = broken(Row, observe=observe)
    assert "observe wrote inf at [1, 2] for player 1; write finite numbers only" in text
    assert "def observe" in text
    assert text.count("found after the moves") == 1
    assert "3 (actions [" in text.splitlines()[-2]
    assert len(text.splitlines()[-2].partition("[")[2].split(",")) == 2


def test_an_observation_that_depends_on_more_than_the_state_is_found():
    def observe(self, player, out):
        TICKS[0] += 1
        out[0, 0] = TICKS[0]

    text = broken(Row, observe=observe)
    assert "observe for player 0 writes 1 at [0, 0], and 2 in a second call for the same state" in text
    assert "must depend on nothing but the state and the player" in text


def test_an_observation_beyond_its_shape_is_found_with_the_shape():
    def observe(self, player, out):
        out[0, 4] = 1.0

    text = broken(Row, observe=observe)
    assert "observe fails: IndexError" in text
    assert "the array to fill has observation_shape = (3, 4)" in text
    assert "out[0, 4] = 1.0" in text


def test_an_observation_that_changes_the_state_is_found():
    def observe(self, player, out):
        self.left = 3

    assert "observe changed the state" in broken(Row, observe=observe)


def test_an_observation_that_sums_up_passes_because_the_array_is_zero_before():
    def observe(self, player, out):
        for cell in range(4):
            out[0, cell] += self.cells[cell]

    tt.check(changed(Row, observe=observe, facts={"observation_shape": (3, 4)}), games=5)


def test_a_compiled_observation_that_differs_is_found(monkeypatch):
    game = changed(Row)
    engine = game.engine(bounds_checked=True)
    tt.check(game, games=2)

    def observe(self, player, out):
        out[0, 1] = 0.5

    monkeypatch.setattr(game.cls, "observe", observe)
    monkeypatch.setattr(game, "engine", lambda bounds_checked=False: engine)
    with pytest.raises(
        tt.errors.ConformanceError, match=r"observe differs between the modes: for player 0 it writes 0.5"
    ):
        tt.check(game, games=5)


def test_an_observation_of_hidden_information_is_found():
    def leaking(self, player, out):
        out[0] = self.card

    def right(self, player, out):
        out[0] = self.card if player == 0 else 0
        out[1] = self.said

    tt.check(changed(Secret, observe=right, facts={"observation_shape": (2,)}), games=50)
    text = broken(Secret, observe=leaking, facts={"observation_shape": (2,)})
    assert "observe writes nothing that is hidden from the player" in text.splitlines()[0]
    assert "observe for player 1 writes " in text
    assert (
        "after determinize, which changes only what is hidden from player 1; write only what the player knows" in text
    )
    assert "found after the start, before any move" in text


# Symmetries.


def test_a_transform_that_forgets_a_field_is_found():
    def transform(self, symmetry):
        if symmetry == 1:
            self.cells[0], self.cells[3] = self.cells[3], self.cells[0]

    text = broken(Row, transform=transform)
    assert "action 2 and then transform by symmetry 1 must give the same state as transform and then action 1" in text
    assert "to which transform_action maps it; but cells is [0, 0, 1, 0] and [0, 1, 0, 0]" in text
    assert "def transform" in text
    assert "found after the start" in text


def test_an_action_that_is_mapped_wrongly_is_found():
    text = broken(Row, transform_action=lambda self, symmetry, action: action)
    assert "action 2 and then transform by symmetry 1 must give the same state as transform and then action 2" in text
    assert "one of the two methods is wrong" in text
    text = broken(Row, transform_action=lambda self, symmetry, action: (action + symmetry) % 4)
    assert "action 2 and then transform by symmetry 1 must give the same state as transform and then action 3" in text


def test_legal_actions_that_do_not_agree_are_found():
    def legal_actions(self, out):
        out[0], out[1] = 0, 1
        return 1 if self.left == 4 else 2

    text = broken(Row, legal_actions=legal_actions)
    assert "after transform by symmetry 1 the legal actions are [0], and transform_action maps those" in text
    assert "of the state, [0], to [3]; both must agree" in text
    assert "def transform_action" in text


@pytest.mark.parametrize(
    ("images", "what"),
    [
        ((0, 0, 2, 3), "maps both action 0 and action 1 to 0 by symmetry 1; it must map different actions"),
        ((0, 1, 2, 4), "maps action 3 to 4 by symmetry 1; actions are 0 to 3"),
        ((0, 1, 2, -1), "maps action 3 to -1 by symmetry 1"),
    ],
)
def test_actions_that_are_not_permuted_are_found(images, what):
    def transform_action(self, symmetry, action):
        return images[action] if symmetry == 1 else action

    assert f"transform_action {what}" in broken(Row, transform_action=transform_action)


def test_an_action_that_is_no_number_and_one_that_changes_the_state_are_found():
    def changing(self, symmetry, action):
        self.left = 1
        return action

    assert "transform_action returned 0.5; it must return an action" in broken(
        Row, transform_action=lambda self, symmetry, action: 0.5
    )
    assert "transform_action changed the state" in broken(Row, transform_action=changing)


def test_symmetry_0_must_be_the_identity():
    def transform(self, symmetry):
        self.cells[0] = 2

    text = broken(Row, transform=transform)
    assert "transform by symmetry 0 changes the state: cells is [0, 0, 0, 0] and [2, 0, 0, 0]" in text
    text = broken(Row, transform_action=lambda self, symmetry, action: 3 - action)
    assert "transform_action maps 0 to 3 by symmetry 0; symmetry 0 must be the identity" in text


def test_a_symmetry_must_keep_the_initial_state():
    def reset(self):
        self.cells[:] = 0
        self.cells[0] = 2
        self.player, self.left, self.won = 0, 3, False

    text = broken(Row, reset=reset)
    assert "transform by symmetry 1 changes the initial state: cells is [2, 0, 0, 0] and [0, 0, 0, 2]" in text
    assert "leave out those that do not keep the initial state" in text


def test_a_symmetry_must_keep_player_end_and_rewards():
    def current_player(self):
        return 1 if self.cells[0] == 1 else self.player

    def ends(self):
        return self.won or self.left == 0 or (self.left < 4 and self.cells[0] == 1)

    def rewards(self, out):
        out[0] = 1.0 if self.cells[0] == 1 else -1.0
        out[1] = -out[0]

    text = broken(Row, current_player=current_player)
    assert "transform by symmetry 1 changes current_player from 0 to 1; a symmetry keeps it" in text
    text = broken(Row, is_terminal=ends)
    assert "transform by symmetry 1 changes is_terminal from False to True; a symmetry keeps it" in text
    assert "found after the moves 3 (actions [3])" in text
    assert "transform by symmetry 1 changes rewards from " in broken(Row, rewards=rewards)


def test_a_transform_that_leads_to_a_state_in_which_methods_fail_is_found():
    def deal(self, rng):
        self.left = 4

    def legal_actions(self, out):
        count = 0
        for cell in range(4):
            if 1 // (1 + self.cells[cell]) == 1:
                out[count] = cell
                count += 1
        return count

    def transform(self, symmetry):
        self.cells[0] -= symmetry

    text = broken(Row, deal=deal, legal_actions=legal_actions, transform=transform)
    assert "transform by symmetry 1 leads to a wrong state, in which legal_actions fails: ZeroDivisionError" in text


def test_outcomes_that_are_not_mapped_are_found():
    def chance_outcomes(self, actions, probabilities):
        for gust in range(3):
            actions[gust] = gust
        probabilities[0], probabilities[1], probabilities[2] = 0.25, 0.25, 0.5
        return 3

    text = broken(Walk, transform_outcome=lambda self, symmetry, outcome: outcome)
    assert "outcome 2 and then transform by symmetry 1 must give the same state as transform and then outcome 2" in text
    text = broken(Walk, chance_outcomes=chance_outcomes)
    assert (
        "after transform by symmetry 1 the outcomes and their probabilities are [(0, 0.25), (1, 0.25), (2, 0.5)]"
        in text
    )
    assert "transform_outcome maps those of the state to [(0, 0.5), (1, 0.25), (2, 0.25)]" in text
    text = broken(Walk, transform_outcome=lambda self, symmetry, outcome: 0)
    assert "transform_outcome maps both outcome 0 and outcome 1 to 0" in text


def test_a_symmetry_must_keep_immediate_rewards():
    def apply(self, action):
        self.gain = 0
        if self.blowing:
            self.place += action - 1
        else:
            self.place += 2 * action - 1
            self.steps += 1
        self.blowing = not self.blowing

    def step_rewards(self, out):
        out[0] = 0.5 if self.place > 0 else 0.0

    assert "changes step_rewards from [" in broken(Walk, apply=apply, step_rewards=step_rewards)


def test_a_compiled_transform_that_differs_is_found(monkeypatch):
    game = changed(Row)
    engine = game.engine(bounds_checked=True)

    def transform(self, symmetry):
        self.left = 4 - symmetry

    monkeypatch.setattr(game.cls, "transform", transform)
    monkeypatch.setattr(game, "engine", lambda bounds_checked=False: engine)
    with pytest.raises(tt.errors.ConformanceError, match="transform differs between the modes: left is 3 interpreted"):
        tt.check(game, games=5)


# The definition.


@pytest.mark.parametrize(
    ("base", "changes", "text"),
    [
        (Secret, {"observe": lambda self, player, out: None}, "has observe but lacks observation_shape="),
        (Secret, {"facts": {"observation_shape": (3,)}}, "has observation_shape but lacks the method observe"),
        (
            Secret,
            {"transform": lambda self, symmetry: None, "transform_action": lambda self, symmetry, action: action},
            "has transform but lacks symmetries=",
        ),
        (Secret, {"facts": {"symmetries": 2}}, "has symmetries but lacks the method transform"),
        (Press, {"transform_outcome": lambda self, symmetry, outcome: 0}, "has transform_outcome but lacks transform"),
        (
            Drift,
            {
                "transform": lambda self, symmetry: None,
                "transform_action": lambda self, symmetry, action: action,
                "facts": {"symmetries": 2},
            },
            "continuous actions",
        ),
    ],
)
def test_facts_and_methods_that_belong_together_are_needed_together(base, changes, text):
    with pytest.raises(tt.errors.GameDefinitionError, match=text):
        changed(base, **changes)
