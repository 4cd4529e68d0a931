"""A receiver that accepts connections and never answers."""

import resource
import socket
import threading


def raise_descriptor_limit():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class SilentReceiver:
    def __init__(self):
        raise_descriptor_limit()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self._held = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                self._held.append(self._listener.accept()[0])
            except OSError:
                return  # Closed.

    @property
    def count(self):
        """The connections that were ever accepted. None is reused: no request is answered."""
        return len(self._held)

    def url(self, path="/"):
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}{path}"

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for held in self._held:
            held.close()
