"""Host names and addresses of this machine."""

import ipaddress
from functools import lru_cache


@lru_cache(16)  # every request asks for the same name
def is_loopback(name: str) -> bool:
    """Whether a host name or address means this machine only."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def url_of(host: str, port: int) -> str:
    """The URL of a web server; an IPv6 address is put in brackets (RFC 3986, 3.2.2)."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
