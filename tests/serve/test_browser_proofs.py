"""Proofs on the page, in a real browser: a search by keyboard, its tree, stepping, errors, links, narrow windows."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install -e '.[serve]'")
pytest.importorskip("playwright", reason="needs Playwright: pip install playwright")

from treetop.serve.app import Options
from treetop.serve.server import Server

CASES = "(p | q -> r) <-> (p -> r) & (q -> r)"


@pytest.fixture(scope="module")
def address():
    with Server(Options(threads=1)) as server:
        yield server.address


@pytest.fixture
def opened(browser, address):
    """Return a function that opens the view; at the end there must be no error on the console, and no request outside."""
    problems, contexts = [], []

    def watch(text):
        problems.append(text)

    def open_page(formula="", width=1200, **settings):
        context = browser.new_context(viewport={"width": width, "height": 850}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda one: watch(one.text) if one.type == "error" else None)
        page.on("pageerror", lambda error: watch(str(error)))
        page.on("request", lambda one: None if one.url.startswith((address, "ws", "data:")) else watch(one.url))
        page.goto(f"{address}#view=proofs")
        page.wait_for_selector(".proofs form")
        if formula:
            prove(page, formula)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


def prove(page, formula):
    page.get_by_label("Formula").fill(formula)
    page.get_by_role("button", name="Prove").click()
    result(page)


def result(page):
    """Return the headline of the result, when the search has ended."""
    page.wait_for_selector(".result h3")
    page.wait_for_function("() => !document.querySelector('.result h3').innerText.includes('Searching')")
    return page.locator(".result h3").inner_text().strip()


def wait_for_choice(page, text):
    """Wait until the node of this text is chosen."""
    page.wait_for_function(
        "text => document.querySelector('.chosen .formula')?.innerText.replaceAll(/\\s+/g, ' ') === text", arg=text
    )


def test_a_formula_is_proved_and_its_tree_walked_three_levels_by_keyboard(opened):
    page = opened()
    page.get_by_label("Formula").focus()
    page.keyboard.type(CASES)
    page.keyboard.press("Enter")
    assert result(page) == "✓ Proved in 19 steps"
    assert page.locator(".result pre").inner_text().startswith("split\n- intro")
    page.locator(".drawing").focus()
    for tactic in ("split", "|- (p | q -> r) -> (p -> r) & (q -> r)", "intro"):
        page.keyboard.press("ArrowDown")
        wait_for_choice(page, tactic)
    assert page.locator(".drawing > p").inner_text().startswith("Tactic: intro, proved, part of the proof")
    before = page.locator(".drawing .node").count()
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => document.querySelectorAll('.drawing .node').length < {before}")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => document.querySelectorAll('.drawing .node').length === {before}")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    wait_for_choice(page, "|- (p -> r) & (q -> r) -> p | q -> r")
    page.keyboard.press("o")
    page.wait_for_selector(".crumbs button")
    assert 0 < page.locator(".drawing .node").count() < before
    page.keyboard.press("Backspace")
    page.wait_for_function(f"() => document.querySelectorAll('.drawing .node').length === {before}")


def test_the_outline_is_a_tree_that_is_walked_by_keyboard(opened):
    page = opened("p & q -> q & p")
    page.get_by_role("button", name="Outline").click()
    tree = page.get_by_role("tree")
    tree.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    row = page.locator("[aria-selected=true][aria-level='4']")
    assert "tactic proved, part of the proof" in row.text_content()
    page.keyboard.press("Enter")
    page.wait_for_selector("[aria-selected=true][aria-expanded=false]")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("[aria-selected=true][aria-level='3']")


def test_an_unprovable_formula_shows_its_counter_model(opened):
    page = opened()
    page.get_by_role("button", name="Peirce's law", exact=True).click()
    assert result(page) == "✗ Not provable in intuitionistic logic"
    assert page.locator(".result pre").inner_text() == "world 0: no atom\n  world 1: p"
    assert page.locator(".drawing .node.dead .sign").first.text_content() == "✗"


def test_a_search_grows_simulation_by_simulation(opened):
    page = opened()
    page.get_by_label("Pace").select_option("five")
    page.get_by_role("button", name="Pigeons").click()
    page.wait_for_function("() => document.querySelectorAll('.drawing .node').length > 4")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="One simulation").wait_for()
    done = int(page.locator(".standing dd").first.inner_text())
    page.get_by_role("button", name="One simulation").click()
    page.wait_for_function(f"() => document.querySelector('.standing dd').innerText === '{done + 1}'")
    page.get_by_label("Pace").select_option("full")
    page.get_by_role("button", name="Continue").click()
    page.wait_for_selector(".result.proved")


def test_a_shared_goal_leads_to_its_place(opened):
    page = opened(CASES)
    page.locator(".drawing .node.reference").first.click()
    page.get_by_role("button", name="Go to this goal").click()
    page.wait_for_selector(".drawing .node.on:not(.reference)")
    assert "shared by" in page.locator(".chosen").inner_text()
    assert page.locator(".chosen h3").inner_text().startswith("Goal")


def test_a_link_reproduces_a_search(opened):
    page = opened()
    page.get_by_label("Policy").select_option("ucb1")
    page.get_by_label("Seed").fill("7")
    prove(page, "~~(p | ~p)")
    script, link = page.locator(".result pre").inner_text(), page.evaluate("() => location.href")
    other = page.context.new_page()
    other.goto(link)
    assert result(other).startswith("✓ Proved")
    assert other.locator(".result pre").inner_text() == script
    assert other.locator(".standing dd").first.inner_text() == page.locator(".standing dd").first.inner_text()
    assert other.get_by_label("Policy").input_value() == "ucb1"
    assert other.get_by_label("Seed").input_value() == "7"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_view_is_usable_at_400_pixels(opened, scheme):
    page = opened(CASES, width=400, color_scheme=scheme)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
    assert page.get_by_role("tree").is_visible()
    page.get_by_role("button", name="Drawing").click()
    assert page.locator(".drawing .node").count() > 10
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("shown", ["nothing", "Drawing", "Outline"])
def test_axe_has_no_serious_findings(opened, shown, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs axe: pip install axe-playwright-python"
    )
    page = opened("" if shown == "nothing" else CASES, color_scheme=scheme)
    if shown != "nothing":
        page.get_by_role("button", name=shown).click()
    found = axe.Axe().run(page).response["violations"]
    serious = [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found if one["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_a_bad_formula_is_shown_with_its_place(browser, address):
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}#view=proofs")
    page.get_by_label("Formula").fill("p & (q")
    page.get_by_role("button", name="Prove").click()
    assert page.get_by_role("alert").inner_text().startswith("This bracket is never closed (column 5)")
    field = page.get_by_label("Formula")
    assert field.get_attribute("aria-invalid") == "true"
    assert field.evaluate("field => [field.selectionStart, field.selectionEnd]") == [4, 5]
    context.close()
