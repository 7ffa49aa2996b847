"""Measure the server of `treetop serve` and `treetop analyze` as their clients see them, each in a process of its own.

    python bench/serve.py                     all parts, about five minutes
    python bench/serve.py --quick             smaller numbers, about a minute
    python bench/serve.py --only load page    some parts
    python bench/serve.py --json out.json

    load      many sessions at once, each asks for moves with a time limit: the time of answers beyond it, failures,
              and the memory of the server beside its bound
    tree      a tree of a million nodes in the page: the time until it is shown, and the times of frames while it is
              zoomed and panned, in headless Chromium without a graphics card
    page      the first paint on this machine, and the size of the page, compressed
    analyze   interleaved queries of several games over standard input: answers a second, with the right ids

`tree` and `page` need Playwright and Chromium (pip install playwright; apt-get install chromium).
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import websockets

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "treetop" / "serve" / "page"
TREETOP = [sys.executable, "-c", "from treetop.cli.app import main; main()"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
BYTES_PER_NODE = 40
FRAMES = """() => {
  const times = (window.frameTimes = []);
  let last = performance.now();
  const next = (now) => { times.push(now - last); last = now; window.frameLoop = requestAnimationFrame(next); };
  window.frameLoop = requestAnimationFrame(next);
}"""
SHOWN = """() => new Promise((done) => {
  const start = performance.now();
  [...document.querySelectorAll('button.tab')].find((tab) => tab.textContent.trim() === 'Tree').click();
  const look = () => document.querySelector('.treeview canvas, .treeview svg')
    ? requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)))
    : requestAnimationFrame(look);
  look();
})"""


@dataclass
class Sizes:
    """How much is measured."""

    sessions: int = 50
    moves: int = 5
    seconds: float = 0.5
    nodes: int = 1_000_000
    frames: float = 6.0
    loads: int = 5
    queries: int = 1000


QUICK = Sizes(sessions=50, moves=2, nodes=200_000, frames=2.0, loads=2, queries=200)


@contextmanager
def serving(*options: str) -> Iterator[tuple[str, int]]:
    """Run a server; return its address and its process id."""
    process = subprocess.Popen(
        [*TREETOP, "serve", *options, "--port", "0"], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = next((line for line in process.stdout if "http://" in line), "")
        if not line:
            raise SystemExit("the server has not started")
        yield next(word for word in line.split() if word.startswith("http://")), process.pid
    finally:
        process.terminate()
        process.wait()


def megabytes(process: int, what: str = "VmRSS") -> float:
    """Return the memory of a process, now (VmRSS) or at most (VmHWM)."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(what)).split()[1]) / 1024


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


# Many sessions.


async def play(client: httpx.AsyncClient, address: str, sizes: Sizes, number: int) -> tuple[list[float], list[str]]:
    """Play some moves against the engine; return the times of its answers beyond the limit, and errors."""
    late, failures, rng = list[float](), list[str](), random.Random(number)

    async def post(path: str, content: dict[str, Any]) -> dict[str, Any]:
        answer = await client.post(path, json=content)
        if answer.status_code >= 400:
            raise RuntimeError(f"{path}: {answer.status_code} {answer.text}")
        return dict(answer.json())

    try:
        view = await post("/api/sessions", {"game": "connect_four", "people": [0]})
        path = f"/api/sessions/{view['session']}"
        async with websockets.connect(address.replace("http", "ws").rstrip("/") + path + "/live") as live:
            for _ in range(sizes.moves):
                mine = await post(f"{path}/play", {"move": rng.choice(view["position"]["legal"])["move"]})
                start = time.perf_counter()
                await post(f"{path}/think", {"seconds": sizes.seconds, "play": True})
                view = await asyncio.wait_for(moved(live, mine["ply"]), 60)
                late.append(time.perf_counter() - start - sizes.seconds)
                if view["position"]["over"]:
                    break
    except Exception as error:  # noqa: BLE001 - each failure is counted
        failures.append(f"session {number}: {error!r}")
    return late, failures


