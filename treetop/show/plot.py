"""The moves of a result as a Matplotlib figure: visits beside priors, and values with their intervals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop import checks
from treetop.errors import MissingExtraError
from treetop.search.result import SearchResult
from treetop.show.labels import plain
from treetop.show.views import Z, game_title, standard_errors, value_range
from treetop.text import counted
from treetop.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _MUTE, _LINE, _VISITS, _PRIOR, _OTHER = "#22252a", "#6a7078", "#e2e3df", "#2f7d5b", "#c9b98f", "#8fb8a3"
_STYLE = {
    "font.family": "sans-serif", "font.size": 10, "text.color": _INK, "axes.labelcolor": _MUTE, "axes.edgecolor": _LINE,
    "xtick.color": _MUTE, "ytick.color": _INK, "axes.spines.top": False, "axes.spines.right": False,
    "axes.spines.left": False, "svg.fonttype": "none", "text.parse_math": False,
    "figure.constrained_layout.w_pad": 0.12, "figure.constrained_layout.h_pad": 0.08,
}  # fmt: skip
_WIDTH, _ROW, _AROUND = 9.0, 0.36, 1.75  # inches
_LONGEST_NAME = 24


def plot_of(result: SearchResult, moves: int) -> Figure:
    """Return the most visited moves of a result as a figure, without a window; raise MissingExtraError without
    Matplotlib.

    >>> import treetop as tt
    >>> [axes.get_title(loc="left") for axes in plot_of(tt.search("nim", simulations=100, seed=1), 3).axes]
    ['Share of the visits', 'Value, with 95% interval']
    """
    checks.whole("moves", moves, 1)
    chosen = result.chosen
    order = sorted(range(len(result.counts)), key=lambda index: (-int(result.counts[index]), index != chosen))[:moves]
    if chosen not in order:
        order[-1] = chosen
    places = np.arange(len(order), dtype=np.int32)
    with _matplotlib() as make_figure:
        figure: Figure = make_figure(figsize=(_WIDTH, _AROUND + _ROW * len(order)), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True, gridspec_kw={"wspace": 0.06})
        _draw_shares(left, result, np.array(order, np.int32), places)
        _draw_values(right, result, np.array(order, np.int32), places)
        left.set_yticks(places, [plain(result.name_of(index), _LONGEST_NAME) for index in order])
        left.get_yticklabels()[order.index(chosen)].set_fontweight("bold")
        left.set_ylim(len(order) - 0.4, -0.6)
        title = f"{plain(game_title(result), 60)}: {plain(result.move, _LONGEST_NAME)}"
        figure.suptitle(title, x=0.012, ha="left", fontsize=13, fontweight="bold")
        figure.supxlabel(_note(result, len(order)), x=0.012, ha="left", fontsize=8.5, color=_MUTE)
    return figure


def _draw_shares(axes: Axes, result: SearchResult, order: IntArray, places: IntArray) -> None:
    """Draw the posterior, which is the share of the visits, beside the prior."""
    mixed = result.strategies is not None
    shares = result.probabilities if mixed else result.shares(1.0)
    priors = result.priors
    with_priors = not mixed and result.config.rule.reads_priors and bool(np.isfinite(priors).all())
    colours = [_VISITS if index == result.chosen else _OTHER for index in order]
    height, shift = (0.36, 0.19) if with_priors else (0.62, 0.0)
    axes.barh(places - shift, shares[order], height=height, color=colours)
    title = "Mixed strategy" if mixed else "Share of the visits"
    if with_priors:
        axes.barh(places + shift, priors[order], height=height, color=_PRIOR)
        title = "Share of the visits, and prior below it"
    for place, index in zip(places, order, strict=True):
        axes.text(shares[index], place - shift, f"  {shares[index]:.1%}", va="center", fontsize=8.5, color=_MUTE)
    axes.set_title(title, loc="left", fontsize=10, color=_MUTE)
    most = max(float(shares[order].max()), float(priors[order].max()) if with_priors else 0.0)
    axes.set_xlim(0, 1.2 * most or 1.0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    _tidy(axes)


def _draw_values(axes: Axes, result: SearchResult, order: IntArray, places: IntArray) -> None:
    """Draw the mean of each move with its interval, clipped to what is possible and proven."""
    low, high = value_range(result.position)
    means, errors = result.clipped_means[order], Z * standard_errors(result)[order]
    lower, upper = _bounds(result.lower, order, low), _bounds(result.upper, order, high)
    starts, ends = np.clip(means - errors, lower, upper), np.clip(means + errors, lower, upper)
    seen = np.isfinite(means)
    axes.axvline(result.value, color=_MUTE, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    for place, index in zip(places[seen], order[seen], strict=True):
        colour = _VISITS if index == result.chosen else _OTHER
        axes.plot([starts[place], ends[place]], [place, place], color=colour, linewidth=2.2, solid_capstyle="butt")
        axes.plot(means[place], place, "o", color=colour, markersize=7, markeredgecolor="white", zorder=3)
    axes.set_title("Value, with 95% interval", loc="left", fontsize=10, color=_MUTE)
    axes.set_xlabel(f"mean return to player {result.player}; dashed: the position", fontsize=8.5)
    axes.tick_params(labelleft=False)
    _tidy(axes)


def _bounds(given: FloatArray | None, order: IntArray, otherwise: float) -> FloatArray:
    return np.full(len(order), otherwise) if given is None else np.asarray(given[order])


def _tidy(axes: Axes) -> None:
    axes.tick_params(axis="both", length=0)
    axes.grid(axis="x", color=_LINE, linewidth=0.8)
    axes.set_axisbelow(True)


def _note(result: SearchResult, shown: int) -> str:
    left = len(result.counts) - shown
    assumed = bool(np.isnan(result.deviations).all())
    return (
        f"{result.root_visits:,} simulations, value {result.value:+.3f}, seed {result.seed}"
        + ("; intervals for the greatest possible standard deviation" if assumed else "")
        + (f"; {counted(left, 'more move')}" if left else "")
    )


@contextmanager
def _matplotlib() -> Iterator[Any]:
    """Return Matplotlib's Figure class in our style, without a window and without a change of global settings."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("plots need Matplotlib", extra="plot") from error
    with mpl.rc_context(_STYLE):  # type: ignore[arg-type]
        yield Figure
