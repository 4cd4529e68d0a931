"""`postrider keys` against the real server."""

from cli import Cli


def test_a_key_is_created_used_listed_and_revoked(server):
    admin = Cli(server.port)
    made = admin.json("keys", "create", "--scope", "read", "--name", "cli reader")
    reader = Cli(server.port, key=made["key"])
    assert "data" in reader.json("webhooks", "list")
    stderr = reader.refused("webhooks", "create", "https://example.com/")
    assert "403" in stderr and "keys list" in stderr

    line = next(line for line in admin.text("keys", "list", "--limit", "250").splitlines()
                if line.startswith(made["id"]))
    assert "cli reader" in line and "read" in line and made["key"] not in line

    assert admin.text("keys", "revoke", made["id"]) == f"{made['id']} revoked.\n"
    assert "401" in reader.refused("webhooks", "list")


def test_a_tenant_key_sees_only_its_tenants_webhooks(server, world):
    hook = world.hook()
    made = Cli(server.port).json("keys", "create", "--tenant", world.tenant)
    tenant = Cli(server.port, key=made["key"])
    assert [item["id"] for item in tenant.json("webhooks", "list")["data"]] == [hook.id]
    Cli(server.port).text("keys", "revoke", made["id"])
