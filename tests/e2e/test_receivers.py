"""The example receivers and independent libraries accept requests of the real server."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from consumer import build_consumer
from harness import DEADLINE, ROOT, wait_for

E2E = ROOT / "tests" / "e2e"
EXAMPLES = ROOT / "examples" / "receivers"
SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXY="


@pytest.fixture(scope="session")
def cpp_receiver(tmp_path_factory, installation):
    """The C++ example, built with find_package(postrider)."""
    build = tmp_path_factory.mktemp("consumer")
    build_consumer(EXAMPLES / "cpp", build, installation)
    return [str(build / "receiver")]


@pytest.fixture(scope="session")
def node_receiver(tmp_path_factory):
    """The Node.js example with the npm packages of the tests."""
    folder = tmp_path_factory.mktemp("node")
    shutil.copy(EXAMPLES / "node" / "receiver.mjs", folder)
    shutil.copy(EXAMPLES / "node" / "package.json", folder)
    (folder / "node_modules").symlink_to(E2E / "node_modules")
    return ["node", str(folder / "receiver.mjs")]


@pytest.fixture(params=["cpp", "node", "python"])
def running(request, tmp_path):
    """Starts an example receiver. Returns (port, function that reads its output)."""
    command = ([sys.executable, str(EXAMPLES / "python" / "receiver.py")]
               if request.param == "python"
               else request.getfixturevalue(f"{request.param}_receiver"))
    output = tmp_path / "receiver.out"
    with output.open("wb") as sink:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sink,
                                   stderr=subprocess.STDOUT,
                                   env={**os.environ, "SECRET": SECRET, "PORT": "0"})
    try:
        found = wait_for(lambda: re.search(r"127\.0\.0\.1:(\d+)", output.read_text()),
                         f"the {request.param} receiver's address")
        yield int(found.group(1)), output.read_text
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(DEADLINE)


def post(port, headers, body):
    """Posts to a receiver. Returns the status."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, dict(headers))
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            return answer.status
    except urllib.error.HTTPError as refusal:
        return refusal.code


def genuine_request(world):
    """Sends one delivery. Returns (its signature headers, its body)."""
    hook = world.hook(secret=SECRET)
    world.publish("order.paid", {"text": "Grüße", "n": 1.50})
    request = world.wait_requests(hook, 1)[0]
    return {name: request.header(name)
            for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}, request.body


def test_an_example_receiver_accepts_deliveries_and_refuses_tampered_ones(world, running):
    port, printed = running
    hook = world.hook(url=f"http://127.0.0.1:{port}/hook", secret=SECRET)
    event = world.publish("order.paid", {"order": 7})
    delivery = world.wait_done(event["id"], hook)
    assert (delivery["status"], delivery["http_status"]) == ("succeeded", 204)
    assert event["id"] in wait_for(lambda: "event: " in printed() and printed(), "the event")

    headers, body = genuine_request(world)
    assert post(port, headers, body) == 204, "a genuine request"
    assert post(port, headers, body) == 204 and "repeat: " in printed()
    assert post(port, headers, body + b" ") == 401
    assert post(port, {**headers, "webhook-id": "evt_other"}, body) == 401
    old = str(int(headers["webhook-timestamp"]) - 1)
    assert post(port, {**headers, "webhook-timestamp": old}, body) == 401
    assert post(port, {"webhook-id": headers["webhook-id"]}, body) == 401
    assert printed().count("refused: ") == 4


def test_a_receiver_with_another_secret_refuses_our_deliveries(world, running):
    port, printed = running
    hook = world.hook(url=f"http://127.0.0.1:{port}/hook")
    event = world.publish()
    delivery = world.wait_done(event["id"], hook)
    assert (delivery["status"], delivery["http_status"]) == ("dead_letter", 401)
    assert "refused: " in printed()


@pytest.mark.parametrize("library", ["standardwebhooks", "svix"])
def test_independent_libraries_verify_only_genuine_requests(world, library):
    headers, body = genuine_request(world)
    cases = [{"secret": SECRET, "headers": headers, "body": body.decode()},
             {"secret": SECRET, "headers": headers, "body": body.decode() + " "},
             {"secret": "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "headers": headers,
              "body": body.decode()}]
    done = subprocess.run(["node", str(E2E / "verify.mjs"), library], input=json.dumps(cases),
                          capture_output=True, text=True, timeout=DEADLINE, check=True)
    genuine, changed, foreign = json.loads(done.stdout)
    assert genuine is None
    assert "signature" in changed and "signature" in foreign


def test_an_installation_has_the_program_its_manual_and_completions(installation):
    found = {str(path.relative_to(installation)) for path in installation.rglob("*")
             if path.is_file()}
    library = next(name for name in found if name.endswith("postriderConfig.cmake"))
    folder = os.path.dirname(library)
    assert {"bin/postrider", "include/postrider/verify.h",
            "include/postrider/client.h", "include/postrider/outbox.h",
            "share/man/man1/postrider.1",
            "share/bash-completion/completions/postrider",
            "share/zsh/vendor-completions/_postrider",
            "share/fish/vendor_completions.d/postrider.fish",
            "share/postrider/prometheus/rules.yml", "share/postrider/grafana/postrider.json",
            f"{folder}/postriderConfigVersion.cmake", f"{folder}/postriderTargets.cmake"} <= found
    done = subprocess.run([str(installation / "bin" / "postrider"), "--version"],
                          capture_output=True, text=True, timeout=DEADLINE, check=True)
    assert re.fullmatch(r"postrider \d+\.\d+\.\d+\n", done.stdout)
