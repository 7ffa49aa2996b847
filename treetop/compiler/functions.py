"""Functions that run as plain Python when called from Python, and as machine code when called from compiled code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

P = ParamSpec("P")
R = TypeVar("R")


class CompiledFunction(Generic[P, R]):
    """The object that `@treetop.compiled` returns. Numba is not imported before `dispatcher` is called."""

    def __init__(
        self, function: Callable[P, R], *, python_errors: bool = True, inline: bool = False, about: str = ""
    ) -> None:
        self.function = cast(FunctionType, function)
        self.about = about
        """What a factory has made it with, in plain words."""
        self.python_errors = python_errors
        self.inline = inline
        self._dispatchers: dict[tuple[str, bool], Any] = {}
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the plain function."""
        return cast(R, self.function(*args, **kwargs))

    def dispatcher(self, digest: str, *, bounds_checked: bool) -> Any:
        """Return the Numba dispatcher of this function for a digest, created on first use."""
        key = (digest, bounds_checked)
        if key not in self._dispatchers:
            self._dispatchers[key] = jit(
                named_by(self.function, f"{digest[:16]}{'_checked' if bounds_checked else ''}"),
                bounds_checked=bounds_checked,
                python_errors=self.python_errors,
                inline=self.inline,
            )
        return self._dispatchers[key]

    def __repr__(self) -> str:
        return f"<compiled function {self.function.__module__}.{self.function.__qualname__}>"


@overload
def compiled(function: Callable[P, R], /) -> CompiledFunction[P, R]: ...
@overload
def compiled(
    *, python_errors: bool = True, inline: bool = False
) -> Callable[[Callable[P, R]], CompiledFunction[P, R]]: ...


def compiled(function: Any = None, /, *, python_errors: bool = True, inline: bool = False) -> Any:
    """Return a helper function that a game's compiled methods can call.

    Called from plain Python it runs as plain Python. With `python_errors=False` a division by zero gives an infinity
    instead of an exception, and the function may not create arrays; that is faster. `inline` inlines it into its
    caller: a call between compiled functions takes about ten nanoseconds, which matters only in inner loops.

    >>> @compiled
    ... def double(x):
    ...     return 2 * x
    >>> double(4)
    8
    """
    if function is None:
        return lambda f: CompiledFunction(f, python_errors=python_errors, inline=inline)
    return CompiledFunction(function, python_errors=python_errors, inline=inline)


def kernel(function: Callable[P, R]) -> CompiledFunction[P, R]:
    """Return a function of the search loop, in which a division by zero gives an infinity."""
    return CompiledFunction(function, python_errors=False)


def loop_of(about: str) -> Callable[[Callable[P, R]], CompiledFunction[P, R]]:
    """Return a decorator like `kernel` for a loop that a factory makes; `about` says with which parts."""
    return lambda function: CompiledFunction(function, python_errors=False, about=about)


def inline_kernel(function: Callable[P, R]) -> CompiledFunction[P, R]:
    """Return a function of the search loop that is inlined into its caller."""
    return CompiledFunction(function, python_errors=False, inline=True)


def named_by(function: FunctionType, digest: str) -> FunctionType:
    """Return the same function with a digest in its name, which makes the name unique.

    A factory creates many functions with one name. Numba distinguishes them by a counter that starts at 0 in each
    process, so the cached code of two processes may have the same symbol, and a third process would confuse them.
    """
    renamed = FunctionType(
        function.__code__,
        function.__globals__,
        f"{function.__name__}_{digest}",
        function.__defaults__,
        function.__closure__,
    )
    renamed.__qualname__ = f"{function.__qualname__}_{digest}"
    renamed.__module__ = function.__module__
    return renamed


def jit(
    function: FunctionType, *, bounds_checked: bool, python_errors: bool, inline: bool = False, entry: bool = False
) -> Any:
    """Return Numba's dispatcher for `function`, with Treetop's options. `fastmath` is off: it changes results.

    Only an `entry` can be called from Python; the wrapper would double the compile time of the others. A kernel (a
    function without Python's errors) allocates nothing, so it is compiled without reference counts, which would slow
    its loops.
    """
    from numba import njit

    error_model = "python" if python_errors else "numpy"
    inner = not entry
    return njit(
        nogil=True, boundscheck=bounds_checked, error_model=error_model, forceinline=inline,
        no_cpython_wrapper=inner, no_cfunc_wrapper=inner, _nrt=python_errors,
    )(function)  # fmt: skip
