"""Servers that do not serve, in words that say what to do."""


def plain(error: Exception) -> str:
    """What an error says, one of the system without its number: `FILE: No such file`."""
    if isinstance(error, OSError) and error.strerror:
        named = error.filename2 or error.filename
        return f"{named}: {error.strerror}" if named else error.strerror
    return str(error)


def server_errors() -> tuple[type[Exception], ...]:
    """What clients raise where no server answers; most commands end without loading them."""
    from redis.exceptions import RedisError
    from sqlalchemy.exc import OperationalError

    return (OperationalError, RedisError)


def about_servers(error: Exception) -> str:
    """What to do about it; its own text may hold an address with a password."""
    from sqlalchemy.exc import OperationalError

    if isinstance(error, OperationalError):
        from store.database import is_disk_full

        if is_disk_full(error):
            return "the disk of the database is full: make room, then try again"
        return "the database does not answer: check ATTEST_DATABASE_URL, or run `attest up`"
    problem = f"Redis does not serve ({type(error).__name__})"
    return f"{problem}: check ATTEST_REDIS_URL, or run `attest up`"
