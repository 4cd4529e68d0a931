"""The OpenAPI document and the server agree: operations, examples, answers, limits, problems."""

import json
import socket
import subprocess

import pytest

from bad_framing import COMMON, exchange
from contract import Contract, from_fragments
from faults import failing_store
from harness import DEADLINE, ROOT, wait_for
from provoke import PROVOKED_ELSEWHERE, PROVOKERS, SUCCESSES
from resources import FILLERS, VALUES, Resources, required_parameters, start_server
from sweep import Client
from test_stream import Stream

CONTRACT = Contract(from_fragments())
OPERATIONS = CONTRACT.operations


@pytest.fixture(scope="module")
def resources(shared_receiver, tmp_path_factory):
    server = start_server(tmp_path_factory.mktemp("contract"))
    yield Resources(server, shared_receiver)
    server.stop()


# ---------------------------------------------------------------- the document

def test_the_served_document_equals_its_fragments(server):
    api = server.api(key=None)
    served = api.request("GET", "/openapi.json")
    document = served.json
    assert document["info"].pop("version").count(".") == 2
    wanted = from_fragments()
    wanted["info"].pop("version")
    assert document == wanted
    assert api.request("GET", "/openapi.json").body == served.body
    api.close()


def test_an_independent_validator_finds_the_document_valid(server):
    done = subprocess.run(
        ["node", "check_openapi.mjs"], cwd=ROOT / "tests" / "e2e", capture_output=True, text=True,
        input=server.api().request("GET", "/openapi.json").body.decode(), check=True)
    verdict = json.loads(done.stdout)
    assert verdict["valid"], verdict
    assert verdict["version"] == "3.1"


def test_every_reference_resolves_and_every_component_is_used():
    used = set()

    def walk(node):
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                CONTRACT.resolver.resolve(node["$ref"])
                used.add("/".join(node["$ref"].split("/")[:4]))
            for value in node.values():
                walk(value)
        if isinstance(node, list):
            for value in node:
                walk(value)
    walk(CONTRACT.document)
    components = {f"#/components/{kind}/{name}"
                  for kind, named in CONTRACT.document["components"].items() for name in named
                  if kind != "securitySchemes"}
    assert components - used == set()


def test_names_are_unique_and_tags_are_described():
    names = [operation.id for operation in OPERATIONS]
    assert len(names) == len(set(names))
    tags = {tag["name"] for tag in CONTRACT.document["tags"]}
    assert {tag for operation in OPERATIONS for tag in operation.node["tags"]} == tags


@pytest.mark.parametrize("operation", OPERATIONS, ids=repr)
def test_an_operation_is_described_with_valid_examples(operation):
    assert operation.node["summary"] and "default" in operation.responses
    if not operation.is_open:
        assert {"401", "403"} <= set(operation.responses)
        assert operation.by_session or "Needs scope" in operation.node["description"]
    for parameter in operation.parameters:
        validator = CONTRACT.validator(parameter["schema"])
        assert validator.is_valid(parameter["example"]), parameter["name"]
    if operation.body:
        assert operation.body_examples
    for name, value in operation.body_examples.items():
        assert operation.body_validator.is_valid(value), name
    for status, response in operation.responses.items():
        for media_type, content in response.get("content", {}).items():
            if not media_type.endswith("json") or operation.id == "getContract":
                continue
            for example in content["examples"].values():
                CONTRACT.validator(content["schema"]).validate(example["value"])
                if media_type == "application/problem+json" and status != "default":
                    assert example["value"]["status"] == int(status)


def open_objects(schema, inside, seen):
    """Yields the objects in a schema that allow undescribed members."""
    if not isinstance(schema, dict):
        return
    if "$ref" in schema and schema["$ref"] not in seen:
        target = CONTRACT.resolver.resolve(schema["$ref"])[1]
        yield from open_objects(target, inside, seen | {schema["$ref"]})
    closes = {"additionalProperties", "unevaluatedProperties"} & set(schema)
    if schema.get("type") == "object" and not closes and not inside:
        yield schema
    for key in ("properties", "$defs"):
        for child in schema.get(key, {}).values():
            yield from open_objects(child, False, seen)
    closed = inside or "unevaluatedProperties" in schema
    for key in ("oneOf", "anyOf", "allOf"):
        for child in schema.get(key, []):
            yield from open_objects(child, closed, seen)
    yield from open_objects(schema.get("items"), False, seen)


@pytest.mark.parametrize("operation", OPERATIONS, ids=repr)
def test_response_schemas_allow_no_undescribed_fields(operation):
    for response in operation.responses.values():
        for content in response.get("content", {}).values():
            assert list(open_objects(content["schema"], False, frozenset())) == []


# ---------------------------------------------------------------- the server

def documented_methods(path):
    methods = {operation.method for operation in OPERATIONS if operation.path == path}
    return methods | ({"HEAD"} if "GET" in methods else set())


