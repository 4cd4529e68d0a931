"""Hostile schemas and data: refused or bounded; the server stays alive and answers others."""

import json
import random
import threading

import pytest

from secret_checks import in_database

WORDS = 60
WORD_LENGTH = 4000  # A data of 240 KB: WORDS strings of this length.


def post_type(api, name, expect, **fields):
    return api.post("/v1/event-types", {"name": name, **fields}, expect=expect)


def publish(api, name, data, expect):
    return api.post("/v1/events", {"type": name, "data": data}, expect=expect)


def raw_type(name, schema, example=None):
    """A body with numbers exactly as written."""
    more = "" if example is None else f', "example": {example}'
    return f'{{"name": "{name}", "schema": {schema}{more}}}'.encode()


@pytest.fixture
def one(own_server):
    """A server of its own, which must be alive after the test and after a restart."""
    server = own_server().start()
    yield server
    server.assert_alive()
    assert server.api().request("GET", "/healthz").status == 200


@pytest.mark.parametrize("number", ["0", "0.0", "-0.0", "-1", "0e99", "-1e-400"])
@pytest.mark.parametrize("example", [None, "1", "-9223372036854775808"])
def test_a_divisor_that_is_not_positive_is_refused(server, number, example):
    api = server.api()
    for schema in (f'{{"multipleOf": {number}}}',
                   f'{{"items": {{"anyOf": [{{"multipleOf": {number}}}]}}}}'):
        answer = api.request("POST", "/v1/event-types", raw_type("divisor", schema, example))
        assert answer.status == 422, answer
        error = answer.json["errors"][0]
        assert error["field"] == "schema"
        assert "/multipleOf must be greater than 0" in error["message"]
    post_type(api, "divisor", 201, schema={"multipleOf": 1})
    for method in ("PUT", "PATCH"):
        answer = api.request(method, "/v1/event-types/divisor",
                             f'{{"schema": {{"multipleOf": {number}}}}}'.encode())
        assert answer.status == 422, answer
    publish(api, "divisor", -9223372036854775808, expect=202)
    api.delete("/v1/event-types/divisor")
    server.assert_alive()


OLD_SCHEMAS = {
    "old.zero": ('{"multipleOf":0}', "/multipleOf must be greater than 0."),
    "old.negative": ('{"items":{"multipleOf":-1}}', "/items/multipleOf must be greater than 0."),
    "old.look-ahead": ('{"pattern":"^(?=a)"}', "look-ahead"),
    "old.repeated": ('{"required":["a","a"]}', "/required must be an array of different"),
}
OLD_DATA = (5, -9223372036854775808, [-9223372036854775808], "a" * 4000)


def store_old_schemas(server):
    """As an earlier version could have stored them."""
    for name, (schema, _) in OLD_SCHEMAS.items():
        in_database(server, "UPDATE event_type_entry SET schema = ? WHERE name = ?", schema, name)


def test_a_stored_schema_that_is_refused_now_does_not_harm_the_server(own_server):
    server = own_server().start()
    api = server.api()
    for name in OLD_SCHEMAS:
        post_type(api, name, 201, schema={"type": "null"}, example=None)
    server.stop()
    store_old_schemas(server)
    for _ in range(2):
        server.start()
        api = server.api()
        for name, (_, reason) in OLD_SCHEMAS.items():
            for data in OLD_DATA:
                answer = publish(api, name, data, expect=422)
                assert answer["code"] == "event_type_schema_unusable"
                assert answer["errors"][0]["field"] == "type"
                assert reason in answer["detail"]
        assert "event_type.schema_unusable name=old.zero" in server.output()
        batch = api.post("/v1/events/batch?atomic=false", expect=202, body=[
            {"type": "old.zero", "data": 5}, {"type": "other", "data": 5}])
        assert [item.get("code") for item in batch["results"]] == [
            "event_type_schema_unusable", None]
        server.assert_alive()
        server.kill()
    server.start()
    api = server.api()
    path = "/v1/event-types/old.zero"
    assert api.patch(path, {"description": "Old"})["description"] == "Old"
    assert publish(api, "old.zero", 5, expect=422)["code"] == "event_type_schema_unusable"
    assert api.patch(path, {"schema": {"multipleOf": 0}}, expect=422)["errors"]
    api.patch(path, {"validate": False})
    publish(api, "old.zero", 5, expect=202)
    api.patch(path, {"validate": True, "schema": {"multipleOf": 2}})
    assert publish(api, "old.zero", 5, expect=422)["code"] == "schema_violation"
    publish(api, "old.zero", 4, expect=202)
    api.patch("/v1/event-types/old.repeated", {"schema": None})
    publish(api, "old.repeated", 5, expect=202)
    server.kill()
    server.start()
    publish(server.api(), "old.zero", 4, expect=202)


def while_healthy(server, publish_all):
    """Calls `publish_all` and meanwhile asks another connection, one question at a time."""
    answered = []
    done = threading.Event()

    def ask():
        api = server.api()
        while not done.is_set():
            answered.append(api.request("GET", "/healthz").status)
    asking = threading.Thread(target=ask)
    asking.start()
    try:
        result = publish_all()
    finally:
        done.set()
        asking.join()
    assert set(answered) == {200}
    return result


