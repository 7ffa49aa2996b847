"""A policy that cannot search says so when it is made, and not at its first step."""

from __future__ import annotations

import pytest

import treetop as tt
from treetop.adapters.options import check_policy
from treetop.errors import ConfigError


class Problem:
    def __init__(self, env: object, *, horizon: int = 100, discount: float = 1.0) -> None: ...


@pytest.mark.parametrize(("changed", "text"), [
    ({"limit": 5}, r"limit of Policy must be a Limit such as Limit\(simulations=200\), not 5"),
    ({"config": "uct"}, "config of Policy must be uct.*not 'uct'"),
    ({"seed": 1.5}, "seed must be a whole number, not 1.5"),
    ({"options": {"simulations": 5}}, r"Policy has no option 'simulations'; it belongs to the limit: limit=Limit\(simulations=...\)"),
    ({"options": {"c": 2.0}}, r"no option 'c'; it belongs to the config: config=uct\(c=...\)"),
    ({"options": {"horizn": 2}}, "no option 'horizn'; did you mean horizon?"),
    ({"options": {"xyz": 2}}, "no option 'xyz'; there are discount, horizon"),
])  # fmt: skip
def test_wrong_arguments_of_a_policy_are_refused_with_what_would_be_right(changed, text):
    usual = {"limit": tt.Limit(simulations=5), "config": tt.uct(), "seed": 1, "options": {"horizon": 5}}
    check_policy("Policy", Problem, **usual)
    with pytest.raises(ConfigError, match=text):
        check_policy("Policy", Problem, **{**usual, **changed})


def test_every_policy_checks_its_arguments_when_it_is_made():
    pytest.importorskip("gymnasium")
    from treetop.adapters import GymPolicy

    for wrong in (
        {"simulations": 5},
        {"limit": 5},
        {"config": 3},
        {"horizon": 0},
        {"discount": "most"},
        {"snapshot": 1},
    ):
        with pytest.raises(ConfigError):
            GymPolicy(**wrong)


def test_pettingzoo_and_openspiel_check_theirs_too():
    pytest.importorskip("pettingzoo")
    pytest.importorskip("pyspiel")
    from treetop.adapters import PettingZooPolicy
    from treetop.adapters.openspiel import TreetopBot

    for make in (
        lambda: PettingZooPolicy(simulations=5),
        lambda: PettingZooPolicy(limit=5),
        lambda: TreetopBot(limit=5),
    ):
        with pytest.raises(ConfigError):
            make()