@pytest.mark.parametrize("path", CONTRACT.document["paths"])
def test_a_path_accepts_only_the_documented_methods(resources, path):
    operation = next(operation for operation in OPERATIONS if operation.path == path)
    answer = resources.api.request("OPTIONS", resources.unknown_path(operation))
    assert answer.status == 405
    assert set(answer.headers["allow"].split(", ")) == documented_methods(path)


EXAMPLES = [(operation, name) for operation in OPERATIONS
            for name in operation.body_examples or {"nothing": None}]


@pytest.mark.parametrize("operation, name", EXAMPLES, ids=lambda value: str(value))
def test_an_example_request_succeeds_as_documented(resources, operation, name):
    value = operation.body_examples.get(name)
    body = None if value is None else resources.body(value)
    answer = resources.send(operation, body=body, key=None if operation.is_open else True)
    assert answer.status in operation.successes


PARAMETERS = [(operation, parameter["name"]) for operation in OPERATIONS
              for parameter in operation.parameters if parameter["in"] != "path"]


@pytest.mark.parametrize("operation, name", PARAMETERS, ids=lambda value: str(value))
def test_a_parameter_works_as_its_example_shows(resources, operation, name):
    parameter = next(one for one in operation.parameters if one["name"] == name)
    body = resources.any_body(operation)
    if parameter["in"] == "header":
        value = resources.body(parameter["example"])
        answer = resources.send(operation, body=body, headers={name: value})
    else:
        path = resources.path(operation)
        value = VALUES.get((operation.id, name), lambda: parameter["example"])()
        if name == "cursor":
            value = cursor_of(resources, operation, path)
        value = str(value).lower() if isinstance(value, bool) else value
        query = "&".join([f"{name}={value}", *required_parameters(operation, but=name)])
        answer = resources.send(operation, path=f"{path}?{query}", body=body)
    assert answer.status in operation.successes


def cursor_of(resources, operation, path):
    """Adds two items to this list and returns a cursor of it."""
    for _ in range(2):
        fill = FILLERS.get(operation.id, lambda resources, _: resources.dead_letter())
        fill(resources, path)
    page = resources.api.get(f"{path}?limit=1")
    cursor = page.get("webhooks", page)["next_cursor"]
    assert cursor
    return cursor


@pytest.mark.parametrize("operation, status", [
    (operation, status) for operation in OPERATIONS for status in operation.successes
    if len(operation.successes) > 1], ids=lambda value: str(value))
def test_each_documented_success_status_can_be_reached(resources, operation, status):
    assert SUCCESSES[operation.id, status](resources, operation).status == status


PROBLEMS = [(operation, status, code) for operation in OPERATIONS
            for status, code in operation.problems
            if status != 503 and code not in PROVOKED_ELSEWHERE
            and (operation.id, code) not in PROVOKED_ELSEWHERE]


@pytest.mark.parametrize("operation, status, code", PROBLEMS, ids=lambda value: str(value))
def test_each_documented_problem_can_be_provoked(resources, operation, status, code):
    provoke = PROVOKERS.get((operation.id, code)) or PROVOKERS[code]
    answer = provoke(resources, operation)
    assert (answer.status, answer.json["code"]) == (status, code), answer


def test_problems_provoked_elsewhere_have_a_test():
    python_tests = "".join(file.read_text() for file in (ROOT / "tests" / "e2e").glob("test_*.py"))
    for name in PROVOKED_ELSEWHERE.values():
        exists = (ROOT / name).exists() if "/" in name else f"def {name}(" in python_tests
        assert exists, name


# ---------------------------------------------------------------- limits

# Other fields that a request needs for a field to reach its limits.
COMPANIONS = {
    "base_delay_ms": {"max_delay_ms": 604_800_000}, "max_delay_ms": {"base_delay_ms": 1},
    "sleep_window_ms": {"sleep_max_ms": 604_800_000}, "sleep_max_ms": {"sleep_window_ms": 10},
    ("createApiKey", "tenant_id"): {"scope": "tenant"},
    "burst": {"requests_per_second": 1}, "duration_seconds": {"action": "force_open"},
}
# Fields with stricter rules than a length: a URL or address must be valid, a key or token must
# exist.
RULED_OTHERWISE = {"url", "logo_url", "secret", "header_prefix", "key", "token", "owner_email"}


def limited_fields(schema, path=()):
    """Yields (path, schema) of every field with a limit, at any depth."""
    for name, child in CONTRACT.properties(schema).items():
        child = CONTRACT.resolve(child)
        for part in [child, *map(CONTRACT.resolve, child.get("oneOf", []))]:
            if {"maximum", "maxLength"} & set(part) and name not in RULED_OTHERWISE:
                yield (*path, name), part
        yield from limited_fields(child, (*path, name))


# Their fields are tested with the operations that create.
CHANGES = {"previewWebhook", "publishBatch", "putEventType", "putWebhook", "updateEventType",
           "updateNotificationChannel", "updateWebhook"}
LIMITS = [(operation, ".".join(path), part) for operation in OPERATIONS
          if operation.body and operation.id not in CHANGES
          for path, part in limited_fields(operation.body_schema)]


