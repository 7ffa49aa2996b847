"""Presets of searches, and the parts that a `SearchConfig` is composed of. docs/options.md lists all options.

>>> import treetop as tt
>>> tt.SearchConfig(rule=tt.rules.Puct(c=1.5), root=tt.rules.Halving()) == tt.configure("puct", c=1.5, root="halving")
True
>>> tt.rules.grave().rule.name
'rave'
"""

from treetop.kernels.backups.backup import Backup
from treetop.kernels.backups.implicit import Implicit
from treetop.kernels.backups.mean import Mean
from treetop.kernels.backups.minimax import Max, MixedBackup
from treetop.kernels.chance.expected import Expected
from treetop.kernels.chance.mode import ChanceMode
from treetop.kernels.chance.open_loop import OpenLoop
from treetop.kernels.chance.sampled import Sampled
from treetop.kernels.information import Determinizations, Information, InformationSets, PerfectInformation
from treetop.kernels.parts import Part
from treetop.kernels.roots.by_rule import ByRule
from treetop.kernels.roots.gumbel import Gumbel
from treetop.kernels.roots.halving import Halving
from treetop.kernels.roots.root import Root
from treetop.kernels.rules.completed import Completed
from treetop.kernels.rules.own import OwnRule, rule
from treetop.kernels.rules.progressive_history import ProgressiveHistory
from treetop.kernels.rules.puct import Puct
from treetop.kernels.rules.rave import Rave
from treetop.kernels.rules.regret_matching import RegretMatching
from treetop.kernels.rules.rule import Rule
from treetop.kernels.rules.thompson import Thompson
from treetop.kernels.rules.ucb1 import Ucb1
from treetop.kernels.rules.ucb1_tuned import Ucb1Tuned
from treetop.kernels.rules.ucb_v import UcbV
from treetop.kernels.rules.uniform import UniformRule
from treetop.kernels.settings import Graph, Growth, InFlight, Noise, Values, Widening
from treetop.search.finals.final import Final
from treetop.search.finals.lcb import Lcb
from treetop.search.finals.mixed import MixedStrategy
from treetop.search.finals.secure import Secure
from treetop.search.finals.temperature import Temperature
from treetop.search.finals.value import Value
from treetop.search.finals.visits import Visits
from treetop.search.presets import (
    grave,
    gumbel,
    halving,
    nexus,
    progressive_history,
    puct,
    rave,
    regret_matching,
    thompson,
    ucb1_tuned,
    ucb_v,
    uct,
    uniform,
)

__all__ = [
    "Backup", "ByRule", "ChanceMode", "Completed", "Determinizations", "Expected", "Final", "Graph", "Growth", "Gumbel",
    "Halving", "Implicit", "InFlight", "Information", "InformationSets", "Lcb", "Max", "Mean", "MixedBackup",
    "MixedStrategy", "Noise", "OpenLoop", "OwnRule", "Part", "PerfectInformation", "ProgressiveHistory", "Puct", "Rave",
    "RegretMatching", "Root", "Rule", "Sampled", "Secure", "Temperature", "Thompson", "Ucb1", "Ucb1Tuned", "UcbV",
    "UniformRule", "Value", "Values", "Visits", "Widening", "grave", "gumbel", "halving", "nexus", "progressive_history",
    "puct", "rave", "regret_matching", "rule", "thompson", "ucb1_tuned", "ucb_v", "uct", "uniform",
]  # fmt: skip
