"""Plain words for what is compiled, for the notices while it is."""

from __future__ import annotations

from treetop.compiler.functions import CompiledFunction

_KERNELS = {
    "write_table": "the rules",
    "run": "the search loop",
    "run_shared": "the search loop for threads",
    "run_rounds": "the search loop for deterministic threads",
    "gather": "the search loop for batches",
    "absorb": "the backup of batches",
    "exchange": "the search loop for Python problems",
    "advance": "tree reuse",
    "probe": "the check of the rules",
    "prove": "the exact solver",
}


def label(kernel: CompiledFunction[..., object], game: str | None) -> str:
    """Return what a kernel is in plain words, for one game or, without a game, for all.

    >>> def run(): ...
    >>> label(CompiledFunction(run, about="the solver"), None)
    'the search loop with the solver, for all games'
    >>> label(CompiledFunction(run), "nim")
    'the search loop, for nim'
    """
    name = kernel.function.__name__
    what = _KERNELS.get(name, f"a part of the search ({name})")
    with_parts = f" with {kernel.about}" if kernel.about else ""
    whom = ("for all of them" if name == "exchange" else "for all games") if game is None else f"for {game}"
    return f"{what}{with_parts}, {whom}"
