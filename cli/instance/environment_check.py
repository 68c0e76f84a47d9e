"""Checks, before anything starts, settings that only one process reads, and reads late.

`attest up` starts nothing with a setting that cannot be used. Nor do worker and scheduler start:
they would fail, be restarted, and fail again. The rules are those of the code that reads the
settings.
"""

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from knowledge.operation.retention import NotKept, keep_days
from store.audit.keys import VARIABLE, BadKey, parse
from store.core.settings import OF_A_FILE, PREFIX, SECRET, Settings

_SENT = (
    "encoder_key",
    "anthropic_api_key",
    "model_key",
    "contact_email",
    "ncbi_api_key",
    "openfda_api_key",
    "openalex_api_key",
    "perplexity_api_key",
)
"""Settings that are sent unchanged in a header or an address."""
_ORIGIN = re.compile(r"https://[a-z0-9.-]+(:[0-9]+)?", re.ASCII)


_ADDRESS = re.compile(r"[^\s@<>,;:\"]{1,64}@[^\s@<>,;:\"]{1,255}", re.ASCII)


class WrongSettings(ValueError):
    """Settings that cannot be used; the text names each and its fault, and shows no key."""


def usable(settings: Settings, environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings unchanged. Raises WrongSettings if a process would not work with them, or
    if an environment variable is most likely a mistyped setting: it would be ignored, keys too."""
    checks = (_servers, _partitions, _sent, _encoder, _model, _mirrors, _kept, _mail)
    wrong = [fault for check in checks for fault in check(settings)]
    wrong += _mistyped(environment)
    if wrong:
        raise WrongSettings("; ".join(wrong))
    return settings


def _partitions(settings: Settings) -> Iterator[str]:
    if settings.partitions:
        from store.index.partitions import urls_of

        try:
            urls_of(settings.partitions)
        except ValueError as error:
            yield str(error)


_OTHERS = ("ATTEST_POSTGRES_PASSWORD", "ATTEST_REDIS_PASSWORD", "ATTEST_TEST_")
"""Variables that compose.yaml and the tests read."""
_ALIKE = 0.8
"""Our choice: the similarity from which a name counts as mistyped. A name with one letter missing
or too many reaches it; the variables that Kubernetes derives from a service's name do not."""


def _strangers(environment: Mapping[str, str]) -> list[str]:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    known |= {f"{PREFIX}{name.upper()}{OF_A_FILE}" for name in SECRET}
    return [
        name
        for name in environment
        if name.upper().startswith(PREFIX) and name.upper() not in known
    ]


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Return variables that look like settings but are none of this release."""
    return sorted(name for name in _strangers(environment) if not name.startswith(_OTHERS))


def _mistyped(environment: Mapping[str, str]) -> Iterator[str]:
    for name in _strangers(environment):
        bare = name.upper().removeprefix(PREFIX).lower()
        for meant in difflib.get_close_matches(bare, Settings.model_fields, 1, _ALIKE):
            yield f"{name} is no setting: did you mean {PREFIX}{meant.upper()}?"


def _servers(settings: Settings) -> Iterator[str]:
    if bool(settings.database_url) != bool(settings.redis_url):
        yield "set both ATTEST_DATABASE_URL and ATTEST_REDIS_URL, or neither"
    if not (settings.database_url or settings.redis_url):
        return
    import redis
    import sqlalchemy as sa
    from sqlalchemy.exc import ArgumentError

    try:
        if settings.database_url:
            driver = sa.make_url(settings.database_url).drivername
            if driver not in ("postgresql", "postgresql+psycopg"):
                yield "ATTEST_DATABASE_URL is no address such as postgresql://user@host/attest"
    except (ArgumentError, ValueError):  # their texts repeat the address, with its password
        yield "ATTEST_DATABASE_URL is no address such as postgresql://user@host/attest"
    try:
        if settings.redis_url:
            redis.Redis.from_url(settings.redis_url).close()  # does not connect
    except ValueError:
        yield "ATTEST_REDIS_URL is no address such as redis://host:6379/0"


def _sent(settings: Settings) -> Iterator[str]:
    for name in _SENT:
        text: str = getattr(settings, name)
        if not (text.isascii() and text.isprintable()) or " " in text:
            yield f"ATTEST_{name.upper()} has a space, a line break or a non-ASCII letter"


def _encoder(settings: Settings) -> Iterator[str]:
    if settings.encoder == "minilm":
        return
    from store.models.columns import EMBEDDING_DIMENSIONS

    if settings.encoder_dimensions != EMBEDDING_DIMENSIONS:
        yield f"ATTEST_ENCODER_DIMENSIONS must be {EMBEDDING_DIMENSIONS}: the index holds no others"
    if settings.encoder == "openai":
        if not _is_web(settings.encoder_url):
            yield "ATTEST_ENCODER_URL must be an http(s) address such as http://host:8080/v1"
        if not settings.encoder_model:
            yield "ATTEST_ENCODER_MODEL is empty: name the model of the endpoint"


def _model(settings: Settings) -> Iterator[str]:
    if settings.anthropic_api_key and not _is_web(settings.anthropic_url):
        yield "ATTEST_ANTHROPIC_URL must be an http(s) address"
    if not settings.model_url:
        for name in ("model_name", "model_key"):
            if getattr(settings, name):
                yield f"ATTEST_{name.upper()} is of no use without ATTEST_MODEL_URL"
        return
    if settings.anthropic_api_key:
        yield "set ATTEST_MODEL_URL or ATTEST_ANTHROPIC_API_KEY, not both: one model is asked"
    if not _is_web(settings.model_url):
        yield "ATTEST_MODEL_URL must be an http(s) address such as http://127.0.0.1:8000"
    if not settings.model_name:
        yield "ATTEST_MODEL_NAME is empty: name the model as its server does"
    if (settings.model_input_usd is None) != (settings.model_output_usd is None):
        yield "set both ATTEST_MODEL_INPUT_USD and ATTEST_MODEL_OUTPUT_USD, or neither"


def _mirrors(settings: Settings) -> Iterator[str]:
    for origin, base in settings.source_mirrors.items():
        if not _ORIGIN.fullmatch(origin):
            yield f"ATTEST_SOURCE_MIRRORS: {origin[:80]!r} is no origin such as https://host"
        if not _is_web(base):
            yield f"ATTEST_SOURCE_MIRRORS: what stands in for {origin[:80]} is no http(s) address"


def _kept(settings: Settings) -> Iterator[str]:
    try:
        keep_days(settings.keep_days)
    except NotKept as error:
        yield str(error)
    try:
        if settings.audit_key:
            parse(settings.audit_key, VARIABLE)
    except BadKey as error:
        yield str(error)


def _mail(settings: Settings) -> Iterator[str]:
    if settings.public_url and not _is_web(settings.public_url):
        yield "ATTEST_PUBLIC_URL must be an http(s) address such as https://attest.example.org"
    if not settings.smtp_url:
        return
    try:
        parts = urlsplit(settings.smtp_url)
        known = (
            parts.scheme in ("smtps", "smtp", "smtp+plain") and parts.hostname and parts.port != 0
        )
    except ValueError:
        known = False
    if not known:
        yield "ATTEST_SMTP_URL is no address such as smtps://user:password@mail.example.org:465"
    for address in (settings.mail_from, *settings.mail_to.values()):
        if not _ADDRESS.fullmatch(address):
            yield f"ATTEST_MAIL_FROM, ATTEST_MAIL_TO: {address[:80]!r} is no e-mail address"


def _is_web(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
