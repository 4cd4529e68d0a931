"""A streaming standby of a PostgresServer, which can take its place."""

import os
import pathlib
import subprocess
import tempfile
import time
from contextlib import closing

from postgres import PROGRAMS, PostgresServer, run_as_other_user
from program import free_port

SYNCHRONOUS_MAX_S = 60


class Standby(PostgresServer):
    """`primary` is a running PostgresServer."""

    def __init__(self, primary):  # pylint: disable=super-init-not-called
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="pg-", dir=primary.root.parent))
        self.port = free_port()
        self.data = self.root / "data"
        self.process = None
        self.primary = primary
        command, owner = run_as_other_user([
            PROGRAMS / "pg_basebackup", "--pgdata", self.data, "--write-recovery-conf",
            "--checkpoint=fast", "--no-sync", "--host", primary.root, "--port", primary.port,
            "--username", "postgres"])
        os.chown(self.root, *owner)
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL)
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as file:
            file.write(f"port = {self.port}\nunix_socket_directories = '{self.root}'\n")
            file.write("recovery_init_sync_method = syncfs\n")

    def make_synchronous(self):
        """From now on the primary acknowledges a commit when the standby has it too."""
        with closing(self.primary.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            cursor.execute("SELECT pg_reload_conf()")
            end = time.monotonic() + SYNCHRONOUS_MAX_S
            while True:
                cursor.execute("SELECT sync_state FROM pg_stat_replication")
                if cursor.fetchall() == [("sync",)]:
                    return
                if time.monotonic() > end:
                    raise RuntimeError(self.log()[-2000:])
                time.sleep(0.02)

    def promote(self):
        """Returns when it accepts writes."""
        with closing(self.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT pg_promote()")
            if cursor.fetchone() != (True,):
                raise RuntimeError(self.log()[-2000:])
