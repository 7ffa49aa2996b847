"""K: how much cheaper one policy is than another, in powers of ten, with an interval and with censored runs.

K = log10(cost of the blind search / cost of the agent): 1 is ten times cheaper, 0 no difference, -1 ten times more
expensive. For a theorem it is the ratio of the mean costs over seeds; for a set it is the mean of the theorems' K. A
run that ended without a proof is *censored*: only a lower bound of its cost is known, which is what it spent. So there
are two figures: one in which such a run costs what it spent, and one of the runs with a proof, on the theorems that
both sides proved.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treetop import checks
from treetop.compiler.rng import Rng
from treetop.errors import ConfigError
from treetop.lab.runs import Run
from treetop.prove.digests import digest
from treetop.text import counted, text_facts, text_table
from treetop.types import FloatArray

UNITS = ("attempts", "expansions", "simulations", "seconds")
"""The units of cost."""

_PREFIXES = {"exact": "", "at least": "at least ", "at most": "at most ", "none": ""}


@dataclass(frozen=True)
class KRatio:
    """K with its 95% interval, and what it is based on."""

    value: float
    low: float
    """Infinite, like `high`, if there are too few data."""
    high: float
    unit: str
    theorems: int
    """How many theorems the mean is over."""
    seeds: int
    """The largest number of runs of one side on one theorem."""
    censored_agent: int
    """Runs of the agent without a proof, on those theorems."""
    censored_blind: int
    bound: str
    """`exact`: no run was censored. `at least`: the agent always found a proof and the blind search did not, so K can
    only be larger; `at most`: the other way round. `none`: neither a value nor a bound of K under a larger budget."""

    @property
    def times(self) -> float:
        """How many times cheaper the agent is."""
        return float(10.0**self.value)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON, which has no infinity."""
        ends = {name: end if math.isfinite(end) else None for name, end in (("low", self.low), ("high", self.high))}
        return {
            "value": self.value, **ends, "unit": self.unit, "theorems": self.theorems, "seeds": self.seeds,
            "censored_agent": self.censored_agent, "censored_blind": self.censored_blind, "bound": self.bound,
        }  # fmt: skip

    def __str__(self) -> str:
        between = (
            f"({self.low:+.2f} to {self.high:+.2f})" if math.isfinite(self.low) else "(too little for an interval)"
        )
        warning = ", neither a value nor a bound" if self.bound == "none" else ""
        return f"{_PREFIXES[self.bound]}{self.value:+.2f} {between}{warning}"


@dataclass(frozen=True)
class TheoremK:
    """The results of both sides on one theorem."""

    theorem: str
    runs_agent: int
    runs_blind: int
    solved_agent: int
    solved_blind: int
    cost_agent: float
    """The mean over all runs, including those without a proof."""
    cost_blind: float
    censored: KRatio
    both_solved: KRatio | None
    """None if one side never found a proof."""

    @property
    def outcome(self) -> str:
        """Which side ever proved it: `both`, `agent`, `blind` or `nobody`."""
        return {(True, True): "both", (True, False): "agent", (False, True): "blind", (False, False): "nobody"}[
            self.solved_agent > 0, self.solved_blind > 0
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "theorem": self.theorem,
            "proved_by": self.outcome,
            "runs_agent": self.runs_agent,
            "runs_blind": self.runs_blind,
            "solved_agent": self.solved_agent,
            "solved_blind": self.solved_blind,
            "cost_agent": self.cost_agent,
            "cost_blind": self.cost_blind,
            "censored": self.censored.to_dict(),
            "both_solved": None if self.both_solved is None else self.both_solved.to_dict(),
        }


