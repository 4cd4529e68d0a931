"""A response that ends before it is complete does not count as delivered (RFC 9112, section 8)."""

import pytest

from receiver import Raw, Reply
from world import FAST

OK_LINE = b"HTTP/1.1 200 OK\r\n"
CUT = {
    "length": (b"Content-Length: 10\r\n\r\nhalf", "4 of the 10 bytes of its body arrived"),
    "large": (b"Content-Length: 1000000\r\n\r\n" + b"b" * 5_000,
              "5000 of the 1000000 bytes of its body arrived"),
    "chunk": (b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel", "the last chunk of its body"),
    "last chunk": (b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                   "the last chunk of its body"),
}
COMPLETE = {
    "until close": OK_LINE + b"Connection: close\r\n\r\nbye",
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\n\r\nbye",
    "no content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "larger than what is read": (OK_LINE + b"Content-Length: 1000000\r\n\r\n" + b"b" * 200_000),
}


@pytest.mark.parametrize("name", CUT)
def test_a_cut_response_is_a_failure_and_is_retried(world, name):
    rest, missing = CUT[name]
    hook = world.hook("hook", Raw(OK_LINE + rest), Reply(), retry_config=FAST)
    event = world.publish()["id"]
    delivery = world.wait_done(event, hook)
    assert (delivery["status"], delivery["attempt_count"]) == ("succeeded", 2)
    second, first = world.api.all(f"/v1/webhooks/{hook.id}/attempts")
    assert (first["status"], first["failure_category"]) == ("failed", "network")
    assert first["http_status"] == 200
    assert missing in first["error_message"]
    assert second["status"] == "succeeded"


@pytest.mark.parametrize("name", COMPLETE)
def test_a_response_without_a_length_or_that_is_not_read_further_counts(world, name):
    hook = world.hook("hook", Raw(COMPLETE[name]), retry_config=FAST)
    delivery = world.wait_done(world.publish()["id"], hook)
    assert (delivery["status"], delivery["attempt_count"]) == ("succeeded", 1)


def test_lax_responses_accept_a_cut_body_but_no_cut_head(own_server, make_world):
    world = make_world(own_server("--set", "lax_responses=true").start())
    for number, (rest, _) in enumerate(CUT.values()):
        hook = world.hook(f"cut{number}", Raw(OK_LINE + rest), retry_config=FAST)
        delivery = world.wait_done(world.publish()["id"], hook)
        assert (delivery["status"], delivery["attempt_count"]) == ("succeeded", 1)
        world.api.delete(f"/v1/webhooks/{hook.id}")
    hook = world.hook("head", Raw(OK_LINE + b"Content-"), Reply(), retry_config=FAST)
    delivery = world.wait_done(world.publish()["id"], hook)
    assert delivery["attempt_count"] == 2


def tls_world(own_server, make_world, tls_receiver, *arguments):
    """A world whose receiver speaks TLS. The server trusts its certificate."""
    certificate = tls_receiver.certificate
    server = own_server(*arguments, environment={"SSL_CERT_FILE": str(certificate)}).start()
    world = make_world(server)
    world.receiver = tls_receiver
    return world


@pytest.mark.parametrize("abort", [False, True])
def test_a_body_without_length_over_tls_ends_with_close_notify(
        own_server, make_world, tls_receiver, abort):
    world = tls_world(own_server, make_world, tls_receiver)
    hook = world.hook("hook", Raw(OK_LINE + b"\r\nbye", abort), Reply(), retry_config=FAST)
    delivery = world.wait_done(world.publish()["id"], hook)
    assert (delivery["status"], delivery["attempt_count"]) == ("succeeded", 2 if abort else 1)


def test_lax_responses_need_no_close_notify(own_server, make_world, tls_receiver):
    world = tls_world(own_server, make_world, tls_receiver, "--set", "lax_responses=true")
    hook = world.hook("hook", Raw(OK_LINE + b"\r\nbye", True), retry_config=FAST)
    delivery = world.wait_done(world.publish()["id"], hook)
    assert (delivery["status"], delivery["attempt_count"]) == ("succeeded", 1)
