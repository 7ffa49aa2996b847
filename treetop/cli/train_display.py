"""The display of `treetop train`: a picture that is kept up to date on a terminal, a line for each event elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from treetop.cli.common import BAR, FAINT, say, screen, table
from treetop.errors import MissingExtraError
from treetop.stats import Interval

if TYPE_CHECKING:
    from treetop.train.events import Event, Iteration
    from treetop.train.ratings import EloCurve, Rated
    from treetop.train.run import Run

_RATINGS = 6  # that the table shows
_RECENT = 5  # iterations over which steps a second are measured
_TREND = 40  # characters of a trend
_BLOCKS = "▁▂▃▄▅▆▇█"
_WIDEST = 100  # columns of the bar and what stands beside it


@contextmanager
def display(run: Run, as_json: bool) -> Iterator[Callable[[Event], None]]:
    """Show what a run does; yield the function that takes its events. With JSON nothing is shown."""
    if as_json:
        yield lambda _: None
    elif not screen().is_terminal:
        yield lambda event: say(line(event))
    else:
        picture = Dashboard(run)
        with Live(picture, console=screen(), refresh_per_second=1):
            yield picture.add


def _resigned(event: Iteration) -> str:
    if event.resigned is None:
        return ""
    wrong = "" if event.false_resignations is None else f", {event.false_resignations:.0%} of them wrongly"
    return f", {event.resigned:.0%} of the games resigned{wrong}"


def line(event: Event) -> str:
    """Return an event as one line of text."""
    from treetop.train.acceptance import Accepted
    from treetop.train.ratings import Rated

    if isinstance(event, Accepted):
        verdict = "accepted" if event.accepted else "rejected"
        return f"{event.seconds:,.0f} s: the new network is {verdict}, {event.score:.0%} in {event.games} games"
    if not isinstance(event, Rated):
        return (
            f"{event.seconds:,.0f} s: iteration {event.iteration}, {event.games:,} games, {event.positions:,} "
            f"positions, {event.rate:,.0f} positions/s, loss {_loss(event.policy_loss)} + {_loss(event.value_loss)}"
            f"{_resigned(event)}"
        )
    parts = []
    if event.elo is not None:
        parts.append(f"Elo {Interval(*event.elo).signed()}")
    scores = [f"{score:.0%} against {anchor}" for anchor, score in event.scores.items()]
    if event.past_score is not None:
        scores.append(f"{event.past_score:.0%} against the network of the rating before")
    parts.append(f"scores {', '.join(scores)}")
    if event.accuracy:
        policy, search = (f"{event.accuracy.get(name, 0.0):.1%}" for name in ("policy", "search"))
        count = int(event.accuracy.get("positions", 0))
        parts.append(f"value kept in {policy} (policy) and {search} (search) of {count} positions")
    return f"{event.seconds:,.0f} s: {'; '.join(parts)}"


class Dashboard:
    """The picture of a run on a terminal. It is drawn anew each second; only the clock has moved since the last event.

    `elapsed` returns the seconds since the last event.
    """

    def __init__(self, run: Run, elapsed: Callable[[], float] | None = None) -> None:
        from treetop.compiler.preparing import thinking_clock
        from treetop.train.ratings import EloCurve

        self._run, self._events = run, list(run.events)
        self._clock = thinking_clock()  # of the thread that trains; the one that draws reads it
        self._shown, self._seconds = self._clock.now(), run.seconds
        self._elapsed = elapsed or (lambda: self._clock.now() - self._shown)
        self._elo: EloCurve = EloCurve((), {})
        self._fit()

    def add(self, event: Event) -> None:
        """Take an event."""
        from treetop.train.ratings import Rated

        if isinstance(event, Rated):
            self._fit(event)  # first, because the picture may be drawn meanwhile
        self._events.append(event)
        self._shown, self._seconds = self._clock.now(), self._run.seconds

    def _fit(self, *more: Rated) -> None:
        from treetop.train.ratings import fit_elo

        try:
            self._elo = fit_elo([*self._events, *more])
        except MissingExtraError:
            return

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from treetop.train.events import Iteration
        from treetop.train.ratings import Rated

        iterations = [event for event in self._events if isinstance(event, Iteration)]
        ratings = [event for event in self._events if isinstance(event, Rated)]
        width = min(options.max_width, _WIDEST)
        yield Group(*self._head(width), Text(), _counts(iterations))
        if iterations:
            yield Group(Text(), _trends(iterations, blocks=console.encoding.lower().startswith("utf")))
        if ratings:
            yield Group(Text(), _rated(ratings, self._elo))

    def _head(self, width: int) -> list[Text | Table]:
        run = self._run
        own, count = run.architecture.kind == "own", run.architecture.parameters
        network = "own module" if own else f"{run.options.size} network, {count:,} weights"
        used = self._seconds + self._elapsed()
        if run.options.iterations is not None:
            share, time = run.progress, f"{run.iteration:,} of {run.options.iterations:,} iterations, {_time(used)}"
        else:
            whole = 60.0 * run.options.minutes
            share = min(1.0, used / whole)
            time = f"{_time(used)} used, {_time(max(0.0, whole - used))} left"
        bar = Table.grid(padding=(0, 1))
        bar.add_column(width=max(10, width - len(time) - 6))
        bar.add_column(justify="right", width=4)
        bar.add_column(no_wrap=True)
        bar.add_row(
            ProgressBar(total=1.0, completed=share, style=FAINT, complete_style=BAR, finished_style=BAR),
            f"{share:.0%}",
            time,
        )
        return [Text.assemble((run.game.name, "bold"), ("  " + network, FAINT)), bar]


def _time(seconds: float) -> str:
    """Return a time as hours, minutes and seconds."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _counts(iterations: Sequence[Iteration]) -> Table:
    last = iterations[-1] if iterations else None
    recent = iterations[-_RECENT:]
    seconds = recent[-1].seconds - recent[0].seconds if len(recent) > 1 else 0.0
    steps = f"{(recent[-1].steps - recent[0].steps) / seconds:,.1f}" if seconds > 0 else "-"
    rows: tuple[tuple[str, ...], ...] = (
        ("games", f"{last.games:,}", "positions", f"{last.positions:,}", "positions/s", f"{last.rate:,.0f}"),
        ("iterations", f"{last.iteration:,}", "steps", f"{last.steps:,}", "steps/s", steps),
    ) if last else (("games", "0", "positions", "0", "playing the first iteration", ""),)  # fmt: skip
    if last is not None and last.resigned is not None:
        wrong = "-" if last.false_resignations is None else f"{last.false_resignations:.0%}"
        rows += (("resigned", f"{last.resigned:.0%}", "wrongly", wrong, "", ""),)
    made = Table.grid(padding=(0, 3, 0, 0))
    for _ in range(3):
        made.add_column(style=FAINT, no_wrap=True)
        made.add_column(justify="right", min_width=9, no_wrap=True)
    for row in rows:
        made.add_row(*row)
    return made


