"""Errors of the embedded servers. Every message is one sentence that says what to do.

EmbeddedError
├── DataDirInUse        another process holds the data directory
├── DataDirUnusable     foreign, half-written, damaged or made by another version
└── ServerUnavailable   a binary is missing or a server does not come up
"""


class EmbeddedError(RuntimeError):
    """Root of all errors of the embedded servers."""


class DataDirInUse(EmbeddedError):
    """Another living process holds the lock of this data directory."""


class DataDirUnusable(EmbeddedError):
    """The directory cannot serve as a data directory. Nothing in it was changed."""


class ServerUnavailable(EmbeddedError):
    """A server cannot be found, started or reached."""
