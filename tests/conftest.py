"""Shared by all tests: a compile cache of their own unless one is given, and small games written as a user would."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

from tests.groups import group_of, order_of

# Before anything of Treetop is imported: a cache that all workers of this run share, and the next run too.
os.environ.setdefault("TREETOP_CACHE", str(Path(tempfile.gettempdir()) / "treetop-tests"))
os.environ["TREETOP_TIER"] = (
    "indirect"  # one loop for all games: compiling it for each game would take most of the time
)
os.environ["TREETOP_QUIET"] = "1"  # what a command writes to stderr must not depend on the contents of the cache

# A shell starts background jobs with SIGINT ignored, and children inherit that; tests of Ctrl-C need Python's default.
signal.signal(signal.SIGINT, signal.default_int_handler)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def pytest_addoption(parser):
    parser.addoption("--rewrite-golden", action="store_true", help="write the files of tests/golden anew")


def pytest_collection_modifyitems(items):
    """Start the groups that take longest first."""
    items.sort(key=lambda item: order_of(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Run the files of a group in one worker under `--dist loadfile`."""
    from xdist.scheduler import LoadFileScheduling

    class ByGroup(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    return ByGroup(config, log) if config.getvalue("dist") == "loadfile" else None


gc.set_threshold(50_000, 20, 100)  # compilers create millions of objects that stay


@pytest.fixture(autouse=True, scope="module")
def _compiled_code_stays():
    """Exclude what a file has compiled from garbage collection: it stays in the process for good, and there is a lot of it."""
    yield
    gc.freeze()


@pytest.fixture
def untried(monkeypatch):
    """Let wrong games pass without a trial: the subject is what happens to those that a trial does not find."""
    from treetop.game import trial

    monkeypatch.setattr(trial, "require_trial", lambda *_: None)


@pytest.fixture(scope="module")
def browser():
    """A Chromium; tests are left out where there is none."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    driver = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
    with driver.sync_playwright() as started:
        made = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield made
        made.close()
