"""Drives the methods of the 1.x client against a daemon: `drive.py URL DIRECTORY TABLES sync|async [GROUP]`.

TABLES is the folder with routes.csv and methods.csv, which say what is served. Without a GROUP every method is driven,
at a daemon without ipykernel and without a browser. The group jupyter alone is driven at a daemon with ipykernel, and
the group browser at one with a browser. The group image is every method at an image, which has all of them and a
desktop. Prints a line of JSON for each call: the expected outcome, the actual one, and the problem.
"""

import asyncio
import csv
import inspect
import json
import pathlib
import re
import sys
import traceback

import pydantic
from agent_sandbox import AsyncSandbox, Sandbox
from agent_sandbox.core.api_error import ApiError

from calls import calls

PARSED = "parsed"
EMPTY = "parsed, success false and nothing listed"


def main(url, directory, tables, mode, group=None):
    client = {"sync": Sandbox, "async": AsyncSandbox}[mode](base_url=url, timeout=60)
    is_image = group == "image"
    has_browser = is_image or group == "browser"
    kernels = is_image or group == "jupyter"
    expected = expectations(pathlib.Path(tables), kernels, has_browser, has_desktop=is_image)
    is_wanted = lambda name: group in (None, "image", re.split("[._]", name)[0])
    asyncio.run(drive(client, Drive(directory), expected, is_wanted, has_browser))


class Drive:
    """Values from earlier calls that later calls need."""

    def __init__(self, directory):
        self.directory = directory
        self.kept = {}


async def drive(client, state, expected, is_wanted, has_browser):
    seen = set()
    for call in (call for call in calls(has_browser) if is_wanted(call.method)):
        seen.add(call.method)
        wanted = call.outcome or expected[call.method]
        outcome, result = await attempt(client, call, state)
        problem = None if outcome == wanted else f"expected {wanted}"
        if problem is None and outcome == PARSED and call.check:
            problem = complaint(call.check, result, state)
        report(call.title, wanted, outcome, problem)
    for name in sorted(set(filter(is_wanted, expected)) ^ seen):
        report(name, "a call", "none", "has no call, or is no method of the tables")
    for name in sorted(set(methods_of(client)) ^ set(expected)):
        report(name, "a row of the tables", "none", "the tables and the client do not agree")


def report(title, wanted, outcome, problem):
    print(json.dumps({"call": title, "expected": wanted, "got": outcome, "problem": problem}), flush=True)


async def attempt(client, call, state):
    """The outcome in words, and what came back."""
    try:
        group, name = call.method.split(".")
        positional, named = call.arguments(state)
        result = await settled(getattr(getattr(client, group), name)(*positional, **named))
    except ApiError as error:
        return f"ApiError {error.status_code}{shape_of(error.body)}", error
    except pydantic.ValidationError as error:
        return "ValidationError", error
    except Exception as error:
        # Any other exception is the finding: it is reported by name, and fails the test.
        if call.outcome == type(error).__name__:
            return call.outcome, error
        return f"{type(error).__name__}: {error}", error
    return (PARSED if is_success(result) else outcome_of_failure(result)), result


def shape_of(body):
    """Nothing where an error has the envelope, as each has to."""
    keys = {"success", "message", "data", "hint"}
    return "" if isinstance(body, dict) and keys <= set(body) and body["success"] is False else f" with {body!r}"


def is_success(result):
    if isinstance(result, (bytes, str)):
        return True
    success = result.get("success") if isinstance(result, dict) else getattr(result, "success", None)
    return success is True


def outcome_of_failure(result):
    if getattr(result, "success", None) is False and not getattr(result.data, "files", True):
        return EMPTY
    if getattr(result, "success", None) is False:
        return f"success false: {result.message!r}, data {result.data!r}"
    return f"{type(result).__name__}: {result!r}"


async def settled(result):
    """The same for both clients: what is awaited or read in pieces is one value."""
    if inspect.isawaitable(result):
        result = await result
    if hasattr(result, "__aiter__"):
        return b"".join([piece async for piece in result])
    if inspect.isgenerator(result):
        return b"".join(result)
    return result


def complaint(check, result, state):
    try:
        check(result, state)
    except Exception as error:
        # A failed check and a missing field are both reported at the place where they occur.
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{where.line}: {type(error).__name__} {error} in {result!r}"
    return None


def expectations(tables, kernels, has_browser, has_desktop):
    classes = {key(row["method"], row["path"]): row["class"] for row in rows(tables / "routes.csv")}
    return {
        row["python_method(PyPI 0.0.30)"]: outcome_of(
            classes[key(row["http_method"], row["path"])], row["path"], kernels, has_browser, has_desktop
        )
        for row in rows(tables / "methods.csv")
        if row["in_python_pypi"] == "yes"
    }


def rows(path):
    with open(path, newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def key(method, path):
    """One table calls a parameter `index` that the other calls `target_id`."""
    return method, re.sub(r"\{\w+\}", "{}", path)


def outcome_of(standing, path, kernels, has_browser, has_desktop):
    if standing == "removed-404" or standing == "served-changed":
        return "ApiError 404"
    if standing.startswith("method-405"):
        return "ApiError 405"
    if not standing.startswith("served"):
        return f"no outcome is known for {standing}"
    is_of_desktop = path in ("/v1/browser/actions", "/v1/browser/config", "/v1/display/record")
    if is_of_desktop and not has_desktop or path.startswith("/v1/browser/") and not has_browser:
        return "ApiError 503"
    if "501-capable" in standing and not kernels:
        return "ApiError 501"
    return PARSED


def methods_of(client):
    for group in (name for name in dir(client) if not name.startswith("_")):
        for name, _ in inspect.getmembers(type(getattr(client, group)), inspect.isfunction):
            if not name.startswith("_"):
                yield f"{group}.{name}"


if __name__ == "__main__":
    main(*sys.argv[1:])
