"""The amount of memory of this machine or container."""

from pathlib import Path

import psutil

_CGROUP_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")  # control groups, version 2 and 1


def memory_megabytes(control_groups: Path = Path("/sys/fs/cgroup")) -> int:
    """The machine's memory, or the container's limit if that is less, in MiB."""
    limits = [int(psutil.virtual_memory().total)]
    for name in _CGROUP_LIMITS:
        limit = control_groups / name
        if limit.is_file() and (text := limit.read_text().strip()).isdigit():  # not "max"
            limits.append(int(text))
    return min(limits) // 2**20
