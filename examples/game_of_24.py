"""Plan with a language model: tree search over the steps of the Game of 24, on a budget of tokens.

docs/language-models.md explains it.

python examples/game_of_24.py                                     a recorded conversation, offline
python examples/game_of_24.py 3 3 8 8 --model NAME --base-url http://localhost:8000/v1 --record talk.jsonl
python examples/game_of_24.py --replay talk.jsonl                 the same search again, offline, bit for bit
python examples/game_of_24.py 3 3 8 8 --adviser none              the search without any advice
"""

import sys
from collections.abc import Sequence

from reasoning.arguments import parse
from reasoning.display import show
from reasoning.puzzle import GameOf24

import treetop as tt


def main(argv: Sequence[str] | None = None) -> int:
    """Search, and print the result."""
    try:
        options = parse(argv)
        # The solver stops the search at the first 24, and closes fully searched subtrees. First-play urgency slightly
        # below the parent's value spends the budget on depth before breadth.
        config = tt.puct(c=1.0, solver=True, fpu="parent", fpu_reduction=0.1)
        search = tt.Search(GameOf24(options.numbers), config, seed=options.seed)
        # The adviser returns a prior over the steps, the probability of success as value, and the tokens as cost.
        result = search.run_remote(options.limit, options.adviser, **options.remote)
    except tt.TreetopError as error:
        print(error, file=sys.stderr)
        return 2
    show(search, result, options.limit, options.source)
    return 0


if __name__ == "__main__":
    sys.exit(main())
