"""Rules for all text files: sizes, white space, unused files, documents and their links."""

import ast
import posixpath
import re

# clang-format formats lines and white space in C++.
FORMATTED_SUFFIXES = (".h", ".cc")
CODE_SUFFIXES = (".h", ".cc", ".py", ".sh", ".sql", ".js", ".mjs", "CMakeLists.txt", ".cmake",
                 "Makefile")
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
# The pattern must not match its own spelling.
OUTSIDE = re.compile(r"\.\./[s]hared|/[w]ork/|/[f]arm/|[b]ash_jobs")
PROMISE = re.compile(r"\bP([1-9][0-9]?)\b")
PERCENTILES = {"50", "90", "95", "99"}


def _is_code(source):
    return source.path.endswith(CODE_SUFFIXES)


def file_length(tree):
    for source in tree.values():
        if _is_code(source) and source.text.count("\n") > 600:
            yield (source.path, 601, f"{len(source.lines) - 1} lines; split the file along its "
                   "responsibilities (aim at 150 lines, at most 600)")


def line_length(tree):
    for source in tree.values():
        if not _is_code(source) or source.path.endswith(FORMATTED_SUFFIXES):
            continue
        for number, line in enumerate(source.lines, start=1):
            if len(line) > 100:
                yield source.path, number, f"{len(line)} columns; use at most 100"


def python_function_length(tree):
    for source in tree.values():
        if not source.path.endswith(".py"):
            continue
        for node in ast.walk(ast.parse(source.text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                length = node.end_lineno - node.lineno + 1
                if length > 70:
                    what = f"{node.name} has {length} lines; use at most 70"
                    yield source.path, node.lineno, what


def unfinished(tree):
    for source in tree.values():
        for number, line in enumerate(source.lines, start=1):
            match = UNFINISHED.search(line)
            if match:
                yield (source.path, number, f"{match.group()} marks unfinished work; finish it or "
                       "document the limitation")


def white_space(tree):
    for source in tree.values():
        if source.path.endswith(FORMATTED_SUFFIXES):
            continue
        for number, line in enumerate(source.lines, start=1):
            if line != line.rstrip():
                yield source.path, number, "white space at the end of the line; remove it"
        if source.text and not source.text.endswith("\n"):
            yield source.path, len(source.lines), "no line break at the end; add one"


def _is_listed(tree, path):
    """Does a CMakeLists.txt in its folder or above name the file, or any one by its full path?"""
    full = "${PROJECT_SOURCE_DIR}/" + path
    if any(full in source.text for source in tree.values()
           if source.path.endswith("CMakeLists.txt")):
        return True
    folder = posixpath.dirname(path)
    while True:
        lists = tree.get(posixpath.join(folder, "CMakeLists.txt"))
        name = posixpath.relpath(path, folder or ".")
        if lists and re.search(r"(?<![\w./-])" + re.escape(name) + r"(?![\w./-])", lists.text):
            return True
        if not folder:
            return False
        folder = posixpath.dirname(folder)


def dead_file(tree):
    included = set()
    for source in tree.cpp():
        included.update(re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', source.text,
                                   re.MULTILINE))
    for source in tree.cpp():
        if source.is_header:
            rooted = source.path.removeprefix("src/").removeprefix("include/")
            known = rooted in included or source.path in included
            what = "no file includes it; include it or remove it"
        else:
            known = _is_listed(tree, source.path)
            what = "no CMakeLists.txt lists it; list it or remove it"
        if not known:
            yield source.path, 1, what


def _comments(source):
    """Yields (line, text) of prose: all lines of a document, the comments of code."""
    for number, line in enumerate(source.lines, start=1):
        if source.path.endswith(".md"):
            yield number, line
            continue
        position = line.find("//" if source.is_cpp else "#")
        if position >= 0:
            yield number, line[position:]


def promise_exists(tree):
    invariants = tree.get("docs/invariants.md")
    promised = set(PROMISE.findall(invariants.text)) if invariants else set()
    for source in tree.values():
        if not source.path.endswith((".h", ".cc", ".py", ".md")):
            continue
        for number, text in _comments(source):
            for cited in PROMISE.findall(text):
                if cited not in promised and cited not in PERCENTILES:
                    yield (source.path, number, f"P{cited} is not in docs/invariants.md; "
                           "cite an existing promise or add it there")


def decision_exists(tree):
    for source in tree.values():
        for number, line in enumerate(source.lines, start=1):
            for link in re.findall(r"docs/decisions/[\w-]+\.md", line):
                if link not in tree:
                    yield source.path, number, f"{link} does not exist; fix the link or add it"


def _prose(source):
    """Yields (line, text) of a document outside of fenced code blocks."""
    fenced = False
    for number, line in enumerate(source.lines, start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def link_exists(tree):
    folders = {posixpath.dirname(path) for path in tree}
    for source in tree.values():
        if not source.path.endswith(".md"):
            continue
        for number, line in _prose(source):
            for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
                if re.match(r"[a-z]+:", link):
                    continue
                target = posixpath.normpath(
                    posixpath.join(posixpath.dirname(source.path), link))
                known = (target in tree or target in folders or target == "LICENSE"
                         or any(folder.startswith(target + "/") for folder in folders))
                if not known:
                    yield source.path, number, f"the link to {link} has no target; fix it"


def one_title(tree):
    for source in tree.values():
        if not source.path.endswith(".md"):
            continue
        titles = [number for number, line in _prose(source) if line.startswith("# ")]
        if len(titles) != 1:
            line = titles[1] if len(titles) > 1 else 1
            yield (source.path, line, f"{len(titles)} titles; a document has exactly one line that "
                   "starts with `# `")


def stands_alone(tree):
    for source in tree.values():
        for number, line in enumerate(source.lines, start=1):
            match = OUTSIDE.search(line)
            if match:
                yield (source.path, number, f"`{match.group()}` is outside of the project; "
                       "remove the reference")


RULES = {
    "file-length": file_length,
    "line-length": line_length,
    "python-function-length": python_function_length,
    "unfinished": unfinished,
    "white-space": white_space,
    "dead-file": dead_file,
    "promise-exists": promise_exists,
    "decision-exists": decision_exists,
    "link-exists": link_exists,
    "one-title": one_title,
    "stands-alone": stands_alone,
}
