"""Requests that the API refuses. Every 4xx is problem+json with a helpful detail."""

import json

import pytest

from harness import ADMIN_KEY

UNKNOWN_WEBHOOK = "whk_" + "0" * 26
UNKNOWN_DELIVERY = "dlv_" + "0" * 26
GOOD_URL = "http://127.0.0.1:9999/hook"


def check_problem(answer, status, *names):
    assert answer.status == status, answer
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json
    assert set(problem) >= {"type", "title", "status", "detail", "code"}
    assert problem["status"] == status
    assert len(problem["detail"]) > 10 and problem["detail"].endswith((".", "`"))
    for name in names:
        assert name in answer.body.decode(), f"{name} is not named in {answer!r}"


def deep(levels):
    return b"[" * levels + b"]" * levels


EVENTS = [
    # body, status, texts that the answer contains
    (b"", 400, []),
    (b"{", 400, []),
    (b"not json", 400, []),
    (b'{"type":"a.b","data":1} x', 400, []),
    (b'{"type":"a.b","data":1,}', 400, []),
    (b'{"type":"a.b","data":NaN}', 400, []),
    (b'{"type":"a.b","data":01}', 400, []),
    (b"{'type':'a.b'}", 400, []),
    (b'\xef\xbb\xbf{"type":"a.b","data":1}', 400, []),
    (b'{"type":"a.b","data":"\x01"}', 400, []),
    (b'[]', 422, []),
    (b'"text"', 422, []),
    (b'{}', 422, ["type", "data"]),
    (b'{"data":1}', 422, ["type"]),
    (b'{"type":"a.b"}', 422, ["data"]),
    (b'{"type":7,"data":1}', 422, ["type"]),
    (b'{"type":"","data":1}', 422, ["type"]),
    (b'{"type":"a..b","data":1}', 422, ["type"]),
    (b'{"type":"a b","data":1}', 422, ["type"]),
    (b'{"type":"%s","data":1}' % (b"a" * 257), 422, ["type"]),
    (b'{"type":"a.b","data":1,"color":"red"}', 422, ["color"]),
    (b'{"type":"a.b","type":"a.c","data":1}', 422, ["type"]),
    (b'{"type":"a.b","data":{"x":1,"x":2}}', 422, ["x"]),
    (b'{"type":"a.b","data":{"x":1,"\\u0078":2}}', 422, []),
    (b'{"type":"a.b","data":"\xff"}', 422, []),
    (b'{"type":"a.b","data":"\xc0\xaf"}', 422, []),
    (b'{"type":"a.b","data":"\\ud800"}', 422, []),
    (b'{"type":"a.b","data":' + deep(33) + b"}", 422, ["32"]),
    (b'{"type":"a.b","data":' + deep(100_000) + b"}", 422, ["32"]),
    (b'{"type":"a.b","data":1,"priority":"urgent"}', 422, ["priority"]),
    (b'{"type":"a.b","data":1,"timestamp":"yesterday"}', 422, ["timestamp"]),
    (b'{"type":"a.b","data":1,"tenant_id":5}', 422, ["tenant_id"]),
    (b'{"type":"a.b","data":1,"metadata":[]}', 422, ["metadata"]),
    (b'{"type":"a.b","data":1,"idempotency_key":""}', 422, ["idempotency_key"]),
    (b'{"type":"a.b","data":1,"idempotency_key":"' + b"k" * 1000 + b'"}', 422, ["idempotency_key"]),
    (b'{"type":"a.b","data":"' + b"x" * 262_143 + b'"}', 413, ["262144"]),
    (b'{"type":"a.b","data":"' + b"x" * 2_000_000 + b'"}', 413, []),
]


@pytest.mark.parametrize("body, status, names", EVENTS,
                         ids=[f"{n}-{body[:30].decode('latin-1')}" for n, (body, *_) in
                              enumerate(EVENTS)])
def test_a_bad_event_is_refused(api, body, status, names):
    check_problem(api.request("POST", "/v1/events", body), status, *names)


