"""How imperfect information is searched."""

from __future__ import annotations

from dataclasses import dataclass

from treetop.kernels.parts import Part, choice, whole


@dataclass(frozen=True, kw_only=True)
class Information(Part):
    """How imperfect information is searched. It makes no difference in games with perfect information.

    >>> import treetop as tt
    >>> isinstance(tt.uct(information="perfect").information, tt.rules.Information)
    True
    """

    slot = "information"


@dataclass(frozen=True, kw_only=True)
class InformationSets(Information):
    """Information-set search (ISMCTS): one tree of information sets, and a determinization for each simulation.

    >>> import treetop as tt
    >>> dealt = tt.position("kuhn_poker", moves="K Q")
    >>> config = tt.SearchConfig(information=tt.rules.InformationSets(observers="single"))
    >>> tt.search(dealt, config, simulations=500, seed=1).usage.method
    'information-set search (ISMCTS)'
    """

    name = "sets"

    observers: str = choice(
        "multiple",
        "Whether every player chooses in an information set of its own (multiple-observer ISMCTS), or in the "
        "searcher's (single).",
        ("single", "multiple"),
    )


@dataclass(frozen=True, kw_only=True)
class Determinizations(Information):
    """Determinized search (perfect-information Monte Carlo): determinizations are searched alone, and added up.

    >>> import treetop as tt
    >>> dealt = tt.position("kuhn_poker", moves="K Q")
    >>> config = tt.SearchConfig(information=tt.rules.Determinizations(determinizations=10))
    >>> tt.search(dealt, config, simulations=500, seed=1).usage.method
    'determinized search'
    """

    name = "determinizations"

    determinizations: int = whole(30, "How many determinizations are searched.", low=1, kernel=False)


@dataclass(frozen=True, kw_only=True)
class PerfectInformation(Information):
    """The search sees the true state: it cheats, and its results report that.

    >>> import treetop as tt
    >>> dealt = tt.position("kuhn_poker", moves="Q K")
    >>> config = tt.SearchConfig(information=tt.rules.PerfectInformation())
    >>> tt.search(dealt, config, simulations=500, seed=1).move
    'pass'
    """

    name = "perfect"


INFORMATION: tuple[type[Information], ...] = (InformationSets, Determinizations, PerfectInformation)
