"""Runs all tests against one build and prints `N passed, N failed` at the end.

Each suite writes its log and a machine-readable report to BUILD/reports. The log of a failed suite
is printed; the other suites still run. The result counts the test cases of all runners. A skipped
case counts as failed, and so does a test program that crashed before it wrote its report.

    tools/run_tests.py --build build/release [--jobs 2] [--suite programs] [--suite e2e]

The tests of the dashboard mostly wait for a browser, so they run beside the others.

A real-process test whose wait reached its deadline is repeated once, alone: the machine may have
been too busy. What was repeated is printed. A test that found a wrong result has failed.

The real-process tests run on SQLite. Those that exercise the store run a second time on PostgreSQL
(suite `postgres`), all of them only if asked for (suite `postgres-all`, `make test-on-postgres`).
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import time

import tally

ROOT = pathlib.Path(__file__).resolve().parent.parent
E2E = ROOT / "tests" / "e2e"
WEB = ROOT / "web"
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "-rfE"]

# These files are about what is stored, in which order, and what survives. The others are about the
# HTTP server, the command line, receivers, sources and metrics, and see the store through the same
# ports.
STORE_TESTS = [f"tests/e2e/test_{name}.py" for name in (
    "alerts", "api_keys", "audit", "circuit", "circuit_restart", "cli_archive", "crash", "delivery",
    "disabling", "dlq", "dlq_groups", "durability", "event_types", "fanout", "finding",
    "idempotent_requests", "log_table", "operations", "order", "outcomes", "policy_change",
    "publish", "repeats", "replay", "retention", "retry", "secrets_at_rest", "sessions", "stats",
    "store_faults", "suspension", "tenancy", "tenants", "webhook_actions")]

# Sanitized programs are slower; tests multiply their deadlines by this factor.
SLOWNESS = {"asan": 3, "tsan": 6}

# More late tests than this are not an accident.
LATE_MAX = 5

SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:abort_on_error=0:exitcode=99",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=99",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:exitcode=99",
}


class Run:
    """One run of the suites over one build directory."""

    def __init__(self, build, jobs):
        self.build = build
        self.jobs = jobs
        self.reports = build / "reports"
        self.environment = dict(os.environ)
        for name, value in SANITIZER_OPTIONS.items():
            self.environment.setdefault(name, value)
        self.environment["POSTRIDER_BINARY"] = str(build / "postrider")
        self.environment["POSTRIDER_TEST_SLOWNESS"] = str(SLOWNESS.get(build.name, 1))

    def command(self, name, arguments, cwd=ROOT, env=None):
        """Runs one command with its output in a log. Prints the log if the command fails."""
        log = self.reports / f"{name}.log"
        with log.open("wb") as sink:
            code = subprocess.run(
                arguments, cwd=cwd, stdin=subprocess.DEVNULL, stdout=sink,
                stderr=subprocess.STDOUT, env={**self.environment, **(env or {})}, check=False,
            ).returncode
        if code != 0:
            # One write, because another suite may print at the same time.
            words = " ".join(map(str, arguments))
            sys.stdout.write(f"{log.read_text(errors='replace')}"
                             f"--- {name} failed (exit code {code}): {words}\n")
        return code

    def programs(self):
        """The GoogleTest programs, through ctest."""
        gtest = self.reports / "gtest"
        gtest.mkdir()
        junit = self.reports / "ctest.xml"
        self.command(
            "programs",
            ["ctest", "--test-dir", self.build, "-j", str(self.jobs), "--output-on-failure",
             "--no-tests=error", "--output-junit", junit],
            env={"GTEST_OUTPUT": f"xml:{gtest}/"},
        )
        return tally.of_ctest(junit, gtest)

    def style(self):
        code = self.command("style", [sys.executable, "tools/tidy.py"])
        return tally.Count(passed=int(code == 0), failed=int(code != 0))

    def tools(self):
        return self.pytest("tools", ["tools"])

    def web(self):
        """The dashboard: its linters, the tests of its logic, and its pages in a real browser."""
        count = self.install_node_packages(WEB)
        lint = self.command("web-lint", ["npm", "run", "--silent", "lint"], cwd=WEB)
        count += tally.Count(passed=int(lint == 0), failed=int(lint != 0))
        for name, script in (("web-logic", "test"), ("web-browser", "test:browser")):
            junit = self.reports / f"{name}.xml"
            code = self.command(name, ["npm", "run", "--silent", script, "--", "--reporter=default",
                                       "--reporter=junit", f"--outputFile.junit={junit}"], cwd=WEB)
            count += tally.of_junit(junit, code)
        return count

    def e2e(self):
        return self.real_process("e2e", ["tests/e2e"])

    def postgres(self):
        return self.real_process("postgres", STORE_TESTS, {"POSTRIDER_TEST_STORE": "postgres"})

    def postgres_all(self):
        # The tests of clusters use PostgreSQL in any case.
        return self.real_process("postgres-all", ["tests/e2e", "--ignore-glob=*/test_cluster*.py"],
                                 {"POSTRIDER_TEST_STORE": "postgres"})

    def real_process(self, name, tests, env=None):
        count = self.install_node_packages(E2E)
        # The tests of a file share what is expensive to start, so they stay together. They wait
        # about half of the time, so there is one process more than cores.
        parallel = ["-n", str(self.jobs + 1), "--dist", "loadfile"]
        count += self.pytest(name, [*parallel, *tests], env)
        late = tally.late_cases(self.junit_of(name))
        if not late or len(late) > LATE_MAX:
            return count
        repeated = self.pytest(f"{name}-repeated", late, env)
        print(f"Reached a deadline and were repeated alone ({repeated}):", *late, sep="\n  ",
              flush=True)
        return count + tally.Count(passed=repeated.passed, failed=-repeated.passed)

    def junit_of(self, name):
        return self.reports / f"{name}.xml"

    def pytest(self, name, arguments, env=None):
        junit = self.junit_of(name)
        code = self.command(name, [*PYTEST, f"--junitxml={junit}", *arguments], env=env)
        return tally.of_junit(junit, code)

    def install_node_packages(self, directory):
        """Runs `npm ci` unless the packages are up to date. Counts a failure as a failed case."""
        installed = directory / "node_modules" / ".package-lock.json"
        lock = directory / "package-lock.json"
        if installed.exists() and installed.stat().st_mtime >= lock.stat().st_mtime:
            return tally.Count()
        code = self.command(f"npm-{directory.name}", [
            "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=directory)
        return tally.Count(failed=int(code != 0))


SUITES = {"programs": Run.programs, "style": Run.style, "tools": Run.tools, "web": Run.web,
          "e2e": Run.e2e, "postgres": Run.postgres}
ON_REQUEST = {"postgres-all": Run.postgres_all}
BESIDE = {"web"}  # Run beside the other suites.


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--suite", action="append", choices=[*SUITES, *ON_REQUEST],
                        help=f"default: {', '.join(SUITES)}")
    options = parser.parse_args()

    run = Run(options.build.resolve(), options.jobs)
    shutil.rmtree(run.reports, ignore_errors=True)
    run.reports.mkdir(parents=True)

    def run_suite(name):
        started = time.monotonic()
        count = {**SUITES, **ON_REQUEST}[name](run)
        print(f"{name:<12} {count}  ({time.monotonic() - started:.0f} s)", flush=True)
        return count

    names = options.suite or list(SUITES)
    total = tally.Count()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        beside = [pool.submit(run_suite, name) for name in names if name in BESIDE]
        for name in names:
            if name not in BESIDE:
                total += run_suite(name)
        for each in beside:
            total += each.result()
    print(total)
    return 0 if total.failed == 0 and total.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