WEBHOOKS = [
    # fields besides a valid url and events, texts that the answer contains
    ({"url": None}, ["url"]),
    ({"url": ""}, ["url"]),
    ({"url": "ftp://example.com/"}, ["url"]),
    ({"url": "https://user:password@example.com/"}, ["url"]),
    ({"url": "https://example.com/#fragment"}, ["url"]),
    ({"url": "https://example.com/a b"}, ["url"]),
    ({"url": "https://example.com\\@evil.test/"}, ["url"]),
    ({"url": "https://2130706433/"}, ["url"]),
    ({"url": "https://0x7f.1/"}, ["url"]),
    ({"url": "https://0177.0.0.1/"}, ["url"]),
    ({"url": "https://[::1%25eth0]/"}, ["url"]),
    ({"url": "https://example.com:99999/"}, ["url"]),
    ({"url": "https://exa%6dple.com/"}, ["url"]),
    ({"url": "https://example.com/" + "x" * 2048}, ["url"]),
    ({"url": "https://224.0.0.1/"}, ["url"]),
    ({"url": "https://0.0.0.0/"}, ["url"]),
    ({"events": []}, ["events"]),
    ({"events": "swap.*"}, ["events"]),
    ({"events": ["swap.*.created"]}, ["events"]),
    ({"events": [1]}, ["events"]),
    ({"colour": 1}, ["colour"]),
    ({"secret": "short"}, ["secret"]),
    ({"secret": "x" * 76}, ["secret"]),
    ({"headers": {"Host": "evil"}}, ["Host"]),
    ({"headers": {"content-length": "1"}}, ["content-length"]),
    ({"headers": {"webhook-signature": "v1,x"}}, ["webhook-signature"]),
    ({"headers": {"X-A": "b\r\nX-Evil: 1"}}, ["X-A"]),
    ({"headers": {"X A": "b"}}, ["X A"]),
    ({"headers": {f"X-{n}": "v" for n in range(33)}}, ["headers"]),
    ({"max_in_flight": 0}, ["max_in_flight"]),
    ({"max_in_flight": 1.5}, ["max_in_flight"]),
    ({"ordering_guarantee": "loose"}, ["ordering_guarantee"]),
    ({"payload_format": "xml"}, ["payload_format"]),
    ({"timeout_ms": 0}, ["timeout_ms"]),
    ({"retry_config": {"max_attempts": 0}}, ["retry_config.max_attempts"]),
    ({"retry_config": {"max_attempts": "many"}}, ["retry_config.max_attempts"]),
    ({"retry_config": {"base_delay_ms": -1}}, ["retry_config.base_delay_ms"]),
    ({"retry_config": {"base_delay_ms": 1e400}}, ["retry_config.base_delay_ms"]),
    ({"retry_config": {"base_delay_ms": 1000, "max_delay_ms": 10}}, ["retry_config.max_delay_ms"]),
    ({"retry_config": {"preset": "eager"}}, ["retry_config.preset"]),
    ({"retry_config": {"backoff": 2}}, ["retry_config.backoff"]),
    ({"retry_config": 5}, ["retry_config"]),
    ({"circuit_breaker_config": {"error_threshold_percentage": 101}},
     ["circuit_breaker_config.error_threshold_percentage"]),
    ({"rate_limit": {"requests_per_second": 0}}, ["rate_limit.requests_per_second"]),
    ({"rate_limit": {}}, ["rate_limit"]),
    ({"signature": {"scheme": "md5"}}, ["signature.scheme"]),
    ({"id": UNKNOWN_WEBHOOK}, ["id"]),
    ({"active": "yes"}, ["active"]),
]


@pytest.mark.parametrize("fields, names", WEBHOOKS, ids=[
    f"{n}-{json.dumps(fields)[:40]}" for n, (fields, _) in enumerate(WEBHOOKS)])
def test_a_bad_webhook_is_refused(api, fields, names):
    body = json.dumps({"url": GOOD_URL, "events": ["*"], **fields}).replace("Infinity", "1e400")
    check_problem(api.request("POST", "/v1/webhooks", body.encode()), 422, *names)


@pytest.mark.parametrize("url", [
    "https://127.0.0.1/", "https://10.1.2.3/", "https://192.168.0.1/", "https://169.254.169.254/",
    "https://[::1]/", "https://[fd00:ec2::254]/", "https://[::ffff:127.0.0.1]/",
    "https://localhost/", "https://printer.local/", "https://intranet/", "http://example.com/",
])
def test_private_targets_and_plain_http_are_refused_unless_allowed(strict_api, url):
    answer = strict_api.request("POST", "/v1/webhooks", {"url": url, "events": ["*"]})
    check_problem(answer, 422, "url")


def test_a_public_https_url_is_allowed_by_default(strict_api):
    answer = strict_api.request("POST", "/v1/webhooks",
                                {"url": "https://example.com/hook", "events": ["*"]})
    assert answer.status == 201, answer


@pytest.mark.parametrize("method, path", [
    ("GET", "/v1/webhooks/" + UNKNOWN_WEBHOOK),
    ("GET", "/v1/webhooks/whk_short"),
    ("GET", "/v1/webhooks/" + UNKNOWN_DELIVERY),
    ("GET", "/v1/webhooks/whk_" + "u" * 26),
    ("GET", "/v1/webhooks/" + "x" * 4000),
    ("GET", "/v1/webhooks/'%20OR%201=1--"),
    ("PATCH", "/v1/webhooks/" + UNKNOWN_WEBHOOK),
    ("DELETE", "/v1/webhooks/" + UNKNOWN_WEBHOOK),
    ("POST", f"/v1/webhooks/{UNKNOWN_WEBHOOK}/pause"),
    ("GET", f"/v1/webhooks/{UNKNOWN_WEBHOOK}/health"),
    ("GET", f"/v1/webhooks/{UNKNOWN_WEBHOOK}/deliveries"),
    ("GET", "/v1/deliveries/" + UNKNOWN_DELIVERY),
    ("POST", f"/v1/deliveries/{UNKNOWN_DELIVERY}/retry"),
    ("POST", f"/v1/deliveries/{UNKNOWN_DELIVERY}/cancel"),
    ("GET", "/v1/events/evt_" + "0" * 26),
    ("GET", "/v1/nothing"),
    ("GET", "/v2/webhooks"),
])
def test_unknown_paths_and_ids_are_not_found(api, method, path):
    body = {"name": "x"} if method == "PATCH" else None
    check_problem(api.request(method, path, body), 404)


