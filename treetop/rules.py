"""Presets of searches, and the parts that a `SearchConfig` is composed of. docs/options.md lists all options.

>>> import treetop as tt
>>> tt.SearchConfig(rule=tt.rules.Puct(c=1.5), root=tt.rules.Halving()) == tt.configure("puct", c=1.5, root="halving")
True
>>> tt.rules.grave().rule.name
'rave'
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
