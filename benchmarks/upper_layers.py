"""The packaged encoder with its last layers trained: what the trainers of readers share.

Wants torch and transformers, which the product does not.
"""

from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from workers.encoder.minilm import model_folder
from workers.encoder.tokens import KINDS

WIDTH = 384


class UpperLayers(nn.Module):
    """An encoder of which the last layers are trained, and a vector a kind of name is learned.

    Args:
        layers: of the encoder that are used, with the trained ones.
        top: those that are trained.
    """

    def __init__(self, layers: int, top: int) -> None:
        super().__init__()
        folder = model_folder()
        config = BertConfig.from_json_file(folder / "config.json")
        self.bert = BertModel(config, add_pooling_layer=False)
        self.bert.load_state_dict(load_file(folder / "model.safetensors"), strict=False)
        self.bert.requires_grad_(requires_grad=False)
        self.lower = self.bert.encoder.layer[: layers - top]
        self.upper = self.bert.encoder.layer[layers - top : layers]
        self.upper.requires_grad_(requires_grad=True)
        self.kinds = nn.Embedding(len(KINDS), WIDTH)
        nn.init.zeros_(self.kinds.weight)

    @torch.no_grad()
    def below(self, ids: Tensor, there: Tensor | None = None) -> Tensor:
        """States (texts, tokens, width) under the layers that are trained.

        Args:
            there: 1 for a token, 0 for what only fills a row; None where nothing does.
        """
        x: Tensor = self.bert.embeddings(ids)
        return _through(self.lower, x, there)

    def above(self, x: Tensor, there: Tensor) -> Tensor:
        """States above the layers that are trained."""
        return _through(self.upper, x, there)


def _through(layers: nn.ModuleList, x: Tensor, there: Tensor | None) -> Tensor:
    mask = None if there is None else (1 - there)[:, None, None, :] * -1e9
    for layer in layers:
        told: Any = layer(x, attention_mask=mask)
        # the states alone, or first of several things, by the version of transformers
        x = told[0] if isinstance(told, tuple) else told
    return x
