"""The command line: errors are one sentence and exit code 2; secrets are not printed."""

import os
import re
import socket

import pytest

from harness import ADMIN_KEY, run_command, wait_for
from receiver import Reply
from secret_checks import bytes_on_disk
from world import FAST

SECRET = "whsec_Y2FuYXJ5LWNhbmFyeS1jYW5hcnktY2FuYXJ5LTEyMw=="
HEADER_SECRET = "header-canary-5f2b"


def check_mistake(result, *names):
    code, stdout, stderr = result
    lines = stderr.strip().splitlines()
    assert code == 2, result
    assert 1 <= len(lines) <= 2, stderr  # One sentence and at most a hint to --help.
    for name in names:
        assert name in lines[0], stderr
    assert "Traceback" not in stderr and "what()" not in stderr and "terminate" not in stderr


@pytest.mark.parametrize("arguments, name", [
    (["serve", "--no-such-flag"], "--no-such-flag"),
    (["no-such-command"], "no-such-command"),
    (["serve", "--listen", "nonsense"], "nonsense"),
    (["serve", "--listen", "127.0.0.1:99999"], "99999"),
    (["serve", "--listen"], "--listen"),
    (["serve", "--drain-timeout", "soon"], "soon"),
    (["serve", "--log-level", "loud"], "loud"),
])
def test_a_wrong_flag_is_named(tmp_path, arguments, name):
    check_mistake(run_command(*arguments, directory=tmp_path), name)
    assert os.listdir(tmp_path) == [], "nothing was created"


def test_a_data_directory_that_cannot_be_created_is_named(tmp_path):
    file = tmp_path / "file"
    file.write_text("not a directory")
    path = str(file / "data")
    check_mistake(run_command("serve", "--data", path, "--listen", "127.0.0.1:0"), path)


def test_a_file_that_is_not_a_database_is_not_modified(tmp_path):
    database = tmp_path / "postrider.db"
    database.write_bytes(b"precious notes, not a database" * 100)
    code, _, stderr = run_command("serve", "--data", str(tmp_path), "--listen", "127.0.0.1:0")
    assert code == 2 and stderr.strip()
    assert database.read_bytes().startswith(b"precious notes")


@pytest.mark.embedded_store("the lock is on the data directory")
def test_a_data_directory_in_use_is_refused(own_server):
    server = own_server().start()
    check_mistake(run_command("serve", "--data", str(server.data), "--listen", "127.0.0.1:0"),
                  str(server.data))
    assert server.api().request("GET", "/readyz").status == 200


def test_a_port_in_use_is_named(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        check_mistake(run_command("serve", "--data", str(tmp_path / "data"),
                                  "--listen", f"127.0.0.1:{port}"), port)


def test_two_servers_do_not_share_a_port(own_server, tmp_path):
    server = own_server().start()
    check_mistake(run_command("serve", "--data", str(tmp_path / "other"),
                              "--listen", f"127.0.0.1:{server.port}"), str(server.port))


@pytest.mark.parametrize("arguments", [["--help"], ["serve", "--help"], ["--version"]])
def test_help_and_version_go_to_stdout(arguments):
    code, stdout, stderr = run_command(*arguments)
    assert (code, stderr) == (0, "")
    assert re.search(r"\d+\.\d+\.\d+" if arguments == ["--version"] else "--listen|serve", stdout)


def test_secrets_do_not_appear_in_logs_or_answers(own_server, make_world):
    server = own_server("--log-level", "trace").start()
    world = make_world(server)
    hook = world.hook("hook", Reply(500), Reply(404), secret=SECRET, retry_config=FAST,
                      headers={"Authorization": f"Bearer {HEADER_SECRET}"})
    assert hook.secret == SECRET, "shown once, when it is created"
    event = world.publish(data={"password": "payload-canary"})
    delivery = world.wait_done(event["id"], hook)
    assert world.requests(hook)[0].header("authorization") == f"Bearer {HEADER_SECRET}"

    answers = [world.api.request("GET", path) for path in (
        "/v1/webhooks", f"/v1/webhooks/{hook.id}", f"/v1/webhooks/{hook.id}/health",
        f"/v1/webhooks/{hook.id}/deliveries", f"/v1/deliveries/{delivery['id']}",
        "/v1/deliveries", "/v1/dlq", "/metrics", "/")]
    answers.append(world.api.request("PATCH", f"/v1/webhooks/{hook.id}", {"name": "x"}))
    for answer in answers:
        assert answer.status == 200
        for secret in (SECRET, SECRET[6:30], HEADER_SECRET, ADMIN_KEY):
            assert secret.encode() not in answer.body
    wrong_key = server.api(key="wrong-key-canary")
    assert wrong_key.request("GET", "/v1/webhooks").status == 401
    server.stop()
    output = server.output()
    assert "delivery.attempted" in output and hook.id in output, "attempts are logged"
    for secret in (SECRET, SECRET[6:30], HEADER_SECRET, ADMIN_KEY, "payload-canary",
                   "wrong-key-canary"):
        assert secret not in output
    assert ADMIN_KEY.encode() not in bytes_on_disk(server), "keys are stored as hashes"


def test_control_characters_in_hostile_text_do_not_forge_log_lines(own_server, make_world):
    server = own_server().start()
    world = make_world(server)
    hook = world.hook("hook", Reply(500, body=b"line\nlevel=error forged\x1b[31m",
                                    headers=(("X-Evil", "a\tb"),)),
                      Reply(), retry_config=FAST, name="name\u2028level=error forged")
    event = world.publish(resource_id="r\u2028level=error forged")
    wait_for(lambda: world.delivery(event["id"], hook)["status"] == "succeeded", "the delivery")
    server.stop()
    log = server.stderr_file.read_text()
    assert log.count("delivery.attempted") == 2
    assert "\x1b" not in log and "\u2028" not in log
    for line in log.splitlines():
        assert re.match(r"\d{4}-\d\d-\d\dT", line), f"a forged line: {line}"
        assert " level=error " not in line, f"a forged level: {line}"
