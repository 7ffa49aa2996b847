"""Two functions of one name, compiled in two processes, must not be taken for each other in a third."""

from __future__ import annotations

import os
import subprocess
import sys

_COUNT = """
import sys, treetop as tt
from tests.compiler.factories import make_count
game = tt.load_game("nim(stones=9)")
for weight in sys.argv[1:]:
    entry = game.engine().entry(make_count(int(weight)))
    print(entry(tt.Position(game).record.copy()), "cached" if entry.from_cache else "compiled")
"""


def counts(*weights, cache):
    ran = subprocess.run(
        [sys.executable, "-c", _COUNT, *map(str, weights)],
        env={**os.environ, "TREETOP_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_kernels_of_one_factory_that_two_processes_compiled_live_side_by_side_in_a_third(tmp_path):
    assert counts(1, cache=tmp_path) == ["9 compiled"]
    assert counts(5, cache=tmp_path) == ["45 compiled"]
    assert counts(1, 5, cache=tmp_path) == ["9 cached", "45 cached"]
    assert counts(5, 1, cache=tmp_path) == ["45 cached", "9 cached"]


_KEYS = """
import sys, treetop as tt
for name in sys.argv[1:]:
    game = tt.load_game(name)
    print(tt.states.keys(game, tt.position(game).record)[0])
"""


def keys(*names, cache):
    ran = subprocess.run(
        [sys.executable, "-c", _KEYS, *names],
        env={**os.environ, "TREETOP_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return [int(line) for line in ran.stdout.split()]


def test_methods_of_two_games_that_two_processes_compiled_live_side_by_side_in_a_third(tmp_path):
    assert keys("nim", cache=tmp_path) == [42]
    assert keys("nim_three", cache=tmp_path) == [39]
    assert keys("nim", "nim_three", cache=tmp_path) == [42, 39]
    assert keys("nim_three", "nim", cache=tmp_path) == [39, 42]
