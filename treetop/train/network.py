"""A network in PyTorch, for training. Its weights are folded into those of a `Model`, which needs no PyTorch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import MissingExtraError
from treetop.evaluators.networks.architecture import Architecture


def load_torch() -> Any:
    """Return PyTorch; raise MissingExtraError where it is not installed."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("networks are trained by PyTorch", extra="torch") from error
    return torch


@contextmanager
def few_threads() -> Iterator[None]:
    """Let PyTorch leave a core to self-play inside the block."""
    torch = load_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, (os.cpu_count() or 1) - 1))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def make_module(architecture: Architecture, seed: int) -> Any:
    """Return a `torch.nn.Module` with new weights: observations to logits and values.

    Values are from -1 to 1, or the logits of win, draw and loss. Each convolution is followed by a batch normalisation.
    """
    torch = load_torch()
    nn, functional = torch.nn, torch.nn.functional

    class Network(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.parts = nn.ModuleDict()
            for name, shape in architecture.layers().items():
                key = _key(name)
                if len(shape) == 4:
                    self.parts[key] = nn.Conv2d(shape[1], shape[0], shape[2], padding=shape[2] // 2, bias=False)
                    self.parts[f"{key}_norm"] = nn.BatchNorm2d(shape[0])
                else:
                    self.parts[key] = nn.Linear(shape[1], shape[0])
            for name in ("policy", "value"):  # a new network has no opinion
                nn.init.zeros_(self.parts[name].weight)
                nn.init.zeros_(self.parts[name].bias)

        def convolution(self, name: str, source: Any) -> Any:
            key = _key(name)
            return self.parts[f"{key}_norm"](self.parts[key](source))

        def forward(self, observations: Any) -> tuple[Any, Any]:
            if architecture.kind == "dense":
                trunk = observations.flatten(1)
                for layer in range(architecture.depth):
                    trunk = functional.relu(self.parts[f"layer{layer}"](trunk))
                policy = value = trunk
            else:
                trunk = functional.relu(self.convolution("stem", observations))
                for block in range(architecture.depth):
                    inner = functional.relu(self.convolution(f"block{block}.first", trunk))
                    trunk = functional.relu(trunk + self.convolution(f"block{block}.second", inner))
                policy = functional.relu(self.convolution("policy.planes", trunk)).flatten(1)
                value = functional.relu(self.convolution("value.planes", trunk)).flatten(1)
            hidden = functional.relu(self.parts[_key("value.hidden")](value))
            found = self.parts["value"](hidden)
            return self.parts["policy"](policy), found if architecture.outcomes else torch.tanh(found)

    generator = torch.random.get_rng_state()
    torch.manual_seed(seed)
    try:
        return Network()
    finally:
        torch.random.set_rng_state(generator)


def folded(architecture: Architecture, module: Any) -> dict[str, npt.NDArray[np.float32]]:
    """Return the weights of a module as those of a `Model`: batch normalisations become part of the convolutions."""
    state = {name: array.detach().cpu().double().numpy() for name, array in module.state_dict().items()}
    weights: dict[str, npt.NDArray[np.float32]] = {}
    for name, shape in architecture.layers().items():
        key = f"parts.{_key(name)}"
        weight = state[f"{key}.weight"]
        if len(shape) == 4:
            norm = f"{key}_norm"
            factor = state[f"{norm}.weight"] / np.sqrt(state[f"{norm}.running_var"] + 1e-5)
            weight, bias = (
                weight * factor[:, None, None, None],
                (state[f"{norm}.bias"] - state[f"{norm}.running_mean"] * factor),
            )
        else:
            bias = state[f"{key}.bias"]
        weights[f"{name}.weight"] = np.ascontiguousarray(weight, np.float32)
        weights[f"{name}.bias"] = np.ascontiguousarray(bias, np.float32)
    return weights


def _key(name: str) -> str:
    return name.replace(".", "_")  # a module's name has no dots
