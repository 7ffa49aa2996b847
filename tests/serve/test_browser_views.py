"""Each view of the page in a real browser: what it shows, and what can be done with it."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: pip install -e '.[serve]'")
pytest.importorskip("playwright", reason="needs Playwright: pip install playwright")

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


def analysed(page):
    """Search a thousand simulations, and wait for their end."""
    page.get_by_role("button", name="1,000 simulations").click()
    page.wait_for_function(
        "() => document.querySelector('table.moves tbody tr') && !document.querySelector('.thinking')"
    )


def column(page, name):
    return [
        float(text.rstrip("%").replace("\u2212", "-").replace(",", ""))
        for text in page.locator(f"td.{name}").all_inner_texts()
    ]


def test_the_moves_of_an_analysis_are_sorted_by_any_column_with_the_keyboard(watched):
    page = watched.open(game="tic_tac_toe", view="analyse", moves="b2~a1", people="0~1", seed=1)
    analysed(page)
    assert page.locator("th[aria-sort]:not([aria-sort=none])").count() == 0
    page.locator("th.value button").focus()
    page.keyboard.press("Enter")
    assert page.locator("th.value").get_attribute("aria-sort") == "descending"
    values = column(page, "value")
    assert values == sorted(values, reverse=True)
    page.keyboard.press("Enter")
    assert page.locator("th.value").get_attribute("aria-sort") == "ascending"
    assert column(page, "value") == sorted(values)
    page.keyboard.press("Enter")
    assert page.locator("th.value").get_attribute("aria-sort") == "none"


def test_an_analysis_shows_prior_beside_visits_and_whose_view_it_is(watched):
    page = watched.open(game="tic_tac_toe", view="analyse", moves="b2~a1", people="0~1", seed=1)
    analysed(page)
    assert "from the view of Player 1" in page.locator(".verdict").inner_text()
    assert sum(column(page, "prior")) == pytest.approx(100, abs=1)
    assert sum(column(page, "share")) == pytest.approx(100, abs=1)
    assert page.locator(".opinion").count() == page.locator("table.moves tbody tr").count()
    assert page.locator(".opinion text").count() >= 7


def test_a_variation_is_shown_on_the_board_when_its_row_has_the_focus(watched):
    page = watched.open(game="tic_tac_toe", view="analyse", moves="b2~a1", people="0~1", seed=1)
    analysed(page)
    page.locator("table.moves tbody tr").first.focus()
    page.wait_for_selector(".step")
    page.locator("th.value button").focus()
    page.wait_for_function("() => !document.querySelector('.step')")


def test_each_of_the_most_visited_moves_has_a_disc_that_holds_its_readable_label(watched):
    page = watched.open(game="hex(size=7)", view="analyse", people="0~1", seed=1)
    analysed(page)
    boxes = page.locator(".opinion:has(text)").evaluate_all(
        "marks => marks.map(mark => [mark.querySelector('circle'), mark.querySelector('text')].map(one => {"
        " const box = one.getBoundingClientRect(); return [box.left, box.right, box.top, box.bottom]; }))"
    )
    assert len(boxes) == 10
    for disc, label in boxes:
        assert disc[0] <= label[0] <= label[1] <= disc[1]
        assert disc[2] <= label[2] <= label[3] <= disc[3]
        assert label[3] - label[2] >= 11


def test_moves_that_are_cards_or_buttons_have_their_values_too(watched):
    page = watched.open(game="scoundrel", view="analyse", people="0", seed=1)
    analysed(page)
    assert page.locator(".card .opinion-value").count() == page.locator(".card.open").count() == 4
    assert page.locator(".choices .opinion-value").count() == 1
    assert page.locator(".opinion-value.best").count() == 1


def test_a_variation_is_stacked_in_its_columns_and_leads_from_cell_to_cell(watched):
    page = watched.open(game="connect_four", view="analyse", moves="4~4~4", people="0~1", seed=1)
    analysed(page)
    page.locator("table.moves tbody tr").first.focus()
    page.wait_for_selector(".step")
    line = page.locator(".pv button").all_inner_texts()
    assert sorted(page.locator(".step text").all_text_contents(), key=int) == [str(n) for n in range(1, len(line) + 1)]
    assert page.locator(".opinion").count() == 0  # the variation takes its place
    page = watched.open(game="breakthrough", view="analyse", people="0~1", seed=1)
    page.wait_for_selector("[data-name=a1]")
    analysed(page)
    assert page.locator(".arrows line").count() == 3
    page.locator("table.moves tbody tr").first.focus()
    page.wait_for_selector(".arrows .variation")


def test_the_keys_step_search_and_turn_the_board(watched):
    page = watched.open(game="breakthrough", view="analyse", moves="a2a3~h7h6", people="0~1", seed=1)
    shown = page.locator(".steps span")
    page.locator("[data-name=d4]").click()  # the focus is on the board, but not by a key
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => document.querySelector('.steps span').innerText === '1 / 2'")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('.steps span').innerText === '2 / 2'")
    before = page.locator("[data-name=a1]").bounding_box()
    page.keyboard.press("f")
    after = page.locator("[data-name=a1]").bounding_box()
    assert after["x"] > before["x"] + 200
    assert after["y"] < before["y"] - 200
    page.locator("body").click(position={"x": 600, "y": 840})
    page.keyboard.press(" ")
    page.wait_for_selector("table.moves tbody tr")
    page.keyboard.press(" ")
    page.wait_for_function("() => !document.querySelector('.thinking')")
    page.locator("[data-name=a1]").evaluate("cell => cell.blur()")
    while not page.evaluate("() => document.activeElement.closest('.grid')"):
        page.keyboard.press("Tab")
    at = page.evaluate("() => document.activeElement.dataset.at")
    page.keyboard.press("ArrowDown" if at.startswith("7") else "ArrowUp")  # seen from the other side
    assert page.evaluate("() => document.activeElement.dataset.at") != at
    assert shown.inner_text() == "2 / 2"


def test_tiles_are_pushed_by_the_arrow_keys(watched):
    page = watched.open(game="twenty48", view="play", seed=1)
    page.wait_for_selector(".choices button")
    move = page.locator(".choices button").first.inner_text()
    page.keyboard.press(f"Arrow{move.capitalize()}")
    page.wait_for_function("() => document.querySelectorAll('.record li').length === 1")
    assert page.locator(".record li").inner_text() == f"1 {move}"


@pytest.mark.parametrize(("width", "height", "least"), [(1200, 850, 600), (1920, 1080, 850), (1000, 1400, 940)])
def test_a_board_fills_wide_and_tall_windows(watched, width, height, least):
    page = watched.page
    page.set_viewport_size({"width": width, "height": height})
    watched.open(game="othello", view="analyse", people="0~1", seed=1)
    page.wait_for_selector("svg.grid")
    box = page.locator("svg.grid").bounding_box()
    assert least <= min(box["width"], box["height"])
    turn = page.locator(".turn").bounding_box()
    assert turn["y"] + turn["height"] <= height
    header = page.locator("header").bounding_box()
    assert header["height"] < 60  # one row
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_a_wrong_address_is_explained_beside_a_game(browser, address):
    watched = Watched(browser, address)
    page = watched.open(game="chess_of_mars", view="play")
    page.wait_for_selector(".cell")
    assert "there is no game called 'chess_of_mars'" in page.get_by_role("alert").inner_text()
    assert all("400" in one for one in watched.problems)  # the browser notes the refusal
    watched.context.close()


def test_a_piece_moves_to_its_cell_unless_motion_is_unwanted(browser, address):
    running = "() => document.getAnimations().map(one => one.animationName)"
    for motion in ("no-preference", "reduce"):
        watched = Watched(browser, address, reduced_motion=motion)
        page = watched.open(game="breakthrough", view="play", people="0~1", seed=1)
        page.locator("[data-name=a2]").click()
        page.locator("[data-name=a3]").click()
        page.wait_for_selector(".arrives")
        assert ("arrive" in page.evaluate(running)) == (motion == "no-preference")
        assert watched.problems == []
        watched.context.close()


def test_a_decision_is_recomputed_while_settings_change(watched):
    page = watched.open(game="tic_tac_toe", view="whatif", moves="b2~a1", people="0~1", seed=1)
    page.wait_for_selector(".decisions .badge")
    searches = []
    page.on("request", lambda one: searches.append(one) if one.url.endswith("what-if") else None)
    now = page.get_by_role("region", name="Now")
    page.get_by_label("secure").check()
    page.wait_for_function(
        "() => document.querySelector('.decisions .reason').innerText.includes('standard deviations')"
    )
    page.get_by_label("sampled").check()
    page.get_by_label("Temperature of sampling").fill("0")
    page.wait_for_function("() => document.querySelector('.decisions .reason').innerText.includes('100.0%')")
    assert searches == []  # final rules need no search
    slider = page.get_by_label("Exploration c")
    slider.evaluate(  # in one go: what is slower than the page waits for is another change
        "slider => { for (const c of [2, 3, 4]) { slider.value = c; slider.dispatchEvent(new Event('input', {bubbles: true})); } }"
    )
    page.wait_for_function("() => document.querySelectorAll('.decisions small')[1].innerText.includes('c 4.00')")
    assert len(searches) == 1  # one search after the last change
    assert "c 1.41" in page.get_by_role("region", name="Before").inner_text()
    assert "of 5 seeds" in now.inner_text()


def test_a_tree_is_folded_searched_for_moves_and_searched_from_a_node(watched):
    page = watched.open(game="tic_tac_toe", view="tree", moves="b2~a2", people="0~1", seed=1)
    page.get_by_role("button", name="Search 100,000 simulations").click()
    page.wait_for_function(
        "() => document.querySelector('canvas.treemap') && document.querySelector('.treebar button.quiet')"
    )
    details = page.get_by_role("complementary", name="Node")
    page.locator("canvas.treemap").focus()
    page.keyboard.press("ArrowDown")
    best = details.locator(".path").inner_text()
    assert details.locator("tbody button").count() >= 1
    page.keyboard.press("f")
    assert details.locator("tbody").inner_text() == "folded"
    page.get_by_role("button", name="Unfold").click()
    reply = details.locator("tbody button").first.inner_text()
    page.get_by_role("searchbox").fill(f"{best} {reply}")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => document.querySelector('.details .path').innerText === '{best} {reply}'")
    page.get_by_role("searchbox").fill("z9")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.find output').innerText === 'no z9 here'")
    page.locator(".treebar select").select_option("uncertainty")
    assert "uncertain" in page.locator(".treelegend").inner_text()
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Whole width").click()
    page.get_by_role("button", name="Search from here").click()
    page.wait_for_function(
        f"() => location.hash.includes('b2~a2~{best}~{reply}') || location.hash.includes('{best}%7E{reply}')"
    )


def test_a_game_begins_with_the_parameters_of_its_controls(watched):
    page = watched.open(game="nim", view="play", people="0~1", seed=1)
    form = page.get_by_role("form", name="Parameters of the game")
    assert form.get_by_role("button").is_disabled()
    form.get_by_label("stones").fill("5")
    form.get_by_role("button").click()
    page.wait_for_function("() => document.querySelector('.heap b')?.innerText === '5'")
    assert "nim%28stones%3D5%29" in page.url
    form.get_by_label("stones").fill("0")
    form.get_by_role("button").click()
    assert page.locator(".heap b").inner_text() == "5"  # the browser refuses what is out of range


def test_a_position_is_set_up_by_a_diagram_and_a_game_by_its_moves(watched):
    page = watched.open(game="tic_tac_toe", view="play", moves="b2~a1", people="0~1", seed=1)
    page.get_by_text("Set up a position, or paste a game").click()
    page.get_by_label("Moves, separated by blanks").fill("a1 b1, a2")
    page.get_by_role("button", name="Load the moves").click()
    page.wait_for_function("() => document.querySelectorAll('.record li').length === 3")
    page.get_by_text("Set up a position, or paste a game").click()
    page.get_by_label("A diagram of the position").fill("3 . . O\n2 . X .\n1 X . .\n  a b c")
    page.get_by_role("button", name="Set up", exact=True).click()
    page.wait_for_function(
        "() => document.querySelector('[data-name=c3]').getAttribute('aria-label').startsWith('c3, O')"
    )
    page.reload()  # the link holds the diagram
    page.wait_for_function(
        "() => document.querySelector('[data-name=c3]')?.getAttribute('aria-label').startsWith('c3, O')"
    )


def test_nothing_moves_on_the_screen_where_motion_is_unwanted(browser, address):
    watched = Watched(browser, address, reduced_motion="reduce")
    page = watched.open(game="tic_tac_toe", view="play", seed=1)
    page.get_by_label("Engine").select_option("v100")
    for _ in range(10):  # a click while the page takes the setting may be lost
        if page.locator(".record li").count():
            break
        page.locator(".cell.open").first.click()
        page.wait_for_timeout(1000)
    page.wait_for_function(
        "() => document.querySelector('.arrives')"
        " && getComputedStyle(document.querySelector('.arrives')).animationName === 'none'"
    )
    assert watched.problems == []
    watched.context.close()


def test_a_record_is_opened_from_a_file_and_its_report_is_saved(watched, tmp_path):
    page = watched.open(game="tic_tac_toe", view="review", people="0~1", seed=1)
    record = tmp_path / "game.txt"
    record.write_text("game: tic_tac_toe\n1. b2 a1 2. c1 c3 3. a3 {a comment} 1-0\n")
    page.locator("input[type=file]").set_input_files(record)
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_function("() => document.querySelectorAll('.record li').length === 5")
    page.get_by_label("Search").select_option("1000")
    page.get_by_role("button", name="Review this game").click()
    page.wait_for_selector(".losses button")
    page.wait_for_selector("progress", state="detached")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the report").click()
    report = download.value.path().read_text()
    assert "<svg" in report
    assert "<script" not in report
    assert "b2 a1 c1 c3 a3" in report


def test_a_review_shows_the_better_move_and_keeps_the_game_beside_variations(watched):
    page = watched.open(game="tic_tac_toe", view="review", moves="b2~a1~c1~c3~a3", people="0~1", seed=1)
    page.get_by_label("Search").select_option("1000")
    page.get_by_role("button", name="Review this game").click()
    page.wait_for_selector(".losses button")
    page.wait_for_selector("progress", state="detached")
    lost = page.locator(".losses button").first
    number, mark = lost.locator("b").first.inner_text().split(".")[0], lost.locator(".badge").inner_text()
    assert page.locator(".record li").nth(int(number) - 1).locator("sup").inner_text() == mark
    lost.click()
    page.wait_for_selector(".advice.better")
    ply = int(page.locator(".steps span").inner_text().split("/")[0])
    better = page.locator(".losses .better b").first.inner_text()
    assert page.locator(".advice.played").count() == 1
    page.locator(".cell.open:has(.advice.better)").click()
    page.wait_for_selector(".variations .now i")
    varied = [*("b2", "a1", "c1", "c3", "a3")[:ply], better]
    shown = [text.rstrip("?!") for text in page.locator(".record li").all_inner_texts()]
    assert shown == [f"{at} {move}" for at, move in enumerate(varied, 1)]
    page.get_by_role("button", name="The game", exact=True).click()
    page.wait_for_function("() => document.querySelectorAll('.record li').length === 5")
    page.locator(".variations li").nth(1).get_by_role("button").first.click()
    page.wait_for_function(f"() => document.querySelectorAll('.record li').length === {ply + 1}")


def test_the_numbers_of_the_tour_are_computed_and_its_steps_follow_the_arrow_keys(watched):
    page = watched.open(game="tic_tac_toe", view="learn", seed=1)
    page.keyboard.press("ArrowRight")
    assert page.locator(".lesson .score.on").all_text_contents() == ["1.727", "2.794"]  # UCB1 of 5/6 in 11, of 1/1 in 5
    page.keyboard.press("ArrowRight")
    for name, visits, wins in (("B", "5", "2.5"), ("C", "45", "0")):
        page.get_by_label(f"visits of {name}").fill(visits)
        page.get_by_label(f"wins of {name}").fill(wins)
    scores = page.locator(".arms tbody tr").all_inner_texts()
    assert "1.229193" in scores[0]
    assert "1.857228" in scores[1]
    page.get_by_label("visits of B").fill("0")
    assert "∞" in page.locator(".arms tbody tr").nth(1).inner_text()
    page.get_by_role("button", name="Next").click()
    assert {"0.959560", "1.357023"} <= set(page.locator(".arms").inner_text().replace(",", "").replace(":", "").split())
    page.keyboard.press("ArrowLeft")
    assert page.locator("h2").inner_text() == "UCB1, with numbers"


def test_a_recorded_search_stops_at_changes_and_fills_its_formulas(watched):
    page = watched.open(game="tic_tac_toe", view="time", seed=1)
    page.get_by_role("button", name="Record 5,000 simulations").click()
    page.wait_for_selector(".scrubber i")
    changes = page.locator(".scrubber i").count()
    seen = 0
    while page.get_by_role("button", name="Next change of the best move").is_enabled():
        page.keyboard.press(".")
        seen += 1
        assert page.locator(".verdict .badge").inner_text().startswith("changed here")
    assert seen == changes
    page.keyboard.press(",")
    assert page.locator(".scrubber i.now").count() == 1
    page.get_by_label("Simulation").fill("60")
    page.locator(".phases").click()
    shown, score = (
        page.locator(".formula.numbers").first.inner_text(),
        page.locator(".level .best td").nth(4).inner_text(),
    )
    assert "ln 59" in shown
    assert shown.endswith(f"= {score}")
    for phase, text in (("2. Expansion", "n = 0"), ("3. Evaluation", "Player 1:"), ("4. Backup", "+ 1 =")):
        page.keyboard.press("ArrowRight")
        assert page.locator(".phases .now").inner_text() == phase
        assert text in page.locator(".phases").inner_text()


def prepared(page, view):
    """Bring a view to where it shows results."""
    if view == "analyse":
        analysed(page)
    elif view == "tree":
        page.get_by_role("button", name="Search 100,000 simulations").click()
        page.wait_for_selector("canvas.treemap")
    elif view == "time":
        page.get_by_role("button", name="Record 5,000 simulations").click()
        page.wait_for_selector(".phases")
    elif view == "whatif":
        page.wait_for_selector(".decisions .badge")
    elif view == "review":
        page.get_by_label("Search").select_option("1000")
        page.get_by_role("button", name="Review this game").click()
        page.wait_for_selector("progress", state="detached")
        page.wait_for_selector(".losses button")
        page.locator(".losses button").first.click()
    elif view == "play":
        page.locator("details.setup summary").click()


@pytest.mark.parametrize("view", ["play", "analyse", "review", "tree", "time", "whatif", "learn"])
def test_no_view_with_results_has_serious_findings_of_axe_in_light_and_dark(watched, view):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs axe: pip install axe-playwright-python"
    )
    moves = "b2~a1~c1~c3~a3" if view == "review" else "b2~a1"
    page = watched.open(game="tic_tac_toe", view=view, moves=moves, people="0~1", seed=1)
    prepared(page, view)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.wait_for_timeout(250)  # colours fade
        found = axe.Axe().run(page).response["violations"]
        serious = [
            f"{scheme}, {one['id']}: {node['html'][:160]} {node['failureSummary'][-200:]}"
            for one in found
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]
        assert serious == []
