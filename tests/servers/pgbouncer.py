"""pgbouncer in transaction mode in front of a PostgresServer.

As a program it prints one line of JSON with its address and port when it is ready, and ends when
its standard input closes:

    tests/servers/pgbouncer.py SERVER_PORT DATABASE POOL_SIZE
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import psycopg2

from postgres import PASSWORD, USER, run_as_other_user
from program import free_port

START_MAX_S = 30


class PgBouncer:
    """`server` has a port."""

    def __init__(self, server, database, pool_size=4):
        self.port = free_port()
        self.address = f"postgres://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{database}"
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="pgb-"))
        (self.root / "users").write_text(f'"{USER}" "{PASSWORD}"\n', "ascii")
        (self.root / "pgbouncer.ini").write_text(
            "[databases]\n"
            f"{database} = host=127.0.0.1 port={server.port} dbname={database}\n"
            "[pgbouncer]\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\n"
            "pool_mode = transaction\nauth_type = scram-sha-256\n"
            f"auth_file = {self.root}/users\ndefault_pool_size = {pool_size}\n", "ascii")
        self.process = None

    def __enter__(self):
        command, owner = run_as_other_user(["pgbouncer", self.root / "pgbouncer.ini"],
                                           ends_with_us=True)
        for path in (self.root, *self.root.iterdir()):
            os.chown(path, *owner)
        with open(self.root / "log", "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, cwd="/")
        end = time.monotonic() + START_MAX_S
        while True:
            try:
                psycopg2.connect(self.address).close()
                return self
            except psycopg2.OperationalError as error:
                if time.monotonic() > end or self.process.poll() is not None:
                    log = (self.root / "log").read_text("utf-8", "replace")
                    raise RuntimeError(f"{error}\n{log[-2000:]}") from None
                time.sleep(0.02)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(timeout=30)
        shutil.rmtree(self.root, ignore_errors=True)


class _Server:
    def __init__(self, port):
        self.port = port


def main(arguments):
    port, database, pool_size = arguments
    with PgBouncer(_Server(int(port)), database, int(pool_size)) as pool:
        print(json.dumps({"address": pool.address, "port": pool.port}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1:])
