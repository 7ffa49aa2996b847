"""Sets of problems: the files that hold them, the runs, and a table of the outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treetop.errors import ConfigError
from treetop.lab.runs import STATUSES, Run, RunKey, RunLog
from treetop.prove.plugins import suffixes
from treetop.text import text_table
from treetop.workers.pool import Pool
from treetop.workers.sending import Luggage
from treetop.workers.transport import close
from treetop.workers.units import Outcome, Unit, resolve

ProveOne = str | Callable[..., Run]
"""A function of a problem's name, a policy, a seed and the further `arguments` of `run_suite`; or its name as
`module:function`."""


@dataclass(frozen=True)
class ProblemFile:
    """A file that holds one problem or several."""

    name: str
    """Its path within the set, without the suffix."""
    path: Path


def find_problems(source: str | Path) -> list[ProblemFile]:
    """Return the files with problems in a folder and its subfolders, sorted by name; or the one file.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = (pathlib.Path(folder) / "swap.p").write_text("fof(swap, conjecture, (p & q) => (q & p)).")
    ...     [problem.name for problem in find_problems(folder)]
    ['swap']
    """
    source = Path(source)
    if source.is_file():
        if source.suffix not in suffixes():
            raise ConfigError(f"{source} is not a problem file: the name must end with {' or '.join(suffixes())}")
        return [ProblemFile(source.stem, source)]
    if not source.is_dir():
        raise ConfigError(f"there is no file or folder {source}")
    paths = [path for path in source.rglob("*") if path.suffix in suffixes() and path.is_file()]
    if not paths:
        raise ConfigError(f"{source} has no problem files: no name ends with {' or '.join(suffixes())}")
    names = {path: path.relative_to(source).with_suffix("").as_posix() for path in paths}
    shared = Counter(names.values())
    return sorted(
        (ProblemFile(name if shared[name] == 1 else name + path.suffix, path) for path, name in names.items()),
        key=lambda file: file.name,
    )


def family_of(problem: str) -> str:
    """Return the family of a problem: for TPTP the name up to the first `+`, for a lemma `file:name` its file.

    >>> family_of("SYJ201+1.002"), family_of("lists:app_nil"), family_of("folder/trees")
    ('SYJ201', 'lists', 'trees')
    """
    return problem.rpartition("/")[2].partition("+")[0].partition(":")[0] or problem


@dataclass(frozen=True)
class Tally:
    """Counts over some runs."""

    runs: int
    statuses: dict[str, int]
    """The number of runs for every status."""
    attempts: int
    seconds: float

    @property
    def proved(self) -> int:
        """How many found a proof."""
        return self.statuses["proved"]

    @classmethod
    def of(cls, runs: Iterable[Run]) -> Tally:
        """Count runs."""
        found = list(runs)
        counts = Counter(run.status for run in found)
        return cls(
            len(found),
            {status: counts[status] for status in STATUSES},
            sum(run.attempts for run in found),
            sum(run.seconds for run in found),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"runs": self.runs, **self.statuses, "attempts": self.attempts, "seconds": self.seconds}


@dataclass(frozen=True)
class SuiteTable:
    """The outcomes of a set of problems, by family and in total, under each policy."""

    families: dict[tuple[str, str], Tally]
    """By policy and family."""
    totals: dict[str, Tally]
    """By policy."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            policy: {
                **total.to_dict(),
                "families": {
                    family: tally.to_dict() for (owner, family), tally in self.families.items() if owner == policy
                },
            }
            for policy, total in self.totals.items()
        }

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return the headings, a row for each family, and a row for the total.

        Statuses that did not occur are left out.
        """
        ends = [
            status
            for status in STATUSES
            if status == "proved" or any(total.statuses[status] for total in self.totals.values())
        ]
        several = len(self.totals) > 1
        rows = []
        for policy, total in self.totals.items():
            named = [(family, tally) for (owner, family), tally in self.families.items() if owner == policy]
            for family, tally in [*named, ("all", total)]:
                share = f"{tally.proved / tally.runs:.0%}" if tally.runs else "-"
                rows.append(
                    [
                        family,
                        *([policy] if several else []),
                        f"{tally.runs:,}",
                        *(f"{tally.statuses[status]:,}" for status in ends),
                        share,
                        f"{tally.attempts:,}",
                        f"{tally.seconds:,.1f}",
                    ]
                )
        return ["family", *(["policy"] if several else []), "runs", *ends, "share", "attempts", "seconds"], rows

    def __str__(self) -> str:
        return text_table(*self.rows())


def suite_table(runs: Iterable[Run], family: Callable[[str], str] = family_of) -> SuiteTable:
    """Count runs by policy and by the family of their theorem, sorted by family."""
    found = list(runs)
    grouped: dict[tuple[str, str], list[Run]] = {}
    for run in found:
        grouped.setdefault((run.policy, family(run.theorem)), []).append(run)
    policies = dict.fromkeys(run.policy for run in found)
    return SuiteTable(
        {key: Tally.of(grouped[key]) for key in sorted(grouped)},
        {policy: Tally.of(run for run in found if run.policy == policy) for policy in policies},
    )


@dataclass(frozen=True)
class SuiteProgress:
    """The progress of a set; passed to the callback after every run."""

    run: Run
    """The run that has just ended."""
    finished: int
    """How many runs are finished, including those from before."""
    asked: int


@dataclass(frozen=True)
class SuiteResult:
    """The runs of a set, finished or not."""

    runs: tuple[Run, ...]
    asked: int
    interrupted: bool = False
    """Whether Ctrl-C stopped it."""

    @property
    def complete(self) -> bool:
        """Whether all runs are finished."""
        return len(self.runs) >= self.asked

    @property
    def table(self) -> SuiteTable:
        """The table of outcomes."""
        return suite_table(self.runs)


def run_suite(
    problems: Sequence[str],
    prove_one: ProveOne,
    log: RunLog,
    *,
    policies: Sequence[str],
    seeds: Sequence[int] = (0,),
    arguments: tuple[Any, ...] = (),
    workers: int = 1,
    deadline: float | None = None,
    retry_failed: bool = False,
    progress: Callable[[SuiteProgress], object] | None = None,
    on: str | None = None,
    files: Mapping[str, bytes] | None = None,
) -> SuiteResult:
    """Run what the log lacks: every problem under every policy with every seed.

    The log must be open; each run is saved before the next is reported.

    `prove_one(problem, policy, seed, *arguments)` makes one run. With several workers it is called in processes, so it
    must be a function of a module or be named as `module:function`. An object with a method `close` is closed at the
    end. A run that raises, dies or takes longer than `deadline` seconds (with several workers only) is recorded as
    failed, with the reason; the others continue. Ctrl-C stops the set and keeps what is finished. With `on="ray"` or
    `on="ray://host:port"` the workers are on a Ray cluster; `files` are then written to the current folder of each, by
    their relative paths (`Experiment.packed` returns those of an experiment).

    >>> import treetop as tt
    >>> def prove_one(problem, policy, seed):
    ...     return tt.lab.Run(problem, policy, seed, "open", attempts=10)
    >>> with tt.lab.RunLog(None, {}) as log:
    ...     result = run_suite(["swap"], prove_one, log, policies=["ucb1"], seeds=range(3))
    >>> result.complete, len(result.runs)
    (True, 3)
    """
    for what, values in (("problems", problems), ("policies", policies), ("seeds", seeds)):
        if not values or len(set(values)) != len(values):
            raise ConfigError(f"{what} must be a list without repetitions and not empty, not {list(values)!r}")
    asked = len(problems) * len(policies) * len(seeds)
    units = (
        Unit(f"{key.theorem} / {key.policy} / {key.seed}", (key,))
        for key in log.missing(problems, policies, seeds, retry_failed=retry_failed)
    )
    finished = len(log.select(problems, policies, seeds)) - (
        _failed(log, problems, policies, seeds) if retry_failed else 0
    )
    interrupted = False
    try:
        luggage = Luggage((prove_one,) if isinstance(prove_one, str) else (), dict(files or {}))
        with Pool(set_up, (prove_one, arguments), workers=workers, deadline=deadline, on=on, luggage=luggage) as pool:
            for outcome in pool.run(units):
                run = _run_of(outcome)
                log.append(run)
                finished += 1
                if progress is not None:
                    progress(SuiteProgress(run, finished, asked))
    except KeyboardInterrupt:
        interrupted = True
    return SuiteResult(tuple(log.select(problems, policies, seeds)), asked, interrupted)


def set_up(prove_one: ProveOne, arguments: tuple[Any, ...]) -> Callable[[RunKey], Run]:
    """Return the function that makes the run of a key. Each worker calls this once."""
    return _Runs(resolve(prove_one), arguments)


class _Runs:
    """Makes the run of a key."""

    def __init__(self, prove: Callable[..., Run], arguments: tuple[Any, ...]) -> None:
        self._prove, self._arguments = prove, arguments

    def __call__(self, key: RunKey) -> Run:
        run = self._prove(*key, *self._arguments)
        if not isinstance(run, Run) or run.key != key:
            raise ConfigError(f"the run of {', '.join(map(str, key))} was requested, but {run!r} was returned")
        return run

    def close(self) -> None:
        """Close what makes the runs."""
        close(self._prove)


def _run_of(outcome: Outcome) -> Run:
    if outcome.ok:
        run: Run = outcome.value
        return run
    key: RunKey = outcome.unit.arguments[0]
    return Run(key.theorem, key.policy, key.seed, "failed", reason=outcome.reason)


def _failed(log: RunLog, problems: Sequence[str], policies: Sequence[str], seeds: Sequence[int]) -> int:
    return sum(run.status == "failed" for run in log.select(problems, policies, seeds))