@pytest.mark.parametrize("pattern, word", [
    (r"^\s+|\s+$", "x" + " " * (WORD_LENGTH - 2) + "x"),
    ("(x+x+)+y", "x" * WORD_LENGTH),
    ("^(x|x|x)*y$", "x" * WORD_LENGTH),
    ("^(([a-z])+.)+[A-Z]([a-z])+$", "a" * WORD_LENGTH),
], ids=["spaces", "nested", "alternatives", "groups"])
def test_patterns_that_make_others_backtrack_are_matched_at_once(one, pattern, word):
    api = one.api()
    post_type(api, "words", 201, schema={"items": {"pattern": pattern}})
    post_type(api, "word", 201, schema={"pattern": pattern})

    def publish_all():
        for _ in range(3):
            refused = publish(api, "words", [word] * WORDS, expect=422)
            assert refused["code"] == "schema_violation"
            assert refused["errors"][0] == {"field": "data[0]",
                                            "message": f"must match the pattern `{pattern}`."}
            assert len(refused["errors"]) == 10
        assert publish(api, "word", "x" + word * WORDS + "x", expect=422)["code"] in (
            "schema_violation", "validation_budget_exceeded")
    while_healthy(one, publish_all)


def test_a_batch_shares_one_budget(one):
    api = one.api()
    post_type(api, "words", 201, schema={"items": {"not": {"pattern": "(x+x+)+y"}}})
    events = [{"type": "words", "data": ["x" * WORD_LENGTH] * 18}] * 200
    assert len(json.dumps(events)) < 16 << 20

    def publish_all():
        return api.post("/v1/events/batch?atomic=false", {"events": events}, expect=202)["results"]
    results = while_healthy(one, publish_all)
    accepted = [item["status"] for item in results].index(422)
    assert accepted >= 20
    assert {item.get("code") for item in results[accepted:]} == {"validation_budget_exceeded"}
    last = results[-1]["errors"][0]
    assert last["field"] == "events[199].data"
    assert "fewer events in one request" in last["message"]
    whole = api.post("/v1/events/batch", {"events": events}, expect=422)
    assert whole["code"] == "validation_budget_exceeded"
    api.post("/v1/events/batch", {"events": events[:accepted]}, expect=202)


def test_expensive_checks_are_stopped_and_large_ones_are_not(one):
    api = one.api()
    node = {"properties": {"a": {"$ref": "#"}}}
    deep = 1
    for _ in range(28):
        deep = {"a": deep}
    keys = {f"k{number}": number for number in range(15000)}
    rng = random.Random(1)
    words = ["".join(rng.choices("ab", k=120)) for _ in range(1800)]
    stopped = [
        ({"allOf": [node, node]}, deep),
        ({"oneOf": [node, node, {"not": {}}]}, deep),
        ({"items": {"allOf": [{}] * 10000}}, list(range(30000))),
        ({"patternProperties": {f"^x{number}": {} for number in range(450)}}, keys),
        ({"items": {"not": {"pattern": "([ab]?){300}a{300}c"}}}, words),
    ]
    for number, (schema, data) in enumerate(stopped):
        name = f"stopped.{number}"
        post_type(api, name, 201, schema=schema)
        answer = while_healthy(one, lambda n=name, d=data: publish(api, n, d, expect=422))
        assert answer["code"] == "validation_budget_exceeded", number
    large = [
        ({"uniqueItems": True}, list(range(35000))),
        ({"maxLength": 250000}, "x" * 250000),
        ({"items": {"type": "integer", "minimum": 0, "multipleOf": 1}}, list(range(20000))),
        ({"not": {"pattern": r"^\s+|\s+$"}}, "x" * 250000),
    ]
    for number, (schema, data) in enumerate(large):
        post_type(api, f"large.{number}", 201, schema=schema)
        publish(api, f"large.{number}", data, expect=202)


@pytest.mark.parametrize("schema, words", [
    ({"properties": {f"p{n}": {"pattern": f"x{n}"} for n in range(1800)}}, "pattern too many"),
    ({"properties": {f"p{n}": {"pattern": f"a{{900}}{n}"} for n in range(900)}}, "too complex"),
    ({"pattern": r"\p{L}{100}"}, "too complex"),
    ({"pattern": "((a{100}){100}){100}"}, "/pattern"),
    ({"pattern": "(" * 256 + ")" * 256}, None),
    ({"pattern": r"(a)\1"}, "back-reference"),
    ({"patternProperties": {"(?!a)": {}}}, "look-ahead"),
    ({"allOf": [{"$ref": "#/allOf/0"}]}, "leads back to itself"),
    ({"definitions": {"d1000": {}, **{
        f"d{n}": {"$ref": f"#/definitions/d{n + 1}"} for n in range(1000)}}}, "nested schemas"),
], ids=range(9))
def test_a_schema_is_limited_when_it_is_created(server, schema, words):
    api = server.api()
    if words is None:
        post_type(api, "limited", 201, schema=schema)
        api.delete("/v1/event-types/limited")
        return
    answer = post_type(api, "limited", 422, schema=schema)
    assert answer["errors"][0]["field"] == "schema"
    assert words in answer["errors"][0]["message"]


def test_an_example_is_checked_within_the_same_limits(server):
    node = {"properties": {"a": {"$ref": "#"}}}
    deep = 1
    for _ in range(28):
        deep = {"a": deep}
    answer = post_type(server.api(), "costly", 422, schema={"allOf": [node, node]}, example=deep)
    assert answer["errors"] == [{
        "field": "example",
        "message": "takes too long to check with the schema. Simplify one of them."}]
