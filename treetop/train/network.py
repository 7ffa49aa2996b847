"""A network in PyTorch, for training. Its weights are folded into those of a `Model`, which needs no PyTorch."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import ConfigError, MissingExtraError
from treetop.evaluators.networks.architecture import Architecture
from treetop.evaluators.networks.places import Places
from treetop.workers.processes import cores

ModuleFactory = Callable[[tuple[int, ...], int, int], Any]
"""Returns a `torch.nn.Module` for the shape of an observation, the number of actions and the number of values."""


def load_torch() -> Any:
    """Return PyTorch; raise MissingExtraError where it is not installed."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("networks are trained by PyTorch", extra="torch") from error
    return torch


@contextmanager
def few_threads(*, workers: bool = False) -> Iterator[None]:
    """Let PyTorch leave a core to self-play inside the block; with `workers`, which use all cores, it has one."""
    torch = load_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(1 if workers else max(1, cores() - 1))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def make_module(
    architecture: Architecture, seed: int, factory: ModuleFactory | None = None, places: Places | None = None
) -> Any:
    """Return a `torch.nn.Module` with new weights: observations to logits and values; by `factory`, if there is one.

    The architecture's head says what the values are; those of a tanh head come before the tanh, those of a linear head
    are normalised. `places` are those of the actions in policy planes.
    """
    torch = load_torch()
    generator = torch.random.get_rng_state()
    torch.manual_seed(seed)
    try:
        return _usual_module(architecture, places) if factory is None else _own_module(architecture, factory)
    finally:
        torch.random.set_rng_state(generator)


def _own_module(architecture: Architecture, factory: ModuleFactory) -> Any:
    torch = load_torch()
    module = factory(architecture.observation, architecture.actions, architecture.outputs)
    if not isinstance(module, torch.nn.Module):
        raise ConfigError(f"the module must be a torch.nn.Module, not {type(module).__name__}")
    wanted = [(2, architecture.actions), (2, architecture.outputs)]
    try:
        module.eval()
        with torch.no_grad():
            shapes = [tuple(found.shape) for found in module(torch.zeros(2, *architecture.observation))]
    except Exception as error:
        raise ConfigError(
            f"the module fails on observations of the shape {architecture.observation}: {error}"
        ) from error
    if shapes != wanted:
        raise ConfigError(f"for two positions the module must return logits and values of {wanted}, not {shapes}")
    return module


def _usual_module(architecture: Architecture, places: Places | None) -> Any:
    """Return one of our own networks. Each convolution but that of the logits is followed by a batch normalisation."""
    torch = load_torch()
    nn, functional = torch.nn, torch.nn.functional

    class Network(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.parts = nn.ModuleDict()
            for name, shape in architecture.layers().items():
                key = _key(name)
                if name == "policy" and len(shape) == 4:
                    self.parts[key] = nn.Conv2d(shape[1], shape[0], 1)
                elif len(shape) == 4:
                    self.parts[key] = nn.Conv2d(shape[1], shape[0], shape[2], padding=shape[2] // 2, bias=False)
                    self.parts[f"{key}_norm"] = nn.BatchNorm2d(shape[0])
                else:
                    self.parts[key] = nn.Linear(shape[1], shape[0])
            if places is not None:
                self.register_buffer("places", torch.from_numpy(places), persistent=False)
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
                policy = functional.relu(self.convolution("policy.planes", trunk))
                policy = policy if architecture.planes else policy.flatten(1)
                value = functional.relu(self.convolution("value.planes", trunk)).flatten(1)
            hidden = functional.relu(self.parts[_key("value.hidden")](value))
            logits = self.parts["policy"](policy)
            if architecture.planes:
                logits = logits.flatten(1)[:, self.places]
            return logits, self.parts["value"](hidden)

    return Network()


def exported(architecture: Architecture, module: Any) -> bytes:
    """Return any module as an ONNX model: `observations` to `logits` and `values`."""
    torch, content = load_torch(), io.BytesIO()
    module.eval()
    names = ["observations", "logits", "values"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter that needs no further package is called a legacy
        torch.onnx.export(
            module, (torch.zeros(1, *architecture.observation),), content, dynamo=False, input_names=names[:1],
            output_names=names[1:], dynamic_axes={name: {0: "batch"} for name in names},
        )  # fmt: skip
    return content.getvalue()


def folded(
    architecture: Architecture, module: Any, mean: npt.NDArray[np.float64], spread: npt.NDArray[np.float64]
) -> dict[str, npt.NDArray[np.float32]]:
    """Return the weights of a module as those of a `Model`: normalisations become part of the layers before them.

    `mean` and `spread` are those of the values, which a linear head gives normalised.
    """
    state = {name: array.detach().cpu().double().numpy() for name, array in module.state_dict().items()}
    weights: dict[str, npt.NDArray[np.float32]] = {}
    for name in architecture.layers():
        key = f"parts.{_key(name)}"
        weight = state[f"{key}.weight"]
        if f"{key}_norm.weight" in state:
            norm = f"{key}_norm"
            factor = state[f"{norm}.weight"] / np.sqrt(state[f"{norm}.running_var"] + 1e-5)
            weight, bias = (
                weight * factor[:, None, None, None],
                (state[f"{norm}.bias"] - state[f"{norm}.running_mean"] * factor),
            )
        else:
            bias = state[f"{key}.bias"]
        if name == "value" and architecture.head == "linear":
            weight, bias = weight * spread[:, None], bias * spread + mean
        weights[f"{name}.weight"] = np.ascontiguousarray(weight, np.float32)
        weights[f"{name}.bias"] = np.ascontiguousarray(bias, np.float32)
    return weights


def _key(name: str) -> str:
    return name.replace(".", "_")  # a module's name has no dots
