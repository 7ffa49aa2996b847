"""Selection rules: one file each. A new one is a file, and a line here."""

from __future__ import annotations

from treetop.kernels.rules.completed import Completed as Completed
from treetop.kernels.rules.own import OwnRule as OwnRule
from treetop.kernels.rules.progressive_history import ProgressiveHistory as ProgressiveHistory
from treetop.kernels.rules.puct import Puct as Puct
from treetop.kernels.rules.rave import Rave as Rave
from treetop.kernels.rules.regret_matching import RegretMatching as RegretMatching
from treetop.kernels.rules.rule import Rule as Rule
from treetop.kernels.rules.thompson import Thompson as Thompson
from treetop.kernels.rules.ucb1 import Ucb1 as Ucb1
from treetop.kernels.rules.ucb1_tuned import Ucb1Tuned as Ucb1Tuned
from treetop.kernels.rules.ucb_v import UcbV as UcbV
from treetop.kernels.rules.uniform import UniformRule as UniformRule

RULES: tuple[type[Rule], ...] = (
    Ucb1,
    Puct,
    Ucb1Tuned,
    UcbV,
    Rave,
    ProgressiveHistory,
    Thompson,
    UniformRule,
    Completed,
    RegretMatching,
    OwnRule,
)
