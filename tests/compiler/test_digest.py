"""The digest sees everything that decides what a game does, and nothing else."""

from __future__ import annotations

import dis
import importlib
import inspect
import itertools
import json
import sys

import numpy as np
import pytest

import treetop as tt
from treetop.compiler.digest import _references

GAME = """
import numpy as np
import treetop
{imports}

LIMIT = {limit}
TABLE = np.array([{table}, 2, 3])

@treetop.compiled
def helper(x):
    return inner(x) + {inside}

@treetop.compiled
def inner(x):
    {comment}
    return x * {deep}

def family(size):
    @treetop.game(players=1, num_actions=2, max_length=LIMIT)
    class Mine:
        '''{doc}'''
        n = treetop.field("i4")
        SHARE = {constant}

        def reset(self):
            '''{doc}'''
            self.n = size

        def legal_actions(self, out):
            out[0] = 0
            out[1] = 1
            return 2

        def apply(self, action):
            self.n += helper(action) + TABLE[0] + self.SHARE + {call}

        def is_terminal(self):
            return self.n > LIMIT

        def rewards(self, out):
            out[0] = 1.0

        def render(self):
            return "{text}"
    return Mine
"""
_count = itertools.count()
BASE = {
    "imports": "",
    "limit": 5,
    "table": 1,
    "inside": 1,
    "deep": 2,
    "comment": "",
    "doc": "A game.",
    "constant": 1,
    "call": "0",
    "text": "x",
}


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(size=3, **changes):
        name = f"digest_game_{next(_count)}"
        (tmp_path / f"{name}.py").write_text(GAME.format(**{**BASE, **changes}))
        importlib.invalidate_caches()
        return importlib.import_module(name).family(size)

    return make


def test_the_same_rules_have_the_same_digest(write):
    assert write().digest == write().digest
    assert write().digest == write(comment="# a comment").digest
    assert write().digest == write(doc="Other words.").digest
    assert write().digest == write(text="drawn otherwise").digest


@pytest.mark.parametrize(
    "change", [{"limit": 6}, {"table": 9}, {"inside": 3}, {"deep": 4}, {"constant": 2}, {"size": 4}, {"constant": 1.0}]
)
def test_whatever_decides_the_rules_decides_the_digest(write, change):
    assert write().digest != write(**change).digest


def test_a_helper_in_another_module_counts(write, tmp_path):
    digests = set()
    for body in ("return x", "return x + 1"):
        (tmp_path / "far_helper.py").write_text(f"import treetop\n@treetop.compiled\ndef far(x):\n    {body}\n")
        for name in [name for name in sys.modules if name == "far_helper"]:
            del sys.modules[name]
        importlib.invalidate_caches()
        digests.add(write(imports="import far_helper", call="far_helper.far(1)").digest)
        del sys.modules["far_helper"]
        digests.add(write(imports="from far_helper import far", call="far(1)").digest)
        del sys.modules["far_helper"]
    assert len(digests) == 4


def test_what_cannot_be_followed_is_refused_with_its_place(write):
    for imports, call, what in (
        ("CONFIG = {'a': 1}", "CONFIG['a']", "'CONFIG'.*a dict"),
        ("LIST = [1, 2]", "LIST[0]", "'LIST'.*a list"),
        ("class Thing: pass", "len(Thing)", "class Thing"),
        ("import xml", "id(xml)", "is a module; use a function"),
    ):
        with pytest.raises(tt.errors.GameDefinitionError, match=what):
            _ = write(imports=imports, call=call).digest


def test_arrays_scalars_enums_and_tuples_are_read_by_value(write):
    pairs = [
        ("A = np.arange(3)", "A = np.arange(3, dtype='i4')", "A[0]"),
        ("A = (1, (2, 3))", "A = (1, (2, 4))", "A[0]"),
        ("A = np.uint64(1)", "A = np.int64(1)", "A"),
        ("import enum\nclass E(enum.IntEnum):\n    X = 1", "import enum\nclass E(enum.IntEnum):\n    X = 2", "E.X"),
        ("A = float('nan')", "A = float('inf')", "A"),
    ]
    for one, other, call in pairs:
        assert write(imports=one, call=call).digest != write(imports=other, call=call).digest
        assert write(imports=one, call=call).digest == write(imports=one, call=call).digest


@pytest.mark.parametrize("text", [
    "@treetop.compiled\ndef loop(x):\n    return loop(x - 1) if x > 0 else 0",
    "@treetop.compiled\ndef loop(x):\n    return other(x)\n@treetop.compiled\ndef other(x):\n    return loop(x)",
])  # fmt: skip
def test_recursion_is_refused_because_its_depth_has_no_bound_in_compiled_code(write, text):
    with pytest.raises(tt.errors.GameDefinitionError, match=r"loop .*calls itself.*a loop"):
        _ = write(imports=text, call="loop(1)").digest


