"""Parts: what a search is composed of, each one file.

A part fills one slot of a `SearchConfig`: the selection rule, the backup, the root rule, and so on. Its class is a
frozen dataclass of options; beside it stand its compiled functions, its formula as text, the tree columns it needs and
what it can be combined with. Everything else is derived from that: the control record of the kernels, the flat options
of presets and of the command line, refusals and explanations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

from treetop import checks
from treetop.compiler.functions import CompiledFunction, inline_kernel

if TYPE_CHECKING:
    from treetop.game.definition import Game


TREES, SETS, DETERMINIZATIONS, PROBLEMS = "trees", "information sets", "determinizations", "problems"
"""The kinds of searches: on trees of positions, information sets, determinizations or Python problems."""
EVERY_KIND = frozenset({TREES, SETS, DETERMINIZATIONS, PROBLEMS})

Composition = Any
"""A `SearchConfig`, which stands above this package: each part judges whether it goes with the others."""


@dataclass(frozen=True)
class Option:
    """What is known of one option of a part: its range, its documentation, and where the kernels find it."""

    doc: str
    kind: str
    """number, share, whole, flag, choice or any."""
    bounds: Mapping[str, Any]
    """Arguments for the check of that kind: low, high, above."""
    choices: tuple[str, ...]
    """The words that are allowed instead of a number, or at all."""
    flat: str | None
    """Its name in presets, saves and on the command line; None: the name of the field."""
    dtype: str | None
    """Its type in the control record; None: the kernels do not read it."""

    def check(self, name: str, value: Any, *, optional: bool) -> None:
        """Raise a ConfigError for a value that is not allowed."""
        if (optional and value is None) or self.kind == "any" or (isinstance(value, str) and value in self.choices):
            return
        if self.kind == "choice" or (self.choices and isinstance(value, str)):
            checks.one_of(name, value, self.choices, more="" if self.kind == "choice" else "a number")
        elif self.kind == "flag":
            checks.flag(name, value, optional=optional)
        elif self.kind == "share":
            checks.share(name, value)
        elif self.kind == "whole":
            checks.whole(name, value, self.bounds.get("low"), checks.INT32_MAX)
        else:
            checks.number(name, value, **self.bounds)

    def number(self, value: Any) -> float:
        """Return a value as the control record holds it: words by their place, None as 0."""
        if isinstance(value, str):
            return self.choices.index(value)
        return 0 if value is None else float(value)


def number(
    default: Any,
    doc: str,
    *,
    choices: tuple[str, ...] = (),
    flat: str | None = None,
    kernel: bool = True,
    **bounds: Any,
) -> Any:
    """Declare an option that is a real number, or one of some words."""
    return _option(default, Option(doc, "number", bounds, choices, flat, "f8" if kernel else None))


def share(default: Any, doc: str, *, flat: str | None = None, kernel: bool = True) -> Any:
    """Declare an option that is a number from 0 to 1."""
    return _option(default, Option(doc, "share", {}, (), flat, "f8" if kernel else None))


def whole(default: Any, doc: str, *, low: int, flat: str | None = None, kernel: bool = True) -> Any:
    """Declare an option that is a whole number of at least `low`."""
    return _option(default, Option(doc, "whole", {"low": low}, (), flat, "i4" if kernel else None))


def flag(default: Any, doc: str, *, flat: str | None = None, kernel: bool = True) -> Any:
    """Declare an option that is true or false."""
    return _option(default, Option(doc, "flag", {}, (), flat, "i4" if kernel else None))


def choice(default: Any, doc: str, choices: tuple[str, ...], *, flat: str | None = None, kernel: bool = True) -> Any:
    """Declare an option that is one of some words. The kernels hold its place among them."""
    return _option(default, Option(doc, "choice", {}, choices, flat, "i4" if kernel else None))


def anything(default: Any, doc: str, *, flat: str | None = None) -> Any:
    """Declare an option that its part checks itself."""
    return _option(default, Option(doc, "any", {}, (), flat, None))


def _option(default: Any, option: Option) -> Any:
    return field(default=default, metadata={"option": option})


@dataclass(frozen=True, kw_only=True)
class Part:
    """A frozen set of options for one slot of a search, and what follows from it.

    >>> import treetop as tt
    >>> part = tt.rules.Puct(c=1.5)
    >>> isinstance(part, tt.rules.Part), part.slot, part.name, part.flat()
    (True, 'rule', 'puct', {'c': 1.5})
    """

    slot: ClassVar[str]
    """The field of `SearchConfig` that it fills."""
    name: ClassVar[str]
    """Its name in presets, specs, saves and on the command line."""
    label: ClassVar[str] = ""
    """The flat option by which a slot without a choice of parts is known; empty: the slot's own name."""
    works_with: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """For other slots the names of the parts that it can be combined with. A slot that is not named: all of them."""

    kinds: ClassVar[frozenset[str]] = EVERY_KIND
    """The kinds of searches that it can be part of."""

    def __post_init__(self) -> None:
        for one in fields(self):
            option: Option = one.metadata["option"]
            option.check(option.flat or one.name, getattr(self, one.name), optional=one.default is None)

    @classmethod
    def options(cls) -> dict[str, tuple[str, Option]]:
        """Return the options by their flat names: the field of each and what is known of it."""
        found: dict[str, Option] = {one.name: one.metadata["option"] for one in fields(cls)}
        return {option.flat or name: (name, option) for name, option in found.items()}

    def flat(self) -> dict[str, Any]:
        """Return the options that are not the defaults, by their flat names."""
        defaults = {one.name: one.default for one in fields(self)}
        named = {flat: name for flat, (name, _) in self.options().items()}
        return {flat: getattr(self, name) for flat, name in named.items() if getattr(self, name) != defaults[name]}

    def works_in(self, kind: str) -> bool:
        """Return whether it can be part of a kind of search."""
        return kind in self.kinds

    def builds(self) -> frozenset[str]:
        """Return what a build of the loop must have for this part: fields of `Build`."""
        return frozenset()

    def columns(self) -> frozenset[str]:
        """Return the optional columns of the tree that this part reads or writes."""
        return frozenset()

    def control(self) -> dict[str, float]:
        """Return the numbers that the kernels read."""
        return {
            flat: option.number(getattr(self, name))
            for flat, (name, option) in self.options().items()
            if option.dtype is not None
        }

    def refusals(self, config: Composition) -> Iterator[str]:
        """Give each reason why this part does not go with the others; by default what `works_with` says."""
        for slot, allowed in self.works_with.items():
            other = getattr(config, slot)
            if other.name not in allowed:
                option, names = other.label or slot, " or ".join(map(repr, allowed))
                yield f"{self.slot}={self.name!r} works with {option}={names}, not with {option}={other.name!r}"

    def refusals_by_game(self, game: Game) -> Iterator[str]:
        """Give each reason why this part does not go with a game."""
        return iter(())

    def __str__(self) -> str:
        return self.name


