"""Configuration: sources, errors, --print-config and reloads."""

import json
import os
import pathlib
import re
import signal
import tomllib

import pytest

from harness import ADMIN_KEY, ROOT, run_command, wait_for


def print_config(tmp_path, text=None, *arguments, environment=None):
    if text is not None:
        file = tmp_path / "own.toml"
        file.write_text(text)
        arguments = ("--config", str(file), *arguments)
    return run_command("serve", *arguments, "--print-config", environment=environment,
                       directory=tmp_path)


def test_the_effective_configuration_is_printed_with_its_origins(tmp_path):
    code, stdout, stderr = print_config(
        tmp_path, "io_threads = 2\n[api]\nbody_bytes_max = 4096\n", "--profile", "exchange",
        "--listen", "127.0.0.1:0", environment={"POSTRIDER_LOG_LEVEL": "debug"})
    assert (code, stderr) == (0, "")
    config = tomllib.loads(stdout)
    assert config["listen"] == "127.0.0.1:0"
    assert config["log"]["level"] == "debug"
    assert config["webhooks"]["retry"]["max_attempts"] == 12
    assert len(config["event_types"]) == 9
    origin = {line.split(" = ")[0]: line.split("  # ")[-1]
              for line in stdout.splitlines() if " = " in line}
    assert origin["io_threads"].endswith("own.toml:1")
    assert origin["body_bytes_max"].endswith("own.toml:3")
    assert origin["listen"] == "flag --listen"
    assert origin["profile"] == "flag --profile"
    assert origin["level"] == "environment POSTRIDER_LOG_LEVEL"
    assert origin["user_agent"] == "profile exchange"
    assert origin["data"] == "default"
    assert sorted(os.listdir(tmp_path)) == ["own.toml"], "nothing was created"


def test_the_effective_configuration_is_printed_as_json(tmp_path):
    code, stdout, stderr = print_config(
        tmp_path, "io_threads = 2", "--profile", "exchange", "--json",
        environment={"POSTRIDER_ADMIN_KEY": "canary-admin-of-16", "POSTRIDER_KEY": "canary-key"})
    assert (code, stderr) == (0, "")
    config = json.loads(stdout)
    assert config["settings"]["io_threads"]["value"] == 2
    assert config["settings"]["io_threads"]["origin"].endswith("own.toml:1")
    assert config["settings"]["data"] == {"value": "./postrider-data", "origin": "default"}
    assert config["settings"]["webhooks.retry.max_attempts"]["value"] == 12
    assert len(config["event_types"]) == 9 and config["event_types"][0]["name"]
    assert config["secrets"]["POSTRIDER_ADMIN_KEY"] == "set, not shown"
    assert "canary" not in stdout


def test_a_longer_sleep_of_the_circuit_raises_the_longest(tmp_path):
    sleep = "[webhooks.circuit_breaker]\nsleep_window_ms = 7_200_000\n"
    for profile in ((), ("--profile", "platform")):  # This profile sets sleep_max_ms.
        code, stdout, _ = print_config(tmp_path, sleep, *profile, "--json")
        assert code == 0
        settings = json.loads(stdout)["settings"]
        assert settings["webhooks.circuit_breaker.sleep_max_ms"]["value"] == 7_200_000
    code, _, stderr = print_config(tmp_path, sleep + "sleep_max_ms = 60_000\n")
    assert code == 2
    assert "webhooks.circuit_breaker.sleep_max_ms must be at least" in stderr


def test_secrets_are_not_printed(tmp_path):
    canaries = {"POSTRIDER_ADMIN_KEY": "canary-admin-of-16",
                "POSTRIDER_SECRETS_KEY": "canary-secrets"}
    code, stdout, stderr = print_config(tmp_path, environment=canaries)
    assert code == 0
    assert "canary" not in stdout + stderr
    assert tomllib.loads(stdout)["listen"], "the other settings are printed"


@pytest.mark.parametrize("text, arguments, sentence", [
    ("\nlistn = 1", [], "own.toml:2: there is no setting `listn`; did you mean `listen`?"),
    ("io_threads = 257", [], "own.toml:1: io_threads must be an integer from 0 to 256, not 257."),
    ("[api]\nbody_bytes_max = \"1 MB\"", [], "own.toml:2: api.body_bytes_max must be an integer"),
    ("x = [", [], "own.toml:1: invalid TOML"),
    ("", ["--set", "io_treads=1"], "did you mean `io_threads`?"),
    ("io_threads = 1\nprofile = \"nope\"", [], "own.toml:2: there is no profile `nope`; use one"),
    ("", ["--profile", "nope"], "flag --profile: there is no profile `nope`; use one of exchange"),
    ("listen = \"x\"", [], "own.toml:1: `x` is not a valid listen address"),
])
def test_a_configuration_error_is_one_sentence_with_its_location(tmp_path, text, arguments,
                                                                 sentence):
    for extra in ([], ["--print-config"]):
        file = tmp_path / "own.toml"
        file.write_text(text)
        code, stdout, stderr = run_command("serve", "--config", str(file), *arguments, *extra,
                                           directory=tmp_path)
        assert (code, stdout) == (2, "")
        assert sentence in stderr
        assert len(stderr.strip().splitlines()) == 1
        assert os.listdir(tmp_path) == ["own.toml"]


