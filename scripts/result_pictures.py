"""Draw a result in every way, for docs/showing.md.

python scripts/result_pictures.py        writes docs/assets/result-*; needs Chromium, Playwright and Matplotlib
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import treetop as tt

OUT = Path(__file__).resolve().parents[1] / "docs" / "assets"


def main() -> None:
    """Write the pictures."""
    position = tt.position("connect_four", moves="4 4 5")
    result = tt.search(position, tt.uct(final="lcb"), simulations=20_000, seed=1)
    (OUT / "result-tree.svg").write_text(result.svg(nodes=24), encoding="utf-8")
    planned = tt.search("breakthrough", tt.puct(c=1.5, final="lcb"), simulations=3_000, seed=1)
    planned.plot(moves=8).savefig(OUT / "result-plot.png", dpi=110)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        file = Path(folder) / "page.html"
        file.write_text(result.html(), encoding="utf-8")
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(file.as_uri())
        page.wait_for_selector("canvas.treemap")
        page.wait_for_timeout(300)
        page.screenshot(path=OUT / "result-page.png", full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
