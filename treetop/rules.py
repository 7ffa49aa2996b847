"""Presets of searches, and the parts that a `SearchConfig` is composed of. docs/options.md lists all options.

>>> import treetop as tt
>>> tt.SearchConfig(rule=tt.rules.Puct(c=1.5), root=tt.rules.Halving()) == tt.configure("puct", c=1.5, root="halving")
True
>>> tt.rules.grave().rule.name
'rave'

Every rule has a preset of its name, beside those with settings of their own:

>>> presets = [tt.rules.ucb1, tt.rules.ucb1_tuned, tt.rules.ucb_v, tt.rules.thompson, tt.rules.uniform]
>>> presets += [tt.rules.completed, tt.rules.progressive_history]
>>> [preset().rule.name for preset in presets[:3]]
['ucb1', 'ucb1_tuned', 'ucb_v']

Selection rules, root rules, backups and final rules:

>>> from treetop.rules import *
>>> rules = [Ucb1(c=1.0), Ucb1Tuned(), UcbV(), Puct(), Rave(), ProgressiveHistory(), Thompson(), UniformRule()]
>>> rules += [Completed(), RegretMatching()]
>>> all(isinstance(rule, Rule) and tt.SearchConfig(rule=rule).rule is rule for rule in rules)
True
>>> all(isinstance(root, Root) for root in (ByRule(), Gumbel(), Halving()))
True
>>> all(isinstance(backup, Backup) for backup in (Mean(), Max(), MixedBackup(), Implicit()))
True
>>> finals = [Visits(), Value(), Secure(), Lcb(), Temperature(temperature=0.5), MixedStrategy()]
>>> all(isinstance(final, Final) for final in finals)
True

Your own rule, by the decorator `rule`, is an `OwnRule`:

>>> @tt.rules.rule
... def careful(value, visits, prior, variance, total, c):
...     return value + c * prior / (1 + visits)
>>> isinstance(tt.configure(careful).rule, OwnRule)
True

The other parts, each with its slot:

>>> all(isinstance(mode, ChanceMode) for mode in (Sampled(), Expected(), OpenLoop()))
True
>>> all(isinstance(kind, Information) for kind in (InformationSets(), Determinizations(), PerfectInformation()))
True
>>> config = tt.SearchConfig(rule=Puct(), noise=Noise(fraction=0.25), graph=Graph(), in_flight=InFlight())
>>> config = tt.SearchConfig(values=Values(discount=0.9), growth=Growth(max_nodes=10_000), widening=Widening())
>>> isinstance(config.values, Part)
True
"""
# ruff: noqa: F401, F403 - everything that the registries of parts export

from typing import TYPE_CHECKING, Any

from treetop.kernels.backups import *
from treetop.kernels.chance import *
from treetop.kernels.information import Determinizations, Information, InformationSets, PerfectInformation
from treetop.kernels.parts import Part
from treetop.kernels.roots import *
from treetop.kernels.rules import *
from treetop.kernels.rules.own import rule
from treetop.kernels.settings import Graph, Growth, InFlight, Noise, Values, Widening
from treetop.search.finals import *
from treetop.search.presets import *
from treetop.search.presets import PRESETS

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...  # presets of rules are made from the registry


globals().update(PRESETS)
__all__ = sorted(
    [
        "rule",
        *PRESETS,
        *(name for name, member in globals().items() if isinstance(member, type) and issubclass(member, Part)),
    ]
)
