"""MuZero: a search over a learned model, for problems whose rules are not known.

`treetop.train.muzero` is this package and can be called: `treetop.train.muzero("CartPole-v1", out="run", minutes=5)`.

>>> from treetop.train.muzero import MuZeroOptions
>>> MuZeroOptions(minutes=10).minutes
10
"""

from treetop.lazy import exports, make_callable

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "run": "MuZeroIteration MuZeroRun read_muzero_events",
        "options": "MuZeroOptions",
        "play": "Episodes MuZeroPolicy",
    },
)

make_callable(__name__, "treetop.train.muzero.run", "muzero")
