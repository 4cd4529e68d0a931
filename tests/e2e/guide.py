"""Runs the commands of a page of the user guide in one shell and compares their output.

A fenced block marked `sh` is run. A block marked `answer` after it shows the expected output: JSON
output must contain the JSON of the page; text output must contain its lines in order; `…` matches
anything. Blocks marked `sh setup` also run before every other page. Blocks marked `sh aside` are
not run.
"""

import contextlib
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import tempfile

from harness import DEADLINE

STEP_SECONDS_MAX = DEADLINE
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```\s*$", re.MULTILINE | re.DOTALL)


class Step:
    """One command of a page and its expected output."""

    def __init__(self, command, line, setup):
        self.command = command
        self.line = line
        self.setup = setup
        self.answer = None  # (language, text)


def steps_of(page):
    """The commands of a page, in order."""
    text = page.read_text()
    steps = []
    for fence in FENCE.finditer(text):
        words = fence["info"].split()
        line = text.count("\n", 0, fence.start()) + 1
        if words[:1] == ["sh"] and "aside" not in words:
            steps.append(Step(fence["text"], line, "setup" in words))
        elif "answer" in words:
            expected = steps and steps[-1].answer is None
            assert expected, f"{page.name}:{line}: an answer without a command"
            steps[-1].answer = (words[0], fence["text"])
    return steps


def fits(shown, printed):
    """Does the output contain what the page shows?"""
    if shown == "…":
        return True
    if isinstance(shown, str) and isinstance(printed, str):
        return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), printed, re.DOTALL)
    if isinstance(shown, dict) and isinstance(printed, dict):
        return all(name in printed and fits(shown[name], printed[name])
                   for name in shown if name != "…")
    if isinstance(shown, list) and isinstance(printed, list):
        open_ended = bool(shown) and shown[-1] == "…"
        items = shown[:-1] if open_ended else shown
        long_enough = len(printed) >= len(items) if open_ended else len(printed) == len(items)
        return long_enough and all(fits(one, other) for one, other in zip(items, printed))
    return shown == printed


def text_fits(shown, printed):
    """Does the output contain the lines of the page in order, with any lines in between?"""
    rest = iter(printed.splitlines())
    return all(any(fits(line.strip(), other.strip()) for other in rest)
               for line in shown.splitlines() if line.strip())


class Shell:
    """A bash process in its own directory. `close` also ends the processes it started."""

    def __init__(self, directory, path, replacements, environment):
        self.directory = pathlib.Path(directory)
        self.replacements = replacements
        self.count = 0
        self.process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], cwd=directory, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
            env={"PATH": f"{path}:/usr/bin:/bin", "HOME": str(directory), "LC_ALL": "C.UTF-8",
                 "COLUMNS": "120", **environment})

    def local(self, text):
        """Replaces ports and folders of the page with those of this run."""
        for old, new in self.replacements.items():
            text = text.replace(old, new)
        return text

    def run(self, command):
        """Runs commands. Returns their exit code and output."""
        command = self.local(command)
        self.count += 1
        script = self.directory / f".step{self.count}"
        output = self.directory / f".out{self.count}"
        script.write_text(command)
        self.process.stdin.write(
            f". ./{script.name} > {output.name} 2>&1 < /dev/null; echo \"ended $?\"\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], STEP_SECONDS_MAX)[0]:
            printed = output.read_text(errors="replace")
            raise AssertionError(
                f"still running after {STEP_SECONDS_MAX:.0f} s:\n{command}\n{printed}")
        ended = self.process.stdout.readline()
        assert ended.startswith("ended "), f"the shell has exited: {ended!r}"
        return int(ended.split()[1]), output.read_text(errors="replace")

    def close(self):
        """Ends the shell and the processes it started, which share its process group."""
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(timeout=STEP_SECONDS_MAX)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)


def run_page(page, setup_page, binary_directory, replacements, environment):
    """Runs one page. An AssertionError names the line of the page."""
    steps = steps_of(page)
    if page != setup_page:
        steps = [step for step in steps_of(setup_page) if step.setup] + steps
    with tempfile.TemporaryDirectory(prefix="postrider-guide-") as directory:
        shell = Shell(directory, binary_directory, replacements, environment)
        try:
            for step in steps:
                if step.answer:
                    step.answer = (step.answer[0], shell.local(step.answer[1]))
                check(page, step, *shell.run(step.command))
        finally:
            shell.close()


def check(page, step, code, printed):
    where = f"{page.name}:{step.line}"
    assert code == 0, f"{where}: exit code {code}\n{step.command}\n{printed}"
    if step.answer is None:
        return
    language, shown = step.answer
    if language == "json":
        try:
            good = fits(json.loads(shown), json.loads(printed))
        except json.JSONDecodeError as error:
            raise AssertionError(f"{where}: the output is not JSON: {error}\n{printed}") from error
    else:
        good = text_fits(shown, printed)
    assert good, f"{where}: the page shows\n{shown}\nbut the output is\n{printed}"
