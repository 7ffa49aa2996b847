"""Count the problems of the ILTP library that the embedded prover decides, by family, next to a plain prover.

    python bench/iltp.py FOLDER                     every *.p file of the folder, a minute each
    python bench/iltp.py FOLDER --seconds 10 --mode raw --only SYJ201 SYJ202
    python bench/iltp.py FOLDER --json out.json --no-baseline

FOLDER has propositional problems of the ILTP library (www.iltp.de), such as SYJ201+1.001.p. Every problem runs in a
separate process, with limits of time and memory. "verified" counts proofs that the checker accepted and models that the
evaluator confirmed. The exit code is 1 after a wrong answer: a proof of a Non-Theorem, or a refutation of a Theorem.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import resource
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from g4ip import G4ip, TimeIsUpError

from treetop.prove.logic.theorem import LogicTheorem
from treetop.prove.prover import Proof
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit

_GRACE = 60.0  # seconds for the checker, in addition to those of the search
_MEMORY = 3 * 2**30
Found = dict[str, Any]


def prove_one(theorem: LogicTheorem, seconds: float) -> tuple[Proof | None, bool]:
    """Search for a proof; return it, and whether the search space was exhausted without one."""
    with ProofSearch(theorem, seed=1) as search:
        result = search.run(Limit(seconds=seconds))
    return result.proof, result.status == "exhausted"


def ours(path: Path, seconds: float, mode: str) -> Found:
    """Prove or refute a problem; a quarter of the time is reserved for the refutation."""
    theorem = LogicTheorem.load(path, mode=mode)
    start = time.perf_counter()
    proof, exhausted = prove_one(theorem, 0.75 * seconds)
    if proof is not None:
        taken = time.perf_counter() - start
        verdict = theorem.verify(proof)
        return {"answer": "proved", "verified": verdict.accepted, "seconds": taken, "reason": verdict.reason}
    model = theorem.refute(max(seconds - (time.perf_counter() - start), 0.1))
    taken = time.perf_counter() - start
    if model is not None:
        return {
            "answer": "refuted",
            "verified": model.refutes(theorem.statement),
            "seconds": taken,
            "worlds": len(model.worlds),
        }
    return {"answer": "refuted" if exhausted else "open", "verified": False, "seconds": taken}


def baseline(path: Path, seconds: float, _: str) -> Found:
    """Return the answer of the plain prover."""
    theorem = LogicTheorem.load(path)
    start = time.perf_counter()
    try:
        answer = "proved" if G4ip(seconds).prove(theorem.statement) else "refuted"
    except TimeIsUpError:
        answer = "open"
    return {"answer": answer, "seconds": time.perf_counter() - start}


def _child(work: Callable[[Path, float, str], Found], path: Path, seconds: float, mode: str, pipe: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    sys.setrecursionlimit(1_000_000)
    try:
        pipe.send(work(path, seconds, mode))
    except MemoryError:
        pipe.send({"answer": "open", "verified": False, "seconds": seconds, "reason": "out of memory"})


def in_process(work: Callable[[Path, float, str], Found], path: Path, seconds: float, mode: str) -> Found:
    """Run a function in a separate process that can be ended."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=_child, args=(work, path, seconds, mode, sender))
    process.start()
    sender.close()
    found: Found = {"answer": "open", "verified": False, "seconds": seconds, "reason": "the process was ended"}
    try:
        if receiver.poll(seconds + _GRACE):
            found = receiver.recv()
    except EOFError:
        found["reason"] = "the process has died"
    finally:
        process.kill()
        process.join()
    return found


def is_wrong(found: Found, status: str | None) -> bool:
    """Return whether an answer contradicts the file; a proof that the checker rejects counts too."""
    rejected = found["answer"] == "proved" and not found.get("verified", True)
    return rejected or (found["answer"], status) in (("proved", "Non-Theorem"), ("refuted", "Theorem"))


def table(rows: list[dict[str, Any]], with_baseline: bool) -> str:
    """Return a table with a line for each family and kind of problem, and the sums."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["family"], row["status"]), []).append(row)
    for status in sorted({row["status"] for row in rows}):
        groups["all", status] = [row for row in rows if row["status"] == status]
    lines = [
        "| family | status | problems | proved | refuted | open | verified | slowest |"
        + (" plain: proved | refuted | open |" if with_baseline else "")
    ]
    lines.append("|---|---|" + "---:|" * (9 if with_baseline else 6))
    for (family, status), members in groups.items():
        answers = [row["ours"]["answer"] for row in members]
        verified = sum(row["ours"]["verified"] for row in members)
        slowest = max(row["ours"]["seconds"] for row in members)
        cells = [
            family,
            status,
            len(members),
            *(answers.count(answer) for answer in ("proved", "refuted", "open")),
            verified,
            f"{slowest:.2f} s",
        ]
        if with_baseline:
            plain = [row["plain"]["answer"] for row in members]
            cells += [plain.count(answer) for answer in ("proved", "refuted", "open")]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Read the arguments, run all problems, print; status 1 for a wrong answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--mode", choices=("invertible", "raw"), default="invertible")
    parser.add_argument("--only", nargs="+", default=[""], help="prefixes of names")
    parser.add_argument("--no-baseline", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    files = [file for file in sorted(options.folder.glob("*.p")) if file.name.startswith(tuple(options.only))]
    if not files:
        sys.exit(f"there is no problem file (*.p) with such a name in {options.folder}")
    rows, wrong = [], []
    for file in files:
        status = LogicTheorem.load(file).status or "unknown"
        row = {
            "name": file.name,
            "family": re.split(r"[+.]", file.name)[0],
            "status": status,
            "ours": in_process(ours, file, options.seconds, options.mode),
        }
        if not options.no_baseline:
            row["plain"] = in_process(baseline, file, options.seconds, options.mode)
        rows.append(row)
        answers = {name: row[name] for name in ("ours", "plain") if name in row}
        wrong += [
            f"{file.name} ({status}): {name} says {found['answer']} {found.get('reason', '')}"
            for name, found in answers.items()
            if is_wrong(found, status)
        ]
        print(
            f"{file.name:16} {status:12} "
            + "   ".join(f"{name}: {found['answer']:8} {found['seconds']:7.2f} s" for name, found in answers.items()),
            flush=True,
        )
    print("\n" + table(rows, not options.no_baseline))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    if wrong:
        sys.exit("wrong answers:\n" + "\n".join(wrong))


if __name__ == "__main__":
    main()
