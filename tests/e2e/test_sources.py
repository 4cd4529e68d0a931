"""What all sources of events have in common: configuration, states, pause, alerts, the CLI.

The source's server is away in these tests. Tests with servers are in test_source_<kind>.py.
"""

import signal
import tomllib

import pytest

from cli import Cli
from harness import run_command, wait_for

AWAY = "redis://user:canary@127.0.0.1:9/0"  # Nothing listens here.
CONFIG = f"""[[sources]]
name = "shop"
kind = "redis"
address = "{AWAY}"
stream = "shop:events"
"""


@pytest.fixture
def away_server(own_server, tmp_path):
    """A server whose only source cannot be connected."""
    (tmp_path / "away.toml").write_text(CONFIG)
    return own_server("--config", str(tmp_path / "away.toml")).start()


def source_of(api):
    return api.get("/v1/sources")["data"][0]


def source_with(api, state):
    return wait_for(lambda: source_of(api)["state"] == state and source_of(api), state)


def test_a_source_that_is_away_blocks_nothing_and_raises_an_alert(away_server):
    api = away_server.api()
    assert api.post("/v1/events", {"type": "a.b", "data": 1}, expect=202)
    failing = source_with(api, "failing")
    assert (failing["name"], failing["kind"]) == ("shop", "redis")
    assert failing["reason"] and "canary" not in failing["reason"]
    assert (failing["received"], failing["reconnects"], failing["last_event_at"]) == (0, 0, None)
    alert = wait_for(lambda: api.get("/v1/alerts?kind=source_failing")["data"], "the alert")[0]
    assert (alert["source"], alert["severity"], alert["status"]) == ("shop", "critical", "active")
    assert alert["detail"].startswith("The source shop could not be connected 3 times in a row: ")
    tenant = api.post("/v1/api-keys", {"scope": "tenant", "tenant_id": "acme"}, expect=201)["key"]
    assert away_server.api(key=tenant).get("/v1/alerts")["data"] == []
    ready = away_server.api(key=None).request("GET", "/readyz?verbose")
    assert ready.status == 200
    assert [(each["name"], each["state"]) for each in ready.json["sources"]] == [
        ("shop", "failing")]
    metrics = api.request("GET", "/metrics").body.decode()
    assert 'postrider_source_connected{source="shop"} 0' in metrics
    assert 'postrider_source_messages_total{source="shop",outcome="stored"} 0' in metrics
    assert "canary" not in away_server.output() + metrics


def test_a_source_can_be_paused_and_resumed(away_server):
    api, cli = away_server.api(), Cli(away_server.port)
    assert cli.json("sources", "pause", "shop")["state"] == "paused"
    assert source_of(api)["state"] == "paused"
    listed = cli.text("sources", "list")
    assert listed.split()[:3] == ["NAME", "KIND", "STATE"]
    assert listed.splitlines()[1].split()[:3] == ["shop", "redis", "paused"]
    assert "paused" not in cli.text("sources", "resume", "shop")
    source_with(api, "failing")
    assert "There is no source" in cli.refused("sources", "pause", "none")
    actions = [entry["action"] for entry in api.get("/v1/audit-log")["data"]]
    assert actions[:2] == ["source.resume", "source.pause"]


def test_only_operators_see_sources(away_server):
    api = away_server.api()
    for body, reads in (({"scope": "read"}, 200), ({"scope": "publish"}, 403),
                        ({"scope": "tenant", "tenant_id": "acme"}, 403)):
        other = away_server.api(key=api.post("/v1/api-keys", body, expect=201)["key"])
        assert other.request("GET", "/v1/sources").status == reads
        assert other.request("POST", "/v1/sources/shop/pause").status == 403
    assert away_server.api(key=None).request("GET", "/v1/sources").status == 401


def test_a_change_of_sources_needs_a_restart(away_server, tmp_path):
    (tmp_path / "away.toml").write_text(CONFIG.replace("shop:events", "other"))
    away_server.signal(signal.SIGHUP)
    wait_for(lambda: 'config.restart_needed settings="sources"' in
             away_server.stderr_file.read_text(), "the warning")
    assert source_of(away_server.api())["name"] == "shop"


def test_a_source_that_waits_does_not_delay_the_end(away_server):
    source_with(away_server.api(), "failing")
    away_server.stop()


@pytest.mark.parametrize("line, complaint", [
    ('stream = "x"\nqueue = "y"', "`queue` is not a setting of a source of kind redis."),
    ('stream = 5', "`stream` of a source must be at most 200 characters"),
    ('strea = "x"', "a source has no setting `strea`; did you mean `stream`?"),
    ('stream = "x"\ntenant = "a b"', "`tenant` of the source shop is not the id of a tenant."),
])
def test_a_wrong_source_is_refused_with_its_place(tmp_path, line, complaint):
    file = tmp_path / "wrong.toml"
    file.write_text(CONFIG.replace('stream = "shop:events"', line))
    code, _, stderr = run_command("serve", "--config", str(file), "--data", str(tmp_path / "data"))
    assert code == 2
    assert f"{file}:" in stderr and complaint in stderr
    assert "canary" not in stderr
    assert not (tmp_path / "data").exists()


def test_the_printed_configuration_has_no_password(tmp_path):
    file = tmp_path / "sources.toml"
    file.write_text(CONFIG + CONFIG.replace('"shop"', '"other"').replace(
        f'address = "{AWAY}"', 'address_env = "CACHE_URL"'))
    environment = {"CACHE_URL": AWAY}
    code, stdout, stderr = run_command("serve", "--config", str(file), "--print-config",
                                       environment=environment)
    assert (code, stderr) == (0, "")
    assert "canary" not in stdout
    first, second = tomllib.loads(stdout)["sources"]
    assert first["address"] == "redis://user:***@127.0.0.1:9/0"
    assert second["address_env"] == "CACHE_URL" and "address" not in second
    assert first["fields"]["idempotency_key"] == ["idempotency_key", "entry_id"]
    code, _, stderr = run_command("serve", "--config", str(file), "--print-config")
    assert code == 2 and "the environment variable `CACHE_URL` is not set." in stderr
