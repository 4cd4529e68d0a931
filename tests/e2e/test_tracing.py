"""Traces: W3C trace context from publishers to receivers, and spans for a collector."""

import pathlib
import re
import signal
import sys

import pytest

from harness import metric, metrics_page, wait_for, wait_metric
from receiver import Reply
from world import FAST, SLOW

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "servers"))

from otlp_collector import Collector  # noqa: E402
from program import free_port  # noqa: E402

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
SAMPLED = f"00-{TRACE}-{PARENT}-01"
UNSAMPLED = f"00-{TRACE}-{PARENT}-00"
TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-(0[0-3])")
PHASES = ("dns", "connect", "tls", "first_byte")
EXPORTED = "postrider_trace_spans_exported_total"


def dropped(reason):
    return f'postrider_trace_spans_dropped_total{{reason="{reason}"}}'


def publish(world, traceparent=None, headers=None, **fields):
    body = {"type": "order.created", "data": {}, "tenant_id": world.tenant, **fields}
    sent = {**({"traceparent": traceparent} if traceparent is not None else {}), **(headers or {})}
    return world.api.post("/v1/events", body, expect=202, headers=sent)["id"]


def passed_on(request):
    """The trace id, span id and flags that a receiver got."""
    return TRACEPARENT.fullmatch(request.header("traceparent")).groups()


# ---------------------------------------------------------------- context, without a collector

def test_a_trace_context_is_passed_on_with_a_span_for_each_attempt(world):
    hook = world.hook("hook", Reply(500), Reply(500), Reply(200), retry_config=FAST)
    event = publish(world, SAMPLED, {"tracestate": "rojo=00f0,congo=t61"})
    delivery = world.wait_done(event, hook)
    requests = world.requests(hook)
    spans = {passed_on(request)[1] for request in requests}
    assert len(requests) == 3 and len(spans) == 3 and PARENT not in spans
    assert {passed_on(request)[0] for request in requests} == {TRACE}
    assert {passed_on(request)[2] for request in requests} == {"01"}
    assert {request.header("tracestate") for request in requests} == {"rojo=00f0,congo=t61"}
    assert delivery["trace_id"] == TRACE
    for attempt, request in zip(delivery["attempts"], requests):
        assert attempt["request"]["headers"]["traceparent"] == request.header("traceparent")
        assert attempt["request"]["headers"]["tracestate"] == request.header("tracestate")


def test_an_event_without_a_context_has_a_trace_id_and_sends_no_header(world):
    hook = world.hook()
    event = publish(world)
    delivery = world.wait_done(event, hook)
    shown = world.api.get(f"/v1/events/{event}")
    assert re.fullmatch("[0-9a-f]{32}", shown["trace_id"])
    assert shown["trace_id"] == delivery["trace_id"] == shown["deliveries"][0]["trace_id"]
    request, = world.requests(hook)
    assert request.header("traceparent") is None and request.header("tracestate") is None
    listed, = world.api.all(f"/v1/events?tenant_id={world.tenant}")
    assert listed["trace_id"] == shown["trace_id"]


@pytest.mark.parametrize("bad", [
    "", "garbage", SAMPLED[:-1], SAMPLED + "0", SAMPLED + "-x", SAMPLED.upper(),
    SAMPLED.replace("00-", "ff-", 1), f"00-{'0' * 32}-{PARENT}-01", f"00-{TRACE}-{'0' * 16}-01",
    f"00-{TRACE}-{PARENT}-0x", f"00_{TRACE}-{PARENT}-01", "x" * 3000])
def test_a_bad_context_is_ignored(world, bad):
    hook = world.hook()
    event = publish(world, bad, {"tracestate": "rojo=1"})
    assert world.wait_done(event, hook)["trace_id"] != TRACE
    request, = world.requests(hook)
    assert request.header("traceparent") is None and request.header("tracestate") is None


def test_a_later_version_is_read_as_the_first(world):
    hook = world.hook()
    event = publish(world, f"cc-{TRACE}-{PARENT}-01-more")
    world.wait_done(event, hook)
    assert passed_on(world.requests(hook)[0])[0] == TRACE


def test_a_bad_tracestate_is_ignored_alone(world):
    hook = world.hook()
    world.wait_done(publish(world, SAMPLED, {"tracestate": "No Good"}), hook)
    request, = world.requests(hook)
    assert passed_on(request)[0] == TRACE and request.header("tracestate") is None


def test_a_batch_has_one_trace(world):
    hook = world.hook()
    body = {"events": [{"type": "a.b", "data": n, "tenant_id": world.tenant} for n in (1, 2)]}
    answer = world.api.post("/v1/events/batch", body, expect=202,
                            headers={"traceparent": UNSAMPLED})
    for result in answer["results"]:
        assert world.wait_done(result["id"], hook)["trace_id"] == TRACE
    first, second = world.requests(hook)
    assert passed_on(first)[1] != passed_on(second)[1]
    assert passed_on(first)[2] == "00", "the publisher's decision is passed on"


