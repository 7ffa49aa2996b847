"""Compare the policies of proof search with blind_uniform: K with intervals, and a policy chosen on one half.

    python bench/prove_k.py --seeds 10 --attempts 500 --workers 2 --out k.jsonl --plot k.png

Each theorem of the folder is searched under each policy with each seed, with easy tactics blocked and the same limit of
attempts. K is log10 of the cost of blind_uniform over that of the policy (docs/proving-experiments.md). A policy is
chosen on one half of the theorems and reported on the other. Runs are saved in the file of `--out`, and the same
command continues it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from treetop.compiler.rng import Rng
from treetop.lab.basins import basin_table
from treetop.lab.experiments import Experiment, ExperimentRuns
from treetop.lab.halves import choose, split
from treetop.lab.plots import draw_experiment
from treetop.lab.ratios import Comparison, compare
from treetop.lab.runs import Run, RunLog
from treetop.lab.suite import SuiteProgress, run_suite
from treetop.prove.config import ProofConfig
from treetop.search.limits import Limit

BLIND = "blind_uniform"
POLICIES = ("puct", "ucb1", "best_first")


def ratio(runs: dict[str, list[Run]], policy: str, theorems: tuple[str, ...], unit: str = "attempts") -> Comparison:
    """Return K of a policy on some theorems."""
    sides = ([run for run in runs[name] if run.theorem in theorems] for name in (policy, BLIND))
    agent, blind = sides
    return compare(agent, blind, unit, rng=Rng(1))


def main() -> None:
    """Run the missing searches, and print the results."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--folder", type=Path, default=Path(__file__).parents[1] / "examples" / "theorems")
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--attempts", type=int, default=500)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--policies", default="; ".join(POLICIES))
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--plot", type=Path)
    given = options.parse_args()
    policies = [*(text.strip() for text in given.policies.split(";")), BLIND]
    experiment = Experiment(given.folder, ProofConfig(), Limit(calls=given.attempts))
    theorems, seeds = tuple(experiment.problems()), range(given.seeds)

    def show(now: SuiteProgress) -> None:
        print(
            f"{now.finished}/{now.asked} {now.run.theorem} {now.run.policy} {now.run.seed}: "
            f"{now.run.status}, {now.run.attempts} attempts",
            flush=True,
        )

    with RunLog(given.out, experiment.report(theorems, policies, tuple(seeds)).to_dict()) as log:
        result = run_suite(
            theorems,
            ExperimentRuns(),
            log,
            policies=policies,
            seeds=tuple(seeds),
            arguments=(experiment,),
            workers=given.workers,
            progress=show,
        )
    runs = {policy: [run for run in result.runs if run.policy == policy] for policy in policies}
    print(f"\n{len(theorems)} theorems, {given.seeds} seeds, at most {given.attempts} attempts\n")
    for unit in ("attempts", "expansions", "seconds"):
        for policy in policies[:-1]:
            found = ratio(runs, policy, theorems, unit)
            print(f"{policy} in {unit}: K = {found.censored}; both proved: {found.both_solved}")
    halves = split(theorems)
    choice = choose({policy: runs[policy] for policy in policies[:-1]}, halves.choosing)
    print(f"\nchosen on {len(halves.choosing)} theorems:\n{choice}")
    print(f"\nreported on the other {len(halves.reporting)}: {choice.policy}")
    for name, text in ratio(runs, choice.policy, halves.reporting).facts().items():
        print(f"  {name}: {text}")
    if given.plot:
        table = basin_table([*runs[choice.policy], *runs[BLIND]])
        draw_experiment(
            given.plot, table, ratio(runs, choice.policy, theorems), title=f"{choice.policy} beside {BLIND}"
        )


if __name__ == "__main__":
    main()
