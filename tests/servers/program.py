"""What the servers of tests have in common: private directories, free ports, life and death."""

import pathlib
import random
import shutil
import socket
import subprocess
import tempfile
import time

START_SECONDS_MAX = 60.0


PORT_MIN = 10_000
_reserved = []  # Open as long as this process lives.


def free_port():
    """A port that stays free until a server of this process listens on it.

    It is below the range of ports that the kernel gives to outgoing connections, free on every
    address, and reserved, by the name of a socket, against other processes that call this.
    """
    end = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text("ascii").split()[0])
    for port in random.sample(range(PORT_MIN, end), 200):
        reservation = socket.socket(socket.AF_UNIX)
        try:
            reservation.bind(f"\0postrider-port-{port}")
            with socket.socket() as probe:
                probe.bind(("0.0.0.0", port))
        except OSError:
            reservation.close()
            continue
        _reserved.append(reservation)
        return port
    raise AssertionError(f"no free port from {PORT_MIN} to {end}")


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
