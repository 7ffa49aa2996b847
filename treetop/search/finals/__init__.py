"""Final rules, one file each. To add one, write a file and add it to FINALS."""

from __future__ import annotations

from treetop.search.finals.final import Final as Final
from treetop.search.finals.lcb import Lcb as Lcb
from treetop.search.finals.mixed import MixedStrategy as MixedStrategy
from treetop.search.finals.secure import Secure as Secure
from treetop.search.finals.temperature import Temperature as Temperature
from treetop.search.finals.value import Value as Value
from treetop.search.finals.visits import Visits as Visits

FINALS: tuple[type[Final], ...] = (Visits, Value, Secure, Lcb, Temperature, MixedStrategy)
