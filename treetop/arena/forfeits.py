"""Count the reasons of forfeits, and describe them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from treetop.journal import Record

_MOST_REASONS, _LONGEST = 3, 200

Reasons = Mapping[str, int]
"""For each reason, in one line, how many games were lost for it; the most frequent first."""


def reasons_of(records: Iterable[Record]) -> Reasons:
    """Count the reasons of the games that were lost by forfeit.

    >>> reasons_of([{"reason": "no move after 3 s"}, {"reason": "played 9"}, {"reason": "no move after 3 s"}])
    {'no move after 3 s': 2, 'played 9': 1}
    """
    return dict(Counter(one_line(record.get("reason")) for record in records).most_common())


def one_line(reason: object) -> str:
    """Return the first line of a reason, shortened; the file has all of it."""
    text = reason.strip() if isinstance(reason, str) else ""
    line = text.splitlines()[0].rstrip() if text else "no reason was given"
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 4]} ..."


def describe(forfeits: Iterable[tuple[str, Reasons]]) -> str:
    """Describe who lost how many games by forfeit, and why.

    >>> describe([("uct", {"no move after 3 s": 2}), ("random", {}), ("gtp", {"it died": 2, "it hung": 1})])
    '2 by uct (no move after 3 s); 3 by gtp (2: it died, 1: it hung)'
    """
    return "; ".join(f"{sum(reasons.values())} by {name} ({_why(reasons)})" for name, reasons in forfeits if reasons)


def _why(reasons: Reasons) -> str:
    if len(reasons) == 1:
        return next(iter(reasons))
    shown = [f"{count}: {reason}" for reason, count in list(reasons.items())[:_MOST_REASONS]]
    return ", ".join([*shown, *(["..."] if len(reasons) > _MOST_REASONS else [])])
