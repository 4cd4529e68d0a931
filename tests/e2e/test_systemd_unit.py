"""deploy/systemd/postrider.service: fits the settings of the server."""

import configparser
import json
import re
import subprocess

from harness import BINARY, ROOT

UNIT = ROOT / "deploy" / "systemd" / "postrider.service"
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


def read_unit():
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str
    unit.read_string(UNIT.read_text())
    return unit["Service"]


def printed_by(*arguments, **variables):
    return subprocess.run([BINARY, "serve", *arguments], check=True, capture_output=True, text=True,
                          env={**ENVIRONMENT, **variables}).stdout


def settings(**variables):
    """What is in force in a server with these variables: {name: {"value", "origin"}}."""
    return json.loads(printed_by("--print-config", "--json", **variables))["settings"]


def test_the_variables_of_the_unit_are_known():
    keys = {"POSTRIDER_ADMIN_KEY", "POSTRIDER_SECRETS_KEY"}
    named = set(re.findall(r"POSTRIDER_\w+", UNIT.read_text()))
    assert named == {*keys, "POSTRIDER_STORE", "POSTRIDER_DATA"}
    assert keys <= set(re.findall(r"POSTRIDER_\w+", printed_by("--help")))
    name, _, directory = read_unit()["Environment"].partition("=")
    found = settings(POSTRIDER_STORE="postgres://user@host/database", **{name: directory})
    assert found["store"]["origin"] == "environment POSTRIDER_STORE"
    assert found["data"]["value"] == directory


def test_a_stopping_server_gets_more_time_than_it_needs_to_drain():
    stop_s = int(read_unit()["TimeoutStopSec"].removesuffix("s"))
    assert stop_s * 1000 > settings()["drain_timeout_ms"]["value"]
