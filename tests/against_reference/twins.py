"""A compiled search and its plain twin, side by side."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import treetop as tt
from treetop.reference.batch import BatchSearch, GraphBatchSearch, Leaf
from treetop.reference.graph import GraphSearch
from treetop.reference.node import Node
from treetop.reference.search import ReferenceSearch
from treetop.reference.settings import Settings
from treetop.search.evaluator import in_python
from treetop.tree.layout import BOUNDED, PROVEN


def settings_of(search: tt.Search, *, asked: bool = False) -> Settings:
    """The plain search's settings for those of a compiled search; `asked` where only some moves of its root are looked at."""
    config, evaluator, plan = search.config, search.evaluator, search._driver.plan
    reported: dict[str, Any] = {
        "normalise": plan.normalise,
        "expand_after": search.expand_after,
        "fused": not (search._driver.build.full or asked),
        "policy": "random",
        "count": 1,
        "depth": None,
    }
    rollout = (
        evaluator.rollout
        if isinstance(evaluator, tt.evaluators.Mixed)
        else evaluator
        if isinstance(evaluator, tt.Rollout)
        else None
    )
    other = evaluator.evaluator if isinstance(evaluator, tt.evaluators.Mixed) else evaluator
    if rollout is not None:
        reported |= {name: getattr(rollout, name) for name in ("policy", "count", "depth", "epsilon", "temperature")}
    reported["rollout_weight"] = getattr(evaluator, "weight", 1.0 if rollout is not None else 0.0)
    reported["evaluate"] = "heuristic" if isinstance(other, tt.evaluators.Heuristic) else "uniform"
    reported["prior_temperature"] = getattr(other, "prior_temperature", None)
    return Settings(**config.options() | reported)


def twin_of(search: tt.Search, *, asked: bool = False) -> ReferenceSearch:
    """A plain search from the same position, with the same settings and seed, before its first simulation."""
    batched = in_python(search.evaluator) is not None
    kinds = {
        (False, False): ReferenceSearch,
        (False, True): GraphSearch,
        (True, False): BatchSearch,
        (True, True): GraphBatchSearch,
    }
    return kinds[batched, bool(search.config.graph.transpositions)](
        search.position, settings_of(search, asked=asked), search.seed
    )


def compare(
    game: Any,
    config: tt.SearchConfig,
    *,
    simulations: int = 300,
    seed: int = 7,
    evaluator: Any = None,
    exact: bool = True,
    **how: Any,
) -> tuple[tt.Search, ReferenceSearch]:
    """Run both, and hold them against each other. `how` goes to the compiled search's `run`."""
    search = tt.Search(game, config.with_options(stop_when_forced=False), evaluator=evaluator, seed=seed)
    search.run(tt.Limit(simulations=simulations), **how)
    twin = twin_of(search, asked=bool(how))
    twin.gumbel = search._driver.scratch.work.gumbel.tolist()[: len(search.tree.root.children)]
    twin.run(simulations, search._wanted_moves(how.get("include"), how.get("exclude", ())))
    same(search, twin, exact=exact)
    return search, twin


def same(search: tt.Search, twin: ReferenceSearch, *, exact: bool = True) -> None:
    """The same tree: visits, values, priors, proofs and statistics of every node."""
    whole = search.config.backup.name == "mean" and not search.game.has(
        "step_rewards"
    )  # else a value is no share of a whole game
    search.tree.check(search.game.facts.rewards if whole else (-np.inf, np.inf))
    assert search.simulations == twin.root.visits
    near = (lambda number: number) if exact else (lambda number: pytest.approx(number, rel=1e-9, abs=1e-9))
    assert search.tree.totals.tolist() == near(twin.root.sums)
    columns = search.tree.columns
    waiting, seen = [(search.tree.root, twin.root)], set[int]()
    while waiting:
        ours, theirs = waiting.pop()
        assert ours.visits == theirs.visits
        assert ours.value_sum == near(theirs.value_sum)
        assert [child.action for child in ours.children] == [child.action for child in theirs.children]
        assert [child.prior for child in ours.children] == [child.prior for child in theirs.children]
        assert [child.is_closed for child in ours.children] == [child.is_closed for child in theirs.children]
        assert ours.is_terminal == theirs.is_terminal
        same_proof(search, ours.index, theirs)
        if len(columns.squares) and theirs is not twin.root:
            assert columns.squares[ours.index] == near(theirs.squares)
        if len(columns.vectors) and theirs is not twin.root:
            assert columns.vectors[ours.index].tolist() == near(theirs.vector)
        if len(columns.amaf) and theirs is not twin.root:
            slot = columns.amaf[ours.index]
            assert (slot["value_sum"], slot["visits"]) == (near(theirs.amaf_sum), theirs.amaf_visits)
        if ours.index not in seen:
            seen.add(ours.index)
            waiting += zip(ours.children, theirs.children, strict=True)


