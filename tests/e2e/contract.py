"""Reads the OpenAPI document: its operations with their parameters, bodies and responses."""

import functools
import json
import re

import jsonschema

from harness import ROOT

FRAGMENTS = ROOT / "src" / "api" / "openapi"
METHODS = ("get", "put", "post", "delete", "patch")


def join(whole, part):
    """Merges `part` into `whole`, object by object. A value that both define is an error."""
    for name, value in part.items():
        if name in whole:
            both = isinstance(value, dict) and isinstance(whole[name], dict)
            assert both, f"{name} is defined twice"
            join(whole[name], value)
        else:
            whole[name] = value
    return whole


def from_fragments():
    """Builds the document from its sources, so that tests can be collected without a server."""
    lists = (FRAGMENTS / "CMakeLists.txt").read_text()
    listed = re.findall(r"^ +(\w+\.json)", lists, re.MULTILINE)
    assert sorted(listed) == sorted(file.name for file in FRAGMENTS.glob("*.json"))
    document = {}
    for name in listed:
        join(document, json.loads((FRAGMENTS / name).read_text()))
    return document


class Contract:
    def __init__(self, document):
        self.document = document
        self.resolver = jsonschema.RefResolver("", document)
        self.operations = [
            Operation(self, method, path, item)
            for path, item in document["paths"].items() for method in METHODS if method in item]

    def resolve(self, node):
        """Follows a reference. Members beside `$ref` override those of its target."""
        while "$ref" in node:
            target = self.resolver.resolve(node["$ref"])[1]
            node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
        return node

    def properties(self, schema):
        """{name: schema} of an object, including those from `allOf` and `oneOf`."""
        schema = self.resolve(schema)
        found = dict(schema.get("properties", {}))
        for part in schema.get("allOf", []) + schema.get("oneOf", []):
            found = {**self.properties(part), **found}
        return found

    def validator(self, schema):
        return jsonschema.Draft202012Validator(schema, resolver=self.resolver)

    def operation(self, name):
        return next(operation for operation in self.operations if operation.id == name)


class Operation:
    """One method of one path."""

    def __init__(self, contract, method, path, item):
        node = item[method]
        self.contract = contract
        self.method = method.upper()
        self.path = path
        self.id = node["operationId"]
        self.node = node
        self.is_open = {} in node.get("security", [None]) or node.get("security") == []
        self.by_session = node.get("security") == [{"session": []}]
        parameters = item.get("parameters", []) + node.get("parameters", [])
        self.parameters = [contract.resolve(parameter) for parameter in parameters]
        self.responses = {status: contract.resolve(response)
                          for status, response in node["responses"].items()}
        self.body = contract.resolve(node["requestBody"]) if "requestBody" in node else None

    def __repr__(self):
        return self.id

    @property
    def is_stream(self):
        """Is the successful response an endless event stream?"""
        return "text/event-stream" in self.responses["200"].get("content", {}) if (
            "200" in self.responses) else False

    def parameters_in(self, place):
        return [parameter for parameter in self.parameters if parameter["in"] == place]

    # ------------------------------------------------------------ requests

    @property
    def body_schema(self):
        return self.body["content"]["application/json"]["schema"] if self.body else None

    @property
    def body_examples(self):
        """{name: value}."""
        examples = self.body["content"]["application/json"]["examples"] if self.body else {}
        return {name: example["value"] for name, example in examples.items()}

    @functools.cached_property
    def body_validator(self):
        return self.contract.validator(self.body_schema)

    # ------------------------------------------------------------ responses

    @property
    def successes(self):
        return [int(status) for status in self.responses if status.startswith("2")]

    @functools.lru_cache(maxsize=None)
    def codes(self, status):
        """The documented problem codes of this status."""
        response = self.responses.get(str(status), self.responses["default"])
        schema = response["content"]["application/problem+json"]["schema"]
        return set(schema["properties"]["code"]["enum"])

    @property
    def problems(self):
        """Every documented (status, code) of this operation except the default response."""
        return [(int(status), code) for status, response in self.responses.items()
                if status != "default" and status[0] in "45"
                for code in response["content"]["application/problem+json"]["schema"]
                ["properties"]["code"]["enum"]]

    @functools.lru_cache(maxsize=None)
    def answer_validator(self, status, media_type):
        response = self.responses.get(str(status), self.responses["default"])
        return self.contract.validator(response["content"][media_type]["schema"])

    def check(self, answer, thoroughly=True):
        """Fails unless the document describes this answer. `thoroughly` validates its schema."""
        described = f"{self.id} answered {answer!r}"
        if answer.status == 204:
            assert "204" in self.responses and not answer.body, described
            return
        media_type = answer.headers["content-type"].split(";")[0]
        if answer.status >= 400:
            assert media_type == "application/problem+json", described
            check_problem(answer)
            assert answer.json["code"] in self.codes(answer.status), f"not documented: {described}"
        else:
            assert str(answer.status) in self.responses, f"not documented: {described}"
            assert media_type in self.responses[str(answer.status)]["content"], described
        for name, header in self.responses.get(str(answer.status), {}).get("headers", {}).items():
            always = self.contract.resolve(header).get("required", True)
            assert not always or name.lower() in answer.headers, f"{name} is missing: {described}"
        if not media_type.endswith("json") or not thoroughly:
            return
        for error in self.answer_validator(answer.status, media_type).iter_errors(answer.json):
            raise AssertionError(f"{described}\n{error.json_path}: {error.message}")


def check_problem(answer):
    """Checks what all problem documents have in common."""
    assert answer.headers["content-type"] == "application/problem+json", answer
    problem = answer.json
    assert set(problem) - {"errors", "id"} == {"type", "title", "status", "detail", "code"}, answer
    assert problem["status"] == answer.status, answer
    assert problem["type"] == "urn:postrider:problem:" + problem["code"], answer
    assert len(problem["detail"]) > 10 and problem["title"], answer
    for error in problem.get("errors", []):
        assert set(error) == {"field", "message"} and error["message"], answer
