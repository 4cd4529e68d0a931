"""A failing receiver does not affect other webhooks (P5)."""

import socket

from world import SLOW


def test_a_hanging_webhook_does_not_delay_others(world):
    hanging = world.hook("hanging", max_in_flight=5)
    world.receiver.hold(hanging.path)
    dead_port = socket.socket()
    dead_port.bind(("127.0.0.1", 0))  # Bound, not listening: connections are refused.
    world.hook("dead", url=f"http://127.0.0.1:{dead_port.getsockname()[1]}/", retry_config=SLOW)
    healthy = [world.hook(f"healthy-{number}") for number in range(4)]
    for start in range(0, 300, 100):
        world.publish_batch([{"type": "a.b", "data": {"n": number}}
                             for number in range(start, start + 100)])
    for hook in healthy:
        world.wait_requests(hook, 300)
        assert sorted(world.numbers(hook)) == list(range(300))
    # No attempt to the hanging receiver has ended: the others did not wait for it.
    assert len(world.requests(hanging)) == 5
    assert all(request.ended is None for request in world.requests(hanging))
    dead_port.close()
