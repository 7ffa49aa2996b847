"""Errors of the user's code in a Python problem show the line that raised them and the state."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import treetop as tt
from tests.search.own_problems import Nim, Tour

HERE = Path(__file__)


def line_of(text: str) -> str:
    """Return a pattern for the file, the number and the text of the line of this file that ends with `text`."""
    lines = HERE.read_text(encoding="utf-8").splitlines()
    number = next(number for number, line in enumerate(lines, start=1) if line.endswith(text))
    return re.escape(f"{HERE}, line {number}: {lines[number - 1].strip()}")


class Misspelt(Tour):
    def actions(self, state):
        return state.lft


class Endless(Tour):
    def is_terminal(self, state):
        return self.ends


def ends(state, actions):
    return state.ends


def divides(state, actions):
    return None, 1 / len(state[1][3:])


@pytest.mark.parametrize(
    ("problem", "evaluator", "line"),
    [
        (Misspelt(), None, "return state.lft"),
        (Endless(), None, "return self.ends"),
        (Tour(), ends, "return state.ends"),
    ],
)
def test_an_error_at_the_root_shows_the_users_line_and_the_state(problem, evaluator, line):
    with pytest.raises(tt.errors.SearchError, match=line_of(line)) as caught:
        tt.Search(problem, evaluator=evaluator, seed=1).run(tt.Limit(simulations=10))
    assert "in the state (0, (3, 1, 2))" in str(caught.value)


@pytest.mark.parametrize("processes", [0, 1])
def test_an_error_of_a_remote_evaluator_shows_the_users_line(processes):
    with pytest.raises(tt.errors.SearchError, match="ZeroDivisionError: division by zero") as caught:
        tt.Search(Tour(), seed=1).run_remote(tt.Limit(simulations=10), divides, processes=processes)
    assert re.search(line_of("return None, 1 / len(state[1][3:])"), str(caught.value))
    assert "RuntimeError" not in str(caught.value)


def test_a_replay_has_the_lines_of_the_errors_too(tmp_path):
    def evaluate(state, actions):
        return None, 1.0 / (state[0] - 3)

    results = [
        tt.Search(Tour(), tt.puct(), seed=1).run_remote(tt.Limit(simulations=20), evaluate, **options)
        for options in ({"record": tmp_path / "calls"}, {"replay": tmp_path / "calls"})
    ]
    assert all("return None, 1.0 / (state" in failure.where for failure in results[0].failures if failure.where)
    assert [failure.where for failure in results[0].failures] == [failure.where for failure in results[1].failures]
    assert any(failure.where for failure in results[0].failures)


def costly(state, actions):
    raise tt.errors.EvaluationError("no verdict", cost=2.0, note="hm")


def test_an_error_in_a_process_has_its_cost_and_its_note():
    search = tt.Search(Tour(), tt.puct(), seed=1)
    with pytest.raises(tt.errors.SearchError, match="EvaluationError: no verdict"):
        search.run_remote(tt.Limit(simulations=10), costly, processes=1)
    assert [(call.cost, call.note) for call in search._driver.log] == [(2.0, "hm")]


class Batches:
    def evaluate(self, batch):
        return batch


@pytest.mark.parametrize("evaluator", [Batches(), lambda state: (None, 0.0), lambda: 0.0])
def test_an_evaluator_with_other_arguments_is_refused_before_the_search(evaluator):
    wanted = r"the evaluator of a Python problem takes \(state, actions\), but .* takes \("
    with pytest.raises(tt.errors.ConfigError, match=wanted):
        tt.Search(Tour(), evaluator=evaluator)
    with pytest.raises(tt.errors.ConfigError, match=wanted):
        tt.Search(Tour()).run_remote(tt.Limit(simulations=10), evaluator)


@pytest.mark.parametrize("evaluator", [lambda *given: (None, -1.0), lambda state, actions, depth=3: (None, -1.0)])
def test_an_evaluator_may_have_further_arguments(evaluator):
    assert tt.Search(Tour(), evaluator=evaluator, seed=1).run(tt.Limit(simulations=5)).simulations == 5


@pytest.mark.parametrize(
    "answer",
    [([1.0], -1.0), ({"nowhere": 1.0}, -1.0), ("abc", -1.0), ([-1.0] * 3, -1.0), 5],
)
def test_an_error_in_an_answer_shows_the_state(answer):
    with pytest.raises(tt.errors.GameError, match=r"in the state \(0, \(3, 1, 2\)\)"):
        tt.Search(Tour(), evaluator=lambda state, actions: answer).run(tt.Limit(simulations=5))


class Unreadable(Tour):
    def text(self, action):
        return action.name

    def render(self, state):
        return state.drawn


def test_texts_that_fail_name_the_method_the_line_and_what_they_were_given():
    search = tt.Search(Unreadable(), seed=1)
    with pytest.raises(tt.errors.GameError, match=line_of("return action.name")) as caught:
        search.run(tt.Limit(simulations=5))
    assert "Unreadable.text failed" in str(caught.value)
    assert "for the action 3" in str(caught.value)
    Unreadable.text = lambda self, action: str(action)
    with pytest.raises(tt.errors.GameError, match=line_of("return state.drawn")) as caught:
        print(search.run(tt.Limit(simulations=5)))
    assert "Unreadable.render failed" in str(caught.value)
    assert "in the state (0, (3, 1, 2))" in str(caught.value)


@pytest.mark.parametrize("kind", [set, iter, dict.fromkeys])
def test_actions_may_be_any_collection(kind):
    class Any(Tour):
        def actions(self, state):
            return kind(state[1])

    result = tt.Search(Any(), seed=1).run(tt.Limit(simulations=20))
    assert result.simulations == 20
    assert not result.failed_rollouts


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"actions": lambda self, state: None}, "actions must return a list of actions, not None"),
        ({"player": lambda self, state: "me"}, "player gave 'me'; players are 0 to 1"),
        ({"player": lambda self, state: None}, "player gave None; players are 0 to 1"),
    ],
)
def test_answers_of_a_wrong_type_are_a_clear_error(change, message):
    with pytest.raises(tt.errors.GameError, match=message):
        tt.Search(type("Wrong", (Nim,), change)(), seed=1)
