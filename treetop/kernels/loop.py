"""The search loop: the entry points that are compiled for each game.

A simulation has four phases: select, expand, evaluate, back up. Nothing is written to the tree before the last one, save for the children of
an expanded leaf; so an exception in a game's method, a tie that the caller must break or a full tree leaves it whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treetop.compiler.functions import CompiledFunction, inline_kernel, kernel
from treetop.compiler.intrinsics import local_copy, local_rng, prefetch, rng_word, state_at
from treetop.kernels.backup import backup
from treetop.kernels.control import BAD_PLAYER, DONE, NEED_ROOM, TIE, TOO_LONG, UNIFORM
from treetop.kernels.evaluate import outcome, rollout
from treetop.kernels.expand import expand
from treetop.kernels.select import forget_answers, select, select_watching
from treetop.tree.layout import MANY_OWN, TERMINAL
from treetop.types import NONE, ROOT


def _descend_by(choose: CompiledFunction[..., int], *, expands: bool) -> CompiledFunction[..., Any]:
    @inline_kernel
    def descend(
        control: Any, stats: Any, links: Any, returns: Any, in_flight: Any, state: Any,
        path: Any, movers: Any, actions: Any, tied: Any, answers: Any, rng: Any,
    ) -> Any:  # fmt: skip
        """Walk down to the node to be evaluated; how deep it lies. `path` ends there, and `state` walks along.

        Anything wrong is left in `control`.
        """
        node: Any = np.uint64(ROOT)  # these are of one type from the start, else Numba compiles everything below twice
        depth: Any = np.int64(0)
        may_expand = expands  # once a simulation: the caller made room for one block of children
        path[0] = ROOT
        control[0].depth = 0
        while True:
            if links[node].num_children == 0:
                if state.is_terminal():
                    links[node].flags |= TERMINAL
                    return depth
                visits = stats[node].visits
                if may_expand and visits >= control[0].expand_after and depth < control[0].max_depth:
                    may_expand = False
                    expand(control, stats, links, returns, in_flight, node, state, actions)
                    if control[0].status != DONE:
                        return depth
                if visits == 0 or links[node].num_children == 0:
                    return depth
            mover = np.int64(state.current_player())
            if mover < 0 or mover >= control[0].players:
                control[0].status, control[0].culprit = BAD_PLAYER, mover
                return depth
            if depth >= control[0].max_length:
                control[0].status = TOO_LONG
                return depth
            first, count = np.uint64(links[node].first_child), np.uint64(links[node].num_children)
            visits_below = stats[node].visits - links[node].own if links[node].own < MANY_OWN else NONE
            child = np.int64(choose(control, stats, in_flight, first, count, visits_below, tied, answers, rng))
            if child == NONE:
                control[0].status = TIE
                return depth
            node = np.uint64(child)
            # The next level is on its way while the game makes its move: the two cache lines that most blocks of children begin in.
            below = np.int64(links[node].first_child)
            prefetch(stats, below)
            prefetch(stats, below + 4)
            prefetch(links, below)
            prefetch(links, below + 4)
            movers[depth] = mover
            depth += 1
            path[depth] = node
            control[0].depth = depth  # for the text of an error, should the game's method raise one
            state.apply(np.int64(links[node].action))

    return descend


_descend = _descend_by(select, expands=True)
descend_watching = _descend_by(select_watching, expands=False)  # priors come with the evaluation: see batch.py


@kernel
def run(
    game: Any, control: Any, stats: Any, links: Any, returns: Any, in_flight: Any, totals: Any, root: Any,
    path: Any, movers: Any, actions: Any, rewards: Any, tied: Any, answers: Any,
) -> None:  # fmt: skip
    """Run simulations until the budget is used up, or something needs the caller: `control` says what."""
    rng = local_rng(control[0].rng)
    control[0].done = 0
    control[0].status = DONE
    while control[0].done < control[0].budget:
        if control[0].size + control[0].num_actions > control[0].capacity:
            control[0].status = NEED_ROOM
            break
        control[0].answered = 0
        state = local_copy(state_at(game, root, 0))
        # 1. and 2. Select, and expand at the end of the path.
        depth = _descend(control, stats, links, returns, in_flight, state, path, movers, actions, tied, answers, rng)
        if control[0].status != DONE:
            break
        # 3. Evaluate.
        if links[path[depth]].flags & TERMINAL:
            outcome(control, state, rewards)
        elif control[0].evaluator == UNIFORM:
            rewards[:] = control[0].middle
        else:
            rollout(control, state, depth, actions, rewards, rng)
        if control[0].status != DONE:
            break
        # 4. Back up.
        backup(stats, links, returns, totals, path, movers, depth, rewards)
        forget_answers(control, answers)
        control[0].done += 1
        control[0].rng = rng_word(rng)
