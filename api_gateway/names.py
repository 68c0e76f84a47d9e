"""Names and addresses of this machine."""

import ipaddress


def is_loopback(name: str) -> bool:
    """Whether a host name or address means this machine only."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
