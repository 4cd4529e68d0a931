"""Dead letters in groups: by webhook, cause, event type and age."""

from operations import make_dead_letters
from receiver import Reply

NO_BREAKER = {"circuit_breaker_config": {"enabled": False}}


def groups(world, by, query=""):
    return world.api.get(f"/v1/dlq/groups?by={by}&tenant_id={world.tenant}{query}")


def test_groups_add_up_to_the_dead_letters(world):
    gone = world.hook("gone", Reply(404), events=["a.*"], **NO_BREAKER)
    broken = world.hook("broken", Reply(500), events=["b.*"], name="<b>broken</b>",
                        retry_config={"max_attempts": 1}, **NO_BREAKER)
    make_dead_letters(world, gone, 2, type="a.one")
    make_dead_letters(world, broken, 3, type="b.two")
    by_webhook = groups(world, "webhook")
    assert [(group["key"], group["count"]) for group in by_webhook["data"]] == [
        (broken.id, 3), (gone.id, 2)]
    assert by_webhook["data"][0]["webhook_name"] == "<b>broken</b>"
    assert (by_webhook["groups"], by_webhook["total"], by_webhook["more"]) == (2, 5, False)
    listed = world.api.all(f"/v1/dlq?webhook_id={broken.id}")
    assert by_webhook["data"][0]["oldest_at"] == min(item["completed_at"] for item in listed)
    assert by_webhook["data"][0]["newest_at"] == max(item["completed_at"] for item in listed)
    for by, wanted in {"failure_category": {"server_error": 3, "client_error": 2},
                       "classification": {"recoverable": 3, "permanent": 2},
                       "event_type": {"b.two": 3, "a.one": 2}, "age": {"lt_1h": 5}}.items():
        found = groups(world, by)
        assert {group["key"]: group["count"] for group in found["data"]} == wanted, by
    assert groups(world, "webhook", "&classification=permanent")["total"] == 2
    assert groups(world, "webhook", f"&webhook_id={gone.id}")["groups"] == 1
    world.api.delete(f"/v1/webhooks/{gone.id}")
    deleted = groups(world, "webhook", "&event_type=a.*")["data"][0]
    assert (deleted["key"], deleted["webhook_url"]) == (gone.id, None)


def test_a_retried_dead_letter_leaves_its_group(world):
    hook = world.hook("hook", Reply(404), Reply(404), Reply(200), **NO_BREAKER)
    make_dead_letters(world, hook, 2)
    letter = world.api.get(f"/v1/dlq?webhook_id={hook.id}")["data"][0]
    world.api.post(f"/v1/dlq/{letter['id']}/retry", expect=202)
    world.wait_status(letter["event_id"], hook, "succeeded")
    assert groups(world, "webhook")["total"] == 1
