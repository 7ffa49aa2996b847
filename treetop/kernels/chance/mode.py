"""What every chance mode has."""

from __future__ import annotations

from dataclasses import dataclass

from treetop.kernels.parts import Part


@dataclass(frozen=True, kw_only=True)
class ChanceMode(Part):
    """How outcomes of chance are searched and backed up.

    >>> import treetop as tt
    >>> isinstance(tt.uct(chance="open_loop").chance, tt.rules.ChanceMode)
    True
    """

    slot = "chance"
