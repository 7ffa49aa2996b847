"""The page of a result, opened from the disk in a real browser, and the same module as a widget."""

from __future__ import annotations

import json
import re

import pytest

import treetop as tt
from tests.show.conftest import KINDS, NASTY
from treetop.show.page import module_text, script_json, snapshot_text


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_of_every_kind_is_one_small_file_that_loads_nothing(results, kind):
    page = results(kind).html()
    assert len(page.encode()) < 1_000_000
    assert not re.search(r"<(link|img|iframe|object|embed|base)\b", page)
    assert not re.search(r"\b(src|href)=[\"'](?!#)", page.partition('<script type="module">')[0])
    assert "default-src 'none'" in page
    assert page.lower().count("</script>") == 2


def test_data_cannot_end_its_element(results):
    page = results("python problem").html()
    start = page.index('id="snapshot">') + len('id="snapshot">')
    data = page[start : page.index("</script>", start)]
    assert "<" not in data
    assert {one["move"] for one in json.loads(data)["analysis"]["moves"]} == {"left", NASTY}


def test_json_for_a_script_is_the_same_json():
    assert json.loads(script_json(json.dumps([NASTY]))) == [NASTY]


def test_without_scripts_the_page_is_the_text_of_the_result(results):
    page = results("plain").html()
    text = page[page.index("<noscript>") : page.index("</noscript>")]
    assert "principal variation" in text


@pytest.fixture
def opened(browser, tmp_path):
    """A function that opens a page from the disk; it may make no request, and print no error."""
    problems, contexts = [], []

    def open_text(text, **settings):
        file = tmp_path / f"page{len(contexts)}.html"
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(viewport={"width": 1200, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda one: problems.append(one.text) if one.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda one: problems.append(one.url) if one.url != file.as_uri() else None)
        page.goto(file.as_uri())
        page.wait_for_selector(".still")
        return page

    yield open_text
    assert problems == []
    for context in contexts:
        context.close()


def test_the_page_shows_board_moves_variations_and_tree(results, opened):
    result = results("plain")
    page = opened(result.html())
    assert page.locator(".grid .cell").count() == 9
    rows = page.locator("table.moves.sorted tbody tr")
    assert rows.count() == 9
    assert rows.first.locator("th").inner_text().startswith(result.move)
    assert f"{int(result.counts.max()):,}" in rows.first.inner_text()
    assert "UCB1: score = value + c * sqrt(ln(N) / n)" in page.locator(".formula").inner_text()
    assert page.locator(".lines li").first.inner_text().split()[1:] == result.pv
    rows.nth(1).hover()
    assert page.locator(".grid .step").count() > 1


def test_the_tree_of_the_page_is_walked_and_opened(results, opened):
    result = results("plain")
    page = opened(result.html())
    tree = page.locator("canvas.treemap")
    tree.focus()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    assert page.locator(".details .path").inner_text() == " ".join(result.pv[:2])
    page.keyboard.press("Enter")
    assert page.locator(".crumbs button").all_inner_texts() == ["root", *result.pv[:2]]
    page.keyboard.press("Backspace")
    assert page.locator(".crumbs button").count() == 2
    page.locator(".crumbs button").first.click()
    assert f"{result.root_visits:,}" in page.locator(".details dd").first.inner_text()


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_of_every_kind_opens_without_an_error(results, opened, kind):
    page = opened(results(kind).html())
    assert page.locator("table.moves.sorted tbody tr").count() > 1
    assert page.locator("canvas.treemap").count() == 1
    assert page.locator(".cell.open, .choices button, .steps").count() == 0  # nothing here plays


@pytest.mark.parametrize("width", [400, 1200])
def test_the_page_fits_its_window(results, opened, width):
    page = opened(results("plain").html(), color_scheme="dark")
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelector('.treetop').dataset.theme") == "dark"


def test_the_page_has_no_serious_findings_of_axe(results, opened):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    page = opened(results("plain").html())
    found = axe.Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


def test_the_module_is_a_widget_with_a_state_of_its_own_for_each_view(results, opened):
    texts = [snapshot_text(results(kind)) for kind in ("plain", "simultaneous")]
    start = f"""
        const ends = {json.dumps(texts).replace("<", chr(92) + "u003c")}.map((text) => {{
          const el = document.createElement("div");
          document.body.append(el);
          return (() => render({{ model: {{ get: (name) => (name === "snapshot" ? text : undefined) }}, el }}))();
        }});
        window.endFirst = ends[0];
    """
    page = opened(f'<!doctype html><body><script type="module">{module_text()}{start}</script>')
    page.wait_for_function("document.querySelectorAll('.treetop').length === 2")
    assert page.locator(".title h1").all_inner_texts() == ["tic tac toe", "Hands"]
    assert page.evaluate("getComputedStyle(document.body).margin") == "8px"  # styles stay inside
    page.evaluate("window.endFirst()")
    assert page.locator(".title h1").all_inner_texts() == ["Hands"]


def test_the_theme_is_that_of_the_notebook_around(results, opened):
    start = (
        "const el=document.createElement('div');document.body.append(el);"
        "render({model:{get:()=>" + script_json(json.dumps(snapshot_text(results("plain")))) + "},el});"
    )
    page = opened(f'<!doctype html><body style="background:#111"><script type="module">{module_text()}{start}</script>')
    assert page.evaluate("document.querySelector('.treetop').dataset.theme") == "dark"
    page.evaluate("document.body.style.background = '#fff'")
    page.wait_for_function("document.querySelector('.treetop').dataset.theme === 'light'")


def test_a_page_says_where_a_tree_is_missing(opened):
    search = tt.Search("tic_tac_toe", seed=1)
    old = search.run(tt.Limit(simulations=200))
    search.run(tt.Limit(simulations=200))
    assert "The tree is not here" in opened(old.html()).locator(".still").inner_text()
