"""Fixtures: one shared server and receiver for most tests, private servers for some."""

import contextlib
import itertools
import pathlib
import ssl
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import stores  # noqa: E402
from cluster import Cluster  # noqa: E402
from consumer import install  # noqa: E402
from harness import BINARY, Server  # noqa: E402
from receiver import Receiver  # noqa: E402
from stores import PostgresServer  # noqa: E402
from world import World  # noqa: E402

_tenants = itertools.count(1)


# Tests that are not run on PostgreSQL: {test: reason}.
_left_out = {}


def pytest_configure(config):
    if not pathlib.Path(BINARY).exists():
        pytest.exit(f"{BINARY} does not exist; run `make build` first", returncode=4)
    config.addinivalue_line("markers", "embedded_store(reason): about the files of SQLite.")
    config.addinivalue_line("markers", "durable_store: PostgreSQL calls fsync.")


def pytest_collection_modifyitems(config, items):
    if not stores.ON_POSTGRES:
        return
    for item in items:
        if marker := item.get_closest_marker("embedded_store"):
            _left_out[item.nodeid] = marker.args[0]
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in _left_out])
    items[:] = [item for item in items if item.nodeid not in _left_out]


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # One of several processes.
        session.config.workeroutput["left_out"] = _left_out


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    _left_out.update(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_terminal_summary(terminalreporter):
    if _left_out:
        terminalreporter.section("not run on PostgreSQL")
        for test, reason in sorted(_left_out.items()):
            terminalreporter.line(f"{test}: {reason}")


def pytest_unconfigure():
    stores.close()


@pytest.fixture(autouse=True)
def kind_of_store(request):
    stores.use_durable(request.node.get_closest_marker("durable_store") is not None)


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


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Three nodes on one database, for the tests of a file that leave them as they are."""
    with PostgresServer(settings={"max_connections": 100}) as postgres:
        made = Cluster(tmp_path_factory.mktemp("cluster"), postgres)
        try:
            yield made.start()
            made.stop()
        finally:
            made.end()


@pytest.fixture
def apis(cluster):
    """A client of each node."""
    clients = [node.api() for node in cluster.nodes]
    yield clients
    for client in clients:
        client.close()


@pytest.fixture
def spread(cluster, make_world):
    """A world that talks to the first node."""
    made = make_world(cluster.nodes[0])
    yield made
    made.clean()


@pytest.fixture(scope="module")
def cluster_postgres():
    """For the clusters of a file's tests that leave the server of the database alone."""
    with PostgresServer(settings={"max_connections": 200}) as postgres:
        yield postgres


@pytest.fixture
def make_cluster(tmp_path, cluster_postgres):
    """Creates the cluster of one test. With `settings` its PostgreSQL server is its own, which
    calls fsync and may be stopped and killed."""
    with contextlib.ExitStack() as ends:
        def make(count=3, arguments=(), settings=None):
            postgres = cluster_postgres
            if settings is not None:
                postgres = ends.enter_context(
                    PostgresServer(fsync=True, settings={"max_connections": 100, **settings}))
            made = Cluster(tmp_path, postgres, arguments)
            ends.callback(made.end)
            return made.start(count)
        yield make


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
