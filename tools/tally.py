"""Counts test cases in the reports of the test runners."""

import dataclasses
import pathlib
import re
import xml.etree.ElementTree as ElementTree


@dataclasses.dataclass(frozen=True)
class Count:
    passed: int = 0
    failed: int = 0

    def __add__(self, other):
        return Count(self.passed + other.passed, self.failed + other.failed)

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed"


def _cases(report):
    return ElementTree.parse(report).getroot().iter("testcase")


def _gtest_case_passed(case):
    # Disabled (`notrun`) and skipped tests count as failed.
    return (case.get("status", "run") == "run" and case.get("result", "completed") == "completed"
            and case.find("failure") is None and case.find("skipped") is None)


def of_gtest(report):
    results = [_gtest_case_passed(case) for case in _cases(report)]
    return Count(passed=sum(results), failed=len(results) - sum(results))


def of_ctest(junit, gtest_directory):
    """Counts the cases of every program that ctest ran.

    A program with a GoogleTest report counts as its cases, one without as a single case. A program
    that ctest reports as failed although all its cases passed (a crash at exit, a leak, a timeout)
    adds a failed case.
    """
    if not pathlib.Path(junit).exists():
        return Count(failed=1)
    total = Count()
    for case in _cases(junit):
        succeeded = case.get("status") == "run" and case.find("failure") is None
        report = pathlib.Path(gtest_directory) / f"{case.get('name')}.xml"
        if not report.exists():
            total += Count(passed=int(succeeded), failed=int(not succeeded))
            continue
        cases = of_gtest(report)
        total += cases
        if not succeeded and cases.failed == 0:
            total += Count(failed=1)
    return total


LATE = re.compile(r"^(?:E +)?AssertionError: waited \d+ s for ", re.MULTILINE)


def late_cases(junit):
    """The pytest cases that failed only because a wait reached its deadline, as pytest's ids.

    Such a case says more about the machine than about the product. One that found a wrong result
    is never among them.
    """
    if not pathlib.Path(junit).exists():
        return []
    found = {}
    for case in _cases(junit):
        name = f"{case.get('classname').replace('.', '/')}.py::{case.get('name')}"
        for tag in ("failure", "error"):
            for problem in case.findall(tag):
                is_late = LATE.search(problem.text or "") is not None
                found[name] = is_late and found.get(name, True)
    return [name for name, is_late in found.items() if is_late]


def of_junit(junit, exit_code):
    """Counts the cases of a pytest or Vitest run. An exit code without a failed case adds one."""
    if not pathlib.Path(junit).exists():
        return Count(failed=1)
    total = Count()
    for case in _cases(junit):
        bad = any(case.find(tag) is not None for tag in ("failure", "error", "skipped"))
        total += Count(passed=int(not bad), failed=int(bad))
    if exit_code != 0 and total.failed == 0:
        total += Count(failed=1)
    return total
