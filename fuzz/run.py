"""Fuzz every text and file that Treetop reads: nothing may be run, crash or hang, and each refusal is a Treetop error.

`python fuzz/run.py --inputs 100000`; repeat an input that failed with `--only TARGET --first INDEX --inputs 1`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.guard import SECONDS, Forbidden, Guard, Hang
from fuzz.targets import Target, targets

COUNTS = ("inputs", "accepted", "refused", "crashed")


def child(target: Target, seed: int, first: int, inputs: int) -> None:
    """Run inputs, and print the number of each before it runs, and its result after: a crash shows the number."""
    from treetop.errors import TreetopError

    memory = Path("/dev/shm")  # writing a file there does not wait for a disk
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as place:
        folder = Path(place).resolve()
        target.prepare(folder)
        os.chdir(folder)
        report = os.fdopen(os.dup(1), "w", buffering=1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        guard = Guard(folder)
        for index in range(first, first + inputs):
            print(index, file=report)
            made = target.make(random.Random(f"{seed}/{target.name}/{index}"), folder)
            what, why = "accepted", ""
            try:
                with guard.observing(imports=target.imports):
                    target.run(folder, made)
            except TreetopError:
                what = "refused"
            except (Exception, Forbidden, Hang, SystemExit):  # noqa: BLE001 - any error but Treetop's is a bug
                what, why = "crashed", traceback.format_exc(limit=-6)
            print(json.dumps([what, why]), file=report)


def watch(target: Target, options: argparse.Namespace, inputs: int, show: Any) -> tuple[dict[str, int], list[str]]:
    """Run a target in child processes; a child that dies or hangs counts as a crash, and the next one continues."""
    counts, failures = dict.fromkeys(COUNTS, 0), []
    index, end = options.first, options.first + inputs
    while index < end:
        command = [
            sys.executable,
            __file__,
            "--child",
            target.name,
            "--seed",
            str(options.seed),
            "--first",
            str(index),
            "--inputs",
            str(end - index),
            *(["--quick"] if options.quick else []),
        ]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if not options.only else None, text=True
        )
        at = index
        for what, why, at in _reports(process):
            counts["inputs"] += 1
            counts[what] += 1
            if why:
                failures.append(f"{target.name} {at}:\n{why}")
            show(target, counts)
            index = at + 1
        if process.wait() != 0 and index < end:
            failures.append(f"{target.name} {index}: the process ended with {process.returncode}")
            counts["inputs"] += 1
            counts["crashed"] += 1
            index += 1
    return counts, failures


def _reports(process: subprocess.Popen[str]) -> Any:
    import selectors

    assert process.stdout is not None
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        os.set_blocking(process.stdout.fileno(), False)
        text, at, started = "", -1, False
        while True:
            if not ready.select(SECONDS + 10 if started else 600):
                process.kill()
                return
            more = os.read(process.stdout.fileno(), 65536).decode()
            if not more:
                return
            *lines, text = (text + more).split("\n")
            for line in lines:
                if line.startswith("["):
                    what, why = json.loads(line)
                    yield what, why, at
                else:
                    at, started = int(line), True


def main() -> int:
    """Fuzz all targets, or one, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=10_000, help="the number of inputs of all targets (10,000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", metavar="TARGET", help="one target, which gets all inputs")
    parser.add_argument(
        "--first", type=int, default=0, metavar="INDEX", help="number of the first input of each target"
    )
    parser.add_argument("--quick", action="store_true", help="only targets that compile quickly")
    parser.add_argument("--child", metavar="TARGET", help=argparse.SUPPRESS)
    options = parser.parse_args()
    chosen = {target.name: target for target in targets(quick=options.quick)}
    if options.child:
        child(chosen[options.child], options.seed, options.first, options.inputs)
        return 0
    if options.only and options.only not in chosen:
        parser.error(f"there is no target {options.only!r}; there are {', '.join(chosen)}")
    wanted = [chosen[options.only]] if options.only else list(chosen.values())
    shares = sum(target.share for target in wanted)
    rows, failures, due = [], [], time.monotonic() + 5

    def show(target: Target, counts: dict[str, int]) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + 5
            print(
                f"{target.name}: {counts['inputs']:,} inputs, {counts['crashed']} crashed", file=sys.stderr, flush=True
            )

    for target in wanted:
        counts, failed = watch(target, options, -(-options.inputs * target.share // shares), show)
        rows.append((target.name, counts))
        failures += failed
        for failure in failed[:3]:
            print(failure, file=sys.stderr, flush=True)
    rows.append(("all", {count: sum(counts[count] for _, counts in rows) for count in COUNTS}))
    print(f"{'target':26}" + "".join(f"{count:>10}" for count in COUNTS))
    for name, counts in rows:
        print(f"{name:26}" + "".join(f"{counts[count]:>10,}" for count in COUNTS))
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