@dataclass(frozen=True)
class Comparison:
    """An agent against a blind search, on a set of theorems, in one unit of cost.

    >>> import treetop as tt
    >>> agent = [tt.lab.Run("swap", "ucb1", seed, "proved", attempts=10, structure="a") for seed in range(4)]
    >>> blind = [tt.lab.Run("swap", "blind", seed, "open", attempts=100) for seed in range(4)]
    >>> comparison = tt.lab.compare(agent, blind, rng=tt.Rng(1))
    >>> comparison.proved_by(), comparison.censored.value
    ({'both': 0, 'agent': 1, 'blind': 0, 'nobody': 0}, 1.0)
    """

    agent: str
    blind: str
    unit: str
    theorems: tuple[TheoremK, ...]
    """In the order of the names."""
    censored: KRatio | None
    """All theorems; a run without a proof costs what it spent. None if no theorem is left."""
    both_solved: KRatio | None
    """Theorems that both sides proved, by their runs with a proof. None if there are none."""
    left_out: dict[str, str]
    """Theorems that cannot be compared, and the reason."""
    failed: int
    """Runs that failed. They are not counted."""
    paired: bool
    samples: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "agent": self.agent,
            "blind": self.blind,
            "unit": self.unit,
            "paired": self.paired,
            "samples": self.samples,
            "failed": self.failed,
            "censored": None if self.censored is None else self.censored.to_dict(),
            "proved_by": self.proved_by(),
            "both_solved": None if self.both_solved is None else self.both_solved.to_dict(),
            "left_out": dict(self.left_out),
            "theorems": [one.to_dict() for one in self.theorems],
        }

    def proved_by(self) -> dict[str, int]:
        """Return how many theorems were proved by both sides, by one alone, by nobody."""
        counts = Counter(one.outcome for one in self.theorems)
        return {outcome: counts[outcome] for outcome in ("both", "agent", "blind", "nobody")}

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return the headings, and a row for each theorem."""
        head = [
            "theorem",
            f"{self.unit} of {self.agent}",
            f"of {self.blind}",
            "proved",
            "proved",
            "K",
            "95% interval",
            "K, both proved",
        ]
        rows = []
        for one in self.theorems:
            ratio, solved = one.censored, one.both_solved
            between = f"{ratio.low:+.2f} to {ratio.high:+.2f}" if math.isfinite(ratio.low) else "unknown"
            sign = {"exact": "", "at least": ">= ", "at most": "<= ", "none": "? "}[ratio.bound]
            rows.append(
                [
                    one.theorem,
                    f"{one.cost_agent:,.4g}",
                    f"{one.cost_blind:,.4g}",
                    f"{one.solved_agent}/{one.runs_agent}",
                    f"{one.solved_blind}/{one.runs_blind}",
                    f"{sign}{ratio.value:+.2f}",
                    between,
                    "-" if solved is None else f"{solved.value:+.2f}",
                ]
            )
        return head, rows

    def facts(self) -> dict[str, str]:
        """Return a summary as text by topic."""
        facts = {
            f"K in {self.unit}": "unknown: no theorem is left"
            if self.censored is None
            else self._describe(self.censored, "without a proof, counted as spent")
        }
        facts["both proved"] = (
            "unknown: no theorem was proved by both"
            if self.both_solved is None
            else self._describe(self.both_solved, "without a proof, left out")
        )
        by = self.proved_by()
        facts["proved by"] = (
            f"both {by['both']:,}, {self.agent} alone {by['agent']:,}, {self.blind} alone {by['blind']:,}, "
            f"nobody {by['nobody']:,}"
        )
        if self.failed:
            facts["failed"] = f"runs that failed, not counted: {self.failed:,}"
        if self.left_out:
            facts["left out"] = "; ".join(f"{name}: {reason}" for name, reason in self.left_out.items())
        return facts

    def _describe(self, ratio: KRatio, what: str) -> str:
        cut = (
            f"; runs {what}: {ratio.censored_agent:,} of {self.agent}, {ratio.censored_blind:,} of {self.blind}"
            if ratio.bound != "exact"
            else ""
        )
        return f"{ratio}, 95% interval, {counted(ratio.theorems, 'theorem')}, {counted(ratio.seeds, 'seed')}{cut}"

    def __str__(self) -> str:
        return f"{text_table(*self.rows())}\n\n{text_facts(self.facts())}"


@dataclass(frozen=True)
class _Costs:
    """The data of one figure for one theorem: the costs of its runs on each side."""

    theorem: str
    agent: FloatArray
    blind: FloatArray

    @property
    def ratio(self) -> float:
        return math.log10(float(np.mean(self.blind)) / float(np.mean(self.agent)))


def compare(
    runs_agent: Iterable[Run],
    runs_blind: Iterable[Run],
    unit: str = "attempts",
    *,
    rng: Rng,
    paired: bool = False,
    samples: int = 2000,
) -> Comparison:
    """Compare the runs of two policies.

    The interval is from `samples` bootstrap samples: theorems are drawn, then seeds within each.

    The seeds of the two sides are drawn independently; with `paired` they are drawn together, and only those that both
    sides have, for runs that share more than the number of their seed. Swapping the sides changes the sign of
    everything, and nothing else.

    >>> import treetop as tt
    >>> agent = [tt.lab.Run("swap", "ucb1", seed, "proved", attempts=10, structure="a") for seed in range(4)]
    >>> blind = [tt.lab.Run("swap", "blind", seed, "proved", attempts=100, structure="a") for seed in range(4)]
    >>> compare(agent, blind, rng=tt.Rng(1)).censored.value  # log10 of the ratio of the costs
    1.0
    """
    checks.one_of("unit", unit, UNITS)
    checks.whole("samples", samples, 1)
    agent, blind = _Side(runs_agent, "agent"), _Side(runs_blind, "blind search")
    if agent.policy == blind.policy:
        raise ConfigError(f"both sides are {agent.policy}: give them different names")
    draws = _Draws(rng.bits(), samples, agent.policy, blind.policy, paired)
    theorems, left_out = [], {}
    all_costs, solved_costs = [], []
    for name in sorted(agent.runs.keys() | blind.runs.keys()):
        ours, theirs = agent.of(name), blind.of(name)
        if paired:
            ours, theirs = _same_seeds(ours, theirs)
        why_not = _says_nothing(ours, theirs, unit, agent.policy, blind.policy)
        if why_not:
            left_out[name] = why_not
            continue
        costs = _Costs(name, _costs(ours, unit), _costs(theirs, unit))
        solved = _solved_costs(name, ours, theirs, unit, paired)
        all_costs.append(costs)
        solved_costs += [solved] if solved is not None else []
        theorems.append(_theorem_k(name, ours, theirs, costs, solved, unit, draws))
    return Comparison(
        agent.policy,
        blind.policy,
        unit,
        tuple(theorems),
        _set_k([one.censored for one in theorems], all_costs, draws, _bound),
        _set_k(
            [one.both_solved for one in theorems if one.both_solved is not None], solved_costs, draws, _bound_of_solved
        ),
        left_out,
        agent.failed + blind.failed,
        paired,
        samples,
    )


class _Side:
    """Return the runs of one policy by theorem, without those that failed."""

    def __init__(self, runs: Iterable[Run], called: str) -> None:
        found = list(runs)
        policies = sorted({run.policy for run in found})
        if len(policies) != 1:
            raise ConfigError(f"the {called} must be one policy, not {', '.join(policies) or 'none'}")
        self.policy = policies[0]
        self.failed = sum(run.status == "failed" for run in found)
        self.runs: dict[str, dict[int, Run]] = {}
        for run in found:
            by_seed = self.runs.setdefault(run.theorem, {})
            if run.seed in by_seed:
                raise ConfigError(f"{run.theorem} under {run.policy} was run twice with seed {run.seed}")
            by_seed[run.seed] = run

    def of(self, theorem: str) -> list[Run]:
        """Return the runs in the order of their seeds, so that the result does not depend on their order."""
        return [run for _, run in sorted(self.runs.get(theorem, {}).items()) if run.status != "failed"]


class _Draws:
    """The random numbers of the bootstrap.

    The seeds of a theorem are drawn by its name and the policy's, so the order of the sides does not matter.
    """

    def __init__(self, word: int, samples: int, agent: str, blind: str, paired: bool) -> None:
        self.samples = samples
        self._word, self._agent, self._blind = word, "both" if paired else agent, "both" if paired else blind

    def theorems(self, count: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return as many theorems as there are, for each sample."""
        return self._generator("theorems", str(count)).integers(count, size=(self.samples, count))

    def ratios(self, costs: _Costs, count: int) -> FloatArray:
        """Return K of a theorem for that many draws of its seeds."""
        agent = self._means(costs.agent, count, costs.theorem, self._agent)
        blind = self._means(costs.blind, count, costs.theorem, self._blind)
        drawn: FloatArray = np.log10(blind / agent)
        return drawn

    def _means(self, values: FloatArray, count: int, theorem: str, policy: str) -> FloatArray:
        picked = self._generator("seeds", theorem, policy).integers(len(values), size=(count, len(values)))
        means: FloatArray = values[picked].mean(axis=1)
        return means

    def _generator(self, *names: str) -> np.random.Generator:
        return np.random.default_rng([self._word, int(digest(*names), 16)])


