"""Counts of moves by Fairy-Stockfish, from any position of one of its variants."""

from __future__ import annotations

import re
import shutil

import pytest

from treetop.players.line_process import LineProcess

_SECONDS = 20.0


class Counter:
    """Fairy-Stockfish as a counter of move sequences."""

    def __init__(self, variant, first):
        """Start it; `first` is the number of moves at the start, by which an ignored variant is noticed."""
        found = shutil.which("fairy-stockfish") or shutil.which("fairy-stockfish", path="/usr/games:/usr/local/games")
        if found is None:
            pytest.skip("fairy-stockfish is not installed: apt-get install fairy-stockfish")
        self.process = LineProcess([found])
        self.process.send("uci")
        assert any(variant in line.split() for line in self._until("uciok") if "UCI_Variant" in line)
        self.process.send(f"setoption name UCI_Variant value {variant}")
        assert sum(self.moves("startpos").values()) == first

    def _until(self, word):
        for line in self.process.lines(_SECONDS, word):
            yield line.strip()
            if word in line:
                return

    def moves(self, position, depth=1):
        """How many sequences begin with each move of a position, which is `startpos` or `fen ...`."""
        self.process.send(f"position {position}")
        self.process.send(f"go perft {depth}")
        found = {}
        for line in self._until("Nodes searched"):
            if move := re.fullmatch(r"(\S+): (\d+)", line):
                found[move[1]] = int(move[2])
        return found

    def close(self):
        self.process.close("quit")
