"""BERT's layers as an ONNX graph, int8: what the learned readers are made of.

After Devlin et al., BERT (NAACL 2019). Matrices are int8 with a scale a column, what flows through
them is quantized when it is known (`DynamicQuantizeMatMul`, docs/ContribOperators.md of
onnxruntime). There is no mask: nothing is ever padded.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

HEADS = 12
EPSILON = 1e-12

_CONTRIB = "com.microsoft"
_OPSET, _IR_VERSION = 20, 10
_LARGEST = 63
"""Of 7 bits: processors without VNNI instructions add two products in 16, and 8 would overflow."""

Arrays = Mapping[str, NDArray[Any]]


def quantized(matrix: NDArray[Any], largest: int = _LARGEST) -> tuple[NDArray[Any], NDArray[Any]]:
    """A matrix (outputs, inputs) as the graph wants it: int8 (inputs, outputs), and its scales."""
    turned = np.ascontiguousarray(matrix.astype(np.float32).T)  # safetensors writes what lies there
    scale = np.abs(turned).max(0) / largest + 1e-12
    return np.round(turned / scale).astype(np.int8), scale.astype(np.float32)


class Int8Graph(ABC):
    """A graph around one set of weights: `x` (rows, tokens, width) in. What comes out is said by
    whoever extends it: `build` makes the nodes and names the output."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = weights
        self._nodes: list[NodeProto] = []
        self._tensors: dict[str, TensorProto] = {}
        norms = (name for name in weights if name.endswith(("norm.weight", "norm1.weight")))
        self.width = len(weights[next(norms)])
        self.layers = sum(name.endswith(".up.int8") for name in weights)

    @abstractmethod
    def build(self) -> tuple[str, list[str | int]]:
        """Makes the nodes. Returns the output's name and its shape."""

    def model(self) -> bytes:
        """The serialized model with its weights."""
        output, shape = self.build()
        into = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", "tokens", self.width])
        out = helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)
        graph = helper.make_graph(
            self._nodes, "reader", [into], [out], list(self._tensors.values())
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        return bytes(model.SerializeToString())

    def layer(self, x: str, at: str, *, last: bool = False) -> str:
        """One layer; of the `last` one only the first token is computed."""
        width = self.width
        asked = x
        if last:
            first, end, axis = self.integers("s0", 0), self.integers("s1", 1), "s1"
            asked = self.node("Slice", x, first, end, axis)
            q = self.dense(asked, at + "q")
            k, v = self._split(self.dense(x, at + "kv"), width, 2)
        else:
            q, k, v = self._split(self.dense(x, at + "qkv"), width, 3)
        found = self.node("MultiHeadAttention", q, k, v, domain=_CONTRIB, num_heads=HEADS)
        x = self.norm(self.node("Add", self.dense(found, at + "out"), asked), at + "norm1")
        grown = self.node(
            "BiasGelu", self._product(x, at + "up"), self._own(at + "up.bias"), domain=_CONTRIB
        )
        return self.norm(self.node("Add", self.dense(grown, at + "down"), x), at + "norm2")

    def _split(self, x: str, width: int, count: int) -> list[str]:
        name = f"Split.{len(self._nodes)}"
        names = [f"{name}.{part}" for part in range(count)]
        sizes = self.integers(f"sizes{count}", *[width] * count)
        self._nodes.append(helper.make_node("Split", [x, sizes], names, name=name, axis=-1))
        return names

    def _product(self, x: str, name: str, *bias: str) -> str:
        scale, matrix = self._own(name + ".scale"), self._own(name + ".int8")
        return self.node("DynamicQuantizeMatMul", x, matrix, scale, "", *bias, domain=_CONTRIB)

    def dense(self, x: str, name: str) -> str:
        """A matrix product with its bias."""
        return self._product(x, name, self._own(name + ".bias"))

    def norm(self, x: str, name: str) -> str:
        """LayerNormalization with its own scale and bias."""
        scale, bias = self._own(name + ".weight"), self._own(name + ".bias")
        return self.node("LayerNormalization", x, scale, bias, axis=-1, epsilon=EPSILON)

    def _own(self, name: str) -> str:
        self._tensors[name] = numpy_helper.from_array(
            np.ascontiguousarray(self.weights[name]), name
        )
        return name

    def integers(self, name: str, *values: int) -> str:
        """A constant."""
        self._tensors[name] = numpy_helper.from_array(np.array(values, np.int64), name)
        return name

    def node(self, kind: str, *inputs: str, output: str = "", domain: str = "", **how: Any) -> str:
        """A node; returns the name of its first output."""
        output = output or f"{kind}.{len(self._nodes)}"
        self._nodes.append(
            helper.make_node(kind, inputs, [output], name=output, domain=domain, **how)
        )
        return output


def opened(graph: Int8Graph, threads: int = 1) -> Any:
    """A session of onnxruntime on `graph`, with the cores that one run may use."""
    # Imported here: it takes a while, and who reads nothing does without.
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # plans memory for one input shape; here they all differ
    # Beyond the basic ones Add and LayerNormalization are joined: 3.3 ms a pair instead of 0.8.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(graph.model(), options, providers=["CPUExecutionProvider"])
