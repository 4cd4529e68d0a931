"""The source tree for the rules of tidy: text files, and C++ without comments and literals."""

import dataclasses
import functools
import os
import re
import typing

SKIPPED_FOLDERS = {".git", ".cache", "build", "node_modules", "postrider-data", "__pycache__"}
TEXT_SUFFIXES = {".h", ".cc", ".py", ".sh", ".sql", ".js", ".mjs", ".md", ".txt", ".json", ".cmake",
                 ".yml", ".yaml", ".service", ".toml"}
IMAGE_SUFFIXES = {".png"}  # Part of the tree, as targets of links, but without text.
TEXT_NAMES = {"Makefile", "run", ".clang-format", ".clang-tidy", ".gitignore", ".editorconfig"}


class Finding(typing.NamedTuple):
    path: str
    line: int
    rule: str
    what: str


# Comments, raw strings, strings and characters, whichever starts first. A digit separator (1'000)
# is not a character literal.
_BLANKED = re.compile("|".join([
    r"//[^\n]*", r"/\*.*?\*/", r'R"(\w*)\(.*?\)\1"', r'"(?:\\.|[^"\\\n])*"',
    r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
]), re.DOTALL)


def _blank(match):
    """Replaces everything except line breaks with spaces."""
    return re.sub(r"[^\n]", " ", match.group())


@dataclasses.dataclass(frozen=True)
class Source:
    path: str  # Relative to the root, with forward slashes.
    text: str

    @functools.cached_property
    def lines(self):
        return self.text.split("\n")

    @functools.cached_property
    def code(self):
        """C++ with comments and literals replaced by spaces. Offsets do not change."""
        return _BLANKED.sub(_blank, self.text)

    @functools.cached_property
    def code_lines(self):
        return self.code.split("\n")

    @property
    def is_cpp(self):
        return self.path.endswith((".h", ".cc"))

    @property
    def is_header(self):
        return self.path.endswith(".h")

    @property
    def is_test(self):
        beside = self.path.endswith("_test.cc") or self.is_header and "<gtest/" in self.text
        return self.path.startswith("tests/") or beside

    @property
    def layer(self):
        """The folder under src/ that determines the allowed dependencies, for example `core`."""
        parts = self.path.split("/")
        if parts[0] != "src" or len(parts) < 3:
            return ""
        return "/".join(parts[1:3]) if parts[1] == "adapters" else parts[1]

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1


class Tree(dict):
    """Sources by path."""

    def cpp(self):
        return [source for source in self.values() if source.is_cpp]

    def product_cpp(self):
        return [source for source in self.cpp() if source.layer and not source.is_test]


def tree_of(files):
    """Creates a tree from {path: text}. For tests."""
    return Tree({path: Source(path, text) for path, text in files.items()})


def read_tree(root):
    tree = Tree()
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(set(subfolders) - SKIPPED_FOLDERS)
        for name in sorted(names):
            suffix = os.path.splitext(name)[1]
            full = os.path.join(folder, name)
            path = os.path.relpath(full, root).replace(os.sep, "/")
            if suffix in IMAGE_SUFFIXES:
                tree[path] = Source(path, "")
            elif name in TEXT_NAMES or suffix in TEXT_SUFFIXES:
                with open(full, encoding="utf-8", errors="replace") as file:
                    tree[path] = Source(path, file.read())
    return tree
