"""What a leaf is worth, and which moves look good there: the protocol, and the evaluators that live inside the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.kernels.control import GREEDY_MOVES, HEURISTIC, OWN_MOVES, RANDOM_MOVES, ROLLOUT, SOFTMAX_MOVES, UNIFORM

if TYPE_CHECKING:
    from treetop.search.batch import Batch

_POLICIES = {"random": RANDOM_MOVES, "game": OWN_MOVES, "mast": GREEDY_MOVES, "mast_softmax": SOFTMAX_MOVES}
_TO_THE_END = 2**31 - 1


@runtime_checkable
class Evaluator(Protocol):
    """Evaluates a batch of states in Python: a network, a heuristic, a service."""

    def evaluate(self, batch: Batch) -> tuple[npt.ArrayLike, npt.ArrayLike]:
        """Logits over all actions, one row a state, and values: one row a state with a number for each player, or, in
        two-player zero-sum games, one number a state for the player to move.
        """
        ...


def evaluate_batch(evaluator: Evaluator, batch: Batch) -> tuple[npt.ArrayLike, npt.ArrayLike]:
    """Return the logits and values of a batch, and refuse an evaluator that returns anything else."""
    given = evaluator.evaluate(batch)
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ConfigError(
            f"{type(evaluator).__name__}.evaluate must return two arrays, the logits and the values; not {type(given).__name__}"
        )
    return given[0], given[1]


class CompiledEvaluator:
    """An evaluator that is part of the compiled loop."""

    name: str
    expand_after: int
    """Visits that a leaf needs before it is expanded, where the search does not say."""
    needs_full_build = False
    """Whether it needs the build with every option."""

    def settings(self) -> dict[str, float]:
        """What the kernels have to know."""
        raise NotImplementedError

    def needs(self) -> tuple[str, ...]:
        """Optional methods that a game must have."""
        return ()

    def check(self, game: Game) -> None:
        """Refuse a game that lacks what this evaluator asks for."""
        for method in self.needs():
            if not game.has(method):
                raise ConfigError(f"{self} asks for the game's own `{method}`, which {game.name} does not have")

    def __repr__(self) -> str:
        return f"{self.name}()"


class Rollout(CompiledEvaluator):
    """Plays games to their end, or to `depth` moves where the game's heuristic takes over.

    `policy` chooses the moves: random; the game's own `rollout_action`; or by what a move was worth in all simulations so far, greedily with
    a share `epsilon` of random moves (mast), or by softmax with `temperature` (mast_softmax). `count` rollouts are averaged. A leaf is
    expanded on its second visit: the first one is the rollout.
    """

    def __init__(
        self,
        policy: str = "random",
        *,
        count: int = 1,
        depth: int | None = None,
        epsilon: float = 0.2,
        temperature: float = 0.25,
    ) -> None:
        if policy not in _POLICIES:
            raise ConfigError(f"a rollout's policy is {', '.join(map(repr, _POLICIES))}; not {policy!r}")
        for name, value, low in (("count", count, 1), ("depth", depth, 0)):
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int) or not low <= value <= _TO_THE_END
            ):
                raise ConfigError(f"a rollout's {name} is a whole number of at least {low}, not {value!r}")
        if not 0 <= epsilon <= 1 or not 0 < temperature < float("inf"):
            raise ConfigError(
                f"a rollout's epsilon is from 0 to 1 and its temperature above 0; not {epsilon!r} and {temperature!r}"
            )
        self.policy, self.count, self.depth, self.epsilon, self.temperature = (
            policy,
            count,
            depth,
            float(epsilon),
            float(temperature),
        )
        self.expand_after = 1
        self.needs_full_build = policy != "random" or count != 1 or depth is not None
        self.name = self._name()

    def _name(self) -> str:
        parts = [f"policy={self.policy!r}"] if self.policy != "random" else []
        parts += [
            f"{key}={value}"
            for key, value, usual in (("count", self.count, 1), ("depth", self.depth, None))
            if value != usual
        ]
        parts += [f"epsilon={_exact(self.epsilon)}"] if self.policy == "mast" else []
        parts += [f"temperature={_exact(self.temperature)}"] if self.policy == "mast_softmax" else []
        return f"rollout({', '.join(parts)})" if parts else "rollout"

    @property
    def keeps_history(self) -> bool:
        """Whether its moves come from the table of past moves."""
        return self.policy in ("mast", "mast_softmax")

    def settings(self) -> dict[str, float]:
        """What the kernels have to know."""
        return {
            "evaluator": ROLLOUT,
            "rollout_weight": 1.0,
            "rollout_policy": _POLICIES[self.policy],
            "rollout_count": self.count,
            "rollout_depth": _TO_THE_END if self.depth is None else self.depth,
            "rollout_epsilon": self.epsilon,
            "rollout_temperature": self.temperature,
        }

    def needs(self) -> tuple[str, ...]:
        """Optional methods that a game must have."""
        return (("rollout_action",) if self.policy == "game" else ()) + (
            ("heuristic",) if self.depth is not None else ()
        )

    def __repr__(self) -> str:
        return self.name if "(" in self.name else f"{self.name}()"


class Uniform(CompiledEvaluator):
    """Knows nothing: every move as good as the other, every position worth the middle of the utility range."""

    def __init__(self) -> None:
        self.name, self.expand_after = "uniform", 0

    def settings(self) -> dict[str, float]:
        """What the kernels have to know."""
        return {"evaluator": UNIFORM}

    def evaluate(self, batch: Batch) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]:
        """The same for states that were asked for, so that it can stand in for a network."""
        facts = batch.game.facts
        return np.zeros((len(batch), facts.num_actions), np.float32), np.full((len(batch), facts.players), facts.middle)


class Heuristic(CompiledEvaluator):
    """The game's own `heuristic`. With a temperature the priors come from it too: a softmax over the positions after each move."""

    needs_full_build = True

    def __init__(self, prior_temperature: float | None = None) -> None:
        if prior_temperature is not None and not 0 < prior_temperature < float("inf"):
            raise ConfigError(f"prior_temperature must be a number above 0, not {prior_temperature!r}")
        self.prior_temperature = prior_temperature
        self.name = (
            "heuristic" if prior_temperature is None else f"heuristic(prior_temperature={_exact(prior_temperature)})"
        )
        self.expand_after = 0

    def settings(self) -> dict[str, float]:
        """What the kernels have to know."""
        return {"evaluator": HEURISTIC, "heuristic_prior": self.prior_temperature or 0.0}

    def needs(self) -> tuple[str, ...]:
        """Optional methods that a game must have."""
        return ("heuristic",)

    def __repr__(self) -> str:
        return self.name if "(" in self.name else f"{self.name}()"


