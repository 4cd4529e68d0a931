"""docs/metrics.md and the metrics page of a running server agree in both directions."""

import re
import subprocess

import pytest

from harness import metric, metrics_page
from metric_pages import documented, provoke_everything, server_with_sources, shown, sum_of
from receiver import Reply
from stores import ON_POSTGRES

# The names that users of other webhook services know. All others of ours begin with postrider_.
KNOWN_NAMES = {
    "webhook_deliveries_total", "webhook_delivery_duration_seconds",
    "webhook_retry_attempt_number", "webhook_retry_attempts", "webhook_queue_depth",
    "webhook_circuit_breaker_state", "webhook_circuit_breaker_transitions_total",
    "webhook_dlq_size", "webhook_dlq_entries_total", "webhook_rate_limit_hits_total",
    "webhook_rate_limit_tokens_available", "webhook_rate_limited_requests_total",
    "webhook_worker_pool_utilization",
}


@pytest.fixture(scope="module")
def page(tmp_path_factory, shared_receiver):
    """The metrics page of a server on which everything has happened."""
    with server_with_sources(tmp_path_factory.mktemp("metrics"), shared_receiver) as (_, world):
        provoke_everything(world)
        yield metrics_page(world.api)


def test_every_metric_on_the_page_is_documented(page):
    assert set(shown(page)) - set(documented(shared=ON_POSTGRES)) == set()


def test_every_documented_metric_is_on_the_page(page):
    of_files = {"postrider_store_free_bytes", "postrider_store_filesystem_bytes"}
    missing = set(documented(shared=ON_POSTGRES)) - set(shown(page))
    assert missing == (of_files if ON_POSTGRES else set())


def test_types_and_labels_are_as_documented(page):
    table = documented(shared=ON_POSTGRES)
    for name, (kind, label_sets) in shown(page).items():
        assert (name, kind, label_sets) == (name, table[name][0], {table[name][1]})


def test_names_have_one_prefix_and_the_suffix_of_their_type(page):
    for name, (kind, _) in shown(page).items():
        assert name in KNOWN_NAMES or name.startswith(("postrider_", "process_")), name
        assert (kind == "counter") == name.endswith("_total"), (name, kind)
        assert re.search(rf"^# HELP {name} .+$", page, re.MULTILINE), name
        assert page.count(f"# TYPE {name} ") == 1, name


def test_promtool_accepts_the_page(page):
    checked = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True,
                             text=True, check=False)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_a_new_server_shows_counters_that_nothing_has_increased_yet(own_server):
    page = metrics_page(own_server().start().api())
    assert metric(page, 'webhook_circuit_breaker_transitions_total'
                        '{from_state="closed",to_state="open"}') == 0
    assert metric(page, 'postrider_publish_refused_total{reason="store"}') == 0
    assert metric(page, 'postrider_alerts_active{kind="store_failing"}') == 0
    assert metric(page, "postrider_publish_to_delivered_seconds_count") == 0
    assert metric(page, "webhook_dlq_entries_total") == 0


def test_requests_are_measured_by_route_and_not_by_path(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook()
    for _ in range(3):
        world.api.get(f"/v1/webhooks/{hook.id}")
    world.api.get("/v1/webhooks/whk_none", expect=404)
    server.api(key="wrong").get("/v1/webhooks", expect=401)
    world.api.get("/no/such/path", expect=404)
    page = metrics_page(world.api)
    one = 'method="GET",route="/v1/webhooks/{id}"'
    assert metric(page, f'postrider_api_requests_total{{{one},status="2xx"}}') == 3
    assert metric(page, f'postrider_api_requests_total{{{one},status="4xx"}}') == 1
    assert metric(page, f'postrider_api_request_seconds_count{{{one}}}') == 4
    assert metric(page, 'postrider_api_requests_total'
                        '{method="GET",route="/v1/webhooks",status="4xx"}') == 1
    assert hook.id not in page and "no/such" not in page


def test_the_time_from_publish_to_delivery_contains_retries_but_no_revivals(own_server, make_world):
    world = make_world(own_server().start())
    replies = [Reply(500), Reply(), Reply(404), Reply()]
    hook = world.hook("hook", *replies, retry_config={"base_delay_ms": 1000, "max_delay_ms": 1000,
                                                      "jitter": 0, "max_attempts": 2})
    assert world.wait_done(world.publish()["id"], hook)["status"] == "succeeded"
    name = "postrider_publish_to_delivered_seconds"
    page = metrics_page(world.api)
    assert metric(page, f"{name}_count") == 1
    assert metric(page, f'{name}_bucket{{le="0.5"}}') == 0
    dead = world.publish()["id"]
    assert world.wait_done(dead, hook)["status"] == "dead_letter"
    delivery = world.delivery(dead, hook)
    world.api.post(f"/v1/deliveries/{delivery['id']}/retry", expect=202)
    world.wait_status(dead, hook, "succeeded")
    assert metric(metrics_page(world.api), f"{name}_count") == 1


@pytest.mark.embedded_store("the sizes are those of files")
def test_the_store_is_measured(own_server, make_world):
    world = make_world(own_server().start())
    world.hook()
    before = metrics_page(world.api)
    world.publish_batch([{"type": "a.b", "data": "x" * 10_000} for _ in range(100)])
    after = metrics_page(world.api)

    def bytes_of(page):
        return sum(metric(page, f'postrider_store_bytes{{file="{file}"}}')
                   for file in ("database", "write_ahead_log"))
    assert bytes_of(after) >= bytes_of(before) + 1_000_000
    assert (metric(after, "postrider_store_free_bytes")
            <= metric(after, "postrider_store_filesystem_bytes"))


def test_the_process_is_measured(own_server):
    server = own_server().start()
    before = metrics_page(server.api())
    server.api().post("/v1/events", {"type": "a.b", "data": 1}, expect=202)
    after = metrics_page(server.api())
    assert metric(after, "process_resident_memory_bytes") > 1_000_000
    assert sum_of(after, "postrider_store_connections", role="writer") == 1
    assert sum_of(after, "postrider_store_connections", role="reader") == 3
    assert (metric(after, 'postrider_store_wait_seconds_count{role="writer"}')
            > metric(before, 'postrider_store_wait_seconds_count{role="writer"}'))
    assert 10 < metric(after, "process_open_fds") < metric(after, "process_max_fds")
    assert metric(after, "process_cpu_seconds_total") >= metric(before, "process_cpu_seconds_total")
    assert (metric(after, "process_start_time_seconds")
            == metric(before, "process_start_time_seconds"))
    version = server.api(key=None).get("/healthz")["version"]
    assert metric(after, f'postrider_build_info{{version="{version}"}}') == 1
