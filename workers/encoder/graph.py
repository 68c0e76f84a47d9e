"""The BERT encoder as an ONNX graph, its weights in one file beside it.

The graph follows Devlin et al., BERT (NAACL 2019) section 3 and Vaswani et al., Attention Is All
You Need (NeurIPS 2017) section 3; mean pooling and length 1 follow the model card. It has no
attention mask: all rows of a batch hold the same number of tokens, so nothing is padded.

Weights are packed as the kernels of onnxruntime need them, in a raw file that the runtime maps
into memory, so that processes share it. The file ends with its own SHA-256, which reveals an
incomplete or damaged copy.
"""

import hashlib
import mmap
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

# Contrib operators of onnxruntime: docs/ContribOperators.md in its repository.
# Attention and BiasGelu save time. SkipLayerNormalization costs 8 % on the CPU against
# Add + LayerNormalization, FastGelu is wrong by 7e-4: both were measured and left out.
_CONTRIB = "com.microsoft"
_OPSET = 20
_IR_VERSION = 10

_PACKING = 1  # increase it when the same tensor names get other values
_PAGE = 4096  # tensors begin on pages, so that mapping them needs no copy
_DIGEST_BYTES = 32

Arrays = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True)
class BertShape:
    """The sizes of one BERT encoder; `window` is the most tokens it reads."""

    hidden: int
    heads: int
    layers: int
    inner: int
    vocabulary: int
    window: int
    epsilon: float

    @classmethod
    def from_config(cls, config: Mapping[str, Any], window: int) -> "BertShape":
        """The shape that a Hugging Face `config.json` states.

        Raises:
            ValueError: the file describes another architecture than this graph computes.
        """
        stated = (config["model_type"], config["hidden_act"], config["position_embedding_type"])
        if stated != ("bert", "gelu", "absolute"):
            raise ValueError(f"not a BERT encoder with GELU and absolute positions: {stated}")
        return cls(
            hidden=config["hidden_size"],
            heads=config["num_attention_heads"],
            layers=config["num_hidden_layers"],
            inner=config["intermediate_size"],
            vocabulary=config["vocab_size"],
            window=min(window, config["max_position_embeddings"]),
            epsilon=config["layer_norm_eps"],
        )


@dataclass(frozen=True)
class Place:
    """The place of one packed tensor in the weights file; `offset` is in bytes."""

    name: str
    shape: tuple[int, ...]
    offset: int

    @property
    def length(self) -> int:
        """Bytes of this float32 tensor."""
        return int(np.prod(self.shape)) * 4


