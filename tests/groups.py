"""Which test files run in one process, and in which order.

Compiling takes most of the time of the suite. The first kernel that a process compiles for a build of the search loop costs two or three
times as much as the next one, because the parts that do not depend on the game are compiled then. So files that compile the same builds form
a group, which one worker runs; the groups come first, and each other file is a group of its own.
"""

from __future__ import annotations

from fnmatch import fnmatch

GROUPS = {
    "builds": (
        "against_reference/test_[!civ]*",
        "against_reference/test_values*",
        "search/test_bad_options*",
        "search/test_batching*",
        "search/test_root_options*",
        "claims/test_graph*",
        "claims/test_solver*",
    ),
    "chance": (
        "against_reference/test_chance*",
        "search/test_chance*",
        "search/test_explain*",
        "search/test_capacity*",
    ),
    "information sets": (
        "against_reference/test_information_sets*",
        "search/test_determinizations*",
        "search/test_information_set*",
        "*/test_kinds*",
        "oracle/test_equilibrium*",
    ),
    "rules of games": ("conformance/*", "games/*", "show/test_every_game*"),
    "python problems": ("search/test_problems*", "search/test_failed_proofs*", "examples/*"),
}
"""Patterns of files below tests/, for each group. The longest group comes first."""
LATE = "golden/test_trees*"
"""Files that find their kernels in the cache after all others have run."""


def group_of(test: str) -> str:
    """Return the name of the group of a test, such as "tests/search/test_clock.py::test_a_limit"."""
    file = _file_of(test)
    return next(
        (name for name, patterns in GROUPS.items() if any(fnmatch(file, pattern) for pattern in patterns)), file
    )


def order_of(test: str) -> int:
    """Return the place of the group of a test: the named groups first, then other files, then late ones."""
    names, group = list(GROUPS), group_of(test)
    return names.index(group) if group in names else len(names) + fnmatch(_file_of(test), LATE)


def _file_of(test: str) -> str:
    """Return the path of a test's file below tests/."""
    return test.partition("::")[0].removeprefix("tests/")
