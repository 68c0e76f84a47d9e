"""Whether callers need a key; `attest up` asks without importing what checks keys."""

from api_gateway.http.host_names import is_loopback
from store.core.settings import Settings


def keys_required(settings: Settings) -> bool:
    """Whether every caller needs a key. Always true if other machines can reach the gateway."""
    return settings.require_keys or not is_loopback(settings.host)