class Mixed(CompiledEvaluator):
    """`weight` of a rollout, and the rest of another evaluation: the game's heuristic, or an evaluator in Python."""

    needs_full_build = True

    def __init__(
        self, evaluator: Heuristic | Uniform | Evaluator, weight: float = 0.5, rollout: Rollout | None = None
    ) -> None:
        if not 0 < weight < 1:
            raise ConfigError(f"weight must be a number between 0 and 1, not {weight!r}")
        if isinstance(evaluator, (Rollout, Mixed)) or not isinstance(evaluator, (CompiledEvaluator, Evaluator)):
            raise ConfigError(f"a rollout is mixed with a heuristic or an evaluator in Python, not with {evaluator!r}")
        self.evaluator, self.weight, self.rollout = evaluator, float(weight), Rollout() if rollout is None else rollout
        if not isinstance(evaluator, CompiledEvaluator) and self.rollout.count != 1:
            raise ConfigError("beside an evaluator in Python a leaf gets one rollout: count must be 1")
        self.name = f"mixed({name_of(evaluator)}, {self.rollout.name}, weight={self.weight!r})"
        self.expand_after = int(getattr(evaluator, "expand_after", 0))

    @property
    def keeps_history(self) -> bool:
        """Whether its rollouts' moves come from the table of past moves."""
        return self.rollout.keeps_history

    def settings(self) -> dict[str, float]:
        """What the kernels have to know."""
        base = self.evaluator.settings() if isinstance(self.evaluator, CompiledEvaluator) else {}
        return {**self.rollout.settings(), **base, "rollout_weight": self.weight}

    def needs(self) -> tuple[str, ...]:
        """Optional methods that a game must have."""
        inner = self.evaluator.needs() if isinstance(self.evaluator, CompiledEvaluator) else ()
        return (*self.rollout.needs(), *inner)

    def __repr__(self) -> str:
        return self.name


def _exact(value: float) -> str:
    """A number as short as possible, and yet the same when it is read again: a saved search is continued with it."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def in_python(evaluator: Any) -> Evaluator | None:
    """The part of an evaluator that is called with batches of states, if there is one."""
    if isinstance(evaluator, Mixed):
        return None if isinstance(evaluator.evaluator, CompiledEvaluator) else evaluator.evaluator
    return None if isinstance(evaluator, CompiledEvaluator) else evaluator


def name_of(evaluator: Any) -> str:
    """How a report names an evaluator."""
    return str(getattr(evaluator, "name", None) or type(evaluator).__name__)


EVALUATORS: dict[str, type[CompiledEvaluator]] = {"rollout": Rollout, "uniform": Uniform, "heuristic": Heuristic}


def make_evaluator(text: str) -> CompiledEvaluator:
    """An evaluator from its name with options: `rollout(policy='mast', count=2)`, `mixed(heuristic, weight=0.5)`.

    >>> make_evaluator("rollout(policy='mast', epsilon=0.1)")
    rollout(policy='mast', epsilon=0.1)
    """
    from treetop.game.calls import parse_call  # the grammar of names with options is the games' own

    call = parse_call(text, nested=True)
    options = dict(call.options)
    try:
        if call.name == "mixed":
            inner = make_evaluator(str(call.positional[0]))
            rollout = make_evaluator(str(call.positional[1])) if len(call.positional) > 1 else None
            return Mixed(inner, rollout=rollout, **options)  # type: ignore[arg-type]
        if call.name not in EVALUATORS:
            raise ConfigError(f"no evaluator {call.name!r}; there are {', '.join([*EVALUATORS, 'mixed'])}")
        return EVALUATORS[call.name](*call.positional, **options)
    except (TypeError, IndexError) as error:
        raise ConfigError(f"{text}: {error}") from None
