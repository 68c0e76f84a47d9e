"""Several hosts on one machine: network namespaces on a bridge, and what each of them may lose.

`python -m tests.chaos.hosts` (or `make hosts`): PostgreSQL and Redis on one host, workers and a
scheduler on each of two, the gateway on a fourth; people ask from a fifth. Hosts are switched off
and cut from each other, and then the checks of the storm must hold.
"""
