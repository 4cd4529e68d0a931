"""Runs subcommands of the binary, with and without a terminal."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios

from harness import ADMIN_KEY, BINARY, DEADLINE, run_command


class Cli:
    """Runs commands against one server."""

    def __init__(self, port, key=ADMIN_KEY):
        self.environment = {"POSTRIDER_SERVER": f"http://127.0.0.1:{port}", "POSTRIDER_KEY": key}

    def run(self, *arguments, **options):
        return run_command(*arguments, environment=self.environment, **options)

    def text(self, *arguments, **options):
        code, stdout, stderr = self.run(*arguments, **options)
        assert (code, stderr) == (0, ""), (arguments, code, stdout, stderr)
        return stdout

    def json(self, *arguments, **options):
        return json.loads(self.text(*arguments, "--json", **options))

    def refused(self, *arguments, code=1, **options):
        """Runs a command that must fail with this exit code. Returns its stderr."""
        done, stdout, stderr = self.run(*arguments, **options)
        assert done == code, (arguments, done, stdout, stderr)
        assert stderr.startswith("postrider: ") and len(stderr.splitlines()) <= 6, stderr
        return stderr

    def on_terminal(self, *arguments, columns=80):
        """Runs with a terminal as stdout and stderr. Returns (exit code, output)."""
        controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        process = subprocess.Popen([BINARY, *arguments], stdin=subprocess.DEVNULL, stdout=terminal,
                                   stderr=terminal, env={**os.environ, **self.environment,
                                                         "TERM": "xterm"})
        os.close(terminal)
        shown = b""
        try:
            while block := os.read(controller, 65536):
                shown += block
        except OSError:  # The process has ended and closed its terminal.
            pass
        finally:
            os.close(controller)
        return process.wait(DEADLINE), shown.decode()
