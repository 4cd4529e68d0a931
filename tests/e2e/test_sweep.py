"""Sends 20,000 generated bad requests. Every answer is as documented and nothing leaks.

POSTRIDER_SWEEP_REQUESTS sets the number of requests, POSTRIDER_SWEEP_SEED the seed.
"""

import os
import pathlib
import socket
import threading

import pytest

from bad_framing import COMMON, HOST, LINE, check_framing, statuses
from harness import DEADLINE, SLOWNESS, wait_for
from resources import Resources, start_server
from sweep import Sweep, prepare

REQUESTS = int(os.environ.get("POSTRIDER_SWEEP_REQUESTS", 20_000 / SLOWNESS))
FRAMINGS = REQUESTS // 10
SEED = int(os.environ.get("POSTRIDER_SWEEP_SEED", 1))
GROWTH_KB_MAX = 64 * 1024  # Allows for caches. A leak of 4 KB per request exceeds it.


def resident_kb(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def open_files(server):
    return len(list(pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()))


@pytest.fixture
def swept(tmp_path, receiver):
    """A server that must still be healthy after the test."""
    server = start_server(tmp_path)
    resources = Resources(server, receiver)
    yield server
    server.assert_alive()
    delivery = resources.delivery(resources.webhook(), "succeeded")
    assert resources.api.get(f"/v1/deliveries/{delivery['id']}")["attempt_count"] == 1
    assert resources.api.request("GET", "/readyz").status == 200
    resources.api.close()
    server.stop()


def slow_clients(server):
    """Opens connections with incomplete heads and bodies."""
    unfinished = [LINE + HOST, LINE + HOST + COMMON + b"Content-Length: 10\r\n\r\n{"]
    connections = []
    for number in range(60):
        connections.append(socket.create_connection(("127.0.0.1", server.port), DEADLINE * 3))
        connections[-1].sendall(unfinished[number % 2])
    return connections


def test_bad_requests_are_refused_as_documented_and_leak_nothing(swept, receiver):
    slow = slow_clients(swept)
    sweep = Sweep(swept, prepare(swept, receiver, SEED), threads=8)
    warm_up = REQUESTS // 10
    sweep.run(0, warm_up)
    files, resident = open_files(swept) - len(slow), resident_kb(swept)

    report = sweep.run(warm_up, REQUESTS - warm_up)
    assert not report.failures, "\n\n".join(report.failures)
    assert report.sent == REQUESTS
    assert {200, 201, 202, 204, 400, 401, 404, 405, 409, 413, 415, 417, 422, 431} <= set(
        report.statuses), f"a status was never seen: {report.statuses}"
    # The timeout is 10 s for a head and 30 s for a body.
    answer = slow[0].recv(65536)
    assert statuses(answer) == [408] and b"request_timeout" in answer
    for connection in slow:
        connection.close()
    wait_for(lambda: open_files(swept) <= files + 4, "the connections to be closed")
    grown = resident_kb(swept) - resident
    if SLOWNESS > 1:  # Sanitizers keep freed memory.
        return
    assert grown < GROWTH_KB_MAX, f"memory grew by {grown} KB in {REQUESTS} requests"


def test_bad_framing_closes_only_its_own_connection(swept):
    files = open_files(swept)
    problems = []
    checked = []

    def work(first):
        for number in range(first, FRAMINGS, 4):
            try:
                check_framing(swept.port, SEED, number)
            except (AssertionError, OSError, ValueError, KeyError) as problem:
                problems.append(f"{number}: {problem!r}")
            checked.append(number)
    run_together(work, range(4))
    assert problems == []
    assert len(checked) == FRAMINGS > 0
    # The background check of the store opens a few files at a time.
    wait_for(lambda: open_files(swept) <= files + 4, "the connections to be closed")


def run_together(action, arguments):
    threads = [threading.Thread(target=action, args=(argument,)) for argument in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def publish_together(server, bodies):
    """Publishes all bodies at the same moment. Returns the answers."""
    barrier = threading.Barrier(len(bodies))
    answers = []

    def publish(body):
        api = server.api()
        barrier.wait(DEADLINE)
        answers.append(api.request("POST", "/v1/events", body))
        api.close()
    run_together(publish, bodies)
    assert len(answers) == len(bodies), "a request got no answer"
    return answers


@pytest.mark.parametrize("equal", [True, False], ids=["equal-bodies", "different-bodies"])
def test_concurrent_publishes_with_one_key_publish_once(swept, equal):  # P3
    for attempt in range(5):
        bodies = [{"type": "a.b", "data": 1 if equal else number, "idempotency_key": f"k{attempt}",
                   "tenant_id": "race"} for number in range(50)]
        answers = publish_together(swept, bodies)
        accepted = [answer for answer in answers if answer.status == 202]
        assert len(accepted) == 1, answers
        others = {answer.status for answer in answers} - {202}
        assert others <= ({200, 409} if equal else {422}), answers
        assert {answer.json["id"] for answer in answers} == {accepted[0].json["id"]}
    assert len(swept.api().all("/v1/events?tenant_id=race")) == 5


def test_concurrent_changes_and_deletions_of_a_webhook_never_fail(swept, receiver):
    resources = Resources(swept, receiver)
    allowed = {"PATCH": {200, 404}, "DELETE": {204, 404}, "GET": {200, 404}}
    for _ in range(10):
        path = f"/v1/webhooks/{resources.webhook()['id']}"
        answers = []

        def act(method):
            api = swept.api()
            body = {"name": "x"} if method == "PATCH" else None
            answers.append((method, api.request(method, path, body)))
            api.close()
        run_together(act, ["PATCH", "DELETE", "GET", "PATCH", "DELETE", "GET"])
        assert len(answers) == 6, "a request got no answer"
        assert all(answer.status in allowed[method] for method, answer in answers), answers
        assert [answer.status for method, answer in answers if method == "DELETE"].count(204) == 1
