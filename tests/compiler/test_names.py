"""Two functions of one name, compiled in two processes, must not be taken for each other in a third."""

from __future__ import annotations

import os
import subprocess
import sys

_ONE = """
import sys, treetop as tt
search = tt.Search("nim(stones=9)", eval(sys.argv[1], vars(tt)), seed=1)
search.run(tt.Limit(simulations=200))
print(sorted(search.result().visits.items()))
"""
_BOTH = """
import sys, treetop as tt
for text in sys.argv[1:]:
    search = tt.Search("nim(stones=9)", eval(text, vars(tt)), seed=1)
    search.run(tt.Limit(simulations=200))
    assert search._driver.from_cache
    print(sorted(search.result().visits.items()))
"""


def run(code, *args, cache):
    ran = subprocess.run(
        [sys.executable, "-c", code, *args],
        env={**os.environ, "TREETOP_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_builds_of_the_loop_that_two_processes_compiled_live_side_by_side_in_a_third(tmp_path):
    texts = ["uct()", "uct(solver=True)"]
    apart = [run(_ONE, text, cache=tmp_path)[0] for text in texts]
    assert run(_BOTH, *texts, cache=tmp_path) == apart
    assert run(_BOTH, *reversed(texts), cache=tmp_path) == apart[::-1]
