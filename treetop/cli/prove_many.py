"""The experiments of `treetop prove`: sets of problems, basins over many seeds, and K against a blind search."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.measure import Measurement

from treetop.cli.common import facts, refuse_missing_folder, say, say_json, screen, table
from treetop.cli.match import check_workers, print_how_to_continue, progress_line
from treetop.errors import ConfigError
from treetop.text import text_facts, text_table
from treetop.workers.places import on_cluster

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from treetop.lab.basins import BasinTable
    from treetop.lab.experiments import Experiment
    from treetop.lab.ratios import Comparison
    from treetop.lab.runs import Run
    from treetop.lab.suite import SuiteProgress, SuiteResult
    from treetop.prove.config import ProofConfig
    from treetop.prove.report import ProofReport
    from treetop.search.limits import Limit

_NAME = 12  # minimal width of the first column, in characters
_REASONS = 3  # how many reasons of failed and refused runs are printed


def run_experiment(
    what: str | None,
    suite: Path | None,
    lemmas: list[str],
    config: ProofConfig,
    limit: Limit | None,
    tiers: tuple[int, ...],
    *,
    policy: str | None,
    allow_easy: bool,
    mode: str,
    workers: int,
    on: str | None,
    seed: int,
    basin_seeds: int | None,
    basin_blind: bool,
    out: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Run what is not in the file yet, and report the results."""
    from treetop.lab.basins import basin_table
    from treetop.lab.experiments import Experiment, ExperimentRuns
    from treetop.lab.runs import RunLog
    from treetop.lab.suite import run_suite
    from treetop.prove.config import TIERS

    if basin_blind and basin_seeds is None:
        raise ConfigError("--basin-blind compares two policies over many seeds: add --basin-seeds N")
    if basin_seeds is not None and basin_seeds < 1:
        raise ConfigError(f"--basin-seeds must be at least 1, not {basin_seeds}")
    if plot is not None and basin_seeds is None:
        raise ConfigError("--plot draws basins: add --basin-seeds N")
    refuse_missing_folder(out)
    _refuse_picture(plot)
    check_workers(workers, on)
    source = _source(what, suite)
    experiment = Experiment(source, config, limit, tiers or (TIERS if limit is None else ()), allow_easy, mode)
    problems = _chosen(experiment, lemmas)
    agent = policy or config.policy
    policies = (agent, "blind_uniform") if basin_blind else (agent,)
    if len(set(policies)) < len(policies):
        raise ConfigError("--basin-blind compares with blind_uniform: use another --policy")
    seeds = tuple(range(seed, seed + (basin_seeds or 1)))
    report = experiment.report(problems, policies, seeds)
    units = len(problems) * len(policies) * len(seeds)
    sent, files = experiment.packed() if on_cluster(on) else (experiment, {})
    with (
        RunLog(out, report.to_dict()) as log,
        progress_line(f"{source.name}: {' and '.join(policies)}", units, "runs", "") as show,
    ):

        def count(now: SuiteProgress) -> None:
            show(now.finished, lambda: f"{now.run.theorem}: {now.run.status}")

        result = run_suite(
            problems,
            ExperimentRuns(),
            log,
            policies=policies,
            seeds=seeds,
            arguments=(sent,),
            workers=workers,
            progress=count,
            on=on,
            files=files,
        )
    summary = _Summary(
        result,
        report,
        _compared(result.runs, policies, seed),
        basin_table(result.runs) if basin_seeds is not None else None,
    )
    if as_json:
        say_json(summary.to_dict())
    elif screen().is_terminal:
        summary.draw()
    else:
        say(str(summary))
    if plot is not None and summary.basins is not None and summary.basins.basins:
        from treetop.lab.plots import draw_experiment

        draw_experiment(plot, summary.basins, summary.comparisons.get("attempts"), title=source.name)
        if not as_json:
            say(f"\ndrawn: {plot}")
    if result.interrupted:
        print_how_to_continue(out, "runs")


def _refuse_picture(plot: Path | None) -> None:
    """Raise an error for a plot that could not be saved later."""
    if plot is None:
        return
    from treetop.lab.plots import check_drawable

    refuse_missing_folder(plot)
    check_drawable(plot)


def _source(what: str | None, suite: Path | None) -> Path:
    from treetop.prove.plugins import plugin_for

    if suite is not None and what is not None:
        raise ConfigError(f"--suite names the problems: remove {what!r}")
    if suite is not None:
        return suite
    if what is None or plugin_for(what) is None:
        raise ConfigError(
            "experiments need files, so that they can be continued: name a File.v, a File.p or --suite DIR"
        )
    return Path(what)


def _chosen(experiment: Experiment, lemmas: list[str]) -> list[str]:
    """Return all problems, or those of the named lemmas."""
    problems = experiment.problems()
    if not problems:
        raise ConfigError(f"{experiment.source} has no problem")
    if not lemmas:
        return problems
    found = [problem for problem in problems if problem.partition(":")[2] in lemmas or problem in lemmas]
    missing = [
        lemma
        for lemma in lemmas
        if not any(problem == lemma or problem.partition(":")[2] == lemma for problem in found)
    ]
    if missing:
        raise ConfigError(f"{experiment.source} has no lemma {', '.join(missing)}")
    return found


