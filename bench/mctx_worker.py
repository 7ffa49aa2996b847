"""Answer requests for a measurement of mctx: a Gumbel search of many games of Connect Four (pgx) in lockstep.

Each line of the input is "GAMES SIMULATIONS"; the answer is the wall and the CPU seconds of one call of the compiled
policy, with steps of the environment, zero values and uniform priors. `bench/wide.py` starts it.
"""

from __future__ import annotations

import functools
import json
import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import mctx
import pgx

ENV = pgx.make("connect_four")
step, init = jax.vmap(ENV.step), jax.vmap(ENV.init)


def recurrent(_: Any, key: Any, action: Any, state: Any) -> Any:
    """Step the environment: the model of the search is the game itself."""
    del key
    mover = state.current_player
    state = step(state, action)
    reward = state.rewards[jnp.arange(len(mover)), mover]
    logits = jnp.where(state.legal_action_mask, 0.0, jnp.finfo(jnp.float32).min)
    discount = jnp.where(state.terminated, 0.0, -1.0)
    output = mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits, value=jnp.zeros(len(mover)))
    return output, state


@functools.partial(jax.jit, static_argnames=("simulations",))
def search(key: Any, state: Any, simulations: int) -> Any:
    """Return the actions that a Gumbel search chooses."""
    logits = jnp.where(state.legal_action_mask, 0.0, jnp.finfo(jnp.float32).min)
    root = mctx.RootFnOutput(prior_logits=logits, value=jnp.zeros(len(logits)), embedding=state)
    found = mctx.gumbel_muzero_policy(
        None, key, root, recurrent, simulations, invalid_actions=~state.legal_action_mask,
        max_num_considered_actions=16,
    )  # fmt: skip
    return found.action


def main() -> None:
    """Read requests until the input ends."""
    ready: set[tuple[int, int]] = set()
    states: dict[int, Any] = {}
    for line in sys.stdin:
        games, simulations = map(int, line.split())
        key = jax.random.PRNGKey(len(ready))
        state = states.setdefault(games, init(jax.random.split(key, games)))
        if (games, simulations) not in ready:
            search(key, state, simulations).block_until_ready()  # compiles
            ready.add((games, simulations))
        wall, cpu = time.perf_counter(), time.process_time()
        search(key, state, simulations).block_until_ready()
        print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]), flush=True)


if __name__ == "__main__":
    main()
