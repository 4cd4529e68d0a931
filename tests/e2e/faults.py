"""Injects faults into a running server: strace attaches and makes its system calls fail."""

import contextlib
import pathlib
import subprocess

import stores
from harness import wait_for


@contextlib.contextmanager
def injected(server, fault, log):
    """Injects `fault` (in the syntax of strace -e inject=) while the block runs."""
    calls = fault.split(":")[0]
    process = subprocess.Popen(
        ["strace", "-f", "-qq", "-o", log, "-p", str(server.process.pid), "-e", f"trace={calls}",
         "-e", f"inject={fault}"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    tasks = pathlib.Path(f"/proc/{server.process.pid}/task")

    def attached():
        assert process.poll() is None, f"strace failed: {process.stderr.read().decode()}"
        return all(f"TracerPid:\t{process.pid}\n" in (task / "status").read_text()
                   for task in tasks.iterdir())
    try:
        wait_for(attached, "strace to attach")
        yield
    finally:
        process.terminate()  # Detaches from the server; its system calls work again.
        process.wait()
        process.stderr.close()


def failing_store(server, log, fault):
    """The store fails while the block runs: on SQLite as `injected` says, on PostgreSQL because the
    database is away."""
    return stores.away(server.data) if stores.ON_POSTGRES else injected(server, fault, log)
