"""Optimise and emit only functions that Python calls.

Numba optimises each compiled function and immediately emits machine code for it. A kernel calls about a hundred
functions, and each of them contains the code of all that it calls; but only the kernel is called from Python, with
everything else linked into it. Machine code for the other functions would never run, and they are optimised again as
parts of the kernel. Leaving both out saves a third of the time to compile a kernel.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.codegen import JITCodeLibrary


class DeferredLibrary(JITCodeLibrary):
    """A library of compiled functions that emits machine code when the address of one of them is needed."""

    _emitted = False

    def _optimize_final_module(self) -> None:
        """Do nothing yet: see `get_pointer_to_function`."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function of this library, or 0 if there is none with that name."""
        self._ensure_finalized()
        try:
            self._final_module.get_function(name)
        except NameError:
            return 0
        if not self._emitted:
            self._emitted = True
            super()._optimize_final_module()
            # Numba's hook that keeps the object code for the cache finds the library under this name.
            self._final_module._CPUCodeLibrary__library = weakref.proxy(self)
            self._codegen._add_module(self._final_module)
            self._finalize_specific()
        address: int = self._codegen._engine.get_function_address(name)
        return address


_environments: dict[str, Any] = {}
"""What compiled functions need of the interpreter, by the names of their symbols."""


@contextmanager
def deferring_machine_code(target_context: Any) -> Iterator[None]:
    """Compile with deferred libraries inside the block. The caller holds Numba's compiler lock.

    A function without its environment fails while it raises an error with values of the game, and while it prints it
    keeps the interpreter's lock for ever. So the environments of all functions that were emitted are set at the end.
    """
    codegen = target_context.codegen()
    set_environment = codegen.set_env
    codegen._library_class, codegen.set_env = DeferredLibrary, _environments.__setitem__
    try:
        yield
    finally:
        del codegen._library_class, codegen.set_env
    for name, environment in _environments.items():
        if codegen._engine.is_symbol_defined(name):
            set_environment(name, environment)
