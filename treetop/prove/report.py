"""What has to be told with every claim about a search for proofs: all that decides the result, and what it was measured with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from treetop.errors import ConfigError, plain
from treetop.prove.config import ProofConfig
from treetop.prove.digests import digest
from treetop.prove.providers import EASY
from treetop.search.report import machine, versions
from treetop.text import text_facts

_MANY = 8  # names and numbers that are listed when the report is printed; of more the first and the last


@dataclass(frozen=True)
class ProofReport:
    """The settings, the budget and the surroundings of an experiment with proofs. Checks itself, prints as a list, `to_dict` gives plain values."""

    policies: tuple[str, ...]
    """How the next goal to expand is chosen. The first one is the agent, where others are compared with it."""
    c: float | None
    """The exploration constant; None for policies without one."""
    backup: str
    """What is carried up from an expanded goal: `uniform`, `and_min`."""
    subgoals: str
    """Which subgoal of a tactic is worked on."""
    expansion: str
    """How many tactics are opened at a goal, and when: `all`, `lazy`, a widening."""
    tie_break: str
    rng: str
    """Which generator, and how a run's seed reaches it."""
    seeds: tuple[int, ...]
    """None for a search without chance."""
    provider: str
    ranker: str | None
    allow_easy: bool
    budget_tiers: tuple[int, ...]
    """Simulations after which the result is looked at; the last one ends the run. None where other limits do."""
    theorems: tuple[str, ...]
    theorems_digest: str
    """Of the names, the statements, and the files that the statements stand in: `digest_theorems`."""
    blocked: tuple[str, ...] = ()
    """The tactics that are never tried because they are easy."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """What else ends a run or an attempt: seconds, attempts, depth."""
    prover: Mapping[str, Any] = field(default_factory=dict)
    """What the prover says of itself: its name, version and options."""
    versions: Mapping[str, str] = field(default_factory=lambda: versions("treetop", "numpy"))
    machine: str = field(default_factory=machine)

    def __post_init__(self) -> None:
        for name in ("policies", "theorems"):
            if not getattr(self, name):
                raise ConfigError(f"a report names its {name}")
        if not self.budget_tiers and not self.limits:
            raise ConfigError("a report names its budget tiers or other limits")
        for name in ("policies", "theorems", "seeds"):
            values = getattr(self, name)
            if len(set(values)) != len(values):
                raise ConfigError(f"a report names each of its {name} once, not {values!r}")
        tiers = self.budget_tiers
        if list(tiers) != sorted(set(tiers)) or any(tier < 1 for tier in tiers):
            raise ConfigError(
                f"budget tiers are whole numbers of simulations, each larger than the one before, not {tiers!r}"
            )
        if self.allow_easy and self.blocked:
            raise ConfigError("with allow_easy nothing is blocked")
        plain({**self.limits, **self.prover})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        told: dict[str, Any] = plain({entry.name: _unfrozen(getattr(self, entry.name)) for entry in fields(self)})
        return told

    def facts(self) -> dict[str, str]:
        """Everything by name, for people: what belongs together on one line, long lists by their first and last entries."""
        c = "none" if self.c is None else f"{self.c:.6g}"
        tiers = f"budget tiers {_listed(self.budget_tiers)} simulations" if self.budget_tiers else "no budget tiers"
        prover = {
            "": self.prover.get("prover"),
            **{name: value for name, value in self.prover.items() if name not in ("prover", "statement")},
        }
        return {
            "policy": f"{' against '.join(self.policies)}; c {c}, backup {self.backup}, subgoals {self.subgoals}, expansion {self.expansion}",
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
        return (
            f"blocked ({_listed(self.blocked)}: {len(self.blocked):,} in all)"
            if self.blocked
            else "blocked, though there were none"
        )

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
    """The report of a search, or of an experiment with several. `theorems` are names with what the theorems say of themselves."""
    said = hooks or {}
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
        tie_break=said.get("tie_break") or ("by the seed" if seeds else "the first"),
        rng="SplitMix64, one a run, by its seed",
        seeds=seeds,
        provider=provider,
        ranker=said.get("ranker"),
        allow_easy=allow_easy,
        blocked=() if allow_easy else tuple(sorted(EASY)),
        budget_tiers=tiers,
        theorems=tuple(theorems),
        theorems_digest=digest_theorems(statements),
        limits={
            **(limits or {}),
            "seconds_a_tactic": config.tactic_seconds,
            "estimate": said.get("evaluate") or config.estimate,
            "leaf_value": config.leaf_value,
            "virtual_loss": config.virtual_loss,
            "depth_bias": config.depth_bias,
            "path_bias": config.path_bias,
        },
        prover=_provers(list(theorems.values())),
    )


def _provers(told: list[Mapping[str, Any]]) -> dict[str, Any]:
    """What one theorem says of itself; of several only who proves them, and how."""
    if len(told) == 1:
        return dict(told[0])
    found = {key: list(dict.fromkeys(str(facts[key]) for facts in told if key in facts)) for key in ("prover", "mode")}
    return {key: " and ".join(values) for key, values in found.items() if values}


def digest_theorems(statements: Mapping[str, str]) -> str:
    """A digest of a set of theorems: their names and statements, in any order.

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
