"""Subcommands on top of the API: webhooks, events, deliveries, dead letters."""

import json

import pytest

from cli import Cli
from profiles import seconds
from receiver import Reply
from world import FAST, SLOW

SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXY="


@pytest.fixture
def cli(server):
    return Cli(server.port)


def rows(table):
    """The rows of a table without its title, split into words."""
    return [line.split() for line in table.splitlines()[1:]]


@pytest.mark.embedded_store("it is about the file of SQLite")
def test_nodes_says_that_an_embedded_store_is_not_shared(cli):
    assert cli.json("nodes") == {"shared": False, "data": [], "pool_shards_free": None}
    assert "no other server shares it" in cli.text("nodes")


# ---------------------------------------------------------------- webhooks

def test_a_webhook_is_created_changed_and_deleted_from_the_command_line(cli, world):
    created = cli.json(
        "webhooks", "create", world.receiver.url(world.path("cli")), "--event", "order.*",
        "--event", "user.created", "--tenant", world.tenant, "--name", "Shop", "--secret", SECRET,
        "--scheme", "t-v1", "--retry", "quick", "--rate", "5", "--max-in-flight", "2",
        "--ordering", "strict", "--timeout-ms", "1500", "--header", "X-Shop: 17: a",
        "--data", '{"metadata": {"team": "blue"}, "retry_config": {"max_attempts": 3}}')
    assert created["events"] == ["order.*", "user.created"]
    assert created["secret"] == SECRET and created["name"] == "Shop"
    assert created["signature"]["scheme"] == "t-v1"
    assert created["retry_config"]["max_attempts"] == 3, "--data and --retry are merged"
    assert created["rate_limit"]["requests_per_second"] == 5
    assert (created["max_in_flight"], created["timeout_ms"]) == (2, 1500)
    assert created["ordering_guarantee"] == "strict"
    assert created["headers"] == {"X-Shop": "17: a"} and created["metadata"] == {"team": "blue"}

    identifier = created["id"]
    shown = cli.text("webhooks", "get", identifier)
    assert f"id  {identifier}".split() == shown.splitlines()[0].split()
    assert "circuit.state" in shown and SECRET not in shown
    assert cli.json("webhooks", "get", identifier)["id"] == identifier

    updated = cli.json("webhooks", "update", identifier, "--name", "Store", "--inactive")
    assert (updated["name"], updated["active"]) == ("Store", False)
    assert updated["events"] == ["order.*", "user.created"], "other fields do not change"
    assert cli.json("webhooks", "update", identifier, "--active")["active"] is True
    more = cli.json("webhooks", "update", identifier, "--header", "X-More: 1")
    assert more["headers"] == {"X-Shop": "17: a", "X-More": "1"}

    rotated = cli.text("webhooks", "rotate-secret", identifier, "--grace", "3600")
    ends = cli.json("webhooks", "secret", identifier)["old_secrets"][0]["ends_at"]
    assert rotated.splitlines()[-1] == f"An old secret signs as well until {ends}."

    assert cli.json("webhooks", "pause", identifier)["paused"] is True
    assert cli.json("webhooks", "resume", identifier)["paused"] is False
    assert "circuit.state" in cli.text("webhooks", "health", identifier)

    assert cli.text("webhooks", "delete", identifier) == f"{identifier} deleted.\n"
    assert "404" in cli.refused("webhooks", "get", identifier)


def test_webhooks_are_listed_in_aligned_columns(cli, world):
    hooks = [world.hook(name) for name in ("a", "b", "c")]
    table = cli.text("webhooks", "list", "--tenant", world.tenant)
    title, *lines = table.splitlines()
    assert title.split()[:4] == ["ID", "ACTIVE", "PAUSED", "CIRCUIT"]
    assert {line.split()[0] for line in lines} == {hook.id for hook in hooks}
    column = title.index("URL")
    assert {line[column:] for line in lines} == {hook.created["url"] for hook in hooks}

    first = cli.text("webhooks", "list", "--tenant", world.tenant, "--limit", "2")
    cursor = first.splitlines()[-1].removeprefix("More results: --cursor ")
    rest = cli.text("webhooks", "list", "--tenant", world.tenant, "--cursor", cursor)
    seen = [line.split()[0] for line in first.splitlines()[1:-1] + rest.splitlines()[1:]]
    assert sorted(seen) == sorted(hook.id for hook in hooks)
    assert cli.text("webhooks", "list", "--tenant", "nobody") == "Nothing found.\n"
    last = cli.text("webhooks", "list", "--tenant", world.tenant, "--offset", "2")
    assert [line.split()[0] for line in last.splitlines()[1:]] == seen[2:]


