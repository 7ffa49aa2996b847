"""Make inputs: random ones, and real ones with a few changes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

_ODD = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"NaN",
    b"-1",
    b"1e999",
    b"null",
    b"{}",
    b"[[",
    b"\n",
    b'"',
    b"9" * 5000,
    b"[" * 3000,
    b"(" * 300,
    b"..",
    b"\r",
)
VALUES = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    7,
    2**31,
    2**63,
    -(2**63),
    2**64,
    10**90,
    0.5,
    -0.0,
    1e308,
    "",
    "x",
    "0",
    "os:system('true')",
    "uci('true')",
    "\x00",
    [],
    {},
    [0],
    [[]],
    {"a": 1},
    ["A", "B"],
    "nim",
    "a search",
    [None],
    "9" * 300,
)
WORDS = (
    "nim",
    "hex",
    "gomoku",
    "uct",
    "puct",
    "random",
    "rollout",
    "mixed",
    "uci",
    "gtp",
    "os",
    "system",
    "builtins",
    "exec",
    "size",
    "stones",
    "simulations",
    "evaluator",
    "c",
    "name",
    "this",
    "__import__",
    "__class__",
    "treetop.games.nim",
    "subprocess",
    "Popen",
    "lambda",
    "x.py",
    "..",
    "None",
    "True",
    "1e999",
    "0x" + "f" * 300,
    "-3",
    "7",
    "10**9",
    "'touch x'",
    "[1]",
    "{}",
    "{[]:1}",
    "*",
    "**",
    "\x00",
    "\ud800",
    "\u2028",
    "é",
    "\uff4e\uff49\uff4d",
    "b'x'",
    "f'{x}'",
    "1j",
    "...",
    "\\",
)
_SIGNS = "():,.=[]{}'\" \n+-*/#@!~"


def mutate_bytes(rng: random.Random, content: bytes) -> bytes:
    """Return bytes with a few changes: flipped bits, cuts, repetitions and insertions."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        kind, place = rng.randrange(7), rng.randrange(len(data) + 1)
        if kind == 0 and data:
            data[place % len(data)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[place:place] = rng.choice(_ODD)
        elif kind == 2:
            del data[place : place + rng.choice((1, 2, 8, 100))]
        elif kind == 3:
            del data[place:]
        elif kind == 4:
            data[place:place] = data[place : place + rng.choice((1, 20, 500))]
        elif kind == 5 and data:
            data[place % len(data)] = rng.randrange(256)
        else:
            data[place:place] = rng.randbytes(rng.choice((1, 4, 40)))
    return bytes(data)


def mutate_lines(rng: random.Random, content: bytes) -> bytes:
    """Return JSON lines with a few changes of values, lines or bytes."""
    if rng.random() < 0.3:
        return mutate_bytes(rng, content)
    lines = content.split(b"\n")
    for _ in range(rng.choice((1, 1, 2, 4))):
        place = rng.randrange(len(lines))
        kind = rng.randrange(8)
        if kind == 0:
            lines.insert(place, lines[rng.randrange(len(lines))])
        elif kind == 1 and len(lines) > 1:
            del lines[place]
        elif kind == 2:
            lines[place] = mutate_bytes(rng, lines[place])
        else:
            lines[place] = mutate_json(rng, lines[place])
    return b"\n".join(lines)


def mutate_json(rng: random.Random, content: bytes) -> bytes:
    """Return JSON with a changed value, name or part; other content is changed as bytes."""
    try:
        tree = json.loads(content)
    except (ValueError, RecursionError):
        return mutate_bytes(rng, content)
    for _ in range(rng.choice((1, 1, 2, 3))):
        tree = _changed(rng, tree)
    return json.dumps(tree).encode()


def _changed(rng: random.Random, tree: Any) -> Any:
    if isinstance(tree, dict) and tree and rng.random() < 0.85:
        name = rng.choice(list(tree))
        kind = rng.randrange(10)
        if kind == 0:
            return {key: value for key, value in tree.items() if key != name}
        if kind == 1:
            return {**tree, rng.choice(WORDS[:20]): rng.choice(VALUES)}
        return {**tree, name: _changed(rng, tree[name])}
    if isinstance(tree, list) and tree and rng.random() < 0.85:
        place = rng.randrange(len(tree))
        kind = rng.randrange(8)
        if kind == 0:
            return tree[:place] + tree[place + 1 :]
        if kind == 1:
            return [*tree, rng.choice(tree)]
        return [*tree[:place], _changed(rng, tree[place]), *tree[place + 1 :]]
    if isinstance(tree, int) and not isinstance(tree, bool) and rng.random() < 0.5:
        return tree + rng.choice((-1, 1, 2, 100))
    return rng.choice(VALUES)


def make_text(rng: random.Random, real: tuple[str, ...]) -> str:
    """Return a text of words and signs, or a real one with changes."""
    if rng.random() < 0.4:
        return "".join(
            rng.choice(WORDS) if rng.random() < 0.5 else rng.choice(_SIGNS) for _ in range(rng.choice((1, 3, 8, 30)))
        )
    text = rng.choice(real)
    for _ in range(rng.choice((1, 1, 2, 4))):
        place = rng.randrange(len(text) + 1)
        end = place + rng.choice((0, 0, 1, 3))
        text = (
            text[:place]
            + rng.choice(
                (rng.choice(WORDS), rng.choice(_SIGNS), chr(rng.randrange(0x500)), "", str(rng.choice(VALUES)))
            )
            + text[end:]
        )
    return text * 300 if rng.random() < 0.01 else text


Mutate = Callable[[random.Random, bytes], bytes]