def test_a_repeat_with_another_context_is_a_repeat(world):
    hook = world.hook()
    event = publish(world, SAMPLED, idempotency_key="k-trace")
    again = world.api.request("POST", "/v1/events", {
        "type": "order.created", "data": {}, "tenant_id": world.tenant,
        "idempotency_key": "k-trace"}, {"traceparent": f"00-{'1' * 32}-{PARENT}-01"})
    assert again.status == 200 and again.json["id"] == event
    assert world.wait_done(event, hook)["trace_id"] == TRACE


def test_a_webhooks_own_header_is_sent_instead(world):
    hook = world.hook("own", headers={"Traceparent": "mine"})
    world.wait_done(publish(world, SAMPLED, {"tracestate": "rojo=1"}), hook)
    request, = world.requests(hook)
    assert request.header("traceparent") == "mine" and request.header("tracestate") is None


def test_a_context_survives_kill_and_is_part_of_a_replay(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(500), retry_config=SLOW)
    event = publish(world, SAMPLED, {"tracestate": "rojo=1"})
    delivery = world.wait_status(event, hook, "retrying")
    server.kill()
    server.start()
    world.api = server.api()
    world.receiver.on(hook.path, Reply(200))
    world.api.post(f"/v1/deliveries/{delivery['id']}/retry", expect=202)
    world.wait_done(event, hook)
    late = world.hook("late")
    world.api.post(f"/v1/webhooks/{late.id}/replay", {"since": "2000-01-01T00:00:00Z"}, expect=202)
    world.wait_requests(late, 1)
    for request in (world.requests(hook)[-1], world.requests(late)[0]):
        assert passed_on(request)[0] == TRACE and request.header("tracestate") == "rojo=1"
    assert world.delivery(event, late)["trace_id"] == TRACE


# ---------------------------------------------------------------- spans

@pytest.fixture
def collector():
    with Collector() as made:
        yield made


@pytest.fixture
def tracing_world(own_server, make_world, collector):
    """A world on a server that exports to the collector."""
    def make(*arguments, endpoint=None, **options):
        server = own_server("--set", f"tracing.endpoint={endpoint or collector.endpoint}",
                            *arguments, **options).start()
        world = make_world(server)
        world.server = server
        return world
    return make


def wait_spans(collector, trace_id, **counts):
    """Waits until the trace has so many spans of each name, and returns it."""
    def look():
        trace = collector.trace(trace_id)
        found = {name: len(trace.named(name)) for name in counts}
        return trace if found == counts else None
    return wait_for(look, f"{counts} in the trace {trace_id}; there are {collector.spans}")


def trace_id_of(world, event):
    return world.api.get(f"/v1/events/{event}")["trace_id"]


def test_the_tree_of_an_event_with_a_retry(tracing_world, collector):
    world = tracing_world("--set", "tracing.service_name=hooks", "--set",
                          "tracing.headers=x-key=canary-7,x-team=a")
    hook = world.hook("hook", Reply(503), Reply(200), retry_config=FAST)
    event = publish(world, SAMPLED, {"tracestate": "rojo=1"})
    delivery = world.wait_done(event, hook)
    trace = wait_spans(collector, TRACE, publish=1, commit=1, attempt=2, first_byte=2)

    published, = trace.named("publish")
    assert published.parent == PARENT and published.kind == 2
    assert published.raw["traceState"] == "rojo=1"
    assert published.attributes == {
        "postrider.event.id": event, "postrider.event.type": "order.created",
        "postrider.tenant.id": world.tenant, "postrider.deliveries": 1}
    assert published.resource["service.name"] == "hooks"
    assert sorted(span.name for span in trace.children(published)) == [
        "attempt", "attempt", "commit"]
    commit, = trace.named("commit")
    assert published.start <= commit.start and commit.end == published.end

    attempts = trace.named("attempt")
    sent = world.requests(hook)
    assert [span.id for span in attempts] == [passed_on(request)[1] for request in sent]
    for number, span in enumerate(attempts, 1):
        assert span.kind == 3 and span.attributes["postrider.attempt.number"] == number
        assert span.attributes["postrider.delivery.id"] == delivery["id"]
        assert span.attributes["postrider.webhook.id"] == hook.id
        assert span.attributes["server.address"] == "127.0.0.1"
        assert span.attributes["server.port"] == world.receiver.port
        assert hook.path not in str(span.raw), "a path may contain a secret"
        phases = trace.children(span)
        assert phases[-1].name == "first_byte"
        assert span.start <= phases[0].start and phases[-1].end <= span.end
    failed, succeeded = attempts
    assert failed.is_error and failed.message == "The receiver answered 503."
    assert failed.attributes["http.response.status_code"] == 503
    assert failed.attributes["error.type"] == "server_error"
    assert trace.children(failed, "connect"), "a new connection"
    assert not succeeded.is_error
    assert succeeded.attributes["http.request.resend_count"] == 1
    assert succeeded.attributes["postrider.delivery.status"] == "succeeded"

    path, headers = collector.requests[0]
    assert path == "/v1/traces" and headers["x-key"] == "canary-7" and headers["x-team"] == "a"
    wait_metric(world.api, EXPORTED, lambda value: value == len(collector.spans))
    assert "canary-7" not in world.server.output()
    assert "canary-7" not in world.api.request("GET", "/v1/settings").body.decode()


