"""Runs a supervisor for the tests: `supervise.py DIR SPECS`, SPECS a JSON list of ProcessSpec.

With "servers": true the embedded servers of DIR run too. Events go to standard output.
"""

import json
import sys
from contextlib import ExitStack
from pathlib import Path

from cli.supervise import ProcessSpec, Supervisor, server_spec
from store.embedded import DataDir, EmbeddedError, EmbeddedPostgres, EmbeddedRedis


def main() -> int:
    directory, options = Path(sys.argv[1]), json.loads(sys.argv[2])
    specs = [ProcessSpec(**fields) for fields in options["specs"]]
    log_dir = Path(options["log_dir"]) if "log_dir" in options else None
    with ExitStack() as stack:
        data = None
        if options.get("servers"):
            data = stack.enter_context(DataDir(directory))
            postgres, redis = EmbeddedPostgres(data), EmbeddedRedis(data)
            for server in (postgres, redis):
                server.initialize()
                specs.append(server_spec(server))

        def on_event(name: str, what: str) -> None:
            print("event", name, what, flush=True)  # noqa: T201
            if data is not None and (name, what) == ("last", "ready"):
                data.publish(postgres.database_url, redis.redis_url)
                print("published", flush=True)  # noqa: T201

        return Supervisor(specs, on_event, log_dir).run()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except EmbeddedError as error:
        sys.exit(str(error))
