"""`postrider doctor`: every check reports ok, warn or fail, with advice."""

import json
import os
import subprocess

import pytest

from cli import Cli
from harness import BINARY, DEADLINE


def findings(result, code=0):
    done, stdout, stderr = result
    assert done == code, (done, stdout, stderr)
    return {item["check"]: item for item in json.loads(stdout)}


@pytest.mark.embedded_store("the command looks at a data directory")
def test_every_check_passes_on_a_healthy_server(own_server):
    server = own_server().start()
    cli = Cli(server.port)
    found = findings(cli.run("doctor", "--data", str(server.data), "--json"))
    assert "open files" in found  # Its status depends on the machine.
    for check in ("reachable", "version", "ready", "clock", "key", "data directory", "dns"):
        assert (found[check]["status"], found[check]["advice"]) == ("ok", ""), found[check]
    text = cli.text("doctor", "--data", str(server.data))
    assert text.splitlines()[0].split() == [
        "ok", "reachable", f"127.0.0.1:{server.port}", "answers."]


def test_an_unreachable_server_is_one_failure_with_advice(tmp_path):
    code, stdout, stderr = Cli(1).run("doctor", directory=tmp_path)
    assert code == 1 and stderr.endswith("1 check failed.\n")
    first, advice = stdout.splitlines()[:2]
    assert first.startswith("fail  reachable") and "Connection refused" in first
    assert "POSTRIDER_SERVER" in advice


def test_a_wrong_key_is_reported_without_printing_it(server):
    result = Cli(server.port, key="wrong-key-canary").run("doctor", "--json")
    assert findings(result, code=1)["key"]["status"] == "fail"
    assert "canary" not in "".join(map(str, result))


def test_a_data_directory_readable_by_others_is_a_warning(server, tmp_path):
    os.chmod(tmp_path, 0o755)
    found = findings(Cli(server.port).run("doctor", "--data", str(tmp_path), "--json"))
    assert found["data directory"]["status"] == "warn"
    assert f"chmod 700 {tmp_path}" in found["data directory"]["advice"]
    missing = str(tmp_path / "nowhere")
    found = findings(Cli(server.port).run("doctor", "--data", missing, "--json"), code=2)
    assert found["data directory"]["status"] == "fail"


def test_the_dns_check_resolves_the_given_name(server):
    cli = Cli(server.port)
    found = findings(cli.run("doctor", "--resolve", "127.0.0.1", "--json"))
    assert found["dns"]["message"] == "127.0.0.1 resolves to 127.0.0.1."
    found = findings(cli.run("doctor", "--resolve", "no such host", "--json"), code=1)
    assert found["dns"]["status"] == "fail" and found["dns"]["advice"]


def test_hosts_of_webhooks_are_resolved(own_server):
    server = own_server().start()
    server.api().post("/v1/webhooks", {"url": "http://localhost:9/", "events": ["*"]}, expect=201)
    found = findings(Cli(server.port).run("doctor", "--json"))
    assert found["dns"]["message"] in (
        "localhost resolves to 127.0.0.1.", "localhost resolves to ::1.")


@pytest.mark.parametrize("limit, status", [(512, "warn"), (16_000, "ok")])
def test_a_low_open_files_limit_is_a_warning(server, limit, status):
    limited = ["bash", "-c", f'ulimit -n {limit} && exec "$@"', "bash"]
    done = subprocess.run([*limited, BINARY, "doctor", "--json"], capture_output=True, text=True,
                          timeout=DEADLINE, check=False,
                          env={**os.environ, **Cli(server.port).environment})
    found = {item["check"]: item for item in json.loads(done.stdout)}
    assert found["open files"]["status"] == status
