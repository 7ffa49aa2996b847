"""Compare the tactics a second of several provers on one tree with one prover, and measure the coordinator's CPU time.

    python bench/prove_workers.py --seconds 10 --rounds 5

The statements are false, so every search uses all its time. One worker and several take turns; medians are printed. The
processes of Coq use most of the time, so the ratio is close to the number of free cores minus the coordinator's share.
"""

from __future__ import annotations

import argparse
import statistics
import time

from treetop.prove.config import ProofConfig, read_policy
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit

PRELUDE = """
Fixpoint join (l m : list nat) : list nat := match l with nil => m | cons x k => cons x (join k m) end.
Fixpoint turn (l : list nat) : list nat := match l with nil => nil | cons x k => join (turn k) (cons x nil) end.
Lemma join_assoc : forall l m k : list nat, join l (join m k) = join (join l m) k. Admitted.
Lemma join_nil : forall l : list nat, join l nil = l. Admitted.
"""
FALSE = (
    "forall l m : list nat, join (turn l) m = join m (turn l)",
    "forall n m k : nat, n * (m + k) = n * m + k",
    "forall l m : list nat, turn (join l m) = join (turn l) (turn m)",
)


def rate(statement: str, policy: str, workers: int, seconds: float) -> tuple[float, float]:
    """Return the attempts a second, and the share of a core that this process used."""
    theorem = CoqTheorem.from_text(PRELUDE, statement)
    with ProofSearch(theorem, read_policy(policy, ProofConfig()), seed=1, workers=workers, allow_easy=False) as search:
        search.run(Limit(calls=100))  # until all provers have started
        wall, cpu, attempts = time.perf_counter(), time.process_time(), search.attempts
        search.run(Limit(seconds=seconds))
        wall, cpu, attempts = time.perf_counter() - wall, time.process_time() - cpu, search.attempts - attempts
    return attempts / wall, cpu / wall


def main() -> None:
    """Measure in turns, and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--policies", default="puct; blind_uniform")
    given = options.parse_args()
    print("| policy | one, a second | " + f"{given.workers}, a second | ratio | coordinator |\n|---|---|---|---|---|")
    for policy in map(str.strip, given.policies.split(";")):
        ones, manys, shares = [], [], []
        for _ in range(given.rounds):
            for statement in FALSE:
                ones.append(rate(statement, policy, 1, given.seconds)[0])
                many, share = rate(statement, policy, given.workers, given.seconds)
                manys.append(many)
                shares.append(share)
        ratio = statistics.median(many / one for many, one in zip(manys, ones, strict=True))
        print(
            f"| {policy} | {statistics.median(ones):.0f} | {statistics.median(manys):.0f} | {ratio:.2f} | "
            f"{statistics.median(shares):.0%} of a core |",
            flush=True,
        )


if __name__ == "__main__":
    main()
