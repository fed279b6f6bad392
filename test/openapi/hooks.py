"""Keeps what Schemathesis makes up within bounds: a command that is started ends within seconds, and so does a wait."""

import json
from pathlib import Path

import schemathesis
from jsonschema_rs import is_valid

SPEC = json.loads((Path(__file__).parents[2] / "spec/v2.json").read_text())

LONGEST_SECONDS = 1
ACTIVITY = "/v2/activity"
#: The routes whose `timeout` in the query says how long they wait.
WAITS = ("/v2/pty/sessions/{id}/screen", ACTIVITY)

#: The fields of a body that say how long it may take, by route.
DURATIONS_IN_BODY = {
    "/v2/commands": ("hard_timeout",),
    "/v2/pty/sessions/{id}/exec": ("hard_timeout",),
    "/v2/code/execute": ("timeout",),
    "/v1/bash/exec": ("hard_timeout",),
    "/v1/bash/output": ("wait_timeout",),
    "/v1/shell/exec": ("hard_timeout",),
    "/v1/shell/wait": ("seconds", "max_wait_seconds"),
    "/v1/code/execute": ("timeout",),
    "/v1/jupyter/execute": ("timeout",),
    "/v1/nodejs/execute": ("timeout",),
    "/v1/file/watch/wait": ("timeout",),
    "/v1/file/watch/{watcher_id}/poll": ("timeout",),
}


@schemathesis.hook
def map_body(context, body):
    for name in DURATIONS_IN_BODY.get(context.operation.path, ()):
        if isinstance(body, dict) and is_long(field_of(context, body, name)):
            body[name] = LONGEST_SECONDS
    return body


@schemathesis.hook
def filter_body(context, body):
    """In the v2 bodies null is an absent field, which the description says of each body and not of each field."""
    return not (context.operation.path.startswith("/v2/") and has_null(body)) and obeys_rules(context.operation, body)


@schemathesis.hook
def filter_case(context, case):
    """The same for what the coverage phase combines from several fields."""
    if case.operation.path.startswith("/v2/") and has_null(case.body):
        return False
    return obeys_rules(case.operation, case.body) and is_exact(case.body) and is_exact(case.query)


def names_in(schema):
    """The fields of all alternatives: a request may have those of another vocabulary, and no others."""
    if "$ref" in schema:
        return names_in(SPEC["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]])
    parts = schema.get("anyOf", []) + schema.get("oneOf", []) + schema.get("allOf", [])
    return set(schema.get("properties", {})).union(*(names_in(part) for part in parts))


def is_exact(value):
    """Whole numbers are those that JSON carries exactly, which `int64` says roughly."""
    if isinstance(value, dict):
        return all(is_exact(inner) for inner in value.values())
    if isinstance(value, list):
        return all(is_exact(inner) for inner in value)
    return abs(as_number(value)) < 2**53


def obeys_rules(operation, body):
    """Which fields go together stands in `x-rules` of a schema, because generators of clients take rules for types."""
    path = SPEC["paths"].get(operation.path, {})
    described = path.get(operation.method.lower(), {}).get("requestBody", {})
    schema = described.get("content", {}).get("application/json", {}).get("schema", {})
    return obeys(schema, body)


def obeys(schema, value):
    if "$ref" in schema:
        return obeys(SPEC["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], value)
    if isinstance(value, list):
        return all(obeys(schema.get("items", {}), entry) for entry in value)
    if not isinstance(value, dict):
        return True
    if not all(is_valid(rule, value) for rule in schema.get("x-rules", [])):
        return False
    parts = schema.get("anyOf", []) + schema.get("oneOf", []) + schema.get("allOf", [])
    fields = schema.get("properties", {})
    known = names_in(schema)
    if parts and known and not set(value) <= known:
        return False
    return all(obeys(part, value) for part in parts) and all(
        obeys(fields[name], inner) for name, inner in value.items() if name in fields
    )


@schemathesis.hook
def before_call(context, case, kwargs):
    """Values come from the description too, such as the longest wait, and from earlier answers."""
    for name, value in (case.path_parameters or {}).items():
        if value == "":
            case.path_parameters[name] = "empty"  # Without it, the path is another one.
    query = case.query or {}
    if case.operation.path in WAITS and as_number(query.get("timeout")) > LONGEST_SECONDS:
        query["timeout"] = LONGEST_SECONDS
    if case.operation.path == ACTIVITY and query.get("stream") in (True, "true"):
        query["stream"] = False  # It would not end.


def as_number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return 0


def has_null(value):
    if isinstance(value, dict):
        return any(inner is None or has_null(inner) for inner in value.values())
    return isinstance(value, list) and any(has_null(inner) for inner in value)


def field_of(context, body, name):
    """In the 1.x bodies null is as good as nothing."""
    is_absent = name not in body or (body[name] is None and context.operation.path.startswith("/v1/"))
    return LONGEST_SECONDS + 1 if is_absent else body[name]


def is_long(value):
    """Anything but a time stays as it is: the daemon must refuse it."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > LONGEST_SECONDS


@schemathesis.serializer("application/x-tar")
def as_it_is(context, value):
    """A generated body is not an archive: the daemon must refuse it."""
    return value if isinstance(value, bytes) else str(value).encode()
