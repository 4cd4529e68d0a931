"""The contract as tests see it: the document's operations, what they take and what they answer."""

import functools
import json
import re

import jsonschema

from harness import ROOT

FRAGMENTS = ROOT / "src" / "api" / "openapi"
METHODS = ("get", "put", "post", "delete", "patch")


def join(whole, part):
    """Objects member by member; the same member twice is a mistake."""
    for name, value in part.items():
        if name in whole:
            assert isinstance(value, dict) and isinstance(whole[name], dict), f"{name} twice"
            join(whole[name], value)
        else:
            whole[name] = value
    return whole


def from_fragments():
    """The document as its sources say, so that tests can be counted before a server runs."""
    listed = re.findall(r"^  (\w+\.json)", (FRAGMENTS / "CMakeLists.txt").read_text(), re.MULTILINE)
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
        """The node a reference leads to; what stands beside the reference comes on top."""
        while "$ref" in node:
            target = self.resolver.resolve(node["$ref"])[1]
            node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
        return node

    def properties(self, schema):
        """{name: schema} of an object, from wherever its parts are described."""
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
        parameters = item.get("parameters", []) + node.get("parameters", [])
        self.parameters = [contract.resolve(parameter) for parameter in parameters]
        self.responses = {status: contract.resolve(response)
                          for status, response in node["responses"].items()}
        self.body = contract.resolve(node["requestBody"]) if "requestBody" in node else None

    def __repr__(self):
        return self.id

    @property
    def is_stream(self):
        """Does a success have no end?"""
        return "text/event-stream" in self.responses["200"].get("content", {}) if (
            "200" in self.responses) else False

    def parameters_in(self, place):
        return [parameter for parameter in self.parameters if parameter["in"] == place]

    # ------------------------------------------------------------ what it takes

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

    # ------------------------------------------------------------ what it answers

    @property
    def successes(self):
        return [int(status) for status in self.responses if status.startswith("2")]

    @functools.lru_cache(maxsize=None)
    def codes(self, status):
        """The problem codes that may come with this status."""
        response = self.responses.get(str(status), self.responses["default"])
        schema = response["content"]["application/problem+json"]["schema"]
        return set(schema["properties"]["code"]["enum"])

    @property
    def problems(self):
        """Every (status, code) of its own, without what no operation sees."""
        return [(int(status), code) for status, response in self.responses.items()
                if status != "default" and status[0] in "45"
                for code in response["content"]["application/problem+json"]["schema"]
                ["properties"]["code"]["enum"]]

    @functools.lru_cache(maxsize=None)
    def answer_validator(self, status, media_type):
        response = self.responses.get(str(status), self.responses["default"])
        return self.contract.validator(response["content"][media_type]["schema"])

    def check(self, answer, thoroughly=True):
        """Fails unless the answer is one that the document describes."""
        said = f"{self.id} answered {answer!r}"
        if answer.status == 204:
            assert "204" in self.responses and not answer.body, said
            return
        media_type = answer.headers["content-type"].split(";")[0]
        if answer.status >= 400:
            assert media_type == "application/problem+json", said
            check_problem(answer)
            assert answer.json["code"] in self.codes(answer.status), f"not documented: {said}"
        else:
            assert str(answer.status) in self.responses, f"not documented: {said}"
            assert media_type in self.responses[str(answer.status)]["content"], said
        for name, header in self.responses.get(str(answer.status), {}).get("headers", {}).items():
            always = self.contract.resolve(header).get("required", True)
            assert not always or name.lower() in answer.headers, f"{name} is missing: {said}"
        if not media_type.endswith("json") or not thoroughly:
            return
        for error in self.answer_validator(answer.status, media_type).iter_errors(answer.json):
            raise AssertionError(f"{said}\n{error.json_path}: {error.message}")


def check_problem(answer):
    """What every refusal has in common."""
    assert answer.headers["content-type"] == "application/problem+json", answer
    problem = answer.json
    assert set(problem) - {"errors", "id"} == {"type", "title", "status", "detail", "code"}, answer
    assert problem["status"] == answer.status, answer
    assert problem["type"] == "urn:postrider:problem:" + problem["code"], answer
    assert len(problem["detail"]) > 10 and problem["title"], answer
    for error in problem.get("errors", []):
        assert set(error) == {"field", "message"} and error["message"], answer
