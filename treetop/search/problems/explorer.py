"""Calls of the user's code in the search of a Python problem: it steps to leaves, evaluates them and expands nodes."""

from __future__ import annotations

from typing import Any

from treetop.errors import SearchError
from treetop.game.lines import users_line
from treetop.kernels.problem import CLOSED, END, FULL, OPEN, STOPPED, TAKE, TOO_DEEP, UNLISTED
from treetop.search.config import SearchConfig
from treetop.search.interrupts import Interrupts
from treetop.search.problems.checked import CheckedProblem
from treetop.search.problems.evaluator import Drawn, NoValueError, ProblemEvaluator
from treetop.search.problems.failing import ProblemError, described, reason_of, shown
from treetop.search.problems.nodes import ProblemNodes
from treetop.search.problems.outcomes import Failure
from treetop.search.solution import Trail
from treetop.types import CHANCE, ROOT

_LISTED = 1000  # failed rollouts that are listed; the others are counted
_IN_A_ROW = 1000  # failed rollouts, without a simulation between them, after which the search stops


class Explorer:
    """The link between the kernel, which has nodes, and the problem, which has states.

    An error of the user's code ends a node, not the search.
    """

    def __init__(
        self,
        nodes: ProblemNodes,
        problem: CheckedProblem,
        config: SearchConfig,
        evaluate: ProblemEvaluator,
        expand_after: int,
    ) -> None:
        self.nodes, self.problem, self.config = nodes, problem, config
        self.evaluate, self.expand_after = evaluate, expand_after
        self.played: list[Any] = []
        """The actions that lead to the root from the start of the search."""
        self.failures: list[Failure] = []
        """Nodes that failed and are skipped, and failed rollouts."""
        self.failed_rollouts = 0
        self.best: Trail | None = None
        """The best complete solution from the root on; None where it saw none, with several players, or with chance."""
        self.received = [0.0] * problem.players
        """The sum of the immediate rewards of the played actions, for each player."""
        self._in_a_row = 0  # rollouts that failed since the last success

    def advance_by(self, simulations: int, interrupts: Interrupts) -> None:
        """Run `simulations` simulations, or until the root is proven or Ctrl-C is pressed."""
        nodes = self.nodes
        nodes.set_budget(simulations)
        found = nodes.simulate()
        try:
            while found != STOPPED:
                if found >= 0:
                    if interrupts.seen:
                        nodes.release(found)
                        break
                    found = self._process(found)
                else:
                    found = self.handle(found)
        finally:
            nodes.sync()

    def handle(self, found: int) -> int:
        """Handle a request of the kernel other than an evaluation; return its next request."""
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

    def _process(self, leaf: int) -> int:
        """Evaluate a leaf, pass it to the kernel, and return its next request."""
        nodes = self.nodes
        if leaf >= len(nodes.moves):
            nodes.sync()
        try:
            inspected = self.inspect(leaf)
            if inspected is None:
                self._in_a_row = 0
                return nodes.simulate(END, leaf)
            mover, actions, weights = inspected
            prior, values = self.evaluate(nodes.states[leaf], mover, actions, self._stream())
        except NoValueError:
            nodes.release(leaf)
            nodes.control["rng"] = nodes.stream.word
            self.note_rollouts(leaf)
            return self._open_unevaluated(leaf, mover, actions, weights)
        except Exception as error:
            nodes.release(leaf)
            if isinstance(error, ProblemError):
                raise
            self.mark_failed(leaf, reason_of(error), users_line(error))
            return nodes.simulate()
        except BaseException:
            nodes.release(leaf)
            raise
        nodes.control["rng"] = nodes.stream.word
        if self.evaluate.failed:
            self.note_rollouts(leaf)
        if self.evaluate.best_rollout is not None:
            self._compare(leaf, self.evaluate.best_rollout)
            self.evaluate.best_rollout = None
        self._in_a_row = 0
        return self.absorb(leaf, mover, actions, weights if prior is None else prior, values)

    def note_rollouts(self, leaf: int) -> None:
        """List the rollouts and draws that failed at a leaf; raise SearchError after too many in a row."""
        failed = self.evaluate.failed
        self.failed_rollouts += len(failed)
        self._in_a_row += len(failed)
        path = (*self.played, *self.nodes.path(leaf))
        for error in failed[: max(0, _LISTED - self.failed_rollouts + len(failed))]:
            self.failures.append(
                Failure(path, f"a rollout failed: {reason_of(error)}", users_line(error), ends_node=False)
            )
        last = failed[-1]
        failed.clear()
        if self._in_a_row >= _IN_A_ROW:
            row, self._in_a_row = self._in_a_row, 0
            raise SearchError(
                f"{row:,} rollouts in a row failed; the last: {described(last)}: correct it, or "
                f"give an evaluator{shown(self.nodes.states[leaf])}"
            ) from last

    def _open_unevaluated(self, leaf: int, mover: int, actions: list[Any], weights: list[float] | None) -> int:
        """Expand a leaf from which no rollout succeeded, to search its moves one by one. No visit is counted."""
        nodes, deepest = self.nodes, self.config.growth.max_depth
        if deepest is not None and nodes.depth_of(leaf) >= deepest:
            self.mark_failed(leaf, "no rollout from it succeeded, and max_depth allows no deeper search")
            return nodes.simulate()
        if nodes.path_is_full or not nodes.ensure(len(actions)):  # the kernel requests more nodes first
            return nodes.simulate()
        nodes.movers[leaf] = mover
        nodes.tree.opens_unevaluated = True
        return nodes.simulate(OPEN, leaf, mover, len(actions), 0, self._arrange(leaf, mover, actions, weights))

    def _stream(self) -> Any:
        """Return the random stream, set to the state of the kernel's generator."""
        stream = self.nodes.stream
        stream.word = int(self.nodes.control["rng"][0])
        return stream

    def draw(self, state: Any) -> Drawn:
        """Return a state after draws of chance, by the search's own random numbers."""
        drawn = self.evaluate.after_chance(state, self._stream())
        self.nodes.control["rng"] = self.nodes.stream.word
        return drawn

    def inspect(self, leaf: int) -> tuple[int, list[Any], list[float] | None] | None:
        """Step to a leaf, and return the player to move, the actions and their priors.

        At a terminal state write its rewards and return None.
        """
        nodes, problem = self.nodes, self.problem
        state = nodes.states[leaf]
        if state is None:
            parent = nodes.parents[leaf]
            state, received = problem.step(nodes.states[parent], nodes.moves[leaf])
            nodes.states[leaf] = state
            if received is not None:
                nodes.scratch.work.node_steps[leaf] = received
        if problem.has_step_rewards:
            self.evaluate.received = [self.received, *nodes.rewards_to(leaf)]
        if problem.is_terminal(state):
            rewards = problem.rewards(state)
            self.evaluate.check_total([rewards], state)
            nodes.write_rewards(rewards)
            if self.evaluate.keeps_rollouts and leaf != ROOT:
                self._compare(leaf, Trail((), (), rewards[0], state))
            return None
        mover = problem.player(state)
        if mover == CHANCE:
            actions, probabilities = problem.outcomes(state)
            nodes.listed[leaf] = actions
            return mover, actions, probabilities
        actions = problem.actions(state)
        weights = None if problem.own_prior is None else problem.priors(state, actions)
        nodes.listed[leaf] = actions
        return mover, actions, weights

    def _compare(self, leaf: int, rest: Trail) -> None:
        """Keep the solution that leads to the inspected leaf and then follows a trail, if it is the best one so far."""
        nodes = self.nodes
        received = [one[0] for one in self.evaluate.received[1:]]  # after those of the played actions
        if self.best is None or sum(received) + rest.total > self.best.total:
            actions = (*nodes.path(leaf), *rest.actions)
            self.best = Trail(actions, (*received, *rest.rewards), rest.final, rest.state)

    def absorb(
        self, leaf: int, mover: int, actions: list[Any], weights: list[float] | None, values: list[float]
    ) -> int:
        """Pass the evaluation of a leaf to the kernel, and return its next request."""
        nodes = self.nodes
        opens = self._may_expand(leaf) and nodes.ensure(len(actions))
        later = len(actions) if weights is None and nodes.expands_in_selection else 0
        weighted = self._arrange(leaf, mover, actions, weights) if opens else 0
        nodes.write_rewards(values)
        if opens:
            return nodes.simulate(TAKE, leaf, mover, len(actions), 0, weighted)
        nodes.expect(len(actions))
        if weights is not None and nodes.expands_in_selection:
            nodes.pending_priors[leaf] = weights
        return nodes.simulate(TAKE, leaf, mover, 0, later, 0)

    def _arrange(self, leaf: int, mover: int, actions: list[Any], weights: list[float] | None) -> int:
        """Write the priors of a leaf that is expanded; with progressive widening, sort its actions by them."""
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
        """Expand a node whose actions the kernel requests."""
        nodes = self.nodes
        actions, weights, mover = nodes.listed[node], nodes.pending_priors.pop(node, None), int(nodes.movers[node])
        if actions is None or weights is None:
            inspected = self._inspect_again(node)
            if inspected is None:
                return nodes.simulate()
            mover, actions, weights = inspected
        if not nodes.ensure(len(actions)):  # the tree must fold first: the node is evaluated once more
            nodes.control["turn"] += 1
            return self._process(node)
        weighted = self._arrange(node, mover, actions, weights)
        return nodes.simulate(OPEN, node, mover, len(actions), 0, weighted)

    def _inspect_again(self, node: int) -> tuple[int, list[Any], list[float] | None] | None:
        """Inspect a node that has lost its children; return None if it fails now."""
        try:
            inspected = self.inspect(node)
        except ProblemError:
            raise
        except Exception as error:  # noqa: BLE001 - any error of the user's code ends this node only
            self.mark_failed(node, reason_of(error), users_line(error))
            return None
        if inspected is None:
            raise SearchError(
                f"{self.problem.name}.is_terminal returned True, but False before: it must depend on the state alone"
                f"{shown(self.nodes.states[node])}"
            )
        return inspected

    def mark_failed(self, leaf: int, reason: str, where: str = "") -> None:
        """Mark a node as failed, so that it is skipped; raise SearchError if the root has no action left."""
        for node in self.nodes.mark_failed(leaf, reason):
            self.failures.append(Failure((*self.played, *self.nodes.path(node)), self.nodes.failed[node], where))
            if node == ROOT:
                raise self.all_failed()

    def all_failed(self) -> SearchError:
        """Return the error for a root that has failed."""
        reason = self.nodes.failed.get(ROOT, self.failures[-1].reason if self.failures else "no action is left")
        where = f" ({self.failures[-1].where})" if self.failures and self.failures[-1].where else ""
        return SearchError(f"the root itself failed: {reason}{where}{shown(self.nodes.states[ROOT])}")
