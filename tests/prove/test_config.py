"""Policies written as text with their options."""

from __future__ import annotations

import pytest

from treetop.errors import ConfigError
from treetop.prove.config import ProofConfig, read_policy


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("ucb1", {"policy": "ucb1"}),
        ("puct(c=0.5)", {"policy": "puct", "c": 0.5}),
        (
            "puct(c=2, backup='product', subgoals='first')",
            {"policy": "puct", "c": 2, "backup": "product", "subgoals": "first"},
        ),
        ("blind_uniform", {"policy": "blind_uniform"}),
    ],
)
def test_a_policy_is_read_with_its_options(text, change):
    assert read_policy(text, ProofConfig(leaf_value=0.25)) == ProofConfig(leaf_value=0.25, **change)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("puct(0.5)", "need names"),
        ("puct(d=1)", "puct\\(d=1\\)"),
        ("mcts", "policy must be 'puct'"),
        ("puct(c=-1)", "c must be"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(text, words):
    with pytest.raises(ConfigError, match=words):
        read_policy(text, ProofConfig())
