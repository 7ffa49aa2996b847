"""The texts and colours of the nodes of a drawn tree."""

from __future__ import annotations

import colorsys
import re
from dataclasses import dataclass
from typing import Any

from treetop.show.views import win_rate

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML
UNKNOWN = "#6a7078"
"""The colour of a node without a value."""


@dataclass(frozen=True)
class Label:
    """What a drawing says of a node.

    >>> Label("b2", 207, 0.4, "#3b7a58", frozenset({"proven"})).facts
    '207 · +0.400'
    """

    move: str
    visits: int
    value: float | None
    colour: str
    marks: frozenset[str]
    """Of chance, simultaneous, terminal, proven, folded and shared."""

    @property
    def facts(self) -> str:
        """The visits and the value as text."""
        return f"{self.visits:,}" + ("" if self.value is None else f" · {self.value:+.3f}")


def label_of(position: Any, node: dict[str, Any]) -> Label:
    """Return the label of a node of `subtree`; `position` is the root's, whose game has the range of values."""
    marks = {name for name in ("terminal", "proven", "folded", "shared") if node[name]}
    marks |= {node["player"]} if isinstance(node["player"], str) else set()
    value = node["value"]
    colour = UNKNOWN if value is None else value_colour(win_rate(position, value))
    move = "root" if node["parent"] < 0 else plain(node["move"])
    return Label(move, node["visits"], value, colour, frozenset(marks))


def value_colour(share: float) -> str:
    """Return a colour for a value from 0, red, over grey to 1, green: dark enough for white text.

    >>> value_colour(0.0), value_colour(0.5), value_colour(1.0)
    ('#9f3c23', '#616161', '#239f6d')
    """
    parts = colorsys.hls_to_rgb((12 if share < 0.5 else 156) / 360, 0.38, 0.64 * abs(2 * share - 1) ** 0.5)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def plain(text: str, longest: int = 200) -> str:
    r"""Return a text in one line, without characters that XML cannot hold, shortened.

    >>> plain("two\nlines"), plain("long", 3)
    ('two lines', 'lo…')
    """
    line = " ".join(clean(text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def clean(text: str) -> str:
    r"""Return a text with U+FFFD in place of characters that XML and UTF-8 cannot hold.

    >>> clean("\ud800\0 is gone")
    '�� is gone'
    """
    return _FORBIDDEN.sub("\ufffd", text)
