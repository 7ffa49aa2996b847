"""Code and docs use the terms of docs/glossary.md: words that were replaced do not come back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2]
CLEAN = (
    *(f"treetop/{name}" for name in (
        "adapters", "arena", "cli", "compiler", "evaluators", "game", "games", "lab", "oracle", "players", "prove",
        "kernels", "reference", "search", "show", "tree", "workers",
    )),
    "examples", "fuzz", "bench", "scripts", "docs", "tests", "README.md", "CONTRIBUTING.md",
    *(file.relative_to(HERE).as_posix() for file in sorted((HERE / "treetop").glob("*.py"))),
)  # fmt: skip
"""Folders and files that are checked."""

REPLACED = {
    r"what (a |the )?players? (\d |\w )?(see|sees|saw|has seen|have seen)\b": "information set, imperfect information",
    r"\bhonest (view|card)s?\b|\bclosed views?\b|\b(tree|trees) of views\b": "information set, determinization",
    r"\b(hides|hide) something\b|\bsomething is hidden\b|\bnothing is hidden\b": "imperfect information",
    r"\bmoves? (are |is )?made at once\b|\b(all|both|who) (choose|chose|move) at once\b": "simultaneous moves",
    r"\b(actions?|game) (of|are|is|made of) real numbers\b|\breal[- ]numbered\b|\bdrawn actions?\b": "continuous actions",
    r"\brewards? (came |come )?on the way\b|\breceived on the way\b": "immediate rewards",
    r"\bwatching\b|\bbegun\b": "virtual loss, in-flight visits, started",
    r"\bfirst[- ]play\b(?![- ]urgency)": "first-play urgency (FPU)",
    r"\bgang(s|ed|ing)? up\b|\bhunted\b": "paranoid search, target player",
    r"\b(un)?settle[sd]?\b|\bsettling\b": "resolve chance, finish, prove",
    r"\b(rich|general) (build|loop)s?\b": "full build, stochastic build",
    r"\brooms?\b|\bstairs\b|\bdoorman\b": "package, layer, capacity, slots",
    r"\b(if |where |was |is )?not said\b|\bunless said\b": "default: ...",
    r"\btold\b|\btells\b|\btelling\b": "format, report, describe, message",
    r"\bof one's own\b|\bthe house\b|\bhouse's\b": "your own, Treetop",
}
"""Patterns of replaced words, and the words to use."""

ALLOWED = (
    ("treetop/games/scoundrel.py", r"\brooms?\b"),  # the dungeon rooms of the game
    ("docs/records.md", r"\brooms?\b"),
    ("docs/observations.md", r"\brooms?\b"),
    ("tests/games/test_observations.py", r"\brooms?\b"),
    ("tests/games/test_scoundrel.py", r"\brooms?\b"),
)
"""Exceptions: a file and a pattern of words that it may contain."""


def files() -> list[Path]:
    """Return the files that are checked."""
    found: list[Path] = []
    for name in CLEAN:
        place = HERE / name
        found += [place] if place.is_file() else [*place.rglob("*.py"), *place.rglob("*.md")]
    return sorted(file for file in found if file != Path(__file__))


@pytest.mark.parametrize("pattern", REPLACED)
def test_replaced_words_do_not_come_back(pattern: str) -> None:
    wrong = []
    for file in files():
        name = file.relative_to(HERE).as_posix()
        for number, line in enumerate(file.read_text(encoding="utf-8").replace("_", " ").splitlines(), start=1):
            for allowed_file, allowed in ALLOWED:
                line = re.sub(allowed, "", line, flags=re.IGNORECASE) if name == allowed_file else line
            if re.search(pattern, line, re.IGNORECASE):
                wrong.append(f"{name}:{number}: {line.strip()}")
    assert not wrong, f"use {REPLACED[pattern]!r} instead:\n" + "\n".join(wrong)