def beside(part):
    """Returns (values at the field's limits, values just outside them)."""
    if "maximum" in part:
        return (part["minimum"], part["maximum"]), (part["minimum"] - 1, part["maximum"] + 1)
    return ("x", "x" * part["maxLength"]), ("", "x" * (part["maxLength"] + 1))


@pytest.mark.parametrize("operation, path, part", LIMITS, ids=lambda value: (
    value if isinstance(value, str) else getattr(value, "id", "")))
def test_a_limit_is_exactly_where_the_document_says(resources, operation, path, part):
    names = path.split(".")
    target = resources.path(operation)
    within, beyond = beside(part)
    for value in (*within, *beyond):
        body = resources.any_body(operation)
        place = body
        for name in names[:-1]:
            place = place.setdefault(name, {})
        others = COMPANIONS.get((operation.id, names[-1])) or COMPANIONS.get(names[-1], {})
        place.update({**others, names[-1]: value})
        answer = resources.send(operation, path=target, body=body)
        assert (answer.status < 300) == (value in within), f"{path} {str(value)[:20]}: {answer!r}"
        if value in beyond:
            assert answer.status == 422 and answer.json["errors"][0]["field"] == path


# ---------------------------------------------------------------- overload and store failures

def test_a_client_over_its_rate_gets_429_with_retry_after(own_server):
    server = own_server("--set", "api.rate_limit.requests_per_second=1",
                        "--set", "api.rate_limit.burst=1").start()
    api = server.api()
    for name in ("publishEvent", "listWebhooks"):
        operation = CONTRACT.operation(name)
        body = operation.body_examples.get("small")

        def over_limit():
            answer = api.request(operation.method, operation.path, body)
            operation.check(answer)
            return answer.status == 429 and answer
        answer = wait_for(over_limit, "the rate limit to be reached")
        assert answer.json["code"] == "rate_limited" and int(answer.headers["retry-after"]) >= 1
    received = exchange(server.port, [
        b"GET /v1/webhooks HTTP/1.1\r\nHost: x\r\n" + COMMON + b"\r\n"] * 2)
    assert received.count(b"HTTP/1.1 429") == received.count(b"Retry-After: ") >= 1, received


def test_a_stream_over_the_limit_is_refused_until_another_ends(own_server, receiver):
    server = own_server().start()
    resources = Resources(server, receiver)
    operation = CONTRACT.operation("streamNews")
    streams = [Stream(server) for _ in range(256)]
    assert {stream.status for stream in streams} == {200}
    answer = resources.send(operation)
    assert (answer.status, answer.json["code"]) == (503, "too_many_streams")
    for stream in streams:
        stream.close()
    wait_for(lambda: resources.send(operation).status == 200, "the streams to end")


def test_a_connection_over_the_limit_gets_503(own_server):
    server = own_server("--set", "api.connections_max=2").start()
    held = [socket.create_connection(("127.0.0.1", server.port), DEADLINE) for _ in range(64)]
    client = Client(server.port)
    client.socket = socket.create_connection(("127.0.0.1", server.port), DEADLINE)
    answer = client.read()
    assert (answer.status, answer.json["code"]) == (503, "overloaded")
    for name in ("publishEvent", "listWebhooks", "streamNews"):
        CONTRACT.operation(name).check(answer)
    for connection in (client, *held):
        connection.close()
    wait_for(lambda: server.api().request("GET", "/healthz").status == 200, "a free connection")


def test_rotating_the_secrets_key_without_one_is_a_conflict(server):
    operation = CONTRACT.operation("rotateSecretsKey")
    answer = server.api().request("POST", operation.path)
    operation.check(answer)
    assert (answer.status, answer.json["code"]) == (409, "no_secrets_key")


def test_a_failing_store_is_answered_as_documented(
        shared_receiver, tmp_path):
    server = start_server(tmp_path)
    resources = Resources(server, shared_receiver)
    prepared = []
    for operation in OPERATIONS:
        if (503, "unavailable") in operation.problems:
            caller = ({"key": None, "headers": resources.session_headers()}
                      if operation.by_session else {})
            prepared.append((operation, resources.plain(operation),
                             {"body": resources.any_body(operation), **caller}))
    # Invalidates the pages that the readers have cached.
    resources.event({"tenant_id": "resources"})
    assert prepared
    fault = "fdatasync,fsync,pread64:error=EIO"
    with failing_store(server, tmp_path / "strace.log", fault):
        for operation, path, request in prepared:
            answer = resources.send(operation, path=path, **request)
            if operation.id == "listAlerts" and answer.status == 200:
                assert answer.json["data"], "an alert about the store, from memory"
                continue
            assert (answer.status, answer.json["code"]) == (503, "unavailable"), (
                f"{operation.id}: {answer!r}")
        ready = CONTRACT.operation("getReadiness")
        assert resources.send(ready, key=None).json["code"] == "not_ready"
    wait_for(lambda: resources.api.request("GET", "/readyz").status == 200, "the store to recover")
    server.stop()
