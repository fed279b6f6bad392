"""Keeps what Schemathesis makes up within bounds: a command that is started ends within seconds, and so does a wait."""

import schemathesis

LONGEST_SECONDS = 1

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
    return not (context.operation.path.startswith("/v2/") and has_null(body))


@schemathesis.hook
def filter_case(context, case):
    """The same for bodies that the coverage phase combines from several fields."""
    return not (case.operation.path.startswith("/v2/") and has_null(case.body))


@schemathesis.hook
def map_query(context, query):
    waits = context.operation.path == "/v2/pty/sessions/{id}/screen"
    if waits and query and is_long(query.get("timeout", LONGEST_SECONDS + 1)):
        query["timeout"] = LONGEST_SECONDS
    return query


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
