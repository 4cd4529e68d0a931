"""Installs the tested build and builds programs that use it with find_package(postrider)."""

import pathlib
import re
import subprocess

from harness import BINARY, SLOWNESS

BUILD = pathlib.Path(BINARY).parent
BUILD_DEADLINE = 300.0 * max(SLOWNESS, 1)


def install(prefix):
    subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(prefix)], check=True,
                   capture_output=True, timeout=BUILD_DEADLINE)
    return prefix


def _sanitizers():
    """The sanitizers that the installed libraries were built with; their users need them, too.
    The thread sanitizer does not support the fences of Boost.Asio."""
    cache = (BUILD / "CMakeCache.txt").read_text()
    found = re.search(r"^POSTRIDER_SANITIZE:\w+=(\S+)$", cache, re.MULTILINE)
    if not found:
        return ""
    return f"-fsanitize={found.group(1)} -DBOOST_ASIO_DISABLE_FENCED_BLOCK"


def build_consumer(source, build, prefix):
    """Builds a CMake project as C++17 with an installed Postrider."""
    for command in (["cmake", "-S", str(source), "-B", str(build),
                     f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_STANDARD=17",
                     f"-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror {_sanitizers()}"],
                    ["cmake", "--build", str(build)]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_DEADLINE,
                              check=False)
        assert done.returncode == 0, done.stdout + done.stderr
