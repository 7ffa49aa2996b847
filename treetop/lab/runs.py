"""Records of proof searches: one line of JSON for each run, in a file that can be continued."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from treetop import checks
from treetop.errors import ConfigError, SaveError
from treetop.journal import Journal, Record, as_read, read_journal

KIND = "an experiment with proofs"
VERSION = 2

STATUSES = ("proved", "exhausted", "open", "refused", "failed")
"""`proved`: and a checker accepted it. `exhausted`: nothing was left to try. `open`: the budget ended first. `refused`:
the checker did not accept the proof. `failed`: an error ended the run, so it says nothing about the search."""

_COUNTS = ("simulations", "attempts", "expansions", "size")
_TEXTS = ("theorem", "policy", "status", "structure", "script", "reason")


class RunKey(NamedTuple):
    """Identifies a run."""

    theorem: str
    policy: str
    seed: int


@dataclass(frozen=True)
class Run:
    """One search for a proof of one theorem, and its outcome. Checks its fields.

    >>> import treetop as tt
    >>> run = tt.lab.Run("swap", "ucb1", seed=1, status="proved", attempts=12, structure="s")
    >>> run.proved, run.key
    (True, RunKey(theorem='swap', policy='ucb1', seed=1))
    """

    theorem: str
    policy: str
    """The policy with the options that distinguish it: `ucb1`, or `ucb1(c=0.5)` if several are compared."""
    seed: int
    status: str
    """One of `STATUSES`."""
    simulations: int = 0
    attempts: int = 0
    """Tactics tried on goals, whether they succeeded or not."""
    expansions: int = 0
    seconds: float = 0.0
    structure: str = ""
    """The structure of the proof; empty if there is none."""
    script: str = ""
    size: int = 0
    """The number of tactics of the proof."""
    reason: str = ""
    """Why there is no proof."""

    def __post_init__(self) -> None:
        for name in _TEXTS:
            if not isinstance(getattr(self, name), str):
                raise ConfigError(f"{name} of a run must be text, not {getattr(self, name)!r}")
        if not self.theorem or not self.policy:
            raise ConfigError("a run needs a theorem and a policy")
        checks.one_of("status of a run", self.status, STATUSES)
        checks.whole("seed of a run", self.seed)
        for name in _COUNTS:
            checks.whole(f"{name} of a run", getattr(self, name), 0)
        checks.number("seconds of a run", self.seconds, 0)
        if self.proved != bool(self.structure):
            raise ConfigError(
                "a run must have a structure if and only if it is proved: "
                f"{self.theorem} is {self.status} with {self.structure!r}"
            )

    @property
    def proved(self) -> bool:
        """Whether there is a proof that the checker accepted."""
        return self.status == "proved"

    @property
    def key(self) -> RunKey:
        """The key of the run."""
        return RunKey(self.theorem, self.policy, self.seed)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Run:
        """Return the run of a dict made by `to_dict`; raise ConfigError with the reason if it is not one."""
        names = [field.name for field in fields(cls)]
        missing, unknown = (
            [name for name in names if name not in content],
            [str(name) for name in content if name not in names],
        )
        if missing or unknown:
            raise ConfigError(
                f"a run has {', '.join(names)}; "
                + (f"missing: {', '.join(missing)}" if missing else f"unknown: {', '.join(unknown)}")
            )
        return cls(**content)


class RunLog(Journal):
    """Runs in a file or, without a path, in memory. Use it as a context manager: one process writes at a time.

    The header holds the report of the experiment. A file with a different report is refused, except for the fields in
    `may_differ`: an experiment may be continued with more seeds and policies, and on another machine.

    >>> import treetop as tt
    >>> with tt.lab.RunLog(None, {"prover": "logic"}) as log:
    ...     log.append(tt.lab.Run("swap", "ucb1", seed=1, status="open", attempts=12))
    >>> [key.seed for key in log.missing(["swap"], ["ucb1"], seeds=range(3))]
    [0, 2]
    """

    entry = "run"

    def __init__(
        self,
        path: str | Path | None,
        report: Mapping[str, Any],
        *,
        may_differ: Iterable[str] = ("seeds", "policies", "versions", "machine"),
    ) -> None:
        super().__init__(
            None if path is None else Path(path), as_read({"kind": KIND, "version": VERSION, "report": dict(report)})
        )
        self.runs: dict[RunKey, Run] = {}
        """The finished runs. A run that failed and was repeated is there once, with its last outcome."""
        self._may_differ = frozenset(may_differ)

    def append(self, run: Run) -> None:
        """Add a finished run. It is on the disk when this returns."""
        before = self.runs.get(run.key)
        if before is not None and before.status != "failed":
            raise ConfigError(f"{run.theorem} under {run.policy} with seed {run.seed} was run before: {before.status}")
        self.write(run.to_dict())
        self.runs[run.key] = run

    def missing(
        self, theorems: Sequence[str], policies: Sequence[str], seeds: Sequence[int], *, retry_failed: bool = False
    ) -> Iterator[RunKey]:
        """Yield the runs that are missing: all theorems under all policies with the first seed, then with the second,
        and so on.
        """
        for seed in seeds:
            for theorem in theorems:
                for policy in policies:
                    key = RunKey(theorem, policy, seed)
                    found = self.runs.get(key)
                    if found is None or (retry_failed and found.status == "failed"):
                        yield key

    def select(self, theorems: Sequence[str], policies: Sequence[str], seeds: Sequence[int]) -> list[Run]:
        """Return the finished runs among these, in the order of `missing`."""
        keys = (RunKey(theorem, policy, seed) for seed in seeds for theorem in theorems for policy in policies)
        return [self.runs[key] for key in keys if key in self.runs]

    def refuse_another(self, path: Path, found: Record) -> None:
        """Raise SaveError if the file belongs to another experiment."""
        theirs, ours = found.get("report"), self.header["report"]
        if not isinstance(theirs, dict):
            raise SaveError(f"{path} is damaged: it has no report")
        for name in dict.fromkeys([*ours, *theirs]):
            if name not in self._may_differ and theirs.get(name) != ours.get(name):
                raise SaveError(
                    f"{path} belongs to another experiment: its {name.replace('_', ' ')} is {_show(theirs.get(name))}, "
                    f"not {_show(ours.get(name))}; use another file"
                )

    def take(self, record: Record) -> bool:
        """Add a run that was read from the file, and return whether it is valid."""
        try:
            run = Run.from_dict(record)
        except ConfigError:
            return False
        before = self.runs.get(run.key)
        if before is not None and before.status != "failed":
            return False
        self.runs[run.key] = run
        return True


def read_runs(path: str | Path) -> tuple[dict[str, Any], list[Run]]:
    """Return the report and the runs of an experiment's file.

    Of a run that failed and was repeated, the last one counts.

    >>> import pathlib, tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tt.lab.RunLog(pathlib.Path(folder) / "runs.jsonl", {"prover": "logic"}) as log:
    ...         log.append(tt.lab.Run("swap", "ucb1", seed=1, status="open", attempts=12))
    ...     report, runs = tt.lab.read_runs(pathlib.Path(folder) / "runs.jsonl")
    >>> report, [run.theorem for run in runs]
    ({'prover': 'logic'}, ['swap'])
    """
    path = Path(path)
    header, lines = read_journal(path, (KIND,), VERSION)
    report = header.get("report", {})
    if not isinstance(report, dict):
        raise SaveError(f"{path} is damaged: it has no report")
    log = RunLog(None, report)
    for number, line in enumerate(lines, start=2):
        if not log.take(line):
            raise SaveError(f"{path} is damaged: line {number} is not a valid run")
    return report, list(log.runs.values())


def _show(value: Any) -> str:
    if isinstance(value, list):
        text = ", ".join(map(str, value))
    elif isinstance(value, dict):
        text = ", ".join(f"{key} {entry}" for key, entry in value.items())
    else:
        text = str(value)
    text = text if value not in (None, [], {}) else "none"
    return text if len(text) <= 200 else f"{text[:200]}..."
