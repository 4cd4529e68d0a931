"""Secrets on disk: sealed if a key is configured, unreadable without it."""

import base64
import os
import re

import pytest

from secret_checks import bytes_on_disk, in_database, key_of, signature, signatures

SECRET = "whsec_" + base64.b64encode(b"canary-secret-canary-secret!").decode()
HEADER = "Bearer canary-header-canary-header"


def new_key():
    return base64.b64encode(os.urandom(32)).decode()


def with_key(*keys):
    return {"POSTRIDER_SECRETS_KEY": ",".join(keys)}


def make_hook(world):
    return world.hook(secret=SECRET, headers={"Authorization": HEADER})


def secrets_readable_on_disk(server):
    written = bytes_on_disk(server)
    return key_of(SECRET) in written or HEADER.encode() in written


def assert_delivers(server, world, hook):
    """Publishes an event and checks that the secrets are unchanged."""
    world.api = server.api()
    before = world.receiver.count(hook.path)
    world.publish()
    request = world.wait_requests(hook, before + 1)[-1]
    assert signature(SECRET, request) in signatures(request)
    assert request.header("authorization") == HEADER


def startup_error(server):
    """Launches a server that must exit with 2. Returns its one-line error."""
    server.launch()
    assert server.wait() == 2
    errors = [line for line in server.stderr_file.read_text().splitlines()
              if line.startswith("postrider: ")]
    assert len(errors) == 1, server.output()
    return errors[0]


def test_without_a_key_secrets_are_stored_in_plain_text_with_one_warning(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    make_hook(world)
    world.api.post("/v1/secrets/rotate-key", expect=409)
    server.stop()
    assert server.output().count("secrets.plain") == 1
    assert secrets_readable_on_disk(server)
    assert in_database(server, "SELECT sealed FROM webhook") == [(0,)]


def test_with_a_key_no_secret_is_readable_on_disk(own_server, make_world):
    server = own_server(environment=with_key(new_key())).start()
    world = make_world(server)
    hook = make_hook(world)
    world.api.post(f"/v1/webhooks/{hook.id}/secret/rotate")
    assert not secrets_readable_on_disk(server)
    server.kill()
    assert not secrets_readable_on_disk(server)
    assert "secrets.plain" not in server.output()
    server.start()
    assert_delivers(server, world, hook)


def test_a_key_added_later_seals_existing_secrets(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = make_hook(world)
    server.stop()
    assert secrets_readable_on_disk(server)
    server.environment.update(with_key(new_key()))
    server.start()
    assert not secrets_readable_on_disk(server)
    assert_delivers(server, world, hook)


@pytest.mark.parametrize("later", [{}, with_key(new_key())], ids=["missing", "wrong"])
def test_without_the_right_key_the_server_refuses_to_start(own_server, make_world, later):
    key = new_key()
    server = own_server(environment=with_key(key)).start()
    world = make_world(server)
    hook = make_hook(world)
    server.stop()
    del server.environment["POSTRIDER_SECRETS_KEY"]
    server.environment.update(later)
    sentence = startup_error(server)
    assert "key" in sentence and "--secrets-key-file" in sentence
    server.environment.update(with_key(key))
    server.start()
    assert_delivers(server, world, hook)


def test_the_key_is_rotated_while_the_server_runs(own_server, make_world, tmp_path):
    old, new = new_key(), new_key()
    file = tmp_path / "key"
    file.write_text(old + "\n")
    server = own_server("--secrets-key-file", str(file)).start()
    world = make_world(server)
    hooks = [world.hook(f"hook-{number}", secret=SECRET) for number in range(120)]
    assert world.api.post("/v1/secrets/rotate-key") == {"webhooks_resealed": 0}

    file.write_text(new)
    refused = world.api.post("/v1/secrets/rotate-key", expect=422)
    assert "is in use. Keep it" in refused["detail"]
    file.write_text(f"# the new one first\n{new}\n{old}\n")
    assert world.api.post("/v1/secrets/rotate-key") == {"webhooks_resealed": 120}
    assert world.api.post("/v1/secrets/rotate-key") == {"webhooks_resealed": 0}
    server.stop()

    file.write_text(new)  # The old key is no longer needed.
    server.start()
    world.api = server.api()
    assert len(world.api.all("/v1/webhooks")) == 120
    assert world.api.get(f"/v1/webhooks/{hooks[-1].id}/secret")["secret"] == SECRET


def test_a_new_key_takes_effect_at_the_next_start(own_server, make_world, tmp_path):
    old, new = new_key(), new_key()
    file = tmp_path / "key"
    file.write_text(old)
    server = own_server("--secrets-key-file", str(file)).start()
    world = make_world(server)
    hook = world.hook(secret=SECRET, headers={"Authorization": HEADER})
    server.stop()
    file.write_text(f"{new},{old}")
    server.start()
    server.stop()
    file.write_text(new)
    server.start()
    assert_delivers(server, world, hook)


def test_a_sealed_value_moved_to_another_webhook_is_detected(own_server, make_world):
    server = own_server(environment=with_key(new_key())).start()
    world = make_world(server)
    world.hook("first")
    world.hook("second")
    server.stop()
    in_database(server, "UPDATE webhook SET secret = (SELECT secret FROM webhook"
                " ORDER BY id LIMIT 1)")
    assert "damaged or was moved" in startup_error(server)


@pytest.mark.parametrize("text", ["", "sh0rt-k3y", "x" * 44, "0" * 63])
def test_an_invalid_key_file_is_refused_without_printing_its_content(own_server, tmp_path, text):
    file = tmp_path / "key"
    file.write_text(text)
    server = own_server("--secrets-key-file", str(file))
    sentence = startup_error(server)
    assert re.search("32 bytes in base64", sentence)
    assert not text or text not in server.output()


def test_a_missing_key_file_is_refused(own_server, tmp_path):
    server = own_server("--secrets-key-file", str(tmp_path / "nowhere"))
    assert "cannot be read" in startup_error(server)


def test_a_key_in_both_file_and_environment_is_refused(own_server, tmp_path):
    server = own_server("--secrets-key-file", str(tmp_path / "key"),
                        environment=with_key(new_key()))
    server.launch()
    assert server.wait() == 2
    assert "not in both" in server.output()
