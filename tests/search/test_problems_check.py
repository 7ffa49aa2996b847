"""`treetop.check` finds what is wrong with a Python problem before a search does, and passes what is right."""

from __future__ import annotations

import copy
import math
import random

import pytest

import treetop as tt
from tests.search.own_problems import Corridor, Gamble, Nim, Race, Three, TicTacToe, Tour
from tests.search.test_problems_watch import Array, Delivery, Fixed, Paid, Route, Walk

FLIPS = iter(range(10**9))


@pytest.mark.parametrize(
    "problem", [Nim(), TicTacToe(), Corridor(), Three(), Gamble(), Race(), Tour(), Walk(), Fixed()]
)
def test_a_right_problem_passes(problem):
    report = tt.check(problem, games=50, seed=1)
    assert report.games == 50
    assert report.moves >= report.longest > 0
    assert report.seconds is None
    assert ("outcomes" in str(report)) == hasattr(problem, "outcomes")


@pytest.mark.parametrize("kind", [Route, Delivery, Paid, Array])
def test_a_step_that_changes_its_argument_is_found(kind):
    with pytest.raises(tt.errors.ConformanceError, match="no method changes a state"):
        tt.check(kind())
    problem = kind()
    problem.copy = copy.deepcopy
    assert tt.check(problem, games=20).games == 20


class Hidden:
    """A state whose only content is hidden deep inside."""

    def __init__(self, left):
        self._inner = [left]


class Secret(Tour):
    """`step` changes what no text shows, and returns another state."""

    def initial(self):
        return Hidden([3, 1, 2])

    def actions(self, state):
        return list(state._inner[0])

    def step(self, state, action):
        state._inner[0].remove(action)
        return Hidden(list(state._inner[0]))

    def is_terminal(self, state):
        return not state._inner[0]


def test_a_change_that_no_text_shows_is_found_by_the_actions():
    with pytest.raises(tt.errors.ConformanceError, match=r"no method changes a state[\s\S]*has other actions"):
        tt.check(Secret())


@pytest.mark.parametrize(
    ("change", "requirement", "detail"),
    [
        ({"step": lambda self, state: state}, "the methods take", r"Wrong.step takes \(state\)"),
        ({"step": lambda self, state, action: None}, "step returns a state", "step returned None"),
        ({"actions": lambda self, state: [1, 1]}, "actions are hashable", "gave 1 twice"),
        ({"actions": lambda self, state: [[1]]}, "actions are hashable", "cannot be hashed"),
        ({"actions": lambda self, state: []}, "actions are hashable", "gave no action"),
        ({"actions": lambda self, state: state.nothing}, "no method fails", "Wrong.actions failed: AttributeError"),
        ({"player": lambda self, state: 2}, "the player to move", "players are 0 to 1"),
        ({"rewards": lambda self, state: (math.nan, 0)}, "rewards are finite", "finite numbers"),
        ({"rewards": lambda self, state: (3, -3)}, "rewards are finite", "outside of its reward_range"),
        ({"rewards": lambda self, state: (1, 1)}, "rewards are finite", "do not sum to zero"),
        ({"max_length": 3}, "no game is longer", "not over after max_length = 3"),
        ({"prior": lambda self, state, actions: [-1.0] * len(actions)}, "prior returns", "at least 0"),
        ({"rollout": lambda self, state, rng: (5.0, -5.0)}, "rollout returns", "outside of the range"),
        ({"text": lambda self, action: action.name}, "no method fails", "Wrong.text failed"),
        ({"render": lambda self, state: state.drawn}, "no method fails", "Wrong.render failed"),
        ({"key": lambda self, state: state.id}, "no method fails", "Wrong.key failed"),
        ({"copy": lambda self, state: (1, 0)}, "copy returns an equal state", "returned another state"),
        ({"step": lambda self, state, action: (random.randrange(9), 0)}, "asked twice", r"Wrong.step\(\d\) returned"),
        ({"is_terminal": lambda self, state: next(FLIPS) % 2 == 0}, "asked twice", "Wrong.is_terminal returned True"),
    ],
)
def test_each_violated_requirement_is_found_and_named(change, requirement, detail):
    problem = type("Wrong", (Nim,), change)()
    with pytest.raises(tt.errors.ConformanceError, match=rf"Wrong violates a requirement: [\s\S]*{detail}") as caught:
        tt.check(problem, games=20)
    assert requirement in str(caught.value).splitlines()[0]


