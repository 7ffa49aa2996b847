"""The part of a search over Python objects that meets the caller's code: it steps states, evaluates leaves and hands them to the kernel."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

from treetop.errors import SearchError
from treetop.kernels.problem import CLOSED, END, FULL, OPEN, STOPPED, TAKE, TOO_DEEP, UNLISTED
from treetop.search.config import SearchConfig
from treetop.search.interrupts import Interrupts
from treetop.search.problems.evaluator import Drawn, NoValueError, ProblemEvaluator
from treetop.search.problems.nodes import ProblemNodes
from treetop.search.problems.outcomes import Failure
from treetop.search.problems.problem import ProblemError, ProblemView, shown
from treetop.types import CHANCE, ROOT

_LISTED = 1000  # failed rollouts that are listed; the others are counted
_IN_A_ROW = 1000  # failed rollouts, without a simulation between them, after which the search gives up


class Explorer:
    """Between the kernel, which knows nodes, and the problem, which knows states. A failure of the caller's code ends a node, not the search."""

    def __init__(
        self,
        nodes: ProblemNodes,
        view: ProblemView,
        config: SearchConfig,
        evaluate: ProblemEvaluator,
        expand_after: int,
    ) -> None:
        self.nodes, self.view, self.config, self.evaluate, self.expand_after = (
            nodes,
            view,
            config,
            evaluate,
            expand_after,
        )
        self.played: list[Any] = []
        """The actions that lead to the root, from where the search began."""
        self.failures: list[Failure] = []
        """Nodes that failed and are left out, and rollouts that failed."""
        self.failed_rollouts = 0
        self._in_a_row = 0  # rollouts that failed since the last one that succeeded

    def advance_by(self, simulations: int, interrupts: Interrupts) -> None:
        """Run so many simulations, or until the root is proven or Ctrl-C is seen."""
        nodes = self.nodes
        nodes.begin(simulations)
        found = nodes.simulate()
        try:
            while found != STOPPED:
                if found >= 0:
                    if interrupts.seen:
                        nodes.release(found)
                        break
                    found = self._see_to(found)
                else:
                    found = self.help(found)
        finally:
            nodes.sync()

    def help(self, found: int) -> int:
        """What the kernel asks for beside evaluations."""
        nodes = self.nodes
        if found in (FULL, TOO_DEEP):
            nodes.ensure_capacity(0)
            return nodes.simulate()
        if found == UNLISTED:
            nodes.sync()
            return self._open(nodes.node)
        if found == CLOSED and self.config.solver:
            return STOPPED
        raise self.all_failed()

    def _see_to(self, leaf: int) -> int:
        """Evaluate a leaf, hand it back to the kernel, and go on to the next one."""
        nodes = self.nodes
        if leaf >= len(nodes.moves):
            nodes.sync()
        try:
            looked = self.look(leaf)
            if looked is None:
                self._in_a_row = 0
                return nodes.simulate(END, leaf)
            mover, actions, weights = looked
            prior, values = self.evaluate(nodes.states[leaf], mover, actions, self._stream())
        except NoValueError:
            nodes.release(leaf)
            nodes.control["rng"] = nodes.stream.word
            self.note_rollouts(leaf)
            return self._walk_on(leaf, mover, actions, weights)
        except Exception as error:
            nodes.release(leaf)
            if isinstance(error, ProblemError):
                raise
            self.bury(leaf, reason_of(error), where_of(error))
            return nodes.simulate()
        except BaseException:
            nodes.release(leaf)
            raise
        nodes.control["rng"] = nodes.stream.word
        if self.evaluate.failed:
            self.note_rollouts(leaf)
        self._in_a_row = 0
        return self.take(leaf, mover, actions, weights if prior is None else prior, values)

    def note_rollouts(self, leaf: int) -> None:
        """List the rollouts and draws that failed at a leaf."""
        failed = self.evaluate.failed
        self.failed_rollouts += len(failed)
        self._in_a_row += len(failed)
        path = (*self.played, *self.nodes.path(leaf))
        for error in failed[: max(0, _LISTED - self.failed_rollouts + len(failed))]:
            self.failures.append(
                Failure(path, f"a rollout failed: {reason_of(error)}", where_of(error), ends_node=False)
            )
        last = failed[-1]
        failed.clear()
        if self._in_a_row >= _IN_A_ROW:
            row, self._in_a_row = self._in_a_row, 0
            raise SearchError(
                f"{row:,} rollouts in a row failed; the last: {reason_of(last)} ({where_of(last)}): correct it, or give an evaluator"
                f"{shown(self.nodes.states[leaf])}"
            ) from last

    def _walk_on(self, leaf: int, mover: int, actions: list[Any], weights: list[float] | None) -> int:
        """Try the moves of a leaf one by one: no rollout from it succeeded, so nothing is known of it, and no visit is counted."""
        nodes, deepest = self.nodes, self.config.growth.max_depth
        if deepest is not None and nodes.depth_of(leaf) >= deepest:
            self.bury(leaf, "no rollout from it succeeded, and max_depth allows no deeper look")
            return nodes.simulate()
        if nodes.path_is_full or not nodes.ensure(len(actions)):  # the kernel asks for room, and comes back here
            return nodes.simulate()
        nodes.movers[leaf] = mover
        nodes.tree.opens_unevaluated = True
        return nodes.simulate(OPEN, leaf, mover, len(actions), 0, self._arrange(leaf, mover, actions, weights))

    def _stream(self) -> Any:
        """The random numbers, where the kernel has left them."""
        stream = self.nodes.stream
        stream.word = int(self.nodes.control["rng"][0])
        return stream

    def draw(self, state: Any) -> Drawn:
        """What chance leads to from a state, by the search's own random numbers."""
        drawn = self.evaluate.after_chance(state, self._stream())
        self.nodes.control["rng"] = self.nodes.stream.word
        return drawn

    def look(self, leaf: int) -> tuple[int, list[Any], list[float] | None] | None:
        """Step to a leaf: who is to move there, the actions, and how likely they are. None where it is the end, whose rewards are noted."""
        nodes, view = self.nodes, self.view
        state = nodes.states[leaf]
        if state is None:
            parent = nodes.parents[leaf]
            state, received = view.step(nodes.states[parent], nodes.moves[leaf])
            nodes.states[leaf] = state
            if received is not None:
                nodes.scratch.work.node_steps[leaf] = received
        if view.is_terminal(state):
            nodes.write_rewards(view.rewards(state))
            return None
        mover = view.player(state)
        if mover == CHANCE:
            actions, probabilities = view.outcomes(state)
            nodes.listed[leaf] = actions
            return mover, actions, probabilities
        actions = view.actions(state)
        weights = None if view.own_prior is None else view.weights(view.own_prior(state, actions), actions)
        nodes.listed[leaf] = actions
        return mover, actions, weights

    def take(self, leaf: int, mover: int, actions: list[Any], weights: list[float] | None, values: list[float]) -> int:
        """Hand a leaf's evaluation to the kernel, which goes on to the next leaf."""
        nodes = self.nodes
        opens = self._may_expand(leaf) and nodes.ensure(len(actions))
        later = len(actions) if weights is None and nodes.expands_down else 0
        weighted = self._arrange(leaf, mover, actions, weights) if opens else 0
        nodes.write_rewards(values)
        if opens:
            return nodes.simulate(TAKE, leaf, mover, len(actions), 0, weighted)
        nodes.expect(len(actions))
        if weights is not None and nodes.expands_down:
            nodes.waiting[leaf] = weights
        return nodes.simulate(TAKE, leaf, mover, 0, later, 0)

    def _arrange(self, leaf: int, mover: int, actions: list[Any], weights: list[float] | None) -> int:
        """Write the priors of a leaf that is opened; where widening opens moves one by one, the likeliest come first."""
        if weights is None:
            return 0
        if self.config.widening.actions is not None and mover != CHANCE:
            order = sorted(range(len(actions)), key=[-weight for weight in weights].__getitem__)
            self.nodes.listed[leaf] = [actions[index] for index in order]
            weights = [weights[index] for index in order]
        self.nodes.write_weights(weights)
        return 1

    def _may_expand(self, leaf: int) -> bool:
        after, deepest = self.expand_after, self.config.growth.max_depth
        if after and self.nodes.tree.columns.stats["visits"][leaf] < after:
            return False
        return deepest is None or self.nodes.depth_of(leaf) < deepest

    def _open(self, node: int) -> int:
        """The kernel stands at a node that is ripe, and asks for its actions."""
        nodes = self.nodes
        actions, weights, mover = nodes.listed[node], nodes.waiting.pop(node, None), int(nodes.movers[node])
        if actions is None or weights is None:
            looked = self._look_again(node)
            if looked is None:
                return nodes.simulate()
            mover, actions, weights = looked
        if not nodes.ensure(len(actions)):  # the tree must be folded first: this time it is evaluated once more
            nodes.control["turn"] += 1
            return self._see_to(node)
        weighted = self._arrange(node, mover, actions, weights)
        return nodes.simulate(OPEN, node, mover, len(actions), 0, weighted)

    def _look_again(self, node: int) -> tuple[int, list[Any], list[float] | None] | None:
        """Look at a node that was looked at before and has lost its children since; None where it fails now."""
        try:
            looked = self.look(node)
        except ProblemError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the caller's code raises ends this node, and nothing else
            self.bury(node, reason_of(error), where_of(error))
            return None
        if looked is None:
            raise SearchError(
                f"{self.view.name}.is_terminal says now that it is the end, and did not before{shown(self.nodes.states[node])}"
            )
        return looked

    def bury(self, leaf: int, reason: str, where: str = "") -> None:
        """A node failed: it is left out from now on. With all actions of the root gone, there is nothing left to search."""
        for node in self.nodes.bury(leaf, reason):
            self.failures.append(Failure((*self.played, *self.nodes.path(node)), self.nodes.dead[node], where))
            if node == ROOT:
                raise self.all_failed()

    def all_failed(self) -> SearchError:
        """The error for a root that is dead."""
        reason = self.nodes.dead.get(ROOT, self.failures[-1].reason if self.failures else "nothing is left to choose")
        where = f" ({self.failures[-1].where})" if self.failures and self.failures[-1].where else ""
        return SearchError(f"the root itself failed: {reason}{where}{shown(self.nodes.states[ROOT])}")


def where_of(error: BaseException) -> str:
    """The line that raised an exception."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}: {frames[-1].line}" if frames else ""


def reason_of(error: BaseException) -> str:
    """An exception in words."""
    return f"{type(error).__name__}: {error}"
