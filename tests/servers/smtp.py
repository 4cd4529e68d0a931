"""A private SMTP server on loopback: aiosmtpd with three ports.

    with Smtp() as server:                   # Or start() and stop().
        server.port, server.tls_port         # STARTTLS is required; TLS from the first byte.
        server.plain_port                    # Without TLS.
        server.mails                         # What it has accepted: a list of Mail.
        server.kill()                        # Refuses connections until start().

The local part of a recipient decides about it:

    unknown       550
    greylisted…   450 the first time, accepted afterwards
    busy          the mail is answered with 451
    spam          the mail is answered with 554
    hangs         no answer at all

Senders whose local part is `login` must have logged in, as USER with PASSWORD.

As a program it prints one line of JSON with its ports when it is ready, writes each mail to a file
NUMBER.json of its directory, takes the commands `stop` and `start` as lines on stdin, answers each
with a line, and ends when stdin closes.
"""

import asyncio
import dataclasses
import email
import email.policy
import json
import pathlib
import ssl
import sys
import threading

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from certificates import Authority  # noqa: E402
import program  # noqa: E402

USER = "postrider"
PASSWORD = "rider's secret"
HANG_SECONDS = 3600


@dataclasses.dataclass
class Mail:
    sender: str
    recipients: list
    content: str  # As it was sent.
    tls: bool
    user: str

    def parsed(self):
        return email.message_from_string(self.content, policy=email.policy.default)

    def part(self, subtype):
        """The text of the part text/SUBTYPE."""
        return self.parsed().get_body((subtype,)).get_content()

    @property
    def subject(self):
        return self.parsed()["Subject"]


class _Handler:
    def __init__(self, server):
        self._server = server

    async def handle_MAIL(self, _, session, envelope, address, options):
        if address.startswith("login@") and not session.authenticated:
            return "530 5.7.0 Authentication required"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(self, _server, _session, envelope, address, _options):
        name = address.partition("@")[0]
        if name == "unknown":
            return "550 5.1.1 No such user here"
        if name == "hangs":
            await asyncio.sleep(HANG_SECONDS)
        if name.startswith("greylisted") and self._server.is_first(address):
            return "450 4.2.0 Greylisted, try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        names = {address.partition("@")[0] for address in envelope.rcpt_tos}
        if "busy" in names:
            return "451 4.3.0 Try again later"
        if "spam" in names:
            return "554 5.7.1 This looks like spam"
        self._server.accept(Mail(
            sender=envelope.mail_from, recipients=list(envelope.rcpt_tos),
            content=envelope.content.decode(),
            tls=server.transport.get_extra_info("ssl_object") is not None,
            user=USER if session.authenticated else ""))
        return "250 Accepted"


class Smtp:
    def __init__(self, directory=None):
        self._directory = program.PrivateDirectory(directory)
        self.directory = self._directory.path
        self.port, self.tls_port, self.plain_port = (program.free_port() for _ in range(3))
        self.authority = Authority(self.directory)
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(*self.authority.issue())
        self._lock = threading.Lock()  # The controllers have a thread each.
        self._mails = []
        self._greylisted = set()
        self._controllers = []

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        for port, options in (
            (self.port, {"tls_context": self._context, "require_starttls": True}),
            (self.tls_port, {"ssl_context": self._context, "auth_require_tls": False}),
            (self.plain_port, {"auth_require_tls": False}),
        ):
            controller = Controller(_Handler(self), hostname="127.0.0.1", port=port,
                                    ready_timeout=program.START_SECONDS_MAX,
                                    authenticator=self._authenticate, **options)
            controller.start()
            self._controllers.append(controller)
        return self

    def kill(self):
        """Closes the ports. Mails in transit are lost."""
        for controller in self._controllers:
            controller.stop()
        self._controllers = []

    def stop(self):
        self.kill()
        self._directory.remove()

    @property
    def mails(self):
        with self._lock:
            return list(self._mails)

    def is_first(self, address):
        with self._lock:
            known = address in self._greylisted
            self._greylisted.add(address)
            return not known

    def accept(self, mail):
        with self._lock:
            self._mails.append(mail)
            path = self.directory / f"{len(self._mails)}.json"
            path.write_text(json.dumps(dataclasses.asdict(mail)))

    @staticmethod
    def _authenticate(_server, _session, _envelope, _mechanism, login):
        right = (login.login, login.password) == (USER.encode(), PASSWORD.encode())
        return AuthResult(success=right, handled=False)


def main():
    server = Smtp().start()
    commands = {"stop": server.kill, "start": server.start}
    print(json.dumps({"port": str(server.port), "tls_port": str(server.tls_port),
                      "plain_port": str(server.plain_port), "user": USER, "password": PASSWORD,
                      "directory": str(server.directory),
                      "ca_file": str(server.authority.certificate)}), flush=True)
    try:
        for line in sys.stdin:
            commands[line.strip()]()
            print("done", flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
