"""The curves of a training run, drawn by Matplotlib: panels for a PNG, and SVG texts for a web page.

In an SVG text the colours are CSS variables (`--ink`, `--line`, `--c1`, ...), which the page defines for light and dark
screens.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treetop.errors import MissingExtraError
from treetop.stats import Interval, share_interval
from treetop.train.events import Iteration
from treetop.train.ratings import EloCurve, Rated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    "--ink": "#333b3f", "--line": "#dde2e4", "--c1": "#00796b", "--c2": "#c2571a", "--c3": "#5e35b1", "--c4": "#546e7a",
}  # fmt: skip
"""CSS variables, and their colours on white paper. No two are equal, so that each can be found in an SVG text."""
_INK, _LINE, *_SERIES = COLOURS.values()
_POINTS = 300  # of a curve; longer ones are drawn as means of neighbours
_MARKED = 15  # points up to which each has a mark
_LONGEST_NAME = 28
_SVG_SIZE, _PNG_PANEL = (5.4, 3.0), (4.4, 3.0)  # inches


@dataclass(frozen=True)
class Panel:
    """A figure with one pair of axes: what it shows, the unit of its values, and the function that draws it."""

    title: str
    unit: str
    draw: Callable[[Axes], None]


def panels(iterations: Sequence[Iteration], ratings: Sequence[Rated], elo: EloCurve) -> list[Panel]:
    """Return the panels of a run; what was not measured has none."""
    trained = [event for event in iterations if event.policy_loss is not None and event.value_loss is not None]
    losses = {
        "policy: nats above the target": _curve(trained, "policy_loss"),
        "value": _curve(trained, "value_loss"),
    }
    tested = [event for event in ratings if event.accuracy.get("positions")]
    scores = _scores(ratings)
    found = [
        (bool(trained), Panel("Loss", "loss", lambda axes: _lines(axes, losses))),
        (bool(elo.points), Panel("Elo, with 95% intervals", "Elo (random = 0)", lambda axes: _elo(axes, elo))),
        (bool(tested), Panel("Exact positions: value kept", "share of positions", lambda axes: _kept(axes, tested))),
        (bool(scores), Panel("Score against", "share of the points", lambda axes: _share_lines(axes, scores))),
    ]
    for title, unit, name in (
        ("Entropy of the improved policy", "nats", "entropy"),
        ("Length of games", "moves", "length"),
        ("First player", "mean return", "first_player"),
        ("Speed of self-play", "positions a second", "rate"),
    ):
        found.append((bool(iterations), Panel(title, unit, _single(_curve(iterations, name)))))
    return [panel for shown, panel in found if shown]


def draw_png(shown: Sequence[Panel], title: str) -> bytes:
    """Return all panels as one PNG picture."""
    columns = 4 if len(shown) > 6 else 3
    rows = -(-len(shown) // columns)
    with _matplotlib() as make_figure:
        figure = make_figure(figsize=(columns * _PNG_PANEL[0], rows * _PNG_PANEL[1] + 0.4), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, panel in zip(grid, shown, strict=False):
            axes.set_title(panel.title, loc="left", fontsize=10, color=_INK, pad=22)
            _draw(axes, panel)
        for axes in grid[len(shown) :]:
            axes.set_visible(False)
        figure.suptitle(title, fontsize=12, color=_INK, x=0.005, ha="left")
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=110)
    return content.getvalue()


def draw_svg(panel: Panel) -> str:
    """Return a panel as SVG text for a web page, whose colours are CSS variables, without addresses."""
    with _matplotlib() as make_figure:
        figure = make_figure(figsize=_SVG_SIZE, layout="constrained")
        figure.patch.set_alpha(0)
        axes = figure.subplots()
        axes.patch.set_alpha(0)
        _draw(axes, panel)
        content = io.StringIO()
        figure.savefig(content, format="svg", metadata={"Date": None, "Creator": None})
    text = content.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text)
    text = re.sub(r'(<svg )width="[\d.]+pt" height="[\d.]+pt"', r'\1role="img"', text, count=1)
    for name, colour in COLOURS.items():
        text = text.replace(colour, f"var({name})")
    return text


@contextmanager
def _matplotlib() -> Iterator[Any]:
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("the curves of a run need Matplotlib", extra="plot") from error
    settings: dict[str, Any] = {
        "font.family": "sans-serif", "svg.fonttype": "none", "svg.hashsalt": "treetop", "text.parse_math": False,
        "axes.unicode_minus": True,
    }  # fmt: skip
    with mpl.rc_context(settings), warnings.catch_warnings():  # type: ignore[arg-type]
        warnings.simplefilter("ignore")  # of letters that a font does not have
        yield Figure


def _draw(axes: Axes, panel: Panel) -> None:
    axes.set_xlabel("minutes", fontsize=8, color=_INK)
    axes.set_ylabel(panel.unit, fontsize=8, color=_INK)
    axes.tick_params(labelsize=8, colors=_INK, length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(_LINE)
    axes.grid(color=_LINE, linewidth=0.8)
    axes.set_axisbelow(True)
    panel.draw(axes)
    axes.set_xlim(left=0)


Curve = tuple[Sequence[float], Sequence[float]]
"""Minutes and values."""


def _curve(events: Sequence[Iteration], name: str) -> Curve:
    """Return the values of a field over time; a long curve as means of neighbours."""
    times = np.array([event.seconds / 60 for event in events])
    values = np.array([getattr(event, name) for event in events], float)
    if len(times) > _POINTS:
        parts = np.array_split(np.arange(len(times)), _POINTS)
        times, values = (np.array([one[part].mean() for part in parts]) for one in (times, values))
    return list(times), list(values)


def _scores(ratings: Sequence[Rated]) -> dict[str, Curve]:
    found = dict[str, Curve]()
    for anchor in dict.fromkeys(anchor for event in ratings for anchor in event.scores):
        rated = [event for event in ratings if anchor in event.scores]
        found[_short(anchor)] = [event.seconds / 60 for event in rated], [event.scores[anchor] for event in rated]
    return dict(list(found.items())[: len(_SERIES)])


def _short(name: str) -> str:
    """Return the name of a player, as short as a legend needs it."""
    name = name.replace("simulations=", "")
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 3] + "..."


def _single(curve: Curve) -> Callable[[Axes], None]:
    return lambda axes: _lines(axes, {"": curve})


def _lines(axes: Axes, curves: Mapping[str, Curve]) -> None:
    for colour, (name, (times, values)) in zip(_SERIES, curves.items(), strict=False):
        mark = "o" if len(times) <= _MARKED else None
        axes.plot(times, values, color=colour, label=name, marker=mark, markersize=3.5, linewidth=1.6)
    if any(curves):
        _legend(axes)
    if all(value >= 0 for _, values in curves.values() for value in values):
        axes.set_ylim(bottom=0)


def _share_lines(axes: Axes, curves: Mapping[str, Curve]) -> None:
    _lines(axes, curves)
    axes.set_ylim(-0.02, 1.03)


def _legend(axes: Axes) -> None:
    """Put the legend above the axes, where no curve runs."""
    axes.legend(
        frameon=False, fontsize=8, labelcolor=_INK, loc="lower left", bbox_to_anchor=(-0.02, 0.98), ncols=4,
        columnspacing=1.0, handlelength=1.4, borderaxespad=0.2,
    )  # fmt: skip


def _with_intervals(axes: Axes, colour: str, name: str, times: Sequence[float], values: Sequence[Interval]) -> None:
    centre = [one.value for one in values]
    ends = [one.value - one.low for one in values], [one.high - one.value for one in values]
    axes.errorbar(
        times, centre, yerr=ends, color=colour, label=name, marker="o", markersize=4, linewidth=1.6, elinewidth=1.0,
        capsize=2.5,
    )  # fmt: skip


def _elo(axes: Axes, elo: EloCurve) -> None:
    times = [point.seconds / 60 for point in elo.points]
    _with_intervals(axes, _SERIES[0], "", times, [point.elo for point in elo.points])
    anchors = sorted(elo.anchors.items(), key=lambda entry: entry[1].value)[: len(_SERIES)]
    low = min([point.elo.low for point in elo.points] + [one.value for _, one in anchors])
    high = max([point.elo.high for point in elo.points] + [one.value for _, one in anchors])
    gap, place = 0.075 * max(high - low, 1.0), -np.inf
    for name, one in anchors:
        axes.axhline(one.value, color=_SERIES[3], linewidth=1.0, linestyle=(0, (4, 3)))
        place = max(one.value, place + gap)
        axes.annotate(
            _short(name), (1.0, place), xycoords=("axes fraction", "data"), xytext=(4, 0), textcoords="offset points",
            va="center", fontsize=8, color=_INK, annotation_clip=False,
        )  # fmt: skip


def _kept(axes: Axes, rated: Sequence[Rated]) -> None:
    times = [event.seconds / 60 for event in rated]
    for colour, name, key in ((_SERIES[0], "search of 32 simulations", "search"), (_SERIES[1], "raw policy", "policy")):
        counts = [(event.accuracy.get(key, 0.0), int(event.accuracy["positions"])) for event in rated]
        _with_intervals(axes, colour, name, times, [share_interval(round(share * n), n) for share, n in counts])
    axes.axhline(rated[-1].accuracy.get("chance", 0.0), color=_SERIES[3], linewidth=1.0, linestyle=(0, (4, 3)))
    axes.annotate(
        "by chance", (1.0, rated[-1].accuracy.get("chance", 0.0)), xycoords=("axes fraction", "data"), xytext=(4, 0),
        textcoords="offset points", va="center", fontsize=8, color=_INK, annotation_clip=False,
    )  # fmt: skip
    _legend(axes)
    axes.set_ylim(-0.02, 1.03)
