"""The reader of (claim, passage) as an ONNX graph: BERT with a pooler and three outputs, int8.

The first token alone is read at the end, so the last layer computes nothing else but what it looks
at.
"""

from workers.encoder.int8_graph import Int8Graph


class ReaderGraph(Int8Graph):
    """`x` (rows, tokens, width) in, `logits` (rows, 3) out."""

    def build(self) -> tuple[str, list[str | int]]:
        """All layers, the pooler and the head."""
        x = self.norm("x", "norm")
        for layer in range(self.layers):
            x = self.layer(x, f"layer.{layer}.", last=layer + 1 == self.layers)
        pooled = self.node("Tanh", self.dense(x, "pooler"))
        head = self.dense(pooled, "head")
        return self.node("Squeeze", head, self.integers("one", 1), output="logits"), ["rows", 3]
