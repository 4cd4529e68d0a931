"""deploy/prometheus/rules.yml: tested with promtool, and with a real Prometheus that scrapes."""

import re
import subprocess
import sys

import pytest
import yaml

from harness import ADMIN_KEY, DEADLINE, ROOT, wait_for
from metric_pages import CIRCUIT, documented, metrics_in
from receiver import Reply
from world import SLOW

sys.path.insert(0, str(ROOT / "tests" / "servers"))

from prometheus import Prometheus  # noqa: E402

RULES_FILE = ROOT / "deploy" / "prometheus" / "rules.yml"
TESTS = sorted((ROOT / "tests" / "prometheus").glob("*.yml"))
RULES = [rule for group in yaml.safe_load(RULES_FILE.read_text())["groups"]
         for rule in group["rules"]]
ALERTS = {rule["alert"]: rule for rule in RULES if "alert" in rule}
RECORDED = {rule["record"] for rule in RULES if "record" in rule}


def promtool(*arguments):
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=DEADLINE * 3)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_promtool_accepts_the_rules():
    assert f"{len(RULES)} rules found" in promtool("check", "rules", RULES_FILE)


@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.stem)
def test_the_unit_tests_of_the_rules_pass(file):
    assert "SUCCESS" in promtool("test", "rules", file)


def test_every_alert_has_a_test_in_which_it_fires_and_one_in_which_it_does_not():
    cases = [case for file in TESTS for test in yaml.safe_load(file.read_text())["tests"]
             for case in test.get("alert_rule_test", [])]
    fires = {case["alertname"] for case in cases if case.get("exp_alerts")}
    silent = {case["alertname"] for case in cases if not case.get("exp_alerts")}
    # Two series in one test, of which only one is over the limit, are such a case as well.
    chosen = {"WebhookDLQLarge", "PostriderAlertActive"}
    assert fires == set(ALERTS)
    assert silent | chosen == set(ALERTS)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.get("alert") or rule["record"])
def test_a_rule_uses_documented_metrics_only(rule):
    used = metrics_in(rule["expr"])
    assert used and used - set(documented()) - RECORDED - {"up"} == set()


@pytest.mark.parametrize("alert", ALERTS.values(), ids=ALERTS)
def test_an_alert_tells_what_to_do(alert):
    assert alert["labels"]["severity"] in ("info", "warning", "critical")
    assert set(alert["annotations"]) == {"summary", "description", "runbook_url"}
    assert "$labels.instance" in alert["annotations"]["description"]


# ---------------------------------------------------------------- runbooks

def runbooks():
    """{heading: paragraph}."""
    page = (ROOT / "docs" / "runbooks.md").read_text()
    return dict(re.findall(r"^### (\w+)\n\n(.+)$", page, re.MULTILINE))


def kinds_of(api):
    return set(api.get("/openapi.json")["components"]["schemas"]["Alert"]["properties"]["kind"]
               ["enum"])


def test_every_rule_and_every_kind_of_alert_has_a_runbook(api):
    assert set(runbooks()) == set(ALERTS) | kinds_of(api)


def test_a_runbook_has_a_meaning_a_first_look_and_a_usual_fix():
    for name, paragraph in runbooks().items():
        assert re.fullmatch(r"\*\*Meaning\.\*\* .+ \*\*First look\.\*\* .+ \*\*Usual fix\.\*\* .+",
                            paragraph), name


def test_the_links_of_the_rules_lead_to_their_runbooks():
    for name, alert in ALERTS.items():
        anchor = "{{ $labels.kind }}" if name == "PostriderAlertActive" else name.lower()
        assert alert["annotations"]["runbook_url"] == f"docs/runbooks.md#{anchor}"


def test_every_kind_of_alert_has_a_rule(api):
    """A kind is either named as one that has a rule of its own, or left to PostriderAlertActive."""
    excluded = re.findall(r'kind!~"([^"]*)"', ALERTS["PostriderAlertActive"]["expr"])
    own = {kind for kind in kinds_of(api)
           if any(re.fullmatch(pattern, kind) for pattern in excluded)}
    assert own == {
        "circuit_opened", "circuit_recovered", "circuit_stays_open", "dead_letters_waiting",
        "dead_letter_share", "total_dead_letters", "total_failures", "success_low", "p99_high",
        "queue_deep", "pool_busy", "server_resources_short", "store_failing", "source_failing"}


