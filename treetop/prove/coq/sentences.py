"""Split a Coq file into sentences, as Coq does.

A sentence ends with a full stop before white space (or with `...`), outside of comments and strings; within a proof a
bullet, a brace and a brace with a selector (`2: {`) are sentences too. Nothing is lost: the concatenation of the pieces
is the file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from treetop.errors import ProverError

_BLANK = re.compile(r"\s+")
_MARK = re.compile(r"-+|\++|\*+|[{}]|(?:[0-9]+|\[\s*[^\W\d][\w']*\s*\])\s*:\s*\{")
_TURN = re.compile(
    r'\(\*|"|\.+(?=\s|\Z)'
)  # where the state of the reader may change: a comment, a string, a possible end
_HIDDEN = re.compile(r'\(\*|"')
_IN_COMMENT = re.compile(r'\(\*|\*\)|"')


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its position in the text. Offsets count characters."""

    text: str
    """The text from its first character that is neither white space nor comment up to its end."""
    start: int
    """The offset of the white space and comments before it: the end of the previous sentence."""
    begin: int
    end: int
    line: int
    """The line of its first character, from 1."""


def split(text: str) -> tuple[Sentence, ...]:
    """Return all sentences of a text.

    After the last one there is only white space and comments. Raise ProverError if the text ends within a sentence.
    """
    found: list[Sentence] = []
    breaks = [match.start() for match in re.finditer("\n", text)]
    start = 0
    while True:
        begin = _skip(text, start, breaks)
        if begin == len(text):
            return tuple(found)
        mark = _MARK.match(text, begin)
        end = mark.end() if mark else _end(text, begin, breaks)
        found.append(Sentence(text[begin:end], start, begin, end, bisect_right(breaks, begin) + 1))
        start = end


def is_one_tactic(tactic: str) -> bool:
    """Return whether a text can only be a single tactic: in parentheses, it is one sentence."""
    try:
        sentences = split(f"( {tactic} ).")
    except ProverError:
        return False
    return len(sentences) == 1 and bool(without_comments(tactic).strip())


def without_comments(text: str, *, strings: bool = True) -> str:
    """Return the text with a blank for every comment, and without the contents of strings if `strings` is False."""
    parts: list[str] = []
    position = 0
    while match := _HIDDEN.search(text, position):
        parts.append(text[position : match.start()])
        comment = match.group() == "(*"
        end = _after_comment(text, match.start(), []) if comment else _after_string(text, match.start(), [])
        parts.append(" " if comment else text[match.start() : end] if strings else '""')
        position = end
    return "".join([*parts, text[position:]])


def _skip(text: str, position: int, breaks: list[int]) -> int:
    """Return the offset after white space and comments."""
    while True:
        blank = _BLANK.match(text, position)
        if blank:
            position = blank.end()
        if not text.startswith("(*", position):
            return position
        position = _after_comment(text, position, breaks)


def _end(text: str, begin: int, breaks: list[int]) -> int:
    """Return the end of the sentence that begins here."""
    position = begin
    while True:
        turn = _TURN.search(text, position)
        if turn is None:
            raise ProverError(
                f"line {bisect_right(breaks, begin) + 1}: the sentence has no full stop: {_shortened(text[begin:])}"
            )
        if turn.group() == "(*":
            position = _after_comment(text, turn.start(), breaks)
        elif turn.group() == '"':
            position = _after_string(text, turn.start(), breaks)
        elif len(turn.group()) == 2:  # `..` is used for the middle of a list in notations
            position = turn.end()
        else:
            return turn.end()


def _after_comment(text: str, position: int, breaks: list[int]) -> int:
    """Return the offset after a comment, with the comments and strings in it."""
    begin, depth = position, 0
    while True:
        turn = _IN_COMMENT.search(text, position)
        if turn is None:
            raise ProverError(
                f"line {bisect_right(breaks, begin) + 1}: the comment has no end: {_shortened(text[begin:])}"
            )
        if turn.group() == '"':
            position = _after_string(text, turn.start(), breaks)
            continue
        depth += 1 if turn.group() == "(*" else -1
        position = turn.end()
        if depth == 0:
            return position


def _after_string(text: str, position: int, breaks: list[int]) -> int:
    """Return the offset after a string. A doubled quote reads as an end and another start, which is equivalent."""
    end = text.find('"', position + 1)
    if end < 0:
        raise ProverError(
            f"line {bisect_right(breaks, position) + 1}: the string has no end: {_shortened(text[position:])}"
        )
    return end + 1


def _shortened(text: str) -> str:
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= 60 else f"{line[:57]}..."
