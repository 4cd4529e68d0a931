"""Remembers which sources clang-tidy found nothing in.

A source is known by everything that decides the answer: its text and that of the project's headers
it includes, the compiler's flags, the settings that apply and the version of clang-tidy. If one of
them changes, the source is checked again. Headers of the system are not compared.
"""

import hashlib
import re

from join_sources import INCLUDED, ROOT

FOLDER_FLAG = re.compile(r"-(?:I|isystem)(.+)")


def included(source, folders):
    """The source and the headers of the project it includes, directly or not."""
    found, waiting = set(), [source]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        for name in INCLUDED.findall(file.read_text()):
            waiting += [folder / name for folder in (file.parent, *folders)
                        if (folder / name).is_file()][:1]
    return found


def settings_of(source):
    return [file.read_text() for folder in source.parents
            if (file := folder / ".clang-tidy").is_file()]


class CheckedSources:
    """`tool` is what clang-tidy says of its version."""

    def __init__(self, directory, tool, root=ROOT):
        self.directory = directory
        self.tool = tool
        self.root = root
        directory.mkdir(parents=True, exist_ok=True)

    def contains(self, source, flags):
        return self._mark(source, flags).exists()

    def add(self, source, flags):
        self._mark(source, flags).touch()

    def _mark(self, source, flags):
        """The file whose existence says that the source was found clean."""
        folders = [self.root / match.group(1) for flag in flags
                   if (match := FOLDER_FLAG.match(flag))]
        digest = hashlib.sha256()
        parts = [self.tool, *flags, *settings_of(source)]
        for file in sorted(included(source, folders)):
            parts += [str(file), file.read_text()]
        for part in parts:
            text = part.replace(str(self.root), "")
            digest.update(f"{len(text)} {text}".encode())
        return self.directory / digest.hexdigest()
