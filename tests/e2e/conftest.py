"""Fixtures: one shared server and receiver for most tests, private servers for some."""

import itertools
import pathlib
import ssl
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from consumer import install  # noqa: E402
from harness import BINARY, Server  # noqa: E402
from receiver import Receiver  # noqa: E402
from world import World  # noqa: E402

_tenants = itertools.count(1)


def pytest_configure():
    if not pathlib.Path(BINARY).exists():
        pytest.exit(f"{BINARY} does not exist; run `make build` first", returncode=4)


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("server")).start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def installation(tmp_path_factory):
    """The prefix of an installation of the tested build."""
    return install(tmp_path_factory.mktemp("prefix"))


@pytest.fixture(scope="session")
def shared_receiver():
    receiver = Receiver().start()
    yield receiver
    receiver.stop()


@pytest.fixture
def receiver(shared_receiver):
    yield shared_receiver
    shared_receiver.clear()


@pytest.fixture
def server(shared_server):
    shared_server.assert_alive()
    yield shared_server
    shared_server.assert_alive()


@pytest.fixture
def api(server):
    client = server.api()
    yield client
    client.close()


@pytest.fixture(scope="session")
def strict_api(tmp_path_factory):
    """A client of a server with default settings: only public https targets are allowed."""
    server = Server(tmp_path_factory.mktemp("strict"), arguments=()).start()
    client = server.api()
    yield client
    client.close()
    server.stop()


@pytest.fixture
def make_world(receiver):
    """Creates a World on a given server. Held receiver paths are released after the test."""
    worlds = []

    def make(server):
        worlds.append(World(server.api(), receiver, f"tenant-{next(_tenants)}"))
        return worlds[-1]
    yield make
    for world in worlds:
        for hook in world.hooks:
            receiver.release(hook.path)


@pytest.fixture
def world(server, make_world):
    made = make_world(server)
    yield made
    made.clean()


@pytest.fixture
def own_server(tmp_path):
    """Creates servers for one test. Each must exit with 0 after the test unless it was killed."""
    servers = []

    def make(*arguments, name="own", **options):
        directory = tmp_path / name
        directory.mkdir()
        extra = ["--allow-private-targets", "--allow-http", *arguments]
        servers.append(Server(directory, extra, **options))
        return servers[-1]
    yield make
    try:
        for server in servers:
            server.stop()
    finally:
        for server in servers:
            server.kill()


@pytest.fixture(scope="session")
def tls_receiver(tmp_path_factory):
    """An https receiver with a self-signed certificate."""
    directory = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", directory / "key.pem", "-out", directory / "certificate.pem"],
        check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "certificate.pem", directory / "key.pem")
    receiver = Receiver(tls=context).start()
    receiver.certificate = directory / "certificate.pem"
    yield receiver
    receiver.stop()
