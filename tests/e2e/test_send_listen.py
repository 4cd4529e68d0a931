"""`postrider send` and `postrider listen`: a publisher and a receiver on the command line."""

import json
import re
import signal
import subprocess

import pytest

from harness import ADMIN_KEY, BINARY, DEADLINE, run_command, wait_for
from world import FAST

SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXY="
OTHER_SECRET = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"


@pytest.fixture
def listen(tmp_path):
    """Starts `postrider listen`. Returns (process, port, function that reads its output)."""
    started = []

    def start(*arguments):
        output = tmp_path / f"listen.{len(started)}"
        with output.open("wb") as sink:
            process = subprocess.Popen([BINARY, "listen", "--port", "0", "--json", *arguments],
                                       stdin=subprocess.DEVNULL, stdout=sink,
                                       stderr=subprocess.STDOUT)
        started.append(process)
        found = wait_for(lambda: re.search(r"127\.0\.0\.1:(\d+)", output.read_text()),
                         "the receiver's address")
        return process, int(found.group(1)), lambda: [
            json.loads(line) for line in output.read_text().splitlines()]
    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()


def send(world, *arguments, key=ADMIN_KEY):
    return run_command("send", "--server", f"http://127.0.0.1:{world.api.port}", "--key", key,
                       "--tenant", world.tenant, *arguments)


def test_listen_receives_what_send_publishes_and_verifies_the_signature(world, listen):
    process, port, lines = listen("--secret", SECRET, "--count", "1")
    world.hook(url=f"http://127.0.0.1:{port}/hook", secret=SECRET)
    code, stdout, stderr = send(world, "--type", "order.paid", "--data", '{"order": 17}', "--json")
    assert (code, stderr) == (0, "")
    assert process.wait(DEADLINE) == 0
    webhook = next(line for line in lines() if "webhook_id" in line)
    assert webhook["webhook_id"] == json.loads(stdout)["id"]
    assert (webhook["event_type"], webhook["signature"]) == ("order.paid", "valid")
    assert webhook["body"]["data"] == {"order": 17}


@pytest.mark.parametrize("scheme", ["t-v1", "sha256-timestamp", "sha256-body"])
@pytest.mark.parametrize("rotated", [False, True])
def test_listen_takes_the_text_of_a_secret_also_during_a_rotation(world, listen, scheme, rotated):
    text = "whsec_is just text"
    process, port, lines = listen("--secret", text, "--count", "1")
    first = {} if rotated else {"secret": text}
    hook = world.hook(url=f"http://127.0.0.1:{port}/", signature={"scheme": scheme}, **first)
    if rotated:
        world.api.post(f"/v1/webhooks/{hook.id}/secret/rotate", {"secret": text})
    world.publish()
    assert process.wait(DEADLINE) == 0
    webhook = next(line for line in lines() if "webhook_id" in line)
    assert (webhook["signature"], webhook["scheme"]) == ("valid", scheme)


def test_listen_answers_a_wrong_signature_with_401_and_exits_with_1(world, listen):
    process, port, lines = listen("--secret", OTHER_SECRET, "--count", "1")
    hook = world.hook(url=f"http://127.0.0.1:{port}/hook", secret=SECRET)
    event = world.publish()
    assert world.wait_done(event["id"], hook)["attempts"][0]["http_status"] == 401
    assert process.wait(DEADLINE) == 1
    assert [line["signature"] for line in lines() if "webhook_id" in line] == ["wrong"]


def test_listen_with_a_failing_status_makes_the_server_retry(world, listen):
    process, port, lines = listen("--status", "503", "--count", "3")
    world.hook(url=f"http://127.0.0.1:{port}/hook", retry_config=FAST)
    world.publish()
    assert process.wait(DEADLINE) == 0
    assert [line["attempt"] for line in lines() if "webhook_id" in line] == ["1", "2", "3"]


def test_listen_exits_with_0_on_ctrl_c(listen):
    process, _, _ = listen()
    process.send_signal(signal.SIGINT)
    assert process.wait(DEADLINE) == 0


def test_send_reads_data_from_standard_input_or_a_file(world, tmp_path):
    file = tmp_path / "data.json"
    file.write_text('{"from": "file"}')
    hook = world.hook()
    for argument, stdin in (("-", '{"from": "stdin"}'), (f"@{file}", None)):
        code, _, stderr = run_command(
            "send", "--server", f"http://127.0.0.1:{world.api.port}", "--tenant", world.tenant,
            "--type", "a.b", "--data", argument, stdin=stdin)
        assert code == 0, stderr
    sources = {json.loads(request.body)["data"]["from"] for request in world.wait_requests(hook, 2)}
    assert sources == {"stdin", "file"}


@pytest.mark.parametrize("arguments, key, code", [
    (["--type", "a..b"], ADMIN_KEY, 1),          # Refused by the server.
    (["--type", "a.b"], "wrong", 1),
    (["--type", "a.b", "--data", "{oops"], ADMIN_KEY, 2),
    (["--type", "a.b", "--data", "@/no/such/file"], ADMIN_KEY, 2),
    (["--data", "1"], ADMIN_KEY, 2),
])
def test_a_failed_send_prints_a_short_reason(world, arguments, key, code):
    result = send(world, *arguments, key=key)
    assert result[0] == code, result
    assert 1 <= len(result[2].strip().splitlines()) <= 2, result


def test_send_reports_an_unreachable_server(tmp_path):
    code, _, stderr = run_command("send", "--server", "http://127.0.0.1:1", "--type", "a.b",
                                  "--data", "1")
    assert code == 1
    assert len(stderr.strip().splitlines()) == 1 and "127.0.0.1" in stderr
