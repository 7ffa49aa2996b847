"""Other packages as problems, policies and games. Each is imported when one of its names is used, and not before.

>>> import gymnasium
>>> from treetop.adapters import *
>>> env = gymnasium.make("CartPole-v1")
>>> seen = env.reset(seed=1)
>>> isinstance(GymProblem(env).initial(), GymState)
True
>>> from pettingzoo.classic.tictactoe import tictactoe
>>> env = tictactoe.env()
>>> env.reset(seed=1)
>>> isinstance(PettingZooProblem(env).initial(), PettingZooState)
True
>>> game = as_openspiel("tic_tac_toe")
>>> isinstance(game, TreetopGame) and isinstance(game.new_initial_state(), TreetopState)
True
>>> import treetop
>>> issubclass(RandomStepError, treetop.TreetopError)
True
"""

from treetop.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "chess": "ChessProblem",
        "randomness": "RandomStepError",
        "gymnasium": "GymPolicy GymProblem GymState",
        "openspiel": "OpenSpielProblem TreetopBot",
        "openspiel_games": "TreetopGame TreetopState as_openspiel",
        "pettingzoo": "PettingZooPolicy PettingZooProblem PettingZooState",
    },
)
