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
from treetop.evaluators.networks.places import policy_places
from treetop.game.definition import Game
from treetop.train.folder import refuse_wrong_state
from treetop.train.network import ModuleFactory, exported, folded, load_torch, make_module
from treetop.train.options import LearnerOptions
from treetop.train.replay import Replay
from treetop.train.samples import Samples, examples


@dataclass(frozen=True)
class Losses:
    """The losses of a step, or their means over several."""

    policy: float
    """The cross entropy of the policy with its target, less the target's own entropy, in nats."""
    value: float
    """The cross entropy of the value with its target, as probabilities of a win, less the target's own entropy; with
    outcomes the cross entropy; of linear heads and own modules the squared error, on the scale of the network."""


class Learner:
    """A network in training."""

    def __init__(
        self,
        game: Game,
        architecture: Architecture,
        options: LearnerOptions,
        seed: int,
        factory: ModuleFactory | None = None,
    ) -> None:
        torch = load_torch()
        self._torch, self._game, self._architecture, self._options = torch, game, architecture, options
        places = policy_places(game) if architecture.planes else None
        self._module, self._averaged = (
            make_module(architecture, seed, factory, places).to(memory_format=torch.channels_last) for _ in range(2)
        )
        self._kind = torch.bfloat16 if torch.cpu._is_avx512_bf16_supported() else None  # what convolutions compute in
        self._range = game.facts.value_range(step_rewards=game.has("step_rewards"))
        count = architecture.values
        self._mean, self._spread = np.zeros(count), np.ones(count)  # of the values of a linear head
        self._optimiser = torch.optim.AdamW(
            self._module.parameters(), lr=options.rate, weight_decay=options.weight_decay
        )
        self._rng = np.random.default_rng(seed + 1)
        self.steps = 0
        """Steps of the optimiser."""

    @property
    def batch(self) -> int:
        """Positions of a step."""
        return self._options.batch

    def model(self, made: dict[str, Any] | None = None) -> Model:
        """Return the network with its averaged weights, as an evaluator."""
        architecture, made = self._architecture, made or {}
        if architecture.kind == "own":
            return Model(self._game, architecture, {}, made, exported(architecture, self._averaged))
        weights = folded(architecture, self._averaged, self._mean, self._spread)
        return Model(self._game, architecture, weights, made)

    def train(self, replay: Replay, steps: int, progress: float) -> Losses:
        """Take some steps; `progress` is the share of the run that is over. Return the mean losses."""
        self._normalise(replay)
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
        worth = self._targets(samples)
        for group in self._optimiser.param_groups:
            group["lr"] = self.rate_at(progress)
        self._module.train()
        with torch.autocast("cpu", dtype=self._kind, enabled=self._kind is not None):
            logits, values = self._module(_laid_out(torch, observed))
        logits, values = logits.float(), values.float()
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

    def _targets(self, samples: Samples) -> npt.NDArray[np.float64]:
        """Return the targets of the values on the scale of the network."""
        worth, (low, high) = samples.values, self._range
        if self._architecture.head == "linear":
            return np.asarray((worth - self._mean) / self._spread)
        return np.clip((worth - low) / (high - low) * 2.0 - 1.0, -1.0, 1.0)

    def _normalise(self, replay: Replay) -> None:
        """Follow the mean and the spread of the values in the window; a linear head gives the same values as before."""
        if self._architecture.head != "linear":
            return
        mean, spread = replay.value_scale()
        for module in (self._module, self._averaged):
            layer, kind = module.parts["value"], module.parts["value"].weight.dtype
            factor = self._torch.from_numpy(self._spread / spread).to(kind)
            shift = self._torch.from_numpy((self._mean - mean) / spread).to(kind)
            with self._torch.no_grad():
                layer.weight.mul_(factor[:, None])
                layer.bias.mul_(factor).add_(shift)
        self._mean, self._spread = mean, spread

    def _value_loss(self, values: Any, worth: Any) -> Any:
        torch, architecture = self._torch, self._architecture
        if architecture.head == "linear" or architecture.kind == "own":
            return ((values - worth) ** 2).mean()
        if architecture.head == "tanh":  # tanh(x) = 2 p - 1, where 2 x is the logit of p
            wins = (worth + 1.0) * 0.5
            own = torch.special.entr(wins) + torch.special.entr(1.0 - wins)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(2.0 * values, wins, reduction="none")
            return (loss - own).mean()
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
        found |= {"values.mean": self._mean, "values.spread": self._spread}
        return {name: np.array(array, order="C") for name, array in found.items()}

    def restore(self, state: dict[str, npt.NDArray[Any]], steps: int, rng: Any) -> None:
        """Continue from a saved state; raise ValueError where it does not fit."""
        torch = self._torch
        shapes = {str(index): tuple(parameter.shape) for index, parameter in enumerate(self._module.parameters())}
        refuse_wrong_state(state, self.state(), shapes, after=steps, source="the state of the learner")
        if not (state["values.spread"] > 0).all():
            raise ValueError("the spread of the values is not positive")
        given = {name: torch.from_numpy(np.array(array)) for name, array in state.items()}
        for prefix, module in (("module.", self._module), ("averaged.", self._averaged)):
            module.load_state_dict(
                {name.removeprefix(prefix): array for name, array in given.items() if name.startswith(prefix)}
            )
        for index, parameter in enumerate(self._module.parameters()):
            prefix = f"optimiser.{index}."
            own = {name.removeprefix(prefix): array for name, array in given.items() if name.startswith(prefix)}
            if own:
                self._optimiser.state[parameter] = own
        self._mean, self._spread = (np.array(state[f"values.{name}"], np.float64) for name in ("mean", "spread"))
        self.steps = steps
        self._rng.bit_generator.state = rng

    @property
    def rng_state(self) -> Any:
        """The state of its random generator, as plain values."""
        return self._rng.bit_generator.state


def _laid_out(torch: Any, observations: npt.NDArray[np.float32]) -> Any:
    """Return observations as a tensor; planes with their channels last, which convolutions are faster on."""
    found = torch.from_numpy(observations)
    return found.contiguous(memory_format=torch.channels_last) if found.dim() == 4 else found
