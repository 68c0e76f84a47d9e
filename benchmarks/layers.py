"""The last layers of a trained BERT, as the product's readers that tag tokens want them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.encoder.checkpoint import LAYER_PARTS
from workers.encoder.int8_graph import quantized


def last_layers(held: Mapping[str, NDArray[Any]], count: int, top: int) -> dict[str, NDArray[Any]]:
    """The `top` last of `count` layers: matrices int8 with a scale a column, the rest as it is."""
    found: dict[str, NDArray[Any]] = {}
    for layer in range(top):
        at, own = f"bert.encoder.layer.{count - top + layer}.", f"layer.{layer}."
        for theirs, ours in LAYER_PARTS.items():
            for part in ("weight", "bias"):
                value = np.concatenate([held[f"{at}{one}.{part}"] for one in theirs])
                if value.ndim == 1:
                    found[f"{own}{ours}.{part}"] = value
                else:
                    found[f"{own}{ours}.int8"], found[f"{own}{ours}.scale"] = quantized(value)
    return found
