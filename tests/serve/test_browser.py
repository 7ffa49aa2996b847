"""The page in a real browser: games by mouse and keyboard, searches, trees, records, reviews, the tour."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install -e '.[serve]'")
pytest.importorskip("playwright", reason="needs Playwright: pip install playwright")

import treetop as tt
from tests.serve.conftest import Watched
from treetop.serve.app import Options
from treetop.serve.server import Server


@pytest.fixture(scope="module")
def address():
    with Server(Options(threads=1)) as server:
        yield server.address


@pytest.fixture
def watched(browser, address):
    made = Watched(browser, address)
    yield made
    assert made.problems == []
    made.context.close()


def plies(page):
    return page.locator(".record li").count()


def test_a_game_of_connect_four_is_played_by_mouse(watched):
    page = watched.open(game="connect_four", view="play", seed=1)
    page.get_by_label("Engine").select_option("0.1")
    for _ in range(21):
        if page.locator(".turn.over").count():
            break
        before = plies(page)
        page.wait_for_function("() => document.querySelector('.turn.over') || document.querySelector('.cell.open')")
        if page.locator(".turn.over").count():
            break
        page.locator(".cell.open").first.click()
        page.wait_for_function(
            f"() => document.querySelector('.turn.over') || document.querySelectorAll('.record li').length >= {before + 2}"
        )
    assert page.locator(".turn.over").inner_text()
    assert plies(page) >= 7


def test_a_game_of_tic_tac_toe_is_played_by_keyboard_alone(watched):
    page = watched.open(game="tic_tac_toe", view="play", seed=1)
    page.get_by_label("Engine").select_option("0.1")
    for _ in range(60):
        if page.locator(".turn.over").count():
            break
        if page.evaluate("() => !document.activeElement.closest('.grid')"):
            page.keyboard.press("Tab")
            continue
        spoken = page.evaluate("() => document.activeElement.getAttribute('aria-label')")
        if "legal" in spoken:
            before = plies(page)
            page.keyboard.press("Enter")
            page.wait_for_function(
                f"() => document.querySelector('.turn.over') || document.querySelectorAll('.record li').length >= {before + 2}"
            )
            continue
        name = page.evaluate("() => document.querySelector('.cell.open')?.dataset.at ?? ''")
        if not name:
            page.wait_for_timeout(50)
            continue
        row, column = map(int, name.split(","))
        at = page.evaluate("() => document.activeElement.dataset.at").split(",")
        key = (
            "ArrowUp"
            if int(at[0]) > row
            else "ArrowDown"
            if int(at[0]) < row
            else "ArrowLeft"
            if int(at[1]) > column
            else "ArrowRight"
        )
        page.keyboard.press(key)
    assert page.locator(".turn.over").count() == 1


@tt.game(players=2, num_actions=3, max_length=9)
class Rising:
    """Take turns to add 1, 2 or 3; whoever reaches 9 wins."""

    total: int = tt.field("i1")
    player: int = tt.field("i1")

    def reset(self):
        self.total = 0
        self.player = 0

    def legal_actions(self, out):
        count = min(3, 9 - self.total)
        for action in range(count):
            out[action] = action
        return count

    def apply(self, action):
        self.total += action + 1
        self.player = 1 - self.player

    def is_terminal(self):
        return self.total == 9

    def rewards(self, out):
        out[self.player] = -1.0
        out[1 - self.player] = 1.0

    def board(self):
        return [["X" if cell < self.total else "" for cell in range(9)]]

    def move_text(self, action):
        return f"plus{action + 1}"


def test_a_game_of_the_users_own_is_played(browser):
    with Server(Options(game=Rising, threads=1)) as server:
        watched = Watched(browser, server.address)
        page = watched.open(view="play")
        page.get_by_label("Engine").select_option("0.1")
        while not page.locator(".turn.over").count():
            page.wait_for_function(
                "() => document.querySelector('.turn.over') || document.querySelector('.choices button')"
            )
            if page.locator(".choices button").count():
                before = plies(page)
                page.locator(".choices button").first.click()
                page.wait_for_function(
                    f"() => document.querySelector('.turn.over') || document.querySelectorAll('.record li').length >= {before + 2}"
                )
        assert watched.problems == []
        watched.context.close()


def test_a_card_game_and_a_dice_game_are_played(watched):
    page = watched.open(game="scoundrel", view="play", seed=4)
    for _ in range(3):
        before = page.locator(".steps span").inner_text() if page.locator(".steps").count() else ""
        page.locator(".card.open").first.click()
        if page.locator(".choices button").count() and page.locator(".card.chosen").count():
            page.locator(".choices button").first.click()
        page.wait_for_function(f"() => (document.querySelector('.steps span')?.innerText ?? '') !== '{before}'")
    page = watched.open(game="pig", view="play", seed=4)
    page.locator(".dice button.open").click()
    page.wait_for_selector(".steps")


def test_a_search_is_watched_and_its_tree_walked(watched):
    page = watched.open(game="othello", view="analyse", seed=1)
    page.get_by_role("button", name="Analyse", exact=True).last.click()
    page.wait_for_selector("table.moves tbody tr")
    first = page.locator(".verdict small").inner_text()
    page.wait_for_function(f"() => document.querySelector('.verdict small').innerText !== {first!r}")
    page.get_by_role("button", name="Stop").click()
    page.locator("table.moves tbody tr").first.hover()
    page.wait_for_selector(".step")
    page.get_by_role("navigation", name="Views").get_by_role("button", name="Tree").click()
    page.wait_for_selector(".treeview canvas")
    canvas = page.locator(".treeview canvas.treemap")
    canvas.focus()
    for level in range(3):
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_function(f"() => document.querySelectorAll('.crumbs button').length >= {level + 2}")
        page.wait_for_timeout(200)


def test_a_recorded_search_is_scrubbed_both_ways(watched):
    page = watched.open(game="tic_tac_toe", view="time", seed=1)
    page.get_by_role("button", name="Record 5,000 simulations").click()
    page.wait_for_selector(".phases")
    page.get_by_role("button", name="Forward").click()
    assert page.locator(".phases .now").inner_text() == "2. Expansion"
    slider = page.get_by_label("Simulation")
    slider.fill("30")
    assert page.locator(".verdict b").first.inner_text() == "31"
    slider.fill("5")
    assert page.locator(".verdict b").first.inner_text() == "6"
    assert page.locator(".level table").count() >= 1


def test_a_game_is_reviewed(watched):
    page = watched.open(game="tic_tac_toe", view="review", moves="b2~a1~c1~c3~a3", people="0~1", seed=1)
    page.get_by_role("button", name="Review this game").click()
    page.wait_for_selector(".losses button")
    assert "better was" in page.locator(".losses").inner_text()
    page.locator(".losses button").first.click()
    page.wait_for_function("() => document.querySelector('.steps span').innerText.startsWith('3')")


def test_other_settings_are_tried(watched):
    page = watched.open(game="connect_four", view="whatif", seed=1)
    page.wait_for_selector(".decisions .badge")


def test_the_tour_is_finished_and_its_numbers_are_right(watched):
    page = watched.open(game="tic_tac_toe", view="learn", seed=1)
    seen = 1
    texts = [page.locator(".learn").inner_text()]
    while page.get_by_role("button", name="Next").count():
        page.get_by_role("button", name="Next").click()
        texts.append(page.locator(".learn").inner_text())
        seen += 1
    assert seen >= 8
    together = "\n".join(texts)
    for number in ("1.229193", "1.559705", "0.979853", "0.878431", "0.690909", "0.621951"):
        assert number in together
    page.get_by_role("button", name="Finish").click()
    page.wait_for_selector(".board")


def test_a_link_holds_the_position(watched):
    page = watched.open(game="connect_four", view="analyse", moves="4~4~3", people="0~1", seed=5)
    page.wait_for_selector(".record li")
    link = page.evaluate("() => location.href")
    other = watched.context.new_page()
    other.goto(link)
    other.wait_for_selector(".record li")
    assert other.locator(".record li").all_inner_texts() == page.locator(".record li").all_inner_texts()
    assert other.locator("circle.disc").count() == 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_usable_at_400_pixels(browser, address, scheme):
    watched = Watched(browser, address, color_scheme=scheme)
    watched.page.set_viewport_size({"width": 400, "height": 800})
    page = watched.open(game="connect_four", view="play", seed=1)
    page.wait_for_selector(".cell.open")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
    background = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(21, 24, 27)") == (scheme == "dark")
    page.locator(".cell.open").first.click()
    page.wait_for_selector(".record li")
    assert watched.problems == []
    watched.context.close()


@pytest.mark.parametrize("view", ["play", "analyse", "review", "time", "whatif", "learn"])
def test_no_view_has_serious_findings_of_axe(watched, view):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs axe: pip install axe-playwright-python"
    )
    page = watched.open(game="connect_four", view=view, moves="4~4", people="0~1", seed=1)
    page.wait_for_timeout(300)
    found = axe.Axe().run(page).response["violations"]
    serious = [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found if one["impact"] in ("serious", "critical")
    ]
    assert serious == []
