"""A scripted HTTP receiver that records every request.

Runs on its own thread; every method may be called from the test's thread. Each path has a script: a
list of replies, used one after the other. The last reply repeats. A reply may be a function of the
request.
"""

import asyncio
import contextlib
import dataclasses
import itertools
import threading
import time


@dataclasses.dataclass(frozen=True)
class Reply:
    status: int = 200
    headers: tuple = ()
    body: bytes = b""
    delay: float = 0.0  # Seconds before the answer. For overlap, not for synchronisation.


@dataclasses.dataclass(frozen=True)
class Hang:
    """Never answers. The connection stays open until the sender closes it."""


@dataclasses.dataclass(frozen=True)
class Close:
    """Closes the connection without an answer."""


@dataclasses.dataclass(frozen=True)
class Raw:
    """Answers with these bytes, then closes the connection. `abort`: without a TLS close_notify."""

    data: bytes
    abort: bool = False


@dataclasses.dataclass(frozen=True)
class Held:
    """Answers with `reply` after `release`."""

    reply: Reply


OK = Reply()


@dataclasses.dataclass
class Request:
    """One received request. `ended` is None until it has been answered or the sender has closed the
    connection. `answered` stays None in the latter case."""

    number: int
    path: str
    headers: list  # (name in lower case, value), in order.
    body: bytes
    started: float  # time.monotonic()
    unix_time: float
    connection: int
    ended: float = None
    answered: int = None  # The status.

    def header(self, name):
        values = [value for key, value in self.headers if key == name]
        assert len(values) <= 1, f"{name} was sent {len(values)} times"
        return values[0] if values else None

    @property
    def webhook_id(self):
        return self.header("webhook-id")

    @property
    def attempt(self):
        return int(self.header("x-webhook-attempt"))


class _Path:
    def __init__(self):
        self.script = [OK]
        self.open = None  # An asyncio.Event while the path is held.
        self.in_flight = 0
        self.peak = 0


class Receiver:
    def __init__(self, tls=None):
        self._tls = tls
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._connections = itertools.count()
        self._requests = []
        self._paths = {}
        self._loop = asyncio.new_event_loop()
        self._tasks = set()
        self._thread = threading.Thread(target=self._run, name="receiver", daemon=True)
        self._ready = threading.Event()
        self.port = None

    def start(self):
        self._thread.start()
        assert self._ready.wait(10), "the receiver did not start"
        return self

    def stop(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    # ------------------------------------------------------------ behaviour

    def url(self, path="/"):
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}{path}"

    def on(self, path, *script):
        """Sets the script of `path`. Its last reply repeats."""
        with self._lock:
            self._path(path).script = list(script)

    def hold(self, path):
        """Holds the answers to requests to `path` until `release`."""
        def close_gate():
            self._path(path).open = asyncio.Event()
        self._call(close_gate)

    def release(self, path):
        def open_gate():
            state = self._path(path)
            if state.open:
                state.open.set()
                state.open = None
        self._call(open_gate)

    # ------------------------------------------------------------ recorded requests

    def requests(self, path=None):
        with self._lock:
            return [request for request in self._requests if path in (None, request.path)]

    def count(self, path=None):
        return len(self.requests(path))

    def peak(self, path):
        """The highest number of concurrent requests to `path`."""
        with self._lock:
            return self._path(path).peak

    def clear(self):
        """Forgets the recorded requests and peaks."""
        with self._lock:
            self._requests.clear()
            for state in self._paths.values():
                state.peak = state.in_flight

    # ------------------------------------------------------------ the receiver's thread

    def _path(self, path):
        return self._paths.setdefault(path, _Path())

    def _call(self, action):
        done = threading.Event()

        def run():
            with self._lock:
                action()
            done.set()
        self._loop.call_soon_threadsafe(run)
        assert done.wait(10)

    def _run(self):
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        self._ready.set()
        self._loop.run_forever()
        for task in self._tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*self._tasks, return_exceptions=True))
        self._loop.close()

    async def _listen(self):
        server = await asyncio.start_server(
            self._serve, "127.0.0.1", 0, ssl=self._tls, backlog=1024, limit=1 << 21)
        self.port = server.sockets[0].getsockname()[1]
        self._server = server

    async def _serve(self, reader, writer):
        task = asyncio.current_task()
        self._tasks.add(task)
        connection = next(self._connections)
        try:
            while await self._exchange(connection, reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _exchange(self, connection, reader, writer):
        """Handles one request. Returns whether the connection stays open."""
        request = await self._read(connection, reader)
        if request is None:
            return False
        with self._lock:
            state = self._path(request.path)
            state.in_flight += 1
            state.peak = max(state.peak, state.in_flight)
            self._requests.append(request)
            reply = state.script.pop(0) if len(state.script) > 1 else state.script[0]
            if callable(reply):
                reply = reply(request)
            if isinstance(reply, Held):
                state.open = state.open or asyncio.Event()
                reply = reply.reply
            gate = state.open
        try:
            if gate:
                await gate.wait()
            return await self._answer(request, reply, reader, writer)
        finally:
            with self._lock:
                state.in_flight -= 1
                request.ended = time.monotonic()

    async def _read(self, connection, reader):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")[:-2]
        headers = []
        for line in lines:
            name, _, value = line.partition(":")
            headers.append((name.lower(), value.strip()))
        length = int(dict(headers).get("content-length", "0"))
        body = await reader.readexactly(length)
        method, path, _ = first.split(" ")
        assert method == "POST", first
        return Request(next(self._numbers), path, headers, body, time.monotonic(), time.time(),
                       connection)

    async def _answer(self, request, reply, reader, writer):
        if isinstance(reply, Close):
            return False
        if isinstance(reply, Hang):
            await reader.read()  # Returns when the sender closes.
            return False
        if isinstance(reply, Raw):
            writer.write(reply.data)
            await writer.drain()
            if reply.abort:
                writer.transport.abort()
            return False
        if reply.delay and not await self._pause(reply.delay, reader):
            return False
        lines = [f"HTTP/1.1 {reply.status} Status", f"Content-Length: {len(reply.body)}"]
        lines += [f"{name}: {value}" for name, value in reply.headers]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + reply.body)
        await writer.drain()
        request.answered = reply.status
        return True

    async def _pause(self, seconds, reader):
        """Returns False as soon as the sender has closed the connection."""
        closed = asyncio.ensure_future(reader.read(1))
        done, _ = await asyncio.wait([closed], timeout=seconds)
        if done:
            assert closed.result() == b"", "a request before the answer to the one before it"
            return False
        closed.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await closed
        return True
