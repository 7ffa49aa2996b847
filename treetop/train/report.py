"""The report of a training run: a picture, and a web page in one file. Both read the run's metrics only."""

from __future__ import annotations

import html
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treetop.errors import MissingExtraError, SaveError
from treetop.files import replacing
from treetop.stats import Interval
from treetop.train.events import Event, Iteration, read_events
from treetop.train.figures import COLOURS, draw_png, draw_svg, panels
from treetop.train.ratings import EloCurve, Rated, fit_elo
from treetop.train.run import read_run

PNG, HTML = "report.png", "report.html"
_DARK = {
    "--ink": "#d5dbde", "--line": "#343c40", "--c1": "#4db6ac", "--c2": "#f0945c", "--c3": "#b39ddb", "--c4": "#90a4ae",
}  # fmt: skip
_LONGEST_TEXT = 200  # characters of a value from a file


def draw(folder: str | Path, file: str | Path | None = None) -> Path:
    """Draw the metrics of a run as a PNG, by default `report.png` in its folder; return its path.

    Needs `pip install -e ".[plot]"`.

    >>> draw("no_such_folder")
    Traceback (most recent call last):
    treetop.errors.SaveError: there are no metrics of a training run in no_such_folder
    """
    found = _Metrics.read(folder)
    return _write(Path(folder) / PNG if file is None else Path(file), _png(found))


def write_report(folder: str | Path, file: str | Path | None = None) -> Path:
    """Write the report of a run as one HTML file, by default `report.html` in its folder; return its path.

    The file holds its curves and loads nothing. Needs `pip install -e ".[plot]"`.

    >>> write_report("no_such_folder")
    Traceback (most recent call last):
    treetop.errors.SaveError: there are no metrics of a training run in no_such_folder
    """
    found = _Metrics.read(folder)
    return _write(Path(folder) / HTML if file is None else Path(file), _page(found).encode("utf-8", "replace"))


def report(folder: str | Path) -> list[Path]:
    """Write `report.html` and `report.png` in the folder of a run; return their paths.

    Return none if the run has no iteration yet, or if Matplotlib is not installed.
    """
    try:
        found = _Metrics.read(folder)
        page, picture = _page(found).encode("utf-8", "replace"), _png(found)
    except (MissingExtraError, SaveError):
        return []
    return [_write(Path(folder) / HTML, page), _write(Path(folder) / PNG, picture)]


@dataclass(frozen=True)
class _Metrics:
    """What is known of a run."""

    folder: Path
    header: dict[str, Any]
    iterations: Sequence[Iteration]
    ratings: Sequence[Rated]
    elo: EloCurve
    seconds: float

    @classmethod
    def read(cls, folder: str | Path) -> _Metrics:
        path, events = Path(folder), list[Event](read_events(folder))
        iterations = [event for event in events if isinstance(event, Iteration)]
        if not iterations:
            raise SaveError(f"there are no metrics of a training run in {folder}")
        ratings = [event for event in events if isinstance(event, Rated)]
        header = read_run(path / "run.json")
        try:
            elo = fit_elo(ratings)
        except MissingExtraError:
            elo = EloCurve((), {})
        return cls(path, header, iterations, ratings, elo, max(event.seconds for event in events))

    @property
    def last(self) -> Iteration:
        return self.iterations[-1]


def _write(path: Path, content: bytes) -> Path:
    with replacing(path) as file:
        file.write(content)
    return path


def _png(found: _Metrics) -> bytes:
    last = found.last
    title = (
        f"{_cut(found.header['game'])}: {last.games:,} games, {last.positions:,} positions, {last.steps:,} steps, "
        f"{found.seconds / 60:,.1f} minutes"
    )
    return draw_png(panels(found.iterations, found.ratings, found.elo), title)


# The page.


def _page(found: _Metrics) -> str:
    game = _cut(found.header["game"])
    figures = "".join(
        f"<figure><figcaption>{_text(panel.title)}</figcaption>{draw_svg(panel)}</figure>"
        for panel in panels(found.iterations, found.ratings, found.elo)
    )
    rated = f"<h2>Ratings</h2>{_ratings(found)}" if found.ratings else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_text(game)}: training run</title>
