"""The verification code of receivers, as the design of each profile gives it.

Each function takes the secret as the server showed it, and returns whether the receiver accepts the
request. The code of the `tenant` profile is JavaScript: receiver_code.mjs.
"""

import base64
import hashlib
import hmac
import json
import pathlib
import subprocess
import time

from harness import DEADLINE

TOLERANCE_SECONDS = 300
JAVASCRIPT = pathlib.Path(__file__).resolve().parent / "receiver_code.mjs"


def exchange_accepts(secret, request):
    """fn verify_signature(secret, signature, timestamp, payload, tolerance_secs)"""
    timestamp = int(request.header("x-webhook-timestamp"))
    now = int(time.time())
    if abs(now - timestamp) > TOLERANCE_SECONDS:
        return False
    message = f"{timestamp}.{request.body.decode()}"
    mac = hmac.new(secret.encode(), message.encode(), hashlib.sha256)
    expected = "sha256=" + mac.hexdigest()
    return hmac.compare_digest(request.header("x-webhook-signature"), expected)


def platform_accepts(secret, request):
    """X-Webhook-Signature: t={timestamp},v1={signature}, valid for 5 minutes"""
    parts = dict(part.split("=", 1) for part in
                 request.header("x-webhook-signature").split(","))
    if abs(time.time() - int(parts["t"])) > TOLERANCE_SECONDS:
        return False
    signed = parts["t"].encode() + b"." + request.body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return hmac.compare_digest(parts["v1"], expected)


def outbox_accepts(secret, request):
    """fn sign_payload(payload: &[u8], secret: &str), of the raw request body"""
    mac = hmac.new(secret.encode(), request.body, hashlib.sha256)
    return hmac.compare_digest(request.header("x-webhook-signature"), "sha256=" + mac.hexdigest())


def workspace_accepts(secret, request):
    """The receiver serialises the parsed payload again, as the design's sender does."""
    payload = json.loads(request.body)
    parts = dict(part.split("=", 1) for part in
                 request.header("x-agenta-signature").split(","))
    timestamp = parts["t"]
    payload_json = json.dumps(payload, sort_keys=True)
    signature = hmac.new(secret.encode(), f"{timestamp}.{payload_json}".encode(),
                         hashlib.sha256).hexdigest()
    return hmac.compare_digest(parts["v1"], signature)


def tenant_accepts(secret, *requests):
    """app.post('/webhooks/blogmaster', …) in Node.js. Returns whether it accepts all requests."""
    cases = [{"secret": secret, "headers": dict(request.headers),
              "body": base64.b64encode(request.body).decode()} for request in requests]
    done = subprocess.run(["node", str(JAVASCRIPT)], input=json.dumps(cases), capture_output=True,
                          text=True, timeout=DEADLINE, check=True)
    statuses = json.loads(done.stdout)
    assert len(statuses) == len(requests) and set(statuses) <= {200, 401}
    return set(statuses) == {200}
