"""A network as an ONNX model, built from its weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from treetop.errors import MissingExtraError
from treetop.evaluators.networks.architecture import Architecture
from treetop.evaluators.networks.places import Places

Weights = Mapping[str, npt.NDArray[np.float32]]
_OPSET, _FORMAT = 17, 8  # versions that onnxruntime reads since 2022


def load_onnx() -> Any:
    """Return the package onnx; raise MissingExtraError where it is not installed."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("networks run by onnxruntime, for which ONNX models are made", extra="onnx") from error
    return onnx


class _Graph:
    """Nodes and weights of a model, in the order of their use."""

    def __init__(self, weights: Weights) -> None:
        self._onnx, self._weights = load_onnx(), weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, kind: str, sources: list[str], name: str, **options: Any) -> str:
        """Add a node, and return its name."""
        self.nodes.append(self._onnx.helper.make_node(kind, sources, [name], **options))
        return name

    def layer(self, kind: str, source: str, name: str, **options: Any) -> str:
        """Add a layer with weights and a bias."""
        names = [f"{name}.weight", f"{name}.bias"]
        for array in names:
            values = np.ascontiguousarray(self._weights[array], np.float32)
            self.constants.append(self._onnx.numpy_helper.from_array(values, array))
        return self.add(kind, [source, *names], f"{name}.out", **options)

    def convolution(self, source: str, name: str, size: int = 3) -> str:
        """Add a convolution that keeps the size of the board."""
        return self.layer("Conv", source, name, pads=[size // 2] * 4)

    def dense(self, source: str, name: str) -> str:
        """Add a dense layer."""
        return self.layer("Gemm", source, name, transB=1)

    def relu(self, source: str) -> str:
        """Add a rectifier."""
        return self.add("Relu", [source], f"{source}.relu")

    def flat(self, source: str) -> str:
        """Make one row of each example."""
        return self.add("Flatten", [source], f"{source}.flat")


def onnx_model(architecture: Architecture, weights: Weights, places: Places | None = None) -> bytes:
    """Return an ONNX model: `observations` to `logits` and `values`.

    The architecture's head says what the values are; `places` are those of the actions in policy planes.
    """
    onnx, graph = load_onnx(), _Graph(weights)
    if architecture.kind == "dense":
        trunk = graph.flat("observations")
        for layer in range(architecture.depth):
            trunk = graph.relu(graph.dense(trunk, f"layer{layer}"))
        policy = value = trunk
    else:
        trunk = graph.relu(graph.convolution("observations", "stem"))
        for block in range(architecture.depth):
            inner = graph.relu(graph.convolution(trunk, f"block{block}.first"))
            inner = graph.convolution(inner, f"block{block}.second")
            trunk = graph.relu(graph.add("Add", [trunk, inner], f"block{block}.sum"))
        policy = graph.relu(graph.convolution(trunk, "policy.planes", 1))
        policy = policy if architecture.planes else graph.flat(policy)
        value = graph.flat(graph.relu(graph.convolution(trunk, "value.planes", 1)))
    if architecture.planes:
        graph.constants.append(onnx.numpy_helper.from_array(np.asarray(places, np.int64), "places"))
        graph.add("Gather", [graph.flat(graph.convolution(policy, "policy", 1)), "places"], "logits", axis=1)
    else:
        graph.add("Identity", [graph.dense(policy, "policy")], "logits")
    hidden = graph.relu(graph.dense(value, "value.hidden"))
    graph.add("Tanh" if architecture.head == "tanh" else "Identity", [graph.dense(hidden, "value")], "values")

    def info(name: str, *shape: int) -> Any:
        return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["batch", *shape])

    made = onnx.helper.make_graph(
        graph.nodes, "network", [info("observations", *architecture.observation)],
        [info("logits", architecture.actions), info("values", architecture.outputs)], graph.constants,
    )  # fmt: skip
    opset = [onnx.helper.make_opsetid("", _OPSET)]
    return bytes(onnx.helper.make_model(made, opset_imports=opset, ir_version=_FORMAT).SerializeToString())
