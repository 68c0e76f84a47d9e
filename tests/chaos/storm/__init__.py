"""The storm: a running system, people who use it, and a seeded script that breaks it meanwhile.

`python -m tests.chaos.storm --seeds 20` (or `make chaos SEEDS=20`). When all is calm again, what
people saw (`history`) and what PostgreSQL holds (`tests.chaos.checker`) must agree.
"""
