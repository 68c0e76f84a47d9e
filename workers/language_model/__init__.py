"""Language models: the port, which returns proposals in a given shape, and its adapters."""

from store.core.settings import Settings
from workers.language_model.port import LanguageModel
from workers.language_model.prices import PriceTable, prices


def model_for(settings: Settings) -> LanguageModel | None:
    """The model of the settings; None without one. Everything works without a model.

    Raises:
        ValueError: key, name or address cannot be used.
    """
    # Imported here: the SDK takes a second to load.
    if settings.model_url and settings.model_api == "chat":
        from workers.language_model.chat import ChatModel

        return ChatModel(
            settings.model_url,
            settings.model_name,
            settings.model_key,
            timeout=settings.model_seconds,
            table=table_of(settings),
        )
    if not (settings.model_url or settings.anthropic_api_key):
        return None
    from workers.language_model.anthropic import AnthropicModel

    if settings.model_url:
        return AnthropicModel(
            settings.model_key,
            settings.model_name,
            settings.model_url,
            timeout=settings.model_seconds,
            own=True,
            table=table_of(settings),
        )
    return AnthropicModel(
        settings.anthropic_api_key,
        settings.anthropic_model,
        settings.anthropic_url,
        timeout=settings.anthropic_seconds,
    )


def table_of(settings: Settings) -> PriceTable:
    """What tokens cost: as the operator says, else by `knowledge/operation/prices.yaml`."""
    if not settings.model_url:
        return prices()
    return prices().with_own(settings.model_input_usd, settings.model_output_usd)


def maker_of(settings: Settings) -> str:
    """What answers and notes call a model of the settings as their maker."""
    return "model" if settings.model_url else "anthropic"
