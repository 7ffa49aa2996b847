"""Decisions by other final rules, from recorded statistics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from treetop.errors import ConfigError
from treetop.search.final import choose
from treetop.search.finals import Final, Lcb, Secure, Temperature, Value, Visits
from treetop.search.result import SearchResult

_FINALS: tuple[Final, ...] = (Visits(), Value(), Secure(), Lcb(), Temperature())


def decisions(result: SearchResult) -> dict[str, dict[str, Any]]:
    """Return the move that each final rule chooses from the same statistics, and why; None where it cannot decide.

    >>> import treetop as tt
    >>> found = decisions(tt.search("tic_tac_toe", tt.uct(final="lcb"), simulations=500, seed=1))
    >>> {rule: one["move"] for rule, one in found.items() if rule != "temperature"}
    {'visits': 'b2', 'value': 'b2', 'secure': 'b2', 'lcb': 'b2'}
    """
    own = result.config.final
    rules = _FINALS if own.name in [final.name for final in _FINALS] else (*_FINALS, own)  # a mixed strategy
    return {final.name: _decision(result, final) for final in rules}


def _decision(result: SearchResult, final: Final) -> dict[str, Any]:
    if "squares" in final.columns() and bool(np.isnan(result.deviations).all()):
        return {"move": None, "why": "the search keeps no variances"}
    try:
        index, why = choose(replace(result, config=replace(result.config, final=final)))
    except ConfigError as error:
        return {"move": None, "why": str(error)}
    return {"move": result.name_of(index), "why": why()}
