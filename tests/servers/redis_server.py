"""A private redis-server on loopback.

    with Redis() as server:                  # Or start() and stop().
        server.client().xadd("stream", {"type": "a.b"})
        server.kill()                        # kill -9
        server.restart(keep_data=False)      # On the same port.

As a program it prints one line of JSON with its addresses when it is ready, takes the commands
`stop`, `start`, and `lose` (restarts without its data) as lines on stdin, answers each with a line,
and ends when stdin closes.
"""

import json
import pathlib
import shutil
import sys

import redis

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from certificates import Authority  # noqa: E402
import program  # noqa: E402


class Redis:
    """`tls`: also listens on a second port, with TLS. `users` maps names of ACL users to their
    rules, for example {"app": ">secret ~* &* +@all"}.
    """

    def __init__(self, directory=None, password=None, users=None, tls=False, settings=()):
        self._directory = program.PrivateDirectory(directory)
        self.directory = self._directory.path
        self.password = password
        self.users = users or {}
        self.tls = tls
        self.settings = list(settings)  # Further lines of redis.conf.
        self.port = program.free_port()
        self.process = None
        if tls:
            self.tls_port = program.free_port()
            self.authority = Authority(self.directory)
            self.certificate, self.key = self.authority.issue()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self._data.mkdir(exist_ok=True)
        (self.directory / "redis.conf").write_text("\n".join(self._configuration()) + "\n")
        self.process = program.start_child(
            ["redis-server", self.directory / "redis.conf"], self.directory / "redis.log")
        program.wait_until(self._is_ready, "redis-server to be ready")
        return self

    def stop(self):
        self.kill()
        self._directory.remove()

    def kill(self):
        """Sends SIGKILL. What clients have been told is in the file."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def restart(self, keep_data=True):
        self.kill()
        if not keep_data:
            shutil.rmtree(self._data)
        return self.start()

    def address(self, login=None, port=None, database=None):
        """`login`: user:password. `port`: of a proxy before this server."""
        if login is None and self.password is not None:
            login = f":{self.password}"
        start = f"redis://{login}@" if login else "redis://"
        path = "" if database is None else f"/{database}"
        return f"{start}127.0.0.1:{port or self.port}{path}"

    def tls_address(self, **options):
        return self.address(port=self.tls_port, **options).replace("redis://", "rediss://")

    def client(self, database=0):
        return redis.Redis(port=self.port, db=database, password=self.password)

    @property
    def _data(self):
        return self.directory / "data"

    def _configuration(self):
        yield "bind 127.0.0.1 127.0.0.2"  # The certificate does not name the second.
        yield f"dir {self._data}"
        yield 'save ""'
        yield "appendonly yes"
        yield "appendfsync no"  # Enough for kill -9: the file is written before clients are told.
        yield f"port {self.port}"
        if self.tls:
            yield f"tls-port {self.tls_port}"
            yield f"tls-cert-file {self.certificate}"
            yield f"tls-key-file {self.key}"
            yield f"tls-ca-cert-file {self.authority.certificate}"
            yield "tls-auth-clients no"
        if self.password is not None:
            yield f"requirepass {self.password}"
        for name, rules in self.users.items():
            yield f"user {name} on {rules}"
        yield from self.settings

    def _is_ready(self):
        log = (self.directory / "redis.log").read_text(errors="replace")
        assert self.process.poll() is None, f"redis-server ended:\n{log}"
        try:
            return self.client().ping()
        except (redis.ConnectionError, redis.BusyLoadingError):
            return False


def main():
    server = Redis(tls=True, users={"app": ">secret ~* &* +@all"}).start()
    commands = {"stop": server.kill, "start": server.start,
                "lose": lambda: server.restart(keep_data=False)}
    print(json.dumps({"address": server.address(), "tls_address": server.tls_address(),
                      "ca_file": str(server.authority.certificate)}), flush=True)
    try:
        for line in sys.stdin:
            commands[line.strip()]()
            print("done", flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
