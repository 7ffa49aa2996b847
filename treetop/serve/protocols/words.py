"""The words of a command of GTP: numbers, colours, and what is wrong with others."""

from __future__ import annotations

import re

from treetop import checks

COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class GtpError(Exception):
    """A command that is refused, with the words of the protocol."""


def split(line: str) -> tuple[str, str, list[str]] | None:
    """Return the number of a command (or an empty text), its name and its words; None for a line without a command.

    >>> split("12 play b D4 # a comment")
    ('12', 'play', ['b', 'D4'])
    """
    words = _CONTROL.sub("", line.partition("#")[0].replace("\t", " ")).split()
    if not words:
        return None
    number = words.pop(0) if words[0].isascii() and words[0].isdecimal() and len(words[0]) < 20 else ""
    return number, (words.pop(0) if words else ""), words


def word(words: list[str], place: int, what: str) -> str:
    """Return a word; raise GtpError where it is missing."""
    if place >= len(words):
        raise GtpError(f"syntax error: {what} is missing")
    return words[place]


def colour(words: list[str], place: int) -> int:
    """Return the player of a colour."""
    found = word(words, place, "a colour").lower()
    if found not in COLOURS:
        raise GtpError(f"syntax error: a colour is black or white, not {checks.shorten(found)}")
    return COLOURS[found]


def whole(words: list[str], place: int, what: str) -> int:
    """Return a whole number."""
    found = word(words, place, what)
    if not (found.isascii() and found.isdecimal() and len(found) < 10):
        raise GtpError(f"syntax error: {what} must be a whole number, not {checks.shorten(found)}")
    return int(found)


def number(words: list[str], place: int, what: str) -> float:
    """Return a number."""
    found = word(words, place, what)
    if not re.fullmatch(r"[+-]?[0-9]{1,9}(\.[0-9]{0,9})?", found):
        raise GtpError(f"syntax error: {what} must be a number, not {checks.shorten(found)}")
    return float(found)


def one_line(error: BaseException) -> str:
    """Return the first line of an error."""
    return str(error).partition("\n")[0] or type(error).__name__