def test_a_missing_file_and_a_mistyped_variable_are_named(tmp_path):
    code, _, stderr = run_command("serve", "--config", "absent.toml", directory=tmp_path)
    assert code == 2 and "absent.toml: No such file" in stderr
    code, _, stderr = run_command("serve", directory=tmp_path,
                                  environment={"POSTRIDER_LISTN": "127.0.0.1:0"})
    assert code == 2
    assert "POSTRIDER_LISTN is not a setting; did you mean POSTRIDER_LISTEN?" in stderr
    code, _, stderr = run_command("serve", directory=tmp_path,
                                  environment={"POSTRIDER_IO_THREADS": "x"})
    assert code == 2 and "POSTRIDER_IO_THREADS must be an integer from 0 to 256" in stderr


def test_settings_of_a_cluster_need_a_store(tmp_path):
    code, _, stderr = run_command("serve", "--pool", "eu", directory=tmp_path)
    assert code == 2
    assert stderr == ("postrider: flag --pool: cluster.pool requires store: only servers that "
                      "share a PostgreSQL database form a cluster.\n")
    code, stdout, stderr = print_config(
        tmp_path, "[cluster]\nlease_ms = 5000\n", "--pool", "eu",
        environment={"POSTRIDER_STORE": "postgres://localhost/p"})
    assert (code, stderr) == (0, "")
    assert tomllib.loads(stdout)["cluster"] == {"lease_ms": 5000, "pool": "eu", "address": ""}


def test_the_configuration_reference_is_up_to_date():
    code, stdout, _ = run_command("serve", "--print-reference")
    assert code == 0
    assert (ROOT / "docs" / "configuration.md").read_text() == stdout


def test_the_embedded_profiles_equal_the_profile_files(tmp_path):
    files = sorted((ROOT / "deploy" / "profiles").glob("*.toml"))
    assert {"exchange", "outbox", "platform", "tenant", "workspace"} <= {
        file.stem for file in files}
    for file in files:
        name_code, by_name, _ = print_config(tmp_path, None, "--profile", file.stem)
        file_code, by_file, _ = print_config(tmp_path, None, "--config", str(file))
        assert (name_code, file_code) == (0, 0), file
        named, read = tomllib.loads(by_name), tomllib.loads(by_file)
        named.pop("profile"), read.pop("profile")
        assert named == read and named, file


# ------------------------------------------------------------ reload

class ReloadableServer:
    """A server with its own configuration file."""

    def __init__(self, own_server, tmp_path, text):
        self.file = pathlib.Path(tmp_path) / "own.toml"
        self.file.write_text(text)
        self.server = own_server("--config", str(self.file)).start()
        self.api = self.server.api()
        self.seen = 0

    def reload(self, text):
        """Writes the file and sends SIGHUP. Returns the log line about the reload."""
        self.file.write_text(text)
        self.server.signal(signal.SIGHUP)

        def answered():
            lines = [line for line in self.server.stderr_file.read_text().splitlines()
                     if "config.reload" in line]
            return lines[self.seen] if len(lines) > self.seen else None
        line = wait_for(answered, "the reload to be logged")
        self.seen += 1
        return line


def publish(api, size):
    return api.request("POST", "/v1/events", {"type": "a.b", "data": "x" * size}).status


def test_a_reload_applies_changes_and_names_settings_that_need_a_restart(own_server, tmp_path,
                                                                         receiver):
    running = ReloadableServer(own_server, tmp_path, "[events]\ndata_bytes_max = 1024\n")
    assert publish(running.api, 2000) == 413
    line = running.reload("io_threads = 3\n[events]\ndata_bytes_max = 4096\n[webhooks.retry]\n"
                          "preset = \"quick\"\n[api]\nheader_bytes_max = 2048\n")
    assert "config.reloaded" in line
    assert "events.data_bytes_max" in line and "webhooks.retry.preset" in line
    log = running.server.stderr_file.read_text()
    assert 'config.restart_needed settings="io_threads"' in log

    assert publish(running.api, 2000) == 202
    created = running.api.post("/v1/webhooks", {"url": receiver.url("/r"), "events": ["*"]},
                               expect=201)
    assert created["retry_config"]["preset"] == "quick"
    fresh = running.server.api()
    assert fresh.request("GET", "/healthz", headers={"X-Large": "x" * 3000}).status == 431


