"""Finds types defined at namespace scope by counting braces."""

import re

_NAMESPACE = re.compile(r"\bnamespace\s*((?:\w+(?:\s*::\s*\w+)*)?)\s*$")
_TYPE = re.compile(r"\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+"
                   r"(?:\[\[[^\]]*\]\]\s*)?(\w+)(?:\s+final)?\s*(?::(?!:)[^;{}()]*)?$")
_MACRO = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_LOCAL = None  # Inside an anonymous namespace, a type or a function: names are local to it.


def _scope_of(header, around):
    """Returns the scope that the `{` after this text opens: a namespace's full name, or _LOCAL."""
    namespace = _NAMESPACE.search(header)
    if around is _LOCAL or not namespace or not namespace.group(1):
        return _LOCAL
    return around + re.sub(r"\s", "", namespace.group(1)) + "::"


def definitions(code):
    """Yields (offset, full name) of each type defined at namespace scope."""
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
