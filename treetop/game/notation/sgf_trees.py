"""The trees of nodes in a text in SGF, whatever the game: `(;FF[4]GM[1];B[aa](;W[bb])(;W[cc]))`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from treetop.checks import shorten
from treetop.game.notation.texts import MOST_ERRORS

_MOST_NODES = 1_000_000  # of one game
_LONGEST = 1_000_000  # characters of a value
_TOKEN = re.compile(
    rf"\s*+(?:(?P<mark>[();])|(?P<name>[A-Za-z]++)|\[(?P<value>(?:[^\]\\]|\\.){{0,{_LONGEST}}}+)\])", re.DOTALL
)
_NEXT_GAME = re.compile(r"\(\s*;\s*(?:[A-Z]{1,20}\s*\[[^\]]{0,200}\]\s*){0,5}?(?:FF|GM|SZ)\s*\[")
_FIRST_GAME = re.compile(r"\(\s*;")


@dataclass(slots=True)
class Node:
    """A node: its properties, each with one value or more, as they are written."""

    line: int
    parent: int
    """The number of the node before it; -1 for the first one."""
    properties: dict[str, list[str]] = field(default_factory=dict)
    children: list[int] = field(default_factory=list)

    def text(self, name: str) -> str | None:
        """Return the first value of a property as text, or None."""
        values = self.properties.get(name)
        return None if not values else plain(values[0])


@dataclass
class Tree:
    """One game of a file: its nodes, the first one at 0, each before its children."""

    number: int
    line: int
    nodes: list[Node] = field(default_factory=list)
    wrong: str = ""
    """What is wrong with the text, with the line."""


def plain(value: str) -> str:
    r"""Return a value without escapes: a backslash keeps the next character, and removes a line end.

    >>> plain(r"a\]b\\c")
    'a]b\\c'
    """
    if "\\" in value:
        value = re.sub(r"\\(.)", lambda found: "" if found[1] == "\n" else found[1], value, flags=re.DOTALL)
    return value.replace("\t", " ")


def escaped(text: str) -> str:
    r"""Return a text as a value.

    >>> escaped("a]b")
    'a\\]b'
    """
    return text.replace("\\", "\\\\").replace("]", "\\]")


def trees_of(text: str) -> Iterator[Tree]:
    """Yield the games of a text. After an error the next game begins at a node with `FF`, `GM` or `SZ`.

    >>> [tree] = trees_of("(;FF[4];B[aa](;W[bb])(;W[cc]))")
    >>> [node.children for node in tree.nodes]
    [[1], [2, 3], [], []]
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = _FIRST_GAME.search(text)
    place, line, number, errors = 0, 1, 0, 0
    while found is not None and errors <= MOST_ERRORS:
        line, place = line + text.count("\n", place, found.start()), found.start()
        number += 1
        tree, end, last = _tree(text, place, line, number)
        yield tree
        errors += bool(tree.wrong)
        following = _NEXT_GAME if tree.wrong else _FIRST_GAME
        found, line, place = following.search(text, end), last, end


def _tree(text: str, place: int, line: int, number: int) -> tuple[Tree, int, int]:
    """Return the game that begins at a place, the place behind it and its line."""
    tree, open_at, current, name = Tree(number, line), list[int](), -1, ""
    while True:
        found = _TOKEN.match(text, place)
        if found is None or len(tree.nodes) > _MOST_NODES:
            tree.wrong = f"line {line}: {_trouble(text, place, tree)}"
            return tree, max(place, 1), line
        line, place = line + text.count("\n", place, found.end()), found.end()
        mark = found["mark"]
        if found["name"]:
            name = "".join(letter for letter in found["name"] if letter.isupper())  # FF[3] allows small letters
        elif found["value"] is not None:
            if not name or current < 0:
                tree.wrong = f"line {line}: a value [...] belongs to no property"
                return tree, place, line
            tree.nodes[current].properties.setdefault(name, []).append(found["value"])
        else:
            name = ""
            if mark == "(":
                open_at.append(current)
            elif mark == ";":
                tree.nodes.append(Node(line, current))
                if current >= 0:
                    tree.nodes[current].children.append(len(tree.nodes) - 1)
                current = len(tree.nodes) - 1
            else:
                current = open_at.pop()
                if not open_at:
                    return tree, place, line


def _trouble(text: str, place: int, tree: Tree) -> str:
    if len(tree.nodes) > _MOST_NODES:
        return f"the game has more than {_MOST_NODES:,} nodes"
    while text[place : place + 1].isspace():
        place += 1
    rest = text[place : place + 20]
    if not rest:
        return "the game is not closed by ); the file may be truncated"
    if rest.startswith("["):
        return f"a value that begins here is not closed by ] within {_LONGEST:,} characters; the file may be truncated"
    return f"{shorten(rest)} is not expected here"
