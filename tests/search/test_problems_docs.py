"""The examples of docs/own-objects.md run, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import treetop as tt
from tests.search.own_problems import Tour

PAGE = Path(__file__).resolve().parents[2] / "docs" / "own-objects.md"


def test_the_examples_run(capsys):
    names: dict[str, object] = {}
    for snippet in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        if "await" not in snippet:  # which needs a service
            exec(compile(snippet, str(PAGE), "exec"), names)
    assert "Hundred meets all requirements" in capsys.readouterr().out
    total, played, state = names["solve"](Tour(), lambda state, actions: (None, -1.0), simulations=20)
    assert total == Tour().rewards(state)
    assert sorted(played) == [1, 2, 3]
    assert state[1] == ()


def test_with_an_evaluator_there_is_no_best_solution_before_a_terminal_state_is_in_the_tree():
    search = tt.Search(Tour(), evaluator=lambda state, actions: (None, -1.0), seed=1)
    assert search.run(tt.Limit(simulations=2)).best is None
    assert search.run(tt.Limit(simulations=50)).best.total_reward == -1.0