async def moved(live: Any, ply: int) -> dict[str, Any]:
    """Wait until the engine has moved; return the game."""
    while True:
        event = json.loads(await live.recv())
        if event["type"] == "error":
            raise RuntimeError(event["error"])
        if event["type"] == "position" and event["ply"] > ply:
            return dict(event)


async def play_all(address: str, sizes: Sizes, sessions: int) -> tuple[list[float], list[str]]:
    """Play all sessions at once; return the times of all answers beyond the limit, and all errors."""
    limits = httpx.Limits(max_connections=2 * sessions)
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as client:
        found = await asyncio.gather(*(play(client, address, sizes, number) for number in range(sessions)))
    return [one for late, _ in found for one in late], [one for _, failures in found for one in failures]


def load(sizes: Sizes) -> dict[str, Any]:
    """Measure many sessions at once."""
    with serving("connect_four") as (address, process):
        asyncio.run(play_all(address, Sizes(moves=1), 1))  # compile
        empty = megabytes(process)
        late, failures = asyncio.run(play_all(address, sizes, sizes.sessions))
        limits = httpx.get(f"{address}api/info").json()["limits"]
        most = megabytes(process, "VmHWM")
    for failure in failures[:5]:
        print(failure, file=sys.stderr)
    return {
        "sessions": sizes.sessions,
        "moves": len(late),
        "limit, s": sizes.seconds,
        "answer beyond the limit, median, s (goal 0.5)": statistics.median(late) if late else None,
        "95%, s": quantile(late, 0.95) if late else None,
        "worst, s": max(late, default=None),
        "failures (goal 0)": len(failures),
        "memory at first, MB": empty,
        "peak memory, MB": most,
        "bound, MB": empty + limits["total_nodes"] * BYTES_PER_NODE / 2**20,
    }


# The page.