<style>{_style()}</style>
</head>
<body>
<header><h1>{_text(game)}</h1><p>Training run in <code>{_text(found.folder)}</code></p></header>
<h2>Result</h2>
{_result(found)}
<h2>Curves</h2>
<div class="figures">{figures}</div>
{rated}
<h2>Play with it</h2>
{_commands(found)}
<h2>Settings</h2>
{_settings(found)}
</body>
</html>
"""


def _result(found: _Metrics) -> str:
    last = found.last
    cards = {
        "time": (f"{found.seconds / 60:,.1f} min", f"{last.iteration:,} iterations"),
        "games": (f"{last.games:,}", f"{last.positions:,} positions"),
        "steps of the learner": (f"{last.steps:,}", _loss_note(last)),
    }
    if found.elo.points:
        elo = found.elo.points[-1].elo
        cards["Elo, random = 0"] = (f"{elo.value:+,.0f}", f"95%: {elo.low:+,.0f} to {elo.high:+,.0f}")
    kept = next((event.accuracy for event in reversed(found.ratings) if event.accuracy), None)
    if kept is not None:
        note = f"raw policy {_percent(kept.get('policy'))}, chance {_percent(kept.get('chance'))}"
        cards["value kept, 32 simulations"] = _percent(kept.get("search")), note
    inside = "".join(
        f"<div><span>{_text(name)}</span><strong>{_text(value)}</strong><span>{_text(note)}</span></div>"
        for name, (value, note) in cards.items()
    )
    return f'<div class="cards">{inside}</div>'


def _loss_note(last: Iteration) -> str:
    if last.policy_loss is None or last.value_loss is None:
        return "no loss yet"
    return f"loss: policy {last.policy_loss:.3f}, value {last.value_loss:.3f}"


def _ratings(found: _Metrics) -> str:
    exact = any(event.accuracy for event in found.ratings)
    return f"<p>{_explanation(found, exact=exact)}</p>{_table(*rating_table(found.ratings, found.elo))}"


def rating_table(ratings: Sequence[Rated], elo: EloCurve) -> tuple[list[str], list[list[str]]]:
    """Return the headings of a table of ratings, and its rows: a row for each rating, then one for each anchor.

    >>> rating_table([Rated(3, 60.0, {"random": 0.9})], EloCurve((), {}))[1]
    [['1.0', '3', '', '', '90.0%']]
    """
    anchors = list(dict.fromkeys(anchor for event in ratings for anchor in event.scores))
    points = {(point.iteration, point.seconds): point.elo for point in elo.points}
    exact = any(event.accuracy for event in ratings)
    past = any(event.past_score is not None for event in ratings)
    head = [
        "minutes", "iteration", "Elo", "95% interval", *anchors, *(["rating before"] if past else []),
        *(["raw policy", "search"] if exact else []),
    ]  # fmt: skip
    rows = []
    for event in ratings:
        found = points.get((event.iteration, event.seconds))
        rows.append([
            f"{event.seconds / 60:,.1f}", f"{event.iteration:,}", *_elo_cells(found),
            *(_percent(event.scores.get(anchor)) for anchor in anchors),
            *([_percent(event.past_score)] if past else []),
            *([_percent(event.accuracy.get("policy")), _percent(event.accuracy.get("search"))] if exact else []),
        ])  # fmt: skip
    for anchor, value in sorted(elo.anchors.items(), key=lambda entry: entry[1].value):
        cells = ("0", "fixed") if value.low == value.high else _elo_cells(value)
        rows.append(["", anchor, *cells, *[""] * (len(head) - 4)])
    return head, rows


def _elo_cells(elo: Interval | None) -> tuple[str, str]:
    return ("", "") if elo is None else (f"{elo.value:+,.0f}", f"{elo.low:+,.0f} to {elo.high:+,.0f}")


def _explanation(found: _Metrics, *, exact: bool) -> str:
    text = (
        "Each rating plays the network, with 32 simulations a move, against fixed players. The columns of their names "
        "are shares of the points, as is that against the network of the rating before. One Bradley-Terry model of all "
        "these games gives the Elo; random has 0."
    )
    if exact:
        count = max(int(event.accuracy.get("positions", 0)) for event in found.ratings)
        text += (
            f" Raw policy and search: the share of {count:,} positions with exact values in which the move of the raw "
            "policy, and of a search of 32 simulations, keeps the value. They come from random games, have a wrong "
            "move, and are solved quickly; early positions of a large game are not among them."
        )
    return text


def _commands(found: _Metrics) -> str:
    folder, game = shlex.quote(str(found.folder)), shlex.quote(_cut(found.header["game"]))
    player = f"net({str(found.folder)!r}, simulations=200)"
    player = f'"{player}"' if folder == str(found.folder) else shlex.quote(player)  # the plain form where it is safe
    again = f"{game} " if ":" in found.header["game"] else ""  # a game of your own is named again
    again += "--module MODULE:NAME " if found.header.get("own_module") else ""
    lines = (
        f"treetop play {game} --model {folder}",
        f"treetop match {player} 'uct(simulations=10000)' --game {game}",
        f"treetop train {again}--resume {folder} --minutes {_more_minutes(found)}",
        f"treetop export {folder} model.onnx",
    )
    return f"<pre>{_text(chr(10).join(lines), limit=4000)}</pre>"


def _more_minutes(found: _Metrics) -> str:
    minutes = found.header["options"].get("minutes")
    number = float(minutes) if isinstance(minutes, int | float) else found.seconds / 60
    return f"{2 * number:g}"


def _settings(found: _Metrics) -> str:
    rows = [["game", str(found.header["game"])], ["rules", str(found.header["rules"])[:16]]]
    rows += [[name, "default" if value is None else str(value)] for name, value in found.header["options"].items()]
    return _table(["setting", "value"], rows, name="settings")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], name: str = "") -> str:
    top = "".join(f"<th>{_text(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    kind = f' class="{name}"' if name else ""
    return f'<div class="scroll"><table{kind}><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _cut(text: object, limit: int = _LONGEST_TEXT) -> str:
    found = str(text)
    return found if len(found) <= limit else found[: limit - 3] + "..."


def _text(text: object, limit: int = _LONGEST_TEXT) -> str:
    """Return a text from anywhere as HTML."""
    return html.escape(_cut(text, limit))


def _style() -> str:
    light, dark = (";".join(f"{name}:{colour}" for name, colour in one.items()) for one in (COLOURS, _DARK))
    return (
        ":root{color-scheme:light dark;" + light + ";--page:#fff;--card:#f6f8f8;--muted:#66737a}"
        "@media (prefers-color-scheme:dark){:root{" + dark + ";--page:#15191b;--card:#1d2326;--muted:#95a2a8}}"
        + _RULES
    )  # fmt: skip


_RULES = """
body{max-width:1080px;margin:0 auto;padding:2rem 1.25rem 4rem;background:var(--page);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
h1{margin:0;font-size:1.7rem;font-weight:600;overflow-wrap:anywhere}
h2{margin:2.4rem 0 .8rem;font-size:1.1rem;font-weight:600}
header p,p{margin:.3rem 0 1rem;color:var(--muted);max-width:75ch}
code,pre{font:13px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
pre{margin:0;padding:.8rem 1rem;background:var(--card);border-radius:6px;overflow-x:auto}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(180px,1fr));gap:.75rem}
.cards div{display:flex;flex-direction:column;padding:.8rem 1rem;background:var(--card);border-radius:6px}
.cards span{color:var(--muted);font-size:.82rem}
.cards strong{font-size:1.45rem;font-weight:600;font-variant-numeric:tabular-nums}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:1.6rem 1.5rem}
figure{margin:0}
figcaption{font-weight:600;font-size:.92rem;margin-bottom:.2rem}
figure svg{display:block;width:100%;height:auto}
figure svg text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif!important}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}
th,td{padding:.3rem .9rem .3rem 0;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{font-weight:600;color:var(--muted)}
.settings th,.settings td{text-align:left;padding-right:2.5rem}
"""
