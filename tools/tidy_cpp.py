"""Rules for C++. Each takes the tree and yields (path, line, "what is wrong; what to do")."""

import re

from tidy_definitions import definitions

PURE_LAYERS = ("core", "engine", "ports")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')

# The engine's plain structs. Ports and adapters may use them, but not the engine's classes.
ENGINE_MESSAGES = ("engine/batch.h", "engine/intake/publish.h", "engine/shard/messages.h")
IMPURE_HEADERS = {"thread", "mutex", "shared_mutex", "condition_variable", "atomic", "future",
                  "stop_token", "iostream", "filesystem", "random", "coroutine", "regex"}

AMBIENT = re.compile(
    r"::now\(|(?<![\w.>])time\(\s*(?:nullptr|NULL|0|&)|\bclock_gettime\b|\bgettimeofday\b"
    r"|\brandom_device\b|\bRAND_(?:priv_)?bytes\b|\bgetrandom\b|\bs?rand\("
    r"|\bsleep_(?:for|until)\b|\b(?:u|nano)sleep\b|\bgetenv\b")
# SQL of only one database. Understood by all: ON CONFLICT, coalesce, CASE, CAST, ?1.
ONE_DATABASE_SQL = re.compile(
    r"INSERT OR [A-Z]+|INDEXED BY|\b(?:ifnull|iif|unnest)\(|PRAGMA|\browid\b|\$[1-9]|FOR UPDATE")
SLEEP = re.compile(r"\bsleep_(?:for|until)\b|\b(?:u|nano)?sleep\(")
RAW_MEMORY = re.compile(r"\bnew\b|(?<!= )\bdelete\b|\b(?:malloc|calloc|realloc|free)\s*\(")
CAPTURING_LAMBDA = re.compile(r"[(,={]\s*\[(?!\[)[^\]]+\]\s*(?:[({]|mutable\b|noexcept\b|->)")
CONDITIONAL = re.compile(r"\s\?\s|\s(?:&&|\|\|)\s")


def _matches(sources, pattern, what):
    for source in sources:
        for number, line in enumerate(source.code_lines, start=1):
            match = pattern.search(line)
            if match:
                yield source.path, number, what.format(match.group().strip())


