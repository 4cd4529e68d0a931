"""Notification channels of a server under test, and what arrives through them."""

import json
import sys

from harness import ROOT, wait_for

sys.path.insert(0, str(ROOT / "tests" / "servers"))
from smtp import PASSWORD, USER, Smtp  # noqa: E402, F401

BREAKER = {"failure_count_threshold": 2, "minimum_throughput": 1, "sleep_window_ms": 1000,
           "half_open_max_calls": 1}
RETRY = {"base_delay_ms": 50, "max_delay_ms": 100, "max_attempts": 50}
# Retries so quickly that a failing delivery is a dead letter within a second.
BRIEF = {"base_delay_ms": 10, "max_delay_ms": 20, "max_attempts": 3}


def settings(smtp, **values):
    """Server arguments for this mail server."""
    chosen = {"server": "127.0.0.1", "port": smtp.port, "ca_file": smtp.authority.certificate,
              "from": "postrider@example.com", "timeout_ms": 5000, **values}
    return [text for name, value in chosen.items() for text in ("--set", f"smtp.{name}={value}")]


def add_channel(api, kind, target, **fields):
    body = {"name": f"{kind} channel", "kind": kind, "target": target, "group_window_ms": 0,
            **fields}
    return api.post("/v1/notification-channels", body, expect=201)


def notifications(api, channel, **query):
    text = "&".join(f"{name}={value}" for name, value in query.items())
    return api.all(f"/v1/notification-channels/{channel['id']}/notifications?{text}")


def wait_notification(api, channel, **query):
    """Waits for a notification that matches the query and returns the newest."""
    return wait_for(lambda: notifications(api, channel, **query), f"a notification with {query}")[0]


def wait_mail(smtp, subject, recipient=None):
    """Waits for a mail whose subject contains the text."""
    def look():
        found = [mail for mail in smtp.mails if subject in mail.subject
                 and recipient in (None, *mail.recipients)]
        return found[0] if found else None
    return wait_for(look, f"a mail about {subject!r}; there are {[m.subject for m in smtp.mails]}")


def wait_body(receiver, path, text):
    """Waits for a request whose body contains the text. Returns the request and its JSON."""
    def look():
        found = [request for request in receiver.requests(path) if text in request.body.decode()]
        return found[0] if found else None
    request = wait_for(look, f"a request to {path} about {text!r}")
    return request, json.loads(request.body)
