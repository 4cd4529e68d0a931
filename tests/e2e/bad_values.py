"""Unusual and invalid JSON values, and a strict parser to judge a request body independently.

A body is built from dicts, lists and plain values. `Raw` is JSON text that is sent unchanged.
`Pairs` is an object that may have duplicate names.
"""

import json


class Raw(bytes):
    """Text that is sent unchanged; may be invalid JSON."""


class Pairs(list):
    """An object as a list of (name, value)."""


def dump(node):
    if isinstance(node, Raw):
        return bytes(node)
    if isinstance(node, Pairs):
        return b"{" + b",".join(dump(name) + b":" + dump(value) for name, value in node) + b"}"
    if isinstance(node, dict):
        return dump(Pairs(node.items()))
    if isinstance(node, list):
        return b"[" + b",".join(map(dump, node)) + b"]"
    return json.dumps(node, ensure_ascii=False).encode("utf-8", "surrogatepass")


def deep(levels, opening=b"[", closing=b"]"):
    return Raw(opening * levels + closing * levels)


NUMBERS = [Raw(text) for text in (
    b"0", b"-0", b"-0.0", b"-1", b"1", b"1.0", b"1.5", b"1e3", b"1E+2", b"1e400", b"-1e400",
    b"1e-400", b"9007199254740991", b"9007199254740992", b"9007199254740993",
    b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808",
    b"-9223372036854775808", b"-9223372036854775809", b"18446744073709551616",
    b"1" + b"0" * 5000, b"0." + b"1" * 5000, b"0.1", b"99.99999999999999999")]
NOT_JSON = [Raw(text) for text in (
    b"NaN", b"Infinity", b"-Infinity", b"nul", b"True", b"undefined", b"'single'", b"01", b"+1",
    b".5", b"5.", b"1e", b"0x10", b"1_000", b'"open', b'"\x01"', b'"\t"', b'"\n"', b'"\\x41"',
    b'"\\u12"', b"[1,]", b'{"a":1,}', b"{,}", b"[", b"}", b"/*c*/1", b"//c\n1",
    b"\xef\xbb\xbf1", b"")]
BAD_UNICODE = [Raw(b'"' + text + b'"') for text in (
    b"\xff", b"\x80", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf", b"\xed\xa0\x80",
    b"\xed\xb0\x80", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xc3", b"\xe2\x82", b"\xc3(",
    b"\\ud800", b"\\udc00", b"\\ud800\\ud800", b"\\udc00\\ud800", b"\\ud800x", b"\\uD83D")]
STRINGS = [
    "", " ", "\0", "\x01", "\x7f", "\x85", "\n", "a\nb", "a\r\nX-Evil: 1", "\t", "x" * 256,
    "x" * 257, "é" * 128, "é" * 129, "😀" * 64, "😀" * 65, "x" * 4096, "x" * 4097,
    "\u202eevil\u202c", "\u200b", "\ufeff", "\ufffe", "\uffff", "e\u0301" * 50, "İıſK",
    "Ⅷ", "../../etc/passwd", "%00", "%2e%2e%2f", "' OR 1=1 --", '"; DROP TABLE event; --', "${x}",
    "{{7*7}}", "<script>alert(1)</script>", "$(reboot)", "null", "true", "0", "NaN", "__proto__",
    "constructor", "*", "a.*", "a..b", ".a", "a.", "*.a", "order.created", "9999-12-31T23:59:59Z",
    "0000-01-01T00:00:00Z", "0000-01-01T00:00:00+23:59", "9999-12-31T23:59:60-23:59",
    "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2016-12-31T23:59:60Z", "2026-01-01",
    "-2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123456789123456789Z", "1970-01-01T00:00:00",
    "http://127.0.0.1:1/", "https://[::1]/", "https://user:pw@x.test/", "gopher://x/", "https://",
    "http://169.254.169.254/latest", "https://x.test:0/", "https://x.test:65536/", "https://xn--/",
    "whk_" + "0" * 26, "evt_" + "z" * 26, "whsec_", "whsec_!!!!", "x" * 24, "x" * 75, "x" * 76]
OTHERS = [None, True, False, [], [[]], {}, [None], {"a": None}, {"__proto__": {"x": 1}},
          {"$ref": "#/"}, deep(20), deep(20, b'{"a":', b"}"), deep(33), deep(1000)]


def any_value(rng):
    kind = rng.choice((NUMBERS, STRINGS, STRINGS, OTHERS, BAD_UNICODE, NOT_JSON))
    return rng.choice(kind)


def near_limits(schema):
    """Values at and just outside each limit of a schema."""
    values = []
    for limit in ("minimum", "maximum"):
        if limit in schema:
            values += [schema[limit] - 1, schema[limit], schema[limit] + 1, schema[limit] + 0.5]
    for limit in ("minLength", "maxLength"):
        if limit in schema:
            values += ["x" * max(schema[limit] + step, 0) for step in (-1, 0, 1)]
    item = {"type": "order.created", "data": 1} if "EventInput" in str(schema) else "order.created"
    if "integer" in str(schema.get("items", {}).get("type")):
        item = schema["items"]["minimum"]
    for limit in ("minItems", "maxItems"):
        if limit in schema:
            values += [[item] * max(schema[limit] + step, 0) for step in (-1, 0, 1)]
    if "maxProperties" in schema:
        values += [{f"X-Sweep-{n}": "v" for n in range(schema["maxProperties"] + step)}
                   for step in (0, 1)]
    for word in schema.get("enum", []):
        values += [word, word.upper(), word + " ", " " + word] if word else [word]
    return values


# ---------------------------------------------------------------- strict parser

def _integer(text):
    return int(text) if len(text) < 100 else float("inf")


def _unique_names(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a duplicate name")
    return dict(pairs)


def _refuse_constant(text):
    raise ValueError(text)


def strict_parse(body):
    """Parses a body. Raises ValueError if it is invalid or ambiguous JSON."""
    if body.startswith(b"\xef\xbb\xbf"):
        raise ValueError("a byte order mark")
    if body.count(b"[") + body.count(b"{") > 5000:
        raise ValueError("too deep for Python's parser")
    try:
        value = json.loads(body.decode("utf-8"), object_pairs_hook=_unique_names,
                           parse_int=_integer, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("too deep") from None
    json.dumps(value, ensure_ascii=False).encode("utf-8")  # Raises for lone surrogates.
    return value
