"""Finds types defined at namespace scope by counting braces, as tidy_functions does."""

import re

_NAMESPACE = re.compile(r"\bnamespace\s*((?:\w+(?:\s*::\s*\w+)*)?)\s*$")
_TYPE = re.compile(r"\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+"
                   r"(?:\[\[[^\]]*\]\]\s*)?(\w+)(?:\s+final)?\s*(?::(?!:)[^;{}()]*)?$")
_MACRO = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_LOCAL = None  # The scope of an anonymous namespace, a type or a function: names of its own.


def _scope_of(header, around):
    """What the `{` after this text opens: the namespace's full name, or _LOCAL."""
    namespace = _NAMESPACE.search(header)
    if around is _LOCAL or not namespace or not namespace.group(1):
        return _LOCAL
    return around + re.sub(r"\s", "", namespace.group(1)) + "::"


def definitions(code):
    """(offset, full name) of each type that other files could define as well."""
    plain = _MACRO.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), code)
    scopes = [""]
    start = 0
    for mark in re.finditer(r"[{};]", plain):
        header = plain[start:mark.start()]
        start = mark.end()
        if mark.group() == "}":
            scopes[1:] = scopes[1:-1]
        elif mark.group() == "{":
            defined = _TYPE.search(header)
            if scopes[-1] is not _LOCAL and defined:
                yield mark.start() - len(header) + defined.start(1), scopes[-1] + defined.group(1)
            scopes.append(_scope_of(header, scopes[-1]))
