"""Evaluators, which give leaves values and priors: the protocol, and those that are compiled into the search loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from treetop import checks
from treetop.errors import ConfigError
from treetop.game.definition import Game
from treetop.kernels.control import GREEDY_MOVES, HEURISTIC, OWN_MOVES, RANDOM_MOVES, ROLLOUT, SOFTMAX_MOVES, UNIFORM

if TYPE_CHECKING:
    from treetop.search.batch import Batch

_POLICIES = {"random": RANDOM_MOVES, "game": OWN_MOVES, "mast": GREEDY_MOVES, "mast_softmax": SOFTMAX_MOVES}


@runtime_checkable
class Evaluator(Protocol):
    """An evaluator of batches of states in Python: a network, a heuristic, a service.

    >>> import numpy as np, treetop as tt
    >>> class Flat:
    ...     def evaluate(self, batch):
    ...         return np.zeros((len(batch), batch.game.facts.num_actions)), np.zeros(len(batch))
    >>> tt.search("tic_tac_toe", tt.puct(), evaluator=Flat(), simulations=50, seed=1).simulations
    50
    """

    def evaluate(self, batch: Batch) -> tuple[npt.ArrayLike, npt.ArrayLike]:
        """Return logits over all actions, one row for each state, and values.

        Values are one row for each state with a number for each player, or, in two-player zero-sum games, one number
        for each state for the player to move.
        """
        ...


def evaluate_batch(evaluator: Evaluator, batch: Batch) -> tuple[npt.ArrayLike, npt.ArrayLike]:
    """Return the logits and values of a batch; raise ConfigError if the evaluator returns anything else."""
    given = evaluator.evaluate(batch)
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ConfigError(
            f"{type(evaluator).__name__}.evaluate must return two arrays, the logits and the values, "
            f"not {type(given).__name__}"
        )
    return given[0], given[1]


class CompiledEvaluator:
    """An evaluator that is part of the compiled loop."""

    name: str
    expand_after: int
    """Visits that a leaf needs before it is expanded, by default."""
    needs_full_build = False
    """Whether it needs the full build."""

    def settings(self) -> dict[str, float]:
        """Return the fields of the control record."""
        raise NotImplementedError

    def needs(self) -> tuple[str, ...]:
        """Return the optional methods that a game must have."""
        return ()

    def check(self, game: Game) -> None:
        """Raise ConfigError if a game lacks a method that this evaluator needs."""
        for method in self.needs():
            if not game.has(method):
                raise ConfigError(
                    f"{self} needs the method `{method}`, which {game.name} lacks: add it, or use another evaluator"
                )

    def __repr__(self) -> str:
        return f"{self.name}()"


class Rollout(CompiledEvaluator):
    """An evaluator that plays games to their end, or for `depth` moves and then by the game's heuristic.

    `policy` chooses the moves: random; game, by the game's own `rollout_action`; mast, by the highest mean of a move in
    all simulations, with a share `epsilon` of random moves; mast_softmax, by a softmax of those means with
    `temperature`. `count` rollouts are averaged. A leaf is expanded on its second visit.

    >>> import treetop as tt
    >>> tt.search("nim(stones=5)", evaluator=tt.Rollout(), simulations=500, seed=1).move
    '1'
    >>> tt.Rollout("mast", epsilon=0.1)
    rollout(policy='mast', epsilon=0.1)
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
        self.policy = checks.one_of("a rollout's policy", policy, _POLICIES)
        self.count = checks.whole("a rollout's count", count, 1, checks.INT32_MAX)
        self.depth = checks.whole("a rollout's depth", depth, 0, checks.INT32_MAX, optional=True)
        self.epsilon = checks.share("a rollout's epsilon", epsilon)
        self.temperature = checks.number("a rollout's temperature", temperature, above=0)
        self.expand_after = 1
        self.needs_full_build = policy != "random" or count != 1 or depth is not None
        self.name = self._name()

    def _name(self) -> str:
        parts = [f"policy={self.policy!r}"] if self.policy != "random" else []
        parts += [
            f"{key}={value}"
            for key, value, default in (("count", self.count, 1), ("depth", self.depth, None))
            if value != default
        ]
        parts += [f"epsilon={_exact(self.epsilon)}"] if self.policy == "mast" else []
        parts += [f"temperature={_exact(self.temperature)}"] if self.policy == "mast_softmax" else []
        return f"rollout({', '.join(parts)})" if parts else "rollout"

    @property
    def keeps_history(self) -> bool:
        """Whether its policy reads the statistics of moves in all simulations."""
        return self.policy in ("mast", "mast_softmax")

    def settings(self) -> dict[str, float]:
        """Return the fields of the control record."""
        return {
            "evaluator": ROLLOUT,
            "rollout_weight": 1.0,
            "rollout_policy": _POLICIES[self.policy],
            "rollout_count": self.count,
            "rollout_depth": checks.INT32_MAX if self.depth is None else self.depth,
            "rollout_epsilon": self.epsilon,
            "rollout_temperature": self.temperature,
        }

    def needs(self) -> tuple[str, ...]:
        """Return the optional methods that a game must have."""
        return (("rollout_action",) if self.policy == "game" else ()) + (
            ("heuristic",) if self.depth is not None else ()
        )

    def __repr__(self) -> str:
        return self.name if "(" in self.name else f"{self.name}()"