def same_proof(search: tt.Search, index: int, twin: Node) -> None:
    """The same bounds, and the same distance where they are equal."""
    columns, players = search.tree.columns, search.game.facts.players
    if not len(columns.bounds):
        return
    flags = int(columns.links["flags"][index])
    assert bool(flags & PROVEN) == twin.is_proven
    assert bool(flags & BOUNDED) == (twin.bounds is not None)
    if twin.bounds is not None:
        row = columns.bounds[index].tolist()
        assert list(zip(row[:players], row[players:], strict=True)) == twin.bounds
    if twin.is_proven:
        assert columns.distances[index] == twin.distance


class Oracle:
    """An evaluator in Python whose answers are scrambled from the state's bytes: arbitrary, and always the same."""

    def evaluate(self, batch: tt.evaluators.Batch) -> tuple[Any, Any]:
        rows = [self.answer(batch.game, batch.states[index : index + 1]) for index in range(len(batch))]
        actions, players = batch.game.facts.num_actions, batch.game.facts.players
        return np.array([row[0] for row in rows]).reshape(-1, actions), np.array([row[1] for row in rows]).reshape(
            -1, players
        )

    def answer(self, game: tt.Game, record: np.ndarray[Any, Any]) -> tuple[list[float], list[float]]:
        rng = tt.Rng(zlib.crc32(record.tobytes()))
        low, high = game.facts.rewards
        logits = [3.0 * rng.random() for _ in range(game.facts.num_actions)]
        worth = [low + (high - low) * rng.random() for _ in range(game.facts.players)]
        return logits, [worth[0], -worth[0]] if game.facts.zero_sum else worth


def compare_batches(
    game: Any,
    config: tt.SearchConfig,
    *,
    size: int = 6,
    rounds: int = 40,
    waiting: int = 0,
    evaluator: Any = None,
    seed: int = 7,
    exact: bool = True,
) -> tuple[tt.Search, ReferenceSearch]:
    """Ask both for batches and tell them the same, always with so many batches `waiting` in between; every seventh is dropped."""
    oracle = Oracle()
    search = tt.Search(game, config, evaluator=evaluator or oracle, seed=seed)
    twin = twin_of(search)
    assert isinstance(twin, BatchSearch)
    asked: list[tuple[tt.evaluators.Batch, list[Leaf]]] = []
    for turn in range(rounds + waiting):
        if turn < rounds:
            batch, leaves = search.ask(size), twin.ask(size)
            assert [position.record.tobytes() for position in batch] == [
                leaf.state._states.tobytes() for leaf in leaves
            ]
            asked.append((batch, leaves))
        if len(asked) > waiting or turn >= rounds:
            batch, leaves = asked.pop(0)
            if turn % 7 == 6:
                search.drop(batch)
                twin.drop(leaves)
            else:
                answers = [oracle.answer(search.game, leaf.state._states) for leaf in leaves]
                search.tell(batch, *oracle.evaluate(batch))
                twin.tell(leaves, [logits for logits, _ in answers], [worth for _, worth in answers])
    assert not search.in_flight
    same(search, twin, exact=exact)
    return search, twin
