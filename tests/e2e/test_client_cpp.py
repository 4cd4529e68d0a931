"""The C++ client library: the installed package, and the example publisher on the real server."""

import json
import os
import signal
import subprocess

import pytest

from consumer import build_consumer
from harness import ADMIN_KEY, DEADLINE, ROOT, Server, wait_for

EXAMPLE = ROOT / "examples" / "publishers" / "cpp"


@pytest.fixture(scope="session")
def program(tmp_path_factory, installation):
    build = tmp_path_factory.mktemp("publisher")
    build_consumer(EXAMPLE, build, installation)
    return build / "publisher"


class Publisher:
    """The example, reading lines from a pipe."""

    def __init__(self, program, port, tenant, key=ADMIN_KEY):
        self.process = subprocess.Popen(
            [str(program), "order.paid", tenant], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "POSTRIDER_SERVER": f"http://127.0.0.1:{port}",
                 "POSTRIDER_KEY": key})

    def feed(self, lines):
        self.process.stdin.writelines(f"{line}\n" for line in lines)
        self.process.stdin.flush()
        return self

    def finish(self):
        """Returns the exit code and the lines that the program printed."""
        printed, _ = self.process.communicate(timeout=DEADLINE * 3)
        return self.process.returncode, printed.splitlines()


def publish(program, server, tenant, lines, **options):
    return Publisher(program, server.port, tenant, **options).feed(lines).finish()


def test_it_publishes_every_line_in_order(world, server, program):
    hook = world.hook()
    code, printed = publish(program, server, world.tenant,
                            [json.dumps({"n": number}) for number in range(300)])
    assert code == 0 and printed[-1].startswith("stored 300, failed 0, "), printed
    wait_for(lambda: world.receiver.count(hook.path) >= 300, "300 requests")
    assert sorted(world.numbers(hook)) == list(range(300))
    requests = int(printed[-1].split("requests ")[1].split(",")[0])
    assert requests < 300, "no two events were in one request"


def test_it_reports_events_that_the_server_refuses(world, server, program):
    code, printed = publish(program, server, world.tenant,
                            ["1", '"' + "x" * 300_000 + '"', "{", "2"])
    assert code == 1 and printed[-1].startswith("stored 2, failed 2, "), printed
    refused = "\n".join(printed[:-1])
    assert " 413 data_too_large: " in refused and " 0 invalid_json: " in refused
    assert len(world.api.all(f"/v1/events?tenant_id={world.tenant}")) == 2


def test_it_reports_a_wrong_key(world, server, program):
    code, printed = publish(program, server, world.tenant, ["1", "2"], key="pk_wrong")
    assert code == 1 and printed[-1].startswith("stored 0, failed 2, "), printed
    assert all(" 401 " in line for line in printed[:-1])


def test_it_waits_while_the_tenant_is_over_its_quota(world, server, program):
    world.api.post("/v1/tenants", {"id": world.tenant, "name": "Limited"}, expect=201)
    world.api.put(f"/v1/tenants/{world.tenant}/limits", {"events_per_minute": 600})
    code, printed = publish(program, server, world.tenant, range(620))
    assert code == 0 and printed[-1].startswith("stored 620, failed 0, "), printed
    assert not printed[-1].endswith("repeated 0")
    assert len(world.api.all(f"/v1/events?tenant_id={world.tenant}")) == 620


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_no_event_is_lost_or_stored_twice_when_the_server_restarts(tmp_path, program, end):
    server = Server(tmp_path).start()
    server.listen = f"127.0.0.1:{server.port}"
    publisher = Publisher(program, server.port, "acme")
    try:
        for part in range(5):
            publisher.feed(range(part * 1000, (part + 1) * 1000))
            server.signal(end)
            server.wait()
            server.start()
        code, printed = publisher.finish()
        assert code == 0 and printed[-1].startswith("stored 5000, failed 0, "), printed
        api = server.api()
        ids = [event["id"] for event in api.all("/v1/events?tenant_id=acme")]
        assert len(ids) == 5000
        shown = [api.get(f"/v1/events/{ids[at]}")["data"] for at in range(0, 5000, 100)]
        assert shown == list(range(4999, -1, -100)), "the order of publishing"
    finally:
        publisher.process.kill()
        server.kill()
