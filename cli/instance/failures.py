"""Says in plain words why a server does not serve, and what to do."""


def plain(error: Exception) -> str:
    """Return the text of an error; an OSError without its number: `FILE: No such file`."""
    if isinstance(error, OSError) and error.strerror:
        named = error.filename2 or error.filename
        return f"{named}: {error.strerror}" if named else error.strerror
    return str(error)


def server_errors() -> tuple[type[Exception], ...]:
    """Return the errors of the servers' clients; most commands end without importing them."""
    from redis.exceptions import RedisError
    from sqlalchemy.exc import DBAPIError

    return (DBAPIError, RedisError)


_REFUSALS = {
    "42501": "the user in ATTEST_DATABASE_URL may not do this: grant it, or name another one",
    "25006": "the database takes no writes: name the primary, or switch off its read-only mode",
    "53100": "the disk of the database is full: make room, then try again",
    "53300": "the database has no connection left: raise its max_connections, or start less",
    "28P01": "the database refuses the user or password in ATTEST_DATABASE_URL: set them right",
    "3D000": "there is no such database as ATTEST_DATABASE_URL names: create it",
    "57P03": "the database is starting or stopping: try again in a moment",
}
"""Errors of PostgreSQL by SQLSTATE (PostgreSQL manual, appendix A)."""
_HANGS = (
    "the database hangs: it is there and says nothing; see whether its disk or its processes stand "
    "still, and restart it if they stay so"
)
_NOBODY = "the database lets nobody in from here: add a line for it to its pg_hba.conf"
_AT_CONNECTING = {
    "password authentication failed": _REFUSALS["28P01"],
    "no pg_hba.conf entry": _NOBODY,
    "does not exist": _REFUSALS["3D000"],
    "too many clients": _REFUSALS["53300"],
    "remaining connection slots": _REFUSALS["53300"],
    "the database system is": _REFUSALS["57P03"],
}
"""Words of a refused connection, for which the client gets no SQLSTATE. A server that speaks
another language is reported as not answering."""


def is_refusal(error: Exception) -> bool:
    """Return true if a server refuses or is away, and the statement is not at fault."""
    from sqlalchemy.exc import DBAPIError, OperationalError

    if not isinstance(error, DBAPIError) or isinstance(error, OperationalError):
        return True
    return getattr(error.orig, "sqlstate", None) in _REFUSALS


def about_servers(error: Exception) -> str:
    """Return what to do about an error; its own text may hold an address with a password."""
    from sqlalchemy.exc import DBAPIError

    if isinstance(error, DBAPIError):
        return _about_database(error.orig)
    if str(error).startswith("MISCONF"):  # Redis cannot write its file
        return "Redis cannot write to its disk: make room there, then it goes on by itself"
    name = type(error).__name__
    away = f"Redis does not serve ({name}): check ATTEST_REDIS_URL, or run `attest up`"
    return _OF_REDIS.get(name, away)


_OF_REDIS = {
    "OutOfMemoryError": "Redis is full: raise its maxmemory, or see what else fills it",
    "ReadOnlyError": "Redis takes no writes: name the primary in ATTEST_REDIS_URL",
    "AuthenticationError": "Redis refuses the user or password in ATTEST_REDIS_URL: set them right",
}
"""By the class name of the error of the Redis client."""


def _about_database(cause: BaseException | None) -> str:
    from store.core.postgres_watchdog import Silent

    state = getattr(cause, "sqlstate", None)
    if state in _REFUSALS:
        return _REFUSALS[state]
    if isinstance(cause, Silent):
        return _HANGS
    if state is not None and not state.startswith(("08", "57P")):  # not a lost connection
        return f"the database is busy ({type(cause).__name__}): try again in a moment"
    fatal = str(cause).partition("FATAL:")[2]
    for words, advice in _AT_CONNECTING.items():
        if words in fatal:
            return advice
    return "the database does not answer: check ATTEST_DATABASE_URL, or run `attest up`"
