"""Compiled kernels of a game: compiled once, saved on disk, loaded by the next process.

A kernel is a compiled function whose first argument is a game. It comes in two tiers. *Indirect*: one kernel for all
games, which calls a game's methods through addresses; only the methods are compiled for a game, which takes seconds.
*Direct*: a kernel specialised for one game, which is faster and takes longer to compile. A new game starts on the
indirect tier; the direct one is compiled in the background and used from the first call after it is ready. Both have
one source and equal results. See docs/compiled-games.md.

Nothing is compiled, and Numba is not imported, before an entry point is called.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from treetop import checks
from treetop.compiler.background import BackgroundCompiler
from treetop.compiler.blueprint import Blueprint
from treetop.compiler.cache import KernelCache, build_digest
from treetop.compiler.digest import digest
from treetop.compiler.functions import CompiledFunction, jit, named_by
from treetop.compiler.labels import label
from treetop.compiler.preparing import Pulse, announced, preparing_kernel
from treetop.errors import CompileError, MethodError, TreetopError

Signatures = Mapping[str, Callable[[Any], tuple[Any, ...]]]
"""For each method, a function of the module `numba.types` that returns the argument types after `self`."""

TIER = "TREETOP_TIER"
"""The environment variable with the tier of all games: auto (the default), indirect or direct."""
TIERS = ("auto", "indirect", "direct")
_ANY_GAME = "any game"
_LOOK_SECONDS = 0.05  # between two looks at the background


def tier_of_process() -> str:
    """Return the tier that the environment variable `TREETOP_TIER` selects."""
    return checks.one_of(TIER, os.environ.get(TIER) or "auto", TIERS)


class Engine:
    """All compiled code of one game.

    `checked` is the engine of the same game with index checks, whose methods the indirect tier calls; None: this one.
    An engine without `signatures` has no methods to call, so its kernels are always direct.
    """

    def __init__(
        self, blueprint: Blueprint, signatures: Signatures, checked: Engine | None = None, tier: str | None = None
    ) -> None:
        self.blueprint = blueprint
        self._tier = tier
        self._signatures = signatures
        self._checked = checked or self
        self._entries: dict[CompiledFunction[..., Any], Entry] = {}
        self._any_game: Any = None
        self._table_code: Code | None = None
        self._content = self._current_content()

    def entry(self, kernel: CompiledFunction[..., Any]) -> Entry:
        """Return the entry point of a kernel for this game."""
        if kernel not in self._entries:
            self._entries[kernel] = Entry(self, kernel)
        return self._entries[kernel]

    @property
    def tier(self) -> str:
        """The tier of its kernels: auto, indirect or direct."""
        return self._tier or tier_of_process()

    @property
    def has_tiers(self) -> bool:
        """Whether kernels can call the methods of this game through addresses."""
        return bool(self._signatures)

    @property
    def unkept(self) -> str | None:
        """Why code of this game that was compiled in this process is not in the cache; None if all of it is."""
        return next((entry.unkept for entry in self._entries.values() if entry.unkept is not None), None)

    @property
    def table_code(self) -> Code | None:
        """The code that wrote the table of this game's methods; None before the indirect tier was used."""
        return self._checked._table_code

    def _current_content(self) -> str:
        """Return a digest of the methods as they are now: a global that they use may be replaced at any time."""
        constants = {f"constant {name}": value for name, value in self.blueprint.constants.items()}
        return digest(self.blueprint.functions, constants)

    def refuse_changed_rules(self) -> None:
        """Raise if the rules have changed: their code would be saved under the digest of the old ones."""
        if self._current_content() != self._content:
            raise CompileError(
                f"the rules of {self.blueprint.name} have changed since this search was created (a global or a helper "
                "that they use was replaced): create a new one"
            )

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

    def direct_code(self, kernel: CompiledFunction[..., Any], args: tuple[Any, ...]) -> Code:
        """Return the code of a kernel that is specialised for this game, not yet loaded."""
        from treetop.compiler import lowering

        lowering.register(self.blueprint)
        return Code(self.blueprint.name, self.blueprint.digest, kernel, lowering.GameValue(self.blueprint), args, self)

    def indirect_code(self, kernel: CompiledFunction[..., Any], args: tuple[Any, ...]) -> Code:
        """Return the code of a kernel for any game, not yet loaded. The methods of this game are ready after this."""
        return Code(_ANY_GAME, _ANY_GAME, kernel, self._checked.any_game(), args, None)

    def any_game(self) -> Any:
        """Return this game as an argument of kernels for any game; compile its methods, or load them from the cache."""
        from treetop.compiler import indirect

        if self._any_game is None:
            table = np.zeros(indirect.TABLE_LENGTH, np.uint64)
            table[0] = self.blueprint.dtype.itemsize
            code = self.direct_code(indirect.write_table, (table,))
            code.prepare()
            code(table)
            self._table_code = code
            self._any_game = indirect.AnyGame(table, code)
        return self._any_game

    def as_bytes(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return arguments for kernels for any game: arrays of states become arrays of bytes."""
        dtype = self.blueprint.dtype
        return tuple(
            value.view(np.uint8).reshape(len(value), dtype.itemsize)
            if isinstance(value, np.ndarray) and value.dtype == dtype
            else value
            for value in args
        )


class Code:
    """One kernel for one type of game: its file in the cache, and its machine code once it is prepared."""

    def __init__(
        self, name: str, rules: str, kernel: CompiledFunction[..., Any], game: Any, args: tuple[Any, ...],
        engine: Engine | None,
    ) -> None:  # fmt: skip
        from numba import typeof

        self._game, self._engine = game, engine
        self._label = label(kernel, name if engine is not None and engine.has_tiers else None)
        content = digest({"kernel": kernel.function}, {})
        # Each game has its own dispatcher: a shared one would look up the types of all games at each call.
        self._dispatcher = jit(
            named_by(kernel.function, content[:16]), bounds_checked=False, python_errors=False, entry=True
        )
        self._signature = tuple(typeof(value) for value in (game, *args))
        self._bounds_checked = engine is not None and engine.blueprint.bounds_checked
        build = build_digest(rules, content, bounds_checked=self._bounds_checked)
        self._identity = (build, self._signature)
        module = f"{kernel.function.__module__}.{kernel.function.__name__}"
        self._cache = KernelCache(name, build, module, repr(self._signature))
        self.from_cache = False
        """Whether the code came from an earlier process."""
        self.unkept: str | None = None
        """Why the code is not in the cache; None if it is."""
        self._is_prepared = False
        self._result: Any = None
        self._function: Any = None

    @property
    def is_direct(self) -> bool:
        """Whether the code is specialised for a game."""
        return self._engine is not None

    @property
    def can_be_kept(self) -> bool:
        """Whether the cache can be written."""
        return self._cache.is_writable

    def is_being_compiled(self) -> bool:
        """Return whether another process is compiling this code."""
        return self._cache.is_locked()

    def load(self) -> bool:
        """Load the code from the cache; return whether it was there."""
        from numba.core.compiler_lock import global_compiler_lock

        with global_compiler_lock:
            found = self._cache.load(self._dispatcher.targetctx)
            if found is None:
                return False
            self._use(found)
            self.from_cache = True
        return True

    def prepare(self) -> None:
        """Load the code from the cache, or compile and save it. A kernel for any game is loaded once a process."""
        known = None if self.is_direct else _loops.setdefault(self._identity, self)
        if known is not None and known is not self and known._is_prepared:
            self._result, self._function, self._is_prepared = known._result, known._function, True
            self.from_cache, self.unkept = known.from_cache, known.unkept
            return
        if not self.load():
            with announced(self._label, self._cache.note), self._cache.lock():
                if not self.load():  # another process may have compiled it meanwhile
                    self._compile()
        self._is_prepared = True

    def _compile(self) -> None:
        from numba.core.compiler_lock import global_compiler_lock

        from treetop.compiler import lowering
        from treetop.compiler.libraries import deferring_machine_code

        with (
            global_compiler_lock,
            lowering.bounds_checks(self._bounds_checked),
            deferring_machine_code(self._dispatcher.targetctx),
        ):
            if self._engine is not None:
                self._engine.refuse_changed_rules()
                self._engine.compile_methods()
            self._dispatcher.compile(self._signature)
        self._use(self._dispatcher.overloads[self._signature])
        self.unkept = self._cache.save(self._result)

    def _use(self, result: Any) -> None:
        """Call this compiled function without a dispatcher: there is one signature, and Treetop makes all calls."""
        self._result, self._function = result, result.entry_point  # the result owns the machine code

    def __call__(self, *args: Any) -> Any:
        """Run the kernel."""
        return self._function(self._game, *args)


_loops: dict[tuple[str, tuple[Any, ...]], Code] = {}
"""The code of kernels for any game, by their build digests and signatures."""


class Entry:
    """One kernel for one game; call it like a function, without the game."""

    def __init__(self, engine: Engine, kernel: CompiledFunction[..., Any]) -> None:
        self._engine = engine
        self._kernel = kernel
        self._code: Code | None = None
        self._awaited: Code | None = None  # the direct code, while it is compiled in the background
        self._looks = Pulse(_LOOK_SECONDS)  # short calls must not pay for looks at the background

    @property
    def is_ready(self) -> bool:
        """Whether the code is compiled or loaded."""
        return self._code is not None

    @property
    def is_direct(self) -> bool:
        """Whether the code is specialised for this game."""
        return self._code is not None and self._code.is_direct

    @property
    def from_cache(self) -> bool:
        """Whether all of the code came from an earlier process."""
        return self._code is not None and all(code.from_cache for code in self._codes())

    @property
    def unkept(self) -> str | None:
        """Why the code is not in the cache; None if it is, or if there is no code yet."""
        return next((code.unkept for code in self._codes() if code.unkept is not None), None)

    def _codes(self) -> list[Code]:
        """Return the code in use: on the indirect tier with that of the methods."""
        return [code for code in (self._code, None if self.is_direct else self._engine.table_code) if code is not None]

    def __call__(self, *args: Any) -> Any:
        """Run the kernel; the first call compiles it, or loads it from the cache."""
        code, awaited = self._code, self._awaited  # read once: another thread may replace them
        if code is None:
            code = self.prepare(*args)
        elif awaited is not None and self._looks.due() and BackgroundCompiler.is_done(awaited):
            with preparing_kernel():
                code = self._take_over(awaited) or code
        try:
            return code(*(args if code.is_direct else self._engine.as_bytes(args)))
        except TreetopError:
            raise
        except Exception as error:
            raise MethodError(
                f"a method of {self._engine.blueprint.name} failed: {type(error).__name__}: {error}"
            ) from error

    def prepare(self, *args: Any) -> Code:
        """Compile the kernel for arguments of these types, or load it from the cache; nothing is run."""
        if self._code is None:
            with preparing_kernel():
                return self._prepare(args)
        return self._code

    def _prepare(self, args: tuple[Any, ...]) -> Code:
        """Compile or load the code for the tier of the engine; with auto, start compiling direct code."""
        engine = self._engine
        tier = engine.tier if engine.has_tiers else "direct"
        direct = engine.direct_code(self._kernel, args)
        if tier == "direct":
            direct.prepare()
        if tier == "direct" or (tier == "auto" and direct.load()):
            self._code = direct
            return direct
        indirect = engine.indirect_code(self._kernel, engine.as_bytes(args))
        indirect.prepare()
        self._code = indirect
        # Code that cannot be kept would be compiled for nothing: it is passed through the cache.
        if tier == "auto" and self.unkept is None and direct.can_be_kept and BackgroundCompiler.start(direct):
            self._awaited = direct
        return indirect

    def _take_over(self, direct: Code) -> Code | None:
        """Use the direct code, if the background has compiled it."""
        self._awaited = None
        if not direct.load():
            return None
        self._code = direct
        return direct
