"""The result of a search: fields for programs, text for people, HTML for notebooks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treetop.errors import ConfigError, StaleNodeError
from treetop.game.position import Position
from treetop.kernels.parts import TREES
from treetop.kernels.rules.completed import Completed
from treetop.kernels.rules.puct import Puct
from treetop.search.action_columns import ActionColumns
from treetop.search.config import SearchConfig
from treetop.search.drivers.driver import Driver
from treetop.search.explain import Explanation, NodeFacts, Statistics, explain
from treetop.search.final import choose, pruned_visits, softmax, uncertainty
from treetop.search.merging import Merged
from treetop.search.problems.outcomes import Failure, LoggedCall, listed
from treetop.search.proof import ProvenValue
from treetop.search.report import Report, Usage, report_of
from treetop.search.root_block import GivenRoot, Root
from treetop.search.showing import Shown
from treetop.search.solution import CompleteSolution, Seen
from treetop.search.variations import Line, variation_of
from treetop.text import html_board, html_lines, html_table, json_text, text_table, vector_text
from treetop.tree.storage import Tree
from treetop.types import FloatArray

if TYPE_CHECKING:
    from treetop.search.session import Session

_ROWS_SHOWN = 12


@dataclass(frozen=True)
class SearchResult(ActionColumns, Shown):
    """A snapshot of the root. Later simulations do not change it.

    >>> import treetop as tt
    >>> result = tt.search("nim(stones=5)", simulations=500, seed=1)
    >>> result.move, result.simulations, result.value > 0
    ('1', 500, True)
    """

    position: Position
    config: SearchConfig
    seed: int
    _root: Root | GivenRoot = field(repr=False)
    totals: FloatArray
    root_visits: int
    own_value: float
    """Mean of the evaluations of the root itself, for the player to move; NaN where no rule needs it."""
    scale: tuple[float, float] | None
    """The lowest and the highest mean in the tree, where the rule uses the scale between them."""
    proof: ProvenValue | None
    player: int
    """The player for whom the search was made and values are given."""
    tree: Tree = field(repr=False)
    """The tree itself, which changes as the search continues."""
    usage: Usage
    """The resources that the search had used."""
    _search: Session = field(repr=False)
    _generation: int = field(repr=False)
    failures: tuple[Failure, ...] = ()
    """In a Python problem: nodes whose step, actions or evaluation failed, and failed rollouts (the first 1,000)."""
    failed_rollouts: int = 0
    """In a Python problem: how many rollouts and draws of chance failed and were repeated, since the search started."""
    cost: float = 0.0
    """The cost of the last run's evaluations, where they report one."""
    calls: int = 0
    """Evaluations of the last run made elsewhere."""
    call_log: tuple[LoggedCall, ...] = field(default=(), repr=False)
    """Those evaluations that have ended, in the order in which the tree absorbed them."""
    merged: Merged | None = field(default=None, repr=False)
    """How it was merged from several searches, whose trees are not here."""

    @cached_property
    def pv_numbers(self) -> tuple[int, ...]:
        """The numbers of the actions of the principal variation."""
        return variation_of(self, self.number)

    @cached_property
    def _seen(self) -> Seen:
        """What the search has seen of complete solutions."""
        return Seen.by(self._search) if self.merged is None else Seen(self.merged.solutions)

    @cached_property
    def _action_of(self) -> Callable[[int], Any]:
        """A function from the numbers of actions to the actions."""
        return int if self._search._driver.is_game else self._search._driver.labels(self.position, self.pv_numbers)

    def complete(self) -> None:
        """Read everything from the tree that was not read yet. The search calls this before it changes the tree."""
        _ = self.pv_numbers, self._action_of, self._seen

    @property
    def actions(self) -> Any:
        """The legal actions: an array of their numbers; in a Python problem a list of its own actions."""
        if self._search._driver.is_game:
            return self.numbers
        return [self._action_of(int(number)) for number in self.numbers]

    @property
    def number(self) -> int:
        """The number of the action to play."""
        return int(self.numbers[self.chosen])

    @property
    def action(self) -> Any:
        """The action to play, by the final rule of the search. With continuous actions: the index of its vector."""
        return self.number if self._search._driver.is_game else self._action_of(self.number)

    @property
    def pv_actions(self) -> tuple[Any, ...]:
        """The actions of the principal variation."""
        return tuple(self._action_of(number) for number in self.pv_numbers)

    @property
    def state(self) -> Any:
        """The state that was searched."""
        return self.position.state

    @property
    def stopped(self) -> str:
        """Why the last run ended."""
        return self.usage.stopped

    @property
    def vector(self) -> tuple[float, ...] | None:
        """The vector of the action to play, with continuous actions."""
        return None if self.vectors is None else tuple(self.vectors[self.chosen].tolist())

    @property
    def choice(self) -> int | tuple[float, ...]:
        """The action to play, as `Position.apply` takes it from one player: a number, or a vector."""
        return self.action if self.vector is None else self.vector

    def strategy(self) -> dict[int, float]:
        """Return a probability for each action: the mixed strategy of regret matching, else shares of the visits."""
        rows = zip(self.numbers, self.probabilities, strict=True)
        return {self._action_of(int(number)): float(share) for number, share in rows}

    @property
    def probabilities(self) -> FloatArray:
        """The probabilities of `strategy` as an array, in the order of `actions`."""
        if self.strategies is None or not self.strategies.any():
            return self.shares(1.0)
        return np.asarray(self.strategies / self.strategies.sum())

    @property
    def move(self) -> str:
        """The move to play, as text."""
        return self.name_of(self.chosen)

    def name_of(self, index: int) -> str:
        """Return one of the moves as text, by its index."""
        if self.vectors is not None:
            return vector_text(self.vectors[index])
        return self.position.move_text(int(self.numbers[index]))

    @property
    def value(self) -> float:
        """The mean return to the player to move."""
        return float(self.totals[self.player]) / self.root_visits

    @property
    def values(self) -> list[float]:
        """The mean return to each player."""
        return [float(total) / self.root_visits for total in self.totals]

    @property
    def visits(self) -> dict[Any, int]:
        """Visits of each legal action."""
        return {
            self._action_of(int(number)): int(count) for number, count in zip(self.numbers, self.counts, strict=True)
        }

    @property
    def pv(self) -> list[str]:
        """The principal variation: the most visited moves, one after the other."""
        if self.tree.has_information_sets:  # what follows depends on hidden information
            return [self.move]
        names, position = [], self.position
        for action in self.pv_numbers:
            names.append(position.move_text(action))
            position = position.apply(action)
        return names

    @cached_property
    def best(self) -> CompleteSolution | None:
        """The best complete solution that the search has seen, for one player without chance; None if it saw none.

        It covers the terminal nodes of the tree as it stands; with immediate rewards or in a graph, at most 500 of
        them, the most visited or best ones. In a Python problem it covers every terminal state since the search
        started that the played moves still lead to, also those of random rollouts. Rollouts of a compiled game and a
        problem's own `rollout` are not covered: they report rewards only.
        """
        return self._seen.best(self.position)

    @property
    def simulations(self) -> int:
        """How many simulations the last run made."""
        return self.usage.simulations

    @property
    def elapsed(self) -> float:
        """Seconds that the last run took."""
        return self.usage.elapsed

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the last run."""
        return self.usage.stopped == "interrupted"

    def policy(self, temperature: float = 1.0) -> Any:
        """Return probabilities from the visits: 0 is greedy, 1 proportional, infinity uniform.

        They are an array over all actions of the game; in a Python problem a dictionary of its own actions.
        """
        return self._over_actions(self.shares(temperature))

    def _over_actions(self, shares: FloatArray) -> Any:
        """Return a number for each legal action as an array over all actions; in a Python problem as a dictionary."""
        if not self._search._driver.is_game:
            return dict(zip(self.actions, shares.tolist(), strict=True))
        policy = np.zeros(self.position.game.facts.num_actions)
        policy[self.numbers] = shares
        return policy

    def shares(self, temperature: float) -> FloatArray:
        """Return a probability for each legal action, by its visits: 0 is greedy, 1 proportional, infinity uniform."""
        if not temperature >= 0:
            raise ConfigError(f"temperature must be a number of at least 0, not {temperature!r}")
        tried = self.counts > 0
        if not tried.any():
            return np.full(len(self.counts), 1.0 / len(self.counts))
        if temperature == 0:
            best = self.counts == self.counts.max()
            return np.asarray(best / best.sum())
        # In log space, because visits ** (1 / temperature) would overflow.
        logs = np.log(np.maximum(self.counts, 1))
        with np.errstate(over="ignore"):
            weights = np.where(tried, np.exp((logs - logs[tried].max()) / temperature), 0.0)
        return np.asarray(weights / weights.sum())

    @cached_property
    def chosen(self) -> int:
        """The index of the move to play, in `counts`, `means` and the other arrays of the moves."""
        return choose(self)[0]

    @property
    def middle(self) -> float:
        """The middle of the utility range."""
        return self.position.game.facts.middle

    @property
    def contenders(self) -> npt.NDArray[np.bool_]:
        """The moves that may be best: all but those that failed or are proven to be worse than another one."""
        if self.lower is None or self.upper is None:
            return self.playable
        return np.asarray(self.playable & (self.upper >= self.lower[self.playable].max()))

    @property
    def playable(self) -> npt.NDArray[np.bool_]:
        """The moves that have not failed; all of them if all have."""
        return self._root.playable

    @property
    def clipped_means(self) -> FloatArray:
        """Mean values, clipped to the proven bounds."""
        if self.lower is None or self.upper is None:
            return self.means
        return np.where(self.counts > 0, np.clip(self.means, self.lower, self.upper), math.nan)

    @property
    def uncertainties(self) -> FloatArray:
        """The standard error of each mean; NaN where the search keeps no squares."""
        return uncertainty(self.counts, self.deviations)

    @property
    def gumbel_scores(self) -> FloatArray | None:
        """For each move its Gumbel number plus logit and completed value, to break ties; None without Gumbel."""
        return None if self.gumbel is None else self.gumbel + self._logits()

    def _logits(self) -> FloatArray:
        rule = self.config.rule if isinstance(self.config.rule, Completed) else Completed()
        return rule.logits(self.own_value, self.counts, self.means, self.priors)

    def target(self) -> Any:
        """Return the training target of a policy, over all actions; in a Python problem a dictionary of its actions.

        It comes from completed values for Gumbel, else from the visits, without forced playouts.
        """
        if isinstance(self.config.rule, Completed):
            return self._over_actions(softmax(self._logits()))
        if isinstance(self.config.rule, Puct) and self.config.rule.forced_playouts and self.counts.any():
            total = max(int(self.counts.sum()), 1)
            kept = pruned_visits(self, self.config.rule.c_at(total) * math.sqrt(total))
            return self._over_actions(kept / kept.sum())
        return self._over_actions(self.shares(1.0))

    @property
    def solved(self) -> bool:
        """Whether the value of the position is proven."""
        return self.proof is not None

    @property
    def has_tree(self) -> bool:
        """Whether `tree` is still the tree of this result: the search has not continued, and nothing was merged."""
        unchanged = self.tree.generation == self._generation and self.tree.root_visits == self.root_visits
        return unchanged and self.merged is None

    def lines(self, count: int = 3) -> list[Line]:
        """Return the principal variations of the most visited moves, as long as the search has not continued."""
        if self.tree.has_information_sets:
            raise ConfigError(
                "information-set search has no variations, because what follows a move depends on hidden information: "
                "use `pv`, `visits` or `explain`"
            )
        if self.merged is None and not self.has_tree:
            raise StaleNodeError(
                "the search has continued, so the tree no longer has the variations of this result: call `lines` "
                "before the next run or move"
            )
        order = np.argsort(-self.counts, kind="stable")[:count]
        return [Line.of(self, int(index)) for index in order if self.counts[index] > 0 or index == order[0]]

    def explain(self) -> Explanation:
        """Return the visits, value, prior, exploration term and score of each move, and the reason for the choice."""
        names = [self.name_of(index) for index in range(len(self.numbers))]
        config = self.config
        explanation = explain(config, self._statistics(names), facts=self.position.game.facts, node=self._node_facts())
        index, why = choose(self)
        return replace(explanation, chosen=names[index], why=why())

    def _statistics(self, names: list[str]) -> dict[str, Statistics]:
        if not self.config.rule.works_in(TREES):
            shares = self.strategy().values()
            rows = zip(names, self.counts, self.means, shares, strict=True)
            return {
                name: Statistics(int(count), float(mean) if count else None, share) for name, count, mean, share in rows
            }
        return {
            name: Statistics(
                int(self.counts[index]),
                None if not self.counts[index] else float(self.means[index]),
                float(self.priors[index]) if self.config.rule.reads_priors else None,
                None if math.isnan(self.deviations[index]) else float(self.deviations[index]) ** 2,
                None
                if self.lower is None or self.upper is None
                else (float(self.lower[index]), float(self.upper[index])),
                failed=bool(self.failed[index]),
                unopened=bool(self.unopened[index]),
            )
            for index, name in enumerate(names)
        }

    def _node_facts(self) -> NodeFacts:
        return NodeFacts(
            self.own_value if isinstance(self.config.rule, Completed) else self.value, self.root_visits, self.scale
        )

    def report(self) -> Report:
        """Return all that is needed to repeat the search and to judge it."""
        return report_of(self._search, self.position, self.usage)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; the keys are the same in all commands' JSON."""
        explanation = self.explain()
        plain = {
            "game": self.position.game.name,
            "moves": self.position.moves(),
            "player": self.player,
            "action": self.action if self._search._driver.is_game else self.move,
            "move": self.move,
            "value": self.value,
            "values": self.values,
            "visits": {row.move: row.visits for row in explanation.rows},
            "pv": self.pv,
            "best": None if self.best is None else self.best.to_dict(),
            "simulations": self.simulations,
            "elapsed": self.elapsed,
            "solved": None if self.proof is None else self.proof.to_dict(),
            "stopped": self.usage.stopped,
            "explain": explanation.to_dict(),
            "report": self.report().to_dict(),
        }
        if self.merged is not None:
            plain["merged"] = self.merged.to_dict()
        if self._search._driver.is_game:
            return plain
        return plain | {
            "cost": self.cost,
            "calls": self.calls,
            "failures": [failure.to_dict() for failure in self.failures],
            "failed_rollouts": self.failed_rollouts,
        }

    def json(self) -> str:
        """Return the same as JSON text."""
        return json_text(self.to_dict())

    def _lines(self, explanation: Explanation) -> list[str]:
        variation = " ".join(self.pv) or "none yet"
        rate = self.simulations / self.elapsed if self.elapsed else 0.0
        kind = "" if self.usage.method == Driver.method else f" of {self.usage.method}"
        speed = kind + (f" in {self.elapsed:.3g} s ({rate:,.0f} a second)" if rate else "")
        return [
            f"plays {explanation.chosen}: {explanation.why}",
            *([f"proven: {self.proof}"] if self.proof is not None else []),
            f"value {self.value:+.4f} for player {self.player}, who is to move; principal variation {variation}",
            *([f"best solution: {self.best}"] if self.best is not None else []),
            *([explanation.scale_note] if explanation.scale is not None else []),
            f"{self.simulations:,} simulations{speed}, {self.usage.nodes:,} nodes, {self.config}, seed {self.seed}"
            + _together(self._search.together)
            + (f"; stopped because {self.usage.stopped}" if self.usage.stopped_early else ""),
            *([str(self.merged)] if self.merged is not None else []),
            *self._problem_lines(),
        ]

    def _problem_lines(self) -> list[str]:
        """Return lines about failures and about evaluations made elsewhere."""
        cost = f", cost {self.cost:g}" if self.cost else ""
        nodes = [failure for failure in self.failures if failure.ends_node]
        rollouts = [failure for failure in self.failures if not failure.ends_node]
        return [
            *([f"{self.calls:,} evaluations elsewhere{cost}"] if self.calls else []),
            *listed(f"nodes that failed and are left out: {len(nodes):,}", nodes, len(nodes)),
            *listed(
                f"rollouts that failed and were made again: {self.failed_rollouts:,}", rollouts, self.failed_rollouts
            ),
        ]

    def __str__(self) -> str:
        explanation = self.explain()
        head, cells = explanation.table(_ROWS_SHOWN)
        more = len(explanation.rows) - len(cells)
        table = text_table(head, cells) + (f"\n... and {more} more" if more else "")
        return "\n".join([self.position.shown_to(self.player), "", table, "", *self._lines(explanation)])

    def _repr_html_(self) -> str:
        explanation = self.explain()
        return (
            "<div style='display:flex;gap:2em;align-items:flex-start;flex-wrap:wrap'>"
            f"{html_board(self.position.shown_to(self.player))}"
            f"<div>{html_table(*explanation.table(_ROWS_SHOWN), explanation.chosen or '')}</div></div>"
            f"{html_lines(self._lines(explanation))}"
        )


def _together(options: dict[str, Any]) -> str:
    """Return the threads of a search as text; empty if there is one, as usual."""
    threads = f", {options['threads']} threads" if options else ""
    return threads + (", deterministic" if options.get("deterministic") else "")