@pytest.mark.parametrize("decorator", ["njit", "vectorize", "jit(nopython=True)"])
def test_functions_of_numbas_own_are_refused_because_they_check_no_indices(write, decorator):
    text = f"import numba\n@numba.{decorator}\ndef raw(x):\n    return x + 1"
    with pytest.raises(tt.errors.GameDefinitionError, match="raw"):
        _ = write(imports=text, call="raw(1)").digest


def test_views_that_reach_beyond_their_array_are_refused(write):
    for call in ("np.lib.stride_tricks.as_strided(self.x)", "strided(self.x)"):
        with pytest.raises(tt.errors.GameDefinitionError, match="as_strided"):
            _ = write(imports="from numpy.lib.stride_tricks import as_strided as strided", call=call).digest


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("", "np.random.randint(2)"),
        ("from numpy.random import randint", "randint(2)"),
        ("import random", "random.random()"),
        ("import random", "random.randint(0, 1)"),
        ("from random import random", "random()"),
        ("generator = np.random.default_rng(1)", "generator.random()"),
    ],
)
def test_random_numbers_that_no_seed_of_the_search_determines_are_refused(write, imports, call):
    with pytest.raises(
        tt.errors.GameDefinitionError,
        match=r"digest_game_\d+.py, line 35: no seed .*random.*; random numbers come from `rng`",
    ):
        _ = write(imports=imports, call=call).digest


def test_digests_follow_numpy_arrays_that_change_in_place():
    table = np.zeros(4)

    @tt.compiled
    def read(i):
        return table[i]

    from treetop.compiler.digest import digest

    before = digest({"f": read.function}, {})
    table[2] = 1
    assert digest({"f": read.function}, {}) != before


@pytest.fixture
def computed(monkeypatch):
    """The number of digests of games that were computed."""
    from treetop.game import definition

    calls = []
    monkeypatch.setattr(
        definition, "watched_digest", lambda *args, real=definition.watched_digest: calls.append(args) or real(*args)
    )
    return calls


def test_a_digest_is_computed_once_while_nothing_changes(write, computed):
    game = write()
    assert len({game.digest for _ in range(5)}) == 1
    assert len(computed) == 1


def _replace_code(module, game):
    module.inner.function.__code__ = (lambda x: x * 7).__code__


def _replace_defaults(module, game):
    module.inner.function.__defaults__ = (1,)


def _replace_closure(module, game):
    game.functions["reset"].__closure__[0].cell_contents = 17


CHANGES = {
    "a constant of the module": lambda module, game: setattr(module, "LIMIT", 6),
    "an array in place": lambda module, game: module.TABLE.__setitem__(0, 5),
    "another array": lambda module, game: setattr(module, "TABLE", np.array([7, 2, 3])),
    "a helper": lambda module, game: setattr(module, "helper", module.inner),
    "a helper of a helper": lambda module, game: setattr(module, "inner", tt.compiled(lambda x: x - 1)),
    "the code of a helper": _replace_code,
    "the defaults of a helper": _replace_defaults,
    "a closure variable": _replace_closure,
    "a constant of the class": lambda module, game: setattr(game.cls, "SHARE", 8),
    "a new constant of the class": lambda module, game: setattr(game.cls, "MORE", 8),
    "a name that hides a builtin": lambda module, game: setattr(module, "abs", tt.compiled(lambda x: x)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_after_the_digest_was_computed_is_noticed(write, computed, change):
    game = write(call="abs(0)")
    before = game.digest
    CHANGES[change](sys.modules[game.cls.__module__], game)
    assert game.digest != before
    assert len(computed) == 2


def long_function() -> object:
    """Return names whose indices need more than one byte."""
    source = "\n".join(f"    x{n} = np.name{n}.part{n}" for n in range(400))
    names: dict[str, object] = {}
    exec(f"def function():\n{source}\n    return math.floor(x0) + len(str)\n", names)
    return names["function"]


@pytest.mark.parametrize("function", [long_function(), inspect.getsource, dis.get_instructions, json.dumps])
def test_references_are_those_that_the_disassembler_shows(function):
    expected, current = [], []
    for instruction in dis.get_instructions(function):
        if instruction.opname == "EXTENDED_ARG":
            continue
        if current and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            current.append(instruction.argval)
            continue
        if current:
            expected.append(current)
        loads = instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        current = [instruction.positions.lineno, instruction.argval] if loads else []
    seen = [[reference.line, reference.name, *reference.attributes] for reference in _references(function.__code__)]
    assert seen == expected