def test_a_name_almost_like_that_of_an_optional_method_is_noted():
    wrong = type("Wrong", (Nim,), {"priors": lambda self, state, actions: [1.0] * len(actions), "max_lenght": 30})()
    assert tt.check(wrong, games=5).notes == (
        "is `priors` meant to be `prior`? No method uses it",
        "is `max_lenght` meant to be `max_length`? No method uses it",
    )
    assert tt.check(Nim(), games=5).notes == ()


def test_an_action_that_the_priors_leave_out_is_noted():
    partial = type("Partial", (Nim,), {"prior": lambda self, state, actions: dict.fromkeys(actions[1:], 1.0)})()
    assert tt.check(partial, games=5).notes == ("prior leaves out the action 0: its prior is 0\nin the state (21, 0)",)
    whole = type("Whole", (Nim,), {"prior": lambda self, state, actions: dict.fromkeys(actions, 0.0)})()
    assert tt.check(whole, games=5).notes == ()


def test_an_object_without_the_methods_is_refused_as_by_a_search():
    wanted = "an object with the methods actions, step, is_terminal and rewards"
    for use in (tt.check, tt.Search):
        with pytest.raises(tt.errors.ConfigError, match=wanted):
            use(object())


def test_a_state_that_is_taken_for_a_state_and_its_rewards_gets_a_hint():
    class Pair(Nim):
        step_rewards = True
        zero_sum = False

        def step(self, state, action):
            left, player = super().step(state, action)
            return left, (player, 0)

    with pytest.raises(tt.errors.ConformanceError, match=r"with step_rewards, step must return \(state, rewards\)"):
        tt.check(Pair())


def test_the_error_shows_the_state_and_the_actions_that_lead_to_it():
    class Late(Nim):
        def actions(self, state):
            return [0, 0] if state[0] < 5 else super().actions(state)

    with pytest.raises(tt.errors.ConformanceError, match=r"in the state \(\d, [01]\)\nfound after \d") as caught:
        tt.check(Late())
    path = [int(number) for number in str(caught.value).rpartition("found after ")[2].split(", ")]
    assert f"in the state ({21 - sum(taken + 1 for taken in path)}, {len(path) % 2})" in str(caught.value)


def test_probabilities_and_totals_are_checked():
    wrong = type("Loaded", (Gamble,), {"outcomes": lambda self, state: [("heads", 0.5)]})()
    with pytest.raises(tt.errors.ConformanceError, match="probabilities that sum to 1"):
        tt.check(wrong)
    corridor = Corridor()
    corridor.reward_range = (0.0, 4.0)
    with pytest.raises(tt.errors.ConformanceError, match=r"add up to \[4\.\d+\]"):
        tt.check(corridor)


def test_a_time_budget_ends_the_check_and_a_seed_repeats_it():
    report = tt.check(Nim(), games=10**9, seconds=0.2)
    assert 0 < report.games < 10**9
    assert report.seconds == 0.2
    assert tt.check(Nim(), games=30, seed=4) == tt.check(Nim(), games=30, seed=4)


def test_a_check_may_start_elsewhere_and_reports_its_progress():
    seen = []
    report = tt.check(Nim(), games=3, root=(1, 0), progress=lambda done, total: seen.append((done, total)))
    assert report.longest == 1
    assert seen[-1] == (3, 3)
    with pytest.raises(tt.errors.ConfigError, match="root is the state of a Python problem"):
        tt.check("nim", root=(1, 0))


def test_a_problem_without_an_end_but_with_its_own_rollout_passes():
    class Open(Tour):
        max_length = 10

        def actions(self, state):
            return [1, 2]

        def step(self, state, action):
            return (*state, action)

        def is_terminal(self, state):
            return False

        def rollout(self, state, rng):
            return -1.0

    assert tt.check(Open(), games=5).longest == 10


@pytest.mark.parametrize("use", [tt.solve, tt.position, lambda problem: tt.match("random", "random", game=problem)])
def test_what_is_for_games_says_so_of_a_problem(use):
    with pytest.raises(tt.errors.UnknownGameError, match=r"treetop.Search searches a Python problem"):
        use(Nim())