def _trends(iterations: Sequence[Iteration], *, blocks: bool) -> Table:
    last = iterations[-1]
    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(style=FAINT, no_wrap=True)
    made.add_column(justify="right", no_wrap=True)
    made.add_column(style=BAR, no_wrap=True)
    rows = (
        ("policy loss", _loss(last.policy_loss), [event.policy_loss for event in iterations]),
        ("value loss", _loss(last.value_loss), [event.value_loss for event in iterations]),
        ("policy entropy", f"{last.entropy:.3f}", [event.entropy for event in iterations]),
        ("moves a game", f"{last.length:.1f}", [event.length for event in iterations]),
        ("first player", f"{last.first_player:+.2f}", [event.first_player for event in iterations]),
    )
    for name, now, values in rows:
        made.add_row(name, now, trend([value for value in values if value is not None]) if blocks else "")
    return made


def trend(values: Sequence[float], width: int = _TREND) -> str:
    """Return values as a line of blocks, from the smallest to the largest; many values as means of neighbours.

    >>> trend([0.0, 1.0, 2.0, 7.0])
    '▁▂▃█'
    """
    if len(values) > width:
        edges = [index * len(values) // width for index in range(width + 1)]
        values = [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]
    low, high = (min(values), max(values)) if values else (0.0, 0.0)
    scale = (len(_BLOCKS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BLOCKS[round((value - low) * scale)] for value in values)


def _rated(ratings: Sequence[Rated], elo: EloCurve) -> Group:
    anchors = list(dict.fromkeys(anchor for event in ratings for anchor in event.scores))
    exact = any(event.accuracy for event in ratings)
    found = {(point.iteration, point.seconds): point.elo for point in elo.points}
    past = ("before",) if any(event.past_score is not None for event in ratings) else ()
    exact_heads = ("policy", "search") if exact else ()
    shown = table("time", "Elo", "95% interval", *map(_short, anchors), *past, *exact_heads)
    for event in ratings[-_RATINGS:]:
        one = found.get((event.iteration, event.seconds))
        shown.add_row(
            _time(event.seconds),
            *(("-", "-") if one is None else _elo_cells(one)),
            *(_percent(event.scores.get(anchor)) for anchor in anchors),
            *([_percent(event.past_score)] if past else []),
            *((_percent(event.accuracy.get(name)) for name in ("policy", "search")) if exact else ()),
        )
    known = [f"{_short(anchor)} {one.value:+,.0f}" for anchor, one in elo.anchors.items() if one.low < one.high]
    notes = [f"Elo of the anchors: random 0, {', '.join(known)}"] if known else []
    if past:
        notes.append("before: share of the points against the network of the rating before")
    if exact:
        count = int(max(event.accuracy.get("positions", 0) for event in ratings))
        notes.append(f"policy, search: share of {count} exact positions whose value is kept")
    return Group(shown, *(Text(note, style=FAINT) for note in notes))


def _elo_cells(elo: Interval) -> tuple[str, str]:
    return f"{elo.value:+,.0f}", f"{elo.low:+,.0f} to {elo.high:+,.0f}"


def _short(anchor: str) -> str:
    """Return the name of an anchor, as short as a column needs it."""
    short = anchor.removeprefix("uct(simulations=").removesuffix(")")
    if short == anchor or not short.isdigit():
        return anchor[:12]
    return f"uct {int(short) // 1000}k" if int(short) >= 1000 else f"uct {short}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def _loss(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
