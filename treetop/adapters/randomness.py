"""The random numbers of copies of an environment. They are the search's own, so that it cannot foresee the others."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from treetop.search.problems.failing import ProblemError

_WORD = (1 << 64) - 1
_TRIALS = 16  # guarded blocks after which the program's generators are left alone if none has drawn from them


class RandomStepError(ProblemError):
    """A step has drawn random numbers although all steps were taken to be deterministic: pass stochastic=True.

    >>> import gymnasium
    >>> from treetop.adapters import GymProblem
    >>> env = gymnasium.make("Blackjack-v1")
    >>> seen = env.reset(seed=1)
    >>> problem = GymProblem(env, stochastic=False)
    >>> problem.step(problem.initial(), 1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    treetop.adapters.randomness.RandomStepError: a step of Blackjack-v1 draws random numbers, ...: pass stochastic=True
    """


class OwnRandomness:
    """The random numbers of all copies: one generator of each kind, reseeded before every step."""

    def __init__(self, mend: str = "pass stochastic=True") -> None:
        self._mend = mend
        self.generator = np.random.Generator(np.random.PCG64(0))
        self._old = np.random.RandomState(0)
        self._plain = random.Random(0)
        self.has_other = False
        """Whether an environment uses more than the generator that Gymnasium gives it."""
        self.uses_program = False
        """Whether an environment may draw from the program's generators, which are then seeded and restored."""
        self._trials = _TRIALS
        self._seeded: object = None

    def stands_for(self, original: Any) -> Any:
        """Return the generator that replaces an environment's own."""
        if isinstance(original, np.random.Generator):
            return self.generator
        self.has_other = True
        return self._old if isinstance(original, np.random.RandomState) else self._plain

    @staticmethod
    def is_one(value: Any) -> bool:
        """Return whether an object draws random numbers."""
        return isinstance(value, (np.random.Generator, np.random.RandomState, random.Random))

    def seed(self, bits: int) -> None:
        """Reseed all generators."""
        word = bits & _WORD
        self.generator.bit_generator.state = {
            "bit_generator": "PCG64", "state": {"state": (word << 64) | (word ^ 0x5DEECE66D), "inc": (word << 1) | 1},
            "has_uint32": 0, "uinteger": 0,
        }  # fmt: skip
        if self.has_other:
            self._old.seed(word & 0xFFFFFFFF)
            self._plain.seed(word)
        if self.uses_program:
            Program.seed(word)
            self._seeded = Program().digest if self._trials else None

    def place(self) -> Any:
        """Return the states of all generators: equal states mean that nothing was drawn."""
        state = self.generator.bit_generator.state
        place = (state["state"]["state"], state["has_uint32"])
        if not self.has_other:
            return place
        old: Any = self._old.get_state()
        return (*place, old[1].tobytes(), old[2], self._plain.getstate())

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Restore the program's generators after a block that may draw from them.

        If the first blocks draw nothing from them, later ones leave them alone.
        """
        if not self.uses_program:
            yield
            return
        before = Program()
        try:
            yield
            if self._trials and Program().digest != self._seeded:
                self._trials = 0  # they are drawn from
            elif self._trials:
                self._trials -= 1
                self.uses_program = self._trials > 0
        finally:
            before.restore()

    @contextmanager
    def nothing_drawn(self, name: str, *, watched: bool = False) -> Iterator[None]:
        """Raise RandomStepError if a block draws random numbers.

        With `watched`, also from the program's generators, which are restored: that takes longer.
        """
        before, program = self.place(), Program() if watched else None
        drawn = False
        try:
            yield
        finally:
            if program is not None and Program().digest != program.digest:
                drawn = True
                program.restore()
        if drawn or self.place() != before:
            raise RandomStepError(f"a step of {name} draws random numbers, and none were expected: {self._mend}")

    def differing(self, name: str, one: object, other: object) -> RandomStepError:
        """Return the error for two results of the same step in the same state."""
        return RandomStepError(
            f"a step of {name} from the same state gave {one!r:.300} and then {other!r:.300}, and no chance was "
            f"expected: {self._mend}"
        )


class Program:
    """The states of the program's generators: Python's, NumPy's and, if it is imported, PyTorch's on the CPU."""

    def __init__(self) -> None:
        self._plain, self._old = random.getstate(), np.random.get_state()  # noqa: NPY002
        torch = _torch()
        self._torch = None if torch is None else torch.get_rng_state()

    @property
    def digest(self) -> object:
        """The same in a form that can be compared."""
        old: Any = self._old
        return self._plain, old[1].tobytes(), old[2], None if self._torch is None else bytes(self._torch.numpy())

    def restore(self) -> None:
        """Set the generators to these states."""
        random.setstate(self._plain)
        np.random.set_state(self._old)  # noqa: NPY002
        if self._torch is not None:
            _torch().set_rng_state(self._torch)

    @staticmethod
    def seed(word: int) -> None:
        """Seed the generators; the caller restores them."""
        random.seed(word)
        np.random.seed(word & 0xFFFFFFFF)  # noqa: NPY002
        torch = _torch()
        if torch is not None:
            torch.default_generator.manual_seed(word >> 1)


def _torch() -> Any:
    """Return PyTorch if the program has imported it."""
    return sys.modules.get("torch")
