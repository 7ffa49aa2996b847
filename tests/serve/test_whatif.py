"""Decisions under other settings."""

from __future__ import annotations

import numpy as np
import pytest

import treetop as tt
from treetop.errors import ConfigError
from treetop.serve.whatif import Settings, Tempered, decisions, described


def test_each_final_rule_decides_as_a_search_with_that_rule_does():
    position = tt.position("tic_tac_toe", moves="b2 a2")
    found = decisions(tt.search(position, tt.uct(final="lcb"), simulations=300, seed=5))
    for rule, one in found.items():
        assert one["move"] == tt.search(position, tt.uct(final=rule), simulations=300, seed=5).move, rule
        assert one["why"]


def test_rules_that_need_variances_do_not_decide_without_them():
    found = decisions(tt.search("tic_tac_toe", tt.uct(), simulations=100, seed=1))
    assert found["visits"]["move"] is not None
    assert found["secure"]["move"] is None
    assert "no variances" in found["lcb"]["why"]


def test_settings_change_a_search_and_refuse_what_its_rule_lacks():
    position = tt.position("tic_tac_toe")
    wide, known = Settings(c=5.0, fpu=0.5).search(position, tt.uct(), tt.Rollout(), 1)
    narrow, _ = Settings(c=0.1).search(position, tt.uct(), tt.Rollout(), 1)
    assert (known["c"], known["fpu"]) == (5.0, 0.5)
    spread = [max(row[1] for row in described(one.run(tt.Limit(simulations=300)))["moves"]) for one in (wide, narrow)]
    assert spread[0] < spread[1]
    with pytest.raises(ConfigError, match="prior_temperature"):
        Settings(prior_temperature=2.0).search(position, tt.uct(), tt.Rollout(), 1)


class Skewed:
    def evaluate(self, batch):
        logits = np.tile(np.arange(9.0), (len(batch), 1))
        return logits, np.zeros(len(batch))


def test_a_prior_temperature_flattens_the_priors_of_an_evaluator():
    position = tt.position("tic_tac_toe")
    flat, known = Settings(prior_temperature=10.0).search(position, tt.puct(), Skewed(), 1)
    sharp, _ = Settings().search(position, tt.puct(), Skewed(), 1)
    assert "prior_temperature" in known["adjustable"]
    priors = [
        np.array([row[4] for row in described(one.run(tt.Limit(simulations=50)))["moves"]]) for one in (flat, sharp)
    ]
    assert priors[0].max() < priors[1].max()
    assert np.allclose(priors[0], priors[1] ** 0.1 / (priors[1] ** 0.1).sum(), atol=1e-4)
    assert Tempered(Skewed(), 10.0).expand_after == 0


def test_a_search_that_keeps_no_variances_decides_by_the_other_rules():
    position = tt.position("matching_pennies")
    search, known = Settings().search(position, tt.uct(), tt.Rollout(), 1)
    found = described(search.run(tt.Limit(simulations=100)))["finals"]
    assert found["visits"]["move"] in ("heads", "tails")
    assert found["lcb"]["move"] is None
    assert known["range"] == list(position.game.facts.rewards)


def test_a_mixed_strategy_is_one_of_the_decisions_where_the_rule_has_one():
    result = tt.search("matching_pennies", tt.regret_matching(), simulations=200, seed=1)
    assert decisions(result)["mixed"]["move"] == result.move
