"""Hosts as network namespaces: each with one cable (a veth pair) to a bridge without any way out.

The bridge is in a namespace of its own, so the machine's real network has neither an address nor
an interface of it, and nothing of the hosts can be reached from elsewhere. Two hosts are cut from
each other by a neighbour entry that leads nowhere: frames leave and reach nobody, as with a broken
switch, and no side is told.
"""

import ctypes
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

SUBNET = "10.77.0"
"""Ours: private (RFC 1918), and known inside of the namespaces only."""
SWITCH = "switch"
_PREFIX = "attest-hosts"
_NAME = re.compile(rf"{_PREFIX}-([0-9]+)-([a-z-]+)")
_NOWHERE = "02:00:00:00:00:de"
"""Locally administered, of no interface: the bridge floods what is sent to it, nobody takes it."""
_CLONE_NEWNET = 0x40000000  # linux/sched.h
_RUN = Path("/run/netns")

Command = tuple[str, ...]


class NoHosts(RuntimeError):
    """This machine or user cannot have network namespaces; says why."""


@dataclass(frozen=True)
class Plan:
    """Names and addresses of the hosts of one run; nothing is done by it."""

    run: int
    hosts: tuple[str, ...]

    def address(self, host: str) -> str:
        """Where `host` listens."""
        return f"{SUBNET}.{self.hosts.index(host) + 1}"

    def namespace(self, host: str) -> str:
        """As `ip netns list` shows it; the run is the number of the process that made it."""
        return f"{_PREFIX}-{self.run}-{host}"

    def build(self) -> list[Command]:
        """The commands that make it, in order."""
        switch = self.namespace(SWITCH)
        made: list[Command] = [
            ("ip", "netns", "add", switch),
            ("ip", "-n", switch, "link", "add", "bridge", "type", "bridge"),
            ("ip", "-n", switch, "link", "set", "bridge", "up"),
        ]
        for number, host in enumerate(self.hosts, 1):
            own, port = self.namespace(host), f"port{number}"
            made += [
                ("ip", "netns", "add", own),
                (
                    *("ip", "link", "add", port, "netns", switch),
                    *("type", "veth", "peer", "name", "eth0", "netns", own),
                ),
                ("ip", "-n", switch, "link", "set", port, "master", "bridge", "up"),
                ("ip", "-n", own, "addr", "add", f"{self.address(host)}/24", "dev", "eth0"),
                ("ip", "-n", own, "link", "set", "lo", "up"),
                ("ip", "-n", own, "link", "set", "eth0", "up"),
            ]
        return made

    def plug(self, host: str, state: str) -> list[Command]:
        """Its cable at the switch, `up` or `down`."""
        port = f"port{self.hosts.index(host) + 1}"
        return [("ip", "-n", self.namespace(SWITCH), "link", "set", port, state)]

    def cut(self, one: str, other: str) -> list[Command]:
        """Let what each of the two sends the other get lost."""
        return [
            (
                *("ip", "-n", self.namespace(here), "neigh", "replace", self.address(there)),
                *("lladdr", _NOWHERE, "dev", "eth0", "nud", "permanent"),
            )
            for here, there in ((one, other), (other, one))
        ]

    def heal(self, one: str, other: str) -> list[Command]:
        """Let them find each other again."""
        return [
            ("ip", "-n", self.namespace(here), "neigh", "del", self.address(there), "dev", "eth0")
            for here, there in ((one, other), (other, one))
        ]


def dead_runs(names: Sequence[str], alive: Callable[[int], bool]) -> list[str]:
    """Those of the namespaces that are ours and whose run has ended."""
    found = [(name, _NAME.fullmatch(name)) for name in names]
    return [name for name, ours in found if ours is not None and not alive(int(ours[1]))]


def why_not() -> str | None:
    """Why there can be no hosts here; None if there can."""
    if os.name != "posix" or not Path("/proc/self/ns/net").exists():
        return "network namespaces are Linux's"
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    if shutil.which("ip") is None:
        return "there is no `ip` (iproute2)"
    trial = f"{_PREFIX}-{os.getpid()}-trial"
    made = subprocess.run(["ip", "netns", "add", trial], capture_output=True, check=False)
    if made.returncode != 0:
        return f"`ip netns add` fails: {made.stderr.decode(errors='replace').strip()}"
    subprocess.run(["ip", "netns", "delete", trial], capture_output=True, check=False)
    return None


def _names() -> list[str]:
    return sorted(one.name for one in _RUN.iterdir()) if _RUN.is_dir() else []


def _alive(pid: int) -> bool:
    with suppress(psutil.Error):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def remove(namespace: str) -> None:
    """Kill what runs in a namespace and take it away, with its interfaces."""
    found = subprocess.run(
        ["ip", "netns", "pids", namespace], capture_output=True, text=True, check=False
    )
    for pid in map(int, found.stdout.split()):
        if pid != os.getpid():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    subprocess.run(["ip", "netns", "delete", namespace], capture_output=True, check=False)


@contextmanager
def network(hosts: Sequence[str]) -> Iterator[Plan]:
    """The hosts, joined; taken away at the end, and before it what dead runs have left.

    Raises NoHosts.
    """
    if (reason := why_not()) is not None:
        raise NoHosts(reason)
    for left in dead_runs(_names(), _alive):
        remove(left)
    plan = Plan(os.getpid(), tuple(hosts))
    try:
        run(plan.build())
        yield plan
    finally:
        for host in (*plan.hosts, SWITCH):
            remove(plan.namespace(host))


def run(commands: Sequence[Command]) -> None:
    """Run them one after the other. Raises NoHosts with what the first that fails says."""
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NoHosts(f"`{' '.join(command)}` fails: {done.stderr.strip()}")


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Let this thread, and the processes and threads that it starts, be in a namespace.

    A socket stays where it was made, whoever uses it later. setns(2).
    """
    with Path("/proc/thread-self/ns/net").open("rb") as before:
        with (_RUN / namespace).open("rb") as there:
            _enter(there.fileno())
        try:
            yield
        finally:
            _enter(before.fileno())


def _enter(namespace: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, _CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "setns")
