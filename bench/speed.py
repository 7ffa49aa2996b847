"""Compare Treetop with OpenSpiel's C++ search and a hand-written C search: simulations a second, as ratios in one run.

    python bench/speed.py                 the whole table, some minutes
    python bench/speed.py --quick         a few repeats only
    python bench/speed.py --markdown      the table in Markdown
    python bench/speed.py --json out.json

All measure UCB1 with one random rollout a simulation from the start position, interleaved in one process, in CPU time;
the ratios are medians over the repeats. OpenSpiel is optional (pip install -e ".[openspiel]"); the C reference is
compiled if its source and gcc are found.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import treetop as tt

sys.path.insert(0, str(Path(__file__).parent))
from naive_four import NaiveFour

C_SOURCE = Path(__file__).resolve().parents[2] / "shared" / "bench" / "c_limit_so.c"
EXPLORATION = 1.4
Timer = Callable[[int, int], float]
"""A function of simulations and a seed that returns the CPU seconds of one search."""


def treetop_timer(game: Any) -> Timer:
    """Return a timer of `Search.run`, including its result."""

    def run(simulations: int, seed: int) -> float:
        search = tt.Search(game, tt.uct(c=EXPLORATION), seed=seed, tier="direct")
        search.prepare()
        start = time.process_time()
        search.run(tt.Limit(simulations=simulations))
        return time.process_time() - start

    return run


def openspiel_timer(name: str) -> Timer | None:
    """Return a timer of OpenSpiel's C++ MCTSBot with its C++ random rollouts, or None if it is not installed."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game(name)

    def run(simulations: int, seed: int) -> float:
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        bot = pyspiel.MCTSBot(game, evaluator, EXPLORATION, simulations, 1000, False, seed, False)
        state = game.new_initial_state()
        start = time.process_time()
        bot.step(state)
        return time.process_time() - start

    return run


def c_timer(source: Path, function: str, largest: int) -> Timer | None:
    """Return a timer of a function of the C reference, compiled for this machine, or None if that fails."""
    if not source.exists():
        return None
    library = Path(tempfile.mkdtemp()) / "limit.so"
    command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", str(library), str(source), "-lm"]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    loaded = ctypes.CDLL(str(library))
    loaded.c4_init(largest)

    def run(simulations: int, seed: int) -> float:
        start = time.process_time()
        getattr(loaded, function)(simulations, ctypes.c_uint64(88172645463325252 + seed))
        return time.process_time() - start

    return run


def compare(
    timers: dict[str, Timer | None], simulations: int, repeats: int, note: Callable[[], None]
) -> dict[str, Any]:
    """Return the median nanoseconds a simulation of each, and the ratio of Treetop's speed to each other's."""
    known = {name: timer for name, timer in timers.items() if timer is not None}
    for timer in known.values():
        timer(simulations, 0)  # not measured: it warms up memory and clock speed
    seconds: dict[str, list[float]] = {name: [] for name in known}
    for repeat in range(repeats):
        for name, timer in known.items():
            seconds[name].append(timer(simulations, repeat + 1))
        note()
    row: dict[str, Any] = {"simulations": simulations}
    for name, times in seconds.items():
        row[f"{name}_ns"] = statistics.median(times) / simulations * 1e9
        if name != "treetop":
            row[f"times_{name}"] = statistics.median(
                other / own for other, own in zip(times, seconds["treetop"], strict=True)
            )
    return row


