"""The conformance check finds what games get wrong, and shows a short game that has it."""

from __future__ import annotations

import pytest

import treetop as tt
from treetop.game.contract import requirements_of


def counting(**changes):
    """A good game, with a few methods changed for the worse: count down from 6 by one or two."""

    def reset(self):
        self.n = 6

    def legal_actions(self, out):
        out[0] = 0
        if self.n > 1:
            out[1] = 1
            return 2
        return 1

    def apply(self, action):
        self.n -= action + 1
        self.player = 1 - self.player

    def is_terminal(self):
        return self.n <= 0

    def rewards(self, out):
        out[self.player] = -1.0
        out[1 - self.player] = 1.0

    body = {
        "n": tt.field("i1"),
        "player": tt.field("i1"),
        "row": tt.field("i1", 4),
        "reset": reset,
        "legal_actions": legal_actions,
        "apply": apply,
        "is_terminal": is_terminal,
        "rewards": rewards,
    }
    facts = {"players": 2, "num_actions": 2, "max_length": changes.pop("max_length", 6), **changes.pop("facts", {})}
    return tt.game(**facts)(type("Counting", (), {**body, **changes}))


def broken(**changes):
    with pytest.raises(tt.errors.ConformanceError) as caught:
        tt.check(counting(**changes), games=200)
    return str(caught.value)


def test_a_good_game_passes():
    report = tt.check(counting(), games=100, seed=3)
    assert report.games == 100
    assert report.longest <= 6
    assert "meets all requirements" in str(report)
    assert report.to_dict()["moves"] == report.moves


def test_a_name_almost_like_that_of_an_optional_method_is_noted_unless_a_method_uses_it():
    def helper(self):
        return self.n

    def summary(self):
        return {"left": self.rendr()}

    assert "note: is `rendr` meant to be `render`? No method uses it" in str(tt.check(counting(rendr=helper), games=5))
    assert tt.check(counting(rendr=helper, summary=summary), games=5).notes == ()


