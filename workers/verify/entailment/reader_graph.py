"""The reader of (claim, passage) as an ONNX graph: BERT with a pooler and three outputs, int8.

After Devlin et al., BERT (NAACL 2019). Matrices are int8 with a scale a column, what flows through
them is quantized when it is known (`DynamicQuantizeMatMul`, docs/ContribOperators.md of
onnxruntime). The first token alone is read at the end, so the last layer computes nothing else but
what it looks at. There is no mask: nothing is ever padded.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

HEADS = 12
EPSILON = 1e-12

_CONTRIB = "com.microsoft"
_OPSET, _IR_VERSION = 20, 10

Arrays = Mapping[str, NDArray[Any]]


class ReaderGraph:
    """The graph around one set of weights: `x` (rows, tokens, width) in, `logits` (rows, 3) out."""

    def __init__(self, weights: Arrays) -> None:
        self._weights = weights
        self._nodes: list[NodeProto] = []
        self._tensors: dict[str, TensorProto] = {}
        self._width = len(weights["norm.weight"])
        self._layers = sum(name.endswith(".up.int8") for name in weights)

    def model(self) -> bytes:
        """The serialized model with its weights."""
        x = self._norm("x", "norm")
        for layer in range(self._layers):
            x = self._layer(x, f"layer.{layer}.", last=layer + 1 == self._layers)
        pooled = self._node("Tanh", self._dense(x, "pooler"))
        self._node(
            "Squeeze", self._dense(pooled, "head"), self._integers("one", 1), output="logits"
        )
        into = helper.make_tensor_value_info(
            "x", TensorProto.FLOAT, ["rows", "tokens", self._width]
        )
        out = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["rows", 3])
        graph = helper.make_graph(
            self._nodes, "reader", [into], [out], list(self._tensors.values())
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        return bytes(model.SerializeToString())

    def _layer(self, x: str, at: str, *, last: bool) -> str:
        width = self._width
        asked = x
        if last:
            first, end, axis = self._integers("s0", 0), self._integers("s1", 1), "s1"
            asked = self._node("Slice", x, first, end, axis)
            q = self._dense(asked, at + "q")
            k, v = self._split(self._dense(x, at + "kv"), width, 2)
        else:
            q, k, v = self._split(self._dense(x, at + "qkv"), width, 3)
        found = self._node("MultiHeadAttention", q, k, v, domain=_CONTRIB, num_heads=HEADS)
        x = self._norm(self._node("Add", self._dense(found, at + "out"), asked), at + "norm1")
        grown = self._node(
            "BiasGelu", self._product(x, at + "up"), self._own(at + "up.bias"), domain=_CONTRIB
        )
        return self._norm(self._node("Add", self._dense(grown, at + "down"), x), at + "norm2")

    def _split(self, x: str, width: int, count: int) -> list[str]:
        name = f"Split.{len(self._nodes)}"
        names = [f"{name}.{part}" for part in range(count)]
        sizes = self._integers(f"sizes{count}", *[width] * count)
        self._nodes.append(helper.make_node("Split", [x, sizes], names, name=name, axis=-1))
        return names

    def _product(self, x: str, name: str, *bias: str) -> str:
        scale, matrix = self._own(name + ".scale"), self._own(name + ".int8")
        return self._node("DynamicQuantizeMatMul", x, matrix, scale, "", *bias, domain=_CONTRIB)

    def _dense(self, x: str, name: str) -> str:
        return self._product(x, name, self._own(name + ".bias"))

    def _norm(self, x: str, name: str) -> str:
        scale, bias = self._own(name + ".weight"), self._own(name + ".bias")
        return self._node("LayerNormalization", x, scale, bias, axis=-1, epsilon=EPSILON)

    def _own(self, name: str) -> str:
        self._tensors[name] = numpy_helper.from_array(
            np.ascontiguousarray(self._weights[name]), name
        )
        return name

    def _integers(self, name: str, *values: int) -> str:
        self._tensors[name] = numpy_helper.from_array(np.array(values, np.int64), name)
        return name

    def _node(self, kind: str, *inputs: str, output: str = "", domain: str = "", **how: Any) -> str:
        output = output or f"{kind}.{len(self._nodes)}"
        self._nodes.append(
            helper.make_node(kind, inputs, [output], name=output, domain=domain, **how)
        )
        return output
