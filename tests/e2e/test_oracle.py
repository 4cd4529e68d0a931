"""The tools of the cluster tests: the oracle notices what it is for, the proxy cuts where asked."""

import contextlib
import json

import psycopg2
import pytest

import oracle
from proxy import Commit, Proxy
from receiver import Request
from stores import PostgresServer


def request(number, started, ended, attempt=1, answered=200):
    body = json.dumps({"data": {"n": number}}).encode()
    headers = [("webhook-id", f"evt_{number}"), ("x-webhook-attempt", str(attempt))]
    return Request(0, "/", headers, body, started, 0, 0, ended, answered)


def test_the_peak_counts_requests_that_have_not_ended():
    assert oracle.peak([request(0, 1, 2), request(1, 2, 3), request(2, 2.5, None)]) == 2
    assert oracle.peak([]) == 0


def test_a_rate_is_exceeded_in_any_interval():
    times = [100.0, *(200 + step / 10 for step in range(20))]
    requests = [request(number, at, at) for number, at in enumerate(times)]
    assert oracle.rate_excess(requests, 10, 5) <= 0
    assert oracle.rate_excess(requests, 5, 2) > 0


def test_an_order_is_broken_by_a_number_that_comes_after_a_higher_one():
    requests = [request(number, at, at) for at, number in enumerate([0, 1, 1, 2])]
    assert oracle.out_of_order(requests) == []
    assert oracle.out_of_order([*requests, request(1, 9, 9)]) == [(2, 1)]


def test_only_a_fault_before_the_record_explains_a_repeat():
    trace = oracle.Trace()
    first, again = request(0, 100, 101), request(0, 900, 901)
    assert oracle.unexplained_repeats([again, first], trace) == [(first, again)]
    trace.faults = [oracle.Fault("late", 101 + oracle.SETTLED_S + 1, 800)]
    assert oracle.unexplained_repeats([again, first], trace) == [(first, again)]
    trace.faults = [oracle.Fault("meanwhile", 100.5, 800)]
    assert oracle.unexplained_repeats([again, first], trace) == []


def test_the_next_attempt_after_a_failure_is_no_repeat():
    failed = request(0, 100, 101, answered=500)
    assert oracle.unexplained_repeats([failed, request(0, 102, 103, attempt=2)],
                                      oracle.Trace()) == []
    assert oracle.unexplained_repeats([failed, request(0, 102, 103)], oracle.Trace()) != []


def test_an_event_that_was_stored_twice_is_noticed():
    other = request(0, 3, 4)
    other.headers = [("webhook-id", "evt_other"), *other.headers[1:]]
    with pytest.raises(AssertionError, match="stored twice"):
        oracle.check([request(0, 1, 2), other], oracle.Trace())


def test_a_commit_is_lost_stored_or_neither_known():
    with PostgresServer() as postgres, contextlib.closing(postgres.connect()) as direct:
        look = direct.cursor()
        look.execute("CREATE TABLE number (n int)")
        look.execute("GRANT ALL ON number TO app")
        proxy = Proxy(postgres.port, reads_messages=True).start()
        for number, how in enumerate(Commit):
            client = psycopg2.connect(postgres.address(proxy.port, "postgres"))
            client.cursor().execute("INSERT INTO number VALUES (%s)", (number,))
            cut = proxy.cut_at_commit(how)
            with pytest.raises(psycopg2.OperationalError):
                client.commit()
            assert cut.is_set()
        proxy.stop()
        look.execute("SELECT n FROM number WHERE n <> 1")
        assert look.fetchall() == [(2,)]
