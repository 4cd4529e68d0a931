"""`postrider channels` against the real server."""

from cli import Cli


def test_a_channel_is_created_changed_tested_and_deleted(server, receiver):
    admin = Cli(server.port)
    made = admin.json("channels", "create", "--kind", "email", "--name", "cli mail", "--to",
                      "a@b.example", "--to", "c@d.example", "--only", "circuit_opened",
                      "--severity", "warning", "--per-hour", "5", "--no-resolved")
    assert made["target"]["to"] == ["a@b.example", "c@d.example"]
    assert (made["kinds"], made["severity_min"]) == (["circuit_opened"], "warning")
    assert (made["per_hour_max"], made["send_resolved"]) == (5, False)
    line = next(line for line in admin.text("channels", "list", "--limit", "250").splitlines()
                if line.startswith(made["id"]))
    assert "cli mail" in line and "email" in line
    changed = admin.json("channels", "update", made["id"], "--to-contacts", "--inactive")
    assert changed["target"]["to"] == ["a@b.example", "c@d.example"]
    assert changed["target"]["to_contacts"] and not changed["active"]
    assert "Nothing to change" in admin.refused(
        "channels", "update", made["id"], code=2)
    assert "cli mail" in admin.text("channels", "show", made["id"])
    assert admin.text("channels", "delete", made["id"]) == f"{made['id']} deleted.\n"
    assert "404" in admin.refused("channels", "show", made["id"])

    hook = admin.json("channels", "create", "--kind", "webhook", "--name", "cli hook", "--url",
                      receiver.url("/cli"), "--tenant", "cli-channels")
    assert (hook["tenant_id"], hook["target"]["url"]) == ("cli-channels", receiver.url("/cli"))
    assert [each["id"] for each in admin.json(
        "channels", "list", "--tenant", "cli-channels", "--kind", "webhook")["data"]] == [
            hook["id"]]
    sent = admin.json("channels", "test", hook["id"])
    assert (sent["kind"], sent["channel_id"]) == ("test", hook["id"])
    listed = admin.json("channels", "notifications", hook["id"])["data"]
    assert [each["id"] for each in listed] == [sent["id"]]
    assert admin.json("channels", "notifications", hook["id"], "--state", "held_back")["data"] == []
    assert sent["id"] in admin.text("channels", "notifications", hook["id"])
    admin.text("channels", "delete", hook["id"])


def test_a_webhook_has_an_owner(server, receiver):
    admin = Cli(server.port)
    made = admin.json("webhooks", "create", receiver.url("/owned"), "--owner-email", "o@b.example",
                      "--tenant", "cli-owner")
    assert made["owner_email"] == "o@b.example"
    changed = admin.json("webhooks", "update", made["id"], "--owner-email", "p@b.example")
    assert changed["owner_email"] == "p@b.example"
