"""The Chess Engine Communication Protocol (XBoard's), as texts. It knows nothing about our games.

Dialects differ: an engine's own features count first (`feature`), and options correct what is still wrong then.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

from treetop.errors import ConfigError
from treetop.players.line_process import LineProcess

_FEATURE = re.compile(r'(\w+)=(?:"([^"]*)"|(\S+))')
_COMPLAINTS = ("illegal move", "error", "tellusererror")
_COURTESIES = ("easy", "nopost", "accepted", "rejected")  # commands that an engine may not know
_MOVE = re.compile(r"(?:my move is\s*:?|move)\s+(\S+)", re.IGNORECASE)
_RESULT = re.compile(r"(?:result\s+)?(1-0|0-1|1/2-1/2)\b|resign\b", re.IGNORECASE)
_WANTED = {
    "ping",
    "usermove",
    "done",
    "variants",
    "myname",
    "setboard",
    "colors",
    "reuse",
    "sigint",
    "sigterm",
    "time",
    "draw",
    "debug",
    "analyze",
    "name",
    "smp",
    "memory",
}
_FEATURE_SECONDS = 2.0  # the protocol's wait for the first feature; an engine of version 1 sends none
_LEFTOVERS = 1000  # unread lines of the last game, such as its result


class CecpEngine:
    """An engine that speaks CECP: `xboard`, `new`, `usermove`, `go`."""

    def __init__(
        self, command: Sequence[str], *, start_deadline: float, deadline: float, usermove: bool | None = None
    ) -> None:
        self.process = LineProcess(command)
        self.features: dict[str, str] = {}
        """The features that the engine declares."""
        self._deadline = deadline
        self._start_deadline = start_deadline
        self._pings = 0
        self.process.send("xboard")
        self.process.send("protover 2")
        self._learn_features()
        self._usermove = self.features.get("usermove") == "1" if usermove is None else usermove

    def _learn_features(self) -> None:
        """Read features until the engine is done. An engine without features is not awaited for long; one that asks for
        time gets it.
        """
        end = time.monotonic() + self._start_deadline
        while self.features.get("done") != "1":
            left = end - time.monotonic()
            asked_for_time = self.features.get("done") == "0"
            line = self.process.next_line(left if asked_for_time else min(left, _FEATURE_SECONDS), "feature")
            if left <= 0 or (line is None and asked_for_time):
                raise self.process.failure(
                    f"was not done with its features within {self._start_deadline:g} s; give it a longer start_deadline"
                )
            if line is None:
                return
            if line.startswith("feature "):
                self._learn(line)

    def _learn(self, line: str) -> None:
        for name, quoted, plain in _FEATURE.findall(line):
            self.features[name] = quoted or plain
            if name != "option":
                self.process.send(f"{'accepted' if name in _WANTED else 'rejected'} {name}")

    def new_game(self, variant: str | None = None, limits: Sequence[str] = (), fen: str | None = None) -> None:
        """Set up the initial position or a FEN, with no side thinking; the limits are commands such as `st 1`."""
        if fen is not None and self.features.get("setboard") != "1":
            raise self.process.failure(
                "cannot set up a position: it does not announce the feature setboard. Let it play from the game's "
                "start, or give openings as moves"
            )
        if variant is not None and variant != "normal":
            offered = self.features.get("variants", "").split(",")
            if offered != [""] and variant not in offered:
                raise ConfigError(
                    f"{self.process.name} does not play {variant!r}: its variants are {', '.join(offered)}"
                )
        for _ in range(_LEFTOVERS):
            if self.process.next_line(0.0) is None:
                break
        self.process.send("new")
        if variant is not None and variant != "normal":
            self.process.send(f"variant {variant}")
        for line in ("easy", "nopost", *limits, "force"):
            self.process.send(line)
        if fen is not None:
            self.process.send(f"setboard {fen}")
        self._wait_until_ready("start of a game")

    def play(self, move: str) -> None:
        """Send a move that was played. The engine does not think yet."""
        self.process.send(f"usermove {move}" if self._usermove else move)
        self._wait_until_ready(f"answer to the move {move}")

    def generate(self, times: tuple[float, float] | None = None, deadline: float | None = None) -> str:
        """Return the engine's move for the side to move, which it has then played: the text of a move, or `resign`.

        `times` are the seconds that it and its opponent have left. Offers of a draw are ignored.
        """
        if times is not None and self.features.get("time") != "0":
            for word, left in zip(("time", "otim"), times, strict=True):
                self.process.send(f"{word} {int(100 * left)}")
        self.process.send("go")
        for line in self.process.lines(self._deadline if deadline is None else deadline, "move"):
            self._refuse_complaints(line)
            found = _MOVE.fullmatch(line.strip())
            if found:
                self.process.send("force")
                return found[1]
            over = _RESULT.match(line.strip())
            if over:
                if "resign" in over[0].lower():
                    return "resign"
                raise self.process.failure(f"says that the game is over ({line.strip()}) where it is to move")
        raise AssertionError("the lines end with an error, never by themselves")

    def close(self) -> None:
        """End the engine."""
        self.process.close("quit")

    def _wait_until_ready(self, what: str) -> None:
        """Wait until the engine is ready, if it can be asked; a complaint before that is an error."""
        if self.features.get("ping") != "1":
            return
        self._pings += 1
        self.process.send(f"ping {self._pings}")
        for line in self.process.lines(self._start_deadline, what):
            if line.strip() == f"pong {self._pings}":
                return
            self._refuse_complaints(line)

    def _refuse_complaints(self, line: str) -> None:
        text = line.strip()
        if text.lower().startswith(_COMPLAINTS) and not any(word in text.split() for word in _COURTESIES):
            raise self.process.failure(f"complains: {text}")
