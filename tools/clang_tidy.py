#!/usr/bin/python3
"""Runs clang-tidy on every source in src/ that the build compiles, except tests.

    tools/clang_tidy.py BUILD_DIRECTORY [JOBS]

Most of clang-tidy's time goes into the headers. Several sources with the same compiler flags are
therefore joined into one file and checked together. A source with a finding is checked again
alone, and only what is found then counts. Sources that cannot be joined are checked in halves.
A source found clean is not checked again until something it is made of changes.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import join_sources
from checked_sources import CheckedSources

ROOT = pathlib.Path(__file__).resolve().parent.parent
FINDING = re.compile(r"^(/[^:\n]+):(\d+):(\d+): (?:warning|error): ", re.MULTILINE)


def flags_of(entry):
    """The compiler's arguments without the source and what is written."""
    words = shlex.split(entry["command"])
    start = next(i for i, word in enumerate(words) if re.search(r"(g|clang)\+\+(-\d+)?$", word))
    flags, skip = [], False
    for word in words[start + 1:]:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MT", "-MF"):
            skip = True
        elif word != "-MD":
            flags.append(word)
    return tuple(flags)


def settings_folder(source):
    """The nearest folder above the source that has settings for clang-tidy."""
    return next((folder for folder in source.parents if (folder / ".clang-tidy").exists()), ROOT)


class Tidy:
    def __init__(self, build):
        self.directory = build / "tidy"

    def directory_of(self, folder):
        """Where sources below `folder` are joined: clang-tidy finds the settings of `folder`."""
        directory = self.directory / folder.relative_to(ROOT)
        directory.mkdir(parents=True, exist_ok=True)
        if folder != ROOT:
            shutil.copy(folder / ".clang-tidy", directory)
        return directory

    def run(self, file, flags):
        command = ["clang-tidy-19", "--quiet", "--extra-arg=-Wno-unknown-warning-option",
                   "--extra-arg=-Qunused-arguments", str(file), "--", *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return ""
        return done.stdout or done.stderr

    def check(self, sources, flags):
        """Returns what clang-tidy says about the sources; empty if nothing."""
        if len(sources) == 1:
            return self.run(sources[0], flags)
        directory = self.directory_of(settings_folder(sources[0]))
        joined = directory / f"{sources[0].stem}-{abs(hash(tuple(sources)))}.cc"
        ends, text = [], ""
        for source in sources:
            text += source.read_text() + "\n"
            ends.append(text.count("\n"))
        joined.write_text(text)
        said = self.run(joined, flags)
        joined.unlink()
        if not said:
            return ""
        if "clang-diagnostic-error" in said:
            half = len(sources) // 2
            return self.check(sources[:half], flags) + self.check(sources[half:], flags)
        found = set()
        for file, line, _ in FINDING.findall(said):
            if file == str(joined):
                found.add(next(i for i, end in enumerate(ends) if int(line) <= end))
            else:
                found.add(0)  # In a header: any source shows it.
        return "".join(self.run(sources[i], flags) for i in sorted(found or range(len(sources))))


def sources_by_flags(build):
    """The sources to check, by the compiler's flags and the folder whose settings apply."""
    by_flags = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if source.is_relative_to(ROOT / "src") and not source.name.endswith("_test.cc"):
            by_flags.setdefault((flags_of(entry), settings_folder(source)), set()).add(source)
    return by_flags


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: tools/clang_tidy.py BUILD_DIRECTORY [JOBS]")
    build = pathlib.Path(sys.argv[1]).resolve()
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
    version = subprocess.run(["clang-tidy-19", "--version"], capture_output=True, text=True,
                             check=True).stdout
    by_flags = sources_by_flags(build)
    checked = CheckedSources(build / "tidy" / "clean", version)
    work = [(group, flags) for (flags, _), sources in by_flags.items()
            for group in join_sources.joinable(
                sorted(each for each in sources if not checked.contains(each, flags)))]
    total = sum(len(sources) for sources in by_flags.values())
    done = total - sum(len(group) for group, _ in work)
    tidy, clean = Tidy(build), True
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(tidy.check, *each): each for each in work}
        for each in concurrent.futures.as_completed(running):
            group, flags = running[each]
            done += len(group)
            if each.result():
                clean = False
                print(each.result(), flush=True)
            else:
                for source in group:
                    checked.add(source, flags)
            if sys.stderr.isatty():
                print(f"\r{done} of {total} sources checked", end="", file=sys.stderr, flush=True)
    print(f"{total} sources checked" if clean else "clang-tidy has findings.")
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()
