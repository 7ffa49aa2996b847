"""The tree as SVG and for Graphviz: well-formed, with every mark, whatever the names of moves are."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest

import treetop as tt
from tests.show.conftest import KINDS, NASTY

SVG = "{http://www.w3.org/2000/svg}"


def drawn(result, nodes=60):
    return ET.fromstring(result.svg(nodes))


def boxes(root):
    return [one for one in root.iter(f"{SVG}g") if one.get("class") == "node"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_of_every_kind_is_drawn(results, kind):
    root = drawn(results(kind))
    edges = [one for one in root.iter(f"{SVG}path") if one.get("class") == "edge"]
    assert len(boxes(root)) == len(edges) + 1 > 1
    assert results(kind).dot().count("[label=") == len(boxes(root)) + 1


def test_no_two_boxes_overlap_and_all_are_inside(results):
    root = drawn(results("solver"))
    width, height = float(root.get("width")), float(root.get("height"))
    places = []
    for box in boxes(root):
        rectangle = box.find(f"{SVG}rect")
        left, top, wide, high = (float(rectangle.get(name)) for name in ("x", "y", "width", "height"))
        assert left > 0
        assert left + wide < width
        assert top > 0
        assert top + high < height
        assert not any(
            left < other[0] + other[2]
            and other[0] < left + wide
            and top < other[1] + other[3]
            and other[1] < top + high
            for other in places
        )
        places.append((left, top, wide, high))


def test_edges_are_as_wide_as_their_visits(results):
    result = results("plain")
    widths = [float(one.get("stroke-width")) for one in drawn(result, 4).iter(f"{SVG}path")]
    assert widths[0] == pytest.approx(20 * int(result.counts.max()) / result.root_visits, abs=0.06)
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize(
    ("kind", "mark"),
    [
        ("solver", "proven"), ("solver", "end of the game"), ("chance and rewards", "chance node"),
        ("python problem", "chance node"), ("simultaneous", "simultaneous moves"),
        ("graph", "transposition: its children are below another node"),
    ],
)  # fmt: skip
def test_marks_are_drawn_and_named(results, kind, mark):
    root = drawn(results(kind), 3000)
    titles = [box.find(f"{SVG}title").text for box in boxes(root)]
    assert any(mark in title for title in titles)
    legend = [one.text for one in root.iter(f"{SVG}text") if one.get("class") == "note"]
    assert mark in legend


def test_nasty_names_are_escaped(results):
    result = results("python problem")
    text = result.svg()
    assert "<b>" not in text
    assert "\x00" not in text
    shown = {one.text for one in ET.fromstring(text).iter(f"{SVG}text") if one.get("class") == "move"}
    assert '</script><!--<b>"\\N&\ufffd\ufffd' in shown
    assert '\\"\\\\N&\ufffd\ufffd\\n' in result.dot()
    assert NASTY not in result.dot()


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz: apt-get install graphviz")
@pytest.mark.parametrize("kind", ["solver", "python problem"])
def test_graphviz_draws_the_tree(results, kind):
    ended = subprocess.run(["dot", "-Tsvg"], input=results(kind).dot().encode(), capture_output=True, check=True)
    assert ended.stderr == b""
    assert ended.stdout.count(b'class="node"') == 60


def test_the_number_of_nodes_is_checked(results):
    for wrong in (0, 5001, 2.5):
        with pytest.raises(tt.errors.ConfigError, match="nodes"):
            results("plain").svg(wrong)
