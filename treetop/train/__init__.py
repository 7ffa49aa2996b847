"""Training: a network learns a game by self-play.

`treetop.train` is this package and can be called: `treetop.train("connect_four", out="run", minutes=30)`.

>>> from treetop.train import TrainOptions
>>> TrainOptions(minutes=10).minutes
10
"""

from treetop.lazy import exports, make_callable

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "run": "Iteration Rated Run read_events",
        "options": "TrainOptions",
        "report": "draw",
        "learner": "LearnerOptions",
        "samples": "Replay Samples",
    },
)

make_callable(__name__, "treetop.train.run", "train")
