"""Cache evaluations: a state that was evaluated before is answered at once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import fields, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from treetop import checks
from treetop.errors import ConfigError
from treetop.search.batch import Batch
from treetop.search.evaluator import Evaluator, evaluate_batch, name_of

_WORD = 2**64 - 1


class _Row(NamedTuple):
    """The evaluation of one state."""

    logits: npt.NDArray[Any]
    values: npt.NDArray[np.float64]


class Cached:
    """An evaluator that asks another one only for states it has not seen. It keeps the `size` most recently used
    states.

    One cache can serve any number of searches, also of different games and from several threads. The unknown states of
    a batch go to the inner evaluator as one smaller batch, in their order, each of them once.

    The answers are those of the inner evaluator, bit for bit, if it gives a state the same answer each time. The first
    answer of a random evaluator is kept.

    With `by="key"` states of equal `key()` share an answer even if their records differ. With `by="state"` the record
    decides.

    >>> import treetop as tt
    >>> cached = tt.evaluators.Cached(tt.evaluators.Uniform())
    >>> for seed in (1, 2):
    ...     result = tt.search("tic_tac_toe", tt.puct(), evaluator=cached, simulations=50, seed=seed)
    >>> cached.hits > 0
    True
    """

    def __init__(self, evaluator: Evaluator, size: int = 50_000, *, by: Literal["state", "key"] = "state") -> None:
        if not isinstance(evaluator, Evaluator):
            raise ConfigError(f"Cached takes an evaluator with a method evaluate(batch), not {evaluator!r}")
        checks.whole("size", size, 1)
        checks.one_of("by", by, ("state", "key"))
        self.evaluator = evaluator
        """The evaluator behind the cache."""
        self.size = size
        """How many states are kept at most."""
        self.by = by
        self._lock = threading.Lock()
        self._rows: OrderedDict[Hashable, _Row] = OrderedDict()  # the least recently used first
        self._hits = self._misses = 0
        self._cleared = 0  # how often `clear` was called

    @property
    def name(self) -> str:
        """The name in reports."""
        return f"cached({name_of(self.evaluator)})"

    @property
    def expand_after(self) -> int:
        """Visits that a leaf needs before it is expanded, as the inner evaluator asks."""
        return int(getattr(self.evaluator, "expand_after", 0))

    @property
    def hits(self) -> int:
        """States that were answered without the inner evaluator, repeated states of one batch included."""
        return self._hits

    @property
    def misses(self) -> int:
        """States that the inner evaluator answered."""
        return self._misses

    @property
    def hit_rate(self) -> float:
        """The share of hits among all states asked for; 0 before the first."""
        with self._lock:
            asked = self._hits + self._misses
            return self._hits / asked if asked else 0.0

    def clear(self) -> None:
        """Forget all states and reset the counts. Call this when the inner evaluator has changed, such as a network
        after training.
        """
        with self._lock:
            self._rows.clear()
            self._hits = self._misses = 0
            self._cleared += 1

    def evaluate(self, batch: Batch) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return logits and values, a row for each state; see `Evaluator`. An error leaves the cache as it was."""
        keys = self._keys(batch)
        if not keys:
            facts = batch.game.facts
            return np.zeros((0, facts.num_actions)), np.zeros((0, facts.players))
        with self._lock:
            known = {key: row for key in keys if (row := self._rows.get(key)) is not None}
            cleared = self._cleared
        # Not under the lock: an evaluation may take long, and other threads may find what they need.
        fresh = self._ask(batch, keys, known)
        known |= fresh
        self._remember(keys, known, len(fresh), cleared)
        rows = [known[key] for key in keys]
        return np.stack([row.logits for row in rows]), np.stack([row.values for row in rows])

    def _ask(self, batch: Batch, keys: list[Hashable], known: dict[Hashable, _Row]) -> dict[Hashable, _Row]:
        """Ask the inner evaluator for the unknown states, each distinct one once."""
        wanted: dict[Hashable, int] = {}
        for index, key in enumerate(keys):
            if key not in known:
                wanted.setdefault(key, index)
        if not wanted:
            return {}
        part = _subset(batch, list(wanted.values()))
        logits, values = evaluate_batch(self.evaluator, part)
        # Check before anything is kept, so that an answer the search would refuse is asked for again.
        checked, worth = part.checked_logits(logits), part.checked_values(values)
        narrow = (
            np.asarray(logits).dtype == np.float32
        )  # kept in the dtype they came in: half the memory, and the same numbers
        kept = checked.astype(np.float32) if narrow else checked
        return {key: _Row(kept[index].copy(), worth[index].copy()) for index, key in enumerate(wanted)}

    def _remember(self, keys: list[Hashable], known: dict[Hashable, _Row], misses: int, cleared: int) -> None:
        with self._lock:
            if cleared != self._cleared:
                return  # `clear` was called meanwhile: earlier answers may not come back
            for key in keys:
                self._rows[key] = known[key]
                self._rows.move_to_end(key)
            while len(self._rows) > self.size:
                self._rows.popitem(last=False)
            self._hits += len(keys) - misses
            self._misses += misses

    def _keys(self, batch: Batch) -> list[Hashable]:
        if not len(batch):
            return []
        game = batch.game
        # The digest distinguishes rules that share a name; the name distinguishes games that share their rules.
        # A search puts the digest it was compiled for into its batches; computing it again costs a third of a
        # millisecond.
        rules = (game.name, getattr(batch, "rules", None) or game.digest)
        if self.by == "key":
            if not game.has("key"):
                raise ConfigError(f"{game.name} has no method `key`: use Cached(..., by='state')")
            return [(rules, int(position.state.key()) & _WORD) for position in batch]
        raw, width = batch.states.tobytes(), batch.states.dtype.itemsize
        return [(rules, raw[start : start + width]) for start in range(0, len(raw), width)]

    def __len__(self) -> int:
        return len(self._rows)

    def __bool__(self) -> bool:
        return True  # an empty cache is still an evaluator

    def __repr__(self) -> str:
        share = f"{self.hit_rate:.1%}"
        counts = f"{self.hits:,} hits, {self.misses:,} misses, {share} hits"
        return f"<{self.name}: {len(self):,} of at most {self.size:,} states, {counts}>"


def _subset(batch: Batch, rows: list[int]) -> Batch:
    """A batch of selected leaves of another batch, for evaluators to read only."""
    arrays: dict[str, Any] = {
        field.name: value[rows]
        for field in fields(batch)
        if isinstance(value := getattr(batch, field.name), np.ndarray)
    }
    return replace(batch, **arrays)
