"""Training: a network learns a game by self-play, or a model of an environment whose rules are not known (MuZero).

`treetop.train` is this package and can be called: `treetop.train("connect_four", out="run", minutes=30)`. So can
`treetop.train.muzero`.

>>> from treetop.train import TrainOptions
>>> TrainOptions(minutes=10).minutes
10
"""

from treetop.lazy import exports, make_callable

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "acceptance": "Accepted",
        "run": "Run",
        "events": "Iteration read_events",
        "ratings": "EloCurve EloPoint Rated fit_elo",
        "muzero": "Episodes MuZeroIteration MuZeroOptions MuZeroPolicy MuZeroRun read_muzero_events",
        "options": "LearnerOptions TrainOptions",
        "policies": "Policies",
        "replay": "Replay",
        "report": "draw write_report",
        "samples": "Samples",
        "tensorboard": "TensorBoard",
    },
)
__all__ = sorted([*__all__, "muzero"])  # a package that can be called

make_callable(__name__, "treetop.train.run", "train")
