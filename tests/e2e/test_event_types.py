"""The catalogue of event types, and the schemas that publishing checks."""

import itertools

import pytest

_names = itertools.count(1)

SCHEMA = {
    "type": "object",
    "required": ["amount", "items"],
    "properties": {
        "amount": {"type": "number", "exclusiveMinimum": 0},
        "at": {"type": "string", "format": "date-time"},
        "items": {"type": "array", "items": {"$ref": "#/definitions/item"}},
    },
    "additionalProperties": False,
    "definitions": {"item": {"type": "object", "properties": {
        "sku": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"}}}},
}
GOOD = {"amount": 1.5, "at": "2026-01-31T23:59:59Z", "items": [{"sku": "AB-1"}]}


@pytest.fixture
def make_type(api):
    """Creates event types with unique names. Deletes them after the test."""
    made = []

    def make(expect=201, **fields):
        fields.setdefault("name", f"catalogue.type-{next(_names)}")
        answer = api.post("/v1/event-types", fields, expect=expect)
        if expect == 201:
            made.append(answer["name"])
        return answer
    yield make
    for name in made:
        api.request("DELETE", f"/v1/event-types/{name}")


def test_an_entry_is_returned_as_it_was_created(api, make_type):
    made = make_type(description="Orders", schema=SCHEMA, example=GOOD)
    assert (made["schema"], made["example"]) == (SCHEMA, GOOD)
    assert (made["description"], made["validate"], made["archived"]) == ("Orders", True, False)
    assert made["created_at"] == made["updated_at"]
    assert api.get(f"/v1/event-types/{made['name']}") == made
    again = make_type(expect=409, name=made["name"])
    assert again["code"] == "event_type_exists"
    api.delete(f"/v1/event-types/{made['name']}")
    assert api.get(f"/v1/event-types/{made['name']}", expect=404)["code"] == "not_found"
    api.delete(f"/v1/event-types/{made['name']}", expect=404)


def test_put_merges(api, make_type):
    made = make_type(description="Orders", schema=SCHEMA, example=GOOD)
    path = f"/v1/event-types/{made['name']}"
    changed = api.request("PUT", path, {"archived": True}).json
    assert {**changed, "updated_at": ""} == {**made, "archived": True, "updated_at": ""}
    bare = api.request("PUT", path, {"schema": None, "example": None, "archived": False}).json
    assert (bare["schema"], bare["example"], bare["description"]) == (None, None, "Orders")


def test_the_list_is_sorted_by_name_and_paged(api, make_type):
    names = [make_type(archived=number % 2 == 0)["name"] for number in range(5)]
    mine = [entry["name"] for entry in api.all("/v1/event-types") if entry["name"] in names]
    assert mine == sorted(names)
    archived = [entry["name"] for entry in api.all("/v1/event-types?archived=true")]
    assert [name for name in archived if name in names] == sorted(names[::2])
    everything = api.all("/v1/event-types")
    page = api.get("/v1/event-types?limit=1&offset=1")
    assert page["data"] == everything[1:2]
    rest = api.get(f"/v1/event-types?limit=250&cursor={page['next_cursor']}")
    assert rest["data"] == everything[2:]


def test_data_that_violates_the_schema_is_refused(world, make_type):
    hook = world.hook()
    name = make_type(schema=SCHEMA)["name"]
    refused = world.publish(name, {"amount": 1, "items": [{}, {"sku": "ab"}]}, expect=422)
    assert refused["code"] == "schema_violation"
    assert refused["errors"] == [{"field": "data.items[1].sku",
                                  "message": "must match the pattern `^[A-Z]{2}-[0-9]+$`."}]
    for data, field in [({"items": []}, "data"), ({**GOOD, "amount": 0}, "data.amount"),
                        ({**GOOD, "at": "yesterday"}, "data.at"), ([], "data"), (None, "data")]:
        body = {"type": name, "data": data, "tenant_id": world.tenant}
        refused = world.api.post("/v1/events", body, expect=422)
        assert field in [error["field"] for error in refused["errors"]], refused
    accepted = world.publish(name, GOOD)
    world.wait_done(accepted["id"], hook)
    assert len(world.requests(hook)) == 1
    assert world.publish("some.other-type", [])["deliveries"] == 1


def test_each_item_of_a_batch_is_validated(world, make_type):
    world.hook()
    name = make_type(schema=SCHEMA)["name"]
    old = make_type(archived=True)["name"]
    events = [{"type": name, "data": GOOD}, {"type": name, "data": {}}, {"type": old, "data": 1}]
    whole = world.publish_batch(events, expect=422)
    assert whole["code"] == "schema_violation"
    assert {"events[1].data", "events[2].type"} <= {error["field"] for error in whole["errors"]}
    each = world.publish_batch(events, query="?atomic=false")
    assert each["accepted"] == 1
    assert [item.get("code") for item in each["results"][1:]] == [
        "schema_violation", "event_type_archived"]


def test_validation_can_be_switched_off_and_a_type_archived(world, make_type):
    made = make_type(schema=SCHEMA, validate=False)
    assert made["validate"] is False
    path = f"/v1/event-types/{made['name']}"
    world.publish(made["name"], {"anything": "goes"})
    world.api.patch(path, {"validate": True})
    world.publish(made["name"], {"anything": "goes"}, expect=422)
    world.api.patch(path, {"archived": True})
    assert world.publish(made["name"], GOOD, expect=422)["code"] == "event_type_archived"
    world.api.patch(path, {"archived": False})
    world.publish(made["name"], GOOD)


@pytest.mark.parametrize("fields, field, words", [
    ({"name": "a..b"}, "name", "letters"),
    ({"schema": 5}, "schema", "object"),
    ({"schema": {"type": "strin"}}, "schema", "strin"),
    ({"schema": {"properties": {"a": {"$ref": "http://127.0.0.1:1/x.json"}}}}, "schema",
     "/properties/a/$ref"),
    ({"schema": {"$ref": "#"}}, "schema", "leads back to itself"),
    ({"schema": {"pattern": "(("}}, "schema", "/pattern"),
    ({"schema": {"minimum": "low"}}, "schema", "cannot be used"),
    ({"schema": {"description": "x" * 65536}}, "schema", "65536"),
    ({"schema": SCHEMA, "example": {"amount": -1, "items": []}}, "example.amount", "greater"),
    ({"example": "x" * 40000}, "example", "32768"),
    ({"validate": "yes"}, "validate", "true or false"),
    ({"updated_at": "2026-01-01T00:00:00Z"}, "updated_at", "server"),
    ({"colour": "red"}, "colour", "not a field"),
])
def test_an_invalid_field_is_named(make_type, fields, field, words):
    answer = make_type(expect=422, **fields)
    assert answer["errors"][0]["field"] == field
    assert words in answer["errors"][0]["message"]


def test_a_pattern_is_matched_with_a_long_text(world, make_type):
    name = make_type(schema={"type": "string", "pattern": "^(a+)+$"})["name"]
    world.publish(name, "a" * 200_000 + "!", expect=422)
    world.publish(name, "a" * 200_000)


def test_the_catalogue_survives_kill_9(own_server):
    server = own_server().start()
    api = server.api()
    made = api.post("/v1/event-types", {"name": "a.b", "schema": SCHEMA, "example": GOOD},
                    expect=201)
    api.post("/v1/event-types", {"name": "gone"}, expect=201)
    api.delete("/v1/event-types/gone")
    api.close()
    server.kill()
    server.start()
    api = server.api()
    assert api.get("/v1/event-types?system=false")["data"] == [made]
    assert api.post("/v1/events", {"type": "a.b", "data": {}}, expect=422)[
        "code"] == "schema_violation"
    api.post("/v1/events", {"type": "a.b", "data": GOOD}, expect=202)
    api.close()
