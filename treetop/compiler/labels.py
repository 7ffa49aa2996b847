"""Plain words for what is compiled, for the notices while it is."""

from __future__ import annotations

from treetop.compiler.functions import CompiledFunction

_KERNELS = {
    "write_table": "the rules",
    "run": "the search loop",
    "gather": "the search loop for batches",
    "absorb": "the backup of batches",
    "exchange": "the search loop for Python problems",
    "advance": "tree reuse",
    "probe": "the check of the rules",
    "prove": "the exact solver",
}
_GAME_LOOPS = ("run", "gather", "absorb")
_PARTS = {
    "sets": "information sets",
    "stochastic": "chance and immediate rewards",
    "full": "every option",
    "graph": "transpositions",
    "amaf": "AMAF statistics",
    "solver": "the solver",
    "in_flight": "evaluations in flight",
}
_INCLUDED = {
    "sets": ("stochastic",),
    "stochastic": ("graph", "amaf", "solver"),
    "full": ("graph", "amaf", "solver"),
    "graph": ("solver",),
    "amaf": ("solver",),
}
"""The parts that are not named beside one that is."""


def label(kernel: CompiledFunction[..., object], game: str | None) -> str:
    """Return what a kernel is in plain words, for one game or, without a game, for all.

    >>> def make(solver):
    ...     def run():
    ...         return solver
    ...     return CompiledFunction(run)
    >>> label(make(solver=True), None)
    'the search loop with the solver, for all games'
    >>> label(make(solver=False), "nim")
    'the search loop, for nim'
    """
    name = kernel.function.__name__
    what = _KERNELS.get(name, f"a part of the search ({name})")
    flags = _flags(kernel)
    parts = ("full", "in_flight") if name == "exchange" else tuple(_PARTS)[:-1] if name in _GAME_LOOPS else ()
    found = [part for part in parts if flags.get(part)]
    named = [_PARTS[part] for part in found if not any(part in _INCLUDED.get(other, ()) for other in found)]
    with_parts = f" with {', '.join(named)}" if named else ""
    whom = ("for all of them" if name == "exchange" else "for all games") if game is None else f"for {game}"
    return f"{what}{with_parts}, {whom}"


def _flags(kernel: CompiledFunction[..., object]) -> dict[str, bool]:
    """Return the parts that a loop was made with: the flags in its closure and in those of the functions it calls."""
    found: dict[str, bool] = {}
    waiting, seen = [kernel], {id(kernel)}
    for each in waiting:  # it grows while it is read
        function = each.function
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            value = cell.cell_contents
            if isinstance(value, bool) and name in _PARTS:
                found.setdefault(name, value)
            elif isinstance(value, CompiledFunction) and id(value) not in seen:
                seen.add(id(value))
                waiting.append(value)
    return found
