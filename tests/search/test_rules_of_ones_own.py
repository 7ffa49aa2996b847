"""A selection rule of the caller's own: compiled like a built-in one, kept on disk, never stale."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import treetop as tt
from tests.search import own_rules
from tests.search.own_rules import moody

PROJECT = Path(__file__).parents[2]


def visits_at_every_node(search):
    size = search.tree.size
    return search.tree.columns.stats["visits"][:size].tolist()


def run(config, *, seed=1, simulations=2000, moves=""):
    search = tt.Search(tt.position("tic_tac_toe", moves=moves), config, seed=seed)
    search.run(tt.Limit(simulations=simulations))
    search.tree.check((-1, 1))
    return search


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("c", [0.3, math.sqrt(2)])
def test_a_rule_with_a_built_in_ones_formula_searches_the_same(seed, c):
    own = run(tt.configure(moody, c=c), seed=seed)
    rich = run(tt.uct(c=c, virtual_loss="always"), seed=seed)  # UCB1 in the build that has every option
    assert visits_at_every_node(own) == visits_at_every_node(rich)
    assert own.result().visits == run(tt.uct(c=c), seed=seed).result().visits


def test_a_rule_gets_the_documented_numbers():
    for config in (tt.configure(moody, c=0.7), tt.configure(moody, c=0.7, final="lcb")):
        result = run(config).result()
        message = result.explain()
        total = int(result.counts.sum())
        for index, row in enumerate(message.rows):
            assert row.score == pytest.approx(
                result.means[index] + 0.7 * math.sqrt(math.log(total) / result.counts[index])
            )
        assert "moody" in message.rule
        assert "moody" in str(result)
        assert result.report().rule == "moody"


def test_a_rule_can_be_called_in_plain_python():
    assert moody(0.5, 10, 0.1, 0.0, 100, 2.0) == pytest.approx(0.5 + 2 * math.sqrt(math.log(100) / 10))
    assert moody(0.5, 0, 0.1, 0.0, 100, 2.0) == math.inf
    assert (str(moody), repr(moody)) == ("moody", "<rule moody>")
    assert "UCB1, written by a user" in moody.__doc__


@pytest.mark.parametrize(
    "options",
    [{"solver": True}, {"max_nodes": 60}, {"root": "halving"}, {"fpu": 0.5}, {"backup": "max"}],
    ids=str,
)
def test_a_rule_goes_with_the_other_options(options):
    search = run(tt.configure(moody, **options), moves="a1 b2")
    assert search.solved or search.simulations == 2000


SCRIPT = """
import json, sys
import treetop as tt
from tests.search import own_rules
own_rules.WEIGHT = float(sys.argv[1])
search = tt.Search("tic_tac_toe", tt.configure(own_rules.moody, c=0.7), seed=3)
result = search.run(tt.Limit(simulations=500))
print(json.dumps({"visits": list(result.visits.values()), "from_cache": search._driver.from_cache}))
"""


def in_another_process(weight):
    env = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(weight)],
        env=env,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_rule_is_compiled_once_and_found_by_the_next_process():
    here = run(tt.configure(moody, c=0.7), seed=3, simulations=500)
    message = in_another_process(own_rules.WEIGHT)
    assert message == {"visits": list(here.result().visits.values()), "from_cache": True}


def test_a_rule_whose_constant_was_changed_is_never_stale(monkeypatch):
    config = tt.configure(moody, c=0.7)
    before = run(config, seed=3, simulations=500).result().visits
    monkeypatch.setattr(own_rules, "WEIGHT", 6.0)
    changed = run(config, seed=3, simulations=500).result().visits
    assert changed == run(tt.uct(c=6.0 * 0.7, virtual_loss="always"), seed=3, simulations=500).result().visits
    assert changed != before
    assert in_another_process(6.0)["visits"] == list(changed.values())
    monkeypatch.undo()
    assert run(config, seed=3, simulations=500).result().visits == before


def test_two_rules_of_one_name_are_two_rules():
    def make(sign):
        @tt.rule
        def twin(value, visits, prior, variance, total, c):
            return sign * value

        return twin

    assert make(1.0)(0.5, 1, 0.1, 0.0, 10, 1.0) == 0.5
    assert make(-1.0)(0.5, 1, 0.1, 0.0, 10, 1.0) == -0.5
    assert make(1.0).compiled is not make(1.0).compiled
    assert tt.configure(make(1.0)) != tt.configure(make(-1.0))