def test_a_circuit_is_forced_open_and_reset(cli, world):
    hook = world.hook()
    health = f"/v1/webhooks/{hook.id}/health"
    shown = cli.text("webhooks", "circuit", hook.id, "force-open", "--for", "2h")
    assert "open" in shown
    circuit = world.api.get(health)["circuit"]
    assert circuit["state"] == "open" and circuit["forced"] is not None
    cli.text("webhooks", "circuit", hook.id, "reset")
    assert world.api.get(health)["circuit"]["state"] == "closed"
    refused = cli.refused("webhooks", "circuit", hook.id, "reset", "--for", "2h")
    assert "duration_seconds" in refused


def test_a_table_is_cut_to_the_terminal_width_and_plain_in_a_pipe(cli, world):
    world.hook("a-rather-long-path-that-does-not-fit", name="A rather long name of a webhook")
    code, shown = cli.on_terminal("webhooks", "list", "--tenant", world.tenant, columns=100)
    assert code == 0
    lines = shown.replace("\r", "").splitlines()
    assert all(len(line) <= 100 for line in lines) and "…" in lines[1], lines
    piped = cli.text("webhooks", "list", "--tenant", world.tenant)
    assert "…" not in piped and "\x1b" not in piped


# ---------------------------------------------------------------- events and deliveries

def test_events_are_listed_and_shown_with_their_deliveries(cli, world):
    hook = world.hook()
    event = world.publish("order.paid", {"order": 7})
    world.publish("user.created")
    world.wait_done(event["id"], hook)
    listed = rows(cli.text("events", "list", "--tenant", world.tenant, "--type", "order.paid",
                           "--from", "1h"))
    assert [row[:2] for row in listed] == [[event["id"], "order.paid"]]
    assert cli.text("events", "list", "--tenant", world.tenant, "--to", "1h") == "Nothing found.\n"
    shown = cli.text("events", "get", event["id"])
    assert "DELIVERY" in shown and hook.id in shown and "succeeded" in shown
    assert cli.json("events", "get", event["id"])["data"] == {"order": 7}


def test_a_delivery_is_shown_with_every_attempt(cli, world):
    hook = world.hook("flaky", Reply(503), Reply(200), retry_config=FAST)
    event = world.publish()
    delivery = world.wait_done(event["id"], hook)
    listed = rows(cli.text("deliveries", "list", "--event", event["id"]))
    assert listed[0][:2] == [delivery["id"], "succeeded"]
    lines = cli.text("deliveries", "get", delivery["id"]).splitlines()
    title = next(number for number, line in enumerate(lines) if line.startswith("ATTEMPT"))
    assert [line.split()[:3] for line in lines[title + 1:]] == [
        ["1", "failed", "503"], ["2", "succeeded", "200"]]


def test_the_circuit_and_what_it_blocked_are_shown(cli, world):
    hook = world.hook()
    cli.text("webhooks", "circuit", hook.id, "force-open")
    event = world.publish()
    delivery = world.wait_blocked(event["id"], hook)
    health = " ".join(cli.text("webhooks", "health", hook.id).split())
    assert "circuit.state open" in health and "circuit.times_opened 1" in health
    assert "circuit.calls_in_window 0" in health
    lines = cli.text("deliveries", "get", delivery["id"]).splitlines()
    title = next(number for number, line in enumerate(lines) if line.startswith("BLOCKED BY"))
    reason, cause, since = lines[title + 1].split()[:3]
    assert (reason, cause) == ("circuit", "forced")
    # A circuit counts by a clock that does not jump. It may differ from the wall clock by a moment.
    assert abs(seconds(since) - seconds(delivery["created_at"])) < 0.01


