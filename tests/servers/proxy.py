"""A TCP proxy that breaks connections on demand.

    proxy = Proxy(server_port).start()      # Clients connect to proxy.port.
    proxy.cut()                             # Resets all connections. New ones pass.
    proxy.hang()                            # Connections stay open, no byte passes.
    proxy.refuse()                          # Resets all connections and refuses new ones.
    proxy.cut_after(1000)                   # Resets the next connection after 1000 bytes to it.
    proxy.cut_at_commit(Commit.lost)        # Resets a connection at its COMMIT. See Commit.
    proxy.resume()                          # Passes everything again.

As a program it prints its port as JSON, takes the same commands as lines on stdin, answers each
with a line `done`, and ends when stdin closes:

    tests/servers/proxy.py SERVER_PORT
"""

import asyncio
import enum
import json
import sys
import threading

from postgres_messages import FrontendMessages

CHUNK_BYTES = 65_536


class Commit(enum.Enum):
    """What becomes of the transaction whose connection is cut. PostgreSQL only."""

    lost = 1  # The COMMIT does not reach the server: nothing is stored.
    unknown = 2  # It was sent. Whether it is stored is a matter of luck.
    stored = 3  # It is stored, but the client does not get the answer.


class _CommitCut:
    """Waits for the n-th COMMIT of all connections."""

    def __init__(self, how, count):
        self.how = how
        self.count = count
        self.done = threading.Event()

    def reaches(self, commits):
        """Whether the COMMIT is among these."""
        self.count -= commits
        return self.count <= 0 < self.count + commits


class _Link:
    """One client and its connection to the server."""

    def __init__(self, proxy, client):
        self.proxy = proxy
        self.transports = [client[1].transport]
        self.client = client
        self.ways = []
        self.answer_bytes_left = proxy.answer_bytes_left
        proxy.answer_bytes_left = None
        self.messages = FrontendMessages() if proxy.reads_messages else None
        self.cut = None  # A _CommitCut that this link ends with the server's answer.

    def reset(self):
        for transport in self.transports:
            transport.abort()
        for way in self.ways:
            way.cancel()

    async def run(self):
        try:
            server = await asyncio.open_connection(self.proxy.server_host, self.proxy.server_port)
            self.transports.append(server[1].transport)
            # The end of one direction ends both: no server of the tests needs half a connection.
            self.ways = [asyncio.create_task(way) for way in (
                self._pass(self.client[0], server[1], is_answer=False),
                self._pass(server[0], self.client[1], is_answer=True))]
            await asyncio.wait(self.ways, return_when=asyncio.FIRST_COMPLETED)
            self.reset()
            await asyncio.gather(*self.ways, return_exceptions=True)
        except OSError:
            pass
        finally:
            self.reset()
            self.proxy.links.discard(self)

    async def _pass(self, reader, writer, is_answer):
        while True:
            data = await reader.read(CHUNK_BYTES)
            await self.proxy.open.wait()
            if is_answer and self.answer_bytes_left is not None:
                data = data[:self.answer_bytes_left]
                self.answer_bytes_left -= len(data)
            if self.messages and self._is_cut(data, writer, is_answer):
                return
            writer.write(data)
            if not data or self.answer_bytes_left == 0:
                return
            await writer.drain()

    def _is_cut(self, data, writer, is_answer):
        """Whether the connection ends here because of a COMMIT."""
        if is_answer:
            if self.cut is None or b"COMMIT\0" not in data:
                return False
            self.cut.done.set()
            return True
        cut = self.proxy.commit_cut
        commits = self.messages.commits(data)
        if cut is None or not cut.reaches(commits):
            return False
        self.proxy.commit_cut = None
        if cut.how is Commit.stored:
            self.cut = cut
            return False
        if cut.how is Commit.unknown:
            writer.write(data)
        cut.done.set()
        return True


class Proxy:
    """Runs on its own thread. Every method may be called from the test's thread."""

    def __init__(self, server_port, server_host="127.0.0.1", reads_messages=False):
        self.server_host = server_host
        self.server_port = server_port
        self.port = 0
        self.links = set()
        self.accepted = 0  # Connections since the start.
        self.open = None  # Set unless bytes are held back.
        self.answer_bytes_left = None  # Of the next connection.
        self.reads_messages = reads_messages  # As cut_at_commit needs.
        self.commit_cut = None
        self._listener = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)

    def start(self):
        self._thread.start()
        self._run(self._open())
        return self

    def stop(self):
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def cut(self):
        self._run(self._reset())

    def hang(self):
        self._run(self._hang())

    def refuse(self):
        self._run(self._close())

    def cut_after(self, answer_bytes):
        self.answer_bytes_left = answer_bytes
        self._run(self._open())

    def cut_at_commit(self, how, count=1):
        """Resets the connection that sends the n-th COMMIT from now on. Returns an event that is
        set when it has happened."""
        assert self.reads_messages
        cut = _CommitCut(how, count)
        self.commit_cut = cut
        return cut.done

    def resume(self):
        self.answer_bytes_left = None
        self.commit_cut = None
        self._run(self._open())

    def _run(self, task):
        return asyncio.run_coroutine_threadsafe(task, self._loop).result(20)

    async def _open(self):
        if self.open is None:
            self.open = asyncio.Event()
        self.open.set()
        if self._listener is None:
            self._listener = await asyncio.start_server(
                self._accept, "127.0.0.1", self.port, limit=CHUNK_BYTES, reuse_address=True)
            self.port = self._listener.sockets[0].getsockname()[1]

    async def _accept(self, reader, writer):
        self.accepted += 1
        link = _Link(self, (reader, writer))
        self.links.add(link)
        await link.run()

    async def _hang(self):
        await self._open()
        self.open.clear()

    async def _reset(self):
        for link in list(self.links):
            link.reset()
        while self.links:
            await asyncio.sleep(0)

    async def _close(self):
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self.open.set()
        await self._reset()


def main(arguments):
    proxy = Proxy(int(arguments[0])).start()
    print(json.dumps({"port": proxy.port}), flush=True)
    commands = {"cut": proxy.cut, "hang": proxy.hang, "refuse": proxy.refuse,
                "resume": proxy.resume, "cut_after": proxy.cut_after}
    for line in sys.stdin:
        name, *numbers = line.split()
        commands[name](*map(int, numbers))
        print("done", flush=True)
    proxy.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
