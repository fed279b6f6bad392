"""The conformance suite of Pydantic AI, which is in its package, on the adapter of boxkeep."""

import os

import pytest
from boxkeep import AsyncSandbox
from boxkeep.adapters.pydantic_ai import BoxkeepWorkspaceBackend
from pydantic_ai.workspaces.conformance import WorkspaceBackendSuite


class TestBoxkeep(WorkspaceBackendSuite):
    @pytest.fixture
    def anyio_backend(self):
        return "asyncio"

    @pytest.fixture
    async def box(self):
        async with AsyncSandbox(
            os.environ["BOXKEEP_URL"], os.environ["SVC_API_KEY"]
        ) as box:
            yield box

    @pytest.fixture
    async def backend(self, box):
        return BoxkeepWorkspaceBackend(box)

    @pytest.fixture
    def fresh_backend(self, box):
        return lambda: BoxkeepWorkspaceBackend(box)

    @pytest.fixture
    def attach_backend(self, box):
        return lambda ref: BoxkeepWorkspaceBackend(box, ref=ref)

    @pytest.fixture
    def destroy_environment(self, box):
        async def destroy(backend):
            await box.commands.run("rm", shell="none", args=["-rf", backend.ref.id])

        return destroy
