"""The conformance suite of Inspect AI, which is in its package, on the adapter of boxkeep."""

import pytest
from boxkeep.adapters.inspect import BoxkeepSandboxEnvironment
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
async def sandbox_env():
    environments = await BoxkeepSandboxEnvironment.sample_init("suite", None, {})
    yield environments["default"]
    await BoxkeepSandboxEnvironment.sample_cleanup("suite", None, environments, False)
