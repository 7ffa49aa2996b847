"""Reports on proof search: everything that decides a result, and the versions and machine that it was measured with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from treetop.errors import ConfigError, json_value
from treetop.prove.config import ProofConfig
from treetop.prove.digests import digest
from treetop.prove.providers import EASY
from treetop.search.report import machine, versions
from treetop.text import text_facts

_MANY = 8  # longer lists are printed by their first and last entries


@dataclass(frozen=True)
class ProofReport:
    """The configuration, budget and environment of a proof search or an experiment. Checks its fields."""

    policies: tuple[str, ...]
    """How the next goal is selected. In a comparison, the first policy is the agent."""
    c: float | None
    """The exploration constant; None for policies without one."""
    backup: str
    """How values are backed up: `and_min`, `product`, `uniform`."""
    subgoals: str
    """Which subgoal of a tactic is expanded next."""
    expansion: str
    """How many tactics are opened at a goal at a time, and the widening."""
    tie_break: str
    rng: str
    """The generator, and how it is seeded."""
    seeds: tuple[int, ...]
    """Empty for a search without randomness."""
    provider: str
    ranker: str | None
    allow_easy: bool
    budget_tiers: tuple[int, ...]
    """Simulations after which the result is examined; the last tier ends the run. Empty if other limits are used."""
    theorems: tuple[str, ...]
    theorems_digest: str
    """A digest of the names, the statements and the files of the theorems: `digest_theorems`."""
    blocked: tuple[str, ...] = ()
    """The tactics that are never tried."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """Other limits of a run or an attempt: seconds, calls (tactics tried)."""
    prover: Mapping[str, Any] = field(default_factory=dict)
    """The prover's name, version and options."""
    versions: Mapping[str, str] = field(default_factory=lambda: versions("treetop", "numpy"))
    machine: str = field(default_factory=machine)

    def __post_init__(self) -> None:
        for name in ("policies", "theorems"):
            if not getattr(self, name):
                raise ConfigError(f"a report needs {name}")
        if not self.budget_tiers and not self.limits:
            raise ConfigError("a report needs budget tiers or other limits")
        for name in ("policies", "theorems", "seeds"):
            values = getattr(self, name)
            if len(set(values)) != len(values):
                raise ConfigError(f"a report lists each of its {name} once, not {values!r}")
        tiers = self.budget_tiers
        if list(tiers) != sorted(set(tiers)) or any(tier < 1 for tier in tiers):
            raise ConfigError(
                f"budget tiers must be whole numbers of simulations, each larger than the one before, not {tiers!r}"
            )
        if self.allow_easy and self.blocked:
            raise ConfigError("allow_easy and blocked exclude each other: with allow_easy no tactic is blocked")
        json_value({**self.limits, **self.prover})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        values: dict[str, Any] = json_value(
            {entry.name: _unfrozen(getattr(self, entry.name)) for entry in fields(self)}
        )
        return values

    def facts(self) -> dict[str, str]:
        """Return everything as text by topic; long lists by their first and last entries."""
        c = "none" if self.c is None else f"{self.c:.6g}"
        tiers = f"budget tiers {_listed(self.budget_tiers)} simulations" if self.budget_tiers else "no budget tiers"
        prover = {
            "": self.prover.get("prover"),
            **{name: value for name, value in self.prover.items() if name not in ("prover", "statement")},
        }
        return {
            "policy": f"{' against '.join(self.policies)}; c {c}, backup {self.backup}, subgoals {self.subgoals}, "
            f"expansion {self.expansion}",
            "chance": f"seeds {_listed(self.seeds) or 'none'}; rng {self.rng}; tie-break {self.tie_break}",
            "tactics": f"provider {self.provider}; ranker {self.ranker or 'none'}; easy ones {self._easy()}",
            "budget": f"{tiers}; {_pairs(self.limits)}",
            "theorems": f"{len(self.theorems):,} ({_listed(self.theorems)}), digest {self.theorems_digest}",
            "prover": _pairs(prover),
            "made with": f"{_pairs(self.versions)}; {self.machine}",
        }

    def _easy(self) -> str:
        if self.allow_easy:
            return "allowed"
        return f"blocked ({_listed(self.blocked)}: {len(self.blocked):,} in all)" if self.blocked else "blocked (none)"

    def __str__(self) -> str:
        return text_facts(self.facts())


def report_on(
    theorems: Mapping[str, Mapping[str, Any]],
    config: ProofConfig,
    provider: str,
    *,
    allow_easy: bool,
    seeds: tuple[int, ...],
    tiers: tuple[int, ...] = (),
    limits: Mapping[str, Any] | None = None,
    hooks: Mapping[str, str | None] | None = None,
    policies: tuple[str, ...] = (),
) -> ProofReport:
    """Return the report of a search or an experiment. `theorems` maps names to the facts of the theorems."""
    hooks = hooks or {}
    expansion = "all tactics at once" if config.width is None else f"{config.width} at a time"
    widening = (
        "" if config.widening is None else f", at most {config.widening[0]:g} n^{config.widening[1]:g} after n visits"
    )
    statements = {name: f"{facts.get('statement', '')}{facts.get('digest', '')}" for name, facts in theorems.items()}
    return ProofReport(
        policies=policies or (config.policy,),
        c=config.c if config.policy in ("ucb1", "puct") else None,
        backup=config.backup,
        subgoals=config.subgoals,
        expansion=expansion + widening,
        tie_break=hooks.get("tie_break") or ("by the seed" if seeds else "the first"),
        rng="SplitMix64, one a run, by its seed",
        seeds=seeds,
        provider=provider,
        ranker=hooks.get("ranker"),
        allow_easy=allow_easy,
        blocked=() if allow_easy else tuple(sorted(EASY)),
        budget_tiers=tiers,
        theorems=tuple(theorems),
        theorems_digest=digest_theorems(statements),
        limits={
            **(limits or {}),
            "seconds_a_tactic": config.tactic_seconds,
            "estimate": hooks.get("evaluate") or config.estimate,
            "leaf_value": config.leaf_value,
            "virtual_loss": config.virtual_loss,
            "depth_bias": config.depth_bias,
            "path_bias": config.path_bias,
        },
        prover=_provers(list(theorems.values())),
    )


def _provers(theorems: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the facts of one theorem; for several theorems only the provers and modes."""
    if len(theorems) == 1:
        return dict(theorems[0])
    found = {
        key: list(dict.fromkeys(str(facts[key]) for facts in theorems if key in facts)) for key in ("prover", "mode")
    }
    return {key: " and ".join(values) for key, values in found.items() if values}


def digest_theorems(statements: Mapping[str, str]) -> str:
    """Return a digest of a set of theorems: their names and statements, in any order.

    >>> digest_theorems({"a": "p -> p", "b": "q -> q"}) == digest_theorems({"b": "q -> q", "a": "p -> p"})
    True
    """
    return digest(*(text for entry in sorted(statements.items()) for text in entry))


def _unfrozen(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _listed(values: tuple[Any, ...]) -> str:
    if len(values) <= _MANY:
        return ", ".join(map(str, values))
    if all(isinstance(value, int) for value in values) and list(values) == list(
        range(values[0], values[0] + len(values))
    ):
        return f"{values[0]} to {values[-1]}"
    return f"{', '.join(map(str, values[: _MANY - 2]))}, ..., {values[-1]}"


def _pairs(values: Mapping[str, Any]) -> str:
    return (
        ", ".join(
            f"{name.replace('_', ' ')} {_number(value)}".strip()
            for name, value in values.items()
            if value not in (None, [], "")
        )
        or "none"
    )


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
