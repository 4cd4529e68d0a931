"""A private RabbitMQ server on loopback, with an Erlang port mapper of its own.

    with RabbitMQ() as server:              # Or start() and stop().
        channel = server.channel()          # A channel of pika, with publisher confirms.
        server.control("add_vhost", "shop")
        server.kill()                       # kill -9
        server.restart()                    # On the same port, with its data.

As a program it prints one line of JSON when it is ready and ends when stdin closes. Its `address`
leads through a proxy, which takes the commands of tests/servers/proxy.py as lines on stdin. Further
lines are `control ARGUMENTS`, which runs rabbitmqctl, `declare_quorum QUEUE` and `delete QUEUE`.
Each line is answered with a line.

    tests/servers/rabbitmq.py
"""

import base64
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pika

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from certificates import Authority  # noqa: E402
import program  # noqa: E402
from proxy import Proxy  # noqa: E402

# The scripts in /usr/sbin start the machine's own server, as the user rabbitmq.
SCRIPTS = pathlib.Path("/usr/lib/rabbitmq/bin")


# RabbitMQ starts slowly, and very slowly on a busy machine.
START_SECONDS_MAX = 180.0
APP_PASSWORD = "canary-of-rabbitmq"  # Of the user app. Those of guest and limited are their names.


class RabbitMQ:
    """Has the vhosts `/` and `shop/eu`, and three users: guest, who may do everything, app, who may
    use `shop/eu`, and limited, who may only log in. `settings`: further lines of rabbitmq.conf."""

    def __init__(self, directory=None, tls=False, settings=()):
        self._directory = program.PrivateDirectory(directory)
        self.directory = self._directory.path
        self.settings = list(settings)
        self.port = program.free_port()
        self.tls_port = program.free_port() if tls else None
        self.process = None
        self._mapper = None
        self._mapper_port = program.free_port()
        self._distribution_port = program.free_port()
        self._log = self.directory / "rabbitmq.log"
        if tls:
            self.authority = Authority(self.directory)
            self.certificate, self.key = self.authority.issue()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        for name in ("data", "home"):
            (self.directory / name).mkdir(exist_ok=True)
        (self.directory / "rabbitmq.conf").write_text("\n".join(self._configuration()) + "\n")
        (self.directory / "plugins").write_text("[].\n")
        (self.directory / "definitions.json").write_text(json.dumps(self._definitions()))
        if self._mapper is None:
            self._mapper = program.start_child(
                ["epmd", "-address", "127.0.0.1", "-port", self._mapper_port], self._log)
            program.wait_until(lambda: program.listens(self._mapper_port), "epmd to listen")
        # `detached` makes the script replace itself by the server, so that its id is the child's.
        self.process = program.start_child(
            [SCRIPTS / "rabbitmq-server"], self._log, cwd=self.directory,
            env=self._environment(detached="1"))
        program.wait_until(self._is_ready, "RabbitMQ to be ready", START_SECONDS_MAX)
        return self

    def stop(self):
        self.kill()
        if self._mapper is not None:
            self._mapper.kill()
            self._mapper.wait()
            self._mapper = None
        self._directory.remove()

    def kill(self):
        """Sends SIGKILL. Persistent messages that were confirmed are in the files."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def restart(self, keep_data=True):
        self.kill()
        if not keep_data:
            shutil.rmtree(self.directory / "data")
        return self.start()

    def address(self, login="guest:guest", port=None, path="", tls=None):
        """`port`: of a proxy before this server. `path`: the encoded vhost and parameters."""
        tls = self.tls_port is not None if tls is None else tls
        own = self.tls_port if tls else self.port
        return f"amqp{'s' if tls else ''}://{login}@127.0.0.1:{port or own}{path}"

    def connection(self, vhost="/"):
        return pika.BlockingConnection(pika.ConnectionParameters(
            "127.0.0.1", self.port, virtual_host=vhost, heartbeat=0,
            credentials=pika.PlainCredentials("guest", "guest")))

    def channel(self, vhost="/"):
        channel = self.connection(vhost).channel()
        channel.confirm_delivery()
        return channel

    def declare_quorum(self, queue):
        with contextlib.closing(self.connection()) as connection:
            connection.channel().queue_declare(
                queue, durable=True, arguments={"x-queue-type": "quorum"})

    def delete(self, queue):
        with contextlib.closing(self.connection()) as connection:
            connection.channel().queue_delete(queue)

    def control(self, *arguments):
        """Runs rabbitmqctl. Returns its output."""
        done = subprocess.run(
            [SCRIPTS / "rabbitmqctl", "--quiet", *arguments], env=self._environment(),
            cwd=self.directory, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=START_SECONDS_MAX)
        assert done.returncode == 0, f"rabbitmqctl {arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def _environment(self, **more):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("RABBITMQ_", "ERL_"))}
        kept["PATH"] = f"{kept.get('PATH', '')}:/usr/sbin:/usr/bin:/sbin:/bin"
        return kept | {
            "HOME": str(self.directory / "home"),  # Of the cookie.
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(self._mapper_port),
            "RABBITMQ_NODENAME": f"postrider-{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                "-kernel inet_dist_use_interface {127,0,0,1}"
                # Fewer threads start faster on a busy machine.
                " +S 1:1 +SDcpu 1:1 +SDio 1 +A 1"),
            "RABBITMQ_MNESIA_BASE": str(self.directory / "data"),
            "RABBITMQ_LOG_BASE": str(self.directory),
            "RABBITMQ_PID_FILE": str(self.directory / "pid"),
            "RABBITMQ_CONFIG_FILE": str(self.directory / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.directory / "plugins"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
        } | more

    def _configuration(self):
        yield f"listeners.tcp.own = 127.0.0.1:{self.port}"
        if self.tls_port is not None:
            yield f"listeners.ssl.own = 127.0.0.1:{self.tls_port}"
            yield f"ssl_options.cacertfile = {self.authority.certificate}"
            yield f"ssl_options.certfile = {self.certificate}"
            yield f"ssl_options.keyfile = {self.key}"
            yield "ssl_options.verify = verify_none"
        yield f"load_definitions = {self.directory / 'definitions.json'}"
        yield "log.file = false"
        yield "log.console = true"
        yield "log.console.level = warning"
        yield "disk_free_limit.absolute = 1MB"  # A small disk must not block publishers.
        yield "collect_statistics_interval = 60000"
        yield from self.settings

    @staticmethod
    def _definitions():
        def user(name, password):
            salted = b"salt" + hashlib.sha256(b"salt" + password.encode()).digest()
            return {"name": name, "tags": [], "limits": {},
                    "password_hash": base64.b64encode(salted).decode(),
                    "hashing_algorithm": "rabbit_password_hashing_sha256"}

        def permission(name, vhost, pattern):
            return {"user": name, "vhost": vhost, "configure": pattern, "write": pattern,
                    "read": pattern}
        return {"users": [user("guest", "guest"), user("limited", "limited"),
                          user("app", APP_PASSWORD)],
                "vhosts": [{"name": "/"}, {"name": "shop/eu"}],
                "permissions": [permission("guest", "/", ".*"), permission("limited", "/", "^$"),
                                permission("guest", "shop/eu", ".*"),
                                permission("app", "shop/eu", ".*")]}

    def _is_ready(self):
        log = self._log.read_text(errors="replace")
        assert self.process.poll() is None, f"RabbitMQ ended:\n{log}"
        if not program.listens(self.port):
            return False
        with contextlib.suppress(pika.exceptions.AMQPError):
            self.connection().close()
            return True
        return False


def main():
    server = RabbitMQ(tls=True).start()
    proxy = Proxy(server.port).start()
    commands = {"cut": proxy.cut, "hang": proxy.hang, "refuse": proxy.refuse,
                "resume": proxy.resume, "control": server.control,
                "declare_quorum": server.declare_quorum, "delete": server.delete}
    try:
        print(json.dumps({"address": server.address(port=proxy.port, tls=False),
                          "direct_address": server.address(tls=False),
                          "tls_address": server.address(),
                          "ca_file": str(server.authority.certificate)}), flush=True)
        for line in sys.stdin:
            name, *arguments = line.split()
            commands[name](*arguments)
            print("done", flush=True)
    finally:
        proxy.stop()
        server.stop()


if __name__ == "__main__":
    main()