# ---------------------------------------------------------------- a real Prometheus

@pytest.fixture
def quick_rules(tmp_path):
    """The rules with windows and delays of seconds."""
    text = re.sub(r"\[(5m|1h|6h)\]", "[10s]", RULES_FILE.read_text())
    text = re.sub(r"^( *for:) \w+$", r"\1 1s", text, flags=re.MULTILINE)
    file = tmp_path / "rules.yml"
    file.write_text(text.replace("* 300 >= 10", "* 10 >= 2"))
    return file


def wait_alert(prometheus, name, state, meanwhile=lambda: None):
    def seen():
        meanwhile()
        states = {found for alert, found in prometheus.alerts() if alert == name}
        return state in states if state else not states
    wait_for(seen, f"{name} to be {state or 'resolved'}", DEADLINE * 2)


def test_a_real_prometheus_fires_and_resolves_rules(own_server, make_world, quick_rules):
    server = own_server().start()
    world = make_world(server)
    failing = world.hook("failing", Reply(500), events=["a.b"], retry_config=SLOW,
                         circuit_breaker_config={"enabled": False})
    broken = world.hook("broken", Reply(500), events=["broken"], max_in_flight=1,
                        retry_config=SLOW, circuit_breaker_config=CIRCUIT)
    with Prometheus([f"127.0.0.1:{server.port}"], key=ADMIN_KEY, rules=[quick_rules]) as prometheus:
        wait_for(lambda: prometheus.query("up == 1"), "a scrape")
        wait_alert(prometheus, "WebhookSuccessLow", "firing", lambda: world.publish("a.b"))
        wait_alert(prometheus, "HighWebhookFailureRate", "firing", lambda: world.publish("a.b"))
        for _ in range(2):
            world.publish("broken")
        world.wait_circuit(broken, "open")
        wait_alert(prometheus, "WebhookCircuitOpened", "firing")
        wait_alert(prometheus, "WebhookCircuitStaysOpen", "firing")
        assert [alert["labels"]["webhook_id"]
                for alert in prometheus.ask("/api/v1/alerts")["alerts"]
                if alert["labels"]["alertname"] == "WebhookCircuitOpened"] == [broken.id]

        world.receiver.on(failing.path, Reply())
        world.api.patch(f"/v1/webhooks/{broken.id}/circuit-breaker", {"action": "reset"})
        for name in ("WebhookSuccessLow", "HighWebhookFailureRate", "WebhookCircuitOpened",
                     "WebhookCircuitStaysOpen"):
            wait_alert(prometheus, name, None, lambda: world.publish("a.b"))
        assert set(prometheus.rules_health().values()) == {""}


def test_a_server_that_is_away_is_noticed(own_server, quick_rules):
    server = own_server().start()
    server.listen = f"127.0.0.1:{server.port}"
    with Prometheus([server.listen], key=ADMIN_KEY, rules=[quick_rules]) as prometheus:
        wait_for(lambda: prometheus.query("up == 1"), "a scrape")
        server.kill()
        wait_alert(prometheus, "PostriderDown", "firing")
        server.start()
        wait_alert(prometheus, "PostriderDown", None)


def test_the_rules_load_unchanged_and_nothing_fires_on_a_new_server(own_server):
    server = own_server().start()
    with Prometheus([f"127.0.0.1:{server.port}"], rules=[RULES_FILE]) as prometheus:
        wait_for(lambda: set(prometheus.rules_health()) == set(ALERTS) | RECORDED
                 and set(prometheus.rules_health().values()) == {""}
                 and prometheus.query("postrider:queue_depth:sum"), "all rules to be evaluated")
        unexpected = {name for name, _ in prometheus.alerts()} - {"PostriderStoreNearlyFull"}
        assert unexpected == set()
