"""Plots of results: bars and intervals that say what the result says."""

from __future__ import annotations

import io
import sys

import pytest

import treetop as tt
from tests.show.conftest import KINDS

pytest.importorskip("matplotlib", reason="needs Matplotlib: pip install -e '.[plot]'")


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_of_every_kind_is_plotted(results, kind):
    figure = results(kind).plot()
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=40)
    assert content.getvalue().startswith(b"\x89PNG")


def test_bars_are_the_shares_of_the_visits(results):
    result = results("plain")
    shares, values = result.plot().axes
    assert [bar.get_width() for bar in shares.patches] == pytest.approx(sorted(result.shares(1.0), reverse=True))
    assert shares.get_yticklabels()[0].get_text() == result.move
    means = [line.get_xdata()[0] for line in values.lines if len(line.get_xdata()) == 1]
    assert means == pytest.approx(sorted(result.means, key=lambda mean: -result.counts[list(result.means).index(mean)]))


def test_priors_stand_beside_the_visits():
    shares = tt.search("tic_tac_toe", tt.puct(c=1.5), simulations=200, seed=1).plot(moves=4).axes[0]
    assert len(shares.patches) == 8
    assert "prior" in shares.get_title(loc="left")


def test_an_interval_holds_the_mean_and_stays_in_the_range_of_values(results):
    for kind in ("plain", "solver", "continuous"):
        result = results(kind)
        low, high = result.position.game.facts.value_range(step_rewards=result.position.game.has("step_rewards"))
        for line in result.plot().axes[1].lines[1:]:
            ends = line.get_xdata()
            assert low <= min(ends) <= max(ends) <= high


def test_plotting_opens_no_window_and_changes_no_settings(results):
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    before = dict(mpl.rcParams)
    results("plain").plot()
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == []


def test_without_matplotlib_the_error_names_the_extra(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(tt.errors.MissingExtraError, match=r"\.\[plot\]"):
        results("plain").plot()
