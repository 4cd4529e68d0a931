"""The server's JSON Schema agrees with python3-jsonschema: on fixed and on random schemas."""

import itertools
import random

import jsonschema
import pytest

_names = itertools.count(1)

VALUES = [
    None, True, False, 0, 1, -1, 2, 10, 1.0, 1.5, -2.5, 9007199254740993, -9223372036854775808,
    18446744073709551616, "", "a", "ab", "abc", "é", "😀😀", "a\u0000b", "1", "x y",
    [], [0], [1, 2], [1, 1.0], [0, False], ["a", "a"], [[1], [1]],
    [{"a": 1}, {"a": 1.0}], [None, "a", 3], {}, {"a": 1}, {"a": "x"}, {"a": None, "b": 2},
    {"a": {"a": {"a": 1}}},
    {"x-a": 1, "b": [1]}, {"": 1}, {"a/b": 1, "c~d": 2}, {"b": 1, "a": 2},
]

SCHEMAS = [
    {}, {"type": "integer"}, {"type": "number"}, {"type": ["string", "null"]}, {"type": "boolean"},
    {"enum": [1, "a", None, [1, 1], {"a": 1}]}, {"enum": []}, {"enum": [0]}, {"enum": [False]},
    {"const": 1}, {"const": True}, {"const": {"b": 2, "a": None}}, {"const": "a\u0000b"},
    {"minimum": 1}, {"maximum": 1.5}, {"exclusiveMinimum": 1}, {"exclusiveMaximum": 1},
    {"minimum": 9007199254740993}, {"multipleOf": 2}, {"multipleOf": 0.5}, {"multipleOf": 1},
    {"minLength": 2}, {"maxLength": 1}, {"minLength": 2.0}, {"pattern": "^a"}, {"pattern": "b$"},
    {"pattern": "^.$"}, {"pattern": "[a-c]{2}"}, {"pattern": "[0-9]|[^a-z😀é]"},
    {"items": {"type": "integer"}}, {"items": [{"const": 1}]}, {"items": False},
    {"items": [True, False]}, {"items": [{}], "additionalItems": {"type": "string"}},
    {"additionalItems": False}, {"minItems": 1}, {"maxItems": 1}, {"uniqueItems": True},
    {"contains": {"const": 1}}, {"contains": False}, {"required": ["a"]}, {"required": []},
    {"minProperties": 1}, {"maxProperties": 1}, {"properties": {"a": {"type": "integer"}}},
    {"properties": {"a": False, "b": True}}, {"patternProperties": {"^x-": {"type": "string"}}},
    {"properties": {"a": True}, "patternProperties": {"^x-": True}, "additionalProperties": False},
    {"additionalProperties": {"type": "integer"}}, {"propertyNames": {"maxLength": 1}},
    {"propertyNames": {"enum": ["a", "b"]}}, {"dependencies": {"a": ["b"]}},
    {"dependencies": {"a": {"maxProperties": 1}, "b": True}}, {"allOf": [{"minimum": 1}, True]},
    {"anyOf": [{"type": "string"}, {"minimum": 1}]}, {"oneOf": [{"minimum": 1}, {"minimum": 2}]},
    {"not": {"type": "string"}}, {"not": {}}, {"if": {"minimum": 2}, "then": {"maximum": 5}},
    {"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "array"}},
    {"then": False}, {"else": False}, {"definitions": {"a": {"type": "string"}}},
    {"$ref": "#/definitions/a", "definitions": {"a": {"type": "string"}}},
    {"$ref": "#/$defs/a", "$defs": {"a": {"minimum": 1}}, "maximum": 1},
    {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False},
    {"items": {"$ref": "#/definitions/x~1y"}, "definitions": {"x/y": {"type": "integer"}}},
    {"items": {"$ref": "#/definitions/a%20b"}, "definitions": {"a b": {"type": "integer"}}},
    {"format": "unknown-format"}, {"title": "t", "description": "d", "default": 5, "x-own": []},
    # Not valid.
    {"type": "strin"}, {"type": []}, {"type": ["null", "null"]}, {"type": 1}, {"enum": 1},
    {"multipleOf": 0}, {"multipleOf": -1}, {"minimum": "1"}, {"exclusiveMinimum": True},
    {"minLength": -1}, {"maxItems": 1.5}, {"minProperties": "1"}, {"uniqueItems": 1},
    {"required": "a"}, {"required": ["a", "a"]}, {"required": [1]}, {"items": 1}, {"items": []},
    {"properties": []}, {"properties": {"a": 1}}, {"allOf": []}, {"anyOf": {}}, {"oneOf": [1]},
    {"not": 1}, {"if": "x"}, {"contains": 1}, {"propertyNames": []}, {"pattern": 1},
    {"dependencies": {"a": 1}}, {"dependencies": {"a": ["b", "b"]}}, {"definitions": {"a": 1}},
    {"title": 1}, {"format": 1}, {"readOnly": 1}, {"examples": 1}, {"$schema": 1}, {"$id": 1},
]


def random_value(rng, depth):
    if depth == 0 or rng.random() < 0.6:
        return rng.choice(VALUES)
    if rng.random() < 0.5:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(["a", "b", "x-a"]): random_value(rng, depth - 1)
            for _ in range(rng.randrange(4))}


