"""A memory for evaluations: what was asked before is answered at once."""

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
    """What an evaluator said of one state."""

    logits: npt.NDArray[Any]
    values: npt.NDArray[np.float64]


class Cached:
    """An evaluator that asks another one only for what it has not seen: the last `size` states, the least recently used going first.

    One cache may serve any number of searches, of different games too, from several threads. The states of a batch that are not
    known go to the inner evaluator as one smaller batch, in their order, each of them once.

    The answers are those of the inner evaluator, bit for bit, as far as it gives a state the same answer each time. One that draws at
    random is asked once, and its draw stays.

    With `by="key"` states of equal `key()` share an answer, also where their records differ. With `by="state"` the record decides.
    """

    def __init__(self, evaluator: Evaluator, size: int = 50_000, *, by: Literal["state", "key"] = "state") -> None:
        if not isinstance(evaluator, Evaluator):
            raise ConfigError(
                f"a cache stands before an evaluator with a method evaluate(batch); {evaluator!r} has none"
            )
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
        self._cleared = 0  # how often

    @property
    def name(self) -> str:
        """How a report names it."""
        return f"cached({name_of(self.evaluator)})"

    @property
    def expand_after(self) -> int:
        """Visits that a leaf needs before it is expanded: what the inner evaluator wants."""
        return int(getattr(self.evaluator, "expand_after", 0))

    @property
    def hits(self) -> int:
        """States that were answered without the inner evaluator; a second one of the same batch too."""
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
        """Forget all states, and count from zero. Needed when the inner evaluator has changed: a network that was trained on, say."""
        with self._lock:
            self._rows.clear()
            self._hits = self._misses = 0
            self._cleared += 1

    def evaluate(self, batch: Batch) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Logits and values, a row a state and for each player; see `Evaluator`. An error leaves the cache as it was."""
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
        """What the inner evaluator says of the states that are not known, the first of each kind standing for all."""
        wanted: dict[Hashable, int] = {}
        for index, key in enumerate(keys):
            if key not in known:
                wanted.setdefault(key, index)
        if not wanted:
            return {}
        part = _subset(batch, list(wanted.values()))
        logits, values = evaluate_batch(self.evaluator, part)
        # Checked before anything is kept, so that what the search would refuse is asked for again.
        checked, worth = part.checked_logits(logits), part.checked_values(values)
        narrow = (
            np.asarray(logits).dtype == np.float32
        )  # kept as narrow as they came: half the memory, and the same numbers
        kept = checked.astype(np.float32) if narrow else checked
        return {key: _Row(kept[index].copy(), worth[index].copy()) for index, key in enumerate(wanted)}

    def _remember(self, keys: list[Hashable], known: dict[Hashable, _Row], misses: int, cleared: int) -> None:
        with self._lock:
            if cleared != self._cleared:
                return  # somebody has called `clear` meanwhile: what was asked for before may not come back
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
        # The digest tells rules apart that share a name; the name tells games apart that share their rules, which an evaluator may do too.
        # A search puts the digest that it was compiled for into its batches, where it does; reading the rules anew costs a third of a millisecond.
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
        return f"<{self.name}: {len(self):,} of at most {self.size:,} states, {self.hits:,} hits, {self.misses:,} misses, {share} hits>"


def _subset(batch: Batch, rows: list[int]) -> Batch:
    """A batch of chosen leaves of another one. It is for evaluators to read: only the whole batch is told."""
    arrays: dict[str, Any] = {
        field.name: value[rows]
        for field in fields(batch)
        if isinstance(value := getattr(batch, field.name), np.ndarray)
    }
    return replace(batch, **arrays)
