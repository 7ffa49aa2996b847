"""`treetop runs`: list training runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from treetop.cli.common import Json, say, say_json, screen, table
from treetop.errors import SaveError, TreetopError
from treetop.text import text_table

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A run, or a folder that holds some.")]


Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw the curves of one run: losses, scores, speed.")
]
Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE.html", help="Write the report of one run: a web page in one file."),
]


def runs(folder: Folder = Path(), plot: Plot = None, report: Report = None, as_json: Json = False) -> None:
    """List the training runs in a folder: their games, times and last scores."""
    from treetop.train.events import Iteration, read_events
    from treetop.train.ratings import Rated
    from treetop.train.run import read_run

    if plot is not None or report is not None:
        from treetop.train.report import draw, write_report

        if plot is not None:
            say(f"{draw(folder, plot)}: the curves of {folder}")
        if report is not None:
            say(f"{write_report(folder, report)}: the report of {folder}")
        return
    paths = sorted(path.parent for path in ([folder / "run.json", *folder.glob("*/run.json")]) if path.exists())
    if not paths:
        raise SaveError(f"there is no training run in {folder}: treetop train GAME --out FOLDER begins one")
    rows: list[dict[str, Any]] = []
    for path in paths:
        try:
            header = read_run(path / "run.json")
        except TreetopError as error:
            rows.append({"run": str(path), "game": f"unreadable: {error}"})
            continue
        events = list(read_events(path))
        last = next((event for event in reversed(events) if isinstance(event, Iteration)), None)
        rated = next((event for event in reversed(events) if isinstance(event, Rated)), None)
        rows.append(
            {
                "run": str(path), "game": header["game"],
                "minutes": round(events[-1].seconds / 60, 1) if events else 0.0,
                "games": last.games if last else 0, "positions": last.positions if last else 0,
                "scores": rated.scores if rated else {},
            }
        )  # fmt: skip
    if as_json:
        say_json(rows)
        return
    headings = ("run", "game", "minutes", "games", "positions", "scores")
    cells = [[_cell(row.get(name, "")) for name in headings] for row in rows]
    if screen().is_terminal:
        shown = table(*headings, left=("run", "game", "scores"))
        for row in cells:
            shown.add_row(*row)
        screen().print(shown)
    else:
        say(text_table(headings, cells))


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{score:.0%} against {anchor}" for anchor, score in value.items())
    return f"{value:,}" if isinstance(value, int | float) else str(value)