def _compared(runs: tuple[Run, ...], policies: tuple[str, ...], seed: int) -> dict[str, Comparison]:
    """Return K in every unit of cost, if both sides have runs."""
    from treetop.compiler.rng import Rng
    from treetop.lab.ratios import compare

    if len(policies) < 2:
        return {}
    agent, blind = ([run for run in runs if run.policy == policy] for policy in policies)
    return (
        {unit: compare(agent, blind, unit, rng=Rng(seed)) for unit in ("attempts", "expansions", "seconds")}
        if agent and blind
        else {}
    )


@dataclass(frozen=True)
class _Summary:
    """The output of an experiment: tables, summary and report."""

    result: SuiteResult
    report: ProofReport
    comparisons: dict[str, Comparison]
    basins: BasinTable | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `--json` prints them."""
        result = self.result
        summary = {
            "runs": [run.to_dict() for run in result.runs],
            "asked": result.asked,
            "complete": result.complete,
            "interrupted": result.interrupted,
            "table": result.table.to_dict(),
            "report": self.report.to_dict(),
        }
        if self.basins is not None:
            summary |= {
                **self.basins.to_dict(),
                "k": {unit: comparison.to_dict() for unit, comparison in self.comparisons.items()},
            }
        return summary

    def tables(self) -> list[tuple[list[str], list[list[str]]]]:
        """Return headings and rows of all tables."""
        first = self.result.table if self.basins is None else self.basins
        return [
            first.rows(),
            *(comparison.rows() for unit, comparison in self.comparisons.items() if unit == "attempts"),
        ]

    def notes(self) -> dict[str, str]:
        """Return the summary by topic."""
        notes = {} if self.basins is None else self.basins.facts()
        for comparison in self.comparisons.values():
            notes |= (
                comparison.facts()
                if comparison.unit == "attempts"
                else {f"K in {comparison.unit}": str(comparison.censored or "unknown")}
            )
        result = self.result
        if not result.complete:
            notes["finished"] = f"{len(result.runs):,} of {result.asked:,} runs"
        for status in ("failed", "refused"):
            reasons = list(dict.fromkeys(f"{run.theorem}: {run.reason}" for run in result.runs if run.status == status))
            if reasons:
                more = f"; and {len(reasons) - _REASONS:,} more" if len(reasons) > _REASONS else ""
                notes[status] = "; ".join(reasons[:_REASONS]) + more
        return notes

    def draw(self) -> None:
        """Print on a terminal."""
        console = screen()
        for head, rows in self.tables():
            # Two policies side by side are easier to compare, if there is enough width.
            groups = (
                _by_column(head, rows, "policy")
                if _least_width(_fitting(head, rows), console) > console.width
                else {"": (head, rows)}
            )
            for name, part in groups.items():
                if name:
                    console.print(name, style="bold")
                _print(_fitting(*part), console)
                console.print()
        for topics in (self.notes(), self.report.facts()):
            if topics:
                console.print(facts(dict(topics)))
                console.print()

    def __str__(self) -> str:
        parts = [text_table(*rows) for rows in self.tables()]
        parts += [text_facts(topics) for topics in (self.notes(), self.report.facts())]
        return "\n\n".join(part for part in parts if part)


def _fitting(head: list[str], rows: list[list[str]]) -> Table:
    """Return a table whose headings are wrapped to the width of their columns."""
    widths = [max((len(row[number]) for row in rows), default=0) for number in range(len(head))]
    made = table(
        *(
            "\n".join(textwrap.wrap(heading, max(width, 7), break_long_words=False))
            for heading, width in zip(head, widths, strict=True)
        )
    )
    made.columns[0].min_width = min(_NAME, max(widths[0], len(head[0])))
    for row in rows:
        made.add_row(*row)
    return made


def _by_column(head: list[str], rows: list[list[str]], name: str) -> dict[str, tuple[list[str], list[list[str]]]]:
    """Return a table for each value of a column, without that column."""
    if name not in head:
        return {"": (head, rows)}
    where = head.index(name)
    groups: dict[str, list[list[str]]] = {}
    for row in rows:
        groups.setdefault(row[where], []).append([*row[:where], *row[where + 1 :]])
    return {value: ([*head[:where], *head[where + 1 :]], group) for value, group in groups.items()}


def _print(made: Table, console: Console) -> None:
    """Print a table, without padding if it is too wide. A table that is still too wide is not clipped."""
    if _least_width(made, console) > console.width:
        made.padding = (0, 0, 0, 0)
    console.print(made, width=max(console.width, _least_width(made, console)), crop=False)


def _least_width(made: Table, console: Console) -> int:
    return Measurement.get(console, console.options.update(max_width=10_000), made).minimum
