"""A webhook receiver in Python that uses only the standard library.

    SECRET=whsec_... PORT=9000 python3 receiver.py

Verifies each request before using its content.
"""

import base64
import hashlib
import hmac
import http.server
import os
import sys
import time

TOLERANCE_SECONDS = 300


def rejection_reason(key, headers, body, now):
    """Returns None if the request is authentic and recent, otherwise the reason."""
    message_id = headers.get("webhook-id")
    timestamp = headers.get("webhook-timestamp")
    signatures = headers.get("webhook-signature")
    if not (message_id and timestamp and signatures):
        return "a signature header is missing"
    if not (timestamp.isascii() and timestamp.isdigit()):
        return "the timestamp is not a number"
    signed = b".".join([message_id.encode(), timestamp.encode(), body])
    wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # During a rotation there are several signatures: one that matches is enough.
    fits = [hmac.compare_digest(wanted, part.removeprefix("v1,").encode())
            for part in signatures.split(" ") if part.startswith("v1,")]
    if not any(fits):
        return "the signature is wrong"
    if abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return "the timestamp is too far from now"
    return None


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    key = b""
    # Delivery is at least once: a known id is a repeat. A real receiver stores ids in a database.
    seen = set()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        reason = rejection_reason(self.key, self.headers, body, time.time())
        if reason:
            print(f"refused: {reason}", flush=True)
        else:
            message_id = self.headers["webhook-id"]
            kind = "repeat" if message_id in self.seen else "event"
            self.seen.add(message_id)
            print(f"{kind}: {body.decode()}", flush=True)
        self.send_response(401 if reason else 204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        """Disables the default log."""


def main():
    secret = os.environ.get("SECRET", "")
    if not secret:
        sys.exit("Set SECRET to the webhook's secret (whsec_...).")
    Receiver.key = (base64.b64decode(secret.removeprefix("whsec_")) if secret.startswith("whsec_")
                    else secret.encode())
    address = ("127.0.0.1", int(os.environ.get("PORT", "9000")))
    server = http.server.ThreadingHTTPServer(address, Receiver)
    print(f"listening on 127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
