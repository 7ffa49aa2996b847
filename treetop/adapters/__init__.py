"""Other packages as problems, policies and games. Each is imported when one of its names is used, and not before.

>>> from treetop import adapters
>>> adapters.OpenSpielProblem("tic_tac_toe").num_players          # doctest: +SKIP
2
"""

from treetop.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "chess": "ChessProblem",
        "clones": "RandomStepError",
        "gymnasium": "GymPolicy GymProblem GymState",
        "openspiel": "OpenSpielProblem TreetopBot",
        "openspiel_games": "TreetopGame TreetopState as_openspiel",
        "pettingzoo": "PettingZooPolicy PettingZooProblem PettingZooState",
    },
)
