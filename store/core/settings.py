"""Settings of every Attest process, read from `ATTEST_*` environment variables.

A secret setting, or an address that contains a password, may come from a file, as containers get
their secrets: `ATTEST_REDIS_URL_FILE` names the file that holds the `ATTEST_REDIS_URL`.
"""

import os
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

DAY_SECONDS = 86_400.0
"""Our upper limit for settings in seconds; adding much more to a time overflows."""
MOST = 2**40
"""Our upper limit for counts and sizes: far more than a machine holds, far below 64 bits."""
PREFIX = "ATTEST_"
OF_A_FILE = "_FILE"
"""Suffix of the variables that name a file with a secret setting."""
MOST_OF_A_SECRET = 16 * 1024
"""Our upper limit, in bytes, for a file with a secret: far more than a key or address has."""


class _SecretFiles(PydanticBaseSettingsSource):
    """Reads secret settings from files. Raises SettingsError that lists all problems."""

    def get_field_value(self, *_: Any) -> tuple[Any, str, bool]:
        """Not used: `__call__` reads all at once."""
        return None, "", False

    def __call__(self) -> dict[str, Any]:
        values, wrong = secrets_of_files(os.environ)
        if wrong:
            raise SettingsError("; ".join(wrong))
        return values


class Settings(BaseSettings):
    """The settings of all processes; names contain the units.

    Leaving both URLs empty means the embedded servers of `data_dir` (DESIGN section 3).
    """

    model_config = SettingsConfigDict(
        env_prefix="ATTEST_", env_ignore_empty=True, frozen=True, hide_input_in_errors=True
    )

    data_dir: Path = Path(".attest")
    database_url: str = Field(default="", repr=False)
    redis_url: str = Field(default="", repr=False)
    redis_namespace: str = "attest"
    partitions: str = Field(
        default="",
        repr=False,
        description="NAME=URL of each partition of the index, with spaces between",
    )
    partition_away: Literal["wait", "without"] = Field(
        default="wait", description="what a search does while a partition does not answer"
    )

    host: str = "127.0.0.1"
    port: int = Field(default=8321, ge=1, le=65535)
    max_body_bytes: int = Field(default=32 * 1024 * 1024, ge=1, le=MOST)
    body_seconds: float = Field(
        default=60.0,
        gt=0,
        le=DAY_SECONDS,
        description="within which the body of a request must have arrived",
    )
    backlog_max: int = Field(
        default=1000, ge=1, le=MOST, description="pieces of one kind of work that may wait"
    )
    backlog_seconds: float = Field(
        default=30.0,
        gt=0,
        le=DAY_SECONDS,
        description="that a new question, note or text to check may have to wait",
    )
    require_keys: bool = Field(default=False, description="ask for keys on loopback too")
    key: str = Field(default="", repr=False, description="that the command sends to the gateway")

    encoder: Literal["minilm", "hash", "openai"] = "minilm"
    encoder_threads: int = Field(
        default=0, ge=0, le=1024, description="0: as many as there are cores"
    )
    encoder_url: str = ""
    encoder_model: str = ""
    encoder_key: str = Field(default="", repr=False)
    encoder_dimensions: int = 384

    anthropic_api_key: str = Field(
        default="", repr=False, description="lets a language model propose; code still decides"
    )
    anthropic_model: str = "claude-sonnet-5-5"
    anthropic_url: str = "https://api.anthropic.com"
    anthropic_seconds: float = Field(
        default=20.0, gt=0, le=DAY_SECONDS, description="silence after which the model is given up"
    )
    model_api: Literal["chat", "messages"] = Field(
        default="chat", description="that the server at model_url speaks"
    )
    model_url: str = Field(
        default="", description="a language model's server of your own, instead of Anthropic's"
    )
    model_name: str = ""
    model_key: str = Field(default="", repr=False, description="empty: the server needs none")
    model_seconds: float = Field(
        default=120.0, gt=0, le=DAY_SECONDS, description="after which the model is given up"
    )
    model_input_usd: Decimal | None = Field(
        default=None, ge=0, description="that a million tokens cost you; None: not known"
    )
    model_output_usd: Decimal | None = Field(default=None, ge=0)
    question_budget_usd: Decimal = Field(
        default=Decimal("1.00"), ge=0, description="for all requests of one question to the model"
    )
    day_budget_usd: Decimal = Field(
        default=Decimal("20.00"), ge=0, description="for all requests to the model on one day (UTC)"
    )
    mask_identifiers: bool = Field(
        default=True, description="keep names, numbers and addresses of persons from the model"
    )
    rerank: bool = Field(default=False, description="let the language model order what was found")
    extraction_opinions: int = Field(
        default=0, ge=0, le=5, description="second opinions on each extracted document's iteration"
    )

    contact_email: str = Field(
        default="", description="sent to sources that ask who is calling (NCBI, Crossref)"
    )
    ncbi_api_key: str = Field(default="", repr=False)
    openfda_api_key: str = Field(default="", repr=False)
    openalex_api_key: str = Field(default="", repr=False)
    perplexity_api_key: str = Field(
        default="", repr=False, description="lets questions without enough evidence look outside"
    )
    cms_accept_license: bool = Field(
        default=False, description="accept the AMA, ADA and AHA licences to read LCD texts"
    )
    guidelines_dir: Path | None = Field(default=None, description="your own guideline files")
    image_search: bool = Field(
        default=False, description="look for decision algorithms at Open-i (NLM)"
    )
    source_mirrors: dict[str, str] = Field(
        default_factory=dict, description="origin of a source → the base URL that stands in for it"
    )
    source_max_bytes: int = Field(default=64 * 1024 * 1024, ge=1, le=MOST)

    public_url: str = Field(default="", description="of the pages, for links in mails")
    smtp_url: str = Field(
        default="", repr=False, description="server for mails, such as smtps://user:word@host"
    )
    mail_from: str = ""
    mail_to: dict[str, str] = Field(
        default_factory=dict, description="owner → address that is told of changed answers"
    )

    audit_key: str = Field(
        default="", repr=False, description="64 hex digits that sign exports of the audit log"
    )
    keep_days: dict[str, int] = Field(
        default_factory=dict, description="kind of text → days that it is kept (retention.yaml)"
    )

    run_on: bool = Field(
        default=True, description="a worker of several stages of a question goes on with the next"
    )
    lease_seconds: float = Field(default=15.0, gt=0, le=DAY_SECONDS)
    watchdog_seconds: float = Field(
        default=15.0,
        gt=0,
        le=DAY_SECONDS,
        description="a worker whose interpreter is held for so long is stopped",
    )
    worker_memory_mb: int = Field(
        default=3000, ge=256, description="a worker that needs more memory than this is stopped"
    )
    relay_seconds: float = Field(default=1.0, gt=0, le=DAY_SECONDS)
    lost_after_seconds: float = Field(default=5.0, gt=0, le=DAY_SECONDS)
    idle_wait_ms: int = Field(default=1000, ge=1, le=int(DAY_SECONDS * 1000))
    shutdown_seconds: float = Field(default=20.0, gt=0, le=DAY_SECONDS)
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["console", "json"] = "json"

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], *_: Any, **sources: PydanticBaseSettingsSource
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Precedence: arguments in code, then the environment, then files that it names."""
        arguments, environment = sources["init_settings"], sources["env_settings"]
        return (arguments, environment, _SecretFiles(settings_cls))

    @field_validator("key")
    @classmethod
    def _fits_a_header(cls, key: str) -> str:
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ValueError("has a space, a line break or a non-ASCII letter")
        return key


SECRET = tuple(name for name, field in Settings.model_fields.items() if not field.repr)
"""Settings that are never shown, and may come from files."""


def secrets_of_files(environment: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The secret settings from files that variables such as `ATTEST_REDIS_URL_FILE` name, and the
    problems found. Problems name variables and files, never their content.

    White space around a secret is removed: editors end files with a line feed. An empty file is an
    empty setting, so that a file may be mounted for every possible secret.
    """
    variables = {name.upper(): value for name, value in environment.items() if value}
    values, wrong = {}, []
    for name in SECRET:
        variable = f"{PREFIX}{name.upper()}"
        path = variables.get(f"{variable}{OF_A_FILE}")
        if path is None:
            continue
        try:
            secret = _secret(Path(path))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            wrong.append(f"{variable}{OF_A_FILE}: {path} cannot be read: {why}")
            continue
        if secret and variable in variables:
            wrong.append(f"set {variable} or {variable}{OF_A_FILE}, not both")
        elif secret:
            values[name] = secret
    return values, wrong


def _secret(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(MOST_OF_A_SECRET + 1)
    if len(content) > MOST_OF_A_SECRET:
        raise ValueError(f"it has more than {MOST_OF_A_SECRET} bytes")
    try:
        secret = content.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise ValueError("it is no UTF-8 text") from None
    if not secret.isprintable():
        raise ValueError("it has more than one line, or characters that nobody sees")
    return secret


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """The settings of this process, read once."""
    return Settings()
