"""deploy/compose: fits the settings of the server. No container is started."""

import os
import re
import subprocess

import yaml

from harness import BINARY, ROOT

FOLDER = ROOT / "deploy" / "compose"
COMPOSE = yaml.safe_load((FOLDER / "three-nodes.yml").read_text())
NODES = {name: service for name, service in COMPOSE["services"].items() if name != "postgres"}
ADDRESS = "postgres://postrider:secret@postgres:5432/postrider"


def run(*command, **variables):
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          env={"PATH": "/usr/bin:/bin", **variables}).stdout


def print_config(**variables):
    return run(BINARY, "serve", "--print-config", **variables)


def test_three_nodes_share_a_database_and_their_keys():
    assert len(NODES) == 3
    environments = [node["environment"] for node in NODES.values()]
    assert environments[0]["POSTRIDER_STORE"].replace("${POSTGRES_PASSWORD:?}", "secret") == ADDRESS
    assert environments[1:] == environments[:-1]
    assert set(environments[0]) == {"POSTRIDER_STORE", "POSTRIDER_ADMIN_KEY",
                                    "POSTRIDER_SECRETS_KEY"}
    assert len({node["hostname"] for node in NODES.values()}) == 3
    assert len({tuple(node["ports"]) for node in NODES.values()}) == 3


def test_the_variables_of_the_image_are_known_to_the_server():
    [name, value] = re.search(r"^ENV (\w+)=(\S+)$", (FOLDER / "Dockerfile").read_text(),
                              re.M).groups()
    printed = print_config(POSTRIDER_STORE=ADDRESS, **{name: value})
    assert f'data = "{value}"  # environment {name}' in printed


def test_a_container_may_drain_before_it_is_ended():
    drain_ms = int(re.search(r"^drain_timeout_ms = (\d+)", print_config(), re.M)[1])
    for node in NODES.values():
        assert int(node["stop_grace_period"].removesuffix("s")) * 1000 > drain_ms


def test_the_image_has_every_library_that_the_server_is_linked_with():
    essential = {"libc6", "libstdc++6", "libgcc-s1"}
    packages = set(re.findall(r"\blib[\w.+-]+", (FOLDER / "Dockerfile").read_text()))
    needed = run("objdump", "-p", BINARY)
    paths = dict(re.findall(r"(\S+) => (/\S+)", run("ldd", BINARY)))
    for name in re.findall(r"NEEDED\s+(\S+)", needed):
        if name not in paths:
            continue  # The dynamic linker itself.
        path = os.path.realpath(paths[name])
        found = run("dpkg-query", "-S", "*/" + os.path.basename(path))
        owners = set(re.findall(r"^([^:\s]+)(?::\w+)?: ", found, re.M))
        assert owners & (packages | essential), f"{path} is in {sorted(owners)}"
