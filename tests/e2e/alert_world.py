"""Alerts as a test sees them."""

import re

from harness import wait_for


def alerts(api, **query):
    text = "&".join(f"{name}={value}" for name, value in query.items())
    return api.all("/v1/alerts" + (f"?{text}" if text else ""))


def wait_alert(api, **query):
    """The newest alert that fits, once there is one."""
    return wait_for(lambda: alerts(api, **query), f"an alert with {query}")[0]


def settings(**values):
    """`alerts.NAME=VALUE` as arguments of the server."""
    return [text for name, value in values.items() for text in ("--set", f"alerts.{name}={value}")]


def active_alerts(api, kind):
    """As the metrics page counts them."""
    page = api.request("GET", "/metrics").body.decode()
    found = re.search(rf'^postrider_alerts_active{{kind="{kind}"}} (\S+)$', page, re.MULTILINE)
    return int(float(found.group(1))) if found else 0


def resolved(api, raised):
    """Waits until this alert is over, and gives it back."""
    def look():
        same = [item for item in alerts(api, kind=raised["kind"], status="resolved")
                if item["id"] == raised["id"]]
        return same[0] if same else None
    over = wait_for(look, f"{raised['kind']} to be over")
    assert over["resolved_at"] >= over["raised_at"]
    assert active_alerts(api, raised["kind"]) == len(
        alerts(api, kind=raised["kind"], status="active"))
    return over
