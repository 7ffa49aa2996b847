"""Take pictures of every view of the page, for README.md and docs/, by a headless Chromium.

python scripts/screenshots.py            writes docs/assets/page-*.png; needs Chromium and pip install playwright
python scripts/screenshots.py runs --runs FOLDER      the view of runs; the folder has a training run called othello
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import sync_playwright

from treetop.serve.app import Options
from treetop.serve.server import Server

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"]
OUT = Path(__file__).resolve().parents[1] / "docs" / "assets"


def play(page: Any) -> None:
    """Show the opinion of the engine about a game of Connect Four."""
    page.get_by_label("Show its opinion").check()
    page.wait_for_selector(".standing-value", timeout=60_000)  # its search is over


def analyse(page: Any) -> None:
    """Search for a while."""
    page.get_by_role("button", name="Analyse", exact=True).last.click()
    page.wait_for_selector(".opinion", timeout=60_000)
    page.wait_for_timeout(4000)
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Go on").wait_for()


def review(page: Any) -> None:
    """Review a game."""
    page.get_by_role("button", name="Review this game").click()
    page.get_by_role("button", name="Save the report").wait_for(timeout=120_000)


def tree(page: Any) -> None:
    """Search, and choose a node."""
    page.get_by_role("button", name="Search 100,000 simulations").click()
    page.wait_for_selector("canvas.treemap", timeout=60_000)
    page.wait_for_timeout(500)
    page.locator("canvas.treemap").click(position={"x": 200, "y": 85})


def time_machine(page: Any) -> None:
    """Record a search, and show a simulation."""
    page.get_by_role("button", name="Record 5,000 simulations").click()
    page.wait_for_selector(".phases")
    page.get_by_label("Simulation").fill("40")


def what_if(page: Any) -> None:
    """Search with another constant."""
    page.wait_for_selector(".decisions .badge", timeout=60_000)
    page.get_by_label("Exploration c").fill("0.3")
    page.wait_for_timeout(4000)


def proofs(page: Any) -> None:
    """Wait for the proof, and choose a goal."""
    page.wait_for_selector(".result.proved")
    page.locator(".drawing .node.goal.proof").nth(3).click()


def learn(page: Any) -> None:
    """Show the step with UCB1."""
    for _ in range(2):
        page.get_by_role("button", name="Next").click()


def runs(page: Any) -> None:
    """Show the curves of a training run."""
    page.get_by_role("button", name="othello").click()
    page.wait_for_selector(".plot canvas")
    page.wait_for_timeout(500)


GAME = "4~4~4~4~3~5~2~1~5~5~3~3"
LOST = "4~4~5~3~6~7~3~2~5~5"
VIEWS: dict[str, tuple[dict[str, str], Any]] = {
    "play": ({"game": "connect_four", "view": "play", "moves": GAME, "people": "0~1"}, play),
    "analyse": ({"game": "othello", "view": "analyse", "people": "0~1"}, analyse),
    "review": ({"game": "connect_four", "view": "review", "moves": LOST, "people": "0~1"}, review),
    "tree": ({"game": "connect_four", "view": "tree", "people": "0~1"}, tree),
    "time": ({"game": "tic_tac_toe", "view": "time", "people": "0~1"}, time_machine),
    "whatif": ({"game": "connect_four", "view": "whatif", "people": "0~1"}, what_if),
    "proofs": ({"view": "proofs", "formula": quote("(p | q -> r) <-> (p -> r) & (q -> r)")}, proofs),
    "learn": ({"game": "tic_tac_toe", "view": "learn", "people": "0~1"}, learn),
    "runs": ({"game": "othello", "view": "runs", "people": "0~1"}, runs),
    "hex": ({"game": "hex(size=7)", "view": "play", "people": "0~1", "moves": "d4~c5~e3~b6"}, play),
    "backgammon": ({"game": "backgammon", "view": "play", "people": "0~1"}, lambda _: None),
    "scoundrel": ({"game": "scoundrel", "view": "play", "people": "0"}, lambda _: None),
    "twenty48": ({"game": "twenty48", "view": "play", "people": "0"}, lambda _: None),
    "gomoku": ({"game": "gomoku(size=9)", "view": "play", "people": "0~1", "moves": "e5~e6~d4~f6~c3"}, play),
}


def main() -> None:
    """Take all pictures, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("views", nargs="*", choices=[*VIEWS, []], help="default: all")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1200)
    parser.add_argument(
        "--runs", type=Path, help="a folder with a training run called othello; without it no picture of it"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with Server(Options(threads=1, runs=options.runs)) as server, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name in options.views or [view for view in VIEWS if view != "runs" or options.runs]:
            where, prepare = VIEWS[name]
            context = browser.new_context(
                viewport={"width": options.width, "height": 800}, color_scheme="dark" if options.dark else "light"
            )
            page = context.new_page()
            link = "&".join(f"{key}={value}" for key, value in {**where, "seed": "1"}.items())
            page.goto(f"{server.address}#{link}")
            page.wait_for_timeout(1000)
            prepare(page)
            page.wait_for_timeout(300)
            suffix = "-dark" if options.dark else ""
            page.screenshot(path=str(options.out / f"page-{name}{suffix}.png"))
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
