"""deploy/Dockerfile and deploy/systemd: what they start exists, and they fit to the rest of deploy/."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from monitor import __version__
from monitor.cli import SHUTDOWN_SECONDS, app
from monitor.errors import ConfigurationError
from tests.support.deploy import DEPLOY, ROOT, config, installed, is_pinned, is_probe, load, succeeds

DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
UNIT = DEPLOY / "systemd" / "monitor.service"


def instructions(name: str) -> list[str]:
    joined = re.sub(r"\\\n", " ", DOCKERFILE)
    return [line.removeprefix(name).strip() for line in joined.splitlines() if line.startswith(f"{name} ")]


def options(name: str) -> list[str]:
    """Return the values of an option of the systemd unit."""
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(), re.MULTILINE)


def test_hadolint_finds_nothing() -> None:
    assert succeeds(installed("hadolint"), DEPLOY / "Dockerfile") == ""


def test_the_base_is_pinned_and_new_enough() -> None:
    images = {image.split(" ")[0] for image in instructions("FROM")}
    (image,) = images
    assert is_pinned(image)
    assert PROJECT["requires-python"] == ">=3.11"
    assert tuple(map(int, re.findall(r"\d+", image)[:2])) >= (3, 11)


@pytest.mark.parametrize("image", ["python", "python:latest", "python:3", "python:slim", "a/b:stable"])
def test_tags_that_move_are_not_pinned(image: str) -> None:
    assert not is_pinned(image)


def test_it_copies_what_is_there_and_not_ignored() -> None:
    allowed = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line[:1] == "!"
    }
    sources = {name for line in instructions("COPY") if "--from" not in line for name in line.split()[:-1]}
    assert sources == allowed
    assert all((ROOT / name).exists() for name in sources)


def test_extras_exist() -> None:
    (default,) = (line.partition("=")[2] for line in instructions("ARG") if line.startswith("EXTRAS"))
    compose = load("docker-compose.yml")["services"]["monitor"]["build"]["args"]["EXTRAS"]
    assert {default, compose} <= set(PROJECT["optional-dependencies"])


def test_it_is_of_this_version() -> None:
    assert f'image.version="{__version__}"' in DOCKERFILE
    assert f"monitor:{__version__} " in DOCKERFILE


def test_it_runs_as_the_user_that_volumes_belong_to() -> None:
    context = load("kubernetes/base/statefulset.yaml")["spec"]["template"]["spec"]["securityContext"]
    assert instructions("USER") == [f"{context['runAsUser']}:{context['runAsGroup']}"]


def test_its_health_check_asks_the_daemon() -> None:
    (check,) = instructions("HEALTHCHECK")
    port, path = re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)", check).groups()  # type: ignore[union-attr]
    assert is_probe(path)
    assert instructions("EXPOSE") == [port] == [str(config("monitor.yaml").server.port)]


def image_command() -> list[str]:
    return re.findall(r'"([^"]+)"', instructions("ENTRYPOINT")[0] + instructions("CMD")[0])


def unit_command() -> list[str]:
    (start,) = options("ExecStart")
    return shlex.split(start)


@pytest.mark.parametrize("command", [image_command(), unit_command()], ids=["image", "systemd"])
def test_it_starts_a_command_that_exists(command: list[str]) -> None:
    program, name, *given = command
    assert program.rsplit("/")[-1] in PROJECT["scripts"]
    found = get_command(app).commands[name]  # type: ignore[attr-defined]
    known = {text for parameter in found.params for text in parameter.opts}
    assert {each for each in given if each.startswith("-")} <= known


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    text = UNIT.read_text().replace("/opt/monitor/bin/monitor", "/bin/true")  # which is not installed here
    (tmp_path / UNIT.name).write_text(text)
    command = [installed("systemd-analyze"), "verify", str(tmp_path / UNIT.name)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if UNIT.name in line] == []  # mere warnings


def test_the_unit_sets_what_the_configuration_has() -> None:
    environ = dict(line.split("=", 1) for line in options("Environment"))
    given = {
        name: value.replace("%l", "host-1").replace("%d", "/run/c")
        for name, value in environ.items()
        if name.startswith("MONITOR__")
    }
    loaded = config("monitor.yaml", given)
    assert loaded.kafka.group_instance_id == "host-1"
    assert loaded.server.read_token_file == "/run/c/read-token"
    assert [line.split(":")[0] for line in options("LoadCredential")] == ["read-token"]


def test_the_unit_waits_for_the_end_and_not_for_a_wrong_configuration() -> None:
    assert int(options("TimeoutStopSec")[0]) > SHUTDOWN_SECONDS
    assert options("RestartPreventExitStatus") == [str(ConfigurationError.exit_code)]
