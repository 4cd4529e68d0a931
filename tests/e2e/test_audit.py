"""The audit log: who changed what, in a hash chain that reveals edits."""

import concurrent.futures
import contextlib
import http.client

from harness import wait_for
from receiver import Reply
from secret_checks import in_database


def test_changes_are_logged_with_who_made_them_and_without_secrets(world):
    api = world.api
    hook = world.hook()
    secret = "hunter2-hunter2-hunter2-hunter2"
    api.patch(f"/v1/webhooks/{hook.id}", {"secret": secret, "name": "new"},
                headers={"X-Request-Id": "req-of-the-test"})
    api.post(f"/v1/webhooks/{hook.id}/pause")
    api.delete(f"/v1/webhooks/{hook.id}")
    entries = api.all(f"/v1/audit-log?subject={hook.id}")
    assert [entry["action"] for entry in entries] == \
        ["webhook.delete", "webhook.pause", "webhook.update", "webhook.create"]
    update = entries[2]
    assert update["detail"] == {"fields": ["secret", "name"]}
    assert update["request_id"] == "req-of-the-test"
    assert update["remote_ip"] == "127.0.0.1"
    assert update["actor"].startswith("key_") and update["actor_name"] == "POSTRIDER_ADMIN_KEY"
    assert update["tenant_id"] == world.tenant
    assert secret not in str(entries)
    assert api.all(f"/v1/audit-log?subject={hook.id}&action=webhook.pause") == [entries[1]]
    assert api.all(f"/v1/audit-log?subject={hook.id}&actor=key_nobody") == []
    since = [entry for entry in entries if entry["at"] >= update["at"]]
    assert api.all(f"/v1/audit-log?tenant_id={world.tenant}&from={update['at']}") == since


def test_only_delivery_actions_that_took_effect_are_logged(world):
    hook = world.hook("hook", Reply(404))
    event = world.publish()
    dead = world.wait_done(event["id"], hook)
    path = f"/v1/deliveries/{dead['id']}"
    assert world.api.request("POST", path + "/cancel").status == 409
    world.api.post(path + "/retry", expect=202)
    entries = world.api.all(f"/v1/audit-log?subject={dead['id']}")
    assert [entry["action"] for entry in entries] == ["delivery.retry"]
    assert entries[0]["tenant_id"] == world.tenant


def test_automatic_changes_are_logged_with_the_system_as_actor(world):
    hook = world.hook("hook", Reply(410))
    world.publish()

    def disabled():
        return world.api.all(f"/v1/audit-log?subject={hook.id}&action=webhook.disable")
    [entry] = wait_for(disabled, "the entry about the disabled webhook")
    assert entry["actor"] == "system"
    assert "410" in entry["detail"]["reason"]
    assert world.api.get(f"/v1/webhooks/{hook.id}")["active"] is False


def test_an_edited_audit_log_fails_verification(own_server):
    server = own_server().start()
    api = server.api()
    for number in range(5):
        api.post("/v1/tenants", {"id": f"t{number}"}, expect=201)
    before = api.get("/v1/audit-log/verify")
    assert before["holds"] is True and before["checked"] == 6, before
    api.close()
    server.kill()
    server.start()
    api = server.api()
    after = api.get("/v1/audit-log/verify")
    assert after == before
    assert api.get("/v1/audit-log?limit=1")["data"][0]["hash"] == before["head"]
    api.close()
    server.stop()
    in_database(server, "UPDATE audit_entry SET subject = 't9' WHERE sequence = 4")
    server.start()
    api = server.api()
    edited = api.get("/v1/audit-log/verify")
    assert edited["holds"] is False and edited["broken_at"] == 4, edited
    api.close()


def test_a_change_and_its_entry_are_stored_together_or_not_at_all(own_server):
    server = own_server().start()
    answered = []

    def create_tenants():
        client = server.api()
        with contextlib.suppress(OSError, http.client.HTTPException):
            while True:
                answered.append(client.post("/v1/tenants", {}, expect=201)["id"])

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(create_tenants)
        wait_for(lambda: len(answered) >= 20, "twenty tenants")
        server.kill()
    server.start()
    api = server.api()
    tenants = {tenant["id"] for tenant in api.all("/v1/tenants")}
    entries = {entry["subject"] for entry in api.all("/v1/audit-log?action=tenant.create")}
    assert tenants == entries
    assert set(answered) <= tenants
    assert api.get("/v1/audit-log/verify")["holds"] is True
    api.close()
