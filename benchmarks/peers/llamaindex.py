"""LlamaIndex, in its own virtual environment: a vector index in memory and its citation engine."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from llama_index.core import Document, Settings, SimpleDirectoryReader, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.query_engine import CitationQueryEngine

from benchmarks.peers import wire
from benchmarks.peers.embedding import vectors

KEPT = 10


class Embedding(BaseEmbedding):
    """The common embedding."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return vectors([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return vectors(texts)

    def _get_query_embedding(self, query: str) -> list[float]:
        return vectors([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vectors([query])[0]


class Model(CustomLLM):
    """The stub of a model."""

    words: str = "The report gives the hazard ratio."

    @property
    def metadata(self) -> LLMMetadata:
        """A model with a long context."""
        return LLMMetadata(context_window=128_000, num_output=512, model_name="stub")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:  # noqa: ARG002, FBT
        """What it was told to say, with the first source."""
        return CompletionResponse(text=f"{self.words} [1]")

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        """The same in one piece."""
        yield self.complete(prompt, formatted)


class LlamaIndex:
    """An index over documents, filled as one goes."""

    def __init__(self) -> None:
        self.versions = {"LlamaIndex": version("llama-index-core")}
        self.model = Model()
        Settings.llm = self.model
        Settings.embed_model = Embedding(model_name="hash", embed_batch_size=100)
        self.index = VectorStoreIndex([])
        self.engine = self._engine()

    def _engine(self) -> CitationQueryEngine:
        """Made anew after every change: it looks only among the nodes of the time it was made."""
        return CitationQueryEngine.from_args(self.index, similarity_top_k=KEPT)

    def ingest(self, files: Sequence[Path]) -> None:
        """Split and embedded all at once, as `from_documents` does it, into the index there is."""
        read = [
            Document(text=path.read_bytes().decode(), metadata={"file": path.name})
            for path in files
        ]
        nodes = Settings.node_parser.get_nodes_from_documents(read)
        self.index.insert_nodes(nodes)
        self.engine = self._engine()

    def ask(self, question: str) -> wire.Told:
        """One query of the citation engine."""
        made = self.engine.query(question)
        read = [one.node.get_content() for one in made.source_nodes]
        return wire.Told(str(made), bool(read) and "[1]" in str(made), read)

    def pieces(self) -> list[wire.Piece]:
        """The nodes of the index."""
        return [
            wire.Piece(one.metadata["file"], one.text, one.start_char_idx)
            for one in self.index.docstore.docs.values()
        ]

    def say(self, words: str) -> None:
        """Change the stub's words."""
        self.model.words = words

    def hold(self, folder: Path) -> None:
        """The folder's reader with the names as ids, then the index's refresh by content."""
        read = SimpleDirectoryReader(str(folder), filename_as_id=True).load_data()
        self.index.refresh_ref_docs(read)
        self.engine = self._engine()


if __name__ == "__main__":
    wire.stay_offline()
    wire.serve(LlamaIndex)
