"""The services of compose.yaml: pinned, confined, with every setting and no secret in sight."""

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.instance.environment_check import usable
from store.audit.keys import FILE, signing_key
from store.core.settings import SECRET, Settings, secrets_of_files

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: one for name, one in SERVICES.items() if one["image"].startswith("attest")}
PINNED = re.compile(r"[a-z0-9./-]+:[A-Za-z0-9._-]+@sha256:[0-9a-f]{64}")
NOT_PASSED = {
    "data_dir": "the image sets it: /var/lib/attest",
    "key": "of who calls: docker compose exec --env ATTEST_KEY gateway attest ask",
}
FIXED = {
    "host": "of its container",
    "port": "of its container; ATTEST_PORT of .env is the one that is published",
    "shutdown_seconds": "stop_grace_period goes with it",
    "guidelines_dir": "where the folder of .env is mounted",
    "worker_memory_mb": "less than elsewhere: the container has a limit too",
}


def variables(service: str) -> dict[str, str]:
    found: dict[str, str] = SERVICES[service]["environment"]
    return found


def mib(size: str) -> float:
    return float(size[:-1]) * {"m": 1, "g": 1024}[size[-1]]


# --- images ---------------------------------------------------------------------------------------


def test_every_image_that_is_not_built_here_is_pinned_by_digest() -> None:
    for name, service in SERVICES.items():
        assert name in OURS or PINNED.fullmatch(service["image"]), name
    stages = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    assert len(stages) == 2
    assert len({*stages}) == 1, "built and run on the same"
    assert PINNED.fullmatch(stages[0])


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with what the two scripts read and write."""
    (tmp_path / "ops").mkdir()
    for name in ("compose.yaml", "Dockerfile", "ops/secrets.sh", "ops/pin_images.sh"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run(folder: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [folder / "ops" / script],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_images_are_pinned_anew_by_what_the_registry_says(copy: Path) -> None:
    docker = copy / "docker"
    docker.write_text(
        '#!/bin/sh\n[ "$1 $2 $3 $5" = "buildx imagetools inspect --format" ] || exit 9\n'
        "printf 'sha256:'; printf '%s' \"$4\" | sha256sum | cut -c 1-64\n"
    )
    docker.chmod(0o755)
    before = (copy / "compose.yaml").read_text("utf-8")
    done = run(copy, "pin_images.sh", DOCKER=str(docker))
    assert done.returncode == 0, done.stderr
    after = (copy / "compose.yaml").read_text("utf-8")
    olds, news = PINNED.findall(before), PINNED.findall(after)
    assert [one.partition("@")[0] for one in olds] == [one.partition("@")[0] for one in news]
    assert not set(olds) & set(news)
    assert PINNED.sub("", before) == PINNED.sub("", after), "nothing else changes"
    assert len(set(PINNED.findall((copy / "Dockerfile").read_text("utf-8")))) == 1
    assert sorted(set(done.stdout.split())) == sorted(
        {*news, *PINNED.findall((copy / "Dockerfile").read_text("utf-8"))}
    )


@pytest.mark.parametrize("says", ["exit 1", "echo latest"])
def test_without_an_answer_of_the_registry_nothing_is_pinned(copy: Path, says: str) -> None:
    (copy / "docker").write_text(f"#!/bin/sh\n{says}\n")
    (copy / "docker").chmod(0o755)
    before = (copy / "compose.yaml").read_bytes(), (copy / "Dockerfile").read_bytes()
    assert run(copy, "pin_images.sh", DOCKER=str(copy / "docker")).returncode != 0
    assert ((copy / "compose.yaml").read_bytes(), (copy / "Dockerfile").read_bytes()) == before


# --- confinement ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_service_may_do_little_and_take_little(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert any(one.startswith("/tmp:") for one in service["tmpfs"])
    assert 256 <= mib(service["mem_limit"]) <= 4096
    assert 16 <= service["pids_limit"] <= 1024
    if name not in OURS:
        assert service["user"] in {"postgres", "redis"}, "of the image, who owns its volume"


def test_memory_and_processes_are_enough_for_what_a_service_does() -> None:
    redis = SERVICES["redis"]
    most = redis["command"][redis["command"].index("--maxmemory") + 1]
    assert 2 * mib(most.removesuffix("b")) <= mib(redis["mem_limit"]), "its data are copied once"
    replicas = (ROOT / "compose.replicas.yaml").read_text("utf-8")
    connections = max(map(int, re.findall(r"--max_connections=(\d+)", replicas)))
    assert SERVICES["postgres"]["pids_limit"] > connections + 50
    for name, one in OURS.items():
        size = next(word for word in one["tmpfs"] if word.startswith("/tmp:"))
        assert mib(re.findall(r"size=(\d+m)", size)[0]) < mib(one["mem_limit"]) / 2, name


def test_a_worker_stops_itself_before_the_container_is_killed() -> None:
    for name, one in OURS.items():
        if one["command"][0] == "worker":
            (most,) = re.findall(r":-(\d+)\}", variables(name)["ATTEST_WORKER_MEMORY_MB"])
            assert 2 * int(most) + 256 <= mib(one["mem_limit"]), "and what it does alone beside it"


def test_what_a_process_writes_is_on_a_volume_of_its_own() -> None:
    kept = {name: one.get("volumes", []) for name, one in SERVICES.items()}
    for name in ("embed", "retrieve", "verify", "check"):
        assert "encoder:/var/lib/attest" in kept[name], "the encoder's packed weights"
    assert "reports:/var/lib/attest" in kept["scheduler"]
    named = {one.split(":")[0] for each in kept.values() for one in each if one[0] != "$"}
    assert named | {"guidelines"} == COMPOSE["volumes"].keys()


def test_the_key_that_signs_exports_outlives_the_container(tmp_path: Path) -> None:
    (volume,) = SERVICES["gateway"]["volumes"]
    home = re.findall(r"ATTEST_DATA_DIR=(\S+)", (ROOT / "Dockerfile").read_text("utf-8"))
    assert volume.split(":")[1:] == home, "where audit.key is made"
    first = signing_key(tmp_path)
    assert signing_key(tmp_path) == first
    assert (tmp_path / FILE).is_file()


def test_the_folder_of_guidelines_is_mounted_read_only_and_named_only_if_it_is_set() -> None:
    (volume,) = SERVICES["refresh"]["volumes"]
    assert volume == "${ATTEST_GUIDELINES_DIR:-guidelines}:/guidelines:ro"
    assert variables("refresh")["ATTEST_GUIDELINES_DIR"] == "${ATTEST_GUIDELINES_DIR:+/guidelines}"


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [one for one in Settings.model_fields if one not in SECRET])
def test_every_setting_of_the_example_is_passed(name: str) -> None:
    """`.env.example` has them all, each with its default (test_project)."""
    variable = f"ATTEST_{name.upper()}"
    passed = {service: one["environment"].get(variable) for service, one in OURS.items()}
    if name in NOT_PASSED:
        assert not any(passed.values())
    elif name in FIXED:
        assert any(passed.values())
    else:
        assert set(passed.values()) - {None} == {f"${{{variable}:-}}"}, "empty: its default"


def test_every_variable_of_a_service_is_a_setting_or_the_file_of_a_secret() -> None:
    known = {f"ATTEST_{name.upper()}" for name in Settings.model_fields if name not in SECRET}
    known |= {f"ATTEST_{name.upper()}_FILE" for name in SECRET}
    for name in OURS:
        assert variables(name).keys() <= known, name


# --- secrets --------------------------------------------------------------------------------------


def test_every_secret_setting_is_a_file_that_its_services_mount() -> None:
    given = set()
    for name, service in OURS.items():
        for variable, value in variables(name).items():
            if variable.endswith("_FILE"):
                secret = variable.removeprefix("ATTEST_").removesuffix("_FILE").lower()
                given.add(secret)
                assert value == f"/run/secrets/{secret}"
                assert secret in service["secrets"], (name, secret)
        assert len(service["secrets"]) == sum(one.endswith("_FILE") for one in variables(name))
    assert given == set(SECRET) - NOT_PASSED.keys()
    mounted = {one for service in SERVICES.values() for one in service["secrets"]}
    assert mounted == COMPOSE["secrets"].keys()
    assert all(one == {"file": f"./secrets/{name}"} for name, one in COMPOSE["secrets"].items())


def test_no_secret_stands_in_a_command_line_or_in_the_environment() -> None:
    text = (ROOT / "compose.yaml").read_text("utf-8")
    named = set(re.findall(r"\$\{?(\w+)", text))
    assert not named & {f"ATTEST_{name.upper()}" for name in SECRET}
    assert not [one for one in named if re.search("PASSWORD|SECRET|TOKEN", one)]
    for name, service in SERVICES.items():
        for word in service.get("command", []):
            assert not re.search(r"pass|secret=|key=", word), (name, word)
        for variable, value in (service.get("environment") or {}).items():
            if re.search(r"PASSWORD|_KEY(_FILE)?$|_URL_FILE$", variable):
                assert str(value).startswith("/run/secrets/"), (name, variable)
    assert SERVICES["redis"]["command"][1] == "/run/secrets/redis.conf"
    assert "cat /run/secrets/redis_password" in SERVICES["redis"]["healthcheck"]["test"][1]


def files(folder: Path) -> dict[str, str]:
    return {one.name: one.read_text("utf-8") for one in (folder / "secrets").iterdir()}


def test_secrets_are_made_once_for_their_owner_and_read_by_every_process(copy: Path) -> None:
    done = run(copy, "secrets.sh")
    assert done.returncode == 0, done.stderr
    made = files(copy)
    assert made.keys() == COMPOSE["secrets"].keys()
    assert stat.S_IMODE((copy / "secrets").stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in (copy / "secrets").iterdir()} == {0o644}
    passwords = {made[name].strip() for name in ("postgres_password", "redis_password")}
    assert len(passwords) == 2
    assert all(re.fullmatch(r"[0-9a-f]{48}", one) for one in passwords)
    assert not [one for one in passwords if one in done.stdout + done.stderr]
    assert made["redis.conf"] == f"requirepass {made['redis_password']}"
    named = {
        f"ATTEST_{name.upper()}_FILE": str(copy / "secrets" / name)
        for name in SECRET
        if name not in NOT_PASSED
    }
    values, wrong = secrets_of_files(named)
    assert wrong == []
    assert values.keys() == {"database_url", "redis_url"}, "what is empty is not set"
    usable(Settings.model_validate(values), named)
    assert run(copy, "secrets.sh").returncode == 0
    assert files(copy) == made


def test_secrets_of_an_earlier_release_are_taken_over(copy: Path) -> None:
    old = "ATTEST_POSTGRES_PASSWORD=kept1\nATTEST_REDIS_PASSWORD='kept2'\n#ATTEST_AUDIT_KEY=not\n"
    (copy / ".env").write_text(f'{old}ATTEST_ANTHROPIC_API_KEY="sk-kept3"\n')
    assert run(copy, "secrets.sh").returncode == 0
    made = files(copy)
    assert made["database_url"] == "postgresql+psycopg://attest:kept1@postgres:5432/attest\n"
    assert made["redis_url"] == "redis://:kept2@redis:6379/0\n"
    assert made["anthropic_api_key"] == "sk-kept3\n"
    assert made["audit_key"].strip() == ""
    (copy / "secrets" / "redis_password").write_text("changed4")
    assert run(copy, "secrets.sh").returncode == 0
    assert files(copy)["redis.conf"] == "requirepass changed4\n", "a changed password goes along"


def test_a_password_that_cannot_stand_in_an_address_is_refused_without_it(copy: Path) -> None:
    (copy / ".env").write_text("ATTEST_REDIS_PASSWORD=a@b/c\n")
    done = run(copy, "secrets.sh")
    assert done.returncode == 1
    assert done.stderr == "secrets/redis_password may have letters and digits only\n"


def test_secrets_are_in_no_image_and_no_commit() -> None:
    assert "secrets/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert (ROOT / ".dockerignore").read_text("utf-8").splitlines()[1] == "*"
