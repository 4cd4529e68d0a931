"""Each argument is a directory with a recorded request: headers and body. Prints true or false."""

import pathlib
import sys

from verify import verify

for directory in map(pathlib.Path, sys.argv[1:]):
    lines = (directory / "headers").read_text().splitlines()
    headers = dict(line.split(": ", 1) for line in lines)
    print("true" if verify(headers, (directory / "body").read_bytes()) else "false")
