"""Experiments: sets of theorems, run under several policies with many seeds.

An `Experiment` is sent to the workers; a problem is a name, which each worker looks up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from treetop.errors import ConfigError
from treetop.lab.runs import Run
from treetop.lab.structure import structure
from treetop.lab.suite import find_problems
from treetop.prove.abilities import LemmaFile
from treetop.prove.config import ProofConfig, read_policy
from treetop.prove.plugins import open_file, plugin_for
from treetop.prove.prover import Theorem, TheoremFile
from treetop.prove.report import ProofReport, report_on
from treetop.prove.result import ProofResult
from treetop.prove.search import ProofSearch, with_exploration
from treetop.prove.sessions import ProverSession
from treetop.search.limits import Limit


@dataclass(frozen=True)
class Experiment:
    """The settings that all runs of an experiment share.

    >>> import pathlib, tempfile, treetop as tt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = (pathlib.Path(folder) / "swap.p").write_text("fof(swap, conjecture, (p & q) => (q & p)).")
    ...     experiment = tt.lab.Experiment(pathlib.Path(folder), tt.prove.ProofConfig(), tt.Limit(simulations=50))
    ...     experiment.problems()
    ['swap']
    """

    source: Path
    """A file or a folder with problems."""
    config: ProofConfig
    limit: Limit | None = None
    tiers: tuple[int, ...] = ()
    allow_easy: bool = False
    mode: str = "invertible"
    """The mode of the embedded logic."""

    def __post_init__(self) -> None:
        if self.limit is None and not self.tiers:
            raise ConfigError("an experiment needs a limit or budget tiers")

    def problems(self) -> list[str]:
        """Return the names of all problems: the name of a TPTP file, `file:lemma` for each lemma of a Coq file."""
        names: list[str] = []
        for found in find_problems(self.source):
            file = self._open(found.path)
            names += (
                [f"{found.name}:{lemma}" for lemma in file.names()] if isinstance(file, LemmaFile) else [found.name]
            )
        return names

    def theorem(self, problem: str) -> Theorem:
        """Return the theorem of that name."""
        paths = {file.name: file.path for file in find_problems(self.source)}
        name, _, lemma = problem.partition(":")
        if name not in paths:
            raise ConfigError(f"there is no problem {problem!r} in {self.source}")
        return self._open(paths[name]).theorem(lemma or None)

    def _open(self, path: Path) -> TheoremFile:
        plugin = plugin_for(path)
        accepted = () if plugin is None else plugin.options
        options = {"mode": self.mode, "data": True}  # experiments include lemmas that are data
        return open_file(path, **{name: value for name, value in options.items() if name in accepted})

    def packed(self) -> tuple[Experiment, dict[str, bytes]]:
        """Return the experiment for workers on other machines, and the files of its problems by their paths there."""
        folder = Path("problems")
        if self.source.is_file():
            return replace(self, source=folder / self.source.name), {
                f"{folder}/{self.source.name}": self.source.read_bytes()
            }
        files = {
            f"{folder}/{found.path.relative_to(self.source).as_posix()}": found.path.read_bytes()
            for found in find_problems(self.source)
        }
        return replace(self, source=folder), files

    def report(self, problems: Sequence[str], policies: Sequence[str], seeds: Sequence[int]) -> ProofReport:
        """Return the report that belongs to every figure of the experiment."""
        theorems = {problem: self.theorem(problem) for problem in problems}
        config = with_exploration(self.config, next(iter(theorems.values())))
        return report_on(
            {name: theorem.facts() for name, theorem in theorems.items()},
            config,
            "the prover's own",
            allow_easy=self.allow_easy,
            seeds=tuple(seeds),
            tiers=self.tiers,
            policies=tuple(policies),
            limits={}
            if self.limit is None
            else {key: value for key, value in vars(self.limit).items() if value is not None},
        )


def run_of(result: ProofResult, policy: str, seed: int, name: str | None = None) -> Run:
    """Return the record of a result."""
    proof = result.proof
    reason = (
        "" if proof is not None else result.verdict.reason if result.verdict is not None else result.graph.root.reason
    )
    return Run(
        name or result.theorem,
        policy,
        seed,
        result.status,
        result.simulations,
        result.attempts,
        result.expansions,
        round(result.seconds, 4),
        "" if proof is None else structure(proof),
        result.script,
        result.steps,
        reason,
    )


class ExperimentRuns:
    """Makes the runs of an experiment one after the other, with a prover that is kept open."""

    def __init__(self) -> None:
        self._session = ProverSession()

    def __call__(self, problem: str, policy: str, seed: int, experiment: Experiment) -> Run:
        """Make one run."""
        return prove_one(problem, policy, seed, experiment, self._session)

    def close(self) -> None:
        """Close the prover."""
        self._session.close()


def prove_one(
    problem: str, policy: str, seed: int, experiment: Experiment, session: ProverSession | None = None
) -> Run:
    """Make one run of an experiment."""
    theorem = experiment.theorem(problem)
    config = read_policy(policy, experiment.config)
    with ProofSearch(theorem, config, seed=seed, allow_easy=experiment.allow_easy, session=session) as search:
        if experiment.tiers:
            seconds = None if experiment.limit is None else experiment.limit.seconds
            result = search.run_tiers(experiment.tiers, seconds=seconds)
        else:
            assert experiment.limit is not None
            result = search.run(experiment.limit)
    if result.interrupted:  # an interrupted run does not count
        raise KeyboardInterrupt
    return run_of(result, policy, seed, problem)
