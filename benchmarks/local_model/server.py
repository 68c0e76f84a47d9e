"""A llama.cpp server, run by the interpreter of `requirements.txt`; nothing of ours is imported.

    python server.py WEIGHTS PORT CONTEXT THREADS

It serves `/v1/chat/completions`, which enforces a JSON schema, and `/v1/messages`, which does not.
"""

import sys
import time

import xllamacpp


def main(weights: str, port: str, context: str, threads: str) -> None:
    """Serve until the process is ended."""
    wanted = xllamacpp.CommonParams()
    wanted.model.path = weights
    wanted.n_ctx, wanted.n_parallel, wanted.port = int(context), 1, int(port)
    for cores in (wanted.cpuparams, wanted.cpuparams_batch):
        cores.n_threads, cores.poll = int(threads), 0  # other processes need the cores too
    server = xllamacpp.Server(wanted)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main(*sys.argv[1:])
