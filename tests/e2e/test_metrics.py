"""The metrics page: what its values count. test_metric_docs.py checks names, types and labels."""

import json
import re
import signal
import subprocess

import pytest

from harness import metric, metrics_page, wait_for, wait_metric
from metric_pages import CIRCUIT, provoke_everything, series_of, sum_of, wait_sum
from receiver import Reply
from world import SLOW


@pytest.fixture
def own_world(own_server, make_world):
    return make_world(own_server().start())


def depth(world):
    page = metrics_page(world.api)
    return tuple(metric(page, f'webhook_queue_depth{{priority="{priority}"}}')
                 for priority in ("high", "normal", "low"))


def wait_depth(world, *wanted):
    wait_for(lambda: depth(world) == wanted, f"the queue depth {wanted}")


def test_attempts_and_states_are_counted_apart(own_world):
    provoke_everything(own_world)
    page = metrics_page(own_world.api)
    name = "webhook_deliveries_total"
    assert sum_of(page, name, status="success", failure_category="none") == 3
    assert sum_of(page, name, status="timeout", failure_category="timeout") == 1
    assert sum_of(page, name, status="failure", failure_category="server_error") == 3
    assert sum_of(page, name, status="failure", failure_category="client_error") == 1
    assert sum_of(page, name) == 8 == metric(page, "webhook_delivery_duration_seconds_count")
    assert sum_of(page, name, event_type="broken", tenant_id=own_world.tenant) == 2
    assert metric(page, "webhook_dlq_entries_total") == 2
    assert metric(page, "webhook_retry_attempts_count") == 5
    assert metric(page, "webhook_retry_attempts_sum") == 1

    states = {dict(key)["state"]: value
              for key, value in series_of(page, "postrider_delivery_states_total").items()}
    assert states == {"pending": 8, "retrying": 3, "succeeded": 3, "dead_letter": 2,
                      "cancelled": 0}
    own_world.api.delete("/v1/dlq?event_type=refused", expect=202)
    wait_sum(own_world, 1, "postrider_delivery_states_total", state="cancelled")


def test_rate_limits_are_counted_by_webhook(own_world):
    limited = own_world.hook("limited", events=["limited"],
                             rate_limit={"requests_per_second": 20, "burst": 1})
    free = own_world.hook("free", events=["free"])
    own_world.publish_batch([{"type": type, "data": number} for number in range(5)
                             for type in ("limited", "free")])
    own_world.wait_requests(limited, 5)
    own_world.wait_requests(free, 5)
    hits = f'webhook_rate_limit_hits_total{{webhook_id="{limited.id}"}}'
    tokens = f'webhook_rate_limit_tokens_available{{webhook_id="{limited.id}"}}'
    wait_metric(own_world.api, tokens, lambda left: left == 1)
    page = metrics_page(own_world.api)
    assert metric(page, hits) == metric(page, "webhook_rate_limited_requests_total")
    assert free.id not in page

    own_world.api.patch(f"/v1/webhooks/{limited.id}", {"rate_limit": None})
    wait_for(lambda: tokens not in metrics_page(own_world.api), "no limit any more")
    own_world.api.patch(f"/v1/webhooks/{free.id}",
                        {"rate_limit": {"requests_per_minute": 1, "burst": 7}})
    wait_for(lambda: free.id in metrics_page(own_world.api), "the new limit")
    own_world.api.delete(f"/v1/webhooks/{limited.id}")
    wait_for(lambda: limited.id not in metrics_page(own_world.api), "the webhook to be forgotten")


def test_limits_of_a_tenant_count_as_hits_of_the_webhook(own_server, make_world):
    world = make_world(own_server("--set", "engine.tenant_rate_limit.requests_per_second=10",
                                  "--set", "engine.tenant_rate_limit.burst=1").start())
    hook = world.hook()
    world.publish_batch([{"type": "a.b", "data": number} for number in range(4)])
    world.wait_requests(hook, 4)
    wait_metric(world.api, f'webhook_rate_limit_hits_total{{webhook_id="{hook.id}"}}',
                lambda hits: hits >= 1)


