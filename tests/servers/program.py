"""What the servers of tests have in common: private directories, free ports, life and death."""

import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

START_SECONDS_MAX = 60.0


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        probe.settimeout(5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(condition, what, seconds=START_SECONDS_MAX):
    """Polls until `condition()` is true and returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds:.0f} s for {what}")
        time.sleep(0.01)


class PrivateDirectory:
    """Removed at the end, unless the caller gave an existing one."""

    def __init__(self, given=None):
        self._owned = given is None
        self.path = pathlib.Path(given or tempfile.mkdtemp(prefix="postrider-server-"))

    def remove(self):
        if self._owned:
            shutil.rmtree(self.path, ignore_errors=True)


def start_child(command, log, **options):
    """Starts a server that is killed when this process ends, in whatever way."""
    with log.open("ab") as sink:
        return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *map(str, command)],
                                stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT,
                                **options)