def _theorem_k(
    name: str, ours: list[Run], theirs: list[Run], costs: _Costs, solved: _Costs | None, unit: str, draws: _Draws
) -> TheoremK:
    cut_agent, cut_blind = (sum(not run.proved for run in runs) for runs in (ours, theirs))

    def ratio(of: _Costs, bound: str, seeds: int) -> KRatio:
        low, high = -math.inf, math.inf
        if min(len(of.agent), len(of.blind)) > 1:
            low, high = _interval(draws.ratios(of, draws.samples))
        return KRatio(of.ratio, low, high, unit, 1, seeds, cut_agent, cut_blind, bound)

    return TheoremK(
        name,
        len(ours),
        len(theirs),
        len(ours) - cut_agent,
        len(theirs) - cut_blind,
        float(np.mean(costs.agent)),
        float(np.mean(costs.blind)),
        ratio(costs, _bound(cut_agent, cut_blind), max(len(ours), len(theirs))),
        None
        if solved is None
        else ratio(solved, _bound_of_solved(cut_agent, cut_blind), max(len(solved.agent), len(solved.blind))),
    )


def _set_k(
    figures: Sequence[KRatio], costs: list[_Costs], draws: _Draws, bound: Callable[[int, int], str]
) -> KRatio | None:
    """Return the mean over theorems, each with a figure and the costs that it is based on."""
    if not figures:
        return None
    low, high = figures[0].low, figures[0].high
    if len(costs) > 1:
        picks = draws.theorems(len(costs))
        drawn = np.empty(picks.shape)
        for number, one in enumerate(costs):
            where = picks == number
            drawn[where] = draws.ratios(one, int(where.sum()))
        low, high = _interval(drawn.mean(axis=1))
    cut_agent, cut_blind = (sum(getattr(one, side) for one in figures) for side in ("censored_agent", "censored_blind"))
    value = math.fsum(one.value for one in figures) / len(figures)
    return KRatio(
        value,
        low,
        high,
        figures[0].unit,
        len(figures),
        max(one.seeds for one in figures),
        cut_agent,
        cut_blind,
        bound(cut_agent, cut_blind),
    )