def test_attempt_urls_are_shown_if_the_webhook_url_has_changed(cli, world):
    hook = world.hook("old", Reply(503), retry_config=SLOW)
    event = world.publish()
    delivery = world.wait_status(event["id"], hook, "retrying")
    assert "URL" not in cli.text("deliveries", "get", delivery["id"])
    elsewhere = world.receiver.url(world.path("new"))
    world.api.patch(f"/v1/webhooks/{hook.id}", {"url": elsewhere})
    cli.text("deliveries", "retry", delivery["id"])
    world.wait_done(event["id"], hook)
    shown = cli.text("deliveries", "get", delivery["id"])
    assert f"request.url {elsewhere}" in " ".join(shown.split())
    assert [line.split()[-1] for line in shown.splitlines()[-3:]] == [
        "URL", world.receiver.url(hook.path), elsewhere]


def test_a_delivery_is_cancelled_and_retried(cli, world):
    hook = world.hook("down", Reply(503), retry_config=SLOW)
    event = world.publish()
    waiting = world.wait_status(event["id"], hook, "retrying")
    cli.text("deliveries", "cancel", waiting["id"])
    assert world.wait_done(event["id"], hook)["status"] == "cancelled"
    stderr = cli.refused("deliveries", "cancel", waiting["id"])
    assert "409" in stderr and "current state" in stderr

    world.receiver.on(hook.path, Reply(200))
    answer = cli.json("deliveries", "retry", waiting["id"], "--priority", "high")
    assert answer["delivery_id"] == waiting["id"]
    assert world.wait_status(event["id"], hook, "succeeded")


def test_dead_letters_are_listed_and_retried_individually(cli, world):
    hook = world.hook("gone", Reply(404))
    event = world.publish("order.lost")
    dead = world.wait_status(event["id"], hook, "dead_letter")
    listed = rows(cli.text("dlq", "list", "--webhook", hook.id, "--classification", "permanent",
                           "--age", "lt_1h"))
    assert listed[0][0] == dead["id"] and "permanent_client_error_404" in listed[0]
    assert cli.text("dlq", "list", "--webhook", hook.id, "--category", "dns") == "Nothing found.\n"
    world.receiver.on(hook.path, Reply(200))
    cli.text("dlq", "retry", dead["id"])
    assert world.wait_status(event["id"], hook, "succeeded")


# ---------------------------------------------------------------- errors

def test_a_refusal_is_printed_with_advice_and_exits_with_1(cli, server):
    stderr = cli.refused("webhooks", "create", "ftp://example.com/")
    assert "422" in stderr and "url: " in stderr
    assert "--key" in Cli(server.port, key="wrong").refused("webhooks", "list")
    assert "POSTRIDER_SERVER" in Cli(1).refused("webhooks", "list")
    assert "400" in cli.refused("webhooks", "get", "../../healthz"), "an id is never a path"


def test_json_output_contains_the_servers_problem_document(cli):
    code, stdout, stderr = cli.run("webhooks", "get", "whk_nothing", "--json")
    assert code == 1 and json.loads(stdout)["code"] == "not_found"
    assert stderr.startswith("postrider: ")


@pytest.mark.parametrize("arguments, name", [
    (["webhooks"], "webhooks"),
    (["webhooks", "lst"], "lst"),
    (["webhooks", "get"], "ID"),
    (["webhooks", "update", "whk_1"], "Nothing to change"),
    (["webhooks", "create", "https://a.example", "--data", "[1]"], "--data"),
    (["webhooks", "create", "https://a.example", "--data", "@/no/such/file"], "/no/such/file"),
    (["webhooks", "create", "https://a.example", "--header", "no colon"], "--header"),
    (["events", "list", "--from", "yesterday"], "--from"),
    (["dlq", "retry-batch"], "--all"),
    (["dlq", "discard"], "--all"),
    (["webhooks", "circuit", "whk_1", "open"], "force-open"),
    (["webhooks", "circuit", "whk_1", "force-open", "--for", "soon"], "--for"),
    (["replay", "whk_1"], "--since"),
    (["replay", "whk_1", "--since", "soon"], "--since"),
    (["keys", "create", "--scope", "root"], "--scope"),
])
def test_wrong_usage_is_named_and_exits_with_2(cli, arguments, name):
    assert name in cli.refused(*arguments, code=2)
