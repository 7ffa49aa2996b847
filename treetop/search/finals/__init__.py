"""Final rules: one file each. A new one is a file, and a line here."""

from __future__ import annotations

from treetop.search.finals.final import Final
from treetop.search.finals.lcb import Lcb
from treetop.search.finals.mixed import MixedStrategy
from treetop.search.finals.secure import Secure
from treetop.search.finals.temperature import Temperature
from treetop.search.finals.value import Value
from treetop.search.finals.visits import Visits

FINALS: tuple[type[Final], ...] = (Visits, Value, Secure, Lcb, Temperature, MixedStrategy)

__all__ = ["FINALS", "Final"]
