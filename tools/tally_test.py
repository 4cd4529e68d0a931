"""Which test cases count as passed and which as failed."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import tally  # noqa: E402
from tally import Count  # noqa: E402

GTEST = """<testsuites><testsuite>
<testcase name="A" status="run" result="completed"/>
<testcase name="B" status="run" result="completed"><failure/></testcase>
<testcase name="C" status="notrun" result="suppressed"/>
<testcase name="D" status="run" result="skipped"><skipped/></testcase>
</testsuite></testsuites>"""
GTEST_GOOD = '<testsuites><testcase status="run" result="completed"/></testsuites>'


def ctest(name, status):
    return f'<testsuite><testcase name="{name}" status="{status}"/></testsuite>'


def test_disabled_and_skipped_cases_count_as_failed(tmp_path):
    report = tmp_path / "a.xml"
    report.write_text(GTEST)
    assert tally.of_gtest(report) == Count(passed=1, failed=3)


def test_a_failed_program_without_a_report_is_one_failure(tmp_path):
    junit = tmp_path / "ctest.xml"
    junit.write_text(ctest("core_test", "fail"))
    assert tally.of_ctest(junit, tmp_path / "gtest") == Count(failed=1)


def test_a_program_that_failed_after_all_its_cases_passed_adds_a_failure(tmp_path):
    junit = tmp_path / "ctest.xml"
    junit.write_text(ctest("core_test", "fail"))
    (tmp_path / "core_test.xml").write_text(GTEST_GOOD)
    assert tally.of_ctest(junit, tmp_path) == Count(passed=1, failed=1)
    junit.write_text(ctest("core_test", "run"))
    assert tally.of_ctest(junit, tmp_path) == Count(passed=1)


def test_a_program_without_googletest_is_one_case(tmp_path):
    junit = tmp_path / "ctest.xml"
    junit.write_text(ctest("simulation_seeds", "run"))
    assert tally.of_ctest(junit, tmp_path) == Count(passed=1)


def test_pytest_errors_and_skips_count_as_failed(tmp_path):
    junit = tmp_path / "p.xml"
    junit.write_text("<testsuites><testsuite><testcase/><testcase><failure/></testcase>"
                     "<testcase><error/></testcase><testcase><skipped/></testcase>"
                     "</testsuite></testsuites>")
    assert tally.of_junit(junit, 1) == Count(passed=1, failed=3)


def test_only_cases_whose_every_failure_is_a_deadline_are_late(tmp_path):
    late = "harness.py:42: in wait_for\nE   AssertionError: waited 20 s for the record"
    wrong = "E   AssertionError: out of order (P4): waited 20 s for nothing"
    junit = tmp_path / "p.xml"
    junit.write_text(f"""<testsuites>
<testcase classname="tests.e2e.test_a" name="test_good"/>
<testcase classname="tests.e2e.test_a" name="test_late[1]"><failure>{late}</failure></testcase>
<testcase classname="tests.e2e.test_a" name="test_wrong"><failure>{wrong}</failure></testcase>
<testcase classname="tests.e2e.test_a" name="test_both"><failure>{late}</failure></testcase>
<testcase classname="tests.e2e.test_a" name="test_both"><error>{wrong}</error></testcase>
<testcase classname="tests.e2e.test_b" name="test_setup"><error>{late}</error></testcase>
</testsuites>""")
    assert tally.late_cases(junit) == ["tests/e2e/test_a.py::test_late[1]",
                                       "tests/e2e/test_b.py::test_setup"]
    assert tally.late_cases(tmp_path / "none.xml") == []


def test_a_missing_report_is_a_failure(tmp_path):
    assert tally.of_junit(tmp_path / "none.xml", 0) == Count(failed=1)
    assert tally.of_ctest(tmp_path / "none.xml", tmp_path) == Count(failed=1)


def test_a_nonzero_exit_code_without_failed_cases_is_a_failure(tmp_path):
    junit = tmp_path / "p.xml"
    junit.write_text("<testsuites><testsuite><testcase/></testsuite></testsuites>")
    assert tally.of_junit(junit, 3) == Count(passed=1, failed=1)
