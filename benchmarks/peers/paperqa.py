"""PaperQA, in its own virtual environment: its document API, and its index for files that change.

With `--direct` the model is called without the client library that PaperQA calls models through.
"""

import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else its prices are fetched at import

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Coroutine, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import litellm
from lmi import EmbeddingModel, LiteLLMModel, LLMResult
from paperqa import Docs, Settings
from paperqa.agents import build_index

from benchmarks.peers import wire
from benchmarks.peers.embedding import DIMENSIONS, vectors

T = TypeVar("T")
NAME = "stub/model"
CONFIG = {"model_list": [{"model_name": NAME, "litellm_params": {"model": NAME}}]}
SUMMARY = json.dumps({"summary": "The report gives the hazard ratio.", "relevance_score": 8})
_KEY = re.compile(r"pqac-[0-9a-f]{8}")


class Stub:
    """What the model says: a summary of each passage, then the answer with the first key shown."""

    words = "The report gives the hazard ratio."

    def reply(self, messages: Sequence[Any]) -> str:
        """To a prompt of PaperQA."""
        read = "\n".join(
            str(one["content"] if isinstance(one, dict) else one.content) for one in messages
        )
        keys = _KEY.findall(read.rpartition("Question:")[0] or read)
        if "Valid Keys:" not in read:
            return SUMMARY
        return f"{self.words} ({keys[0]})" if keys else self.words


stub = Stub()


class Direct(LiteLLMModel):
    """PaperQA's model without the client library under it: what is left is PaperQA alone."""

    async def _dispatch(self, spec: Any, *, messages: list[Any], **_: Any) -> list[LLMResult]:  # noqa: ARG002
        text = stub.reply(messages)
        return [LLMResult(model=NAME, text=text, prompt_count=1, completion_count=1)]


class Provider(litellm.CustomLLM):
    """The same behind PaperQA's own client library, answered where a request would go out."""

    async def acompletion(self, *_: Any, **options: Any) -> Any:
        """As litellm gives it."""
        made = litellm.ModelResponse()
        made.choices[0].message.content = stub.reply(options["messages"])
        made.usage = litellm.Usage(1, 1, 2)
        return made


class Embedding(EmbeddingModel):
    """The common embedding."""

    name: str = "hash"
    ndim: int | None = DIMENSIONS

    async def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """All at once."""
        return vectors(texts)


class PaperQA:
    """Documents in memory; for a folder that changes, the index that PaperQA keeps on disk."""

    def __init__(self, model: type[LiteLLMModel] = LiteLLMModel) -> None:
        self.versions = {"PaperQA": version("paper-qa")}
        litellm.custom_provider_map = [{"provider": "stub", "custom_handler": Provider()}]
        self.loop = asyncio.new_event_loop()
        self.docs = Docs()
        self.model, self.embedding = model(name=NAME, config=CONFIG), Embedding()
        self.work = Path(tempfile.mkdtemp(prefix="attest-peers-paperqa-"))
        os.environ["PQA_HOME"] = str(self.work)
        self.settings = self._settings(self.work)

    def _settings(self, folder: Path) -> Settings:
        return Settings(
            llm=NAME,
            llm_config=CONFIG,
            summary_llm=NAME,
            summary_llm_config=CONFIG,
            embedding="sparse",
            parsing={"use_doc_details": False, "multimodal": False},
            agent={
                "agent_llm": NAME,
                "agent_llm_config": CONFIG,
                "index": {"paper_directory": folder, "index_directory": self.work / "index"},
            },
        )

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def ingest(self, files: Sequence[Path]) -> None:
        """One file after another with its citation given, so that no model is asked for it."""
        self._run(self._add(files))

    async def _add(self, files: Sequence[Path]) -> None:
        for path in files:
            await self.docs.aadd(
                path,
                citation=f"{path.stem}, 2026",
                docname=path.stem,
                settings=self.settings,
                embedding_model=self.embedding,
                llm_model=self.model,
            )

    def ask(self, question: str) -> wire.Told:
        """Ten passages summarized, then one answer."""
        made = self._run(
            self.docs.aquery(
                question,
                settings=self.settings,
                embedding_model=self.embedding,
                llm_model=self.model,
                summary_llm_model=self.model,
            )
        )
        read = [one.text.text for one in made.contexts]
        return wire.Told(made.answer, bool(made.references), read)

    def pieces(self) -> list[wire.Piece]:
        """Its texts; they have no offsets."""
        return [wire.Piece(f"{one.doc.docname}.txt", one.text, None) for one in self.docs.texts]

    def say(self, words: str) -> None:
        """Change the stub's words."""
        stub.words = words

    def hold(self, folder: Path) -> None:
        """Its index of a folder, brought up to date; then what a search of it gives is held."""
        self._run(self._hold(folder))

    async def _hold(self, folder: Path) -> None:
        index = await build_index("held", folder, self._settings(folder))
        found = await index.query("guideline")
        self.docs = Docs()
        for one in found:
            for text in one.texts:
                text.embedding = None  # the index's own; the common one is asked for below
            await self.docs.aadd_texts(
                texts=one.texts,
                doc=next(iter(one.docs.values())),
                settings=self.settings,
                embedding_model=self.embedding,
            )


if __name__ == "__main__":
    wire.stay_offline()
    wire.serve(lambda: PaperQA(Direct if "--direct" in sys.argv else LiteLLMModel))
