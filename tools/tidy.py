"""Checks the project's style rules.

Prints `path:line: rule: what is wrong; what to do instead` for each finding and exits with 1 if
there is any. tools/tidy_exceptions.txt lists exceptions with their reasons. An exception that is no
longer needed is a finding too.

    tools/tidy.py [ROOT]
"""

import pathlib
import sys

import tidy_cpp
import tidy_text
from tidy_source import Finding, read_tree

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXCEPTIONS = "tools/tidy_exceptions.txt"
RULES = {**tidy_cpp.RULES, **tidy_text.RULES}


def read_exceptions(tree):
    """Parses lines of `path: rule: reason`. Returns {(path, rule): line number} and findings."""
    exceptions = {}
    findings = []
    source = tree.get(EXCEPTIONS)
    for number, line in enumerate(source.lines if source else [], start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(":", 2)]
        if len(parts) < 3 or not parts[2]:
            what = "the line is not `path: rule: reason`; an exception needs all three"
        elif parts[1] not in RULES:
            what = f"there is no rule `{parts[1]}`; remove the line"
        else:
            exceptions[parts[0], parts[1]] = number
            continue
        findings.append(Finding(EXCEPTIONS, number, "exceptions", what))
    return exceptions, findings


def check(tree):
    """Returns the findings without an exception, sorted by path and line."""
    exceptions, findings = read_exceptions(tree)
    used = set()
    for name, rule in RULES.items():
        for path, line, what in rule(tree):
            if (path, name) in exceptions:
                used.add((path, name))
            else:
                findings.append(Finding(path, line, name, what))
    for key, line in exceptions.items():
        if key not in used:
            what = f"{key[0]} no longer breaks `{key[1]}`; remove the line"
            findings.append(Finding(EXCEPTIONS, line, "exceptions", what))
    return sorted(findings)


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else ROOT
    findings = check(read_tree(root))
    for finding in findings:
        print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.what}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
