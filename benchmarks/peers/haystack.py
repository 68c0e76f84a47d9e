"""Haystack, in its own virtual environment: BM25 and dense retrieval in memory, joined by rank."""

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack import Document, Pipeline, component
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.components.writers import DocumentWriter
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from benchmarks.peers import wire
from benchmarks.peers.embedding import vectors

KEPT = 10
PROMPT = (
    "{% for one in documents %}[{{ loop.index }}] {{ one.content }}\n{% endfor %}{{ question }}"
)


@component
class DocumentEmbedder:
    """The common embedding for documents."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Each document with its vector."""
        made = vectors([one.content or "" for one in documents])
        return {
            "documents": [
                replace(one, embedding=vector) for one, vector in zip(documents, made, strict=True)
            ]
        }


@component
class QuestionEmbedder:
    """The common embedding for a question."""

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        """The vector of the question."""
        return {"embedding": vectors([text])[0]}


@component
class Model:
    """The stub of a model."""

    def __init__(self) -> None:
        self.words = "The report gives the hazard ratio."

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, list[ChatMessage]]:  # noqa: ARG002
        """What it was told to say, with the first document as its source."""
        return {"replies": [ChatMessage.from_assistant(f"{self.words} [1]")]}


class Haystack:
    """Two pipelines over one store in memory, as Haystack's own guides build them."""

    def __init__(self) -> None:
        self.versions = {"Haystack": version("haystack-ai")}
        self.store = InMemoryDocumentStore(embedding_similarity_function="cosine")
        self.model = Model()
        self.indexing = self._indexing()
        self.answering = self._answering()

    def _indexing(self) -> Pipeline:
        made = Pipeline()
        made.add_component("split", DocumentSplitter())
        made.add_component("embed", DocumentEmbedder())
        made.add_component("write", DocumentWriter(self.store, policy=DuplicatePolicy.OVERWRITE))
        made.connect("split", "embed")
        made.connect("embed", "write")
        return made

    def _answering(self) -> Pipeline:
        made = Pipeline()
        prompt = ChatPromptBuilder([ChatMessage.from_user(PROMPT)], required_variables="*")
        for name, part in {
            "embed": QuestionEmbedder(),
            "words": InMemoryBM25Retriever(self.store, top_k=KEPT),
            "near": InMemoryEmbeddingRetriever(self.store, top_k=KEPT),
            "join": DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=KEPT),
            "prompt": prompt,
            "model": self.model,
            "answer": AnswerBuilder(reference_pattern=r"\[(\d+)\]"),
        }.items():
            made.add_component(name, part)
        for sender, receiver in (
            ("embed", "near.query_embedding"),
            ("words", "join"),
            ("near", "join"),
            ("join", "prompt.documents"),
            ("prompt", "model"),
            ("model", "answer.replies"),
            ("join", "answer.documents"),
        ):
            made.connect(sender, receiver)
        return made

    def ingest(self, files: Sequence[Path]) -> None:
        """All files through the indexing pipeline at once."""
        read = [
            Document(content=path.read_bytes().decode(), meta={"file": path.name}) for path in files
        ]
        self.indexing.run({"split": {"documents": read}})

    def ask(self, question: str) -> wire.Told:
        """One run of the answering pipeline."""
        made = self.answering.run(
            {
                "embed": {"text": question},
                "words": {"query": question},
                "prompt": {"question": question},
                "answer": {"query": question},
            },
            include_outputs_from={"join"},
        )
        answer = made["answer"]["answers"][0]
        read = [one.content or "" for one in made["join"]["documents"]]
        return wire.Told(answer.data, bool(answer.documents), read)

    def pieces(self) -> list[wire.Piece]:
        """The documents of the store."""
        return [
            wire.Piece(one.meta["file"], one.content or "", one.meta["split_idx_start"])
            for one in self.store.filter_documents()
        ]

    def say(self, words: str) -> None:
        """Change the stub's words."""
        self.model.words = words

    def hold(self, folder: Path) -> None:
        """The folder through the indexing pipeline again; the writer overwrites equal ids."""
        self.ingest(sorted(folder.glob("*.txt")))


if __name__ == "__main__":
    wire.stay_offline()
    wire.serve(Haystack)
