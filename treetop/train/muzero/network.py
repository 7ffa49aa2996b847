"""The networks of MuZero: representation, dynamics with rewards, prediction.

Each is a function of weights and arrays that takes NumPy arrays and PyTorch tensors alike: searches run in NumPy, and
training differentiates the same lines in PyTorch. Values and rewards are distributions over whole numbers on a scale on
which large numbers are compressed; their means are on the scale of the problem.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Weights = Mapping[str, Any]
_LINEAR = 0.001  # the linear part of the scale of values, which makes it invertible
_SMALLEST, _FARTHEST = 1e-4, 5.0  # of the spread of a feature, and of a feature in units of it


@dataclass(frozen=True)
class Shape:
    """The sizes of the networks."""

    observation: int
    actions: int
    latent: int
    hidden: int
    support: int

    def arrays(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each array of weights."""
        atoms, hidden, latent = 2 * self.support + 1, self.hidden, self.latent
        layers = {
            "represent": (self.observation, hidden), "represent.latent": (hidden, latent),
            "step": (latent, hidden), "step.latent": (hidden, latent), "reward": (hidden, atoms),
            "predict": (latent, hidden), "policy": (hidden, self.actions), "value": (hidden, atoms),
        }  # fmt: skip
        found: dict[str, tuple[int, ...]] = dict.fromkeys(("action.shift", "action.factor"), (self.actions, hidden))
        for name, shape in layers.items():
            found |= {f"{name}.weight": shape, f"{name}.bias": shape[1:]}
        return found

    def new_weights(self, seed: int) -> dict[str, Floats]:
        """Return random weights. The heads are zero: a new network prefers nothing and expects nothing."""
        rng, found = np.random.default_rng(seed), {}
        for name, shape in self.arrays().items():
            layer = name.partition(".")[0]
            spread = 1.0 if layer == "action" else 1.0 / math.sqrt(shape[0])
            if layer in ("reward", "policy", "value") or name.endswith("bias"):
                spread = 0.0
            found[name] = rng.normal(0.0, spread, shape).astype(np.float32)
        return found


# The networks. `weights` are those of `Shape.arrays`.


def _linear(weights: Weights, name: str, source: Any) -> Any:
    return source @ weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _between_0_and_1(latents: Any) -> Any:
    """Return latent vectors, each shifted and scaled so that its lowest number is 0 and its highest is 1."""
    if isinstance(latents, np.ndarray):
        low, high = latents.min(axis=1, keepdims=True), latents.max(axis=1, keepdims=True)
    else:
        low, high = latents.amin(1, keepdim=True), latents.amax(1, keepdim=True)
    return (latents - low) / (high - low + 1e-5)


def represent(weights: Weights, observations: Any) -> Any:
    """Return the latent vectors of observations."""
    hidden = _linear(weights, "represent", observations).clip(min=0.0)
    return _between_0_and_1(_linear(weights, "represent.latent", hidden))


def step(weights: Weights, latents: Any, actions: Any) -> tuple[Any, Any]:
    """Return the latent vectors after actions, and the logits of the rewards."""
    hidden = _linear(weights, "step", latents) * weights["action.factor"][actions]  # what an action does depends on it
    hidden = (hidden + weights["action.shift"][actions]).clip(min=0.0)
    return _between_0_and_1(latents + _linear(weights, "step.latent", hidden)), _linear(weights, "reward", hidden)


def predict(weights: Weights, latents: Any) -> tuple[Any, Any]:
    """Return the logits of the actions, and those of the values."""
    hidden = _linear(weights, "predict", latents).clip(min=0.0)
    return _linear(weights, "policy", hidden), _linear(weights, "value", hidden)


# Values and rewards as distributions.


def scale(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values on a scale on which large ones are compressed: sign(x) * (sqrt(|x| + 1) - 1) + 0.001 * x.

    >>> scale(np.array([0.0, 99.0])).round(3).tolist()
    [0.0, 9.099]
    """
    return np.asarray(np.sign(values) * (np.sqrt(np.abs(values) + 1.0) - 1.0) + _LINEAR * values)


def unscale(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values on the scale of the problem, the inverse of `scale`.

    >>> unscale(scale(np.array([-50.0, 0.0, 99.0]))).round(6).tolist()
    [-50.0, 0.0, 99.0]
    """
    root = np.sqrt(1.0 + 4.0 * _LINEAR * (np.abs(values) + 1.0 + _LINEAR)) - 1.0
    return np.asarray(np.sign(values) * ((root / (2.0 * _LINEAR)) ** 2 - 1.0))


def spread(values: npt.NDArray[Any], support: int) -> Floats:
    """Return distributions whose means are `scale(values)`: each lies on the two whole numbers next to it.

    >>> spread(np.array([0.0, 1e9]), 1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    places = np.clip(scale(values), -support, support) + support
    below = np.minimum(places.astype(np.int64), 2 * support - 1)
    found = np.zeros((*values.shape, 2 * support + 1), np.float32)
    np.put_along_axis(found, below[..., None], (below + 1 - places)[..., None].astype(np.float32), -1)
    np.put_along_axis(found, below[..., None] + 1, (places - below)[..., None].astype(np.float32), -1)
    return found


def mean(logits: Floats) -> npt.NDArray[np.float64]:
    """Return the value of logits of a distribution.

    >>> mean(np.log(spread(np.array([3.0]), 5) + 1e-30)).round(4).tolist()
    [3.0]
    """
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    support = logits.shape[1] // 2
    return unscale((shares @ np.arange(-support, support + 1.0)) / shares.sum(axis=1))


@dataclass(eq=False)
class Network:
    """The networks with their weights, as the learned model of a search. Features of observations are normalised."""

    shape: Shape
    weights: Mapping[str, Floats] = field(repr=False)
    discount: float
    centre: Floats = field(repr=False)  # [observation]: what is subtracted from each feature
    width: Floats = field(repr=False)  # [observation]: by what it is then divided

    @property
    def actions(self) -> int:
        """The number of actions."""
        return self.shape.actions

    def represent(self, observations: Floats) -> Floats:
        """Return the latent vectors of observations."""
        return np.asarray(represent(self.weights, normalised(observations, self.centre, self.width)))

    def step(self, latents: Floats, actions: npt.NDArray[np.int64]) -> tuple[Floats, npt.NDArray[np.float64]]:
        """Return the latent vectors after actions, and the rewards."""
        following, rewards = step(self.weights, latents, actions)
        return following, mean(rewards)

    def predict(self, latents: Floats) -> tuple[Floats, npt.NDArray[np.float64]]:
        """Return the logits of the actions, and the values."""
        logits, values = predict(self.weights, latents)
        return logits, mean(values)

    def values(self, observations: Floats) -> npt.NDArray[np.float64]:
        """Return the values of observations."""
        return self.predict(self.represent(observations))[1]


def normalised(observations: Floats, centre: Floats, width: Floats) -> Floats:
    """Return features with a mean of 0 and a spread of 1; those that are far away are clipped."""
    return np.clip((observations - centre) / np.maximum(width, _SMALLEST), -_FARTHEST, _FARTHEST)
