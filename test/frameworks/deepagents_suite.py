"""The conformance suite of deepagents, as langchain-tests publishes it, on the adapter of boxkeep."""

import os
import shlex

import pytest
from boxkeep import Sandbox
from boxkeep.adapters.deepagents import BoxkeepSandbox, WriteResult
from langchain_tests.integration_tests import SandboxIntegrationTests


class SandboxOfTheSuite(BoxkeepSandbox):
    """langchain-tests 1.1.9 wants another `glob` and `write` than the protocol of deepagents 0.7.32.

    There, paths are relative to the directory, `*` finds directories too, and a file is not overwritten.
    """

    def glob(self, pattern, path=None):
        found = self._glob(pattern, path, "any")
        for match in found.matches or []:
            match["path"] = os.path.relpath(match["path"], path or "/")
        return found

    def write(self, file_path, content):
        if self.execute(f"test ! -e {shlex.quote(file_path)}").exit_code != 0:
            return WriteResult(error=f"File '{file_path}' already exists")
        return super().write(file_path, content)


class TestBoxkeep(SandboxIntegrationTests):
    @pytest.fixture(scope="class")
    def sandbox(self):
        with Sandbox(os.environ["BOXKEEP_URL"], os.environ["SVC_API_KEY"]) as box:
            yield SandboxOfTheSuite(box)
