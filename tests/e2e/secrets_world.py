"""What the tests about secrets share: signatures, verification answers, and the store's file."""

import base64
import hashlib
import hmac
import json
import sqlite3

from receiver import Reply


def key_of(secret):
    assert secret.startswith("whsec_")
    return base64.b64decode(secret[len("whsec_"):])


def signature(secret, request):
    """The standard scheme's signature of a received request."""
    text = b".".join([request.webhook_id.encode(), request.header("webhook-timestamp").encode(),
                      request.body])
    return "v1," + base64.b64encode(hmac.digest(key_of(secret), text, hashlib.sha256)).decode()


def signatures(request):
    return request.header("webhook-signature").split(" ")


def echo(request):
    """A receiver that proves it wants webhooks."""
    body = json.loads(request.body)
    challenge = body["data"].get("challenge", "") if isinstance(body.get("data"), dict) else ""
    return Reply(200, body=json.dumps({"challenge": challenge}).encode())


def in_database(server, sql, *values):
    """Runs SQL on the store of a server that is not running; what it selects."""
    assert server.process is None
    with sqlite3.connect(server.data / "postrider.db") as database:
        rows = database.execute(sql, values).fetchall()
    database.close()
    return rows


def bytes_on_disk(server):
    """Everything in the data directory."""
    return b"".join(file.read_bytes() for file in sorted(server.data.rglob("*"))
                    if file.is_file())
