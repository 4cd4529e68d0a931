#!/usr/bin/python3
"""Decides which C++ sources can be compiled together as one.

    tools/join_sources.py SOURCE...        prints one group per line, its sources separated by `;`

Most of the time of a compiler goes into headers and templates, which sources of one target share.
Sources that define the same name must stay apart: what an unnamed namespace holds would clash.
The names are read from the lines at the left margin, where the house style has all definitions.
"""

import functools
import pathlib
import re
import sys

SOURCES_MAX = 8
LINES_MAX = 2000  # Keeps the groups of one target about equally large.
# Lines at the margin that define no name of their own.
NO_NAME = re.compile(r"namespace\b|using namespace\b|using [\w:]+;|TEST(_F|_P)?\(|TYPED_TEST|"
                     r"INSTANTIATE_|RC_GTEST|template\b|extern\b|return\b|public:|private:")
TYPE = re.compile(r"(?:class|struct|union|enum class|enum|using|concept)\s+"
                  r"(?:\[\[\w+\]\]\s+)?(\w+)")
# The last word before the parameters or the value; not if it is a member (`Writer::open`).
FUNCTION_OR_VARIABLE = re.compile(r"[^({=;]*?(?<![\w:])(\w+)\s*[({=;\[]")
MACRO = re.compile(r"#define\s+(\w+)")
USED = re.compile(r"using (?:[\w:]+::)(\w+);")
INCLUDED = re.compile(r'#include "([^"]+)"')
ROOT = pathlib.Path(__file__).resolve().parent.parent


def names_of(text):
    """The names that a source defines, as far as they can clash with another source's."""
    names = set()
    for line in text.splitlines():
        macro = MACRO.match(line)
        if macro:
            names.add(macro.group(1))
        if not line[:1].isalpha() or NO_NAME.match(line):
            continue
        match = TYPE.match(line) or FUNCTION_OR_VARIABLE.match(line)
        if match:
            names.add(match.group(1))
    return names


@functools.cache
def names_of_header(name):
    for folder in (ROOT / "src", ROOT):
        if (folder / name).is_file():
            return names_of((folder / name).read_text())
    return set()


class Group:
    """Sources that are compiled together."""

    def __init__(self):
        self.sources = []
        self.defined = set()
        self.seen = set()  # Names from headers. Sources may share them but not define them.
        self.lines = 0

    def add(self, source):
        """Adds the source if it fits. Returns whether it does."""
        text = pathlib.Path(source).read_text()
        defined, lines = names_of(text), text.count("\n")
        seen = set(USED.findall(text)).union(*map(names_of_header, INCLUDED.findall(text)))
        clash = defined & (self.defined | self.seen) or self.defined & seen
        full = len(self.sources) == SOURCES_MAX or self.lines + lines > LINES_MAX
        if self.sources and (clash or full):
            return False
        self.sources.append(source)
        self.defined |= defined
        self.seen |= seen
        self.lines += lines
        return True


def joinable(sources):
    """Splits sources with the same compiler flags into groups that define no name twice."""
    groups = []
    for source in sources:
        if not any(group.add(source) for group in groups):
            groups.append(Group())
            groups[-1].add(source)
    return [group.sources for group in groups]


if __name__ == "__main__":
    for joined in joinable(sys.argv[1:]):
        print(";".join(joined))
