"""docs/logs.md lists every event that the source code logs, with its level and fields."""

import functools
import pathlib
import re

from log_lines import documented_events, documented_types

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "src"
CALL = re.compile(r"\bspdlog::(trace|debug|info|warn|error|critical|log)\(")
STRING = r'"(?:[^"\\]|\\.)*"'
FIELD = re.compile(r'(?:^|[ "])([a-z0-9_]+)=')
LEVELS = {"warn": "warning"}

# Lines that are put together elsewhere than in the call of the logger: where their names are, and
# the files of their fields. The levels of these are checked on running servers.
INDIRECT = {
    "api.request": ["main/access_log.cc"],
    "delivery.attempted": ["runtime/observability/attempt_log.cc"],
    "limits.fitted": ["main/fitted_limits.cc"],
    "log.failed": ["main/logging.cc"],
    "server.banner": ["main/banner.cc"],
    "server.crashed": ["main/logging.cc"],
    "server.start_failed": ["main/logging.cc"],
}
CALLS_WITHOUT_NAME = {"main/access_log.cc": 1, "runtime/observability/attempt_log.cc": 1,
                      "main/server.cc": 1}


def without_comments(text):
    """Also without characters, such as a quote."""
    skipped = r"//[^\n]*|'(?:[^'\\]|\\.)'"
    return re.sub(rf"({STRING})|{skipped}", lambda found: found.group(1) or "", text)


def unquoted(literals):
    """The text of adjacent string literals."""
    return "".join(re.sub(r"\\(.)", r"\1", each[1:-1]) for each in re.findall(STRING, literals))


@functools.cache
def sources():
    """{path: text} of all files of the server."""
    return {str(file.relative_to(SOURCE)): without_comments(file.read_text())
            for file in sorted(SOURCE.rglob("*.cc")) if not file.name.endswith("_test.cc")}


@functools.cache
def logged():
    """(path, level, text) for each call of the logger. The text is empty if it is not a literal."""
    calls = []
    for path, text in sources().items():
        for call in CALL.finditer(text):
            literal = re.match(rf"\s*((?:{STRING}\s*)+)", text[call.end():])
            calls.append((path, LEVELS.get(call.group(1), call.group(1)),
                          unquoted(literal.group(1)) if literal else ""))
    return calls


def fields_in(text):
    """The names before `=` in all string literals."""
    return {name for literal in re.findall(STRING, text)
            for name in FIELD.findall(unquoted(literal))}


def test_every_logged_event_is_documented_with_its_level_and_fields():
    files = sources()
    for path, level, text in logged():
        if not text:
            continue
        name = text.split(" ")[0]
        event = documented_events().get(name)
        assert event, f"{path}: {name} is not in docs/logs.md"
        assert level in event.levels, f"{path}: {name} has level {level}"
        direct = set(FIELD.findall(text[len(name):]))
        assert direct <= event.required | event.optional, f"{path}: {name} has {direct}"
        missing = event.required - direct
        assert missing <= fields_in(files[path]), f"{path}: {name} has no {missing}"


def test_every_documented_event_is_logged():
    direct = {text.split(" ")[0]: level for _, level, text in logged() if text}
    assert not set(direct) & set(INDIRECT)
    assert set(documented_events()) == set(direct) | set(INDIRECT)
    for name, event in documented_events().items():
        calls = [(path, level) for path, level, text in logged() if text.split(" ")[0] == name]
        if calls:
            assert event.levels == {level for _, level in calls}, name
            assert event.optional <= fields_in("".join(sources()[path] for path, _ in calls)), name


def test_lines_that_are_put_together_elsewhere_are_known():
    files = sources()
    unnamed = [path for path, _, text in logged() if not text]
    assert {path: unnamed.count(path) for path in unnamed} == CALLS_WITHOUT_NAME, (
        "a call of the logger begins with a literal that has the name of the event")
    for name, paths in INDIRECT.items():
        text = "".join(files[path] for path in paths)
        assert re.search(rf'"{re.escape(name)}[" ]', text), name
        event = documented_events()[name]
        fields = fields_in(text) | {literal[1:-1] for literal in re.findall(STRING, text)}
        missing = (event.required | event.optional) - fields
        assert not missing, f"{name}: {missing}"


def test_every_field_is_documented_with_its_type():
    used = set().union(*(event.required | event.optional
                         for event in documented_events().values()))
    assert used == set(documented_types())
    text = (SOURCE / "main" / "json_log.cc").read_text()

    def listed(name):
        return re.findall(r'"(\w+)"', re.search(rf"{name} = \{{(.*?)\}};", text, re.S).group(1))
    numbers = {field for field in used if field in listed("number_fields")
               or field.endswith(tuple(listed("number_units")))}
    assert numbers == {field for field, kind in documented_types().items() if kind == "number"}
    assert set(listed("boolean_fields")) == {
        field for field, kind in documented_types().items() if kind == "boolean"}
    assert set(listed("number_fields")) <= used
