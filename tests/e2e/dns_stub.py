"""A DNS server on loopback with a table of names."""

import socket
import struct
import threading


class DnsStub:
    """Answers A queries from `names`. Every other name does not exist."""

    def __init__(self):
        self.names = {}  # {name: IPv4 address}
        self.questions = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def address(self):
        return "127.0.0.1:%d" % self._socket.getsockname()[1]

    def stop(self):
        self._socket.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()

    def _serve(self):
        while True:
            question, peer = self._socket.recvfrom(4096)
            if not question:
                return
            self._socket.sendto(self._answer(question), peer)

    def _answer(self, question):
        name, end = self._read_name(question, 12)
        kind, = struct.unpack("!H", question[end:end + 2])
        self.questions.append(name)
        address = self.names.get(name)
        no_such_name = 3
        found = [socket.inet_aton(address)] if address and kind == 1 else []
        head = question[:2] + struct.pack("!HHHHH", 0x8180 | (0 if address else no_such_name),
                                          1, len(found), 0, 0)
        records = b"".join(struct.pack("!HHHIH", 0xC00C, 1, 1, 1, 4) + each for each in found)
        return head + question[12:end + 4] + records

    @staticmethod
    def _read_name(message, at):
        labels = []
        while message[at]:
            labels.append(message[at + 1:at + 1 + message[at]].decode().lower())
            at += 1 + message[at]
        return ".".join(labels), at + 1