@contextmanager
def browsing() -> Iterator[Any]:
    """Run a browser."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def search_until(address: str, session: str, nodes: int) -> int:
    """Search a session's position until its tree has so many nodes; return how many it has."""
    path, visits = f"{address}api/sessions/{session}", nodes // 4
    with httpx.Client(timeout=60) as client:
        while True:
            client.post(f"{path}/think", json={"visits": visits, "seconds": 600, "rule": "uct"}).raise_for_status()
            while client.get(path).json()["thinking"]:
                time.sleep(0.1)
            found = client.get(f"{path}/analysis").json()["analysis"]["nodes"]
            if found >= nodes:
                return int(found)
            visits += max(1000, nodes // 8)


def tree(sizes: Sizes) -> dict[str, Any]:
    """Measure the view of a large tree."""
    with serving("connect_four") as (address, _), browsing() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        names = list[str]()
        page.on("websocket", lambda socket: names.append(socket.url.split("/")[-2]))
        page.goto(f"{address}#view=analyse")
        page.wait_for_selector(".cell")
        found = search_until(address, names[-1], sizes.nodes)
        page.wait_for_timeout(500)
        shown = page.evaluate(SHOWN)
        answers = list[float]()
        with httpx.Client(timeout=60) as client:
            for _ in range(5):
                start = time.perf_counter()
                answer = client.get(f"{address}api/sessions/{names[-1]}/tree", params={"nodes": 1500})
                answers.append(time.perf_counter() - start)
        frames = frame_times(page, sizes.frames)
    return {
        "nodes": found,
        "until it is shown, s (goal 2)": shown / 1000,
        "answer of the server, median, s": statistics.median(answers),
        "its size, kB": len(answer.content) / 1000,
        "frames": len(frames),
        "frame, median, ms": statistics.median(frames),
        "frame, 95%, ms": quantile(frames, 0.95),
        "frame, worst, ms": max(frames),
    }


def frame_times(page: Any, seconds: float) -> list[float]:
    """Zoom and pan the tree for a while; return the times between frames, in milliseconds."""
    boxes = [one.bounding_box() for one in page.locator(".treeview canvas, .treeview svg").all()]
    box = max((one for one in boxes if one), key=lambda one: one["width"] * one["height"])
    left, width, middle = box["x"], box["width"], box["y"] + min(60, box["height"] / 2)
    page.mouse.move(left + width / 2, middle)
    page.evaluate(FRAMES)
    end, step = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        for _ in range(20):
            page.mouse.wheel(0, -120 if step % 2 == 0 else 100)
        page.mouse.down()
        for part in range(30):
            page.mouse.move(left + width * (0.5 + 0.3 * ((-1) ** step) * part / 30), middle)
        page.mouse.up()
        page.mouse.move(left + width / 2, middle)
        step += 1
    return [float(one) for one in page.evaluate("() => { cancelAnimationFrame(window.frameLoop); return frameTimes; }")]


def page(sizes: Sizes) -> dict[str, Any]:
    """Measure the first paint, and the size of the page."""
    paints = list[float]()
    with serving("connect_four") as (address, _), browsing() as browser:
        for _ in range(sizes.loads):
            context = browser.new_context(viewport={"width": 1280, "height": 800})  # with an empty cache
            opened = context.new_page()
            opened.goto(address)
            opened.wait_for_selector(".cell")
            paints.append(
                opened.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1000
            )
            context.close()
    files = [path for path in PAGE.rglob("*") if path.is_file()]
    return {
        "loads": len(paints),
        "first paint, median, s (goal 1)": statistics.median(paints),
        "first paint, worst, s": max(paints),
        "size, kB": sum(path.stat().st_size for path in files) / 1000,
        "compressed, kB (goal 400)": sum(len(gzip.compress(path.read_bytes())) for path in files) / 1000,
    }


# The analysis protocol.

GAMES = {"connect_four": ["4", "4", "3"], "tic_tac_toe": ["b2", "a1"], "othello": [], "nim": ["1"]}


def analyze(sizes: Sizes) -> dict[str, Any]:
    """Measure interleaved queries."""
    rng, texts, known = random.Random(1), list[str](), dict[str, tuple[str, int]]()
    for number in range(sizes.queries):
        game = rng.choice(list(GAMES))
        turn, visits = rng.randint(0, len(GAMES[game])), rng.randint(50, 500)
        query = {"id": f"q{number}", "game": game, "moves": GAMES[game], "analyzeTurns": [turn], "maxVisits": visits}
        texts.append(json.dumps(query))
        known[f"q{number}"] = game, turn
    warm = [json.dumps({"id": f"w-{game}", "game": game, "maxVisits": 10}) for game in GAMES]
    process = subprocess.Popen(
        [*TREETOP, "analyze", "--threads", "2"], env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, bufsize=1,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n".join(warm) + "\n")
    for _ in warm:
        process.stdout.readline()
    start = time.perf_counter()
    process.stdin.write("\n".join(texts) + "\n")
    answers = [json.loads(process.stdout.readline()) for _ in texts]
    seconds = time.perf_counter() - start
    process.stdin.close()
    process.wait(60)
    right = {one["id"] for one in answers if "error" not in one and known[one["id"]][1] == one["turnNumber"]}
    return {
        "queries": sizes.queries,
        "right ids (goal: all)": len(right),
        "answers a second": len(answers) / seconds,
        "out of order": sum(one["id"] != f"q{number}" for number, one in enumerate(answers)),
    }


PARTS = {"load": load, "tree": tree, "page": page, "analyze": analyze}


def show(name: str, found: dict[str, Any]) -> None:
    """Print a table."""
    print(f"\n{name}")
    for what, value in found.items():
        text = "-" if value is None else f"{value:,.3f}" if isinstance(value, float) else f"{value:,}"
        print(f"  {what:48}{text:>14}", flush=True)


def main() -> None:
    """Measure the chosen parts, and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), metavar="PART")
    parser.add_argument("--quick", action="store_true", help="smaller numbers")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file")
    options = parser.parse_args()
    sizes, found = QUICK if options.quick else Sizes(), dict[str, Any]()
    for name in options.only:
        found[name] = PARTS[name](sizes)
        show(name, found[name])
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