def _includes(source):
    """Yields (line, whether it is quoted, path)."""
    for number, line in enumerate(source.lines, start=1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def rooted_include(tree):
    for source in tree.cpp():
        for number, quoted, included in _includes(source):
            if quoted and "/" not in included:
                yield (source.path, number, f'"{included}" is relative; '
                       "write the path from src/, or from the root for tests/")


def engine_messages(tree):
    """Ports and adapters link the engine but may use only its plain structs."""
    for source in tree.product_cpp():
        if source.layer != "ports" and not source.layer.startswith("adapters"):
            continue
        for number, _, included in _includes(source):
            if included.startswith("engine/") and included not in ENGINE_MESSAGES:
                yield (source.path, number, f"{included} declares a class of the engine; "
                       "include a header of plain structs instead")


def pure_includes(tree):
    for source in tree.product_cpp():
        if source.layer not in PURE_LAYERS:
            continue
        for number, quoted, included in _includes(source):
            if quoted:
                continue
            if included in IMPURE_HEADERS:
                yield (source.path, number, f"<{included}> in {source.layer}; "
                       "threads, time, files and entropy belong to adapters and runtime")
            elif re.search(r"/|\.h$", included) and not re.match(r"(fmt|tl)/", included):
                yield (source.path, number, f"third-party <{included}> in {source.layer}; "
                       "only the standard library, fmt and tl are allowed here")


def neutral_sql(tree):
    """adapters/sql works with every SQL database."""
    for source in tree.product_cpp():
        if source.layer != "adapters/sql":
            continue
        for number, quoted, included in _includes(source):
            if not quoted and re.search(r"/|\.h$", included) and not included.startswith("fmt/"):
                yield (source.path, number, f"<{included}> in adapters/sql; "
                       "what needs a library of a database belongs to its adapter")
        for number, line in enumerate(source.lines, start=1):
            match = ONE_DATABASE_SQL.search(line.split("//")[0])
            if match:
                yield (source.path, number, f"`{match.group()}` is not understood by every "
                       "database; see adapters/sql/database.h")


def ambient(tree):
    sources = [source for source in tree.product_cpp() if source.layer != "adapters/system"]
    for path, number, what in _matches(sources, AMBIENT, "`{}`"):
        if "RAND_" in what and path.startswith("src/adapters/openssl/"):
            continue
        yield (path, number, f"{what} reads a clock, entropy or the environment directly; "
               "pass the value as an argument (only adapters/system reads it)")


def no_sleep(tree):
    tests = [source for source in tree.cpp()
             if source.is_test and not source.path.startswith("tests/support/")]
    return _matches(tests, SLEEP, "`{}` in a test; wait on a condition with a deadline")


def raw_memory(tree):
    sources = [source for source in tree.product_cpp()
               if not source.layer.startswith("adapters/")]
    return _matches(sources, RAW_MEMORY,
                    "`{}` outside adapters; use a value, a container or make_unique")


def no_shared_ptr(tree):
    sources = [source for source in tree.product_cpp() if source.layer in ("core", "ports")]
    return _matches(sources, re.compile(r"\b(?:shared|weak)_ptr\b|\bmake_shared\b"),
                    "`{}` in core or ports; use one owner and pass values or references")


def no_detached(tree):
    sources = [source for source in tree.product_cpp() if source.layer != "main"]
    return _matches(sources, re.compile(r"\bdetached\b|\.detach\(\)"),
                    "`{}` outside main; everything spawned is owned and awaited at shutdown")


def no_regex(tree):
    return _matches(tree.cpp(), re.compile(r"\bstd::w?s?regex\w*|\bstd::basic_regex\b"),
                    "`{}` recurses on its input; write a small parser")


def _awaited_expressions(code):
    """Yields (start of co_await, its end, the full expression around it)."""
    for match in re.finditer(r"\bco_await\b", code):
        start = max(code.rfind(stop, 0, match.start()) for stop in ";{}") + 1
        depth = 0
        end = match.end()
        while end < len(code):
            character = code[end]
            depth += (character in "([{") - (character in ")]}")
            if depth < 0 or (depth == 0 and character == ";"):
                break
            end += 1
        yield match.start(), match.end(), code[start:end]


def co_await_lambda(tree):
    for source in tree.cpp():
        for start, end, expression in _awaited_expressions(source.code):
            awaited = expression[expression.find("co_await") + len("co_await"):]
            if CAPTURING_LAMBDA.search(awaited):
                yield (source.path, source.line_of(start), "a capturing lambda inside a co_await "
                       "expression is destroyed twice by GCC 12; name it first")


def co_await_condition(tree):
    for source in tree.cpp():
        for start, end, expression in _awaited_expressions(source.code):
            # The body of a lambda is a separate set of expressions.
            outer = re.sub(r"\{.*\}", "", expression, flags=re.DOTALL)
            if "co_await" in outer and CONDITIONAL.search(outer):
                yield (source.path, source.line_of(start), "co_await inside `?:`, `&&` or `||` is "
                       "miscompiled by GCC 12; await into a variable first")


def pragma_once(tree):
    for source in tree.cpp():
        if source.is_header and "#pragma once" not in source.text:
            yield source.path, 1, "no #pragma once; add it after the file comment"


def header_comment(tree):
    for source in tree.cpp():
        if source.is_header and not source.text.startswith("//"):
            yield (source.path, 1, "no file comment; describe what it is, who owns it and which "
                   "thread it runs on")


def one_definition(tree):
    """Two types with one name in one namespace violate the one-definition rule."""
    first_places = {}
    for source in sorted(tree.cpp(), key=lambda source: (not source.is_header, source.path)):
        for offset, name in definitions(source.code):
            first = first_places.setdefault(name, source.path)
            if first != source.path:
                yield (source.path, source.line_of(offset), f"{name} is defined in {first} too; "
                       "rename one, or put it into an anonymous namespace")


def _instantiations(tree, suite):
    """Matches an instantiation of `suite`, directly or through a macro of tests/contract."""
    spellings = [r"INSTANTIATE_TEST_SUITE_P\(\s*\w+,\s*" + suite + r"\b"]
    for source in tree.cpp():
        if source.path.startswith("tests/contract/"):
            for name, body in re.findall(r"#define (\w+)\(((?:[^\n]*\\\n)*[^\n]*)", source.code):
                if re.search(r"\b" + suite + r"\b", body):
                    spellings.append(r"\b" + name + r"\(")
    return re.compile("|".join(spellings))


STORES = ("src/adapters/memory/", "src/adapters/sqlite/")
SOURCES = ("src/adapters/memory/", "src/adapters/postgres/", "src/adapters/redis/",
           "src/adapters/amqp/")
CLUSTERS = ("src/adapters/memory/", "src/adapters/postgres/")  # That several nodes can share.


def contract_instances(tree):
    """Every contract suite runs on every adapter of its kind."""
    contracts = [source for source in tree.cpp() if source.path.startswith("tests/contract/")]
    for source in contracts:
        adapters = {"source_contract.cc": SOURCES,
                    "lease_contract.cc": CLUSTERS}.get(source.path.rpartition("/")[2], STORES)
        for suite in sorted(set(re.findall(r"\bTEST_P\(\s*(\w+)", source.code))):
            instance = _instantiations(tree, suite)
            for adapter in adapters:
                if not any(other.path.startswith(adapter) and instance.search(other.code)
                           for other in tree.cpp()):
                    yield (source.path, 1, f"{suite} is not instantiated in {adapter}; "
                           "instantiate every contract suite for every adapter")


def errc_used(tree):
    """An error code exists only if a caller branches on it."""
    source = tree.get("src/core/base/result.h")
    body = re.search(r"enum class Errc[^{]*\{([^}]*)\}", source.code) if source else None
    if not body:
        return
    users = [other.code for other in tree.product_cpp() if other.layer != "core"]
    for value in re.findall(r"\b([a-z_]+)\b", body.group(1)):
        if not any(re.search(r"Errc::" + value + r"\b", code) for code in users):
            yield (source.path, source.line_of(body.start()), f"Errc::{value} is not used "
                   "outside core; remove it")


RULES = {
    "rooted-include": rooted_include,
    "engine-messages": engine_messages,
    "pure-includes": pure_includes,
    "neutral-sql": neutral_sql,
    "ambient": ambient,
    "no-sleep": no_sleep,
    "raw-memory": raw_memory,
    "no-shared-ptr": no_shared_ptr,
    "no-detached": no_detached,
    "no-regex": no_regex,
    "co-await-lambda": co_await_lambda,
    "co-await-condition": co_await_condition,
    "pragma-once": pragma_once,
    "header-comment": header_comment,
    "one-definition": one_definition,
    "contract-instances": contract_instances,
    "errc-used": errc_used,
}
