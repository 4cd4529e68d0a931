"""Finds functions in C++ by counting braces: no parser, but right for well-formatted code."""

import re

_TYPE_SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b(?!.*\)\s*\w*\s*$)",
                         re.DOTALL)
_INITIALISER = re.compile(r"(?<![=!<>])=\s*$")


def _opens_function(header):
    """Does the `{` after this text, outside any function, start a function's body?

    After `Type() : member_{value}` the body's own brace follows nothing, or the rest of the list.
    """
    text = header.strip()
    if _TYPE_SCOPE.search(text) or _INITIALISER.search(text):
        return False
    return "(" in text or text == "" or text.startswith(",")


def functions(code):
    """(first line of the body's brace, number of lines) for each outermost function."""
    line = 1
    header = []
    scopes = []  # True for a function's brace; what is inside one belongs to it.
    opened_at = 0
    for character in code:
        if character == "\n":
            line += 1
        if character == "{":
            inside = True in scopes
            is_function = not inside and _opens_function("".join(header))
            if is_function:
                opened_at = line
            scopes.append(is_function)
        elif character == "}" and scopes:
            if scopes.pop():
                yield opened_at, line - opened_at + 1
        if character in "{};":
            header = []
        else:
            header.append(character)


_MACRO = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)


def long_functions(code, length_max):
    # Preprocessor lines have unbalanced braces of their own; only their line breaks matter.
    plain = _MACRO.sub(lambda match: "\n" * match.group().count("\n"), code)
    return [(line, length) for line, length in functions(plain) if length > length_max]