class BertGraph:
    """The graph of one shape: the `places` of its weights and the `model` that uses them."""

    def __init__(self, shape: BertShape) -> None:
        self.places: list[Place] = []
        self._shape = shape
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []
        self._build()

    @property
    def size(self) -> int:
        """Bytes of the weights file without its digest."""
        return self.places[-1].offset + self.places[-1].length

    @property
    def fingerprint(self) -> str:
        """A hash of everything that decides the contents of the weights file."""
        return hashlib.sha256(repr((_PACKING, self.places)).encode()).hexdigest()

    def model(self, weights_file: str) -> bytes:
        """The serialized model, whose weights are read from `weights_file` (a bare name)."""
        shape = self._shape
        graph = helper.make_graph(
            self._nodes,
            "bert",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, ["texts", "tokens"])],
            [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", shape.hidden])],
            [*self._constants, *(_external(place, weights_file) for place in self.places)],
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)]
        model: ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        return bytes(model.SerializeToString())

    def _build(self) -> None:
        x = self._embeddings()
        for layer in range(self._shape.layers):
            x = self._layer(x, f"encoder.layer.{layer}.")
        mean = self._node("ReduceMean", x, self._integers("axis", [1]), keepdims=0)
        self._node("LpNormalization", mean, output="vectors", axis=-1, p=2)

    def _embeddings(self) -> str:
        shape = self._shape
        words = self._weight("words", shape.vocabulary, shape.hidden)
        positions = self._weight("positions", shape.window, shape.hidden)
        length = self._node("Shape", "ids", start=1, end=2)
        here = self._node("Slice", positions, self._integers("begin", [0]), length)
        x = self._node("Add", self._node("Gather", words, "ids"), here)
        return self._norm(x, "embeddings.LayerNorm")

    def _layer(self, x: str, layer: str) -> str:
        hidden, inner = self._shape.hidden, self._shape.inner
        attended = self._node(
            "Attention",
            x,
            self._weight(layer + "qkv.weight", hidden, 3 * hidden),
            self._weight(layer + "qkv.bias", 3 * hidden),
            domain=_CONTRIB,
            num_heads=self._shape.heads,
        )
        attended = self._dense(attended, layer + "attention.output.dense", hidden, hidden)
        x = self._norm(self._node("Add", attended, x), layer + "attention.output.LayerNorm")
        dense = layer + "intermediate.dense"
        grown = self._node("MatMul", x, self._weight(dense + ".weight", hidden, inner))
        grown = self._node("BiasGelu", grown, self._weight(dense + ".bias", inner), domain=_CONTRIB)
        shrunk = self._dense(grown, layer + "output.dense", inner, hidden)
        return self._norm(self._node("Add", shrunk, x), layer + "output.LayerNorm")

    def _dense(self, x: str, name: str, inputs: int, outputs: int) -> str:
        product = self._node("MatMul", x, self._weight(name + ".weight", inputs, outputs))
        return self._node("Add", product, self._weight(name + ".bias", outputs))

    def _norm(self, x: str, name: str) -> str:
        scale = self._weight(name + ".weight", self._shape.hidden)
        bias = self._weight(name + ".bias", self._shape.hidden)
        return self._node(
            "LayerNormalization", x, scale, bias, axis=-1, epsilon=self._shape.epsilon
        )

    def _weight(self, name: str, *shape: int) -> str:
        end = self.size if self.places else 0
        self.places.append(Place(name, shape, -(-end // _PAGE) * _PAGE))
        return name

    def _integers(self, name: str, values: Sequence[int]) -> str:
        self._constants.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def _node(self, kind: str, *inputs: str, output: str = "", domain: str = "", **how: Any) -> str:
        output = output or f"{kind}.{len(self._nodes)}"
        self._nodes.append(
            helper.make_node(kind, inputs, [output], name=output, domain=domain, **how)
        )
        return output


def _external(place: Place, weights_file: str) -> TensorProto:
    """A tensor that is read from a file; see TensorProto.external_data in onnx.proto."""
    tensor = TensorProto(
        name=place.name,
        data_type=TensorProto.FLOAT,
        dims=place.shape,
        data_location=TensorProto.EXTERNAL,
    )
    where = {"location": weights_file, "offset": place.offset, "length": place.length}
    for key, value in where.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def pack(weights: Arrays, shape: BertShape) -> dict[str, NDArray[np.float32]]:
    """The tensors of a published checkpoint under the names and in the layout of `BertGraph`.

    Linear layers are transposed (a checkpoint stores outputs × inputs), query, key and value
    stand side by side, and the only segment there is, 0, is added to the positions.
    """
    segment = weights["embeddings.token_type_embeddings.weight"][0]
    positions = weights["embeddings.position_embeddings.weight"][: shape.window]
    packed = {
        "words": weights["embeddings.word_embeddings.weight"],
        "positions": positions + segment,
    }
    for name, array in weights.items():
        if name.startswith("encoder.") or "LayerNorm" in name:
            packed[name] = array.T if array.ndim == 2 else array
    for layer in range(shape.layers):
        attention = f"encoder.layer.{layer}.attention.self."
        for part in ("weight", "bias"):
            three = [packed.pop(f"{attention}{name}.{part}") for name in ("query", "key", "value")]
            packed[f"encoder.layer.{layer}.qkv.{part}"] = np.concatenate(three, axis=-1)
    return packed


def is_whole(path: Path, graph: BertGraph) -> bool:
    """Whether `path` holds a complete, undamaged weights file of `graph`."""
    try:
        if path.stat().st_size != graph.size + _DIGEST_BYTES:
            return False
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
            digest = hashlib.sha256()
            for begin in range(0, graph.size, 1 << 20):
                digest.update(held[begin : min(begin + (1 << 20), graph.size)])
            return digest.digest() == held[graph.size :]
    except FileNotFoundError:
        return False


def write_weights(path: Path, graph: BertGraph, arrays: Callable[[], Arrays]) -> None:
    """Write the weights file of `graph` to `path` atomically: others see all of it or nothing.

    Raises:
        OSError: the folder cannot be written or the disk is full.
        ValueError: `arrays` lacks a tensor, or one has another shape than the graph needs.
    """
    packed = arrays()
    for place in graph.places:
        if place.name not in packed or packed[place.name].shape != place.shape:
            raise ValueError(f"the checkpoint has no {place.name} of shape {place.shape}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=path.name, suffix=".tmp", delete=False
    ) as file:
        try:
            digest = hashlib.sha256()
            for place in graph.places:
                gap = bytes(place.offset - file.tell())
                for part in (gap, np.ascontiguousarray(packed[place.name], "<f4").tobytes()):
                    digest.update(part)
                    file.write(part)
            file.write(digest.digest())
            file.close()
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
