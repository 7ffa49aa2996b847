"""A picture of a training run: losses, scores, entropy, lengths of games, the first player's return, speed."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from treetop.errors import MissingExtraError, SaveError
from treetop.files import replacing
from treetop.train.run import Iteration, Rated, read_events

Points = tuple[list[float], list[float]]
_COLOURS = ("#00796b", "#c2571a", "#5e35b1", "#455a64")


def draw(folder: str | Path, file: str | Path | None = None) -> Path:
    """Draw the metrics of a run as a PNG, by default `report.png` in its folder; return its path.

    Needs `pip install -e ".[plot]"`.

    >>> draw("no_such_folder")
    Traceback (most recent call last):
    treetop.errors.SaveError: there are no metrics of a training run in no_such_folder
    """
    events = list(read_events(folder))
    iterations = [event for event in events if isinstance(event, Iteration)]
    if not iterations:
        raise SaveError(f"there are no metrics of a training run in {folder}")
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("the picture of a run needs Matplotlib", extra="plot") from error
    figure = Figure(figsize=(12, 6.5), layout="constrained")
    axes = figure.subplots(2, 3).ravel()
    trained = [event for event in iterations if event.policy_loss is not None]
    panels: tuple[tuple[str, dict[str, Points]], ...] = (
        ("loss", {
            "policy, nats above the target": _line(trained, "policy_loss"),
            "value, squared error": _line(trained, "value_loss"),
        }),
        ("score against", _scores([event for event in events if isinstance(event, Rated)])),
        ("entropy of the improved policy, nats", {"": _line(iterations, "entropy")}),
        ("moves of a game", {"": _line(iterations, "length")}),
        ("mean return of the first player", {"": _line(iterations, "first_player")}),
        ("positions of self-play a second", {"": _line(iterations, "rate")}),
    )  # fmt: skip
    for axis, (title, lines) in zip(axes, panels, strict=True):
        axis.set_title(title, loc="left", fontsize=10)
        for colour, (name, (times, values)) in zip(_COLOURS, lines.items(), strict=False):
            axis.plot(times, values, color=colour, label=name, marker="o" if len(times) < 12 else None, markersize=3)
        if any(lines):
            axis.legend(frameon=False, fontsize=8)
        axis.set_xlabel("minutes", fontsize=8)
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    axes[1].set_ylim(0, 1.02)
    last = iterations[-1]
    figure.suptitle(
        f"{Path(folder).name}: {last.games:,} games, {last.positions:,} positions, {last.steps:,} steps", fontsize=11
    )
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110)
    target = Path(folder) / "report.png" if file is None else Path(file)
    with replacing(target) as written:
        written.write(content.getvalue())
    return target


def _line(events: Sequence[Iteration], name: str) -> Points:
    return [event.seconds / 60 for event in events], [getattr(event, name) for event in events]


def _scores(ratings: Sequence[Rated]) -> dict[str, Points]:
    anchors = list(ratings[-1].scores) if ratings else []
    return {
        anchor: ([event.seconds / 60 for event in ratings], [event.scores.get(anchor, 0.0) for event in ratings])
        for anchor in anchors
    }
