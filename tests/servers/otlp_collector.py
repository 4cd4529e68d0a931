"""A collector of traces on loopback: accepts OTLP over HTTP in JSON and keeps the spans.

    with Collector() as collector:
        …
        collector.trace(trace_id).named("publish")

`behave` sets what later requests get: "accept", "refuse" (400), "unavailable" (503), "hang" (no
answer until the next `behave`). Every accepted request is checked against what the OTLP
specification says about its JSON encoding.
"""

import http.server
import json
import re
import threading

TRACE_ID = re.compile(r"[0-9a-f]{32}")
SPAN_ID = re.compile(r"[0-9a-f]{16}")
NUMBER = re.compile(r"\d{1,20}")
VALUE_KINDS = {"stringValue": str, "intValue": str, "boolValue": bool}


class Span:
    """One received span, with its attributes as a dictionary."""

    def __init__(self, raw, resource):
        self.raw = raw
        self.resource = resource
        self.trace_id = raw["traceId"]
        self.id = raw["spanId"]
        self.parent = raw.get("parentSpanId")
        self.name = raw["name"]
        self.kind = raw["kind"]
        self.start = int(raw["startTimeUnixNano"])
        self.end = int(raw["endTimeUnixNano"])
        self.attributes = attributes_of(raw["attributes"])
        self.is_error = raw.get("status", {}).get("code") == 2
        self.message = raw.get("status", {}).get("message")

    def __repr__(self):
        return f"<{self.name} {self.id} in {self.parent}>"


class Trace:
    """The spans of one trace, oldest first."""

    def __init__(self, spans):
        self.spans = sorted(spans, key=lambda span: (span.start, -span.end))

    def named(self, name):
        return [span for span in self.spans if span.name == name]

    def children(self, parent, name=None):
        return [span for span in self.spans
                if span.parent == parent.id and name in (None, span.name)]


def attributes_of(raw):
    """Checks the attributes and returns them by name."""
    found = {}
    for attribute in raw:
        assert set(attribute) == {"key", "value"}, attribute
        (kind, value), = attribute["value"].items()
        assert isinstance(value, VALUE_KINDS[kind]), attribute
        assert attribute["key"] not in found, attribute
        found[attribute["key"]] = int(value) if kind == "intValue" else value
    return found


def check_span(span):
    assert TRACE_ID.fullmatch(span["traceId"]) and set(span["traceId"]) != {"0"}, span
    assert SPAN_ID.fullmatch(span["spanId"]) and set(span["spanId"]) != {"0"}, span
    assert "parentSpanId" not in span or SPAN_ID.fullmatch(span["parentSpanId"]), span
    for time in ("startTimeUnixNano", "endTimeUnixNano"):
        assert isinstance(span[time], str) and NUMBER.fullmatch(span[time]), span
    assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]), span
    assert isinstance(span["kind"], int) and 1 <= span["kind"] <= 5, span
    assert span["name"], span


def read_spans(body):
    """Checks the body of a request and returns its spans."""
    spans = []
    for group in body["resourceSpans"]:
        resource = attributes_of(group["resource"]["attributes"])
        for scope in group["scopeSpans"]:
            assert scope["scope"]["name"] == "postrider", scope
            for span in scope["spans"]:
                check_span(span)
                spans.append(Span(span, resource))
    return spans


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        collector = self.server.collector
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, answer = collector.take(self.path, self.headers, body)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass  # The exporter may give up a request.


class Collector:
    def __init__(self, port=0):
        self._lock = threading.Condition()
        self._mode = "accept"
        self._stopped = False
        self.spans = []
        self.requests = []  # (path, headers)
        self.problems = []  # What was wrong with requests.
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.collector = self
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        with self._lock:
            self._stopped = True
            self._lock.notify_all()
        self._server.shutdown()
        self._server.server_close()
        assert not self.problems, self.problems

    @property
    def port(self):
        return self._server.server_address[1]

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def behave(self, mode):
        with self._lock:
            self._mode = mode
            self._lock.notify_all()

    def take(self, path, headers, body):
        """Handles one request. Returns the status and the body of the answer."""
        with self._lock:
            self.requests.append((path, dict(headers.items())))
            while self._mode == "hang" and not self._stopped:
                self._lock.wait()
            if self._mode == "refuse":
                return 400, b'{"message": "no"}'
            if self._mode == "unavailable":
                return 503, b"{}"
            try:
                assert headers["Content-Type"] == "application/json", headers
                self.spans += read_spans(json.loads(body))
            except (AssertionError, KeyError, ValueError) as problem:
                self.problems.append(repr(problem))
            return 200, b"{}"

    def trace(self, trace_id):
        with self._lock:
            return Trace([span for span in self.spans if span.trace_id == trace_id])
