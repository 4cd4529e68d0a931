"""A PostgreSQL server for tests, in a private directory, on a free loopback port.

As a program it prints one line of JSON with its addresses when it is ready, and ends with
everything when its standard input closes. It answers each line `stop`, `start`, `restart` or `kill`
with a line.

The role `app` is an ordinary one: it owns the database `app` and nothing else. PostgreSQL refuses
to run as root, so the server then runs as the user `postgres`.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import psycopg2

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from program import free_port  # noqa: E402

PROGRAMS = pathlib.Path("/usr/lib/postgresql/15/bin")
USER = "app"
PASSWORD = "app-7d1f-password"
START_MAX_S = 60
MEMORY_MIN_BYTES = 4 << 30


def _others_can_write(path):
    return bool(os.stat(path).st_mode & 0o002)


def _account():
    """Returns the (uid, gid) that owns the server's files."""
    if os.geteuid() != 0 or not _others_can_write("/dev/null"):
        return os.geteuid(), os.getegid()
    entry = pwd.getpwnam("postgres")
    return entry.pw_uid, entry.pw_gid


def _as_account(command, ends_with_us=False):
    """Adds the change of user. With `ends_with_us` the server ends if this process is killed."""
    command = [str(word) for word in command]
    death = ["setpriv", "--pdeathsig", "QUIT"] if ends_with_us else []
    if os.geteuid() != 0:
        return [*death, *command]
    uid, gid = _account()
    if uid == 0:
        # Another user could not write to this machine's /dev/null, as initdb must. In a user
        # namespace root looks like another user to the server, and still is root to the kernel.
        return ["unshare", "--user", "--map-user=65534", "--map-group=65534", *death, *command]
    return [*(death or ["setpriv"]), f"--reuid={uid}", f"--regid={gid}", "--clear-groups", *command]


def run_as_other_user(command, ends_with_us=False):
    """For a server that refuses to run as root. Returns the command and the owner of its files."""
    return _as_account(command, ends_with_us), _account()


def _place(fsync):
    """Memory, if there is enough and the disk does not matter. None: the directory for files that
    are removed later."""
    memory = pathlib.Path("/dev/shm")
    is_roomy = memory.is_dir() and shutil.disk_usage(memory).free > MEMORY_MIN_BYTES
    return memory if is_roomy and not fsync else None


def _make_directory(path):
    path.mkdir(mode=0o700)
    os.chown(path, *_account())


def _make_cluster(data):
    """Makes a data directory with the role and the database `app`."""
    subprocess.run(
        _as_account([PROGRAMS / "initdb", "-D", data, "-U", "postgres", "--encoding=UTF8",
                     "--locale=C", "--no-sync", "--no-instructions", "--auth-local=trust",
                     "--auth-host=scram-sha-256"]),
        check=True, stdout=subprocess.DEVNULL, cwd="/")
    script = (f"CREATE ROLE {USER} LOGIN PASSWORD '{PASSWORD}';\n"
              f"CREATE DATABASE {USER} OWNER {USER};\n")
    subprocess.run(
        _as_account([PROGRAMS / "postgres", "--single", "-D", data, "-F",
                     "-c", "log_min_messages=fatal", "postgres"]),
        check=True, input=script.encode(), stdout=subprocess.DEVNULL, cwd="/")


