"""PettingZoo's games, searched and played."""

from __future__ import annotations

import copy

import pytest

import treetop as tt
from treetop.adapters import PettingZooPolicy, PettingZooProblem, RandomStepError
from treetop.errors import ConfigError

pytest.importorskip("pettingzoo")
pytest.importorskip("pygame")

from pettingzoo.classic.connect_four import connect_four as connect_four_v3
from pettingzoo.classic.tictactoe import tictactoe as tictactoe_v3
from pettingzoo.utils.env import AECEnv, ParallelEnv


def started(module, *actions, seed=1):
    env = module.env()
    env.reset(seed=seed)
    for action in actions:
        env.step(action)
    return env


def play(module, policies, rng):
    """One game; policies by seat, None for random moves. What each agent received in all."""
    env = started(module)
    received = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        received[agent] += reward
        policy = policies[env.possible_agents.index(agent)]
        if terminated or truncated:
            env.step(None)
        elif policy is not None:
            env.step(policy(env))
        else:
            allowed = [action for action, may in enumerate(observation["action_mask"]) if may]
            env.step(allowed[rng.below(len(allowed))])
    return list(received.values())


def run(env, simulations=500, config=None):
    return tt.Search(PettingZooProblem(env), config, seed=1).run(tt.Limit(simulations=simulations))


def test_a_win_and_a_block_are_found():
    win = started(tictactoe_v3, 0, 8, 1, 7)
    assert (run(win).player, run(win).action) == (0, 2)
    block = started(tictactoe_v3, 0, 4, 1)
    assert (run(block).player, run(block).action) == (1, 2)


def test_tic_tac_toe_is_proven_a_draw_from_its_middle():
    result = run(started(tictactoe_v3, 4, 0), 20_000, tt.uct(solver=True))
    assert result.solved
    assert result.value == 0.0


def test_connect_four_knows_its_full_columns():
    env = started(connect_four_v3, 3, 3, 3, 3, 3, 3)
    problem = PettingZooProblem(env)
    assert problem.actions(problem.initial()) == [0, 1, 2, 4, 5, 6]


def test_a_search_leaves_the_environment_as_it_was():
    env = started(connect_four_v3, 3, 2)
    inner = env.unwrapped
    before = (copy.deepcopy(inner.board), inner.agent_selection, dict(inner.rewards), dict(inner.terminations))
    PettingZooPolicy(tt.Limit(simulations=100), seed=1)(env)
    assert (inner.board, inner.agent_selection, inner.rewards, inner.terminations) == before


@pytest.mark.parametrize(("module", "games", "simulations"), [(tictactoe_v3, 16, 60), (connect_four_v3, 6, 30)])
def test_games_against_random_moves_are_played_to_their_end_and_won(module, games, simulations):
    rng, total = tt.Rng(1), 0.0
    for game in range(games):
        seat = game % 2
        policies = [None, None]
        policies[seat] = PettingZooPolicy(tt.Limit(simulations=simulations), seed=game)
        received = play(module, policies, rng)
        assert sum(received) == 0
        total += received[seat]
    assert total >= 0.6 * games


def test_when_it_is_over_for_an_agent_there_is_no_action():
    env = started(tictactoe_v3, 0, 8, 1, 7, 2)
    assert PettingZooPolicy(seed=1)(env) is None


class Dice(AECEnv):
    """Whoever rolls the higher number wins: drawn inside of a step."""

    metadata = {"name": "dice"}  # noqa: RUF012
    possible_agents = ["one", "two"]  # noqa: RUF012

    def reset(self, seed=None, options=None):
        import numpy as np

        self.agents, self.agent_selection, self.random = list(self.possible_agents), "one", np.random.default_rng(seed)
        self.rewards = self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": [1, 1]} for agent in self.agents}

    def observe(self, agent):
        return None

    def step(self, action):
        self.agent_selection = "two" if self.random.integers(2) else "one"


def test_a_game_that_draws_inside_of_a_step_is_reported():
    env = Dice()
    env.reset(seed=1)
    with pytest.raises(RandomStepError, match="draws random numbers"):
        run(env)


def test_what_cannot_be_searched_is_reported():
    with pytest.raises(ConfigError, match="agents act in turn"):
        PettingZooProblem("tictactoe_v3")
    with pytest.raises(ConfigError, match="was not reset"):
        PettingZooProblem(tictactoe_v3.env())


@pytest.mark.parametrize("use", [PettingZooProblem, PettingZooPolicy()])
def test_a_parallel_environment_is_refused_with_what_to_use_instead(use):
    class Together(ParallelEnv):
        metadata = {"name": "together"}  # noqa: RUF012 - as PettingZoo writes it

    with pytest.raises(ConfigError, match=r"parallel environment.*use its AEC environment, env\(\)"):
        use(Together())
    with pytest.raises(ConfigError, match="must be a PettingZoo environment"):
        use("together")
