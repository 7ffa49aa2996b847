"""The learner: steps of an optimiser over positions of self-play, and averaged weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import SearchError
from treetop.evaluators.networks.architecture import Architecture
from treetop.evaluators.networks.model import Model
from treetop.game.definition import Game
from treetop.train.network import folded, load_torch, make_module
from treetop.train.samples import Replay, Samples, examples


@dataclass(frozen=True)
class Losses:
    """The losses of a step, or their means over several."""

    policy: float
    """The cross entropy of the policy with its target, less the target's own entropy, in nats."""
    value: float
    """The squared error of the value, on the scale from -1 to 1."""


@dataclass(frozen=True)
class LearnerOptions:
    """How a network is trained.

    >>> LearnerOptions(batch=128).batch
    128
    """

    batch: int = 256
    rate: float = 2e-3
    """The learning rate at its peak."""
    warmup: int = 100
    """Steps in which the rate rises to it."""
    final_rate: float = 0.05
    """The share of the rate that is left at the end of a run."""
    weight_decay: float = 1e-4
    clip: float = 1.0
    """The greatest norm of a gradient."""
    average: float = 0.99
    """How much of the averaged weights a step keeps."""
    outcome_share: float = 0.5
    """The share of the game's outcome in the target of the value; the rest is the value that the search found."""


class Learner:
    """A network in training."""

    def __init__(self, game: Game, architecture: Architecture, options: LearnerOptions, seed: int) -> None:
        torch = load_torch()
        self._torch, self._game, self._architecture, self._options = torch, game, architecture, options
        self._module = make_module(architecture, seed)
        self._averaged = make_module(architecture, seed)
        self._optimiser = torch.optim.AdamW(
            self._module.parameters(), lr=options.rate, weight_decay=options.weight_decay
        )
        self._rng = np.random.default_rng(seed + 1)
        self.steps = 0
        """Steps of the optimiser."""

    def model(self, made: dict[str, Any] | None = None) -> Model:
        """Return the network with its averaged weights, as an evaluator."""
        return Model(self._game, self._architecture, folded(self._architecture, self._averaged), made or {})

    def train(self, replay: Replay, steps: int, progress: float) -> Losses:
        """Take some steps; `progress` is the share of the run that is over. Return the mean losses."""
        seen = [self._step(replay.draw(self._rng, self._options.batch), progress) for _ in range(steps)]
        return Losses(*(float(np.mean([getattr(one, name) for one in seen])) for name in ("policy", "value")))

    def rate_at(self, progress: float) -> float:
        """Return the learning rate: it rises during the warm-up, then falls along a cosine."""
        options = self._options
        falling = options.final_rate + (1.0 - options.final_rate) * 0.5 * (1.0 + math.cos(math.pi * min(progress, 1.0)))
        return options.rate * min(1.0, (self.steps + 1) / options.warmup) * falling

    def _symmetries(self, count: int) -> npt.NDArray[np.int64]:
        kinds = self._game.facts.symmetries or 1
        return self._rng.integers(kinds, size=count)

    def _step(self, samples: Samples, progress: float) -> Losses:
        torch, options = self._torch, self._options
        observed, policies, masks = examples(self._game, samples, self._symmetries(len(samples)))
        share = options.outcome_share
        worth = share * samples.outcomes + (1.0 - share) * samples.estimates
        for group in self._optimiser.param_groups:
            group["lr"] = self.rate_at(progress)
        self._module.train()
        logits, values = self._module(torch.from_numpy(observed))
        logits = logits.masked_fill(~torch.from_numpy(masks), -1e9)
        target = torch.from_numpy(policies)
        shares = torch.nn.functional.log_softmax(logits, dim=1)
        entropy = (target * target.clamp_min(1e-12).log()).sum(dim=1)
        policy_loss = (entropy - (target * shares).sum(dim=1)).mean()
        value_loss = self._value_loss(values, torch.from_numpy(worth.astype(np.float32)))
        loss = policy_loss + value_loss
        if not bool(torch.isfinite(loss)):
            raise SearchError("the loss of the network is not finite: lower the learning rate, or start again")
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._module.parameters(), options.clip)
        self._optimiser.step()
        self.steps += 1
        self._average()
        return Losses(float(policy_loss.detach()), float(value_loss.detach()))

    def _value_loss(self, values: Any, worth: Any) -> Any:
        torch = self._torch
        if not self._architecture.outcomes:
            return ((values - worth) ** 2).mean()
        win, loss = worth.clamp_min(0.0), (-worth).clamp_min(0.0)  # what is left is a draw
        target = torch.cat([win, 1.0 - win - loss, loss], dim=1)
        return -(target * torch.nn.functional.log_softmax(values, dim=1)).sum(dim=1).mean()

    def _average(self) -> None:
        """Move the averaged weights towards those of the last step; the first steps count more."""
        keep = min(self._options.average, (self.steps - 1) / (self.steps + 9))
        with self._torch.no_grad():
            for mean, new in zip(self._averaged.state_dict().values(), self._module.state_dict().values(), strict=True):
                if mean.dtype.is_floating_point:
                    mean.lerp_(new, 1.0 - keep)
                else:
                    mean.copy_(new)

    # Saving.

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return all numbers that the next step depends on, except those of the random generator."""
        found = {f"module.{name}": array.numpy() for name, array in self._module.state_dict().items()}
        found |= {f"averaged.{name}": array.numpy() for name, array in self._averaged.state_dict().items()}
        for index, parameter in enumerate(self._module.parameters()):
            for name, array in self._optimiser.state.get(parameter, {}).items():
                found[f"optimiser.{index}.{name}"] = array.numpy()
        return {name: np.array(array, order="C") for name, array in found.items()}

    def restore(self, state: dict[str, npt.NDArray[Any]], steps: int, rng: Any) -> None:
        """Continue from a saved state; raise ValueError where it does not fit."""
        torch = self._torch
        given = {name: torch.from_numpy(np.array(array)) for name, array in state.items()}
        for prefix, module in (("module.", self._module), ("averaged.", self._averaged)):
            module.load_state_dict(
                {name.removeprefix(prefix): array for name, array in given.items() if name.startswith(prefix)}
            )
        for index, parameter in enumerate(self._module.parameters()):
            prefix = f"optimiser.{index}."
            own = {name.removeprefix(prefix): array for name, array in given.items() if name.startswith(prefix)}
            if any(array.shape not in ((), parameter.shape) for array in own.values()):
                raise ValueError(f"the optimiser's numbers of weight {index} have another shape")
            if own:
                self._optimiser.state[parameter] = own
        self.steps = steps
        self._rng.bit_generator.state = rng

    @property
    def rng_state(self) -> Any:
        """The state of its random generator, as plain values."""
        return self._rng.bit_generator.state
