from __future__ import annotations

import math

import pytest

import treetop as tt


@pytest.mark.parametrize(
    "make",
    [
        lambda: tt.uct(c=-0.1),
        lambda: tt.uct(c=math.nan),
        lambda: tt.uct(c=math.inf),
        lambda: tt.uct(c="1"),
        lambda: tt.puct(c=-1),
        lambda: tt.puct(c=1, c_base=0),
        lambda: tt.uct(c_base=10.0),
        lambda: tt.grave(first_play=0.0),
        lambda: tt.uct(expand_after=-1),
        lambda: tt.uct(expand_after=1.5),
        lambda: tt.uct(max_depth=0),
        lambda: tt.uct(max_nodes=0),
        lambda: tt.uct(final="best"),
        lambda: tt.uct(temperature=-1.0),
        lambda: tt.uct(temperature=math.nan),
        lambda: tt.uct(tie_break="last"),
        lambda: tt.uct(no_such_option=1),
        lambda: tt.SearchConfig(rule="ucb2"),
        lambda: tt.Limit(),
        lambda: tt.Limit(simulations=0),
        lambda: tt.Limit(simulations=-5),
        lambda: tt.Limit(simulations=2.5),
        lambda: tt.Limit(seconds=0),
        lambda: tt.Limit(seconds=-1),
        lambda: tt.Limit(seconds=math.nan),
        lambda: tt.Limit(nodes=0),
        lambda: tt.search("nim", simulations=0),
        lambda: tt.search("nim", seed=1.5),
        lambda: tt.search("nim", "uct"),
        lambda: tt.search("nim", evaluator=object()),
        lambda: tt.Search("nim", tt.uct(max_nodes=3)),
    ],
)
def test_impossible_settings_are_value_errors_that_say_what(make):
    with pytest.raises(tt.ConfigError) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert len(str(caught.value)) > 15


def test_presets_carry_the_usual_defaults():
    assert tt.uct().c == math.sqrt(2)
    assert (tt.puct().c, tt.puct().c_base) == (1.25, 19652.0)
    assert (tt.puct(c=2.5).c, tt.puct(c=2.5).c_base) == (2.5, None)
    assert tt.uct().but(c=1.0).c == 1.0
    assert str(tt.Limit(simulations=1000, seconds=2)) == "1,000 simulations or 2 s"