def test_a_negative_index_is_noted_with_its_line_unless_it_is_written_as_a_number():
    def is_terminal(self):
        return self.n <= 0 or self.row[(self.n - 6) // 2] > 0

    (note,) = tt.check(counting(is_terminal=is_terminal), games=5).notes
    assert note.startswith("a negative index counts from the end: ")
    assert "test_check.py, line " in note
    assert "self.row[(self.n - 6) // 2] > 0" in note

    def literal(self):
        return self.n <= 0 or self.row[-1] > 0

    assert tt.check(counting(is_terminal=literal), games=5).notes == ()


def test_progress_is_reported():
    seen = []
    tt.check(counting(), games=50, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (50, 50)


def test_games_must_be_a_number():
    with pytest.raises(tt.errors.ConfigError):
        tt.check("nim", games=0)


def test_too_long_a_game_is_found():
    text = broken(max_length=4)
    assert "max_length = 4 moves: raise it, or correct is_terminal, or legal_actions if it lists moves that" in text
    assert len(text.split("(actions [")[1].split("]")[0].split(",")) == 4


def test_an_action_out_of_range_is_found():
    def legal_actions(self, out):
        out[0] = 0
        if self.n == 4:
            out[0] = 2
        return 1

    text = broken(legal_actions=legal_actions)
    assert "legal_actions gave 2; actions are 0 to 1" in text
    assert "actions [0, 0]" in text


def test_the_same_action_twice_is_found():
    def legal_actions(self, out):
        out[0] = 0
        out[1] = 0
        return 2

    assert "gave 0 twice" in broken(legal_actions=legal_actions)


def test_no_action_and_too_many_actions_are_found():
    assert "gave 0 actions" in broken(legal_actions=lambda self, out: 0)
    assert "gave 3 actions" in broken(legal_actions=lambda self, out: 3)


def test_writing_past_the_end_is_found_with_the_line():
    def legal_actions(self, out):
        for action in range(3):
            out[action] = action
        return 2

    text = broken(legal_actions=legal_actions)
    assert "IndexError" in text
    assert "the array to fill has num_actions = 2 entries" in text
    assert "out[action] = action" in text


def test_a_wrong_player_is_found():
    def apply(self, action):
        self.n -= action + 1
        self.player += 1

    text = broken(apply=apply)
    assert "current_player gave 2; players are 0 to 1" in text
    assert len(text.split("(actions [")[1].split("]")[0].split(",")) == 2


def test_rewards_out_of_range_not_finite_or_not_adding_up_are_found():
    def set_to(first, second):
        def rewards(self, out):
            out[0] = first
            out[1] = second

        return rewards

    assert "must lie between -1 and 1" in broken(rewards=set_to(2.0, -2.0))
    assert "must lie between" in broken(rewards=set_to(float("nan"), 0.0))
    assert "must lie between" in broken(rewards=set_to(float("inf"), 0.0))
    assert "do not sum to zero" in broken(rewards=set_to(1.0, 1.0))


def test_modes_that_differ_are_found():
    def apply(self, action):
        self.n -= action + 1
        self.player = 1 - self.player
        if self.n == 2:
            self.row[0] = int(DIFFERENT[0])  # noqa: F821 - set below

    import numpy as np

    table = np.zeros(1)
    globals()["DIFFERENT"] = table
    game = counting(apply=apply)
    tt.check(game, games=5)  # compiled with a zero in the table
    engine = game.engine(bounds_checked=True)
    table[0] = 1.0
    game.engine = lambda bounds_checked=False: engine  # and now the interpreted table says something else
    with pytest.raises(tt.errors.ConformanceError, match="row is .* interpreted and .* compiled") as caught:
        tt.check(game, games=50)
    assert "def apply" in str(caught.value)


def test_a_question_that_changes_the_state_is_found():
    def is_terminal(self):
        self.row[1] = 1
        return self.n <= 0

    assert "changed the state" in broken(is_terminal=is_terminal)


def test_an_end_that_is_neither_true_nor_false_is_found():
    assert "it must return True or False on every path" in broken(is_terminal=lambda self: self.row == 1)


def test_only_requirements_of_methods_that_a_game_has_are_listed():
    def listed(game, word):
        return any(word in text for text in requirements_of(game))

    assert not listed(counting(), "heuristic")
    assert listed(tt.load_game("connect_four"), "heuristic")
    chance = {"chance_outcomes": lambda self, actions, chances: 0, "facts": {"num_outcomes": 2}}
    assert listed(counting(**chance), "outcomes of chance")
    assert not listed(counting(**chance), "random_outcome")
    assert listed(tt.load_game("pig"), "random_outcome")


def test_a_method_that_fails_is_found_with_its_line():
    def apply(self, action):
        self.n -= action + 1
        self.player = 1 - self.player
        self.row[0] = 12 // (self.n - 3)

    text = broken(apply=apply)
    assert "ZeroDivisionError" in text
    assert "self.row[0] = 12 // (self.n - 3)" in text
    # Three are left after one and two, in either order; the second of them fails.
    assert ("apply(1) fails" in text and "actions [0]" in text) or ("apply(0) fails" in text and "actions [1]" in text)


def test_a_store_that_does_not_fit_is_found():
    def apply(self, action):
        self.n -= action + 1
        self.player = 1 - self.player
        self.row[2] = 300

    assert "300 does not fit" in broken(apply=apply)


def test_a_random_action_that_is_illegal_or_uneven_is_found():
    assert "not among the legal actions" in broken(random_action=lambda self, rng: rng.below(2) if self.n > 1 else 1)
    assert "draws are not uniform" in broken(random_action=lambda self, rng: 0)


def test_keys_that_confuse_positions_are_found():
    text = broken(key=lambda self: self.n // 3)
    assert "two positions with the key" in text
    assert "; the other one is Counting(n=" in text


def test_names_that_are_not_unique_or_cannot_be_read_are_found():
    assert "names must differ" in broken(move_text=lambda self, action: "go")
    assert "must not contain a blank" in broken(move_text=lambda self, action: f"move {action}")
    assert "parse_move reads as" in broken(move_text=lambda self, action: f"m{action}", parse_move=lambda self, text: 0)


def test_a_drawing_that_fails_is_found():
    def render(self):
        return "x" + self.n

    assert "render fails: TypeError" in broken(render=render)


def test_the_shown_game_is_the_shortest():
    def rewards(self, out):
        out[self.player] = -1.0
        out[1 - self.player] = 5.0 if self.row[0] == 3 else 1.0

    def apply(self, action):
        self.n -= action + 1
        self.player = 1 - self.player
        if action == 1:
            self.row[0] += 1

    assert "actions [1, 1, 1]" in broken(rewards=rewards, apply=apply)


@pytest.mark.parametrize(("remembers", "length"), [(0, 8), (1, 12)])
def test_the_shown_game_is_short_where_short_games_are_too_many_to_try(remembers, length):
    def reset(self):
        self.n = 32

    def legal_actions(self, out):
        for action in range(4):
            out[action] = action
        return 4

    def apply(self, action):
        self.n -= action + 1
        self.player = 1 - self.player
        self.past = (self.past * 5 + action + 1) * remembers  # each game then has states of its own

    def rewards(self, out):
        out[0], out[1] = 5.0, -5.0

    facts = {"num_actions": 4, "max_length": 32}
    methods = {"reset": reset, "legal_actions": legal_actions, "apply": apply, "rewards": rewards}
    text = broken(past=tt.field("i8"), facts=facts, **methods)
    assert text.split("(actions [")[1].split("]")[0].count(",") < length


def test_a_time_budget_ends_a_check_after_some_games_and_is_reported():
    report = tt.check(counting(), games=1_000_000, seconds=0.1)
    assert 1 <= report.games < 1_000_000
    assert report.seconds == 0.1
    assert f"{report.games:,} games" in str(report)
    assert "the time budget of 0.1 s ended the check" in str(report)
    assert tt.check(counting(), games=20, seconds=600).seconds is None
    with pytest.raises(tt.errors.ConfigError, match="seconds must be"):
        tt.check(counting(), seconds=-1)


def test_players_who_never_move_and_games_that_always_end_alike_are_noted():
    def stuck(self, action):
        self.n -= action + 1

    def first_wins(self, out):
        out[0], out[1] = self.n + 2.0, 0.0

    assert tt.check(counting(), games=100).notes == ()
    report = tt.check(counting(apply=stuck), games=100)
    assert report.notes == (
        "player 1 never moved in 100 games: does `apply` change the player to move?",
        "all 100 games ended with the returns [-1.0, 1.0]: does `rewards` depend on the state?",
    )
    assert f"note: {report.notes[0]}" in str(report)
    assert report.to_dict()["notes"] == report.notes
    assert tt.check(counting(apply=stuck), games=5).notes == ()
    game = counting(rewards=first_wins, legal_actions=both, facts={"players": 3, "rewards": (-5, 5), "zero_sum": False})
    assert tt.check(game, games=100).notes == (
        "player 2 never moved in 100 games: does `apply` change the player to move?",
        "player 0 won all 100 games: are the rewards those of the right player?",
    )


def both(self, out):
    out[0], out[1] = 0, 1
    return 2
