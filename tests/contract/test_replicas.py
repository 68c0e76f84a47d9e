"""The compose file with replicas fits on the one that it is laid over."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from api_gateway.app import POOL_SIZE
from messages import Stage

ROOT = Path(__file__).parents[2]
OVERFLOW = 2
"""An engine opens up to twice its pool (`store.core.database.connect`), a worker's has threads +
2."""


class Loader(yaml.SafeLoader):
    """Knows the tag with which Compose takes a value away."""


Loader.add_constructor("!reset", lambda loader, node: None)


def read(name: str) -> dict[str, Any]:
    text = (ROOT / name).read_text("utf-8")
    services: dict[str, Any] = yaml.load(text, Loader)["services"]
    return services


BASE, MORE = read("compose.yaml"), read("compose.replicas.yaml")


def replicas(name: str) -> int:
    return int(MORE.get(name, {}).get("deploy", {}).get("replicas", 1))


def option(command: list[str], name: str) -> int:
    return int(next(one.partition("=")[2] for one in command if one.startswith(f"--{name}=")))


def test_9_5_every_service_of_it_is_one_of_the_others_and_only_what_may_be_doubled_is() -> None:
    assert set(MORE) <= set(BASE)
    doubled = {name for name in MORE if replicas(name) > 1}
    assert doubled <= {"scheduler", "gateway", *(stage.value for stage in Stage)}
    assert {"scheduler", "gateway", "retrieve", "verify", "embed"} <= doubled
    for name, service in MORE.items():
        assert set(service) <= {"deploy", "ports", "command"}, f"{name} says more than how many"


@pytest.mark.parametrize("name", sorted(set(MORE) - {"postgres"}))
def test_9_5_what_is_doubled_has_no_name_and_no_port_of_its_own(name: str) -> None:
    assert "container_name" not in BASE[name]
    assert not (BASE[name].get("ports") and MORE[name].get("ports", "kept"))


def test_9_5_postgresql_is_started_as_before_with_more_connections_and_earlier_notice() -> None:
    before, after = BASE["postgres"]["command"], MORE["postgres"]["command"]
    assert [one for one in after if one.startswith("--tcp_")]
    kept = [one for one in after if not one.startswith(("--tcp_", "--max_connections"))]
    assert kept == [one for one in before if not one.startswith("--max_connections")]


def test_9_5_postgresql_has_connections_for_all_of_them() -> None:
    wanted = 0
    for name, service in BASE.items():
        command = service.get("command", [])
        if command[:1] == ["worker"]:
            each = OVERFLOW * (option(command, "threads") + 2)
        elif name == "scheduler":
            each = OVERFLOW * 4
        elif name == "gateway":
            each = OVERFLOW * POOL_SIZE + 1  # and the one that listens
        else:
            continue
        wanted += replicas(name) * (each + 1)  # and the one of its health check
    assert wanted < option(MORE["postgres"]["command"], "max_connections") - 20
