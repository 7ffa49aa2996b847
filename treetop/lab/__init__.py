"""Studies that use the other packages: experiments with proof search, how they are run, saved, measured and plotted.

>>> import treetop as tt
>>> from treetop.lab import *
>>> def run(policy: str, seed: int, attempts: int) -> Run:
...     return Run("swap", policy, seed, "proved", attempts=attempts, structure="s")
>>> agent, blind = ([run(policy, seed, cost) for seed in range(4)] for policy, cost in (("ucb1", 10), ("blind", 100)))
>>> table: BasinTable = basin_table(agent)
>>> one: Basins = basins_of(agent)
>>> comparison: Comparison = compare(agent, blind, rng=tt.Rng(1))
>>> round(comparison.censored.value, 3)
1.0
>>> halves: Halves = split(["swap", "other"], seed=1)
>>> choose({"ucb1": agent, "blind": blind}, ["swap"]).policy
'ucb1'

An `Experiment` searches the problems of a file or a folder; a `RunLog` keeps the runs, and `read_runs` reads them:

>>> import pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     file = pathlib.Path(folder) / "swap.p"
...     size = file.write_text("fof(swap, conjecture, (p & q) => (q & p)).")
...     found = [problem.name for problem in find_problems(folder)]
...     experiment = Experiment(file, tt.prove.ProofConfig(), limit=tt.Limit(simulations=50))
...     problems = experiment.problems()
...     with RunLog(pathlib.Path(folder) / "runs.jsonl", {}) as log:
...         log.append(agent[0])
...     report, runs = read_runs(pathlib.Path(folder) / "runs.jsonl")
>>> runs == agent[:1]
True

`run_suite` runs what a log lacks, and `draw_experiment` plots it:

>>> with RunLog(None, {}) as log:
...     done = run_suite(["swap"], lambda problem, policy, seed: run(policy, seed, 10), log, policies=["ucb1"])
>>> len(log.runs)
1
>>> with tempfile.TemporaryDirectory() as folder:
...     draw_experiment(pathlib.Path(folder) / "runs.svg", table, comparison).name
'runs.svg'

Public names are imported on first use.
"""

from typing import TYPE_CHECKING

from treetop.lazy import exports

if TYPE_CHECKING:
    from treetop.lab.basins import Basins as Basins
    from treetop.lab.basins import BasinTable as BasinTable
    from treetop.lab.basins import basin_table as basin_table
    from treetop.lab.basins import basins_of as basins_of
    from treetop.lab.experiments import Experiment as Experiment
    from treetop.lab.halves import Halves as Halves
    from treetop.lab.halves import choose as choose
    from treetop.lab.halves import split as split
    from treetop.lab.plots import draw_experiment as draw_experiment
    from treetop.lab.ratios import Comparison as Comparison
    from treetop.lab.ratios import compare as compare
    from treetop.lab.runs import Run as Run
    from treetop.lab.runs import RunLog as RunLog
    from treetop.lab.runs import read_runs as read_runs
    from treetop.lab.suite import find_problems as find_problems
    from treetop.lab.suite import run_suite as run_suite

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "basins": "BasinTable Basins basin_table basins_of",
        "experiments": "Experiment",
        "halves": "Halves choose split",
        "plots": "draw_experiment",
        "ratios": "Comparison compare",
        "runs": "Run RunLog read_runs",
        "suite": "find_problems run_suite",
    },
)
