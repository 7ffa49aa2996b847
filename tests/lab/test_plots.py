"""The picture of an experiment: everything is on it, nothing is cut off, nothing overlaps."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.text import Text

from treetop import Rng
from treetop.errors import ConfigError, MissingExtraError, SaveError
from treetop.lab.basins import BasinTable, basin_table
from treetop.lab.plots import draw_experiment, experiment_figure
from treetop.lab.ratios import Comparison, compare
from treetop.lab.runs import Run

LONG = "the_fold_of_a_list_that_was_reversed_twice_is_the_fold_of_the_list"


def experiment(theorems: int, seeds: int = 10, budget: int = 400) -> tuple[BasinTable, Comparison]:
    rng = np.random.default_rng(8)
    runs: dict[str, list[Run]] = {"ucb1": [], "blind_uniform": []}
    for number in range(theorems):
        name = LONG if number == 3 else f"lemma_{number}"
        level = {"ucb1": rng.uniform(1, 2.8)}
        level["blind_uniform"] = level["ucb1"] + rng.normal(0.6, 0.5)
        for seed in range(seeds):
            for policy, made in runs.items():
                cost = 1 + int(10 ** rng.normal(level[policy], 0.3))
                if cost > budget:
                    made.append(Run(name, policy, seed, "open", attempts=budget))
                else:
                    made.append(
                        Run(
                            name,
                            policy,
                            seed,
                            "proved",
                            attempts=cost,
                            structure=f"s{rng.integers(1 + number % 9)}",
                            size=3,
                        )
                    )
    return basin_table(runs["ucb1"]), compare(runs["ucb1"], runs["blind_uniform"], rng=Rng(seed=1), samples=200)


@pytest.mark.parametrize(("theorems", "seeds"), [(30, 10), (3, 4), (1, 1)])
@pytest.mark.parametrize("compared", [True, False])
def test_nothing_is_cut_off_and_no_words_overlap(theorems, seeds, compared):
    table, comparison = experiment(theorems, seeds)
    figure = experiment_figure(table, comparison if compared else None)
    figure.draw_without_rendering()
    boxes = [
        (words.get_text(), words.get_window_extent())
        for words in figure.findobj(Text) if words.get_text() and words.get_visible()
    ]  # fmt: skip
    assert len(boxes) > theorems
    whole = figure.bbox
    for text, box in boxes:
        assert box.x0 >= 0, text
        assert box.x1 <= whole.x1, text
        assert box.y0 >= 0, text
        assert box.y1 <= whole.y1, text
    for number, (text, box) in enumerate(boxes):
        for other, another in boxes[number + 1 :]:
            assert not box.padded(-1).overlaps(another.padded(-1)), (text, other)


def test_theorems_stand_in_the_order_of_k():
    table, comparison = experiment(12)
    names = [label.get_text() for label in experiment_figure(table, comparison).axes[0].get_yticklabels()]
    wanted = [one.theorem for one in sorted(comparison.theorems, key=lambda one: -one.censored.value)]
    assert [name for name in names if "…" not in name] == [name for name in wanted if name != LONG]
    assert sum("…" in name for name in names) == 1


def test_without_a_comparison_theorems_stand_in_the_order_of_how_often_they_were_proved():
    table, _ = experiment(12)
    names = [label.get_text() for label in experiment_figure(table).axes[0].get_yticklabels()]
    rates = {one.theorem: one.solve_rate.value for one in table.basins}
    shown = [rates[name] for name in names if name in rates]
    assert shown == sorted(shown, reverse=True)
    assert len(experiment_figure(table).axes) == 1


def test_the_bars_are_the_shares_of_the_seeds():
    table, _ = experiment(6)
    axes = experiment_figure(table).axes[0]
    for row in range(6):
        widths = [bar.get_width() for bar in axes.patches if abs(bar.get_y() + bar.get_height() / 2 - row) < 0.1]
        assert sum(widths) == pytest.approx(1.0)


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_is_saved_as_its_path_ends(tmp_path, suffix):
    table, comparison = experiment(4)
    path = draw_experiment(tmp_path / f"picture.{suffix}", table, comparison, title="My experiment")
    content = path.read_bytes()
    assert content.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix])
    if suffix == "svg":
        assert draw_experiment(tmp_path / "again.svg", table, comparison, title="My experiment").read_bytes() == content
        words = " ".join(
            "".join(node.itertext()) for node in ET.fromstring(content).iter() if node.tag.endswith("text")
        )
        for reported in (
            "My experiment",
            "lemma_0",
            "lemma_2",
            "ucb1 against blind_uniform; 4 theorems, 10 seeds",
            "K = ",
            "most frequent",
            "share of the seeds",
        ):
            assert reported in words


def test_a_theorem_that_was_not_compared_is_shown_as_such():
    table, comparison = experiment(4)
    more = basin_table([Run("alone", "ucb1", 0, "open")])
    figure = experiment_figure(BasinTable((*table.basins, *more.basins)), comparison)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()][-1] == "alone"
    assert "not compared" in [words.get_text() for words in figure.axes[1].texts]


def test_a_figure_that_is_neither_value_nor_bound_says_so():
    table, comparison = experiment(30)
    assert comparison.censored.bound == "none"
    words = [words.get_text() for words in experiment_figure(table, comparison).axes[1].texts]
    assert any("runs without a proof; neither value nor bound; both proved: +" in text for text in words)


def test_names_are_words_not_formulas(tmp_path):
    table = basin_table([Run("cost$_{a}$", "ucb1", 0, "open")])
    draw_experiment(tmp_path / "p.svg", table)
    assert "cost$_{a}$" in (tmp_path / "p.svg").read_text()


def test_other_pictures_of_the_process_do_not_notice():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    experiment_figure(*experiment(2))
    assert dict(mpl.rcParams) == before


def test_impossible_pictures_are_refused(tmp_path):
    table, comparison = experiment(2)
    with pytest.raises(ConfigError, match=r"saved as .png, .svg, .pdf"):
        draw_experiment(tmp_path / "picture.doc", table)
    with pytest.raises(ConfigError, match="no basins"):
        draw_experiment(tmp_path / "picture.png", BasinTable(()))
    other = basin_table([Run("a", "puct", 0, "open")])
    with pytest.raises(ConfigError, match="no basins of ucb1, only of puct"):
        draw_experiment(tmp_path / "picture.png", other, comparison)
    with pytest.raises(SaveError, match="cannot be written"):
        draw_experiment(tmp_path / "nowhere" / "picture.png", table)


def test_without_matplotlib_the_error_names_the_extra(tmp_path, monkeypatch):
    table, _ = experiment(2)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'pip install -e "\.\[plot\]"'):
        draw_experiment(tmp_path / "picture.png", table)