def test_a_reload_of_an_invalid_file_is_refused_and_changes_nothing(own_server, tmp_path):
    running = ReloadableServer(own_server, tmp_path, "[events]\ndata_bytes_max = 1024\n")
    line = running.reload("[events]\ndata_bytes_max = 4096\nnonsense = 1\n")
    assert "config.reload_refused" in line and "events.nonsense" in line and "own.toml:3" in line
    assert publish(running.api, 2000) == 413
    line = running.reload("[events]\ndata_bytes_max = 4096\n[tls]\ncertificate = \"/no/c.pem\"\n"
                          "key = \"/no/k.pem\"\n")
    assert "config.reload_refused" in line and "/no/c.pem" in line
    assert publish(running.api, 2000) == 413
    assert "config.reloaded" in running.reload("[events]\ndata_bytes_max = 4096\n")
    assert publish(running.api, 2000) == 202


def test_a_reload_changes_the_length_of_sessions(own_server, tmp_path):
    running = ReloadableServer(own_server, tmp_path, "[portal]\nkey_session_ms = 600000\n")

    def length():
        client = running.server.api(key=None)
        answer = client.request("POST", "/v1/sessions", {"key": ADMIN_KEY})
        client.close()
        return re.search(r"Max-Age=(\d+)", answer.headers["set-cookie"]).group(1)
    assert length() == "600"
    assert "portal.key_session_ms" in running.reload("[portal]\nkey_session_ms = 60000\n")
    assert length() == "60"


def test_a_reload_changes_the_allowed_targets(tmp_path, own_server, receiver):
    file = tmp_path / "own.toml"
    file.write_text("allow_http = true\nallowed_target_cidrs = [\"127.0.0.1\"]\n")
    server = own_server("--config", str(file))
    server.arguments = ["--config", str(file)]  # Without --allow-private-targets.
    running = ReloadableServer.__new__(ReloadableServer)
    running.file, running.server, running.seen = file, server.start(), 0
    api = running.server.api()
    hook = api.post("/v1/webhooks", {"url": receiver.url("/target"), "events": ["*"]}, expect=201)

    def reload(text):
        running.reload(text)
        # Lanes get the change through the store. A later change to the webhook is applied after it.
        api.patch(f"/v1/webhooks/{hook['id']}", {"name": "reloaded"})

    def category(event):
        def look():
            deliveries = api.get(f"/v1/events/{event['id']}")["deliveries"]
            return deliveries[0]["failure_category"] or (
                deliveries[0]["status"] if deliveries[0]["status"] == "succeeded" else None)
        return wait_for(look, "an attempt")

    assert category(api.post("/v1/events", {"type": "a.b", "data": 1}, expect=202)) == "succeeded"
    reload("allow_http = true\nallowed_target_cidrs = [\"127.0.0.2\"]\n")
    assert category(api.post("/v1/events", {"type": "a.b", "data": 1},
                             expect=202)) == "blocked_address"
    refused = api.request("POST", "/v1/webhooks", {"url": receiver.url("/other"), "events": ["*"]})
    assert refused.status == 422
    reload("allow_http = true\nallowed_target_cidrs = [\"127.0.0.0/8\"]\n")
    assert category(api.post("/v1/events", {"type": "a.b", "data": 1}, expect=202)) == "succeeded"


@pytest.mark.parametrize("length, warnings", [(15, 1), (16, 0)])
def test_a_short_admin_key_is_logged_as_a_warning(own_server, length, warnings):
    server = own_server(environment={"POSTRIDER_ADMIN_KEY": "k" * length}).start()
    server.stop()
    assert server.output().count("admin_key.short") == warnings


def test_an_unknown_environment_variable_is_logged(own_server):
    server = own_server(environment={"POSTRIDER_SOMETHING_ELSE_ENTIRELY": "1"}).start()
    wait_for(lambda: 'config.unknown_variable name="POSTRIDER_SOMETHING_ELSE_ENTIRELY"' in
             server.stderr_file.read_text(), "the variable's name in the log")


def test_a_new_admin_key_replaces_the_previous_one(own_server):
    server = own_server(environment={"POSTRIDER_ADMIN_KEY": "first-key-of-16-bytes"}).start()
    assert server.api("first-key-of-16-bytes").request("GET", "/v1/webhooks").status == 200
    server.stop()
    server.environment["POSTRIDER_ADMIN_KEY"] = "second-key-of-16-bytes"
    server.start()
    assert server.api("second-key-of-16-bytes").request("GET", "/v1/webhooks").status == 200
    assert server.api("first-key-of-16-bytes").request("GET", "/v1/webhooks").status == 401
