"""Generates requests from the OpenAPI document and a seed. Most of them are invalid.

Each request has the set of allowed answer statuses: REFUSED (any 4xx), ANY (no server error), or an
explicit set.
"""

import copy
import dataclasses
import random
import re
import urllib.parse

from bad_values import BAD_UNICODE, NOT_JSON, STRINGS, Raw, any_value, deep, dump
from bad_values import near_limits, strict_parse

REFUSED = frozenset(range(400, 500))
ANY = frozenset(range(200, 500))
BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"


@dataclasses.dataclass
class Request:
    operation: object  # None if no operation has this path and method.
    method: str
    target: str
    headers: list
    body: bytes
    allowed: frozenset
    why: str


def must_refuse(operation, body):
    """Is the body invalid for a strict JSON parser or for the schema?"""
    if not body.strip():
        return bool(operation.body.get("required")) or bool(body)
    try:
        value = strict_parse(body)
    except ValueError:
        return True
    return not operation.body_validator.is_valid(value)


class RequestGenerator:
    """Generates request `number` of a seed. `live` has valid paths, bodies, cursors and a key."""

    def __init__(self, contract, live, seed):
        self.contract = contract
        # The key of these requests is no session.
        self.operations = [operation for operation in contract.operations
                           if not operation.by_session]
        self.with_body = [operation for operation in self.operations if operation.body]
        self.with_query = [operation for operation in self.operations
                           if operation.parameters_in("query")]
        self.with_path = [operation for operation in self.operations
                          if operation.parameters_in("path")]
        self.live = live
        self.seed = seed

    def generate(self, number):
        rng = random.Random(f"{self.seed}/{number}")
        kinds = (self.bad_body,) * 10 + (self.bad_text,) * 3 + (self.bad_query,) * 4 + (
            self.bad_path,) * 3 + (self.bad_header,) * 3 + (self.bad_key,) + (
            self.bad_method,) + (self.valid,) * 2
        return rng.choice(kinds)(rng)

    # ------------------------------------------------------------ parts

    def request(self, operation, rng, **parts):
        headers = [("Authorization", f"Bearer {self.live.key}")]
        body = parts.get("body", b"")
        if body:
            headers.append(("Content-Type", "application/json"))
        target = parts.get("target") or self.live.path(operation, rng)
        return Request(operation, operation.method, target, headers + parts.get("headers", []),
                       body, parts["allowed"], parts["why"])

    def example(self, operation, rng):
        return self.live.body(copy.deepcopy(rng.choice(list(operation.body_examples.values()))),
                              rng)

    def object_in(self, value, rng):
        """A random object within a body, which may be the body itself."""
        found = []

        def walk(node):
            if isinstance(node, dict):
                found.append(node)
            for child in node.values() if isinstance(node, dict) else node:
                if isinstance(child, (dict, list)):
                    walk(child)
        walk(value)
        return rng.choice(found)

    # ------------------------------------------------------------ bodies

    def bad_body(self, rng):
        operation = rng.choice(self.with_body)
        change = rng.choice((self.put_value,) * 6 + (self.put_unknown, self.repeat, self.leave_out))
        value = self.example(operation, rng)
        why = change(operation, value, rng)
        body = dump(value)
        allowed = REFUSED if must_refuse(operation, body) else ANY
        return self.request(operation, rng, body=body, allowed=allowed, why=f"body: {why}")

    def put_value(self, operation, value, rng):
        """Sets a documented member, at any depth, to an unexpected value."""
        place, schema, path = value, operation.body_schema, ""
        if isinstance(place, list):
            place, schema, path = place[0], {"$ref": "#/components/schemas/EventInput"}, "[0]"
        for _ in range(4):
            properties = self.contract.properties(schema)
            if not properties:
                break
            name = rng.choice(list(properties))
            schema, path = properties[name], f"{path}.{name}"
            if not self.contract.properties(schema) or rng.random() < 0.3:
                limits = near_limits(self.narrow(schema, rng))
                place[name] = rng.choice(limits) if limits and rng.random() < 0.5 else (
                    any_value(rng))
                break
            if not isinstance(place.get(name), dict):
                place[name] = {}
            place = place[name]
        return path

    def narrow(self, schema, rng):
        """Chooses one alternative of a `oneOf` schema."""
        schema = self.contract.resolve(schema)
        while "oneOf" in schema:
            schema = self.contract.resolve(rng.choice(schema["oneOf"]))
        return schema

    def put_unknown(self, _, value, rng):
        name = rng.choice(["colour", "__proto__", "constructor", "", "x" * 5000, "\u202e", "ID",
                           "Type", "type ", "data\0", *STRINGS])
        self.object_in({"": value}, rng).setdefault(name, 1)
        return f"unknown {name[:40]!r}"

    def repeat(self, _, value, rng):
        place = self.object_in({"": value}, rng)
        names = [name for name in place if name]
        if not names:
            place["twice"] = Raw(b'{"a":1,"\\u0061":1}')
            return "a duplicate name"
        name = rng.choice(names)
        place[name] = Raw(dump(place[name]) + b"," + dump(name) + b":" + dump(place[name]))
        return f"{name} twice"

    def leave_out(self, _, value, rng):
        place = self.object_in({"": value}, rng)
        name = rng.choice(list(place) or [""])
        if name:
            place.pop(name)
        return f"without {name}"

    def bad_text(self, rng):
        """Damages the JSON text."""
        operation = rng.choice(self.with_body)
        text = bytearray(dump(self.example(operation, rng)))
        change = rng.randrange(9)
        where = rng.randrange(max(len(text), 1))
        if change == 0:
            del text[where:]
        elif change == 1:
            text[where:where + 1] = bytes([rng.randrange(256)])
        elif change == 2:
            text[where:where] = rng.randbytes(rng.choice((1, 2, 8)))
        elif change == 3:
            text += rng.choice((b" x", b"{}", b"\0", b",", b"]", b"\xef\xbb\xbf", b"/**/", b"\n\n"))
        elif change == 4:
            text[:0] = rng.choice((b"\xef\xbb\xbf", b" " * 9000, b"\0", b",", b"//\n", b"\xfe\xff"))
        elif change == 5:
            text = bytearray(rng.choice(NOT_JSON + BAD_UNICODE))
        elif change == 6:
            text = bytearray(rng.choice((deep(32), deep(33), deep(1000), deep(100_000),
                                         deep(5000, b'{"a":', b"}"), Raw(b"[" * 10_000))))
        elif change == 7:
            text = bytearray(dump({f"k{n}": n for n in range(rng.choice((64, 65, 5000)))}))
        else:
            text = bytearray(dump(any_value(rng)))
        body = bytes(text)
        allowed = REFUSED if must_refuse(operation, body) else ANY
        return self.request(operation, rng, body=body, allowed=allowed, why=f"text {change}")

    # ------------------------------------------------------------ targets

    def bad_query(self, rng):
        operation = rng.choice(self.with_query if rng.random() < 0.8 else self.operations)
        path = self.live.path(operation, rng)
        parameters = operation.parameters_in("query")
        if not parameters or rng.random() < 0.25:
            name = rng.choice(["colour", "Limit", "limit[]", "", "__proto__", "%6cimit2",
                               "a" * 3000])
            allowed = REFUSED if path.startswith("/v1") else ANY
            return self.request(operation, rng, target=f"{path}?{name}=1", allowed=allowed,
                                why="unknown parameter",
                                body=self.plain_body(operation, rng))
        parameter = rng.choice(parameters)
        schema = self.contract.resolve(parameter["schema"])
        value = rng.choice([*near_limits(schema), *STRINGS, "forged", "AAAA", "-1", "+1", "1e9",
                            "000", "0x1", "99999999999999999999", "%", self.live.cursor(rng)])
        text = value if isinstance(value, str) else str(value)
        query = f"{parameter['name']}={urllib.parse.quote(text)}"
        if rng.random() < 0.1:
            query += "&" + query
        valid = self.fits(schema, text)
        return self.request(operation, rng, target=f"{path}?{query}",
                            allowed=ANY if valid else REFUSED, why=f"query {query[:60]}",
                            body=self.plain_body(operation, rng))

    def fits(self, schema, text):
        value = text
        if schema.get("type") == "integer" and re.fullmatch("[0-9]{1,30}", text):
            value = int(text)
        if schema.get("type") == "boolean":
            value = {"true": True, "false": False}.get(text, text)
        return self.contract.validator(schema).is_valid(value)

    def plain_body(self, operation, rng):
        return dump(self.example(operation, rng)) if operation.body else b""

    def bad_path(self, rng):
        operation = rng.choice(self.with_path)
        good = {parameter["name"]: parameter["example"]
                for parameter in operation.parameters_in("path")}
        name = rng.choice(list(good))
        kind, rest = (good[name] + "_" + "0" * 26).split("_")[:2]
        bad = rng.choice([
            kind + "_" + "0" * 26, kind + "_" + "z" * 26, kind + "_8" + rest[1:], "xxx_" + rest,
            good[name].upper(), good[name][:-1], good[name] + "0", rest, kind + "_", "..%2f" + rest,
            "%00", "%2e%2e", "%c0%af", "%ff", "%", "%zz", rest.replace(rest[5], "u"), "é" * 10,
            "a" * 10_000, "'%20OR%201=1", "%F0%9F%98%80", "%0d%0aX-Evil:1", kind + "_" + "".join(
                rng.choice(BASE32) for _ in range(26)), "{id}", "*", ";", "%20", "1"])
        target = operation.path
        for key, value in good.items():
            text = bad if key == name else value
            target = target.replace("{" + key + "}", urllib.parse.quote(text, safe="%*;'{}"))
        return self.request(operation, rng, target=target, allowed=REFUSED, why=f"path {bad[:40]}",
                            body=self.plain_body(operation, rng))

    # ------------------------------------------------------------ headers, methods, keys

    def bad_header(self, rng):
        operation = rng.choice(self.operations)
        name, value, allowed = rng.choice([
            ("Content-Encoding", "gzip", frozenset({415})),
            ("Content-Encoding", "identity, br", frozenset({415})),
            ("Expect", "200-ok", frozenset({417})),
            ("X-HTTP-Method-Override", "DELETE", ANY), ("X-Original-URL", "/v1/webhooks", ANY),
            ("X-Forwarded-For", "127.0.0.1, ' OR 1", ANY), ("X-Request-Id", "x" * 5000, ANY),
            ("X-Request-Id", "a b\tc", ANY), ("X-Request-Id", "\xff\xfe", ANY),
            ("Cookie", "a=b; " * 500, ANY), ("Accept", "text/html;q=nope", ANY),
            ("Upgrade", "h2c", ANY), ("Connection", "Upgrade, HTTP2-Settings", ANY),
            ("Range", "bytes=0-0,-1", ANY), ("If-None-Match", "*", ANY),
            ("Accept-Encoding", "*", ANY), ("Accept-Charset", "utf-7", ANY),
            ("X-Long", "v" * 20_000, frozenset({431})),
            ("Idempotency-Key", "", ANY), ("Idempotency-Key", "k" * 257, ANY),
            ("Idempotency-Key", "\xe9", ANY), ("Content-Type", "text/plain", ANY),
            ("Content-Type", "application/json; charset=utf-16", ANY),
            ("Content-Type", "application/json;", ANY),
            ("Content-Type", "multipart/form-data", ANY),
            ("Traceparent", "00-" + "0" * 32, ANY)])
        request = self.request(operation, rng, allowed=allowed, why=f"header {name}: {value[:30]}",
                               body=self.plain_body(operation, rng))
        request.headers = [pair for pair in request.headers if pair[0] != name] + [(name, value)]
        return request

    def bad_key(self, rng):
        operation = rng.choice(self.operations)
        request = self.request(operation, rng, allowed=frozenset({401}), why="key",
                               body=self.plain_body(operation, rng))
        key = self.live.key
        value = rng.choice([
            None, "", "Bearer", "Bearer ", "Basic " + key, key, "Bearer " + key[:-1],
            "Bearer " + key + "x", "Bearer " + key.swapcase(), "Bearer " + "x" * 600,
            "Bearer \xff", "Bearer " + key + ", Bearer " + key, "Token " + key,
            "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.", "Bearer ../" + key])
        request.headers = [pair for pair in request.headers if pair[0] != "Authorization"]
        if value is not None:
            request.headers.append(("Authorization", value))
        if operation.is_open:
            request.allowed = ANY
        return request

    def bad_method(self, rng):
        operation = rng.choice(self.operations)
        method = rng.choice(["TRACE", "CONNECT", "OPTIONS", "PROPFIND", "get", "post", "QUERY", "M",
                             "X" * 60, "LOCK", "PURGE", "HEAD"])
        request = self.request(operation, rng, allowed=REFUSED, why=f"method {method}")
        request.method = method
        request.operation = None
        if method == "HEAD":
            request.allowed = ANY
        return request

    def deletion(self, target):
        return Request(None, "DELETE", target, [("Authorization", f"Bearer {self.live.key}")], b"",
                       frozenset({204, 404}), "deletion")

    def valid(self, rng):
        operation = rng.choice(self.operations)
        return self.request(operation, rng, allowed=ANY, why="valid",
                            body=self.plain_body(operation, rng))
