"""Plot an experiment: for each theorem the outcomes of its searches, and how much cheaper the agent was than the blind
search.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treetop.errors import ConfigError, MissingExtraError, SaveError
from treetop.lab.basins import Basins, BasinTable
from treetop.lab.ratios import Comparison, KRatio, TheoremK
from treetop.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")

# One hue from dark to light by rank; the steps differ in lightness, so they can be distinguished without colour vision.
_RANKS = ("#0b2c5f", "#1f6fa8", "#3fa9b5", "#8fd0a8", "#d3eba6")
_FURTHER = "#f4f6c4"
_UNPROVED: dict[str, Any] = {
    "facecolor": "#f4f4f4",
    "edgecolor": "#bdbdbd",
    "hatch": "//////",
    "linewidth": 0,
}  # a pattern, because it is no rank
_INK, _QUIET, _GRID = "#222222", "#6b6b6b", "#ececec"
_BAND, _MEAN = "#fbe3c8", "#c8590a"
_MARKERS = {
    "exact": ("o", _INK, "value"),
    "at least": (">", _INK, "at least"),
    "at most": ("<", _INK, "at most"),
    "none": ("o", "white", "neither"),
}
_ROW, _TOP, _BOTTOM = 0.27, 1.5, 0.95  # inches
_BARS, _RATIOS, _COUNTS, _MARGIN = 4.3, 3.8, 0.8, 0.22
_LONGEST = 40  # characters of a theorem's name
_STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.5,
    "axes.edgecolor": _QUIET,
    "axes.labelcolor": _QUIET,
    "xtick.color": _QUIET,
    "ytick.color": _INK,
    "text.color": _INK,
    "axes.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "svg.hashsalt": "treetop",
    "svg.fonttype": "none",
    "text.parse_math": False,
}


def draw_experiment(
    path: str | Path, table: BasinTable, comparison: Comparison | None = None, *, title: str = ""
) -> Path:
    """Draw `experiment_figure` and save it as PNG, SVG or PDF, by the suffix of the path.

    >>> import pathlib, tempfile, treetop as tt
    >>> table = tt.lab.basin_table([tt.lab.Run("swap", "ucb1", 1, "proved", structure="a")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draw_experiment(pathlib.Path(folder) / "runs.svg", table).name
    'runs.svg'
    """
    path = Path(path)
    check_drawable(path)
    figure = experiment_figure(table, comparison, title=title)
    with _matplotlib():
        try:
            figure.savefig(path, dpi=200, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
        except OSError as error:
            raise SaveError(f"{path} cannot be written: {error.strerror or error}") from error
    return path


def check_drawable(path: Path) -> None:
    """Raise an error if a plot could not be saved later: unknown format, or Matplotlib is missing."""
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(f"a plot is saved as {', '.join(FORMATS)}, not as {path.name!r}")
    with _matplotlib():
        pass


def experiment_figure(table: BasinTable, comparison: Comparison | None = None, *, title: str = "") -> Figure:
    """Return the basins of the agent and, with a comparison, K beside them, as a Matplotlib figure.

    Without a comparison the basins are those of the first policy. Theorems are sorted by K, or by how often they were
    proved.
    """
    if not table.basins:
        raise ConfigError("there are no basins to plot")
    policy = table.policies[0] if comparison is None else comparison.agent
    basins = table.of(policy)
    if not basins:
        raise ConfigError(f"there are no basins of {policy}, only of {', '.join(table.policies)}")
    with _matplotlib() as make_figure:
        return _draw(
            make_figure, _ordered(basins, comparison), comparison, title or "Where the searches for a proof end", policy
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


def _ordered(basins: Sequence[Basins], comparison: Comparison | None) -> list[tuple[Basins, TheoremK | None]]:
    """Return the theorems from top to bottom."""
    ratios = {} if comparison is None else {one.theorem: one for one in comparison.theorems}

    def place(entry: tuple[Basins, TheoremK | None]) -> tuple[float, float, float, str]:
        one, ratio = entry
        cheaper = math.inf if ratio is None else -ratio.censored.value
        return cheaper, -one.solve_rate.value, -(one.dominant_share or 0.0), one.theorem

    return sorted(((one, ratios.get(one.theorem)) for one in basins), key=place)


def _draw(
    make_figure: Any, rows: list[tuple[Basins, TheoremK | None]], comparison: Comparison | None, title: str, policy: str
) -> Figure:
    names = [_shortened(one.theorem) for one, _ in rows]
    left = _MARGIN + 0.12 + _width_of(make_figure, names)
    width = left + _BARS + _COUNTS + (0.0 if comparison is None else _RATIOS) + _MARGIN
    height = _TOP + _ROW * len(rows) + _BOTTOM
    figure: Figure = make_figure(figsize=(width, height), facecolor="white")

    def panel(start: float, wide: float) -> Axes:
        return figure.add_axes((start / width, _BOTTOM / height, wide / width, _ROW * len(rows) / height))

    bars = panel(left, _BARS)
    _draw_bars(bars, [one for one, _ in rows], names)
    legends = [(bars, _bar_legend([one for one, _ in rows]))]
    if comparison is not None:
        ratios = panel(left + _BARS + _COUNTS, _RATIOS)
        _draw_ratios(ratios, [ratio for _, ratio in rows], comparison)
        legends.append(
            (ratios, _ratio_legend([ratio.censored for _, ratio in rows if ratio is not None], comparison.censored))
        )
    for axes, handles in legends:
        place = axes.get_position()
        figure.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(place.x0, 0.42 / height),
            ncols=len(handles) if len(handles) < 8 else 4,
            frameon=False,
            borderaxespad=0,
            borderpad=0,
            handlelength=1.0,
            handletextpad=0.4,
            columnspacing=1.1,
            fontsize=7.5,
            labelcolor=_QUIET,
        )
    against = "" if comparison is None else f" against {comparison.blind}"
    seeds = max(one.runs for one, _ in rows)
    figure.text(_MARGIN / width, 1 - 0.3 / height, title, fontsize=13, fontweight="bold", va="center")
    figure.text(
        _MARGIN / width,
        1 - 0.56 / height,
        f"{policy}{against}; {counted(len(rows), 'theorem')}, {counted(seeds, 'seed')}",
        color=_QUIET,
        va="center",
    )
    return figure


def _draw_bars(axes: Axes, basins: Sequence[Basins], names: Sequence[str]) -> None:
    """Draw a bar for each theorem: the most frequent proof first, then the others, then the runs without a proof."""
    for row, one in enumerate(basins):
        start = 0.0
        for rank, (_, count) in enumerate(one.structures):
            colour = _RANKS[rank] if rank < len(_RANKS) else _FURTHER
            axes.barh(
                row, count / one.runs, left=start, height=0.7, color=colour, edgecolor="white", linewidth=0.7, zorder=3
            )
            start += count / one.runs
        if one.solved < one.runs:
            axes.barh(row, 1 - start, left=start, height=0.68, zorder=2.9, **_UNPROVED)
        axes.annotate(
            str(one.distinct),
            (1, row),
            (7, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            color=_QUIET,
            fontsize=8,
        )
    _set_rows(axes, len(basins))
    axes.set_xlim(0, 1)
    axes.set_yticks(range(len(basins)), names)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25%", "50%", "75%", "100%"])
    axes.set_xlabel("share of the seeds", fontsize=8)
    _head(axes, 31, "Proofs by structure")
    _head(axes, 19, "equal colours are equal ranks within a theorem, not equal proofs", quiet=True)
    _head(axes, 5, "structures", quiet=True, x=1.0, across=7)


def _draw_ratios(axes: Axes, ratios: Sequence[TheoremK | None], comparison: Comparison) -> None:
    """Draw K with its interval for each theorem, and the K of the whole set behind them."""
    whole = comparison.censored
    ends = [0.0]
    if whole is not None:
        if math.isfinite(whole.low):
            axes.axvspan(whole.low, whole.high, color=_BAND, linewidth=0, zorder=1)
        axes.axvline(whole.value, color=_MEAN, linewidth=1.3, zorder=2)
        ends += [whole.value, *(end for end in (whole.low, whole.high) if math.isfinite(end))]
    for row, one in enumerate(ratios):
        if one is None:
            axes.annotate(
                "not compared", (0, row), (5, 0), textcoords="offset points", va="center", color=_QUIET, fontsize=7.5
            )
            continue
        ratio = one.censored
        marker, face, _ = _MARKERS[ratio.bound]
        if math.isfinite(ratio.low):
            axes.plot([ratio.low, ratio.high], [row, row], color=_INK, linewidth=1.1, solid_capstyle="butt", zorder=4)
            ends += [ratio.low, ratio.high]
        axes.plot(
            [ratio.value],
            [row],
            marker=marker,
            markersize=5.2,
            markerfacecolor=face,
            markeredgecolor=_INK,
            markeredgewidth=1.0,
            linestyle="none",
            zorder=5,
        )
        ends.append(ratio.value)
    axes.axvline(0, color=_QUIET, linewidth=0.9, zorder=2)
    _set_rows(axes, len(ratios))
    margin = 0.06 * max(max(ends) - min(ends), 0.5)
    axes.set_xlim(min(ends) - margin, max(ends) + margin)
    axes.set_yticks([])
    ticks = _powers(*axes.get_xlim())
    axes.set_xticks(ticks, [_times(tick) for tick in ticks])
    axes.set_xlabel(f"{comparison.unit} of {comparison.blind} for each of {comparison.agent}", fontsize=8)
    _head(axes, 31, f"K = {_signs('unknown' if whole is None else str(whole).partition(',')[0])}")
    _head(axes, 19, _signs(_small_print(comparison)), quiet=True)
    low, high = axes.get_xlim()
    for side, name, wide in (
        ("right", f"{comparison.blind} cheaper", -low),
        ("left", f"{comparison.agent} cheaper", high),
    ):
        if wide > 0.36 * (high - low):
            axes.annotate(
                name,
                (0, 1),
                (-4 if side == "right" else 4, 5),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha=side,
                va="bottom",
                fontsize=7.5,
                color=_QUIET,
            )


def _small_print(comparison: Comparison) -> str:
    """Return the notes on the K of the set: whether it is a bound, and its value over proofs only."""
    whole, solved = comparison.censored, comparison.both_solved
    cut = (
        []
        if whole is None or whole.bound == "exact"
        else [f"{whole.censored_agent + whole.censored_blind:,} runs without a proof"]
    )
    if whole is not None and whole.bound == "none":
        cut.append("neither value nor bound")
    if cut and solved is not None:
        cut.append(f"both proved: {solved.value:+.2f}")
    return "; ".join(cut)


def _signs(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def _set_rows(axes: Axes, count: int) -> None:
    """Put the first row at the top, with a thin line through every row and no frame but the lower one."""
    axes.set_ylim(count - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", length=2.5, width=0.6, labelsize=8)
    axes.grid(axis="x", color=_GRID, linewidth=0.7, zorder=0)
    axes.hlines(range(count), 0, 1, transform=axes.get_yaxis_transform(), color=_GRID, linewidth=0.7, zorder=0)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _head(axes: Axes, above: float, text: str, *, quiet: bool = False, x: float = 0.0, across: float = 0.0) -> None:
    """Write a line of text this many points above a panel."""
    axes.annotate(
        text,
        (x, 1),
        (across, above),
        xycoords="axes fraction",
        textcoords="offset points",
        va="bottom",
        ha="left",
        fontsize=7.5 if quiet else 9,
        fontweight="normal" if quiet else "bold",
        color=_QUIET if quiet else _INK,
    )


def _bar_legend(basins: Sequence[Basins]) -> list[Any]:
    from matplotlib.patches import Patch

    most = max(one.distinct for one in basins)
    names = ["most frequent", "2nd", "3rd", "4th", "5th"][:most]
    entries = [*zip(_RANKS, names, strict=False), *([(_FURTHER, "further")] if most > len(_RANKS) else [])]
    patches = [Patch(facecolor=colour, edgecolor=_QUIET, linewidth=0.3, label=name) for colour, name in entries]
    return [*patches, Patch(label="no proof", **_UNPROVED)] if any(one.solved < one.runs for one in basins) else patches


def _ratio_legend(ratios: Sequence[KRatio], whole: KRatio | None) -> list[Any]:
    from matplotlib.lines import Line2D

    bounds = [bound for bound in _MARKERS if any(ratio.bound == bound for ratio in ratios)]
    handles = [Line2D([], [], color=_MEAN, linewidth=1.3, label="the set, 95%")] if whole is not None else []
    for bound in bounds:
        marker, face, name = _MARKERS[bound]
        handles.append(
            Line2D(
                [],
                [],
                marker=marker,
                linestyle="none",
                markersize=5.2,
                markerfacecolor=face,
                markeredgecolor=_INK,
                label=name,
            )
        )
    return handles


def _powers(low: float, high: float) -> list[float]:
    """Return the ticks of the K axis: powers of ten, and values between them if few powers are visible."""
    powers = [float(power) for power in range(math.ceil(low), math.floor(high) + 1)]
    if len(powers) > 3:
        return powers
    steps = [math.log10(factor) for factor in ((1, 2, 5) if high - low > 0.8 else (1, 1.25, 1.6, 2, 2.5, 4, 5, 8))]
    return [
        power + step
        for power in range(math.floor(low), math.ceil(high) + 1)
        for step in steps
        if low <= power + step <= high
    ]


def _times(power: float) -> str:
    factor = 10.0**power
    return f"{factor:,.0f}" if factor >= 9.5 else f"{factor:.2g}"


def _width_of(make_figure: Any, names: Sequence[str]) -> float:
    """Return the width of the theorems' names in inches."""
    figure: Figure = make_figure(dpi=100)
    return max(float(figure.text(0, 0, name).get_window_extent().width) for name in names) / 100


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2 - 1]}…{name[-(_LONGEST // 2) :]}"
