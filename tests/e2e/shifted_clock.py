"""A wall clock that a test can set, for one server. Its monotonic clock is not changed."""

import pathlib
import struct
import subprocess

SHIM = pathlib.Path(__file__).with_name("clock_shim.c")


class ShiftedClock:
    def __init__(self, directory):
        self._file = pathlib.Path(directory) / "offset"
        self._library = pathlib.Path(directory) / "clock_shim.so"
        self.offset_ms = 0
        self.shift(0)
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", self._library, SHIM], check=True)

    @property
    def environment(self):
        """For the server."""
        return {"LD_PRELOAD": str(self._library), "CLOCK_OFFSET_FILE": str(self._file),
                "ASAN_OPTIONS": "verify_asan_link_order=0"}

    def shift(self, by_ms):
        """Sets the clock forward, or back if negative."""
        self.offset_ms += by_ms
        with self._file.open("r+b" if self._file.exists() else "wb") as file:
            file.write(struct.pack("=q", self.offset_ms))