def test_a_trace_begins_with_a_sampled_event(tracing_world, collector):
    world = tracing_world("--set", "tracing.sample_ratio=1")
    hook = world.hook()
    event = publish(world)
    world.wait_done(event, hook)
    trace_id = trace_id_of(world, event)
    trace = wait_spans(collector, trace_id, publish=1, commit=1, attempt=1)
    assert trace.named("publish")[0].parent is None
    got_trace, got_span, flags = passed_on(world.requests(hook)[0])
    assert (got_trace, got_span, flags) == (trace_id, trace.named("attempt")[0].id, "01")


def test_only_failures_of_unsampled_traces_are_exported(tracing_world, collector):
    world = tracing_world("--set", "tracing.sample_ratio=0")
    good = world.hook("good")
    bad = world.hook("bad", Reply(404))
    unsampled = publish(world, UNSAMPLED)
    own = publish(world)
    for event in (unsampled, own):
        world.wait_done(event, good)
        world.wait_done(event, bad)
    for trace_id in (TRACE, trace_id_of(world, own)):
        trace = wait_spans(collector, trace_id, attempt=1)
        failed, = trace.named("attempt")
        assert failed.is_error and failed.attributes["postrider.webhook.id"] == bad.id
        assert failed.attributes["postrider.dead_letter.reason"] == "permanent_client_error_404"
    world.server.stop()
    assert {span.name for span in collector.spans} <= {"attempt", *PHASES}
    assert len([span for span in collector.spans if span.name == "attempt"]) == 2


def test_about_the_ratio_of_events_is_traced(tracing_world, collector):
    world = tracing_world("--set", "tracing.sample_ratio=0.5")
    for start in range(0, 400, 100):
        world.publish_batch([{"type": "a.b", "data": n} for n in range(start, start + 100)])
    world.server.stop()
    published = [span for span in collector.spans if span.name == "publish"]
    assert 120 < len(published) < 280
    assert all(int(span.trace_id[18:], 16) >= 1 << 55 for span in published), "by the trace id"


def test_the_last_spans_are_sent_when_the_server_stops(tracing_world, collector):
    world = tracing_world("--set", "tracing.sample_ratio=1")
    event = publish(world)
    trace_id = trace_id_of(world, event)
    world.server.stop()
    assert [span.name for span in collector.trace(trace_id).spans] == ["publish", "commit"]


def test_a_collector_that_is_away_costs_spans_and_nothing_else(tracing_world):
    world = tracing_world("--set", "tracing.sample_ratio=1",
                          endpoint=f"http://127.0.0.1:{free_port()}")
    hook = world.hook()
    event = publish(world)
    world.wait_done(event, hook)
    for _ in range(20):  # 20,000 spans of a tenant without webhooks.
        world.api.post("/v1/events/batch", [{"type": "a.b", "data": n} for n in range(500)],
                       expect=202)
    wait_metric(world.api, dropped("queue_full"), lambda value: value > 0)
    page = metrics_page(world.api)
    assert metric(page, "postrider_trace_spans_waiting") <= 8192
    assert metric(page, EXPORTED) == 0
    wait_for(lambda: "tracing.export_failed" in world.server.output(), "the failure to be logged")
    world.wait_done(publish(world), hook)
    world.server.stop()


def test_a_collector_that_comes_back_gets_what_waited(tracing_world, collector):
    collector.behave("unavailable")
    world = tracing_world("--set", "tracing.sample_ratio=1")
    event = publish(world)
    trace_id = trace_id_of(world, event)
    wait_for(lambda: collector.requests, "a request")
    collector.behave("accept")
    wait_spans(collector, trace_id, publish=1, commit=1)
    wait_metric(world.api, EXPORTED, lambda value: value == 2)
    assert metric(metrics_page(world.api), dropped("unavailable")) == 0


def test_a_collector_that_refuses_is_not_asked_again_for_the_same(tracing_world, collector):
    collector.behave("refuse")
    world = tracing_world("--set", "tracing.sample_ratio=1")
    publish(world)
    wait_metric(world.api, dropped("refused"), lambda value: value == 2)
    assert len(collector.requests) == 1


def test_a_collector_that_hangs_delays_nothing(tracing_world, collector):
    collector.behave("hang")
    world = tracing_world("--set", "tracing.sample_ratio=1", "--set", "tracing.timeout_ms=60000")
    hook = world.hook()
    world.wait_done(publish(world), hook)
    wait_for(lambda: collector.requests, "a request")
    world.wait_done(publish(world), hook)
    world.server.signal(signal.SIGTERM)
    assert world.server.wait() == 0
    collector.behave("accept")


def test_without_a_collector_nothing_is_counted(world):
    page = metrics_page(world.api)
    assert metric(page, EXPORTED) == 0
    for reason in ("queue_full", "unavailable", "refused", "stopped"):
        assert metric(page, dropped(reason)) == 0
