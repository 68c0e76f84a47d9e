"""The addresses that a source may be asked at, and the mirrors that replace them.

A *logical* address is the source's own, `https://…`; the *actual* one is where the request goes:
the same, or the same path below the base URL that `Settings.source_mirrors` names for the origin.
Connectors, errors and the allow-list use logical addresses only.
"""

from collections.abc import Iterable, Mapping

import httpx

from workers.http.errors import NotAllowed

_HOST_CHARACTERS = 100


class Addresses:
    """The allow-list of one source, and its mirrors."""

    def __init__(
        self, source: str, origins: Iterable[str], mirrors: Mapping[str, str] | None = None
    ) -> None:
        """`source` is its name in errors; `origins` are `https://host[:port]`."""
        self._source = source
        self.origins = frozenset(origins)
        self._mirrors = {
            origin: str(httpx.URL(base)).rstrip("/")
            for origin, base in sorted(
                (mirrors or {}).items(), key=lambda pair: len(pair[1]), reverse=True
            )
            if origin in self.origins
        }

    def allowed(
        self, url: str | httpx.URL, params: Mapping[str, str | int | float] | None = None
    ) -> httpx.URL:
        """The logical address of `url`; one inside a mirror's base is mapped back. `params` replace
        its query; None keeps it.

        Raises:
            NotAllowed: no `https`, a name or password, a bare IP address, or an origin that is not
                listed. The text names the host only.
        """
        address = self._logical(self._parsed(url, params))
        host = host_of(address)
        if address.userinfo:
            raise NotAllowed(f"{self._source}: an address of {host} carries a name or a password")
        if _is_number(host):
            raise NotAllowed(f"{self._source}: {host} is a bare IP address, which is never asked")
        if address.scheme != "https":
            raise NotAllowed(f"{self._source}: {host or 'an address'} is not asked without https")
        if origin_of(address) not in self.origins:
            raise NotAllowed(
                f"{self._source}: {origin_of(address).removeprefix('https://')} is not among the "
                f"places that this source may speak to ({self._places()})"
            )
        return address

    def actual(self, address: httpx.URL) -> httpx.URL:
        """The actual address for the logical `address`. Raises NotAllowed if it is too long."""
        base = self._mirrors.get(origin_of(address))
        if base is None:
            return address
        return self._parsed(base + address.raw_path.decode("ascii"), None)

    def redirected(self, address: httpx.URL, location: str) -> httpx.URL:
        """The logical address that `location`, in the response for `address`, leads to.

        Raises:
            NotAllowed: it is outside the allow-list.
        """
        try:
            seen = self.actual(address).join(location)
            inside = self._mapped_back(seen)
            target = inside if inside is not None else address.join(location)
        except (httpx.InvalidURL, ValueError):
            target = None
        if target is None:
            raise NotAllowed(f"{self._source}: {host_of(address)} redirects to no address at all")
        return self.allowed(target)

    def _parsed(
        self, url: str | httpx.URL, params: Mapping[str, str | int | float] | None
    ) -> httpx.URL:
        try:
            return httpx.URL(url) if params is None else httpx.URL(url, params=dict(params))
        except (httpx.InvalidURL, ValueError):
            pass  # the error's text repeats the address
        raise NotAllowed(f"{self._source}: an address cannot be read as one, or is too long")

    def _logical(self, url: httpx.URL) -> httpx.URL:
        inside = self._mapped_back(url)
        return url if inside is None else inside

    def _mapped_back(self, url: httpx.URL) -> httpx.URL | None:
        text = str(url.copy_with(fragment=None))
        for origin, base in self._mirrors.items():
            if text.startswith(base) and text[len(base) : len(base) + 1] in ("", "/", "?"):
                return httpx.URL(origin + text[len(base) :])
        return None

    def _places(self) -> str:
        return ", ".join(sorted(origin.removeprefix("https://") for origin in self.origins)) or "-"


def host_of(address: httpx.URL) -> str:
    """The host as it is sent, in ASCII, cut to 100 characters for error texts."""
    return address.raw_host.decode("ascii", errors="replace")[:_HOST_CHARACTERS]


def origin_of(address: httpx.URL) -> str:
    """Scheme, host and port; the scheme's default port is left out."""
    port = "" if address.port is None else f":{address.port}"
    return f"{address.scheme}://{host_of(address)}{port}"


def _is_number(host: str) -> bool:
    """Whether a resolver may read `host` as an IP address, in any form inet_aton accepts."""
    last = host.rstrip(".").rpartition(".")[2]
    return ":" in host or last.isdigit() or last.startswith("0x")