def random_keyword(rng, depth):
    small = rng.choice([0, 1, 2, 3, 2.0, -1, 1.5])
    simple = {
        "type": rng.choice(["integer", "number", "string", "object", "array", ["null", "string"]]),
        "enum": [random_value(rng, 1) for _ in range(3)],
        "const": random_value(rng, 1), "minimum": small, "exclusiveMaximum": small,
        "multipleOf": rng.choice([1, 2, 3, 0.5, 0.25, 0]), "minLength": small, "maxLength": small,
        "pattern": rng.choice(["^a", "b+$", "[^a]", "a|b", "^(ab?c?)*$"]), "minItems": small,
        "maxItems": small, "uniqueItems": True, "required": [rng.choice("ab")],
        "maxProperties": small,
    }
    if depth == 0 or rng.random() < 0.5:
        return rng.choice(sorted(simple.items(), key=lambda item: item[0]))
    one = random_schema(rng, depth - 1)
    several = [random_schema(rng, depth - 1) for _ in range(rng.randrange(1, 4))]
    return rng.choice([
        ("allOf", several), ("anyOf", several), ("oneOf", several), ("not", one), ("if", one),
        ("then", one), ("else", one), ("items", one), ("items", several), ("additionalItems", one),
        ("contains", one), ("properties", {"a": one}), ("patternProperties", {"^[bx]": one}),
        ("additionalProperties", one), ("propertyNames", one),
        ("dependencies", {"a": rng.choice([one, ["b"]])}),
    ])


def random_schema(rng, depth):
    if depth < 2 and rng.random() < 0.1:
        return rng.random() < 0.7
    return dict(random_keyword(rng, depth) for _ in range(rng.randrange(1, 4)))


def their_answers(schema, values):
    """None if they refuse the schema."""
    try:
        jsonschema.Draft7Validator.check_schema(schema)
    except jsonschema.SchemaError:
        return None
    validator = jsonschema.Draft7Validator(schema)
    return [validator.is_valid(value) for value in values]


def our_answers(api, schema, values):
    name = f"dialect.{next(_names)}"
    made = api.request("POST", "/v1/event-types", {"name": name, "schema": schema})
    if made.status == 422:
        return None
    assert made.status == 201, made
    body = {"events": [{"type": name, "data": value} for value in values]}
    results = api.post("/v1/events/batch?atomic=false", body, expect=202)["results"]
    api.delete(f"/v1/event-types/{name}")
    assert {item.get("code") for item in results} <= {None, "schema_violation"}, results
    return [item["status"] == 202 for item in results]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_both_agree_on_a_schema(api, schema):
    ours, theirs = our_answers(api, schema, VALUES), their_answers(schema, VALUES)
    assert (ours is None) == (theirs is None)
    if ours is not None:
        assert dict(zip(map(repr, VALUES), ours)) == dict(zip(map(repr, VALUES), theirs))


@pytest.mark.parametrize("seed", range(100))
def test_both_agree_on_a_random_schema(api, seed):
    rng = random.Random(seed)
    schema = random_schema(rng, 2)
    values = VALUES + [random_value(rng, 3) for _ in range(40)]
    ours, theirs = our_answers(api, schema, values), their_answers(schema, values)
    assert (ours is None) == (theirs is None), schema
    if ours is not None:
        wrong = [value for value, our, their in zip(values, ours, theirs) if our != their]
        assert not wrong, schema
