"""Kernels specialised for a game: compiled once, saved on disk, loaded by the next process.

A kernel is a compiled function whose first argument is a game. `Engine` creates one entry point for each kernel;
nothing is compiled, and Numba is not imported, before an entry point is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from treetop.compiler.blueprint import Blueprint
from treetop.compiler.cache import KernelCache, build_digest
from treetop.compiler.digest import digest
from treetop.compiler.functions import CompiledFunction, jit, named_by
from treetop.compiler.preparing import announced, preparing_kernel
from treetop.errors import MethodError, TreetopError

Signatures = Mapping[str, Callable[[Any], tuple[Any, ...]]]
"""For each method, a function of the module `numba.types` that returns the argument types after `self`."""


class Engine:
    """All compiled code of one game."""

    def __init__(self, blueprint: Blueprint, signatures: Signatures) -> None:
        self.blueprint = blueprint
        self._signatures = signatures
        self._entries: dict[CompiledFunction[..., Any], Entry] = {}

    def entry(self, kernel: CompiledFunction[..., Any]) -> Entry:
        """Return the entry point of a kernel that is specialised for this game."""
        if kernel not in self._entries:
            self._entries[kernel] = Entry(self, kernel)
        return self._entries[kernel]

    @property
    def unkept(self) -> str | None:
        """Why code of this game that was compiled in this process is not in the cache; None if all of it is."""
        return next((entry.unkept for entry in self._entries.values() if entry.unkept is not None), None)

    def compile_methods(self) -> None:
        """Compile each method alone, so that an error shows the line of the user's code, not of a kernel."""
        from treetop.compiler.diagnosis import compile_method, refuse_differences
        from treetop.compiler.lowering import recording_helpers

        with recording_helpers() as helpers:
            for name, arguments in self._signatures.items():
                if name in self.blueprint.functions:
                    compile_method(self.blueprint, name, arguments)
        for name, dispatcher in (*self.blueprint.dispatchers.items(), *helpers.values()):
            for result in dispatcher.overloads.values():
                refuse_differences(self.blueprint, name, result)


class Entry:
    """One kernel for one game; call it like a function, without the game."""

    def __init__(self, engine: Engine, kernel: CompiledFunction[..., Any]) -> None:
        self._engine = engine
        self._kernel = kernel
        self._dispatcher: Any = None
        self._game: Any = None
        self.from_cache = False
        """Whether the code came from an earlier process."""
        self.unkept: str | None = None
        """Why the code is not in the cache; None if it is, or if there is no code yet."""

    @property
    def is_ready(self) -> bool:
        """Whether the code is compiled or loaded."""
        return self._dispatcher is not None

    def __call__(self, *args: Any) -> Any:
        """Run the kernel; the first call compiles it, or loads it from the cache."""
        if self._dispatcher is None:
            with preparing_kernel():
                self._prepare(args)
        try:
            return self._dispatcher(self._game, *args)
        except TreetopError:
            raise
        except Exception as error:
            raise MethodError(
                f"a method of {self._engine.blueprint.name} failed: {type(error).__name__}: {error}"
            ) from error

    def _prepare(self, args: tuple[Any, ...]) -> None:
        from numba import typeof
        from numba.core.compiler_lock import global_compiler_lock

        from treetop.compiler import lowering
        from treetop.compiler.libraries import deferring_machine_code

        blueprint, kernel = self._engine.blueprint, self._kernel.function
        lowering.register(blueprint)
        game = lowering.GameValue(blueprint)
        content = digest({"kernel": kernel}, {})
        # Each game has its own dispatcher: a shared one would look up the types of all games at each call.
        dispatcher = jit(named_by(kernel, content[:16]), bounds_checked=False, python_errors=False, entry=True)
        signature = tuple(typeof(value) for value in (game, *args))
        build = build_digest(blueprint.digest, content, bounds_checked=blueprint.bounds_checked)
        cache = KernelCache(blueprint.name, build, f"{kernel.__module__}.{kernel.__name__}", repr(signature))
        found = cache.load(dispatcher.targetctx)
        if found is None:
            with announced(f"{blueprint.name} ({kernel.__name__})", cache.note), cache.lock():
                found = cache.load(dispatcher.targetctx)  # another process may have compiled it meanwhile
                if found is None:
                    with (
                        global_compiler_lock,
                        lowering.bounds_checks(blueprint.bounds_checked),
                        deferring_machine_code(dispatcher.targetctx),
                    ):
                        self._engine.compile_methods()
                        dispatcher.compile(signature)
                    self.unkept = cache.save(dispatcher.overloads[signature])
        if found is not None:
            self.from_cache = True
            dispatcher.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
            dispatcher.add_overload(found)
        dispatcher.disable_compile()  # a call with other types is an error of Treetop and must not compile
        self._game, self._dispatcher = game, dispatcher
