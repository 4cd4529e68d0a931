"""GET /v1/settings: what is in force and where it comes from."""

import json

import pytest

from harness import ADMIN_KEY, run_command
from test_config import ReloadableServer


def settings_of(api):
    listed = api.get("/v1/settings")["data"]
    named = {item["name"]: item for item in listed}
    assert len(named) == len(listed)
    return named


def test_every_setting_is_listed_with_its_value_and_origin(own_server, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text("io_threads = 2\n[webhooks.retry]\npreset = \"quick\"\n")
    arguments = ["--config", str(file), "--profile", "exchange"]
    server = own_server(*arguments, environment={"POSTRIDER_LOG_LEVEL": "warn"}).start()
    settings = settings_of(server.api())

    def shown(name):
        return tuple(settings[name][key] for key in ("value", "origin", "detail", "reload"))
    assert shown("io_threads") == (2, "file", f"{file}:1", False)
    assert shown("log.level") == ("warn", "environment", "POSTRIDER_LOG_LEVEL", True)
    assert shown("allow_http") == (True, "flag", "--allow-http", True)
    assert shown("user_agent")[1:3] == ("profile", "exchange")
    assert shown("dns.servers") == ([], "default", None, False)
    assert shown("webhooks.retry.max_attempts")[1:3] == ("file", f"preset, {file}:3")
    assert settings["io_threads"]["default"] == 0 and settings["io_threads"]["description"]

    code, stdout, _ = run_command("serve", *arguments, "--print-config", "--json",
                                  directory=tmp_path)
    assert code == 0
    assert set(json.loads(stdout)["settings"]) == {
        name for name in settings if not name.startswith("POSTRIDER_")}


def test_a_reload_shows_what_is_in_force_now(own_server, tmp_path):
    running = ReloadableServer(own_server, tmp_path, "io_threads = 1\n[log]\nlevel = \"info\"\n")
    assert "config.reloaded" in running.reload("\nio_threads = 3\n[log]\nlevel = \"debug\"\n"
                                               "[portal]\nframe_ancestors = [\"self\"]\n")
    settings = settings_of(running.api)
    assert settings["io_threads"]["value"] == 1, "it needs a restart"
    assert settings["io_threads"]["detail"].endswith("own.toml:1")
    assert settings["log.level"]["value"] == "debug"
    assert settings["log.level"]["detail"].endswith("own.toml:4")
    assert settings["portal.frame_ancestors"]["value"] == ["self"]
    assert "config.reload_refused" in running.reload("[log]\nlevel = \"loud\"\n")
    assert settings_of(running.api) == settings
    assert "config.reloaded" in running.reload("io_threads = 1\n")
    settings = settings_of(running.api)
    assert (settings["log.level"]["value"], settings["log.level"]["origin"]) == ("info", "default")


def test_secrets_are_hidden(own_server):
    key = "c5" * 32
    server = own_server(environment={"POSTRIDER_ADMIN_KEY": ADMIN_KEY,
                                     "POSTRIDER_SECRETS_KEY": key}).start()
    answer = server.api().request("GET", "/v1/settings")
    assert ADMIN_KEY.encode() not in answer.body and key.encode() not in answer.body
    settings = {item["name"]: item for item in answer.json["data"]}
    for name in ("POSTRIDER_ADMIN_KEY", "POSTRIDER_SECRETS_KEY"):
        assert settings[name]["value"] == "[hidden]"
        assert settings[name]["origin"] == "environment"


@pytest.mark.parametrize("scope", ["read", "publish", "tenant"])
def test_only_the_operator_sees_them(server, scope):
    body = {"scope": scope, "name": f"settings-{scope}"}
    if scope == "tenant":
        body["tenant_id"] = "settings-tenant"
    key = server.api().post("/v1/api-keys", body, expect=201)["key"]
    refused = server.api(key).get("/v1/settings", expect=403)
    assert refused["code"] == "insufficient_scope"
    server.api(key=None).get("/v1/settings", expect=401)
