"""A network in bfloat16 by PyTorch: about twice as fast as onnxruntime on processors that compute in it.

Self-play uses it where it can: a search of a few dozen simulations is noisier than the rounding. Everything else runs
in onnxruntime.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.evaluators.networks.architecture import Architecture
from treetop.evaluators.networks.graph import Weights
from treetop.evaluators.networks.places import Places

Floats = npt.NDArray[np.float32]


_LEAST_WIDTH = 32  # channels: narrower networks are not faster


def is_faster_in_half(architecture: Architecture) -> bool:
    """Return whether a network runs faster in bfloat16 here: that depends on its size, the processor and PyTorch."""
    if architecture.kind != "residual" or architecture.width < _LEAST_WIDTH:
        return False
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


class HalfSession:
    """A residual network in bfloat16; it is called as a session of onnxruntime is."""

    def __init__(self, architecture: Architecture, weights: Weights, places: Places | None = None) -> None:
        import torch

        self._torch, self._architecture = torch, architecture
        self._places = None if places is None else torch.from_numpy(places)
        self._weights = {name: self._prepared(array) for name, array in weights.items()}

    def _prepared(self, array: Floats) -> Any:
        torch = self._torch
        found = torch.from_numpy(np.ascontiguousarray(array)).bfloat16()
        return found.contiguous(memory_format=torch.channels_last) if found.dim() == 4 else found

    def run(self, _: None, inputs: dict[str, Floats]) -> tuple[Floats, Floats]:
        """Return the logits and the values of observations."""
        torch, architecture = self._torch, self._architecture
        with torch.inference_mode():
            trunk = torch.from_numpy(inputs["observations"]).bfloat16()
            trunk = self._convolution(trunk.contiguous(memory_format=torch.channels_last), "stem").relu_()
            for block in range(architecture.depth):
                inner = self._convolution(trunk, f"block{block}.first").relu_()
                trunk = self._convolution(inner, f"block{block}.second").add_(trunk).relu_()
            policy = self._convolution(trunk, "policy.planes").relu_()
            value = self._convolution(trunk, "value.planes").relu_().flatten(1)
            if self._places is None:
                logits = self._dense(policy.flatten(1), "policy").float()
            else:
                logits = self._convolution(policy, "policy").flatten(1)[:, self._places].float()
            values = self._dense(self._dense(value, "value.hidden").relu_(), "value").float()
            if architecture.head == "tanh":
                values.tanh_()
            return logits.numpy(), values.numpy()

    def _convolution(self, source: Any, name: str) -> Any:
        weight = self._weights[f"{name}.weight"]
        return self._torch.nn.functional.conv2d(
            source, weight, self._weights[f"{name}.bias"], padding=weight.shape[-1] // 2
        )

    def _dense(self, source: Any, name: str) -> Any:
        return self._torch.nn.functional.linear(source, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])