def start_up(spec: str) -> dict[str, float]:
    """Return the CPU seconds to import and to compile a game, and the wall seconds to a search in a second process."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "TREETOP_CACHE": folder}

        def run(code: str) -> float:
            return float(
                subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True).stdout
            )

        clock = "import time; start = time.{}(); "
        imported = statistics.median(
            run(clock.format("perf_counter") + "import treetop; print(time.perf_counter() - start)") for _ in range(5)
        )
        search = f"import treetop; treetop.search({spec!r}, simulations=1); "
        compiled = run(clock.format("process_time") + search + "print(time.process_time() - start)")
        later = []
        for _ in range(5):
            began = time.perf_counter()
            run(search + "print(0)")
            later.append(time.perf_counter() - began)
        return {
            "import_seconds": imported,
            "compile_cpu_seconds": compiled,
            "second_process_seconds": statistics.median(later),
        }


def memory() -> dict[str, float]:
    """Return the size of a tree after a million simulations of Connect Four."""
    search = tt.Search("connect_four", tt.uct(c=EXPLORATION), seed=1, tier="direct")
    search.run(tt.Limit(simulations=1_000_000))
    tree = search.tree
    return {"nodes": tree.size, "bytes_a_node": tree.nbytes / tree.size, "megabytes": tree.nbytes / 1e6}


def measure(quick: bool, source: Path) -> dict[str, Any]:
    """Measure everything, with a progress bar."""
    few, some, many = (3, 3, 5) if quick else (5, 9, 25)
    c_four, c_three = c_timer(source, "c4_soa", 1_000_000), c_timer(source, "ttt_soa", 1_000_000)
    plan: list[tuple[str, Any, str, Timer | None, int, int]] = [
        ("connect_four", "connect_four", "connect_four", c_four, 10_000, many),
        ("connect_four", "connect_four", "connect_four", c_four, 100_000, some),
        ("connect_four", "connect_four", "", c_four, 1_000_000, few),
        ("connect_four, written naively", NaiveFour, "connect_four", c_four, 10_000, some),
        ("tic_tac_toe", "tic_tac_toe", "tic_tac_toe", c_three, 10_000, many),
        ("othello", "othello", "othello", None, 10_000, few),
        ("breakthrough", "breakthrough", "breakthrough", None, 10_000, some),
        ("hex(size=11)", "hex(size=11)", "hex(board_size=11)", None, 10_000, some),
    ]
    rows = []
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("measuring", total=sum(entry[-1] for entry in plan))
        for name, game, spiel, reference, simulations, repeats in plan:
            bar.update(task, description=f"{name}, {simulations:,}")
            timers = {
                "treetop": treetop_timer(game),
                "openspiel": openspiel_timer(spiel) if spiel else None,
                "c": reference,
            }
            rows.append({"game": name, **compare(timers, simulations, repeats, lambda: bar.advance(task))})
    machine = f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}"
    return {
        "machine": machine,
        "rows": rows,
        "start": start_up("connect_four"),
        "memory": memory(),
        "report": {"c": EXPLORATION},
    }


HEADINGS = ("game", "simulations", "Treetop", "OpenSpiel C++", "C", "times OpenSpiel", "of C")


def cells(found: dict[str, Any]) -> list[list[str]]:
    """Return the table's rows as text: simulations a second of each, and the ratios."""
    rows = []
    for row in found["rows"]:
        rate = {
            name: f"{1e9 / row[f'{name}_ns']:,.0f}" if f"{name}_ns" in row else ""
            for name in ("treetop", "openspiel", "c")
        }
        times = f"{row['times_openspiel']:.1f}" if "times_openspiel" in row else ""
        share = f"{row['times_c']:.2f}" if "times_c" in row else ""
        rows.append(
            [row["game"], f"{row['simulations']:,}", rate["treetop"], rate["openspiel"], rate["c"], times, share]
        )
    return rows


def show(found: dict[str, Any], *, markdown: bool) -> None:
    """Print the table, or print it in Markdown."""
    console = Console(width=120, stderr=markdown)
    if markdown:
        lines = [HEADINGS, ["---", *["---:"] * (len(HEADINGS) - 1)], *cells(found)]
        print("\n".join(f"| {' | '.join(line)} |" for line in lines))
    else:
        table = Table(box=None)
        for heading in HEADINGS:
            table.add_column(heading, justify="left" if heading == "game" else "right")
        for line in cells(found):
            table.add_row(*line)
        console.print(table)
    four = [row for row in found["rows"] if row["game"] == "connect_four"]
    for name in ("treetop", "c"):
        if f"{name}_ns" in four[0]:
            grown = four[-1][f"{name}_ns"] / four[0][f"{name}_ns"]
            console.print(
                f"{name}: a simulation costs {grown:.2f} times as much at {four[-1]['simulations']:,} simulations "
                f"as at {four[0]['simulations']:,}"
            )
    start, kept = found["start"], found["memory"]
    console.print(
        f"import {start['import_seconds']:.2f} s; first compile {start['compile_cpu_seconds']:.1f} s of CPU; "
        f"first simulation in a second process after {start['second_process_seconds']:.2f} s"
    )
    console.print(
        f"a million simulations of Connect Four: {kept['nodes']:,} nodes of {kept['bytes_a_node']:.0f} bytes, "
        f"{kept['megabytes']:.0f} MB"
    )


def main() -> None:
    """Measure, print, and optionally write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few repeats")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all numbers to a file")
    parser.add_argument("--c-source", type=Path, default=C_SOURCE, metavar="FILE", help="the C reference as a library")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    options = parser.parse_args()
    found = measure(options.quick, options.c_source)
    show(found, markdown=options.markdown)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
