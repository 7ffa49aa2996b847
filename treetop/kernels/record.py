"""The control record: the one through which Python and the kernels talk. Its settings are those of the parts."""

from __future__ import annotations

import numpy as np

from treetop.kernels.backups import BACKUPS
from treetop.kernels.chance import CHANCE_MODES
from treetop.kernels.control import BASE
from treetop.kernels.information import INFORMATION
from treetop.kernels.parts import control_fields
from treetop.kernels.roots import ROOTS
from treetop.kernels.rules import RULES
from treetop.kernels.settings import Graph, Growth, InFlight, Noise, Values, Widening

SETTINGS = (Noise, Widening, InFlight, Graph, Values, Growth)
CONTROL = np.dtype(BASE + control_fields(RULES, BACKUPS, ROOTS, CHANCE_MODES, INFORMATION, SETTINGS))
