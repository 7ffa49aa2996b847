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
        lambda: tt.rules.grave(fpu=0.0),
        lambda: tt.uct(expand_after=-1),
        lambda: tt.uct(expand_after=1.5),
        lambda: tt.uct(max_depth=0),
        lambda: tt.uct(max_nodes=0),
        lambda: tt.uct(final="best"),
        lambda: tt.uct(temperature=-1.0),
        lambda: tt.uct(temperature=math.nan),
        lambda: tt.uct(tie_break="last"),
        lambda: tt.uct(no_such_option=1),
        lambda: tt.configure("ucb2"),
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
    with pytest.raises(tt.errors.ConfigError) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert len(str(caught.value)) > 15


def test_presets_carry_the_usual_defaults():
    assert tt.uct().rule.c == math.sqrt(2)
    assert (tt.puct().rule.c, tt.puct().rule.c_base) == (1.25, 19652.0)
    assert (tt.puct(c=2.5).rule.c, tt.puct(c=2.5).rule.c_base) == (2.5, None)
    assert tt.uct().with_options(c=1.0).rule.c == 1.0
    assert str(tt.Limit(simulations=1000, seconds=2)) == "1,000 simulations or 2 s"


@pytest.mark.parametrize(
    "config",
    [
        tt.uct(),
        tt.puct(),
        tt.rules.nexus(),
        tt.rules.grave(),
        tt.gumbel(),
        tt.puct(c_schedule="katago", final="lcb"),
        tt.uct(transpositions=5000, repetition=0.5),
    ],
    ids=str,
)
def test_flat_options_make_the_same_settings_again(config):
    assert tt.configure(**config.flat()) == config


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"c_base": 5.0}, "c_base is an option of rule='puct'; here rule is 'ucb1'"),
        ({"minimax_share": 0.5}, "minimax_share is an option of backup='mixed' or 'implicit'; here backup is 'mean'"),
        ({"max_node": 5}, "did you mean max_nodes"),
        ({"backup": "maen"}, "did you mean 'mean'"),
        ({"final": "temperature", "temperatur": 1.0}, "did you mean temperature"),
    ],
)
def test_an_option_that_no_chosen_part_has_is_refused_with_its_owner(options, words):
    with pytest.raises(tt.errors.ConfigError, match=words):
        tt.configure("ucb1", **options)


def test_parts_and_names_compose_the_same_settings():
    from treetop.kernels.rules.puct import Puct

    composed = tt.SearchConfig(rule=Puct(c=1.5), backup=tt.rules.MixedBackup(minimax_share=0.2), solver=True)
    assert composed == tt.configure("puct", c=1.5, backup="mixed", minimax_share=0.2, solver=True)
    with pytest.raises(tt.errors.ConfigError, match="rule must be a Rule"):
        tt.SearchConfig(rule="puct")


def test_settings_print_their_tie_break():
    def lowest(position, actions):
        return min(actions)

    assert str(tt.uct(tie_break="first")) == "ucb1(c=1.41421, tie_break='first')"
    assert str(tt.uct(tie_break=lowest)) == "ucb1(c=1.41421, tie_break=lowest)"
