"""Language models: the port, which returns proposals in a given shape, and its adapter."""

from store.core.settings import Settings
from workers.language_model.port import LanguageModel


def model_for(settings: Settings) -> LanguageModel | None:
    """The model of the settings; None without a key. Everything works without a model.

    Raises:
        ValueError: key, name or address cannot be used.
    """
    if not settings.anthropic_api_key:
        return None
    from workers.language_model.anthropic import AnthropicModel  # the SDK takes a second to load

    return AnthropicModel(
        settings.anthropic_api_key,
        settings.anthropic_model,
        settings.anthropic_url,
        timeout=settings.anthropic_seconds,
    )
