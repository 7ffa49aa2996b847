"""The settings of a search: parts that are composed, and flat options, which name them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from treetop import checks
from treetop.errors import ConfigError
from treetop.kernels.backups import BACKUPS, Backup
from treetop.kernels.backups.mean import Mean
from treetop.kernels.chance import CHANCE_MODES, ChanceMode
from treetop.kernels.chance.sampled import Sampled
from treetop.kernels.information import INFORMATION, Information, InformationSets
from treetop.kernels.parts import Part
from treetop.kernels.roots import ROOTS, Root
from treetop.kernels.roots.by_rule import ByRule
from treetop.kernels.roots.gumbel import Gumbel
from treetop.kernels.rules import RULES, Rule
from treetop.kernels.rules.own import OwnRule
from treetop.kernels.rules.ucb1 import Ucb1
from treetop.kernels.settings import Graph, Growth, InFlight, Noise, Values, Widening
from treetop.search.finals import FINALS, Final
from treetop.search.finals.visits import Visits

TieBreak = Callable[[Sequence[int]], int]
"""A function that gets the numbers of tied actions and returns one of them."""


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """All settings of a search, as parts. `uct()`, `puct()` and the other presets make one from flat options.

    >>> import treetop as tt
    >>> SearchConfig(rule=tt.rules.Puct(c=1.5), solver=True) == configure("puct", c=1.5, solver=True)
    True
    """

    rule: Rule = field(default_factory=Ucb1)
    """The selection rule."""
    backup: Backup = field(default_factory=Mean)
    """How the value of a node follows from its simulations and its children."""
    root: Root = field(default_factory=ByRule)
    """How moves of the root are selected."""
    noise: Noise = field(default_factory=Noise)
    """Dirichlet noise in the priors of the root."""
    chance: ChanceMode = field(default_factory=Sampled)
    """How outcomes of chance are searched."""
    information: Information = field(default_factory=InformationSets)
    """How imperfect information is searched."""
    widening: Widening = field(default_factory=Widening)
    """Progressive widening."""
    graph: Graph = field(default_factory=Graph)
    """Transpositions."""
    in_flight: InFlight = field(default_factory=InFlight)
    """How in-flight visits count."""
    values: Values = field(default_factory=Values)
    """The scale of values, the discount and the other players."""
    growth: Growth = field(default_factory=Growth)
    """How the tree grows."""
    final: Final = field(default_factory=Visits)
    """How the move to play is chosen."""
    solver: bool = False
    """Whether proven bounds are kept. Proven moves are skipped, and the search stops when the root is proven."""
    batch_size: int = 32
    """Leaves in a batch for an evaluator in Python, in `run`, and in a round of `deterministic=True`."""
    tie_break: Literal["random", "first"] | TieBreak = "random"
    """How equal scores are decided: at random, by the order of the moves, or by your function."""
    stop_when_forced: bool = True
    """Whether a search with one legal move stops as soon as it has a value."""

    def __post_init__(self) -> None:
        for slot, base in _BASES.items():
            if not isinstance(getattr(self, slot), base):
                raise ConfigError(
                    f"{slot} must be a {base.__name__}, not {checks.shorten(getattr(self, slot))}: "
                    f"treetop.configure takes names, such as configure({slot}={_names(slot)[0]!r})"
                )
        if not callable(self.tie_break):
            checks.one_of("tie_break", self.tie_break, ("random", "first"), more="a function")
        checks.flag("solver", self.solver)
        checks.flag("stop_when_forced", self.stop_when_forced)
        checks.whole("batch_size", self.batch_size, 1, checks.INT32_MAX)
        for part in self.parts():
            for reason in part.refusals(self):
                raise ConfigError(reason)
        if self.solver and self.values.discount != 1.0:
            raise ConfigError("the solver proves undiscounted returns: set discount=1 or leave solver out")

    def parts(self) -> Iterator[Part]:
        """Yield all parts."""
        for slot in _BASES:
            yield getattr(self, slot)

    def with_options(self, **options: Any) -> SearchConfig:
        """Return the same settings with some flat options changed.

        >>> str(configure("puct", c=1.5).with_options(solver=True))
        'puct(c=1.5, solver=True)'
        """
        flat = self.flat()
        for slot in _SLOTS:
            if slot in options and options[slot] != flat.get(slot):  # drop the options of the part that is replaced
                flat = {name: value for name, value in flat.items() if name not in getattr(self, slot).options()}
        return configure(**{**flat, **options})

    def for_play(self) -> SearchConfig:
        """Return the settings of a player: without random Gumbel numbers, unless `gumbel_scale` is given."""
        if isinstance(self.root, Gumbel) and self.root.gumbel_scale is None:
            return replace(self, root=replace(self.root, gumbel_scale=0.0))
        return self

    def flat(self) -> dict[str, Any]:
        """Return the options that are not the defaults, by their flat names: `configure(**config.flat()) == config`."""
        found: dict[str, Any] = {"rule": self.rule if isinstance(self.rule, OwnRule) else self.rule.name}
        for slot, parts in _SLOTS.items():
            part: Part = getattr(self, slot)
            if slot != "rule" and type(part) is not parts[0]:
                found[slot] = part.name
        for part in self.parts():
            found |= {name: value for name, value in part.flat().items() if name != "rule_function"}
        for name in PLAIN:
            if getattr(self, name) != SearchConfig.__dataclass_fields__[name].default:
                found[name] = getattr(self, name)
        return found

    def options(self) -> dict[str, Any]:
        """Return all options by their flat names, and the names of the parts.

        Parts that were not chosen have their defaults.

        >>> configure("puct", c=1.5).options()["rule"], configure("puct", c=1.5).options()["amaf_bias"]
        ('puct', 0.0001)
        """
        found: dict[str, Any] = {}
        for slot in SLOTS:
            chosen: Part = getattr(self, slot)
            for part in (*(part() for part in parts_of(slot) if part is not OwnRule), chosen):
                found |= {flat: getattr(part, name) for flat, (name, _) in part.options().items()}
            if slot in _SLOTS:
                found[slot] = chosen.compiled if isinstance(chosen, OwnRule) else chosen.name
        if self.backup.name == "max":
            found["minimax_share"] = 1.0
        found["schedule"] = getattr(self.rule, "schedule", "constant")
        return found | {name: getattr(self, name) for name in PLAIN}

    def __str__(self) -> str:
        options = {name: value for name, value in self.flat().items() if name != "rule"}
        c, growth = options.pop("c", getattr(self.rule, "c", None)), str(getattr(self.rule, "growth", ""))
        shown = [] if c is None else [f"c={growth or format(c, 'g')}"]
        if growth:
            options = {name: value for name, value in options.items() if name not in ("c_base", "c_schedule")}
        shown += [
            f"{name}={value!r}" if not callable(value) else f"{name}={value.__name__}"
            for name, value in options.items()
        ]
        return f"{self.rule.name}({', '.join(shown)})"


_BASES: dict[str, type[Part]] = {
    "rule": Rule, "backup": Backup, "root": Root, "noise": Noise, "chance": ChanceMode, "information": Information,
    "widening": Widening, "graph": Graph, "in_flight": InFlight, "values": Values, "growth": Growth, "final": Final,
}  # fmt: skip
_SLOTS: dict[str, tuple[type[Part], ...]] = {
    "rule": RULES, "backup": BACKUPS, "root": ROOTS, "chance": CHANCE_MODES, "information": INFORMATION,
    "final": FINALS,
}  # fmt: skip
"""The slots with a choice of parts. The first part is the default."""
PLAIN = ("solver", "batch_size", "tie_break", "stop_when_forced")
"""The fields of `SearchConfig` that are no parts."""


SLOTS = tuple(_BASES)
"""The fields of `SearchConfig` that are parts."""


def parts_of(slot: str) -> tuple[type[Part], ...]:
    """Return the parts that a slot can hold; the first is the default."""
    return _SLOTS.get(slot, (_BASES[slot],))


def _names(slot: str) -> list[str]:
    return [part.name for part in _SLOTS[slot] if part is not OwnRule] if slot in _SLOTS else [slot]


def choices(slot: str) -> tuple[str, ...]:
    """Return the names of the parts of a slot.

    >>> choices("backup")
    ('mean', 'mixed', 'max', 'implicit')
    """
    return tuple(_names(slot))


def option_names() -> list[str]:
    """Return the flat names of all options of all parts, and of the slots with a choice of parts."""
    parts = [part for slot in SLOTS for part in parts_of(slot)]
    names = {flat for part in parts for flat in part.options()} - {"rule_function"}
    return sorted({*names, *_SLOTS, *PLAIN})


def configure(rule: str | Rule = "ucb1", **options: Any) -> SearchConfig:
    """Return the settings with these flat options. Each goes to the part that has it; an unknown one is an error.

    >>> configure("puct", c=1.5, fpu="parent", solver=True).rule.fpu
    'parent'
    """
    # Types belong to the key: True equals 1, but is not allowed for every option.
    key = (rule, *((name, type(value), value) for name, value in options.items()))
    try:
        if key not in _configured:
            if len(_configured) >= _MOST_CONFIGURED:
                _configured.clear()
            _configured[key] = _configure(rule, options)
        return _configured[key]
    except TypeError:  # an option that cannot be hashed, most likely a wrong one
        return _configure(rule, options)


_MOST_CONFIGURED = 256
_configured: dict[tuple[Any, ...], SearchConfig] = {}


def _configure(rule: str | Rule, options: dict[str, Any]) -> SearchConfig:
    given = {**options, "rule": rule}
    chosen: dict[str, type[Part]] = {}
    made: dict[str, Any] = {}
    for slot, base in _BASES.items():
        if slot not in _SLOTS:
            chosen[slot] = base
            continue
        value = given.pop(slot, _SLOTS[slot][0].name)
        if isinstance(value, base):
            made[slot] = value
            chosen[slot] = type(value)
        else:
            more = " or a function under @treetop.rule" if slot == "rule" else ""
            checks.one_of(slot, value, _names(slot), more=more.removeprefix(" or "))
            chosen[slot] = next(part for part in _SLOTS[slot] if part is not OwnRule and part.name == value)
    plain = {name: given.pop(name) for name in PLAIN if name in given}
    owned: dict[str, dict[str, Any]] = {slot: {} for slot in chosen}
    for name, value in given.items():
        slot = _owner(name, chosen)
        owned[slot][chosen[slot].options()[name][0]] = value
    for slot, part in chosen.items():
        if slot in made:
            made[slot] = replace(made[slot], **owned[slot]) if owned[slot] else made[slot]
        else:
            made[slot] = part(**owned[slot])
    return SearchConfig(**made, **plain)


def _owner(name: str, chosen: dict[str, type[Part]]) -> str:
    """Return the slot whose part has an option of that name."""
    for slot, part in chosen.items():
        if name in part.options() and name != "rule_function":
            return slot
    for slot, parts in _SLOTS.items():
        owners = [part.name for part in parts if part is not OwnRule and name in part.options()]
        if owners:
            current = "a custom rule" if chosen[slot] is OwnRule else repr(chosen[slot].name)
            raise ConfigError(
                f"{name} is an option of {slot}={' or '.join(map(repr, owners))}; here {slot} is {current}"
            )
    close = checks.closest(name, option_names())
    hint = f"did you mean {close}? " if close else ""
    here = sorted({flat for part in chosen.values() for flat in part.options()} - {"rule_function"})
    raise ConfigError(f"there is no option {name!r}; {hint}the options of these parts are {', '.join([*here, *PLAIN])}")
