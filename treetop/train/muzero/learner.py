"""The learner: it unrolls the networks along steps of the environment and compares them with their targets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import SearchError
from treetop.train.folder import refuse_wrong_state
from treetop.train.muzero.network import Network, Shape, normalised, predict, represent, spread, step
from treetop.train.muzero.options import MuZeroOptions
from treetop.train.muzero.replay import Steps, Unrolled
from treetop.train.network import load_torch

Floats = npt.NDArray[np.float32]
_DECAY, _CLIP = 1e-4, 5.0  # of weights, of the norm of gradients
_WARMUP, _FINAL_RATE = 100, 0.02
_AVERAGE = 0.99  # how much of the averaged weights a step keeps


@dataclass(frozen=True)
class ModelLosses:
    """The losses of a step of the optimiser, or their means: cross entropies, summed over the unrolled steps."""

    policy: float
    value: float
    reward: float


class ModelLearner:
    """Networks in training: weights, their average, the optimiser, and the means and spreads of features."""

    def __init__(self, shape: Shape, options: MuZeroOptions, normalise: npt.NDArray[np.bool_]) -> None:
        torch = load_torch()
        self._torch, self._shape, self._options, self._normalise = torch, shape, options, normalise
        weights = shape.new_weights(options.seed)
        self._averaged = {name: array.copy() for name, array in weights.items()}
        self._weights = {name: torch.from_numpy(array).requires_grad_() for name, array in weights.items()}
        self._optimiser = torch.optim.AdamW(
            list(self._weights.values()), lr=options.rate, weight_decay=_DECAY, fused=True
        )
        self._rng = np.random.default_rng(options.seed)
        self._seen = np.zeros((3, shape.observation))  # count, mean and sum of squared differences of each feature
        self.steps = 0
        """Steps of the optimiser."""

    def observe(self, observations: Floats) -> None:
        """Take observations into the means and spreads of features."""
        rows = observations.astype(np.float64)
        count, centre, squares = self._seen
        change, total = rows.mean(axis=0) - centre, count + len(rows)
        squares += ((rows - rows.mean(axis=0)) ** 2).sum(axis=0) + change**2 * count * len(rows) / total
        centre += change * len(rows) / total
        count[:] = total

    @property
    def features(self) -> tuple[Floats, Floats]:
        """The mean and the spread of each feature; 0 and 1 of those that are not normalised."""
        count, centre, squares = self._seen
        width = np.sqrt(squares / np.maximum(count, 1))
        known = self._normalise & (count > 1) & (width > 0)
        return np.where(known, centre, 0.0).astype(np.float32), np.where(known, width, 1.0).astype(np.float32)

    def network(self) -> Network:
        """Return the networks with their averaged weights, for searches."""
        weights = {name: array.copy() for name, array in self._averaged.items()}
        return Network(self._shape, weights, self._options.discount, *self.features)

    def train(self, replay: Steps, steps: int, progress: float) -> ModelLosses:
        """Take some steps; `progress` is the share of the run that is over. Return the mean losses."""
        options = self._options
        replay.set_targets(options.discount, options.bootstrap)
        for group in self._optimiser.param_groups:
            group["lr"] = self._rate(progress)
        features = self.features
        seen = [self._step(replay.draw(self._rng, options.batch, options.unroll), features) for _ in range(steps)]
        return ModelLosses(*np.mean(seen, axis=0).tolist())

    def _rate(self, progress: float) -> float:
        falling = _FINAL_RATE + (1.0 - _FINAL_RATE) * 0.5 * (1.0 + math.cos(math.pi * min(progress, 1.0)))
        return self._options.rate * min(1.0, (self.steps + 1) / _WARMUP) * falling

    def _step(self, batch: Unrolled, features: tuple[Floats, Floats]) -> tuple[float, float, float]:
        torch, shape, weights = self._torch, self._shape, self._weights
        unroll, size = batch.actions.shape[1], len(batch.actions)
        actions = torch.from_numpy(batch.actions)
        latent = represent(weights, torch.from_numpy(normalised(batch.observations, *features)))
        latents, rewards = [latent], []
        for index in range(unroll):
            latent, reward = step(weights, _half_gradient(latent), actions[:, index])
            latents.append(latent)
            rewards.append(reward)
        policies, values = predict(weights, torch.cat(latents))
        share = np.full(unroll + 1, 1.0 / unroll, np.float32)
        share[0] = 1.0
        losses = [
            self._loss(policies, batch.policies, batch.policy_weights * share),
            self._loss(values, spread(batch.values, shape.support), batch.value_weights * share),
            self._loss(torch.cat(rewards), spread(batch.rewards, shape.support), batch.reward_weights * share[1:]),
        ]
        loss = (losses[0] + losses[1] + losses[2]) / size
        if not bool(torch.isfinite(loss)):
            raise SearchError(
                "the loss of the model is not finite: lower the learning rate (rate), or scale the rewards of the "
                "environment"
            )
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(weights.values()), _CLIP)
        self._optimiser.step()
        self.steps += 1
        self._average()
        found = [float(one.detach()) / size for one in losses]
        return found[0], found[1], found[2]

    def _loss(self, logits: Any, targets: Floats, weights: Floats) -> Any:
        """Return the sum of weighted cross entropies. Rows of logits go through the batch first."""
        torch = self._torch
        rows = np.array(targets.swapaxes(0, 1), order="C").reshape(logits.shape)
        rows *= weights.T.reshape(-1, 1)
        return -(torch.from_numpy(rows) * torch.log_softmax(logits, 1)).sum()

    def _average(self) -> None:
        """Move the averaged weights towards those of the last step; the first steps count more."""
        new = 1.0 - min(_AVERAGE, (self.steps - 1) / (self.steps + 9))
        for name, array in self._averaged.items():
            array += new * (self._weights[name].detach().numpy() - array)

    # Saving.

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return all numbers that the next step depends on, except those of the random generator."""
        found = {f"averaged.{name}": array.copy() for name, array in self._averaged.items()}
        for name, weight in self._weights.items():
            found[f"weights.{name}"] = weight.detach().numpy().copy()
            for kind, array in self._optimiser.state.get(weight, {}).items():
                found[f"optimiser.{name}.{kind}"] = np.array(array.numpy(), order="C")
        return found | {"seen": self._seen.copy()}

    def restore(self, state: dict[str, npt.NDArray[Any]], steps: int, rng: Any, source: str) -> None:
        """Continue from a saved state; raise SaveError or ValueError where it does not fit."""
        torch = self._torch

        def part(prefix: str) -> dict[str, npt.NDArray[Any]]:
            return {name.removeprefix(prefix): np.array(a) for name, a in state.items() if name.startswith(prefix)}

        refuse_wrong_state(state, self.state(), self._shape.arrays(), after=steps, source=source)
        averaged, weights, seen = part("averaged."), part("weights."), np.array(state["seen"])
        self._averaged, self._seen, self.steps = averaged, seen, steps
        for name, weight in self._weights.items():
            with torch.no_grad():
                weight.copy_(torch.from_numpy(weights[name]))
            kept = {kind: torch.from_numpy(array) for kind, array in part(f"optimiser.{name}.").items()}
            if kept:
                self._optimiser.state[weight] = kept
        self._rng.bit_generator.state = rng

    @property
    def rng_state(self) -> Any:
        """The state of its random generator, as plain values."""
        return self._rng.bit_generator.state


def _half_gradient(latents: Any) -> Any:
    """Return the same numbers, whose gradient is halved."""
    return 0.5 * latents + 0.5 * latents.detach()
