"""The lines of the server's log, in both forms, and the tables of docs/logs.md."""

import collections
import functools
import json
import pathlib
import re

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "logs.md"

_LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) level=(\w+) (\S+)((?: .*)?)")
_FIELD = re.compile(r' ([a-z0-9_]+)=(?:"((?:[^"\\]|\\.)*)"|([^" ][^ ]*|))(?= |$)')
_FIRST_LINES = 20_000  # Of a very long log.

Event = collections.namedtuple("Event", "levels required optional")


def _rows(heading):
    """The cells of the table under a heading of the document."""
    section = DOCUMENT.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")]
            for line in section.splitlines() if line.startswith("| `")]


@functools.cache
def documented_events():
    """{name: Event}, with levels and fields as sets."""
    events = {}
    for name, levels, fields, _ in _rows("Events"):
        named = re.findall(r"`(\w+)`(\??)", fields)
        assert name.strip("`") not in events, f"{name} is in the table twice"
        events[name.strip("`")] = Event(
            set(levels.split(", ")), {field for field, mark in named if not mark},
            {field for field, mark in named if mark})
    return events


@functools.cache
def documented_types():
    """{field: "text", "number" or "boolean"}."""
    types = {name.strip("`"): kind for name, kind, _ in _rows("Fields")}
    assert len(types) == len(_rows("Fields")), "a field is in the table twice"
    return types


def _typed(key, text, quoted):
    kind = documented_types().get(key)
    return json.loads(text) if kind in ("number", "boolean") and not quoted else text


def parse_text(line):
    """Converts a line of text into what the JSON form of the same line contains."""
    found = _LINE.fullmatch(line)
    assert found, f"not a log line: {line!r}"
    time, level, name, rest = found.groups()
    record = {"time": time, "level": level, "message": name}
    end = 0
    for field in _FIELD.finditer(rest):
        key, quoted, bare = field.groups()
        assert field.start() == end and key not in record, f"{key} in {line!r}"
        end = field.end()
        record[key] = _typed(key, bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted),
                             quoted is not None)
    assert end == len(rest), f"{rest[end:]!r} is not a field: {line!r}"
    return record


def _no_duplicates(pairs):
    assert len(dict(pairs)) == len(pairs), f"a key twice: {pairs}"
    return dict(pairs)


def parse_json(line):
    return json.loads(line, object_pairs_hook=_no_duplicates)


def parse(line):
    return parse_json(line) if line.startswith("{") else parse_text(line)


def is_log_line(line):
    return line.startswith("{") or _LINE.match(line) is not None


_PYTHON_TYPES = {"text": (str,), "number": (int, float), "boolean": (bool,)}


def check_documented(record):
    """Fails unless the tables describe the line: its event, level, fields and their types."""
    event = documented_events().get(record["message"])
    assert event, f"docs/logs.md has no event {record['message']}: {record}"
    assert record["level"] in event.levels, f"docs/logs.md has another level: {record}"
    fields = set(record) - {"time", "level", "message"}
    assert event.required <= fields <= event.required | event.optional, (
        f"docs/logs.md has other fields: {record}")
    for field in fields:
        expected = _PYTHON_TYPES[documented_types()[field]]
        assert record[field] is None or type(record[field]) in expected, (
            f"docs/logs.md has another type of {field}: {record}")


def check_log(text):
    """Checks the log of a server that has ended. Skips lines of sanitizers and of the loader."""
    for line in text.splitlines()[:_FIRST_LINES]:
        if is_log_line(line):
            check_documented(parse(line))
