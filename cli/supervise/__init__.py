"""Starts child processes in order, restarts those that crash, and stops all in order."""

from cli.supervise.nursery import Nursery
from cli.supervise.processes import ProcessSpec, server_spec
from cli.supervise.supervisor import FORCED_EXIT_CODE, Supervisor

__all__ = ["FORCED_EXIT_CODE", "Nursery", "ProcessSpec", "Supervisor", "server_spec"]
