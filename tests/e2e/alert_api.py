"""Reads alerts from the API and the metrics page."""

from harness import DEADLINE, metric, metrics_page, wait_for


def alerts(api, **query):
    text = "&".join(f"{name}={value}" for name, value in query.items())
    return api.all("/v1/alerts" + (f"?{text}" if text else ""))


def wait_alert(api, **query):
    """Waits for an alert that matches the query and returns the newest."""
    return wait_for(lambda: alerts(api, **query), f"an alert with {query}")[0]


def settings(**values):
    """Server arguments that set `alerts.NAME` to VALUE."""
    return [text for name, value in values.items() for text in ("--set", f"alerts.{name}={value}")]


def active_alerts(api, kind):
    """The number of active alerts on the metrics page."""
    return metric(metrics_page(api), f'postrider_alerts_active{{kind="{kind}"}}')


def wait_resolved(api, raised, deadline=DEADLINE):
    """Waits until this alert is resolved and returns it."""
    def find():
        same = [item for item in alerts(api, kind=raised["kind"], status="resolved")
                if item["id"] == raised["id"]]
        return same[0] if same else None
    alert = wait_for(find, f"{raised['kind']} to be resolved", deadline)
    assert alert["resolved_at"] >= alert["raised_at"]
    assert active_alerts(api, raised["kind"]) == len(
        alerts(api, kind=raised["kind"], status="active"))
    return alert
