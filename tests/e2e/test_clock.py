"""Deliveries are not delayed if the wall clock is set back while the server is down (P9)."""

import sqlite3

from receiver import Reply

DAY_MS = 24 * 3600 * 1000
SOON = {"base_delay_ms": 3_000, "max_delay_ms": 3_000}


def set_back_a_day(server):
    """Changes the store of a stopped server as if the clock had been a day ahead until now."""
    with sqlite3.connect(server.data / "postrider.db") as database:
        database.execute(f"UPDATE delivery SET due = due + {DAY_MS}")
        database.execute(f"UPDATE lane SET last_failure_at = last_failure_at + {DAY_MS}")


def test_a_retry_keeps_its_delay_if_the_clock_was_set_back(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(500), Reply(), retry_config=SOON)
    event = world.publish(data={})["id"]
    world.wait_status(event, hook, "retrying")
    server.stop()
    set_back_a_day(server)
    server.start()
    world.api = server.api()
    assert world.wait_done(event, hook)["status"] == "succeeded"
    assert "clock.set_back webhooks=1" in server.output()


def test_a_first_attempt_is_not_delayed_if_the_clock_was_set_back(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook")
    world.api.post(f"/v1/webhooks/{hook.id}/pause")
    event = world.publish(data={})["id"]
    server.stop()
    set_back_a_day(server)
    server.start()
    world.api = server.api()
    world.api.post(f"/v1/webhooks/{hook.id}/resume")
    assert world.wait_done(event, hook)["status"] == "succeeded"