class Uniform(CompiledEvaluator):
    """An evaluator with equal priors that values every position as the middle of the utility range.

    >>> import treetop as tt
    >>> tt.search("tic_tac_toe", tt.puct(), evaluator=tt.evaluators.Uniform(), simulations=50, seed=1).simulations
    50
    """

    def __init__(self) -> None:
        self.name, self.expand_after = "uniform", 0

    def settings(self) -> dict[str, float]:
        """Return the fields of the control record."""
        return {"evaluator": UNIFORM}

    def evaluate(self, batch: Batch) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]:
        """Return equal logits and middle values, so that it can replace a network."""
        facts = batch.game.facts
        return np.zeros((len(batch), facts.num_actions), np.float32), np.full((len(batch), facts.players), facts.middle)


class Heuristic(CompiledEvaluator):
    """An evaluator by the game's own `heuristic`.

    With `prior_temperature`, priors are a softmax of the heuristic values of the positions after each move.

    >>> Heuristic(prior_temperature=0.5)
    heuristic(prior_temperature=0.5)
    """

    needs_full_build = True

    def __init__(self, prior_temperature: float | None = None) -> None:
        self.prior_temperature = checks.number("prior_temperature", prior_temperature, above=0, optional=True)
        self.name = (
            "heuristic" if prior_temperature is None else f"heuristic(prior_temperature={_exact(prior_temperature)})"
        )
        self.expand_after = 0

    def settings(self) -> dict[str, float]:
        """Return the fields of the control record."""
        return {"evaluator": HEURISTIC, "heuristic_prior": self.prior_temperature or 0.0}

    def needs(self) -> tuple[str, ...]:
        """Return the optional methods that a game must have."""
        return ("heuristic",)

    def __repr__(self) -> str:
        return self.name if "(" in self.name else f"{self.name}()"


class Mixed(CompiledEvaluator):
    """An evaluator that adds `weight` * a rollout and (1 - weight) * another evaluation.

    The other evaluation is the game's heuristic, or comes from an evaluator in Python.

    >>> Mixed(Heuristic(), weight=0.25)
    mixed(heuristic, rollout, weight=0.25)
    """

    needs_full_build = True

    def __init__(
        self, evaluator: Heuristic | Uniform | Evaluator, weight: float = 0.5, rollout: Rollout | None = None
    ) -> None:
        checks.number("weight", weight, above=0, below=1)
        if isinstance(evaluator, (Rollout, Mixed)) or not isinstance(evaluator, (CompiledEvaluator, Evaluator)):
            raise ConfigError(
                f"Mixed needs Heuristic(), Uniform() or an evaluator in Python beside its rollouts, not {evaluator!r}"
            )
        self.evaluator, self.weight, self.rollout = evaluator, float(weight), Rollout() if rollout is None else rollout
        if not isinstance(evaluator, CompiledEvaluator) and self.rollout.count != 1:
            raise ConfigError("with an evaluator in Python each leaf gets one rollout: the rollout's count must be 1")
        self.name = f"mixed({name_of(evaluator)}, {self.rollout.name}, weight={self.weight!r})"
        self.expand_after = int(getattr(evaluator, "expand_after", 0))

    @property
    def keeps_history(self) -> bool:
        """Whether the policy of its rollouts reads the statistics of moves in all simulations."""
        return self.rollout.keeps_history

    def settings(self) -> dict[str, float]:
        """Return the fields of the control record."""
        base = self.evaluator.settings() if isinstance(self.evaluator, CompiledEvaluator) else {}
        return {**self.rollout.settings(), **base, "rollout_weight": self.weight}

    def needs(self) -> tuple[str, ...]:
        """Return the optional methods that a game must have."""
        inner = self.evaluator.needs() if isinstance(self.evaluator, CompiledEvaluator) else ()
        return (*self.rollout.needs(), *inner)

    def __repr__(self) -> str:
        return self.name


def _exact(value: float) -> str:
    """Return the shortest text of a number that reads back as the same number, which a saved search needs."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def in_python(evaluator: Any) -> Evaluator | None:
    """Return the part of an evaluator that is called with batches of states, or None."""
    if isinstance(evaluator, Mixed):
        return None if isinstance(evaluator.evaluator, CompiledEvaluator) else evaluator.evaluator
    return None if isinstance(evaluator, CompiledEvaluator) else evaluator


def name_of(evaluator: Any) -> str:
    """Return the name of an evaluator, for reports."""
    return str(getattr(evaluator, "name", None) or type(evaluator).__name__)


EVALUATORS: dict[str, type[CompiledEvaluator]] = {"rollout": Rollout, "uniform": Uniform, "heuristic": Heuristic}


def make_evaluator(text: str) -> CompiledEvaluator:
    """Return an evaluator from its name with options.

    >>> make_evaluator("rollout(policy='mast', epsilon=0.1)")
    rollout(policy='mast', epsilon=0.1)
    >>> make_evaluator("mixed(heuristic, weight=0.5)").weight
    0.5
    """
    from treetop.game.calls import parse_call

    call = parse_call(text, nested=True)
    options = dict(call.options)
    try:
        if call.name == "mixed":
            inner = make_evaluator(str(call.positional[0]))
            rollout = make_evaluator(str(call.positional[1])) if len(call.positional) > 1 else None
            return Mixed(inner, rollout=rollout, **options)  # type: ignore[arg-type]
        if call.name not in EVALUATORS:
            hint = checks.suggest(call.name, [*EVALUATORS, "mixed"])
            raise ConfigError(f"there is no evaluator {call.name!r}; {hint}")
        return EVALUATORS[call.name](*call.positional, **options)
    except (TypeError, IndexError) as error:
        raise ConfigError(f"{text}: {error}") from None
