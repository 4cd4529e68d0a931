"""Each rule reports a bad snippet at the right line and accepts a good one."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import tidy  # noqa: E402
from tidy_source import tree_of  # noqa: E402

OUTSIDE_PATH = "/wo" "rk/notes"
UNFINISHED_MARK = "FIX" "ME"

# rule, path, bad text, line of the finding, good text
CASES = [
    ("rooted-include", "src/core/a.cc", '\n#include "b.h"\n', 2, '#include "core/b.h"\n'),
    ("engine-messages", "src/ports/a.h", '#include "engine/shard/shard.h"\n', 1,
     '#include "engine/shard/messages.h"\n'),
    ("pure-includes", "src/engine/a.cc", "#include <mutex>\n", 1, "#include <map>\n"),
    ("pure-includes", "src/ports/a.h", "#include <boost/asio.hpp>\n", 1,
     "#include <tl/expected.hpp>\n"),
    ("neutral-sql", "src/adapters/sql/a.cc", "#include <sqlite3.h>\n", 1,
     "#include <fmt/format.h>\n"),
    ("neutral-sql", "src/adapters/sql/a.cc", '\nf("INSERT OR REPLACE INTO t");\n', 2,
     'f("INSERT INTO t VALUES (?1) ON CONFLICT (a) DO NOTHING");\n'),
    ("neutral-sql", "src/adapters/sql/a.cc", 'f("SELECT a FROM t INDEXED BY i");\n', 1,
     'f("SELECT a FROM t");\n'),
    ("ambient", "src/runtime/a.cc", "auto t = std::chrono::steady_clock::now();\n", 1,
     "auto t = clock.now();\n"),
    ("ambient", "src/api/a.cc", 'f();\nconst char* v = std::getenv("X");\n', 2,
     '// getenv("X") is for adapters/system.\n'),
    ("ambient", "src/adapters/sqlite/a.cc", "std::random_device entropy;\n", 1,
     "SplitMix64 r{1};\n"),
    ("ambient", "src/cli/a.cc", "auto t = std::time(nullptr);\n", 1, "auto t = query.time(0);\n"),
    ("ambient", "src/adapters/asio_http/a.cc", "std::this_thread::sleep_for(1s);\n", 1,
     "timer.expires_after(1s);\n"),
    ("no-sleep", "tests/contract/a_test.cc", "usleep(10);\n", 1, "wait_until(done);\n"),
    ("raw-memory", "src/core/a.cc", "auto* p = new Thing{};\n", 1,
     "auto p = std::make_unique<Thing>();\n"),
    ("raw-memory", "src/engine/a.cc", "delete p;\n", 1, "Thing(const Thing&) = delete;\n"),
    ("raw-memory", "src/api/a.cc", "void* p = malloc(1);\n", 1, "// a new malloc (free) word\n"),
    ("no-shared-ptr", "src/ports/a.h", "std::shared_ptr<int> p;\n", 1, "std::unique_ptr<int> p;\n"),
    ("no-detached", "src/api/a.cc", "co_spawn(io, run(), asio::detached);\n", 1,
     "tasks.spawn(run());\n"),
    ("no-detached", "src/runtime/a.cc", "thread.detach();\n", 1, "thread.join();\n"),
    ("no-regex", "src/cli/a.cc", "std::regex r;\n", 1, "Pattern r;\n"),
    ("co-await-lambda", "src/api/a.cc", "\nco_await run([&store] { return store.all(); });\n", 2,
     "auto all = [&store] { return store.all(); };\nco_await run(all);\n"),
    ("co-await-lambda", "src/api/a.cc", "auto x =\n  co_await run(1,\n  [this](int y) {\n});\n", 2,
     "auto x = co_await run(table[index], [] { return 1; });\n"),
    ("co-await-condition", "src/api/a.cc", "auto x = ready ? co_await f() : 0;\n", 1,
     "auto y = co_await f();\nauto x = ready ? y : 0;\n"),
    ("co-await-condition", "src/api/a.cc", "if (a && co_await f()) {\n}\n", 1,
     "auto&& y = co_await f();\n"),
    ("pragma-once", "src/core/a.h", "// What it is.\nint a;\n", 1,
     "// What it is.\n#pragma once\n"),
    ("header-comment", "src/core/a.h", "#pragma once\n", 1, "// What it is.\n#pragma once\n"),
    ("file-length", "src/core/a.cc", "int a;\n" * 601, 601, "int a;\n" * 600),
    ("line-length", "tools/a.py", "x" * 101 + "\n", 1, "é" * 100 + "\n"),
    ("python-function-length", "tools/a.py", "def f():\n" + "    g()\n" * 70, 1,
     "def f():\n" + "    g()\n" * 69),
    ("unfinished", "src/core/a.cc", f"int a;  // {UNFINISHED_MARK} later\n", 1, "int a;\n"),
    ("white-space", "README.md", "# A\n\ntext \n", 3, "# A\n\ntext\n"),
    ("white-space", "README.md", "# A\n\ntext", 3, "# A\n"),
    ("promise-exists", "src/core/a.h", "// Holds P99 latency and P13.\n", 1, "// Holds (P1).\n"),
    ("decision-exists", "src/core/a.h", "// docs/decisions/0009-x.md\n", 1,
     "// docs/decisions/0001-a.md\n"),
    ("link-exists", "docs/a.md", "# A\n\n[b](missing.md)\n", 3,
     "# A\n[b](invariants.md#p1) [c](decisions/0001-a.md) [d](https://example.com/x)\n"),
    ("one-title", "docs/a.md", "# A\n\n# B\n", 3, "# A\n\n```\n# a comment\n```\n"),
    ("one-title", "docs/a.md", "text\n", 1, "# A\n"),
    ("stands-alone", "README.md", f"# A\nsee {OUTSIDE_PATH}\n", 2, "# A\nthis network works\n"),
]

# Files that the rules refer to.
SURROUNDINGS = {
    "docs/invariants.md": "# Invariants\n\n- P1 Acknowledged means durable.\n",
    "docs/decisions/0001-a.md": "# A decision\n",
}


def findings(files, rule):
    return [finding for finding in tidy.check(tree_of(files)) if finding.rule == rule]


def case_name(case):
    return f"{case[0]}-{case[1]}"


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_a_rule_fires_on_the_bad_snippet_and_not_on_the_good_one(case):
    rule, path, bad, line, good = case
    found = findings({**SURROUNDINGS, path: bad}, rule)
    assert [(finding.path, finding.line) for finding in found] == [(path, line)]
    assert "; " in found[0].what, "a finding includes what to do instead"
    assert findings({**SURROUNDINGS, path: good}, rule) == []


def test_a_source_that_no_cmakelists_names_is_dead():
    files = {"src/core/CMakeLists.txt": "postrider_library(a SOURCES ids.cc sub/deep.cc)\n",
             "src/core/ids.cc": "", "src/core/sub/deep.cc": "", "src/core/old_ids.cc": ""}
    assert [finding.path for finding in findings(files, "dead-file")] == ["src/core/old_ids.cc"]


def test_a_header_that_no_file_includes_is_dead():
    files = {"src/CMakeLists.txt": "a.cc", "src/a.cc": '#include "core/used.h"\n',
             "src/core/used.h": "", "src/core/unused.h": ""}
    assert [finding.path for finding in findings(files, "dead-file")] == ["src/core/unused.h"]


def test_every_store_instantiates_every_contract():
    files = {"tests/contract/a_contract.cc": "TEST_P(LedgerContract, A) {}\n",
             "src/adapters/memory/a_test.cc": "INSTANTIATE_TEST_SUITE_P(M, LedgerContract, x);\n"}
    assert ["src/adapters/sqlite/" in finding.what
            for finding in findings(files, "contract-instances")] == [True]
    files["src/adapters/sqlite/a_test.cc"] = "INSTANTIATE_TEST_SUITE_P(S,\n  LedgerContract, x);\n"
    assert findings(files, "contract-instances") == []
    files["src/adapters/sqlite/a_test.cc"] = "ALL_CONTRACTS(Sqlite, open);\n"
    assert len(findings(files, "contract-instances")) == 1
    files["tests/contract/a.h"] = "#define ALL_CONTRACTS(p, m) \\\n  ONE(p, LedgerContract, m)\n"
    assert findings(files, "contract-instances") == []


HEADER_WITH_TYPES = """#pragma once
namespace a::b {
struct [[nodiscard]] Entry final : public Base<int> {
  struct Inner {};
};
template <class T>
class Box {};
enum class Colour : std::uint8_t { red };
struct Declared;
}
"""


@pytest.mark.parametrize("code, lines", [
    ("namespace a::b {\nstruct Entry {};\n}\n", [2]),
    ("namespace a {\nnamespace b {\nclass Box {};\nenum Colour { red };\n}\n}\n", [3, 4]),
    ("namespace a::b {\nnamespace {\nstruct Entry {};\n}\nstruct Entry {};\n}\n", [5]),
    ("namespace a::b {\nnamespace {\nstruct Entry {};\nnamespace c {\nclass Box {};\n}}}\n", []),
    ("namespace a {\nstruct Entry {};\n}\nstruct Entry {};\nnamespace b {\nclass Box {};\n}\n", []),
    ("namespace a::b {\nstruct Other {\n  struct Entry {};\n};\nstruct Inner {};\n}\n", []),
    ("namespace a::b {\nint f() {\n  struct Entry {};\n  return 1;\n}\n}\n", []),
    ("namespace a::b {\ntemplate <>\nclass Box<int> {};\nstruct Entry;\nenum class Colour;\n}\n",
     []),
    ("namespace a::b {\nstruct Declared {};\nBox make(struct Entry e) {\n}\n}\n", []),
    ("#define OPEN namespace a::b {\nstruct Entry {};\n", []),
])
def test_a_type_is_defined_once_in_a_namespace(code, lines):
    files = {"src/core/z.h": HEADER_WITH_TYPES, "src/api/a.cc": code}
    found = findings(files, "one-definition")
    assert [(finding.path, finding.line) for finding in found] == [
        ("src/api/a.cc", line) for line in lines]
    assert all("src/core/z.h" in finding.what for finding in found)


def test_two_sources_may_not_define_the_same_type():
    code = "namespace a {\nstruct Entry {};\n}\n"
    files = {"src/core/a.cc": code, "src/core/b_test.cc": code}
    assert [finding.path for finding in findings(files, "one-definition")] == [
        "src/core/b_test.cc"]


def test_an_unused_error_code_is_found():
    codes = "enum class Errc : int {\n  invalid,  ///< Bad.\n  lost,\n};\n"
    files = {"src/core/base/result.h": codes,
             "src/api/a.cc": "return fail(Errc::invalid);\n"}
    assert ["Errc::lost" in finding.what for finding in findings(files, "errc-used")] == [True]


def test_every_rule_has_a_test():
    tested = {case[0] for case in CASES} | {"dead-file", "contract-instances", "errc-used",
                                           "one-definition"}
    assert tested == set(tidy.RULES)


def test_tests_may_include_anything_and_read_clocks():
    files = {"src/core/a_test.cc": '#include <thread>\n#include "adapters/memory/ledger.h"\n'
                                   "auto t = std::chrono::steady_clock::now();\n"}
    product = {"src/core/a.cc": files["src/core/a_test.cc"]}
    for rule in ("pure-includes", "ambient"):
        assert findings(files, rule) == []
        assert findings(product, rule) != [], "the rule applies to product code"


def test_an_exception_silences_one_rule_in_one_file():
    bad = "std::shared_ptr<int> p;\n"
    files = {"src/ports/a.h": bad, "src/ports/b.h": bad,
             tidy.EXCEPTIONS: "# why\nsrc/ports/a.h: no-shared-ptr: handed to a library\n"}
    assert [finding.path for finding in findings(files, "no-shared-ptr")] == ["src/ports/b.h"]
    assert findings(files, "exceptions") == []


@pytest.mark.parametrize("line, want", [
    ("src/ports/a.h: no-shared-ptr: handed to a library", "no longer breaks"),
    ("src/ports/a.h: no-shared-ptr:", "needs all three"),
    ("src/ports/a.h: no-such-rule: because", "there is no rule"),
])
def test_an_exception_that_is_stale_or_malformed_is_a_finding(line, want):
    found = findings({"src/ports/a.h": "int a;\n", tidy.EXCEPTIONS: line + "\n"}, "exceptions")
    assert len(found) == 1 and want in found[0].what


def test_literals_and_comments_are_not_code():
    code = ('auto s = "new";  // delete\nauto r = R"x(malloc( ")x";\n'
            "/* new\n */ auto n = 1'000'000;\n")
    assert findings({"src/core/a.cc": code}, "raw-memory") == []
    assert [finding.line for finding in findings({"src/core/a.cc": code + "new int;\n"},
                                                 "raw-memory")] == [5]