def _bound(cut_agent: int, cut_blind: int) -> str:
    """Return the bound: censored costs can only be larger, which bounds K if only one side was censored."""
    return {(False, False): "exact", (False, True): "at least", (True, False): "at most", (True, True): "none"}[
        cut_agent > 0, cut_blind > 0
    ]


def _bound_of_solved(cut_agent: int, cut_blind: int) -> str:
    """Return no bound: runs with a proof are the cheap ones, so without the others nothing is bounded."""
    return "none" if cut_agent or cut_blind else "exact"


def _interval(drawn: FloatArray) -> tuple[float, float]:
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def _costs(runs: Sequence[Run], unit: str) -> FloatArray:
    return np.array([float(getattr(run, unit)) for run in runs])


def _solved_costs(name: str, ours: list[Run], theirs: list[Run], unit: str, paired: bool) -> _Costs | None:
    ours, theirs = [run for run in ours if run.proved], [run for run in theirs if run.proved]
    if paired:
        ours, theirs = _same_seeds(ours, theirs)
    return _Costs(name, _costs(ours, unit), _costs(theirs, unit)) if ours and theirs else None


def _same_seeds(ours: list[Run], theirs: list[Run]) -> tuple[list[Run], list[Run]]:
    shared = {run.seed for run in ours} & {run.seed for run in theirs}
    return [run for run in ours if run.seed in shared], [run for run in theirs if run.seed in shared]


def _says_nothing(ours: list[Run], theirs: list[Run], unit: str, agent: str, blind: str) -> str:
    """Return why a theorem cannot be compared; empty if it can."""
    for runs, policy in ((ours, agent), (theirs, blind)):
        if not runs:
            return f"no run of {policy}"
        if any(getattr(run, unit) == 0 for run in runs):
            return f"a run of {policy} cost no {unit}"
    return ""
