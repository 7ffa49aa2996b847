"""The runs of a folder in a real browser: curves, matches and tournaments while they grow, and games to replay."""

from __future__ import annotations

import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install -e '.[serve]'")
pytest.importorskip("playwright", reason="needs Playwright: pip install playwright")

import treetop as tt
from tests.serve.conftest import Watched
from treetop.serve.app import Options
from treetop.serve.server import Server
from treetop.train.events import Iteration, read_events
from treetop.train.folder import append_line

RUN = Path(__file__).parent / "data" / "othello"  # a few lines of a real run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs")
    shutil.copytree(RUN, path / "othello")
    quick = {"seed": 3, "workers": 1, "opening_plies": 2, "balanced": False}
    tt.match("greedy", "random", "tic_tac_toe", games=12, out=path / "match.jsonl", **quick)
    tt.tournament({"weak": "random", "strong": "greedy"}, "tic_tac_toe", games=4, out=path / "cup", **quick)
    return path


@pytest.fixture(scope="module")
def address(folder):
    with Server(Options(threads=1, runs=folder)) as server:
        yield server.address


@pytest.fixture
def watched(browser, address):
    made = Watched(browser, address)
    yield made
    assert made.problems == []
    made.context.close()


def opened(watched, name):
    page = watched.open(game="connect_four", view="runs", seed=1)
    page.get_by_role("button", name=name).click()
    page.wait_for_selector(".runs .about")
    return page


def test_a_training_run_is_watched_while_it_grows(watched, folder):
    page = opened(watched, "othello")
    assert page.locator(".plot canvas").count() >= 8
    last = [event for event in read_events(RUN) if isinstance(event, Iteration)][-1]
    line = {"event": "iteration", **asdict(replace(last, iteration=last.iteration + 1, games=123_456))}
    append_line(folder / "othello" / "metrics.jsonl", line)
    page.wait_for_function("() => document.querySelector('.facts').innerText.includes('123,456')")


def test_a_game_of_a_match_is_replayed_and_shared_by_keyboard_alone(watched):
    page = opened(watched, "match.jsonl")
    page.get_by_role("button", name="Replay game 3", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".replayed .record li")
    assert page.locator(".steps span").inner_text().startswith("2 /")  # after the opening
    page.wait_for_selector(".seats li")
    assert page.locator(".seats li").all_inner_texts() == ["greedy", "random"]
    moves = page.locator(".record li").count()
    for _ in range(10 * moves):
        if page.locator(".turn.over").count():
            break
        page.keyboard.press("]")
        page.wait_for_timeout(30)
    assert page.locator(".steps span").inner_text() == f"{moves} / {moves}"
    other = watched.context.new_page()
    other.goto(page.evaluate("() => location.href"))
    other.wait_for_selector(".turn.over")
    assert other.locator(".replayed .record li").count() == moves
    other.close()
    page.get_by_role("button", name="The game before").click()
    page.wait_for_function("() => document.querySelector('.replayed b').innerText === 'Game 2'")
    page.get_by_role("button", name="Review the game").click()
    page.get_by_role("button", name="Review this game").wait_for()


def test_a_tournament_leads_to_its_matches(watched):
    page = opened(watched, "cup")
    page.locator(".whiskers li").first.wait_for()
    page.locator(".moves td button").first.click()
    page.get_by_role("button", name="The tournament").wait_for()
    page.wait_for_selector(".games")
    page.get_by_role("button", name="All runs").click()
    page.wait_for_selector(".entries")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_runs_are_usable_at_400_pixels_and_by_screen_readers(browser, address, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs axe: pip install axe-playwright-python"
    )
    watched = Watched(browser, address, color_scheme=scheme)
    watched.page.set_viewport_size({"width": 400, "height": 800})
    page = watched.open(game="connect_four", view="runs", seed=1)
    for name in (None, "othello", "match.jsonl", "cup"):
        if name is not None:
            page.get_by_role("button", name=name).click()
            page.wait_for_selector(".runs .about")
        page.wait_for_timeout(200)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
        found = axe.Axe().run(page).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in serious] == []
        if name is not None:
            page.get_by_role("button", name="All runs").click()
            page.wait_for_selector(".entries")
    assert watched.problems == []
    watched.context.close()


def test_without_a_folder_the_page_says_how_to_show_one(browser):
    with Server(Options(threads=1)) as server:
        watched = Watched(browser, server.address)
        page = watched.open(game="tic_tac_toe", view="runs", seed=1)
        page.get_by_text("treetop serve --runs FOLDER").wait_for()
        assert watched.problems == []
        watched.context.close()
