"""`make run`: the demo."""

import re
import signal
import socket
import subprocess
import sys

from harness import BINARY, DEADLINE, ROOT, Api, sign_in, wait_for

sys.path.insert(0, str(ROOT / "tests" / "servers"))

from program import free_port  # noqa: E402


def demo(port, output):
    return subprocess.Popen(
        [sys.executable, "tools/demo.py", "--binary", BINARY, "--port", str(port)], cwd=ROOT,
        stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)


def test_the_demo_shows_good_and_failing_deliveries_and_exits_with_0(tmp_path):
    port = free_port()
    log = tmp_path / "demo.log"
    with log.open("wb") as output:
        process = demo(port, output)
    try:
        wait_for(lambda: "Ctrl-C" in log.read_text(), "the welcome text")
        token = re.search(rf"http://127.0.0.1:{port}/#token=(\w+)", log.read_text()).group(1)
        api = sign_in(port, {"token": token})
        assert api.get("/v1/sessions")["scope"] == "admin"
        key = re.search(r"Bearer (\w+)", log.read_text()).group(1)
        assert Api(port, key).request("POST", "/v1/sessions", {"token": token}).status == 410
        names = {item["name"] for item in api.get("/v1/webhooks")["data"]}
        assert names == {"healthy", "flaky", "dead"}

        def seen():
            items = api.all("/v1/deliveries")
            return ({item["status"] for item in items} >= {"succeeded", "retrying", "dead_letter"}
                    and {item["failure_category"] for item in items} >= {"network"})
        wait_for(seen, "deliveries that succeeded, are retried and are dead letters")
        assert api.get("/v1/dlq")["data"]
        dead = next(item for item in api.get("/v1/webhooks")["data"] if item["name"] == "dead")
        wait_for(lambda: api.get(f"/v1/webhooks/{dead['id']}/health")["circuit"]["state"] == "open",
                 "the dead receiver's circuit to open")
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(DEADLINE * 2)
    assert code == 0, log.read_text()


def test_a_port_in_use_is_reported_in_one_line(tmp_path):
    log = tmp_path / "demo.log"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with log.open("wb") as output:
            assert demo(port, output).wait(DEADLINE) == 1
    text = log.read_text().strip()
    assert len(text.splitlines()) == 1 and str(port) in text and "PORT=" in text
