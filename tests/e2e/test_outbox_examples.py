"""The examples that write an order and its event in one transaction."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from harness import DEADLINE, ROOT
from outbox import Outbox, PostgresServer

EXAMPLES = ROOT / "examples" / "outbox"
GO_LIBRARY = pathlib.Path("/usr/share/gocode/src/github.com/lib/pq")  # golang-github-lib-pq-dev
GO_IS_HERE = shutil.which("go") is not None and GO_LIBRARY.exists()


@pytest.fixture(scope="module")
def outbox():
    with PostgresServer() as server:
        made = Outbox(server)
        made.run("ALTER TABLE orders ADD total numeric NOT NULL")
        yield made


def command_of(language, folder):
    """Returns the command that runs an example and its additional environment."""
    if language == "python":
        return [sys.executable, EXAMPLES / "python" / "shop.py"], {}
    if language == "node":
        shutil.copy(EXAMPLES / "node" / "shop.mjs", folder)
        (folder / "node_modules").symlink_to(ROOT / "tests" / "e2e" / "node_modules")
        return ["node", folder / "shop.mjs"], {}
    return ["go", "run", EXAMPLES / "go" / "shop.go"], {
        "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": str(folder / "cache"),
        "GOFLAGS": "-mod=mod"}


@pytest.mark.parametrize("language", ["python", "node", *(["go"] if GO_IS_HERE else [])])
def test_an_order_and_its_event_are_one_transaction(outbox, tmp_path, language):
    command, environment = command_of(language, tmp_path)
    # The server of the tests has no TLS.
    address = outbox.address + "?sslmode=disable"

    def shop(*arguments):
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True,
                              timeout=DEADLINE * 5,
                              env={**os.environ, **environment, "DATABASE_URL": address})
        outcome, _, event_id = done.stdout.strip().rpartition(" ")
        return outcome, event_id
    order = f"{language}-7"
    outcome, event_id = shop(order, "19.90")
    assert outcome == "committed"
    assert shop(f"{language}-8", "5", "fail")[0] == "rolled back"
    assert outbox.run("SELECT id FROM orders WHERE id LIKE %s", (f"{language}-%",)) == [(order,)]
    assert outbox.run("SELECT id, type, data, resource_id, ordering_key, source FROM webhook_outbox"
                      " WHERE resource_id LIKE %s", (f"{language}-%",)) == [
        (event_id, "order.placed", {"order": order, "total": 19.9}, order, order, "shop")]