@pytest.mark.parametrize("path", ["/v1/webhooks/%2e%2e%2fetc", "/v1/webhooks/%00"])
def test_a_path_with_an_escaped_slash_or_nul_is_a_bad_request(api, path):
    check_problem(api.request("GET", path), 400)


@pytest.mark.parametrize("query", [
    "limit=0", "limit=-1", "limit=251", "limit=1e3", "limit=", "limit=99999999999999999999",
    "offset=-1", "offset=x", "cursor=forged", "cursor=AAAA", "cursor=%01",
    "status=sleeping", "from=yesterday", "to=2026-13-01T00:00:00Z", "colour=red",
    "limit=1&limit=2",
])
def test_a_bad_query_is_refused(api, query):
    name = query.split("=")[0]
    check_problem(api.request("GET", f"/v1/deliveries?{query}"), 400, name)


def test_a_cursor_of_another_list_is_refused(world):
    world.publish_numbered(2)
    cursor = world.api.get("/v1/events?limit=1")["next_cursor"]
    check_problem(world.api.request("GET", f"/v1/deliveries?cursor={cursor}"), 400, "cursor")
    changed = cursor[:-1] + ("A" if cursor[-1] != "A" else "B")
    check_problem(world.api.request("GET", f"/v1/events?cursor={changed}"), 400, "cursor")


@pytest.mark.parametrize("header", [
    None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic " + ADMIN_KEY, ADMIN_KEY,
    "Bearer " + ADMIN_KEY[:-1], "Bearer " + ADMIN_KEY + "x", "Bearer " + "x" * 5000,
])
def test_requests_without_a_valid_key_are_refused(server, header):
    api = server.api(key=None)
    headers = {} if header is None else {"Authorization": header}
    for method, path in (("GET", "/v1/webhooks"), ("POST", "/v1/events"), ("GET", "/v1/events"),
                         ("DELETE", "/v1/webhooks/" + UNKNOWN_WEBHOOK)):
        body = {"type": "a.b", "data": 1} if method == "POST" else None
        answer = api.request(method, path, body, headers)
        check_problem(answer, 401)
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert ADMIN_KEY not in answer.body.decode()
    api.close()


def test_health_and_readiness_need_no_key(server):
    api = server.api(key=None)
    for path in ("/healthz", "/readyz"):
        assert api.request("GET", path).status == 200
    api.close()


@pytest.mark.parametrize("method, path, allowed", [
    ("DELETE", "/v1/events", "POST"), ("POST", "/v1/deliveries", "GET"),
    ("PUT", "/v1/webhooks", "POST"), ("POST", "/healthz", "GET"),
])
def test_an_unsupported_method_is_refused_with_the_allowed_ones(api, method, path, allowed):
    answer = api.request(method, path, {} if method != "DELETE" else None)
    check_problem(answer, 405)
    assert allowed in answer.headers["allow"]


@pytest.mark.parametrize("headers, status", [
    ({"Content-Type": "text/plain"}, 415),
    ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ({"Content-Encoding": "gzip"}, 415),
])
def test_a_body_that_is_not_plain_json_is_refused(api, headers, status):
    answer = api.request("POST", "/v1/events", b'{"type":"a.b","data":1}', headers)
    check_problem(answer, status)


def test_the_request_id_is_echoed_or_generated(api):
    echoed = api.request("GET", "/healthz", headers={"X-Request-Id": "abc-123"})
    assert echoed.headers["x-request-id"] == "abc-123"
    made = {api.request("GET", "/healthz").headers["x-request-id"] for _ in range(2)}
    assert len(made) == 2


def test_an_unknown_circuit_action_is_refused_with_the_known_ones(world):
    hook = world.hook()
    path = f"/v1/webhooks/{hook.id}/circuit-breaker"
    check_problem(world.api.request("PATCH", path, {"action": "explode"}), 422, "action", "reset")
    check_problem(world.api.request("PATCH", path, {}), 422, "action")
    check_problem(world.api.request(
        "PATCH", path, {"action": "force_open", "duration_seconds": -1}), 422, "duration_seconds")