def _template():
    """Returns a data directory to copy. Made once per machine, because initdb takes a second."""
    home = pathlib.Path(tempfile.gettempdir()) / f"postrider-postgres-15-{os.geteuid()}"
    home.mkdir(mode=0o755, exist_ok=True)
    if home.stat().st_uid != os.geteuid():
        raise RuntimeError(f"{home} belongs to another user")
    data = home / "data"
    with open(home / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not data.exists():
            new = home / "new"
            shutil.rmtree(new, ignore_errors=True)
            _make_directory(new)
            _make_cluster(new / "data")
            (new / "data").rename(data)
            new.rmdir()
    return data


def _children(pid):
    with contextlib.suppress(OSError):
        return [int(child) for child in
                pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]
    return []


class PostgresServer:
    """`settings` are lines of postgresql.conf. Without `fsync` a crash of the machine, but not of
    the server, may lose data. Servers are copies of one cluster, unless `own_cluster` is set."""

    def __init__(self, fsync=False, settings=None, own_cluster=False):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="pg-", dir=_place(fsync)))
        os.chown(self.root, *_account())
        self.port = free_port()
        self.data = self.root / "data"
        if own_cluster:
            _make_cluster(self.data)
        else:
            shutil.copytree(_template(), self.data, copy_function=self._copy_file)
            for path in [self.data, *self.data.rglob("*")]:
                os.chown(path, *_account())
        values = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": str(self.root),
            "fsync": "on" if fsync else "off",
            "shared_preload_libraries": "pg_stat_statements",
            "max_connections": 60,
            "shared_buffers": "64MB",
            "max_wal_size": "128MB",
            **(settings or {}),
        }
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as file:
            for name, value in values.items():
                file.write(f"{name} = '{value}'\n")
        self.process = None

    @staticmethod
    def _copy_file(source, target):
        shutil.copyfile(source, target)
        shutil.copymode(source, target)

    def start(self):
        log = open(self.root / "log", "ab")  # The server keeps it open.
        with log:
            self.process = subprocess.Popen(
                _as_account([PROGRAMS / "postgres", "-D", self.data], ends_with_us=True),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/")
        end = time.monotonic() + START_MAX_S
        while True:
            try:
                self.connect().close()
                return self
            except psycopg2.OperationalError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise RuntimeError(self.log()[-2000:]) from None
                time.sleep(0.02)

    def log(self):
        return (self.root / "log").read_text("utf-8", "replace")

    def stop(self):
        """Ends all sessions at once, and cleanly."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(timeout=60)

    def crash(self):
        """Ends at once, without a checkpoint, as `pg_ctl stop -m immediate` does."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(timeout=60)

    def kill(self):
        """Ends every process of the server as a power failure would."""
        processes = [self.process.pid, *_children(self.process.pid)]
        for pid in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(timeout=60)
        end = time.monotonic() + 60
        while any(pathlib.Path(f"/proc/{pid}").exists() for pid in processes[1:]):
            if time.monotonic() > end:
                raise RuntimeError("a process of the killed server is still there")
            time.sleep(0.005)

    def restart(self):
        self.stop()
        return self.start()

    def close(self):
        """Stops the server and removes its files."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(timeout=60)
        shutil.rmtree(self.root, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    def command(self, program):
        """A program of PostgreSQL that works on the data directory."""
        return _as_account([PROGRAMS / program])

    def address(self, port=None, database=USER, user=USER, password=PASSWORD):
        """With `port`: through a proxy or a connection pool."""
        return f"postgres://{user}:{password}@127.0.0.1:{port or self.port}/{database}"

    def admin_address(self, database="postgres"):
        """Of the superuser, through the unix socket."""
        return f"host={self.root} port={self.port} user=postgres dbname={database}"

    def connect(self, address=None, autocommit=True):
        """A psycopg2 connection; of the superuser without an address."""
        connection = psycopg2.connect(address or self.admin_address())
        connection.autocommit = autocommit
        return connection

    def make_database(self, name):
        """A new database of the role `app`. Returns its address."""
        with contextlib.closing(self.connect()) as connection, connection.cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}" OWNER {USER} STRATEGY file_copy')
        return self.address(database=name)


def main():
    with PostgresServer() as server, contextlib.closing(socket.socket()) as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()  # Accepts connections and never answers.
        ready = {"address": server.address(), "admin_address": server.admin_address(),
                 "silent_address": f"127.0.0.1:{silent.getsockname()[1]}",
                 "port": server.port, "pid": server.process.pid}
        print(json.dumps(ready), flush=True)
        for line in sys.stdin:
            getattr(server, line.strip())()
            print("done", flush=True)


if __name__ == "__main__":
    main()