def test_the_queue_depth_counts_all_that_waits_also_after_a_crash(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", events=["a.*"])
    world.api.post(f"/v1/webhooks/{hook.id}/pause")
    events = [{"type": "a.b", "data": number, "priority": priority}
              for priority, count in (("high", 5), ("normal", 300), ("low", 2))
              for number in range(count)]
    published = world.publish_batch(events)["results"]
    wait_depth(world, 5, 300, 2)

    server.signal(signal.SIGKILL)
    server.wait()
    world.api.close()
    server.start()
    world.api = server.api()
    assert depth(world) == (5, 300, 2)

    first = world.delivery(published[0]["id"], hook)
    world.api.post(f"/v1/deliveries/{first['id']}/cancel")
    wait_depth(world, 4, 300, 2)
    world.api.post(f"/v1/deliveries/{first['id']}/retry", {"priority": "low"}, expect=202)
    wait_depth(world, 4, 300, 3)
    second = world.delivery(published[1]["id"], hook)
    world.api.post(f"/v1/deliveries/{second['id']}/retry", {"priority": "normal"}, expect=202)
    wait_depth(world, 3, 301, 3)

    world.api.delete(f"/v1/webhooks/{hook.id}")
    wait_depth(world, 0, 0, 0)


def test_the_queue_depth_follows_dead_letters_and_requests_in_flight(own_world):
    hook = own_world.hook("hook", Reply(404), Reply(), max_in_flight=2)
    own_world.wait_done(own_world.publish()["id"], hook)
    own_world.api.post(f"/v1/webhooks/{hook.id}/pause")
    dead, = own_world.api.get(f"/v1/dlq?webhook_id={hook.id}")["data"]
    own_world.api.post(f"/v1/deliveries/{dead['id']}/retry", {"priority": "high"}, expect=202)
    wait_depth(own_world, 1, 0, 0)
    own_world.receiver.hold(hook.path)
    own_world.api.post(f"/v1/webhooks/{hook.id}/resume")
    own_world.wait_requests(hook, 2)
    wait_depth(own_world, 0, 0, 0)
    own_world.publish_numbered(5)
    wait_depth(own_world, 0, 4, 0)  # The fifth is in flight.
    own_world.receiver.release(hook.path)
    wait_depth(own_world, 0, 0, 0)


def circuits(world):
    found = series_of(metrics_page(world.api), "webhook_circuit_breaker_state")
    return {tuple(dict(key)[name] for name in ("webhook_id", "state")): value
            for key, value in found.items() if value}


def test_every_open_circuit_has_a_series_from_the_start(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hooks = [world.hook(f"hook-{number}") for number in range(5)]
    wait_for(lambda: circuits(world) == {("other", "closed"): 5}, "five closed circuits")
    for hook in hooks[:2]:
        world.api.patch(f"/v1/webhooks/{hook.id}/circuit-breaker", {"action": "force_open"})
    failing = world.hook("failing", Reply(500), events=["failing"], max_in_flight=1,
                         retry_config=SLOW, circuit_breaker_config=CIRCUIT)
    for _ in range(2):
        world.publish("failing")
    world.wait_circuit(failing, "open")
    expected = {(hook.id, "open"): 1 for hook in [*hooks[:2], failing]}
    expected["other", "closed"] = 3
    wait_for(lambda: circuits(world) == expected, "three open circuits")

    server.signal(signal.SIGKILL)
    server.wait()
    world.api.close()
    server.start()
    world.api = server.api()
    wait_for(lambda: circuits(world) == expected, "three open circuits after the restart")

    world.api.patch(f"/v1/webhooks/{hooks[0].id}/circuit-breaker", {"action": "reset"})
    world.api.delete(f"/v1/webhooks/{failing.id}")
    wait_for(lambda: circuits(world) == {(hooks[1].id, "open"): 1, ("other", "closed"): 4},
             "one open circuit")


def test_counters_never_go_down(own_world):
    def counters():
        page = metrics_page(own_world.api)
        names = re.findall(r"^# TYPE (\S+) counter$", page, re.MULTILINE)
        return {(name, key): value for name in names
                for key, value in series_of(page, name).items()}
    broken, _ = provoke_everything(own_world)
    before = counters()
    own_world.api.patch(f"/v1/webhooks/{broken.id}/circuit-breaker", {"action": "reset"})
    own_world.api.post("/v1/dlq/retry-batch", {"filter": {"event_types": ["refused"]}}, expect=202)
    own_world.publish("plain")
    wait_sum(own_world, 2, "webhook_deliveries_total", event_type="plain")
    after = counters()
    for key, value in before.items():
        assert after.get(key, -1) >= value, key


# ---------------------------------------------------------------- alert rules

RULES = """
groups:
  - name: webhooks
    rules:
      - alert: HighWebhookFailureRate
        expr: |
          sum(rate(webhook_deliveries_total{status="failure"}[5m]))
          /
          sum(rate(webhook_deliveries_total[5m])) > 0.1
        for: 10m
      - alert: WebhookDLQGrowing
        expr: increase(webhook_dlq_entries_total[1h]) > 100
"""


def evaluate(directory, pages, alerts):
    """Checks with promtool that exactly `alerts` fire after two hours in which the metrics grew as
    they did from the first page to the second one."""
    series = []
    for name in ("webhook_deliveries_total", "webhook_dlq_entries_total"):
        before = series_of(pages[0], name)
        for key, value in series_of(pages[1], name).items():
            labels = ",".join(f'{label}="{text}"' for label, text in sorted(key))
            step = (value - before.get(key, 0)) / 10
            series.append({"series": f"{name}{{{labels}}}",
                           "values": f"{before.get(key, 0):g}+{step:g}x120"})
    (directory / "rules.yml").write_text(RULES)
    known = ("HighWebhookFailureRate", "WebhookDLQGrowing")
    test = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": [{
        "interval": "1m", "input_series": series,
        "alert_rule_test": [
            {"eval_time": "2h", "alertname": name,
             "exp_alerts": [{"exp_labels": {}}] if name in alerts else []} for name in known]}]}
    (directory / "test.yml").write_text(json.dumps(test))  # JSON is YAML.
    done = subprocess.run(["promtool", "test", "rules", "test.yml"], cwd=directory,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("failures, alerts", [
    (120, ("HighWebhookFailureRate", "WebhookDLQGrowing")),
    (2, ()),
])
def test_usual_alert_rules_fire_on_failures_only(own_world, tmp_path, failures, alerts):
    own_world.hook("good", events=["good"], max_in_flight=50)
    own_world.hook("bad", Reply(404), events=["bad"], max_in_flight=50,
                   circuit_breaker_config={"enabled": False})
    before = metrics_page(own_world.api)
    own_world.publish_batch([{"type": "good", "data": number} for number in range(100)])
    own_world.publish_batch([{"type": "bad", "data": number} for number in range(failures)])
    wait_sum(own_world, 100 + failures, "webhook_deliveries_total")
    wait_sum(own_world, failures, "webhook_dlq_entries_total")
    evaluate(tmp_path, (before, metrics_page(own_world.api)), alerts)
