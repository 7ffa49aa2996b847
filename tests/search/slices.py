"""What a tree holds, and searches that are run in slices: for tests of memory."""

from __future__ import annotations

import treetop as tt
from treetop.tree.layout import BOUNDED, PROVEN


def images(search):
    """All that a tree holds, to the last bit."""
    tree, size = search.tree, search.tree.size
    names = [name for name in tree.columns._fields if len(getattr(tree.columns, name))]
    held = {name: getattr(tree.columns, name)[:size].copy() for name in names}
    for name, flag in (("bounds", BOUNDED), ("distances", PROVEN)):
        if name in held:
            held[name][(tree.columns.links["flags"][:size] & flag) == 0] = 0  # nobody has written there
    return {name: column.tolist() for name, column in held.items()} | {"totals": tree.totals.tolist()}


def in_slices(game, config, evaluator=None, *, slices=20, size=50):
    """A search without a known limit: its arrays grow in the middle of simulations."""
    search = tt.Search(game, config, evaluator=evaluator, seed=4)
    search.prepare()
    for _ in range(slices):
        search._driver.run(size)
        assert search.tree.size <= search.tree.columns.capacity
    return search
