"""The experiments of `treetop prove`: sets of problems, basins over many seeds, and K against a blind search."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from treetop.cli.common import FAILURE, FAINT, counting, errors, facts, refuse_missing_folder, say, say_json, screen, table
from treetop.errors import ConfigError

if TYPE_CHECKING:
    from treetop.prove.config import ProofConfig
    from treetop.prove.experiments import Experiment
    from treetop.prove.limits import ProofLimit
    from treetop.prove.ratios import Comparison
    from treetop.prove.records import Run
    from treetop.prove.suite import SuiteProgress, SuiteResult

INTERRUPTED = 130


def run_experiment(
    what: str | None, suite: Path | None, lemmas: list[str], config: ProofConfig, limit: ProofLimit | None, tiers: tuple[int, ...], *,
    policy: str | None, allow_easy: bool, mode: str, workers: int, seed: int, basin_seeds: int | None, basin_blind: bool, out: Path | None, plot: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Run all that is not in the file yet, and tell what it shows."""
    from treetop.prove.config import TIERS
    from treetop.prove.experiments import Experiment, prove_one
    from treetop.prove.records import RunLog
    from treetop.prove.suite import run_suite

    if basin_blind and basin_seeds is None:
        raise ConfigError("--basin-blind compares two policies over many seeds: say how many with --basin-seeds")
    if basin_seeds is not None and basin_seeds < 1:
        raise ConfigError(f"--basin-seeds must be at least 1, not {basin_seeds}")
    if plot is not None and basin_seeds is None:
        raise ConfigError("--plot draws basins: say how many seeds with --basin-seeds")
    refuse_missing_folder(out)
    refuse_missing_folder(plot)
    source = _source(what, suite)
    experiment = Experiment(source, config, limit, tiers or (TIERS if limit is None else ()), allow_easy, mode)
    problems = _chosen(experiment, lemmas)
    agent = policy or config.policy
    policies = (agent, "blind_uniform") if basin_blind else (agent,)
    if len(set(policies)) < len(policies):
        raise ConfigError("--basin-blind compares with blind_uniform: give another --policy")
    seeds = tuple(range(seed, seed + (basin_seeds or 1)))
    report = experiment.report(problems, policies, seeds)
    with RunLog(out, report.to_dict()) as log, counting(f"{source.name}: {' and '.join(policies)}", len(problems) * len(policies) * len(seeds)) as count:

        def show(now: SuiteProgress) -> None:
            count(now.finished, f"{now.run.theorem}: {now.run.status}")

        result = run_suite(problems, prove_one, log, policies=policies, seeds=seeds, arguments=(experiment,), workers=workers, progress=show)
    _tell(result, report.facts(), report.to_dict(), policies, seed, basins=basin_seeds is not None, plot=plot, title=source.name, as_json=as_json)
    if result.interrupted:
        errors().print(f"interrupted; the same command goes on{'' if out else ' from the start: name a file with --out'}", style=FAINT, soft_wrap=True)
        raise typer.Exit(INTERRUPTED)
    if not all(run.proved for run in result.runs):
        raise typer.Exit(FAILURE)


def _source(what: str | None, suite: Path | None) -> Path:
    if suite is not None and what is not None:
        raise ConfigError(f"--suite names the problems: leave out {what!r}")
    if suite is not None:
        return suite
    if what is None or not what.endswith((".v", ".p")):
        raise ConfigError("experiments are run on files, so that they can go on later: name a File.v, a File.p or --suite DIR")
    return Path(what)


def _chosen(experiment: Experiment, lemmas: list[str]) -> list[str]:
    """All problems, or those of the named lemmas."""
    problems = experiment.problems()
    if not problems:
        raise ConfigError(f"{experiment.source} holds no problem")
    if not lemmas:
        return problems
    found = [problem for problem in problems if problem.partition(":")[2] in lemmas or problem in lemmas]
    missing = [lemma for lemma in lemmas if not any(problem == lemma or problem.partition(":")[2] == lemma for problem in found)]
    if missing:
        raise ConfigError(f"{experiment.source} has no lemma {', '.join(missing)}")
    return found


def _tell(
    result: SuiteResult, said: dict[str, str], report: dict[str, Any], policies: tuple[str, ...], seed: int, *, basins: bool, plot: Path | None, title: str,
    as_json: bool,
) -> None:  # fmt: skip
    from treetop.prove.basins import basin_table

    comparisons = _compared(result.runs, policies, seed) if len(policies) > 1 else {}
    found = basin_table(result.runs)
    if plot is not None:
        from treetop.prove.plots import draw_experiment

        draw_experiment(plot, found, comparisons.get("attempts"), title=title)
    if as_json:
        told: dict[str, Any] = {"runs": [run.to_dict() for run in result.runs], "table": result.table.to_dict(), "report": report}
        if basins:
            told |= {**found.to_dict(), "k": {unit: comparison.to_dict() for unit, comparison in comparisons.items()}}
        say_json(told)
        return
    parts: list[Any] = [found if basins else result.table, *(comparison for unit, comparison in comparisons.items() if unit == "attempts")]
    notes = {**(found.facts() if basins else {})}
    for comparison in comparisons.values():
        notes |= comparison.facts() if comparison.unit == "attempts" else {f"K in {comparison.unit}": comparison.facts()[f"K in {comparison.unit}"]}
    _draw(parts, notes, said, plot)


def _compared(runs: tuple[Run, ...], policies: tuple[str, ...], seed: int) -> dict[str, Comparison]:
    """K in every unit of cost, where both sides have runs."""
    from treetop.compiler.rng import Rng
    from treetop.prove.ratios import compare

    agent, blind = ([run for run in runs if run.policy == policy] for policy in policies)
    return {unit: compare(agent, blind, unit, rng=Rng(seed)) for unit in ("attempts", "expansions", "seconds")} if agent and blind else {}


def _draw(parts: list[Any], notes: dict[str, str], said: dict[str, str], plot: Path | None) -> None:
    console = screen()
    for part in parts:
        head, rows = part.rows()
        made = table(*head)
        for row in rows:
            made.add_row(*row)
        console.print(made, soft_wrap=not console.is_terminal)
        console.print()
    for rows in (notes, said):
        if rows:
            console.print(facts(dict(rows)), soft_wrap=not console.is_terminal)
            console.print()
    if plot is not None:
        say(f"drawn: {plot}")
