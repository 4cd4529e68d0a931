"""Shared by the tests of secrets: signatures, verification answers, bytes in the store."""

import base64
import hashlib
import hmac
import json

import stores
from receiver import Reply


def key_of(secret):
    assert secret.startswith("whsec_")
    return base64.b64decode(secret[len("whsec_"):])


def signature(secret, request):
    """Computes the standard scheme's signature of a received request."""
    text = b".".join([request.webhook_id.encode(), request.header("webhook-timestamp").encode(),
                      request.body])
    return "v1," + base64.b64encode(hmac.digest(key_of(secret), text, hashlib.sha256)).decode()


def signatures(request):
    return request.header("webhook-signature").split(" ")


def echo(request):
    """A receiver's reply that repeats the challenge of a verification request."""
    body = json.loads(request.body)
    challenge = body["data"].get("challenge", "") if isinstance(body.get("data"), dict) else ""
    return Reply(200, body=json.dumps({"challenge": challenge}).encode())


def in_database(server, sql, *values):
    """Runs SQL on the store of a stopped server. Returns the selected rows."""
    assert server.process is None
    return stores.run_sql(server.data, sql, *values)


def bytes_on_disk(server):
    """The contents of the store and of all files in the data directory."""
    return stores.contents(server.data)
