"""A residual policy and value network with random weights: an ONNX model, and an evaluator. Needs onnx, onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np


def residual_network(
    shape: tuple[int, int, int], actions: int, channels: int = 32, blocks: int = 3, seed: int = 1
) -> bytes:
    """Return an ONNX model: observations to logits and values, with 3x3 convolutions in residual blocks."""
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(seed)
    nodes: list[Any] = []
    weights: list[Any] = []

    def constant(name: str, array: Any) -> str:
        weights.append(numpy_helper.from_array(np.ascontiguousarray(array, np.float32), name))
        return name

    def convolution(source: str, name: str, inputs: int, outputs: int, size: int) -> str:
        scale = (2.0 / (inputs * size * size)) ** 0.5
        kernel = constant(f"{name}.w", rng.normal(0.0, scale, (outputs, inputs, size, size)))
        bias = constant(f"{name}.b", np.zeros(outputs))
        nodes.append(helper.make_node("Conv", [source, kernel, bias], [name], pads=[size // 2] * 4))
        return name

    def unary(kind: str, source: str, name: str) -> str:
        nodes.append(helper.make_node(kind, [source], [name]))
        return name

    def dense(source: str, name: str, inputs: int, outputs: int) -> str:
        kernel = constant(f"{name}.w", rng.normal(0.0, inputs**-0.5, (inputs, outputs)))
        nodes.append(helper.make_node("Gemm", [source, kernel, constant(f"{name}.b", np.zeros(outputs))], [name]))
        return name

    planes, rows, columns = shape
    trunk = unary("Relu", convolution("x", "stem", planes, channels, 3), "stem.relu")
    for block in range(blocks):
        inner = unary("Relu", convolution(trunk, f"block{block}.1", channels, channels, 3), f"block{block}.relu")
        inner = convolution(inner, f"block{block}.2", channels, channels, 3)
        nodes.append(helper.make_node("Add", [trunk, inner], [f"block{block}.sum"]))
        trunk = unary("Relu", f"block{block}.sum", f"block{block}.out")
    policy = unary("Flatten", unary("Relu", convolution(trunk, "policy", channels, 2, 1), "policy.relu"), "policy.flat")
    dense(policy, "logits", 2 * rows * columns, actions)
    value = unary("Flatten", unary("Relu", convolution(trunk, "value", channels, 1, 1), "value.relu"), "value.flat")
    hidden = unary("Relu", dense(value, "value.hidden", rows * columns, channels), "value.hidden.relu")
    unary("Tanh", dense(hidden, "value.out", channels, 1), "values")
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", *shape])],
        [
            helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", actions]),
            helper.make_tensor_value_info("values", TensorProto.FLOAT, ["batch", 1]),
        ],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())


class OnnxNetwork:
    """An evaluator that runs a model in onnxruntime, with one thread."""

    def __init__(self, model: bytes) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.positions = 0

    def run(self, observations: Any) -> tuple[Any, Any]:
        """Return logits and values of observations."""
        logits, values = self._session.run(None, {"x": observations})
        return logits, values[:, 0]

    def evaluate(self, batch: Any) -> tuple[Any, Any]:
        """Evaluate a batch of leaves."""
        self.positions += len(batch)
        return self.run(batch.observations)
