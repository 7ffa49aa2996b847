"""The search as an object: limits, settings, evaluators, results, explanations, reports, files.

`treetop.search` is this package and can be called: `treetop.search("connect_four", simulations=1000)`.
"""

from treetop.lazy import make_callable

make_callable(__name__, "treetop.search.search", "search")