def code_of(part: Part, parts: tuple[type[Part], ...]) -> int:
    """Return the number by which the kernels know a part: its place in its registry."""
    return parts.index(type(part))


def control_fields(*registries: tuple[type[Part], ...]) -> list[tuple[str, str]]:
    """Return the fields of the control record that the options of some parts need.

    Parts of one slot may share a field.
    """
    found: dict[str, str] = {}
    for parts in registries:
        for part in parts:
            for flat, (_, option) in part.options().items():
                if option.dtype is not None:
                    found.setdefault(flat, option.dtype)
    return list(found.items())


def dispatch(slot: str, hooks: Sequence[CompiledFunction[..., Any] | None]) -> CompiledFunction[..., Any]:
    """Return a kernel that calls the function of the part whose number stands in a field of the control record.

    `hooks` are in the order of the registry. Parts without a function of their own are given None, and the last part
    that has one serves for them.
    """
    numbered = [(number, hook) for number, hook in enumerate(hooks) if hook is not None]
    chosen = numbered[-1][1]
    for number, hook in reversed(numbered[:-1]):
        chosen = _one_of_two(slot, number, hook, chosen)
    return chosen


def _one_of_two(
    slot: str, number: int, hook: CompiledFunction[..., Any], others: CompiledFunction[..., Any]
) -> CompiledFunction[..., Any]:
    @inline_kernel
    def choose(control: Any, *arguments: Any) -> Any:
        if control[slot] == number:
            return hook(control, *arguments)
        return others(control, *arguments)

    return choose
