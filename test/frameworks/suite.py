"""Runs a suite of pytest, and prints what became of each test: `suite.py ADDRESS KEY FILE`."""

import json
import os
import sys

import pytest


class Outcomes:
    def __init__(self):
        self.passed, self.failed, self.skipped, self.expected = [], {}, {}, []

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.split("::", 1)[1]
        if hasattr(report, "wasxfail"):
            self.expected.append(name)
        elif report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.failed[name] = crash.message if crash else str(report.longrepr)
        elif report.skipped:
            self.skipped[name] = (
                report.longrepr[2]
                if isinstance(report.longrepr, tuple)
                else str(report.longrepr)
            )
        elif report.when == "call":
            self.passed.append(name)

    def pytest_collectreport(self, report):
        if report.failed:
            self.failed[report.nodeid] = str(report.longrepr)


os.environ["BOXKEEP_URL"], os.environ["SVC_API_KEY"], file = sys.argv[1:4]
outcomes = Outcomes()
sys.stdout, shown = sys.stderr, sys.stdout
pytest.main(
    [
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        os.path.dirname(file),
        *sys.argv[4:],
        file,
    ],
    [outcomes],
)
json.dump(vars(outcomes), shown)
