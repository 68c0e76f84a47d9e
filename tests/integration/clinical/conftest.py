"""A worker whose language model is a fake of its interface on loopback."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import pytest

from store.core.settings import Settings
from tests.fakes.messages_api import MessagesApi
from tests.fakes.web import FakeWeb, Reply
from tests.integration.clinical.extracting import KEY
from workers.inline import InlineWorker
from workers.language_model.anthropic import AnthropicModel


class Start(Protocol):
    """Starts a worker whose model writes what a function of the request's body says."""

    def __call__(
        self, writer: Callable[[Mapping[str, Any]], str | Reply], **changes: Any
    ) -> InlineWorker:
        """`changes` are those of the settings."""


@pytest.fixture
def api() -> MessagesApi:
    return MessagesApi({KEY})


@pytest.fixture
def start(settings: Settings, inline: InlineWorker, api: MessagesApi) -> Iterator[Start]:
    opened: list[InlineWorker] = []
    with FakeWeb(api) as web:

        def begin(
            writer: Callable[[Mapping[str, Any]], str | Reply], **changes: Any
        ) -> InlineWorker:
            api.writer = writer
            given = {
                "anthropic_api_key": KEY,
                "anthropic_url": web.mirrors[api.origin],
                "anthropic_seconds": 5,
                **changes,
            }
            own = settings.model_copy(update=given)
            opened.append(InlineWorker(own, inline.store, sleep=lambda _: None))
            return opened[-1]

        yield begin
        for one in opened:
            one.close()
            if isinstance(one.context.language_model, AnthropicModel):
                one.context.language_model.close()
